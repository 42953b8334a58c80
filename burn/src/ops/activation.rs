//! Activations and their gradients, each in one pass.

use crate::convert::{done, number};
use crate::{Flex, FlexTensor};
use burn_backend::Scalar;
use burn_backend::ops::ActivationOps;
use flex::nn::{self, grad};
use flex::ops::{self, ewise};
use flex::{DType, Result, Tensor};

impl ActivationOps<Flex> for Flex {
    fn relu(tensor: FlexTensor) -> FlexTensor {
        tensor.map(ops::relu)
    }
    fn relu_backward(output: FlexTensor, grad: FlexTensor) -> FlexTensor {
        grad.view(|g| grad::relu(g, output.tensor()))
    }
    fn leaky_relu(tensor: FlexTensor, negative_slope: Scalar) -> FlexTensor {
        tensor.map(|x| nn::leaky_relu(x, number(negative_slope)))
    }
    fn prelu(tensor: FlexTensor, alpha: FlexTensor) -> FlexTensor {
        tensor.map(|x| nn::leaky_relu(x, alpha.into_tensor()))
    }
    fn gelu(tensor: FlexTensor) -> FlexTensor {
        tensor.map(ops::gelu)
    }
    fn gelu_backward(x: FlexTensor, grad: FlexTensor) -> FlexTensor {
        grad.view(|g| grad::gelu(g, x.tensor()))
    }
    fn sigmoid(tensor: FlexTensor) -> FlexTensor {
        tensor.map(ops::sigmoid)
    }
    fn sigmoid_backward(output: FlexTensor, grad: FlexTensor) -> FlexTensor {
        grad.view(|g| grad::sigmoid(g, output.tensor()))
    }
    fn hard_sigmoid(tensor: FlexTensor, alpha: Scalar, beta: Scalar) -> FlexTensor {
        tensor.view(|x| hard_sigmoid(x, alpha.elem(), beta.elem()))
    }
    fn log_sigmoid(tensor: FlexTensor) -> FlexTensor {
        tensor.map(nn::logsigmoid)
    }
    fn log_sigmoid_backward(x: FlexTensor, grad: FlexTensor) -> FlexTensor {
        // 1 - sigmoid(x), without cancellation
        let slope = done(ops::negative(x.into_tensor()).and_then(ops::sigmoid));
        grad.map(|g| ops::multiply(g, slope))
    }
    fn softmax(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| nn::softmax(x, dim))
    }
    fn log_softmax(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| nn::log_softmax(x, dim))
    }
    fn softmin(tensor: FlexTensor, dim: usize) -> FlexTensor {
        tensor.view(|x| nn::softmin(x, dim))
    }
}

/// `alpha x + beta` within 0 and 1.
fn hard_sigmoid(x: &Tensor, alpha: f64, beta: f64) -> Result<Tensor> {
    let (a, b) = (alpha as f32, beta as f32);
    match x.dtype() {
        DType::F64 => ewise(x, move |x: f64| (alpha * x + beta).clamp(0.0, 1.0)),
        DType::F32 => ewise(x, move |x: f32| (a * x + b).clamp(0.0, 1.0)),
        // once rounded, as all that is computed in float32
        dtype => hard_sigmoid(&x.astype(DType::F32)?, alpha, beta)?.astype(dtype),
    }
}
