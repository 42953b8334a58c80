//! Mean and sum of squared deviations: two passes over a tile that stays in cache; tiles are joined
//! by Chan's formula. A tile whose squares overflow or vanish is computed again in float64, scaled by
//! its largest element.

use crate::dtype::Pod;
#[cfg(feature = "half")]
use crate::dtype::{bf16, f16};
use crate::kernel::convert::Cast;
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::kernel::math::Real;
use crate::kernel::range::{is_lost, largest, sum_of, to_one};
use crate::simd::{Isa, rolled};

/// A float with a variance, which is computed in [`Cast::Wide`].
pub trait Sample: Pod + Cast {
    /// Rounds to it.
    fn from_f64(x: f64) -> Self;
}

macro_rules! samples {
    ($($(#[$cfg:meta])* $T:ty: |$y:ident| $rounded:expr;)*) => { $(
        $(#[$cfg])*
        impl Sample for $T {
            #[inline(always)]
            fn from_f64($y: f64) -> $T {
                $rounded
            }
        }
    )* };
}
samples! {
    f32: |y| y as f32;
    #[cfg(feature = "f64")]
    f64: |y| y;
    #[cfg(feature = "half")]
    f16: |y| f16::narrow(y as f32);
    #[cfg(feature = "half")]
    bf16: |y| bf16::narrow(y as f32);
}

/// The number of elements, their mean, and the sum of squared deviations from it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Moments {
    /// The number of elements.
    pub n: f64,
    /// Their mean.
    pub mean: f64,
    /// The sum of squared deviations, in multiples of the unit.
    m2: f64,
    /// The unit of deviations, a power of two: 1 unless their squares leave the range of float64.
    unit: f64,
}

// SAFETY: four floats, for which zero bytes are zeros.
unsafe impl bytemuck::Zeroable for Moments {}
// SAFETY: four floats without padding between them (`repr(C)`), for which any bits are valid.
unsafe impl bytemuck::Pod for Moments {}

impl Moments {
    /// The sum of squared deviations divided by this number.
    pub fn variance(&self, freedom: f64) -> f64 {
        self.scaled_variance(freedom, 1.0)
    }
    /// The same for elements multiplied by a power of two.
    pub fn scaled_variance(&self, freedom: f64, factor: f64) -> f64 {
        let unit = self.unit * factor;
        self.m2 / freedom * unit * unit
    }
    /// The root of [`variance`](Moments::variance), which may be in range where that is not.
    pub fn deviation(&self, freedom: f64) -> f64 {
        libm::sqrt(self.m2 / freedom) * self.unit
    }
    /// The moments of the elements of both (Chan's formula).
    #[inline(always)]
    pub fn join(self, other: Moments) -> Moments {
        if self.n == 0.0 {
            return other;
        }
        match self.join_plainly(other) {
            (joined, true) => joined,
            _ => self.join_scaled(other),
        }
    }
    /// The same, and whether it holds: not of no elements, nor of squares that leave the range.
    #[inline(always)]
    fn join_plainly(self, other: Moments) -> (Moments, bool) {
        let n = self.n + other.n;
        let (delta, share) = (other.mean - self.mean, other.n / n);
        let m2 = self.m2 + other.m2 + delta * delta * self.n * share;
        let same = (delta == 0.0) & (m2 == 0.0);
        let units = (self.unit == 1.0) & (other.unit == 1.0);
        let joined = Moments {
            n,
            mean: self.mean + delta * share,
            m2,
            unit: 1.0,
        };
        (
            joined,
            (self.n != 0.0) & units & (same | !is_lost::<f64>(m2)),
        )
    }
    /// The same in a unit near the largest deviation.
    #[cold]
    #[inline(never)]
    fn join_scaled(self, other: Moments) -> Moments {
        if other.n == 0.0 {
            return self;
        }
        let n = self.n + other.n;
        // halves, whose difference does not overflow
        let (half, share) = (other.mean / 2.0 - self.mean / 2.0, other.n / n);
        let apart = [half, self.deviation(self.n), other.deviation(other.n)];
        let factor = to_one::<f64>(largest(apart.into_iter()));
        let squares = |of: &Moments| {
            let ratio = of.unit * factor;
            of.m2 * ratio * ratio
        };
        let delta = half * factor * 2.0;
        Moments {
            n,
            mean: self.mean + half * share * 2.0,
            m2: squares(&self) + squares(&other) + delta * delta * self.n * share,
            unit: 1.0 / factor,
        }
    }
    /// Whether the squares of deviations from a mean are lost.
    #[inline(always)]
    fn are_lost<W: Real>(mean: W, squares: W) -> bool {
        let (m, squares) = (mean.to_f64(), squares.to_f64());
        // no deviation from a mean of this size is so small that its square vanishes
        let constant = (squares == 0.0) & ((m >= apart::<W>()) | (m <= -apart::<W>()));
        is_lost::<W>(squares) & !constant
    }
    /// From a rounded mean and the sum of deviations from it, which corrects its rounding, and of
    /// their squares, which are not [lost](Moments::are_lost).
    #[inline(always)]
    fn corrected<W: Real>(n: usize, mean: W, deviations: W, squares: W) -> Moments {
        let (n, d) = (n as f64, deviations.to_f64());
        let m2 = squares.to_f64() - d * d / n;
        // rounding may leave this slightly negative; NaN is kept
        Moments {
            n,
            mean: mean.to_f64() + d / n,
            m2: if m2 < 0.0 { 0.0 } else { m2 },
            unit: 1.0,
        }
    }
    /// Of `n > 0` elements `stride` apart, in float64.
    #[cold]
    #[inline(never)]
    fn scaled<T: Sample>(x: &[T], stride: usize, n: usize) -> Moments {
        let elements = || (0..n).map(|k| x[k * stride].wide().to_f64());
        // squares of float32 are in range
        let factor = match size_of::<T::Wide>() {
            4 => 1.0,
            _ => to_one::<f64>(largest(elements())),
        };
        let count = n as f64;
        let mean = sum_of(elements().map(|x| x * factor)) / count;
        let apart = || elements().map(|x| x * factor - mean);
        let (deviations, squares) = (sum_of(apart()), sum_of(apart().map(|d| d * d)));
        let m2 = squares - deviations * deviations / count;
        Moments {
            n: count,
            mean: (mean + deviations / count) / factor,
            m2: if m2 < 0.0 { 0.0 } else { m2 },
            unit: 1.0 / factor,
        }
    }
}

/// A magnitude of means: if squares of deviations from it vanish, there are no deviations.
#[inline(always)]
const fn apart<W>() -> f64 {
    let exponent: u64 = if size_of::<W>() == 4 { 40 } else { 450 };
    f64::from_bits((1023 - exponent) << 52)
}

kernel! {
    /// Joins `b[i]` into `a[i]`.
    pub fn join_moments<'a>(a: &'a mut [Moments], b: &'a [Moments]) -> () { |I| join(a, b) }
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
            *acc = match Moments::are_lost(mean, squares) {
                true => Moments::scaled(x, 1, n),
                false => Moments::corrected(n, mean, deviations, squares),
            };
        }
    }
}

kernel! {
    /// The moments of each column of `rows` rows, `stride` apart.
    pub fn moments_of_columns<'a, T: Sample>(x: &'a [T], stride: usize, rows: usize, acc: &'a mut [Moments]) -> () { |I|
        for (k, acc) in acc.chunks_mut(BLOCK).enumerate() {
            acc.fill(Moments::default());
            for first in (0..rows).step_by(ROWS) {
                let mut found = [Moments::default(); BLOCK];
                let found = &mut found[..acc.len()];
                block::<I, T>(&x[first * stride + k * BLOCK..], stride, ROWS.min(rows - first), found);
                match first {
                    0 => acc.copy_from_slice(found),
                    _ => join(acc, found),
                }
            }
        }
    }
}
/// Rows added in sequence: few, since each addition rounds.
const ROWS: usize = 64;
/// Columns whose sums stay in L1, or on a small stack. Rows are read from end to end, as memory is
/// fastest.
const BLOCK: usize = if cfg!(feature = "std") { 256 } else { 16 };

/// The moments of `rows > 0` rows of at most [`BLOCK`] columns.
#[inline(always)]
fn block<I: Isa, T: Sample>(x: &[T], stride: usize, rows: usize, found: &mut [Moments]) {
    let (zero, n) = (<T::Wide as Real>::ZERO, found.len());
    let row = |r: usize| &x[r * stride..][..n];
    let mut mean = [zero; BLOCK];
    let mean = &mut mean[..n];
    let mut r = 0;
    while r + 4 <= rows {
        let (a, b, c, d) = (row(r), row(r + 1), row(r + 2), row(r + 3));
        for j in 0..n {
            rolled::<I, T>();
            mean[j] = (((mean[j] + a[j].wide()) + b[j].wide()) + c[j].wide()) + d[j].wide();
        }
        r += 4;
    }
    for r in r..rows {
        for (mean, x) in mean.iter_mut().zip(row(r)) {
            rolled::<I, T>();
            *mean = *mean + x.wide();
        }
    }
    for m in mean.iter_mut() {
        *m = <T::Wide as Real>::from_f64(m.to_f64() / rows as f64);
    }
    let (mut deviations, mut squares) = ([zero; BLOCK], [zero; BLOCK]);
    let (deviations, squares) = (&mut deviations[..n], &mut squares[..n]);
    let mut r = 0;
    while r + 4 <= rows {
        let (a, b, c, d) = (row(r), row(r + 1), row(r + 2), row(r + 3));
        for j in 0..n {
            rolled::<I, T>();
            let mean = mean[j];
            let (a, b) = (a[j].wide() - mean, b[j].wide() - mean);
            let (c, d) = (c[j].wide() - mean, d[j].wide() - mean);
            deviations[j] = (((deviations[j] + a) + b) + c) + d;
            squares[j] = (((squares[j] + a * a) + b * b) + c * c) + d * d;
        }
        r += 4;
    }
    for r in r..rows {
        let sums = deviations.iter_mut().zip(squares.iter_mut());
        for ((x, mean), (deviation, square)) in row(r).iter().zip(&*mean).zip(sums) {
            rolled::<I, T>();
            let d = x.wide() - *mean;
            *deviation = *deviation + d;
            *square = *square + d * d;
        }
    }
    let mut lost = false;
    for j in 0..n {
        found[j] = Moments::corrected(rows, mean[j], deviations[j], squares[j]);
        lost |= Moments::are_lost(mean[j], squares[j]);
    }
    if lost {
        for j in (0..n).filter(|j| Moments::are_lost(mean[*j], squares[*j])) {
            found[j] = Moments::scaled(&x[j..], stride, rows);
        }
    }
}

/// Joins `b[i]` into `a[i]`.
#[inline(always)]
fn join(a: &mut [Moments], b: &[Moments]) {
    /// Moments whose arithmetic is that of vectors.
    const TOGETHER: usize = 8;
    let (together, rest) = a.as_chunks_mut::<TOGETHER>();
    let (others, last) = b.as_chunks::<TOGETHER>();
    for (a, b) in together.iter_mut().zip(others) {
        let mut joined = *a;
        let mut plain = true;
        for ((joined, a), b) in joined.iter_mut().zip(&*a).zip(b) {
            let (moments, here) = a.join_plainly(*b);
            *joined = moments;
            plain &= here;
        }
        if plain {
            *a = joined;
        } else {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = a.join(*b));
        }
    }
    rest.iter_mut().zip(last).for_each(|(a, b)| *a = a.join(*b));
}
