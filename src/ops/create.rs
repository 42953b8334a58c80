//! Tensors made from a rule: constants, ranges, the identity.

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::kernel::convert::Cast;
use crate::layout::IntoShape;
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A tensor filled with a value, which is converted as by [`Scalar::cast`]. A dtype of `None` means
/// the value's default dtype.
///
/// Errors if the value is out of the dtype's range, or complex for a real dtype.
///
/// ```
/// use flex::{DType, ops};
/// assert_eq!(ops::full(2, 7, DType::U8)?.to_vec::<u8>()?, [7, 7]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("from_elem"))]
pub fn full(
    shape: impl IntoShape,
    value: impl Into<Scalar>,
    dtype: impl Into<Option<DType>>,
) -> Result<Tensor> {
    let value = value.into();
    let dtype = dtype.into().unwrap_or(value.default_dtype());
    Tensor::filled(
        shape.into_shape().as_ref(),
        dtype,
        &value.cast(dtype, "full")?,
    )
}

/// A tensor filled with ones (or true). Errors if there is no memory for it, or for a dtype that
/// this build lacks.
///
/// ```
/// use flex::{DType, ops};
/// assert_eq!(ops::ones(2, DType::F32)?.to_vec::<f32>()?, [1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn ones(shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
    full(shape, true, dtype)
}

/// A matrix of zeros, `[rows, columns]`, with ones on diagonal `k`, which is above the main
/// diagonal if positive. Errors like [`ones`].
///
/// ```
/// use flex::{DType, ops};
/// assert_eq!(ops::eye(2, 3, 1, DType::I32)?.to_vec::<i32>()?, [0, 1, 0, 0, 0, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("identity"))]
pub fn eye(rows: usize, columns: usize, k: i64, dtype: DType) -> Result<Tensor> {
    let one = ones((), dtype)?;
    let mut out = Tensor::zeros([rows, columns], dtype)?;
    if let Some(diagonal) = out.layout().diagonal(k).filter(|d| !d.is_empty()) {
        out.write(&diagonal, &one)?;
    }
    Ok(out)
}

/// `start, start + step, ..` before `stop`. With a dtype of `None` the result is int64 if all three
/// are integers, else of the default float. Each value is computed from its index in float64
/// (integers exactly) and rounded once.
///
/// Errors for a step of 0, floats with an integer dtype, values that don't fit the dtype, and a
/// number of values that isn't finite.
///
/// ```
/// use flex::{DType, ops};
/// assert_eq!(ops::arange(1, 8, 3, None)?.to_vec::<i64>()?, [1, 4, 7]);
/// assert_eq!(ops::arange(1, 0, -0.5, None)?.to_vec::<f32>()?, [1.0, 0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("range"))]
pub fn arange(
    start: impl Into<Scalar>,
    stop: impl Into<Scalar>,
    step: impl Into<Scalar>,
    dtype: impl Into<Option<DType>>,
) -> Result<Tensor> {
    arange_of(start.into(), stop.into(), step.into(), dtype.into())
}

fn arange_of(start: Scalar, stop: Scalar, step: Scalar, dtype: Option<DType>) -> Result<Tensor> {
    const OP: &str = "arange";
    if !step.to_bool() {
        return Err(Error::value(OP, "step is 0"));
    }
    if let (Scalar::Int(a), Scalar::Int(b), Scalar::Int(s)) = (start, stop, step) {
        let dtype = dtype.unwrap_or(DType::DEFAULT_INT);
        let count = if (b > a) == (s > 0) {
            b.saturating_sub(a)
                .unsigned_abs()
                .div_ceil(s.unsigned_abs())
        } else {
            0
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let at = move |i: usize| (i as i128).saturating_mul(s).saturating_add(a);
        if count > 0 {
            // if the first and the last fit, so do all between them
            let ends = [a, at(count - 1)];
            for x in ends {
                Scalar::Int(x).value(dtype, OP)?;
            }
            if !dtype.is_integer() && ends.iter().any(|x| i64::try_from(*x).is_err()) {
                let element = |i| Scalar::Int(at(i)).value(dtype, OP).ok();
                return dispatch!(inexact dtype, |T| filled(dtype, count, |i| element(i).and_then(|v| v.get::<T>()).unwrap_or_default()),
                    else Err(Error::unsupported(OP, dtype)));
            }
        }
        // computed modulo 2^64, so the bits are right for signed and unsigned integers alike
        return filled(DType::I64, count, move |i: usize| {
            (a as i64).wrapping_add((i as i64).wrapping_mul(s as i64))
        })?
        .astype(dtype);
    }
    let dtype = dtype.unwrap_or(DType::DEFAULT_FLOAT);
    if !dtype.is_float() {
        return Err(Error::dtype(
            OP,
            message!(
                "start {start}, stop {stop} and step {step} do not give {dtype}: leave the dtype \
                    out, and convert the result with astype"
            ),
        ));
    }
    let (a, b, s) = (start.to_f64(), stop.to_f64(), step.to_f64());
    // halved, if the distance overflows
    let part = if (b - a).is_finite() { 1.0 } else { 0.5 };
    let (a, b, s) = (a * part, b * part, s * part);
    let count = libm::ceil((b - a) / s);
    if count.is_nan() || count >= isize::MAX as f64 {
        return Err(Error::value(
            OP,
            message!("{start}, {stop}, {step} do not give a finite number of values"),
        ));
    }
    linear(OP, dtype, count.max(0.0) as usize, move |i| {
        ((a + i as f64 * s) / part, 0.0)
    })
}

/// The number of values of [`linspace`], and its options. `into` makes it from the number alone;
/// the stop is then the last value.
///
/// ```
/// use flex::ops::Linspace;
/// assert_eq!(Linspace::from(5), Linspace { count: 5, ..Default::default() });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linspace {
    /// The number of values.
    pub count: usize,
    /// Whether the stop is the last value; otherwise it would be the next one.
    pub endpoint: bool,
    /// The dtype of the result; by default the default float, or the default complex dtype for
    /// complex bounds.
    pub dtype: Option<DType>,
}
impl Default for Linspace {
    fn default() -> Linspace {
        Linspace {
            count: 50,
            endpoint: true,
            dtype: None,
        }
    }
}
impl Linspace {
    /// The equal pieces between the bounds.
    fn pieces(&self) -> usize {
        self.count.saturating_sub(usize::from(self.endpoint))
    }
    /// The distance from one value to the next, of no dimensions and a dtype; NaN if the bounds have
    /// nothing between them.
    ///
    /// ```
    /// use flex::{DType, ops::Linspace};
    /// assert_eq!(Linspace::from(5).step(0, 1, DType::F32)?.item::<f32>()?, 0.25);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn step(
        &self,
        start: impl Into<Scalar>,
        stop: impl Into<Scalar>,
        dtype: DType,
    ) -> Result<Tensor> {
        let (start, stop) = (start.into(), stop.into());
        let step = |a: f64, b: f64| match (self.pieces() as f64, b - a) {
            (0.0, _) => f64::NAN,
            (n, way) if way.is_finite() => way / n,
            (n, _) => b / n - a / n,
        };
        let (real, imaginary) = (
            step(start.to_f64(), stop.to_f64()),
            step(start.imag(), stop.imag()),
        );
        linear("linspace", dtype, 1, move |_| (real, imaginary))?.reshape(&[] as &[usize])
    }
}
impl From<usize> for Linspace {
    fn from(count: usize) -> Linspace {
        Linspace {
            count,
            ..Default::default()
        }
    }
}

/// Evenly spaced values from `start` to `stop`. Each value is rounded once, and the distance may be
/// beyond the range of floats.
///
/// Errors if the dtype is neither float nor complex, or real for complex bounds.
///
/// ```
/// use flex::ops::{self, Linspace};
/// assert_eq!(ops::linspace(0, 1, 3)?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
/// assert_eq!(ops::linspace(0, 1, Linspace { endpoint: false, ..2.into() })?.to_vec::<f32>()?, [0.0, 0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn linspace(
    start: impl Into<Scalar>,
    stop: impl Into<Scalar>,
    how: impl Into<Linspace>,
) -> Result<Tensor> {
    linspace_of(start.into(), stop.into(), how.into())
}

fn linspace_of(start: Scalar, stop: Scalar, how: Linspace) -> Result<Tensor> {
    const OP: &str = "linspace";
    let Linspace { count, dtype, .. } = how;
    let complex = matches!(start, Scalar::Complex(..)) || matches!(stop, Scalar::Complex(..));
    let dtype = dtype.unwrap_or(if complex {
        DType::DEFAULT_COMPLEX
    } else {
        DType::DEFAULT_FLOAT
    });
    if !(dtype.is_complex() || dtype.is_float() && !complex) {
        return Err(Error::dtype(
            OP,
            message!(
                "the result is float or complex, not {dtype}: leave the dtype out, and \
                    convert the result with astype"
            ),
        ));
    }
    let pieces = how.pieces().max(1);
    let (real, imaginary) = (
        Span::new(start.to_f64(), stop.to_f64(), pieces),
        Span::new(start.imag(), stop.imag(), pieces),
    );
    linear(OP, dtype, count, move |i| (real.at(i), imaginary.at(i)))
}

/// The way from one number to another, in equal pieces.
struct Span {
    ends: [f64; 2],
    /// Each end, scaled down if it is so large that products with a number of pieces overflow, as a
    /// sum of two whose products are exact.
    parts: [(f64, f64); 2],
    up: f64,
    pieces: usize,
}
impl Span {
    fn new(a: f64, b: f64, pieces: usize) -> Span {
        let (down, up) = match a.abs().max(b.abs()) > 1e270 {
            true => (
                1.0 / 1_267_650_600_228_229_401_496_703_205_376.0,
                1_267_650_600_228_229_401_496_703_205_376.0,
            ),
            false => (1.0, 1.0),
        };
        Span {
            ends: [a, b],
            parts: [a, b].map(|x| halves(x * down)),
            up,
            pieces,
        }
    }
    /// `((n - i) a + i b) / n`, rounded once: products and their sum as sums of two, and the
    /// remainder of the first quotient divided too.
    fn at(&self, i: usize) -> f64 {
        let [(a, a_low), (b, b_low)] = self.parts;
        if i == 0 || i == self.pieces {
            return self.ends[usize::from(i != 0)];
        }
        let (n, left, gone) = (self.pieces as f64, (self.pieces - i) as f64, i as f64);
        if !(a.is_finite() && b.is_finite()) {
            return left * a + gone * b;
        }
        let (p, q) = (left * a, gone * b);
        let sum = p + q;
        let v = sum - p;
        let lost = (p - (sum - v)) + (q - v);
        let low = (left * a_low + gone * b_low) + lost;
        let total = sum + low;
        let low = (sum - total) + low;
        let quotient = total / n;
        let (high, rest) = halves(quotient);
        let remainder = ((total - high * n) - rest * n) + low;
        (quotient + remainder / n) * self.up
    }
}
/// x as a sum of two with 27 and 26 bits; infinity and NaN as they are.
fn halves(x: f64) -> (f64, f64) {
    let high = f64::from_bits(x.to_bits() & !0x3ff_ffff);
    if x.is_finite() {
        (high, x - high)
    } else {
        (x, 0.0)
    }
}

/// A 1-dimensional tensor of floats or complex numbers, computed from their indices.
fn linear(
    op: &'static str,
    dtype: DType,
    count: usize,
    f: impl Fn(usize) -> (f64, f64) + Sync,
) -> Result<Tensor> {
    dispatch!(inexact dtype, |T| filled(dtype, count, |i| {
        let (real, imaginary) = f(i);
        <T as Cast>::from_parts(real, imaginary)
    }), else Err(Error::unsupported(op, dtype)))
}

/// A 1-dimensional tensor of elements, computed from their indices.
fn filled<T: Element>(dtype: DType, count: usize, f: impl Fn(usize) -> T + Sync) -> Result<Tensor> {
    let mut out = Tensor::empty([count], dtype)?;
    let to = par::Out::new(out.as_mut_slice::<T>()?);
    par::ranges(
        count,
        64,
        Cost {
            bytes: size_of::<T>(),
            flops: 4,
        },
        |r| {
            // SAFETY: OUT1: the ranges of two calls are disjoint.
            for (x, i) in unsafe { to.part(r.clone()) }.iter_mut().zip(r) {
                *x = f(i);
            }
        },
    );
    Ok(out)
}
