//! The secular equation of divide and conquer, `1/rho + sum z_i^2 / (p_i - x) = 0`, a root between each
//! two poles: by rational interpolation inside a bracket (Li 1994; LAPACK's laed4 and lasd4); and the
//! vector whose equation has exactly the roots found, which keeps eigenvectors orthogonal (Gu,
//! Eisenstat 1995).

use super::field::{abs, epsilon, sqrt};
use super::precise::Precise;
use crate::error::Result;
use crate::kernel::gemm::Scratch;
use crate::par::{self, Cost, Out};
use core::sync::atomic::{AtomicBool, Ordering};

/// The poles and weights of the equation.
pub(super) struct Secular<'a> {
    /// The poles, ascending; or, with `squares`, the nonnegative numbers that they are the squares of:
    /// differences of squares are then accurate.
    pub poles: &'a [Precise],
    /// The squares of `z`.
    pub weights: &'a [Precise],
    pub squares: bool,
    /// `1 / rho`, positive.
    pub constant: Precise,
    /// An upper bound of how far the last root is above the last pole.
    pub last: Precise,
    /// What is negligible beside the terms of the sum.
    pub tolerance: Precise,
}

/// All roots, in the order of poles.
pub(super) struct Roots {
    /// The roots; their square roots, if poles are squares.
    pub values: Scratch<Precise>,
    /// For each a row of the poles less the root, and an element more.
    pub delta: Scratch<Precise>,
    /// The absolute values of the `z` whose equation has exactly these roots.
    pub exact: Scratch<Precise>,
}

/// Sums of the equation at a point: of the poles below the root, and of those above it.
#[derive(Clone, Copy, Default)]
struct Sums {
    below: Precise,
    below_slope: Precise,
    above: Precise,
    above_slope: Precise,
}

/// The sums of `w / delta` and `w / delta^2`. Several at a time, so that none waits for another.
fn terms(weights: &[Precise], delta: &[Precise]) -> (Precise, Precise) {
    const MANY: usize = 8;
    let (mut sums, mut slopes) = ([0.0; MANY], [0.0; MANY]);
    let (w, rest_w) = weights.as_chunks::<MANY>();
    let (d, rest_d) = delta.as_chunks::<MANY>();
    for (w, d) in w.iter().zip(d) {
        for k in 0..MANY {
            let inverse = 1.0 / d[k];
            let term = w[k] * inverse;
            sums[k] += term;
            slopes[k] += term * inverse;
        }
    }
    for (k, (w, d)) in rest_w.iter().zip(rest_d).enumerate() {
        let inverse = 1.0 / d;
        let term = w * inverse;
        sums[k] += term;
        slopes[k] += term * inverse;
    }
    (sums.iter().sum(), slopes.iter().sum())
}

impl Secular<'_> {
    /// The difference of poles `i` and `k`.
    fn gap(&self, i: usize, k: usize) -> Precise {
        let (x, y) = (self.poles[i], self.poles[k]);
        if self.squares {
            (x - y) * (x + y)
        } else {
            x - y
        }
    }
    /// Fills `delta` with the poles, the bound of the last root as one more, less `base` and `tau`.
    fn shift(&self, base: usize, tau: Precise, delta: &mut [Precise]) {
        let last = self.poles.len() - 1;
        let (from, by) = (base.min(last), if base > last { self.last } else { 0.0 });
        let at = self.poles[from];
        for (to, x) in delta.iter_mut().zip(self.poles) {
            *to = x - at;
        }
        if self.squares {
            for (to, x) in delta.iter_mut().zip(self.poles) {
                *to *= x + at;
            }
        }
        if base > last {
            for to in &mut delta[..=last] {
                *to -= by;
            }
            delta[last + 1] = 0.0;
        } else {
            delta[last + 1] = delta[last] + self.last;
        }
        for to in delta {
            *to -= tau;
        }
    }
    fn sums(&self, j: usize, delta: &[Precise]) -> Sums {
        let n = self.poles.len();
        let (below, below_slope) = terms(&self.weights[..=j], &delta[..=j]);
        let (above, above_slope) = terms(&self.weights[j + 1..], &delta[j + 1..n]);
        Sums {
            below,
            below_slope,
            above,
            above_slope,
        }
    }
    /// Root `j`, between poles `j` and `j + 1`: the pole that it is near, and how far from it. `delta`
    /// becomes the poles less the root, to all their digits; it has an element more than there are
    /// poles. None if the iteration does not converge.
    fn root(&self, j: usize, delta: &mut [Precise]) -> Option<(usize, Precise)> {
        /// The most steps.
        const STEPS: usize = 80;
        let n = self.poles.len();
        let weight = |k: usize| if k < n { self.weights[k] } else { 0.0 };
        let width = if j + 1 < n {
            self.gap(j + 1, j)
        } else {
            self.last
        };
        if width.is_nan() || width <= 0.0 {
            return None;
        }
        // which half the root is in, and the root if the other poles were as far as from its middle
        let middle = 0.5 * width;
        self.shift(j, middle, delta);
        let s = self.sums(j, delta);
        let value = self.constant + s.below + s.above;
        let rest = value - weight(j) / delta[j] - weight(j + 1) / delta[j + 1];
        let both = weight(j) + weight(j + 1);
        let (base, mut low, mut high, mut tau);
        if value >= 0.0 {
            (base, low, high) = (j, 0.0, middle);
            tau = smaller(rest, rest * width + both, weight(j) * width);
        } else {
            (base, low, high) = (j + 1, -middle, 0.0);
            tau = smaller(rest, both - rest * width, -weight(j + 1) * width);
        }
        if !(tau > low && tau < high) {
            tau = 0.5 * (low + high);
        }
        // terms do not cancel in each of the sums, and rounding grows slowly with their number
        let roundings = self.tolerance * (4.0 + n as Precise / 32.0);
        let (mut fixed, mut last) = (true, Precise::INFINITY);
        for _ in 0..STEPS {
            self.shift(base, tau, delta);
            let s = self.sums(j, delta);
            let value = self.constant + s.below + s.above;
            let slope = s.below_slope + s.above_slope;
            let size = self.constant + abs(s.below) + abs(s.above);
            let most = roundings * size + 0.5 * epsilon::<Precise>() * abs(tau) * slope;
            if abs(value) <= most {
                return Some((base, tau));
            }
            if value < 0.0 {
                low = tau;
            } else if value > 0.0 {
                high = tau;
            } else {
                return None; // not a number
            }
            // the pole next to the root has its own weight, or both sums have a pole with their slopes:
            // the other if the last step was of little use
            if abs(value) > 0.1 * last {
                fixed = !fixed;
            }
            last = abs(value);
            let (x, y) = (delta[j], delta[j + 1]);
            let constant = if !fixed {
                value - x * s.below_slope - y * s.above_slope
            } else if base == j {
                value - y * slope - (x - y) * (weight(j) / x / x)
            } else {
                value - x * slope - (y - x) * (weight(j + 1) / y / y)
            };
            let step = smaller(constant, (x + y) * value - x * y * slope, x * y * value);
            let step = if step * value < 0.0 {
                step
            } else {
                -value / slope
            };
            let mut next = tau + step;
            if !(next > low && next < high) {
                next = 0.5 * (low + high);
            }
            if next == tau || !(next > low && next < high) {
                return Some((base, tau)); // there is no number between
            }
            tau = next;
        }
        None
    }
    /// Pole `base` of [`root`](Self::root) and `tau` more.
    fn at(&self, base: usize, tau: Precise) -> Precise {
        let last = self.poles.len() - 1;
        let pole = self.poles[base.min(last)];
        let more = if base > last { self.last + tau } else { tau };
        if self.squares {
            sqrt(pole * pole + more)
        } else {
            pole + more
        }
    }
    /// Multiplies into `z`, which begins as the roots' own distances to the poles that they follow,
    /// what the distances of root `j` to all other poles contribute to the squares of Loewner's vector.
    fn loewner(&self, j: usize, delta: &[Precise], z: &mut [Precise]) {
        let at = self.poles[j];
        let (before, after) = z.split_at_mut(j);
        let squares = self.squares;
        let all = |z: &mut [Precise], poles: &[Precise], delta: &[Precise]| {
            for ((z, x), delta) in z.iter_mut().zip(poles).zip(delta) {
                let gap = if squares { (x - at) * (x + at) } else { x - at };
                *z *= delta / gap;
            }
        };
        let n = self.poles.len();
        all(before, &self.poles[..j], &delta[..j]);
        after[0] *= -delta[j];
        all(&mut after[1..], &self.poles[j + 1..], &delta[j + 1..n]);
    }
    /// All roots. None if an iteration does not converge.
    pub fn roots(&self) -> Result<Option<Roots>> {
        let n = self.poles.len();
        let mut values = Scratch::<Precise>::new(n)?;
        let mut delta = Scratch::<Precise>::new(n * (n + 1))?;
        let failed = AtomicBool::new(false);
        let cost = Cost {
            bytes: size_of_val(self.poles),
            flops: 60 * n,
        };
        {
            let values = Out::new(&mut values);
            par::split(&mut delta, n + 1, 1, cost, |range, part| {
                // SAFETY: OUT1: the ranges of two calls are disjoint.
                let values = unsafe { values.part(range.clone()) };
                for ((j, row), value) in range.zip(part.chunks_exact_mut(n + 1)).zip(values) {
                    match self.root(j, row) {
                        Some((base, tau)) => *value = self.at(base, tau),
                        None => failed.store(true, Ordering::Relaxed),
                    }
                }
            });
        }
        if failed.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut exact = Scratch::<Precise>::new(n)?;
        exact.fill(1.0);
        for (j, row) in delta.chunks_exact(n + 1).enumerate() {
            self.loewner(j, row, &mut exact);
        }
        exact.iter_mut().for_each(|x| *x = sqrt(*x));
        Ok(Some(Roots {
            values,
            delta,
            exact,
        }))
    }
}

/// The root of `c x^2 - a x + b` at which it falls, or of `b - a x`, without cancellation.
fn smaller(c: Precise, a: Precise, b: Precise) -> Precise {
    let root = sqrt(abs(a * a - 4.0 * b * c));
    if a > 0.0 {
        2.0 * b / (a + root)
    } else if c != 0.0 {
        (a - root) / (2.0 * c)
    } else {
        b / a
    }
}
