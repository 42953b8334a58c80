//! The exponential of matrices.

use super::batch::{Batch, dtypes};
use super::norm::{MatrixNorm, matrix_norm};
use super::solve::solve;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops;
use crate::tensor::Tensor;

/// The coefficients of Pade's approximation of degree 13.
const PADE: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];
/// The norm up to which its error is below the rounding of float64 (Higham 2005, table 2.3).
const LARGEST: f64 = 5.371_920_351_148_152;
/// The most squarings: twice the exponents of float64. More would only square overflow.
const MOST: f64 = 2200.0;

/// The exponential of each matrix: the sum of `x^k / k!`.
///
/// `x` is `[.., n, n]`; integers become float32, float16 and bfloat16 are computed in float32. By
/// scaling and squaring with Pade's approximation of degree 13 (Higham 2005), each matrix by
/// its own power of two.
///
/// Errors if the matrices are not square, and for float8.
///
/// ```
/// use flex::{Tensor, linalg, ops};
/// let x = Tensor::from([[0.0f64, 1.0], [0.0, 0.0]]);
/// let y = linalg::expm(&x)?;
/// assert!(ops::allclose(&y, &Tensor::from([[1.0f64, 1.0], [0.0, 1.0]]), ())?);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn expm(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "expm";
    let batch = Batch::square(OP, x)?;
    let (dtype, wide) = dtypes(OP, x.dtype())?;
    if x.is_empty() {
        return x.astype(dtype);
    }
    exponential(&x.astype(wide)?, batch.rows)
        .map_err(|e| e.named(OP))?
        .into_dtype(dtype)
}

fn exponential(x: &Tensor, n: usize) -> Result<Tensor> {
    let real = x.dtype().real();
    let norm = matrix_norm(x, MatrixNorm::One, true)?;
    // the squarings of each matrix; none for one that is not finite
    let ratio = ops::log2(&ops::divide(&norm, LARGEST)?)?;
    let times = ops::clip(&ops::ceil(&ratio)?, 0.0, MOST)?;
    let times = ops::where_(&ops::isfinite(&norm)?, &times, 0.0)?;
    let half = ops::trunc(&ops::multiply(&times, -0.5)?)?;
    let rest = ops::subtract(ops::negative(&times)?, &half)?;
    let x = ops::multiply(ops::multiply(x, &ops::exp2(&half)?)?, &ops::exp2(&rest)?)?;

    let one = ops::eye(n, n, 0, x.dtype())?;
    let x2 = ops::matmul(&x, &x)?;
    let x4 = ops::matmul(&x2, &x2)?;
    let x6 = ops::matmul(&x4, &x2)?;
    let sum = |c: [f64; 4]| {
        let terms = [(&x6, c[0]), (&x4, c[1]), (&x2, c[2]), (&one, c[3])];
        let mut sum = None::<Tensor>;
        for (power, c) in terms.into_iter().filter(|(_, c)| *c != 0.0) {
            let term = ops::multiply(power, c)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => ops::add(sum, term)?,
            });
        }
        sum.map_or_else(|| Ok(one.clone()), Ok::<_, Error>)
    };
    let b = &PADE;
    let odd = ops::add(
        ops::matmul(&x6, &sum([b[13], b[11], b[9], 0.0])?)?,
        sum([b[7], b[5], b[3], b[1]])?,
    )?;
    let odd = ops::matmul(&x, &odd)?;
    let even = ops::add(
        ops::matmul(&x6, &sum([b[12], b[10], b[8], 0.0])?)?,
        sum([b[6], b[4], b[2], b[0]])?,
    )?;
    let mut y = solve(&ops::subtract(&even, &odd)?, &ops::add(&even, &odd)?)?;
    let most = ops::max(&times, ())?.astype(DType::F32)?.item::<f32>()? as usize;
    for k in 0..most {
        let square = ops::matmul(&y, &y)?;
        let more = ops::greater(&times, &Tensor::scalar(k as f64, real)?)?;
        y = ops::where_(&more, &square, &y)?;
    }
    Ok(y)
}
