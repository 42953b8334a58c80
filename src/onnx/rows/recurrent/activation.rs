//! The activations of recurrent layers.

use super::super::activation::thresholded;
use crate::error::Result;
use crate::nn;
use crate::ops;
use crate::tensor::Tensor;
use alloc::boxed::Box;

/// An activation with its parameters.
#[derive(Clone)]
pub(super) struct Activation {
    pub name: Box<str>,
    pub alpha: f64,
    pub beta: f64,
}
/// The activations, and what their parameters are by default; `None` where there is none.
pub(super) const ACTIVATIONS: &[(&str, Option<f32>, Option<f32>)] = &[
    ("Relu", None, None),
    ("Tanh", None, None),
    ("Sigmoid", None, None),
    ("Softsign", None, None),
    ("Softplus", None, None),
    ("Affine", Some(1.0), Some(0.0)),
    ("LeakyRelu", Some(0.01), None),
    ("ThresholdedRelu", Some(1.0), None),
    ("ScaledTanh", Some(1.0), Some(1.0)),
    ("HardSigmoid", Some(0.2), Some(0.5)),
    ("Elu", Some(1.0), None),
];
impl Activation {
    pub fn of(&self, x: Tensor) -> Result<Tensor> {
        let (alpha, beta) = (self.alpha, self.beta);
        match &*self.name {
            "Relu" => ops::relu(x),
            "Tanh" => ops::tanh(x),
            "Sigmoid" => ops::sigmoid(x),
            "Softsign" => nn::softsign(x),
            "Softplus" => nn::softplus(x, 1.0, 6e4),
            "Affine" => ops::add(ops::multiply(x, alpha)?, beta),
            "LeakyRelu" => nn::leaky_relu(x, alpha),
            "ThresholdedRelu" => thresholded(&x, alpha),
            "ScaledTanh" => ops::multiply(ops::tanh(ops::multiply(x, beta)?)?, alpha),
            "HardSigmoid" => ops::clip(ops::add(ops::multiply(x, alpha)?, beta)?, 0.0, 1.0),
            _ => nn::elu(x, alpha),
        }
    }
}
