//! Products of matrices.

use super::super::call::{Call, Node, one};
use super::{ANY, Kind, Row, float, function, int, make, required};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::nn;
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

pub(super) const ROWS: &[Row] = &[
    make("MatMul", 1, 2..=2, &[], matmul),
    make(
        "Gemm",
        6,
        3..=3,
        &[
            float("alpha", 1.0),
            float("beta", 1.0),
            int("broadcast", 0),
            int("transA", 0),
            int("transB", 0),
        ],
        gemm,
    ),
    make(
        "Gemm",
        7,
        2..=3,
        &[
            float("alpha", 1.0),
            float("beta", 1.0),
            int("transA", 0),
            int("transB", 0),
        ],
        gemm,
    ),
    make(
        "Einsum",
        12,
        1..=ANY,
        &[required("equation", Kind::Text)],
        |node| {
            let equation: alloc::string::String = node
                .text("equation")
                .chars()
                .filter(|c| !c.is_whitespace())
                .collect();
            one(move |x| {
                let all = (0..x.len()).map(|i| x.get(i)).collect::<Result<Vec<_>>>()?;
                ops::einsum(&equation, &all)
            })
        },
    ),
    #[cfg(feature = "linalg")]
    function("Det", 11, 1..=1, |x| crate::linalg::det(x.get(0)?)),
    #[cfg(feature = "quant")]
    function("MatMulInteger", 10, 2..=4, |x| {
        crate::quant::matmul_integer(x.get(0)?, x.get(1)?, x.maybe(2), x.maybe(3))
    }),
];

/// A matrix that does not change is a layer's weight, which is packed once.
fn matmul(node: &Node) -> Result<Call> {
    match node.constant(1) {
        Some(b) if b.rank() == 2 && b.dtype().is_float() => {
            let weight = b.transpose(0, 1)?;
            one(move |x| {
                let x = x.get(0)?;
                if x.dtype() != weight.dtype() || x.rank() == 0 {
                    return ops::matmul(x, &weight.transpose(0, 1)?);
                }
                nn::linear(x, &weight, ())
            })
        }
        _ => one(|x| ops::matmul(x.get(0)?, x.get(1)?)),
    }
}

fn gemm(node: &Node) -> Result<Call> {
    let (alpha, beta) = (node.float("alpha"), node.float("beta"));
    let (turn_a, turn_b) = (node.flag("transA"), node.flag("transB"));
    let turned = move |t: &Tensor, turn: bool| {
        if turn {
            t.transpose(0, 1)
        } else {
            Ok(t.clone())
        }
    };
    if let (Some(b), 1.0, 1.0) = (node.constant(1), alpha, beta)
        && b.rank() == 2
        && b.dtype().is_float()
    {
        let weight = turned(b, !turn_b)?;
        return one(move |x| {
            let a = matrix(x.get(0)?)?;
            let a = turned(a, turn_a)?;
            match x.maybe(2) {
                Some(c)
                    if c.shape() == [weight.shape()[0]]
                        && c.dtype() == weight.dtype()
                        && a.dtype() == weight.dtype() =>
                {
                    nn::linear(&a, &weight, c)
                }
                c => {
                    let y = nn::linear(&a, &weight, ())?;
                    c.map_or(Ok(y.clone()), |c| ops::add(&y, c))
                }
            }
        });
    }
    one(move |x| {
        let (a, b) = (matrix(x.get(0)?)?, matrix(x.get(1)?)?);
        let dtype = a.dtype();
        let mut y = ops::matmul_as(&turned(a, turn_a)?, &turned(b, turn_b)?, dtype)?;
        if alpha != 1.0 {
            y = scaled(y, alpha, dtype)?;
        }
        let Some(c) = x.maybe(2) else {
            return Ok(y);
        };
        if beta == 1.0 {
            return ops::add(y, c);
        }
        ops::add(y, scaled(c.clone(), beta, dtype)?)
    })
}
fn matrix(t: &Tensor) -> Result<&Tensor> {
    match t.rank() {
        2 => Ok(t),
        rank => Err(Error::shape(
            "Gemm",
            message!("an operand has {rank} dimensions: it must be a matrix"),
        )),
    }
}
/// Also integers are scaled by a float.
fn scaled(t: Tensor, by: f64, dtype: DType) -> Result<Tensor> {
    match dtype.is_integer() {
        true => ops::multiply(t.astype(DType::F64)?, by)?.astype(dtype),
        false => ops::multiply(t, by),
    }
}
