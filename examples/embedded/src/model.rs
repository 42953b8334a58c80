//! The classifier: two linear layers, with outputs that are allocated once. tests/suite/digits.rs
//! runs it on the desktop.

use flex::nn::{self, Activation, Linear};
use flex::{DType, Result, Tensor};

/// Eight rows of eight pixels, each 0 to 16.
pub type Pixels = [u8; 64];

pub struct Layer {
    pub weight: Tensor,
    pub bias: Tensor,
}
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

/// A digit that training has not seen, and its probabilities in float64.
pub struct Record {
    pub pixels: Pixels,
    pub probabilities: [f32; 10],
    pub digit: usize,
}
impl Record {
    /// Its bytes in held_out.bin, the last three of them padding.
    pub const BYTES: usize = 108;
    /// The tolerance to those: any two programs then differ by less than 1e-5.
    const TOLERANCE: f32 = 5e-6;

    pub fn parse(bytes: &[u8; Self::BYTES]) -> Record {
        let mut record = Record {
            pixels: [0; 64],
            probabilities: [0.0; 10],
            digit: bytes[104].into(),
        };
        record.pixels.copy_from_slice(&bytes[..64]);
        for (p, bytes) in record
            .probabilities
            .iter_mut()
            .zip(bytes[64..104].as_chunks().0)
        {
            *p = f32::from_le_bytes(*bytes);
        }
        record
    }
    /// Whether these are the same digit and the same probabilities.
    pub fn agrees(&self, probabilities: &[f32]) -> bool {
        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= Self::TOLERANCE;
        probabilities.len() == 10
            && probabilities.iter().zip(&self.probabilities).all(near)
            && most_likely(probabilities) == most_likely(&self.probabilities)
    }
}

pub fn most_likely(probabilities: &[f32]) -> usize {
    (0..probabilities.len()).fold(0, |best, k| {
        if probabilities[k] > probabilities[best] {
            k
        } else {
            best
        }
    })
}
