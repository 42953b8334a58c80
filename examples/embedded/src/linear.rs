//! Two linear layers with preallocated outputs. tests/suite/digits.rs runs it on the desktop.

use super::model::{Layer, Pixels};
use flex::nn::{self, Activation, Linear};
use flex::{DType, Result, Tensor};

pub struct Classifier {
    layers: [Layer; 2],
    input: Tensor,
    hidden: Tensor,
    scores: Tensor,
    probabilities: Tensor,
}

impl Classifier {
    pub fn new(layers: [Layer; 2]) -> Result<Classifier> {
        let row =
            |layer: &Layer, axis: usize| Tensor::zeros([1, layer.weight.shape()[axis]], DType::F32);
        let (input, hidden, scores) = (
            row(&layers[0], 1)?,
            row(&layers[0], 0)?,
            row(&layers[1], 0)?,
        );
        Ok(Classifier {
            input,
            hidden,
            probabilities: row(&layers[1], 0)?,
            scores,
            layers,
        })
    }
    /// The probability of each digit. All results are written to preallocated tensors.
    pub fn probabilities(&mut self, pixels: &Pixels) -> Result<&[f32]> {
        for (x, pixel) in self.input.as_mut_slice()?.iter_mut().zip(pixels) {
            *x = f32::from(*pixel) / 16.0;
        }
        let [first, second] = &self.layers;
        let relu = Linear {
            bias: Some(&first.bias),
            activation: Some(Activation::Relu),
            ..Default::default()
        };
        nn::linear_into(&self.input, &first.weight, relu, &mut self.hidden)?;
        nn::linear_into(
            &self.hidden,
            &second.weight,
            Some(&second.bias),
            &mut self.scores,
        )?;
        nn::softmax_into(&self.scores, -1, &mut self.probabilities)?;
        self.probabilities.as_slice()
    }
}
