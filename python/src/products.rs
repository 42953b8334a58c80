//! Products of vectors and matrices.

use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Ints, Operand, OperandRef, TensorArg, compute, count, integer};
use crate::deferred;
use crate::dtype::DTypeArg;
use flex::Tensor;
use flex::ops::linalg::matmul_with_post_op;
use flex::ops::{self, TensordotAxes};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The work of a product in which each element of `a` is multiplied by `width` elements of `b`,
/// measured in elements of a simple operation.
pub fn work(a: &Tensor, width: usize) -> usize {
    a.len().saturating_mul(width) / 16
}

/// The matrix product. A vector on the left is a row, on the right a column, whose dimension is
/// removed from the result; dimensions before the last two are batches and broadcast.
///
/// x1: `[.., n, k]` or `[k]`. x2: `[.., k, m]` or `[k]`. The result is `[.., n, m]`, of the common
/// dtype; integers wrap, float16 and bfloat16 are summed in float32. dtype: the dtype of the sums
/// and of the result, as if both operands were converted to it first; int8 and uint8 in int32, and
/// float16 and bfloat16 in float32, need no such copies. If the CPU multiplies pairs of bfloat16
/// (AVX-512 BF16), their numbers below 1.2e-38 may count as zero. ShapeError if k or the batches
/// don't fit, or an operand is a number; DTypeError for bool, without a common dtype, or if `dtype`
/// can't hold the common dtype's values.
///
/// >>> flex.matmul(flex.asarray([[1, 2], [3, 4]]), flex.asarray([1, -1])).tolist()
/// [-1, -1]
/// >>> x = flex.full((1, 300), 100, dtype=flex.int8)
/// >>> flex.matmul(x, x.T, dtype=flex.int32).tolist()
/// [[3000000]]
#[function(x1, x2, /, *, dtype = None)]
pub fn matmul(
    py: Python<'_>,
    x1: OperandRef,
    x2: OperandRef,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let dtype = dtype.map(|d| d.0);
    if let Some(y) = deferred::matmul(&x1, &x2, dtype) {
        return y;
    }
    let (x1, x2) = (TensorArg(x1.tensor()?), TensorArg(x2.tensor()?));
    let width = if x2.0.rank() < 2 {
        1
    } else {
        x2.0.shape()[x2.0.rank() - 1]
    };
    compute(py, work(&x1.0, width), || {
        matmul_with_post_op(&x1.0, &x2.0, dtype, None)
    })
}

/// Swaps the last two dimensions; a view. ShapeError if there are fewer.
///
/// >>> flex.matrix_transpose(flex.asarray([[1, 2], [3, 4]])).tolist()
/// [[1, 3], [2, 4]]
#[function(x, /)]
fn matrix_transpose(x: OperandRef) -> PyResult<PyTensor> {
    x.view(ops::linalg::matrix_transposed)
}

/// The sum of products over several axes. The result has the axes of x1 that are not summed over,
/// followed by those of x2.
///
/// axes: the number of axes, the last of x1 and the first of x2; or a pair of axes, or of tuples of
/// axes, of x1 and x2. Sizes of paired axes must be equal (ShapeError). The result has the common
/// dtype; DTypeError for bool, or if there is none; AxisError if an axis is out of range or
/// repeated.
///
/// >>> a = flex.asarray([[1, 2], [3, 4]])
/// >>> flex.tensordot(a, a, axes=2).tolist(), flex.tensordot(a, a, axes=((0,), (0,))).tolist()
/// (30, [[10, 14], [14, 20]])
#[function(x1, x2, /, axes: "SupportsIndex | tuple[_Shape, _Shape]" = 2)]
fn tensordot(
    py: Python<'_>,
    x1: Operand,
    x2: Operand,
    axes: Option<&Bound<PyAny>>,
) -> PyResult<PyTensor> {
    let (x1, x2) = Operand::tensors(x1, x2).raise()?;
    let axes = match axes {
        None => TensordotAxes::Count(2),
        Some(axes) => match integer(axes) {
            Ok(n) => TensordotAxes::Count(count("tensordot", "axes", n)?),
            Err(_) => {
                let wrong = |_| {
                    PyTypeError::new_err(
                        "tensordot: axes is an integer, or a pair of axes or of tuples of axes",
                    )
                };
                let (a, b) = axes.extract::<(Ints, Ints)>().map_err(wrong)?;
                TensordotAxes::Pairs(a.0.to_vec(), b.0.to_vec())
            }
        },
    };
    compute(py, work(&x1, x2.len()), || ops::tensordot(&x1, &x2, axes))
}

/// The dot product along an axis; complex numbers of x1 are conjugated.
///
/// x1, x2: of the same size along the axis; the other dimensions broadcast (ShapeError). axis: a
/// negative one counts from the end of both, others from the front of the broadcast shape
/// (AxisError). The result has the common dtype; DTypeError for bool, or if there is none.
///
/// >>> flex.vecdot(flex.asarray([[1, 2], [3, 4]]), flex.asarray([10, 1])).tolist()
/// [12, 34]
#[function(x1, x2, /, *, axis = -1)]
fn vecdot(py: Python<'_>, x1: TensorArg, x2: TensorArg, axis: isize) -> PyResult<PyTensor> {
    compute(py, x1.0.len().max(x2.0.len()), || {
        ops::vecdot(&x1.0, &x2.0, axis)
    })
}

/// The outer product of two vectors: the product of each element of one with each of the other.
///
/// x1: `[n]`. x2: `[m]` (ShapeError for other ranks). The result is `[n, m]`, of the common dtype
/// (DTypeError if there is none).
///
/// >>> flex.outer(flex.asarray([1, 2]), flex.asarray([3, 4])).tolist()
/// [[3, 4], [6, 8]]
#[function(x1, x2, /)]
fn outer(py: Python<'_>, x1: TensorArg, x2: TensorArg) -> PyResult<PyTensor> {
    compute(py, x1.0.len().saturating_mul(x2.0.len()), || {
        ops::outer(&x1.0, &x2.0)
    })
}

/// The cross product of vectors with three elements along an axis.
///
/// x1, x2: of size 3 along the axis, otherwise they broadcast (ShapeError). The result has the
/// common dtype; DTypeError for bool, or if there is none; AxisError if the axis is out of range.
///
/// >>> flex.cross(flex.asarray([1, 0, 0]), flex.asarray([0, 1, 0])).tolist()
/// [0, 0, 1]
#[function(x1, x2, /, *, axis = -1)]
fn cross(py: Python<'_>, x1: TensorArg, x2: TensorArg, axis: isize) -> PyResult<PyTensor> {
    compute(py, x1.0.len().max(x2.0.len()), || {
        ops::cross(&x1.0, &x2.0, axis)
    })
}

/// The sum of products over the last axes of both; the result has the other axes of x1, followed by
/// those of x2. With a number, the product.
///
/// x1, x2: of the same size along the last axis (ShapeError). The result has the common dtype;
/// DTypeError for bool, or if there is none.
///
/// >>> flex.inner(flex.asarray([[1, 2], [3, 4]]), flex.asarray([10, 1])).tolist()
/// [12, 34]
#[function(x1, x2, /)]
fn inner(py: Python<'_>, x1: Operand, x2: Operand) -> PyResult<PyTensor> {
    let (x1, x2) = Operand::tensors(x1, x2).raise()?;
    compute(py, work(&x1, x2.len()), || ops::inner(&x1, &x2))
}

/// The product of numpy.dot: of vectors or matrices as `matmul`, with a number the product, and
/// otherwise the sum of products over the last axis of x1 and the second-last of x2; the result has
/// the other axes of x1, followed by those of x2.
///
/// x1, x2: of the same size along these axes (ShapeError). The result has the common dtype;
/// DTypeError for bool, or if there is none.
///
/// >>> flex.dot(flex.asarray([1, 2]), flex.asarray([[1, 2], [3, 4]])).tolist()
/// [7, 10]
#[function(x1, x2, /)]
fn dot(py: Python<'_>, x1: Operand, x2: Operand) -> PyResult<PyTensor> {
    let (x1, x2) = Operand::tensors(x1, x2).raise()?;
    compute(py, work(&x1, x2.len()), || ops::dot(&x1, &x2))
}

/// The dot product of all elements in row-major order; complex numbers of x1 are conjugated.
///
/// x1, x2: with equally many elements (ShapeError). The result is 0-dimensional, of the common
/// dtype; DTypeError for bool, or if there is none.
///
/// >>> flex.vdot(flex.asarray([[1, 2], [3, 4]]), flex.asarray([[10, 1], [0, 1]])).item()
/// 16
#[function(x1, x2, /)]
fn vdot(py: Python<'_>, x1: Operand, x2: Operand) -> PyResult<PyTensor> {
    let (x1, x2) = Operand::tensors(x1, x2).raise()?;
    compute(py, x1.len(), || ops::vdot(&x1, &x2))
}

/// The Kronecker product: each element of x1 times the whole of x2, as blocks. The shape with fewer
/// dimensions is padded with ones in front; sizes are multiplied.
///
/// The result has the common dtype; DTypeError for bool, or if there is none.
///
/// >>> flex.kron(flex.asarray([1, 10]), flex.asarray([1, 2, 3])).tolist()
/// [1, 2, 3, 10, 20, 30]
#[function(x1, x2, /)]
fn kron(py: Python<'_>, x1: Operand, x2: Operand) -> PyResult<PyTensor> {
    let (x1, x2) = Operand::tensors(x1, x2).raise()?;
    compute(py, x1.len().saturating_mul(x2.len()), || {
        ops::kron(&x1, &x2)
    })
}
