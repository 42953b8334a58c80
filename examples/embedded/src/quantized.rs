//! Two linear layers with int8 weights, multiplied as integers: a quarter of the flash for about
//! the same accuracy. Results are allocated for each digit.

use super::model::{Layer, Pixels};
use flex::nn::{self, Activation};
use flex::quant::{self, Inputs, Levels, QLinear, QTensor};
use flex::{DType, Error, Result, Tensor};

pub struct Classifier {
    weights: [QTensor; 2],
    biases: [Tensor; 2],
    input: Tensor,
    probabilities: Tensor,
}

impl Classifier {
    pub fn new([first, second]: [Layer; 2]) -> Result<Classifier> {
        let quantized = |weight: Tensor, scales: Option<Tensor>| {
            let scales =
                scales.ok_or_else(|| Error::value("Classifier", "a weight without scales"))?;
            let shape = [weight.shape()[0], weight.shape()[1]];
            QTensor::from_parts(weight, scales, None, Levels::I8, shape)
        };
        Ok(Classifier {
            input: Tensor::zeros([1, first.weight.shape()[1]], DType::F32)?,
            probabilities: Tensor::zeros([1, second.weight.shape()[0]], DType::F32)?,
            weights: [
                quantized(first.weight, first.scales)?,
                quantized(second.weight, second.scales)?,
            ],
            biases: [first.bias, second.bias],
        })
    }
    /// The probability of each digit.
    pub fn probabilities(&mut self, pixels: &Pixels) -> Result<&[f32]> {
        for (x, pixel) in self.input.as_mut_slice()?.iter_mut().zip(pixels) {
            *x = f32::from(*pixel) / 16.0;
        }
        let first = QLinear {
            bias: Some(&self.biases[0]),
            activation: Some(Activation::Relu),
            // exact: the quantised inputs are the pixels
            inputs: Inputs::Static {
                scale: 1.0 / 16.0,
                zero: 0,
            },
            ..Default::default()
        };
        let second = QLinear {
            bias: Some(&self.biases[1]),
            inputs: Inputs::Dynamic,
            ..Default::default()
        };
        let hidden = quant::linear(&self.input, &self.weights[0], first)?;
        let scores = quant::linear(&hidden, &self.weights[1], second)?;
        nn::softmax_into(&scores, -1, &mut self.probabilities)?;
        self.probabilities.as_slice()
    }
}
