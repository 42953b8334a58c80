//! Activations.

use super::super::call::{Call, Inputs, Node, one};
use super::{Row, Run, float, function, int, make, row, text};
use crate::dtype::DType;
use crate::error::Result;
use crate::op::Op;
use crate::ops;
use crate::tensor::Tensor;
use crate::{Axes, nn};

const fn unary(name: &'static str, op: Op) -> Row {
    row(name, 1, 1..=1, &[], Run::Elementwise(op))
}

pub(super) const ROWS: &[Row] = &[
    unary("HardSwish", Op::Hardswish),
    unary("Mish", Op::Mish),
    unary("Relu", Op::Relu),
    unary("Sigmoid", Op::Sigmoid),
    unary("Softsign", Op::Softsign),
    function("Softplus", 1, 1..=1, softplus),
    make("Celu", 12, 1..=1, &[float("alpha", 1.0)], |node| {
        let alpha = node.float("alpha");
        one(move |x| nn::celu(x.take(0)?, alpha))
    }),
    make("Elu", 6, 1..=1, &[float("alpha", 1.0)], |node| {
        let alpha = node.float("alpha");
        one(move |x| nn::elu(x.take(0)?, alpha))
    }),
    make("LeakyRelu", 6, 1..=1, &[float("alpha", 0.01)], |node| {
        let alpha = node.float("alpha");
        one(move |x| nn::leaky_relu(x.take(0)?, alpha))
    }),
    make(
        "ThresholdedRelu",
        10,
        1..=1,
        &[float("alpha", 1.0)],
        |node| {
            let alpha = node.float("alpha");
            one(move |x| thresholded(x.get(0)?, alpha))
        },
    ),
    make("Gelu", 20, 1..=1, &[text("approximate", "none")], |node| {
        let kinds = [("none", Op::Gelu), ("tanh", Op::GeluTanh)];
        node.choice("approximate", &kinds).map(Call::Elementwise)
    }),
    make(
        "HardSigmoid",
        6,
        1..=1,
        &[float("alpha", 0.2), float("beta", 0.5)],
        |node| {
            let (alpha, beta) = (node.float("alpha"), node.float("beta"));
            one(move |x| {
                let line = ops::add(ops::multiply(x.take(0)?, alpha)?, beta)?;
                ops::clip(line, 0.0, 1.0)
            })
        },
    ),
    make(
        "Selu",
        6,
        1..=1,
        &[float("alpha", 1.673_263_2), float("gamma", 1.050_701)],
        |node| {
            let (alpha, gamma) = (node.float("alpha"), node.float("gamma"));
            one(move |x| ops::multiply(nn::elu(x.take(0)?, alpha)?, gamma))
        },
    ),
    make(
        "Shrink",
        9,
        1..=1,
        &[float("bias", 0.0), float("lambd", 0.5)],
        |node| {
            let (bias, lambd) = (node.float("bias"), node.float("lambd"));
            one(move |x| {
                let x = x.get(0)?;
                let up = ops::where_(ops::greater(x, lambd)?, ops::subtract(x, bias)?, 0.0)?;
                let y = ops::where_(ops::less(x, -lambd)?, ops::add(x, bias)?, up)?;
                y.astype(x.dtype())
            })
        },
    ),
    make(
        "Swish",
        24,
        1..=1,
        &[float("alpha", 1.0)],
        |node| match node.float("alpha") {
            1.0 => Ok(Call::Elementwise(Op::Silu)),
            alpha => one(move |x| swish(x.get(0)?, alpha)),
        },
    ),
    make("SwiGLU", 28, 2..=2, &[float("alpha", 1.0)], |node| {
        let alpha = node.float("alpha");
        one(move |x| ops::multiply(swish(x.get(0)?, alpha)?, x.get(1)?))
    }),
    function("PRelu", 6, 2..=2, |x| {
        // a slope for each channel
        let (x, slope) = (x.get(0)?, x.get(1)?);
        let channels = slope.rank() == 1 && slope.len() > 1 && x.rank() > 1;
        let shape: crate::layout::Shape = [slope.len()]
            .into_iter()
            .chain((2..x.rank()).map(|_| 1))
            .collect();
        let slope = if channels {
            slope.reshape(shape)?
        } else {
            slope.clone()
        };
        ops::where_(ops::less(x, 0)?, ops::multiply(x, &slope)?, x)
    }),
    function("PRelu", 7, 2..=2, |x| {
        let (x, slope) = (x.get(0)?, x.get(1)?);
        ops::where_(ops::less(x, 0)?, ops::multiply(x, slope)?, x)
    }),
    make("Softmax", 1, 1..=1, &[int("axis", 1)], |node| {
        matrix(node, nn::softmax)
    }),
    make("Softmax", 13, 1..=1, &[int("axis", -1)], |node| {
        let axis = node.int("axis");
        one(move |x| nn::softmax(x.get(0)?, axis))
    }),
    make("LogSoftmax", 1, 1..=1, &[int("axis", 1)], |node| {
        matrix(node, nn::log_softmax)
    }),
    make("LogSoftmax", 13, 1..=1, &[int("axis", -1)], |node| {
        let axis = node.int("axis");
        one(move |x| nn::log_softmax(x.get(0)?, axis))
    }),
    make("Hardmax", 1, 1..=1, &[int("axis", 1)], |node| {
        matrix(node, hardmax)
    }),
    make("Hardmax", 13, 1..=1, &[int("axis", -1)], |node| {
        let axis = node.int("axis") as isize;
        one(move |x| hardmax(x.get(0)?, axis))
    }),
];

/// `log(1 + exp(x))`, the argument itself from where they are equal in every float dtype.
fn softplus(x: &mut Inputs) -> Result<Tensor> {
    let threshold = if x.get(0)?.dtype() == DType::F16 {
        6e4
    } else {
        1e9
    };
    nn::softplus(x.take(0)?, 1.0, threshold)
}

/// The argument where it is above `alpha`, else 0, for NaN too.
pub(super) fn thresholded(x: &Tensor, alpha: f64) -> Result<Tensor> {
    ops::where_(ops::greater(x, alpha)?, x, 0.0)
}

pub(super) fn swish(x: &Tensor, alpha: f64) -> Result<Tensor> {
    match alpha {
        1.0 => ops::silu(x),
        _ => ops::multiply(ops::sigmoid(ops::multiply(x, alpha)?)?, x),
    }
}

/// Before opset 13 these functions see a matrix: the axes before `axis`, and those from it on.
fn matrix(node: &Node, f: fn(&Tensor, isize) -> Result<Tensor>) -> Result<Call> {
    let axis = node.int("axis") as isize;
    one(move |x| {
        let x = x.get(0)?;
        let rows = super::shape::flattened("Softmax", x, axis)?;
        f(&rows, 1)?.reshape(x.shape())
    })
}

/// 1 for the first of the largest elements, 0 elsewhere.
fn hardmax(x: &Tensor, axis: isize) -> Result<Tensor> {
    let axis = crate::layout::axis("Hardmax", axis, x.rank())?;
    if x.is_empty() {
        return Ok(x.clone());
    }
    let at = ops::argmax(x, Axes::from(axis).keepdims())?;
    let mut shape: crate::layout::Shape = x.shape().iter().map(|_| 1).collect();
    shape[axis] = x.shape()[axis];
    let positions = ops::arange(0, shape[axis], 1, DType::I64)?.reshape(shape)?;
    ops::equal(&at, &positions)?.astype(x.dtype())
}
