//! Gradients of linear layers and embeddings.

use super::{common_float, expect_shape};
use crate::error::{Error, Result};
use crate::layout::Shape;
use crate::ops::index::add_at;
use crate::ops::{self, matmul};
use crate::tensor::Tensor;

/// The gradients of `x`, weight and bias of [`linear`](crate::nn::linear) without activation and
/// residual: `grad weight`, `grad^T x`, and the sum of `grad` over all dimensions but the last.
///
/// Errors unless the shapes are `x` `[.., in]`, `weight` `[out, in]` and `grad` `[.., out]`, and if
/// there is no common float dtype.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
/// let weight = Tensor::from_slice(&[3.0f32, 4.0], [1, 2])?;
/// let grad = Tensor::from_slice(&[10.0f32], [1, 1])?;
/// let [x, weight, bias] = nn::grad::linear(&grad, &x, &weight)?;
/// assert_eq!(x.to_vec::<f32>()?, [30.0, 40.0]);
/// assert_eq!(weight.to_vec::<f32>()?, [10.0, 20.0]);
/// assert_eq!(bias.to_vec::<f32>()?, [10.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linear(grad: &Tensor, x: &Tensor, weight: &Tensor) -> Result<[Tensor; 3]> {
    const OP: &str = "grad.linear";
    let operands = [
        ("grad", grad.shape(), grad.dtype()),
        ("x", x.shape(), x.dtype()),
        ("weight", weight.shape(), weight.dtype()),
    ];
    let ([.., inner], &[outputs, width]) = (x.shape(), weight.shape()) else {
        let message = "x must have the shape [.., in] and weight [out, in]";
        return Err(Error::shape_of(OP, message, &operands));
    };
    if *inner != width {
        let message = message!("the last axis of x is {inner}, but that of weight is {width}");
        return Err(Error::shape_of(OP, message, &operands));
    }
    let lead = &x.shape()[..x.rank() - 1];
    let result: Shape = lead.iter().copied().chain([outputs]).collect();
    expect_shape(OP, grad, &result, ("x", x))?;
    let dtype = common_float(OP, &[grad, x, weight])?;
    let count: usize = lead.iter().product();
    let g = grad.astype(dtype)?.reshape((count, outputs))?;
    let flat = x.astype(dtype)?.reshape((count, width))?;
    Ok([
        matmul(&g, &weight.astype(dtype)?)?.reshape(x.shape())?,
        matmul(&g.transpose(0, 1)?, &flat)?,
        ops::sum(&g, 0)?,
    ])
}

/// The gradient of the weight, `[entries, width]`, of [`embedding`](crate::nn::embedding): each row
/// is the sum of the rows of `grad`, `[.., width]`, that have its index, in the order of the
/// indices.
///
/// Errors if `grad` doesn't have the shape of the indices with one more dimension, if `indices` is
/// not an integer tensor or an index is out of range, and if `grad` is not a float tensor.
///
/// ```
/// use flex::{Tensor, nn};
/// let indices = Tensor::from_slice(&[1i64, 0, 1], [3])?;
/// let grad = Tensor::from_slice(&[1.0f32, 2.0, 4.0], [3, 1])?;
/// assert_eq!(nn::grad::embedding(&grad, &indices, 3)?.to_vec::<f32>()?, [2.0, 5.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn embedding(grad: &Tensor, indices: &Tensor, entries: usize) -> Result<Tensor> {
    const OP: &str = "grad.embedding";
    let dtype = common_float(OP, &[grad])?;
    let [lead @ .., width] = grad.shape() else {
        let shapes = [("grad", grad.shape(), dtype)];
        return Err(Error::shape_of(
            OP,
            "grad needs a last dimension, the width",
            &shapes,
        ));
    };
    if lead != indices.shape() {
        let message = "grad must have the shape of the indices and a last dimension, the width";
        let shapes = [
            ("grad", grad.shape(), dtype),
            ("indices", indices.shape(), indices.dtype()),
        ];
        return Err(Error::shape_of(OP, message, &shapes));
    }
    let rows = grad
        .astype(dtype.wide())?
        .reshape((indices.len(), *width))?;
    let zeros = Tensor::zeros([entries, *width], dtype.wide())?;
    let indices = indices.reshape(indices.len())?;
    add_at(OP, zeros, &indices, &rows, 0)?.into_dtype(dtype)
}
