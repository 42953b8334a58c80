//! Products of integers.
#![cfg(feature = "i32")]

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops;
use crate::tensor::Tensor;

/// `(a - a_zero) (b - b_zero)` in int32, exact for sums of up to 2^15 terms; ONNX's
/// `MatMulInteger`. Operands are int8 or uint8, independently, with shapes as in [`ops::matmul`]. A
/// zero point has its operand's dtype and is a single number, or one per row of `a` (`[m]`) or
/// column of `b` (`[n]`).
///
/// Errors for other dtypes and shapes.
///
/// ```
/// use flex::{Tensor, quant};
/// let (a, b) = (Tensor::from([[10u8, 255]]), Tensor::from([[1i8], [-128]]));
/// let zero = Tensor::from([10u8]);
/// assert_eq!(quant::matmul_integer(&a, &b, Some(&zero), None)?.to_vec::<i32>()?, [-31_360]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn matmul_integer(
    a: &Tensor,
    b: &Tensor,
    a_zero: Option<&Tensor>,
    b_zero: Option<&Tensor>,
) -> Result<Tensor> {
    const OP: &str = "quant.matmul_integer";
    for (name, t) in [("a", a), ("b", b)] {
        if !matches!(t.dtype(), DType::I8 | DType::U8) {
            return Err(Error::dtype(
                OP,
                message!("{name} must be int8 or uint8, not {}", t.dtype()),
            ));
        }
    }
    let c = ops::matmul_as(a, b, DType::I32)?;
    if a_zero.is_none() && b_zero.is_none() {
        return Ok(c);
    }
    if a.rank() < 2 || b.rank() < 2 {
        let operands = [("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())];
        return Err(Error::shape_of(
            OP,
            "zero points need matrices, not vectors",
            &operands,
        ));
    }
    let (m, n, k) = (
        a.shape()[a.rank() - 2],
        b.shape()[b.rank() - 1],
        a.shape()[a.rank() - 1],
    );
    let of =
        |name, zero: Option<&Tensor>, operand: &Tensor, count: usize, shape: [usize; 2]| match zero
        {
            None => Tensor::zeros([1, 1], DType::I32),
            Some(zero) if zero.dtype() != operand.dtype() => Err(Error::dtype(
                OP,
                message!(
                    "{name} is {} but its operand {}",
                    zero.dtype(),
                    operand.dtype()
                ),
            )),
            Some(zero) if zero.len() == 1 && zero.rank() <= 1 => {
                zero.astype(DType::I32)?.reshape([1, 1])
            }
            Some(zero) if zero.shape() == [count] => zero.astype(DType::I32)?.reshape(shape),
            Some(zero) => Err(Error::shape_of(
                OP,
                message!("{name} must be one number or have the shape [{count}]"),
                &[(name, zero.shape(), zero.dtype())],
            )),
        };
    let za = of("a_zero", a_zero, a, m, [m, 1])?;
    let zb = of("b_zero", b_zero, b, n, [1, n])?;
    // (a - za) (b - zb) = a b - za sum(b) - (sum(a) - k za) zb
    let sums = |t: &Tensor, axis: isize| ops::sum_as(t, axis, DType::I32)?.expand_dims(axis);
    let k = Tensor::scalar(k as i64, DType::I32)?;
    let rows = ops::subtract(&sums(a, -1)?, &ops::multiply(&k, &za)?)?;
    let c = ops::subtract(&c, &ops::multiply(&za, &sums(b, -2)?)?)?;
    ops::subtract(&c, &ops::multiply(&rows, &zb)?)
}
