//! Linear layers.

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::kernel::gemm::{Product, Stage, Stages};
use crate::layout::Shape;
use crate::ops::linalg::{Matrices, Results, Sizes, products};
use crate::tensor::Tensor;
use alloc::format;

/// `x weight^T + bias`: `x` is `[.., in]`, `weight` `[out, in]`, `bias` `[out]`, the result `[.., out]`. The bias is added
/// while the product is in cache. Dtypes are promoted.
///
/// Errors where the sizes don't fit, or the dtypes have no common one or are bool.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
/// let weight = Tensor::from_slice(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0], [3, 2])?;
/// let bias = Tensor::from_slice(&[0.5f32, 0.0, 0.0], [3])?;
/// assert_eq!(nn::linear(&x, &weight, Some(&bias))?.to_vec::<f32>()?, [1.5, 2.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    const OP: &str = "linear";
    let operands = [("x", x.shape(), x.dtype()), ("weight", weight.shape(), weight.dtype())];
    if weight.rank() != 2 || x.rank() == 0 {
        return Err(Error::shape_of(OP, "x must have the shape [.., in] and weight [out, in]", &operands));
    }
    let (n, k) = (weight.shape()[0], weight.shape()[1]);
    if x.shape()[x.rank() - 1] != k {
        let message = format!("last axis of x is {} but that of weight is {k}", x.shape()[x.rank() - 1]);
        return Err(Error::shape_of(OP, message, &operands));
    }
    let mut dtype = x.dtype().promote(weight.dtype(), OP)?;
    if let Some(b) = bias {
        dtype = dtype.promote(b.dtype(), OP)?;
        if b.shape() != [n] {
            let message = format!("bias must have the shape [{n}]");
            return Err(Error::shape_of(OP, message, &[operands[0], operands[1], ("bias", b.shape(), b.dtype())]));
        }
    }
    let lead = &x.shape()[..x.rank() - 1];
    let m = lead.iter().product::<usize>();
    let shape: Shape = lead.iter().copied().chain([n]).collect();
    let rows = x.astype(dtype)?.reshape(&[m as isize, k as isize])?;
    let columns = weight.astype(dtype)?.transpose(0, 1)?;
    let bias = bias.map(|b| b.astype(dtype)?.contiguous()).transpose()?;
    let mut y = Tensor::empty(&shape, dtype)?;
    dispatch!(number dtype, |T| affine::<T>(&rows, &columns, bias.as_ref(), &mut y, Sizes { m, n, k }), else Err(Error::unsupported(OP, dtype)))?;
    Ok(y)
}

fn affine<T: Element + Product>(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, y: &mut Tensor, sizes: Sizes) -> Result<()> {
    let bias = bias.map(|b| b.as_slice::<T>()).transpose()?.map(Stage::Bias);
    let stages = Stages::new(bias.as_slice(), sizes.m, sizes.n);
    let (a, b, c) = (Matrices::<T>::new(x), Matrices::<T>::new(weight), Results::<T>::new(y, sizes.m, sizes.n)?);
    // SAFETY: the shapes are those of `linear`; `c.get(0)` is the fresh result.
    unsafe { products(sizes, 1, |i| (a.get(i), b.get(i), c.get(i)), stages) }
}
