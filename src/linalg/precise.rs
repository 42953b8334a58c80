//! Matrices before an iteration: finite, and of magnitude 1; and the iteration's numbers, in float64.

use super::field::Field;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::gemm::Scratch;
use crate::kernel::math::Real;

/// The dtype in which iterations run: float64 or complex128 where the build has them, so that
/// float32 loses nothing but the rounding of the result.
pub(super) fn precise(dtype: DType) -> DType {
    let wide = if dtype.is_complex() {
        DType::Complex128
    } else {
        DType::F64
    };
    if wide.is_available() { wide } else { dtype }
}

/// The float of [`precise`].
#[cfg(feature = "f64")]
pub(super) type Precise = f64;
/// The float of [`precise`].
#[cfg(not(feature = "f64"))]
pub(super) type Precise = f32;

/// A copy of the numbers of a tridiagonal or bidiagonal matrix, to iterate on.
pub(super) fn widened<R: Real>(x: &[R]) -> Result<Scratch<Precise>> {
    let mut copy = Scratch::new(x.len())?;
    for (to, x) in copy.iter_mut().zip(x) {
        *to = Precise::from_f64(x.to_f64());
    }
    Ok(copy)
}
/// Numbers of an iteration's result, rounded.
pub(super) fn narrow<T: Field>(from: &[Precise], to: &mut [T]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to = T::real(T::Real::from_f64(x.to_f64()));
    }
}

/// What is negligible beside 1 in an iteration in `F` for results of this epsilon: a sixty-fourth of
/// it, or a rounding of the iteration.
pub(super) fn resolution<F: Real>(epsilon: f64) -> F {
    let (wanted, least) = (F::from_f64(epsilon / 64.0), super::field::epsilon::<F>());
    if wanted > least { wanted } else { least }
}

/// NaN.
pub(super) fn nan<R: Real>() -> R {
    R::from_f64(f64::NAN)
}

/// Divides the parts of a matrix by a power of two, so that the largest is in [1/2, 1). Its
/// exponent; none if a part is not finite.
pub(super) fn normalize<R: Real>(x: &mut [R]) -> Option<i32> {
    let mut largest = R::ZERO;
    for x in x.iter() {
        let size = super::field::abs(*x);
        if !size.isfinite() {
            return None;
        }
        largest = if size > largest { size } else { largest };
    }
    let exponent = libm::frexp(largest.to_f64()).1;
    multiply(x, -exponent);
    Some(exponent)
}

/// Multiplies by a power of two, in two steps, neither of which overflows by itself.
pub(super) fn multiply<R: Real>(x: &mut [R], exponent: i32) {
    if exponent == 0 {
        return;
    }
    let half = exponent / 2;
    let power = |k| R::from_f64(libm::ldexp(1.0, k));
    let (first, second) = (power(half), power(exponent - half));
    for x in x {
        *x = *x * first * second;
    }
}

/// The numbers `0..n`, sorted by the values that they stand for.
pub(super) fn order<R: Real>(values: &[R], descending: bool) -> Result<alloc::vec::Vec<usize>> {
    let mut order = crate::fallible::filled(0usize, values.len())?;
    for (k, to) in order.iter_mut().enumerate() {
        *to = k;
    }
    order.sort_unstable_by(|a, b| {
        let (x, y) = (values[*a].to_f64(), values[*b].to_f64());
        let by_value = if descending {
            y.total_cmp(&x)
        } else {
            x.total_cmp(&y)
        };
        by_value.then(a.cmp(b))
    });
    Ok(order)
}

/// Fills with NaN, in all parts.
pub(super) fn fill_nan<T: Field>(x: &mut [T]) {
    x.fill(T::new(nan(), nan()));
}
