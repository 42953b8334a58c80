//! Row normalisations: a row stays in L1 for all its passes. Rows are in the type that is computed in, and changed in place;
//! [`load`] and [`store`] convert from and to the elements.

use crate::kernel::gemm::Product;
use crate::kernel::math::{Math, Real};
use core::ops::{Add, Div, Mul, Sub};

/// A float that rows are computed in.
pub trait Float:
    Real + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Send + Sync + 'static
{
    /// The least of all.
    const NEG_INFINITY: Self;
    /// One.
    const ONE: Self;
    /// The nearest to a number.
    fn of(x: f64) -> Self;
}
impl Float for f32 {
    const NEG_INFINITY: f32 = f32::NEG_INFINITY;
    const ONE: f32 = 1.0;
    #[inline(always)]
    fn of(x: f64) -> f32 {
        x as f32
    }
}
impl Float for f64 {
    const NEG_INFINITY: f64 = f64::NEG_INFINITY;
    const ONE: f64 = 1.0;
    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
}

/// A fold in 64 running values, joined in a fixed tree: `fold!(slice, start, |sum, x| step, |a, b| join)`. Text and not a
/// closure, which LLVM might outline.
macro_rules! fold {
    ($x:expr, $start:expr, |$sum:ident, $v:ident| $step:expr, |$a:ident, $b:ident| $join:expr) => {{
        const L: usize = 64;
        let (chunks, rest) = $x.as_chunks::<L>();
        // An array that a variable indexes stays in memory, so the rest has its own.
        let (mut lanes, mut tail) = ([$start; L], [$start; L]);
        for c in chunks {
            for l in 0..L {
                let ($sum, $v) = (lanes[l], c[l]);
                lanes[l] = $step;
            }
        }
        for (lane, v) in tail.iter_mut().zip(rest) {
            let ($sum, $v) = (*lane, *v);
            *lane = $step;
        }
        for l in 0..L {
            let ($a, $b) = (lanes[l], tail[l]);
            lanes[l] = $join;
        }
        let mut half = L / 2;
        while half > 0 {
            for l in 0..half {
                let ($a, $b) = (lanes[l], lanes[l + half]);
                lanes[l] = $join;
            }
            half /= 2;
        }
        lanes[0]
    }};
}

/// The largest, NaN aside.
#[inline(always)]
fn largest<F: Float>(x: &[F]) -> F {
    fold!(x, F::NEG_INFINITY, |m, v| if v > m { v } else { m }, |a, b| if b > a { b } else { a })
}

kernel! {
    /// Elements to what is computed in.
    pub fn load<'a, T: Product>(x: &'a [T], y: &'a mut [T::Lane]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = x.widen();
        }
    }
}
kernel! {
    /// And back, rounding once.
    pub fn store<'a, T: Product>(x: &'a [T::Lane], y: &'a mut [T]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = T::narrow(*x);
        }
    }
}
kernel! {
    /// `exp(x - max) / sum(exp(x - max))`. A row of minus infinities, or with NaN or infinity, gives NaN.
    pub fn softmax<'a, F: Float>(y: &'a mut [F]) -> () { |I|
        let m = largest(y);
        for v in y.iter_mut() {
            *v = Math::exp::<I>(*v - m);
        }
        let sum = fold!(y, F::default(), |s, v| s + v, |a, b| a + b);
        let scale = F::ONE / sum;
        for v in y {
            *v = *v * scale;
        }
    }
}
kernel! {
    /// `x - max - log(sum(exp(x - max)))`.
    pub fn log_softmax<'a, F: Float>(y: &'a mut [F]) -> () { |I|
        let m = largest(y);
        let sum = fold!(y, F::default(), |s, v| s + Math::exp::<I>(v - m), |a, b| a + b);
        let log = Math::log::<I>(sum);
        for v in y {
            *v = *v - m - log;
        }
    }
}
/// `y = x * weight + bias`, both of the row's length or absent.
#[inline(always)]
fn affine<F: Float>(y: &mut [F], weight: Option<&[F]>, bias: Option<&[F]>) {
    if let (Some(w), Some(b)) = (weight, bias) {
        for ((y, w), b) in y.iter_mut().zip(w).zip(b) {
            *y = *y * *w + *b;
        }
    } else if let Some(w) = weight {
        for (y, w) in y.iter_mut().zip(w) {
            *y = *y * *w;
        }
    } else if let Some(b) = bias {
        for (y, b) in y.iter_mut().zip(b) {
            *y = *y + *b;
        }
    }
}
kernel! {
    /// `(x - mean) / sqrt(var + eps) * weight + bias`, the variance being that of the row alone (divided by its length).
    pub fn layer_norm<'a, F: Float>(y: &'a mut [F], weight: Option<&'a [F]>, bias: Option<&'a [F]>, eps: f64) -> () { |I|
        let n = F::of(y.len() as f64);
        let mean = fold!(y, F::default(), |s, v| s + v, |a, b| a + b) / n;
        for v in y.iter_mut() {
            *v = *v - mean;
        }
        let var = fold!(y, F::default(), |s, v| s + v * v, |a, b| a + b) / n;
        let scale = F::ONE / Math::sqrt::<I>(var + F::of(eps));
        for v in y.iter_mut() {
            *v = *v * scale;
        }
        affine(y, weight, bias);
    }
}
kernel! {
    /// `x / sqrt(mean(x * x) + eps) * weight`.
    pub fn rms_norm<'a, F: Float>(y: &'a mut [F], weight: Option<&'a [F]>, eps: f64) -> () { |I|
        let n = F::of(y.len() as f64);
        let square = fold!(y, F::default(), |s, v| s + v * v, |a, b| a + b) / n;
        let scale = F::ONE / Math::sqrt::<I>(square + F::of(eps));
        for v in y.iter_mut() {
            *v = *v * scale;
        }
        affine(y, weight, None);
    }
}
