//! The product of several matrices in the cheapest order.

use crate::error::{Error, Result};
use crate::fallible;
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The product of two or more matrices, in the order that takes the fewest multiplications.
///
/// The first may be a row vector and the last a column vector, whose dimension is removed from the
/// result; the others are `[m, n]`. The result has the common dtype.
///
/// Errors for fewer than two operands, if the shapes don't fit, and without a common dtype.
///
/// ```
/// use flex::{Tensor, linalg};
/// let (a, b) = (Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]), Tensor::from([[0.0f32, 1.0], [1.0, 0.0]]));
/// let y = linalg::multi_dot(&[&a, &b, &Tensor::from([1.0f32, 10.0])])?;
/// assert_eq!(y.to_vec::<f32>()?, [12.0, 34.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn multi_dot(operands: &[&Tensor]) -> Result<Tensor> {
    const OP: &str = "multi_dot";
    let n = operands.len();
    if n < 2 {
        let message = message!("{n} operands; there must be at least two");
        return Err(Error::value(OP, message));
    }
    let named = |e: Error| e.named(OP);
    let mut matrices: Vec<Tensor> = fallible::with_capacity(n)?;
    for (k, x) in operands.iter().enumerate() {
        matrices.push(match x.rank() {
            1 if k == 0 => x.expand_dims(0)?,
            1 if k == n - 1 => x.expand_dims(1)?,
            2 => (*x).clone(),
            _ => {
                let message = message!("operand {k} is not a matrix");
                return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
            }
        });
    }
    for pair in matrices.windows(2) {
        if pair[0].shape()[1] != pair[1].shape()[0] {
            let shapes = [
                ("x1", pair[0].shape(), pair[0].dtype()),
                ("x2", pair[1].shape(), pair[1].dtype()),
            ];
            return Err(Error::shape_of(OP, "the matrices do not fit", &shapes));
        }
    }
    let mut product = chain(&matrices).map_err(named)?;
    if operands[n - 1].rank() == 1 {
        product = product.squeeze(-1)?;
    }
    if operands[0].rank() == 1 {
        product = product.squeeze(0)?;
    }
    Ok(product)
}

/// The product of matrices that fit (Cormen et al., Introduction to Algorithms, 15.2).
fn chain(matrices: &[Tensor]) -> Result<Tensor> {
    let n = matrices.len();
    let size = |k: usize| match k {
        0 => matrices[0].shape()[0] as f64,
        _ => matrices[k - 1].shape()[1] as f64,
    };
    // the least cost of the product of i..=j, and the last operand of its left half
    let mut costs = fallible::filled(0.0f64, n.saturating_mul(n))?;
    let mut splits = fallible::filled(0usize, n.saturating_mul(n))?;
    for length in 1..n {
        for i in 0..n - length {
            let j = i + length;
            let mut best = (f64::INFINITY, i);
            for k in i..j {
                let cost =
                    costs[i * n + k] + costs[(k + 1) * n + j] + size(i) * size(k + 1) * size(j + 1);
                if cost < best.0 {
                    best = (cost, k);
                }
            }
            (costs[i * n + j], splits[i * n + j]) = best;
        }
    }
    // halves are computed before their product; the stack is as deep as there are operands
    let mut left: Vec<(usize, usize, bool)> = fallible::with_capacity(2 * n)?;
    let mut done: Vec<Tensor> = fallible::with_capacity(n)?;
    left.push((0, n - 1, false));
    while let Some((i, j, halves)) = left.pop() {
        if i == j {
            done.push(matrices[i].clone());
        } else if halves {
            let (Some(right), Some(first)) = (done.pop(), done.pop()) else {
                return Err(Error::value("multi_dot", "an operand is missing"));
            };
            done.push(ops::matmul(&first, &right)?);
        } else {
            let k = splits[i * n + j];
            left.extend([(i, j, true), (k + 1, j, false), (i, k, false)]);
        }
    }
    done.pop()
        .ok_or_else(|| Error::value("multi_dot", "there is no operand"))
}
