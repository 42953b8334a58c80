//! Mean and sum of squared deviations: two passes over a tile that stays in cache; tiles are joined
//! by Chan's formula.

use crate::dtype::Pod;
use crate::kernel::convert::Cast;
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::kernel::math::Real;

/// A dtype with a variance, which is computed in [`Cast::Wide`].
pub trait Sample: Pod + Cast {
    /// The dtype of the result: float32 for integers and bool, else the dtype itself.
    type Out: Pod;
    /// Rounds to the result's dtype.
    fn out(x: f64) -> Self::Out;
}

macro_rules! sample {
    ($T:ty => $Out:ty, |$y:ident| $out:expr) => {
        impl Sample for $T {
            type Out = $Out;
            #[inline(always)]
            fn out($y: f64) -> $Out {
                $out
            }
        }
    };
}
macro_rules! boolean {
    ($T:ty) => {
        sample!($T => f32, |y| y as f32);
    };
}
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! signed {
    ($T:ty) => {
        sample!($T => f32, |y| y as f32);
    };
}
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! unsigned {
    ($T:ty) => {
        sample!($T => f32, |y| y as f32);
    };
}
#[cfg(feature = "half")]
macro_rules! half {
    ($T:ty) => {
        sample!($T => $T, |y| <$T>::narrow(y as f32));
    };
}
macro_rules! float {
    ($T:ty) => {
        sample!($T => $T, |y| y as $T);
    };
}
#[cfg(feature = "complex")]
macro_rules! complex {
    ($T:ty) => {};
}
dtypes!(each_dtype!);

/// The number of elements, their mean, and the sum of squared deviations from it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Moments {
    /// The number of elements.
    pub n: f64,
    /// Their mean.
    pub mean: f64,
    /// The sum of squared deviations.
    pub m2: f64,
}

// SAFETY: three floats, for which zero bytes are zeros.
unsafe impl bytemuck::Zeroable for Moments {}
// SAFETY: three floats without padding between them (`repr(C)`), for which any bits are valid.
unsafe impl bytemuck::Pod for Moments {}

impl Moments {
    /// The moments of the elements of both (Chan's formula).
    #[inline(always)]
    pub fn join(self, other: Moments) -> Moments {
        if self.n == 0.0 {
            return other;
        }
        let n = self.n + other.n;
        let (delta, share) = (other.mean - self.mean, other.n / n);
        Moments {
            n,
            mean: self.mean + delta * share,
            m2: self.m2 + other.m2 + delta * delta * self.n * share,
        }
    }
    /// From a rounded mean and the sum of deviations from it, which corrects its rounding.
    #[inline(always)]
    fn corrected<W: Real>(n: usize, mean: W, deviations: W, squares: W) -> Moments {
        let (n, d) = (n as f64, deviations.to_f64());
        let m2 = squares.to_f64() - d * d / n;
        // rounding may leave this slightly negative; NaN is kept
        Moments {
            n,
            mean: mean.to_f64() + d / n,
            m2: if m2 < 0.0 { 0.0 } else { m2 },
        }
    }
}

kernel! {
    /// The moments of each of `acc.len()` consecutive runs of `n` elements.
    pub fn moments<'a, T: Sample>(x: &'a [T], n: usize, acc: &'a mut [Moments]) -> () { |I|
        for (j, acc) in acc.iter_mut().enumerate() {
            let x = &x[j * n..(j + 1) * n];
            if x.is_empty() {
                *acc = Moments::default();
                continue;
            }
            let zero = <T::Wide as Real>::ZERO;
            let sum = lanes!(64, x, zero, |v| v.wide(), |a, b| a + b);
            let mean = <T::Wide as Real>::from_f64(sum.to_f64() / n as f64);
            let deviations = lanes!(64, x, zero, |v| v.wide() - mean, |a, b| a + b);
            let squares = lanes!(64, x, zero, |v| { let d = v.wide() - mean; d * d }, |a, b| a + b);
            *acc = Moments::corrected(n, mean, deviations, squares);
        }
    }
}

kernel! {
    /// The moments of each column of `rows` rows, `stride` apart.
    pub fn moments_of_columns<'a, T: Sample>(x: &'a [T], stride: usize, rows: usize, acc: &'a mut [Moments]) -> () { |I|
        let mut at = 0;
        while at + 32 <= acc.len() {
            strip::<T, 32>(&x[at..], stride, rows, &mut acc[at..]);
            at += 32;
        }
        while at < acc.len() {
            strip::<T, 1>(&x[at..], stride, rows, &mut acc[at..]);
            at += 1;
        }
    }
}
/// Rows added in sequence: few, since each addition rounds.
const ROWS: usize = 64;
/// `N` columns, in blocks of rows.
#[inline(always)]
fn strip<T: Sample, const N: usize>(x: &[T], stride: usize, rows: usize, acc: &mut [Moments]) {
    acc[..N].fill(Moments::default());
    let mut r = 0;
    while r < rows {
        let n = ROWS.min(rows - r);
        block::<T, N>(&x[r * stride..], stride, n, acc);
        r += n;
    }
}
/// Adds `rows > 0` rows of `N` columns, whose sums stay in registers.
#[inline(always)]
fn block<T: Sample, const N: usize>(x: &[T], stride: usize, rows: usize, acc: &mut [Moments]) {
    let zero = <T::Wide as Real>::ZERO;
    let mut mean = [zero; N];
    for r in 0..rows {
        let row: &[T; N] = x[r * stride..].first_chunk().unwrap();
        for j in 0..N {
            mean[j] = mean[j] + row[j].wide();
        }
    }
    for m in &mut mean {
        *m = <T::Wide as Real>::from_f64(m.to_f64() / rows as f64);
    }
    let (mut deviations, mut squares) = ([zero; N], [zero; N]);
    for r in 0..rows {
        let row: &[T; N] = x[r * stride..].first_chunk().unwrap();
        for j in 0..N {
            let d = row[j].wide() - mean[j];
            deviations[j] = deviations[j] + d;
            squares[j] = squares[j] + d * d;
        }
    }
    for j in 0..N {
        acc[j] = acc[j].join(Moments::corrected(rows, mean[j], deviations[j], squares[j]));
    }
}
