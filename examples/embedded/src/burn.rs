//! The convolutional network as a program of Burn's, on any of its backends; here it is flex's, which reads the weights where
//! they are.

use super::model::{Layer, Pixels};
use alloc::vec::Vec;
use burn_backend::ops::ConvOptions;
use burn_backend::tensor::FloatTensor;
use burn_backend::{Backend, TensorData};
use burn_std::reader::try_read_sync;
use flex::Error;
use flex_burn::Flex;

pub struct Classifier {
    layers: [[FloatTensor<Flex>; 2]; 3],
    probabilities: TensorData,
}

impl Classifier {
    pub fn new(layers: [Layer; 3]) -> flex::Result<Classifier> {
        Ok(Classifier {
            layers: layers.map(|layer| [layer.weight.into(), layer.bias.into()]),
            probabilities: TensorData::new(Vec::<f32>::new(), [0]),
        })
    }
    /// The probability of each digit.
    pub fn probabilities(&mut self, pixels: &Pixels) -> flex::Result<&[f32]> {
        let unread = || Error::value("probabilities", "the result can't be read");
        self.probabilities = network::<Flex>(&self.layers, pixels).ok_or_else(unread)?;
        self.probabilities.as_slice().map_err(|_| unread())
    }
}

/// Convolution, relu, pool, twice, and a linear layer. `None` if the backend has no results at once.
fn network<B: Backend>(layers: &[[FloatTensor<B>; 2]; 3], pixels: &Pixels) -> Option<TensorData> {
    let image: Vec<f32> = pixels.iter().map(|x| f32::from(*x) / 16.0).collect();
    let mut x = B::float_from_data(TensorData::new(image, [1, 1, 8, 8]), &Default::default());
    let [convolutions @ .., [weight, bias]] = layers;
    for [weight, bias] in convolutions {
        let near = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
        let y = B::relu(B::conv2d(x, weight.clone(), Some(bias.clone()), near));
        x = B::max_pool2d(y, [2, 2], [2, 2], [0, 0], [1, 1], false);
    }
    let x = B::float_reshape(x, [1, 64].into());
    let scores = B::linear(x, B::float_transpose(weight.clone()), Some(bias.clone()));
    try_read_sync(B::float_into_data(B::softmax(scores, 1)))?.ok()
}
