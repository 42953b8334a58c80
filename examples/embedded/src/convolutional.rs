//! A convolutional network: convolution, relu, pool, twice, and a linear layer. Results are
//! allocated for each digit.

use super::model::{Layer, Pixels};
use flex::nn::{self, Activation, Conv};
use flex::{DType, Result, Tensor};

pub struct Classifier {
    layers: [Layer; 3],
    input: Tensor,
    probabilities: Tensor,
}

impl Classifier {
    pub fn new(layers: [Layer; 3]) -> Result<Classifier> {
        Ok(Classifier {
            layers,
            input: Tensor::zeros([1, 8, 8], DType::F32)?,
            probabilities: Tensor::zeros([1, 10], DType::F32)?,
        })
    }
    /// The probability of each digit.
    pub fn probabilities(&mut self, pixels: &Pixels) -> Result<&[f32]> {
        for (x, pixel) in self.input.as_mut_slice()?.iter_mut().zip(pixels) {
            *x = f32::from(*pixel) / 16.0;
        }
        let [convolutions @ .., last] = &self.layers;
        let mut x = self.input.clone();
        for layer in convolutions {
            let relu = Conv {
                bias: Some(&layer.bias),
                padding: 1.into(),
                activation: Some(Activation::Relu),
                ..Default::default()
            };
            x = nn::max_pool2d(&nn::conv2d(&x, &layer.weight, relu)?, 2, ())?;
        }
        let x = x.reshape((1, -1))?;
        let scores = nn::linear(&x, &last.weight, Some(&last.bias))?;
        nn::softmax_into(&scores, -1, &mut self.probabilities)?;
        self.probabilities.as_slice()
    }
}
