//! Matrix products with the array API's rules for vectors and batches.

use super::operands::{Matrices, ResultMatrices};
use super::post_op::{BindPostOp, bind_post_op};
use super::weight::product_of_weight;
use crate::dtype::{DType, Element};
#[cfg(feature = "half")]
use crate::dtype::{bf16, f16};
use crate::error::{Error, NamedOperand, Result};
use crate::exec::products::{ProductSizes, Right, products};
use crate::kernel::gemm::{self, Epilogue, MatElement};
use crate::layout::{self, Layout, Shape};
use crate::ops::methods::method;
use crate::tensor::Tensor;

const OP: &str = "matmul";

/// `expression` with the types of 8-bit operands whose products are summed in int32 without
/// converted copies; `other` for any other dtypes.
macro_rules! bytes_in_i32 {
    ($a:expr, $b:expr, $sum:expr, |$A:ident, $B:ident| $expression:expr, else $other:expr) => {
        match ($a, $b, $sum) {
            #[cfg(all(feature = "i8", feature = "i32"))]
            (DType::I8, DType::I8, DType::I32) => bytes_in_i32!(@ $A = i8, $B = i8, $expression),
            #[cfg(all(feature = "i8", feature = "i32"))]
            (DType::I8, DType::U8, DType::I32) => bytes_in_i32!(@ $A = i8, $B = u8, $expression),
            #[cfg(all(feature = "i8", feature = "i32"))]
            (DType::U8, DType::I8, DType::I32) => bytes_in_i32!(@ $A = u8, $B = i8, $expression),
            #[cfg(all(feature = "i8", feature = "i32"))]
            (DType::U8, DType::U8, DType::I32) => bytes_in_i32!(@ $A = u8, $B = u8, $expression),
            _ => $other,
        }
    };
    (@ $A:ident = $left:ty, $B:ident = $right:ty, $expression:expr) => {{
        #[allow(dead_code, reason = "an expression may ask for the case alone")]
        type $A = $left;
        #[allow(dead_code, reason = "as above")]
        type $B = $right;
        $expression
    }};
}
pub(crate) use bytes_in_i32;

/// The dtype in which products of this dtype are computed. Narrow integers are multiplied as int32,
/// whose low bits are theirs, and the sign makes no difference to the bits of wide ones.
pub(crate) fn product_dtype(dtype: DType) -> DType {
    if dtype.is_integer() && dtype.size() < DType::I32.size() {
        DType::I32
    } else {
        dtype
    }
}

/// `expression` with `T` the Rust type that a [`product_dtype`] is multiplied as; `other` if this
/// build leaves it out.
macro_rules! dispatch_product {
    ($dtype:expr, |$T:ident| $expression:expr, else $other:expr) => {
        match $dtype.signless() {
            #[cfg(feature = "i32")]
            $crate::dtype::DType::I32 => {
                type $T = i32;
                $expression
            }
            #[cfg(feature = "i64")]
            $crate::dtype::DType::I64 => {
                type $T = i64;
                $expression
            }
            dtype => dispatch!(inexact dtype, |$T| $expression, else $other),
        }
    };
}
pub(crate) use dispatch_product;

method!(
    /// The product of matrices, of a matrix and a vector, or of two vectors.
    ///
    /// `a` is `[.., m, k]` or `[k]`, `b` is `[.., k, n]` or `[k]`; the leading dimensions
    /// broadcast. A vector is a row on the left and a column on the right, and that dimension is
    /// dropped from the result. Different dtypes are promoted; integers wrap; float16 and bfloat16
    /// are summed in float32 and rounded once. An empty sum (`k = 0`) is zero. If the CPU
    /// multiplies pairs of bfloat16 (AVX-512 BF16), subnormal operands and sums, those below
    /// 1.2e-38, may count as zero.
    ///
    /// Errors if the sizes `k` differ, the leading dimensions don't broadcast, an operand has no
    /// dimension, or the dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let a = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let x = Tensor::from([1.0f32, -1.0]);
    /// assert_eq!(a.matmul(&a.transpose(0, 1)?)?.to_vec::<f32>()?, [5.0, 11.0, 11.0, 25.0]);
    /// assert_eq!(a.matmul(&x)?.to_vec::<f32>()?, [-1.0, -1.0]);
    /// assert_eq!(ops::matmul(&x, &x)?.item::<f32>()?, 2.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("mm", "bmm", "mv", "broadcast_matmul"))]
    pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        matmul_with_post_op(a, b, None, None)
    }
);

method!(
    /// [`matmul`] of operands that are first converted to `dtype`, the dtype of the sums and of the
    /// result.
    ///
    /// No converted copies are made if sums are wider than the operands: int8 and uint8 in int32
    /// (exact up to 2^15 terms, wrapping beyond), float16 and bfloat16 in float32 (the sums that
    /// `matmul` would round).
    ///
    /// Errors like `matmul`, and if `dtype` can't hold all values of the operands' common dtype.
    ///
    /// ```
    /// use flex::{DType, Tensor, ops};
    /// let (a, b) = (Tensor::from([[100i8, -100]]), Tensor::from([[100u8], [200]]));
    /// assert_eq!(a.matmul_as(&b, DType::I32)?.item::<i32>()?, -10_000);
    /// assert!(ops::matmul_as(&a, &b, DType::I8).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn matmul_as(a: &Tensor, b: &Tensor, dtype: DType) -> Result<Tensor> {
        matmul_with_post_op(a, b, Some(dtype), None)
    }
);

/// Whether a product of operands of these dtypes, summed in `sum`, has the bits of one of elements
/// that were converted to it, and converts them as it reads them. Products of bfloat16 have other
/// bits if the CPU has an instruction for pairs of them.
pub(crate) fn widens(a: DType, b: DType, sum: DType) -> bool {
    bytes_in_i32!(a, b, sum, |A, B| true, else match (a, b, sum) {
        #[cfg(feature = "half")]
        (DType::F16, DType::F16, DType::F32) => true,
        #[cfg(feature = "half")]
        (DType::BF16, DType::BF16, DType::F32) => !gemm::bf16_pairs::<bf16, bf16>(),
        _ => false,
    })
}
/// Whether a matrix or a batch of them is contiguous by rows or by columns, as a converted copy
/// would be: the algorithm for floats, and with it the bits, depends on strides.
pub(crate) fn is_dense(x: &Tensor) -> bool {
    let columns = || matches!((x.shape(), x.strides()), ([n, _], [1, s]) if *s == *n as isize);
    x.is_contiguous() || columns()
}

/// [`matmul`], or [`matmul_as`], with work that follows on blocks of the result.
pub fn matmul_with_post_op(
    a: &Tensor,
    b: &Tensor,
    dtype: Option<DType>,
    post_op: Option<&dyn BindPostOp>,
) -> Result<Tensor> {
    if a.dtype() == b.dtype() && dtype.is_none() && product_dtype(a.dtype()) == a.dtype() {
        // Nothing to broadcast or convert: the checks below take longer than a small product.
        match (a.shape(), b.shape()) {
            (&[m, k], &[rows, n]) if k == rows => return single(a, b, &[m, n], post_op),
            (&[m, k], &[rows]) if k == rows => return single(a, &b.expand_dims(1)?, &[m], None),
            (&[k], &[rows, n]) if k == rows => return single(&a.expand_dims(0)?, b, &[n], None),
            (&[k], &[rows]) if k == rows => {
                return single(&a.expand_dims(0)?, &b.expand_dims(1)?, &[], None);
            }
            _ => {}
        }
    }
    let (_, dtype) = product_of((a.shape(), a.dtype()), (b.shape(), b.dtype()), dtype)?;
    if product_dtype(dtype) != dtype {
        let sums = Some(product_dtype(dtype));
        return matmul_with_post_op(a, b, sums, None)?.into_dtype(dtype);
    }
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let post_op = post_op.filter(|_| !row && !column);
    let a = if row { a.expand_dims(0)? } else { a.clone() };
    let b = if column { b.expand_dims(1)? } else { b.clone() };
    let batched = |a: &Tensor, b: &Tensor, stack| batched(OP, (a, b), dtype, stack, post_op);
    let c = bytes_in_i32!(a.dtype(), b.dtype(), dtype, |A, B| batched(&a, &b, stack::<A, B, i32>), else match (a.dtype(), b.dtype(), dtype) {
        #[cfg(feature = "half")]
        (DType::F16, DType::F16, DType::F32) => batched(&a, &b, stack::<f16, f16, f32>),
        #[cfg(feature = "half")]
        (DType::BF16, DType::BF16, DType::F32) => batched(&a, &b, stack::<bf16, bf16, f32>),
        _ => {
            let (a, b) = (a.astype(dtype)?, b.astype(dtype)?);
            dispatch_product!(dtype, |T| batched(&a, &b, stack::<T, T, T>), else Err(Error::unsupported(OP, dtype)))
        }
    })?;
    match (row, column) {
        (false, false) => Ok(c),
        (true, false) => c.squeeze(-2),
        (false, true) => c.squeeze(-1),
        (true, true) => c.squeeze([-2, -1]),
    }
}

/// The product of two matrices of one dtype, of as many columns and rows, in a tensor of this shape.
fn single(
    a: &Tensor,
    b: &Tensor,
    shape: &[usize],
    post_op: Option<&dyn BindPostOp>,
) -> Result<Tensor> {
    let (m, n, k) = (a.shape()[0], b.shape()[1], a.shape()[1]);
    dispatch_product!(a.dtype(), |T| {
        let mut c = Tensor::empty(shape, a.dtype())?;
        stack::<T, T, T>(a, b, &mut c, ProductSizes { m, n, k }, 1, post_op)?;
        Ok(c)
    }, else Err(Error::unsupported(OP, a.dtype())))
}

/// The shape and dtype of the product of operands with these shapes and dtypes. Errors like the
/// product.
pub(crate) fn product_of(
    a: (&[usize], DType),
    b: (&[usize], DType),
    dtype: Option<DType>,
) -> Result<(Shape, DType)> {
    let operands = [("a", a.0, a.1), ("b", b.0, b.1)];
    let common = a.1.promote(b.1, OP)?;
    let dtype = dtype.unwrap_or(common);
    let ([.., left], [.., last]) = (a.0, b.0) else {
        return Err(Error::shape_of(
            OP,
            "operands need at least one dimension: use multiply for numbers",
            &operands,
        ));
    };
    sums_in(OP, common, dtype)?;
    let column = b.0.len() == 1;
    let right = b.0[b.0.len().saturating_sub(2)];
    if *left != right {
        let name = if column { "the only" } else { "second-last" };
        let message = message!("last axis of a is {left} but {name} axis of b is {right}");
        return Err(Error::shape_of(OP, message, &operands));
    }
    dispatch!(number dtype, |T| { let _ = size_of::<T>(); }, else return Err(Error::unsupported(OP, dtype)));
    let mut shape = lead(OP, operands)?;
    shape.extend(a.0.iter().rev().nth(1).copied());
    shape.extend((!column).then_some(*last));
    Ok((shape, dtype))
}

/// The broadcast shape of the leading dimensions, those before matrices or vectors.
fn lead(op: &'static str, [a, b]: [NamedOperand; 2]) -> Result<Shape> {
    let before = |shape: &'_ [usize]| shape.len().saturating_sub(2);
    let leading = [&a.1[..before(a.1)], &b.1[..before(b.1)]];
    layout::broadcast(op, &leading).map_err(|_| {
        Error::shape_of(
            op,
            "the dimensions before the last two do not broadcast",
            &[a, b],
        )
    })
}

/// Errors if `dtype` can't hold all values of the operands' common dtype.
pub(crate) fn sums_in(op: &'static str, common: DType, dtype: DType) -> Result<()> {
    if common.promote(dtype, op).ok() == Some(dtype) {
        return Ok(());
    }
    Err(Error::dtype(
        op,
        message!("products of {common} cannot be summed in {dtype}: convert the operands"),
    ))
}

/// Writes the products of two batches of matrices: [`stack`] for their dtypes.
type Stack =
    fn(&Tensor, &Tensor, &mut Tensor, ProductSizes, usize, Option<&dyn BindPostOp>) -> Result<()>;

/// The products of two batches of matrices, whose leading dimensions broadcast, in this dtype.
pub(super) fn batched(
    op: &'static str,
    (a, b): (&Tensor, &Tensor),
    dtype: DType,
    stack: Stack,
    post_op: Option<&dyn BindPostOp>,
) -> Result<Tensor> {
    let sizes = ProductSizes {
        m: a.shape()[a.rank() - 2],
        n: b.shape()[b.rank() - 1],
        k: a.shape()[a.rank() - 1],
    };
    let (lead_a, lead_b) = (&a.shape()[..a.rank() - 2], &b.shape()[..b.rank() - 2]);
    let operands = [("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())];
    let lead = lead(op, operands)?;
    let shape = |x: usize, y: usize| lead.iter().copied().chain([x, y]).collect::<Shape>();
    let mut c = Tensor::empty(shape(sizes.m, sizes.n), dtype)?;
    let batch = lead.iter().product::<usize>();
    // A single matrix on the right for all rows of a batch: one tall product.
    if lead_b.iter().all(|n| *n == 1)
        && lead_a == lead.as_slice()
        && let Some(tall) = a.layout().reshape(&[batch * sizes.m, sizes.k])
        && let Some(one) = b.layout().reshape(&[sizes.k, sizes.n])
    {
        stack(
            &a.view(tall),
            &b.view(one),
            &mut c,
            ProductSizes {
                m: batch * sizes.m,
                ..sizes
            },
            1,
            post_op,
        )?;
    } else {
        let (a, b) = (
            a.broadcast_to(shape(sizes.m, sizes.k))?,
            b.broadcast_to(shape(sizes.k, sizes.n))?,
        );
        stack(&a, &b, &mut c, sizes, batch, post_op)?;
    }
    Ok(c)
}

/// The products of a batch of matrices, by the driver of products.
pub(super) fn stack<A, B, C>(
    a: &Tensor,
    b: &Tensor,
    c: &mut Tensor,
    sizes: ProductSizes,
    batch: usize,
    post_op: Option<&dyn BindPostOp>,
) -> Result<()>
where
    A: Element + MatElement,
    B: Element + MatElement<Acc = A::Acc>,
    C: Element + MatElement<Acc = A::Acc>,
{
    let (left, right) = (Matrices::<A>::new(a), Matrices::<B>::new(b));
    let post_op = bind_post_op(post_op, c, [batch, sizes.m, sizes.n])?;
    let epilogue = Epilogue::NONE.with_post_op(post_op);
    let c = ResultMatrices::<C>::new(c, sizes.m, sizes.n)?;
    let operands = |i| {
        // SAFETY: each `c.get(i)` is a different matrix of a fresh tensor.
        (left.get(i), right.get(i), unsafe { c.get(i) })
    };
    // SAFETY: the shapes are those derived by the caller.
    unsafe {
        // Only for bytes: sums of floats could differ in their bits from those of the same product
        // with another tensor.
        match gemm::bytes::<A, B>() && batch == 1 {
            true => product_of_weight(sizes, b, &operands, epilogue),
            false => products(sizes, batch, &operands, Right::Once, epilogue),
        }
    }
}

method!(
    /// Swaps the last two dimensions; a view. Errors if there are fewer.
    ///
    /// ```
    /// use flex::{DType, Tensor, ops};
    /// let x = Tensor::zeros([5, 2, 3], DType::F32)?;
    /// assert_eq!(x.matrix_transpose()?.shape(), [5, 3, 2]);
    /// assert_eq!(ops::matrix_transpose(&Tensor::from([[1, 2, 3]]))?.shape(), [3, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("t", "mT"))]
    pub fn matrix_transpose(x: &Tensor) -> Result<Tensor> {
        Ok(x.view(matrix_transposed(x.layout(), x.dtype())?))
    }
);
/// The layout of [`matrix_transpose`] for a tensor of this layout and dtype.
pub fn matrix_transposed(x: &Layout, dtype: DType) -> Result<Layout> {
    if x.rank() < 2 {
        return Err(Error::shape_of(
            "matrix_transpose",
            "a matrix has two dimensions",
            &[("x", x.shape(), dtype)],
        ));
    }
    x.swap_axes("transpose", -2, -1)
}
