//! Gradients of grid sampling, with respect to the elements and to the coordinates.
//!
//! With several channels, elements are pixels and channels are the lanes, so that whole vectors are
//! scattered and the tables of a point serve all channels. With fewer channels these are planes,
//! and points are the lanes.

use super::along::{CUBIC, beyond, by, distance, is_far, line_of, taps_of};
use super::{Beyond, GridRule, Interpolation, NONE, Sampled};
use crate::error::Result;
use crate::fallible;
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};
use alloc::vec::Vec;
use core::ops::Range;

/// The fewest channels that are lanes.
pub const LANES: usize = 4;
/// Points whose taps are computed at once.
const RUN: usize = 64;
/// The most taps of a point.
const MAX_TAPS: usize = 16;

/// Adds the contributions of an image's points to the gradients of its elements and coordinates.
pub struct GridGradient<'a, A> {
    /// How coordinates are interpreted.
    pub rule: GridRule,
    /// Depth, height and width.
    pub sizes: [usize; 3],
    /// A multiple of [`LANES`], or fewer.
    pub channels: usize,
    /// The image, `[elements][channels]`, or `[channels][elements]` for fewer channels than
    /// [`LANES`]. Not read with nearest-element interpolation.
    pub x: &'a [A],
    /// The coordinates of points, `[points][rank]`.
    pub grid: &'a [A],
    /// The gradient of the result, `[points][channels]` or `[channels][points]`.
    pub grad: &'a [A],
    /// The gradient of `x`.
    pub dx: &'a mut [A],
    /// The gradient of `grid`; nearest-element interpolation leaves it unchanged.
    pub dgrid: &'a mut [A],
}

impl<A: Sampled> GridGradient<'_, A> {
    /// Errors if there is no memory for scratch. Panics if sizes don't match.
    pub fn add(self) -> Result<()> {
        let points = self.grid.len() / self.rule.rank;
        let elements: usize = self.sizes.iter().product();
        assert!(self.channels > 0);
        assert!(self.channels < LANES || self.channels.is_multiple_of(LANES));
        assert!(i32::try_from(elements).is_ok() && self.dx.len() == elements * self.channels);
        assert!(self.grad.len() == points * self.channels && self.dgrid.len() == self.grid.len());
        let tables = Tables::new(&self.rule)?;
        simd::call(AddPoints { to: self, tables });
        Ok(())
    }
}

/// The taps of a run of points: elements, weights, and the derivatives of the weights along each
/// axis. Always `RUN` points, so that loops have a constant length.
struct Tables<A> {
    /// Per axis, `[axis][tap][point]`.
    axis_index: Vec<i32>,
    axis_weights: Vec<A>,
    axis_slopes: Vec<A>,
    /// For all taps, `[tap][point]`; the slopes `[axis][tap][point]`.
    index: Vec<[i32; RUN]>,
    weights: Vec<[A; RUN]>,
    slopes: Vec<[A; RUN]>,
}
impl<A: Sampled> Tables<A> {
    fn new(rule: &GridRule) -> Result<Self> {
        let along = rule.rank * rule.along() * RUN;
        let taps = rule.taps();
        Ok(Tables {
            axis_index: fallible::filled(NONE, along)?,
            axis_weights: fallible::filled(A::ZERO, along)?,
            axis_slopes: fallible::filled(A::ZERO, along)?,
            index: fallible::filled([NONE; RUN], taps)?,
            weights: fallible::filled([A::ZERO; RUN], taps)?,
            slopes: fallible::filled([A::ZERO; RUN], rule.rank * taps)?,
        })
    }
    /// Computes up to `RUN` points; the rest is filled with arbitrary points.
    #[inline(always)]
    fn fill<I: Isa>(&mut self, rule: &GridRule, sizes: [usize; 3], grid: &[A]) {
        let rank = rule.rank;
        let along = rule.along() * RUN;
        let steps = [sizes[1] * sizes[2], sizes[2], 1];
        // not unrolled: the body has the code of all kinds of rules
        for k in 0..rank {
            let (size, step) = (sizes[3 - rank + k], steps[3 - rank + k]);
            let mut line = [A::ZERO; RUN];
            line_of(grid, rank, k, &mut line);
            let of = k * along..(k + 1) * along;
            let index = &mut self.axis_index[of.clone()];
            let weights = &mut self.axis_weights[of.clone()];
            taps_of::<I, A>(rule, size, step, &mut line, index, weights);
            slopes::<I, A>(rule, size, &line, &mut self.axis_slopes[of]);
        }
        match rank {
            2 => self.combine::<2>(rule),
            _ => self.combine::<3>(rule),
        }
    }
    /// Combines what is known along each axis to what is needed of each tap, with a constant number
    /// of axes, whose loops are unrolled.
    #[inline(always)]
    fn combine<const RANK: usize>(&mut self, rule: &GridRule) {
        let (rank, each) = (RANK, rule.along());
        let along = each * RUN;
        let taps = rule.taps();
        for tap in 0..taps {
            // offsets of the tap's entries along each axis
            let mut at = [0; RANK];
            let mut rest = tap;
            for k in (0..rank).rev() {
                at[k] = k * along + rest % each * RUN;
                rest /= each;
            }
            let of_axes = runs_at(&self.axis_index, at);
            let mut index = *of_axes[0];
            for of in &of_axes[1..] {
                for (i, j) in index.iter_mut().zip(*of) {
                    *i = if (*i | *j) < 0 { NONE } else { *i + *j };
                }
            }
            self.index[tap] = index;
            let weights = runs_at(&self.axis_weights, at);
            self.weights[tap] = product(weights);
            for axis in 0..rank {
                let mut of_axes = weights;
                of_axes[axis] = run_at(&self.axis_slopes, at[axis]);
                self.slopes[axis * taps + tap] = product(of_axes);
            }
        }
    }
}

/// `RUN` values from `at` on.
#[inline(always)]
fn run_at<T>(of: &[T], at: usize) -> &[T; RUN] {
    &of[at..].as_chunks().0[0]
}
#[inline(always)]
fn runs_at<T, const RANK: usize>(of: &[T], at: [usize; RANK]) -> [&[T; RUN]; RANK] {
    let mut runs = [run_at(of, at[0]); RANK];
    for k in 1..RANK {
        runs[k] = run_at(of, at[k]);
    }
    runs
}

/// The product over the axes.
#[inline(always)]
fn product<A: Real, const RANK: usize>(of_axes: [&[A; RUN]; RANK]) -> [A; RUN] {
    let mut d = *of_axes[0];
    for of in &of_axes[1..] {
        for (d, v) in d.iter_mut().zip(*of) {
            *d = *d * *v;
        }
    }
    d
}

/// The derivatives of the weights of [`taps_of`](super::along::taps_of) with respect to the
/// coordinates.
#[inline(always)]
fn slopes<I: Isa, A: Sampled>(rule: &GridRule, size: usize, line: &[A; RUN], slopes: &mut [A]) {
    let n = A::from_f64(size as f64);
    let scale = if rule.align_corners { n - A::ONE } else { n } / A::from_f64(2.0);
    for (tap, slopes) in slopes.as_chunks_mut::<RUN>().0.iter_mut().enumerate() {
        match rule.interpolation {
            Interpolation::Nearest => slopes.fill(A::ZERO),
            Interpolation::Linear => {
                by!(beyond, rule, turns::<I, A>(rule, n, line, slopes));
                let scale = if tap == 0 { -scale } else { scale };
                for d in slopes {
                    *d = scale * *d;
                }
            }
            Interpolation::Cubic => {
                let scale = if tap < 2 { scale } else { -scale };
                for (d, at) in slopes.iter_mut().zip(line) {
                    let t = distance(tap, *at - Real::floor::<I>(*at));
                    *d = scale * cubic_slope(t, A::from_f64(CUBIC), is_far(tap));
                }
            }
        }
    }
}
/// The derivatives of the positions that [`beyond`] moved into the image.
#[inline(always)]
fn turns<I: Isa, A: Sampled>(rule: &GridRule, n: A, line: &[A; RUN], turns: &mut [A; RUN]) {
    for (d, at) in turns.iter_mut().zip(line) {
        *d = beyond::<I, A>(rule, n, *at).1;
    }
}

/// The derivative of [`cubic`](super::cubic).
#[inline(always)]
fn cubic_slope<A: Real>(t: A, a: A, far: bool) -> A {
    let number = A::from_f64;
    if far {
        (number(3.0) * t - number(10.0)) * a * t + number(8.0) * a
    } else {
        (number(3.0) * (a + number(2.0)) * t - number(2.0) * (a + number(3.0))) * t
    }
}

struct AddPoints<'a, A> {
    to: GridGradient<'a, A>,
    tables: Tables<A>,
}
impl<A: Sampled> Kernel for AddPoints<'_, A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let AddPoints { mut to, mut tables } = self;
        let rank = to.rule.rank;
        let all = to.grid.len() / rank;
        for first in (0..all).step_by(RUN) {
            let points = first..all.min(first + RUN);
            let grid = &to.grid[points.start * rank..points.end * rank];
            // the only call: what it inlines for all kinds of rules is large
            tables.fill::<I>(&to.rule, to.sizes, grid);
            match (to.rule.interpolation, rank) {
                _ if to.channels < LANES => to.planes::<I>(&tables, points),
                (Interpolation::Nearest, _) => to.pixels::<I, 0>(&tables, points),
                (_, 2) => to.pixels::<I, 2>(&tables, points),
                _ => to.pixels::<I, 3>(&tables, points),
            }
        }
    }
}

/// The taps of a point inside the image: the first channel of each, its weight, and the derivatives
/// of that along each axis.
struct Found<A, const AXES: usize> {
    at: [usize; MAX_TAPS],
    weights: [A; MAX_TAPS],
    slopes: [[A; MAX_TAPS]; AXES],
}

impl<A: Sampled> GridGradient<'_, A> {
    /// A run of points, with channels as lanes. `AXES` is the rank, or 0 if coordinates need no
    /// gradient.
    #[inline(always)]
    fn pixels<I: Isa, const AXES: usize>(&mut self, tables: &Tables<A>, points: Range<usize>) {
        let (channels, rank, taps) = (self.channels, self.rule.rank, self.rule.taps());
        let mut found = Found {
            at: [0; MAX_TAPS],
            weights: [A::ZERO; MAX_TAPS],
            slopes: [[A::ZERO; MAX_TAPS]; AXES],
        };
        let dgrid = self.dgrid[points.start * rank..points.end * rank].chunks_exact_mut(rank);
        let grad = self.grad[points.start * channels..].chunks_exact(channels);
        for (point, (dgrid, grad)) in dgrid.zip(grad).enumerate() {
            let (mut count, mut sums) = (0, [A::ZERO; AXES]);
            for tap in 0..taps {
                let element = tables.index[tap][point];
                for (axis, sum) in sums.iter_mut().enumerate() {
                    let slope = tables.slopes[axis * taps + tap][point];
                    found.slopes[axis][count] = slope;
                    if element == NONE {
                        // a zero, but NaN if the coordinate is NaN
                        *sum = *sum + slope * A::ZERO;
                    }
                }
                if element != NONE {
                    found.at[count] = element as usize * channels;
                    found.weights[count] = tables.weights[tap][point];
                    count += 1;
                }
            }
            let (at, weights) = (&found.at[..count], &found.weights[..count]);
            let (wide, rest) = grad.as_chunks::<{ 4 * LANES }>();
            let few = rest.as_chunks::<LANES>().0;
            let first = 4 * LANES * wide.len();
            spread::<I, A, { 4 * LANES }>(at, weights, 0, wide, self.dx);
            spread::<I, A, LANES>(at, weights, first, few, self.dx);
            for (axis, sum) in sums.iter_mut().enumerate() {
                let slopes = &found.slopes[axis][..count];
                *sum = *sum + change::<I, A, { 4 * LANES }>(at, slopes, 0, wide, self.x);
                *sum = *sum + change::<I, A, LANES>(at, slopes, first, few, self.x);
            }
            // the innermost axis comes first
            for (d, sum) in dgrid.iter_mut().rev().zip(sums) {
                *d = sum;
            }
        }
    }
    /// The same with points as lanes: planes of few channels.
    #[inline(always)]
    fn planes<I: Isa>(&mut self, tables: &Tables<A>, points: Range<usize>) {
        let (first, points) = (points.start, points.len());
        let (rule, rank, taps) = (&self.rule, self.rule.rank, self.rule.taps());
        let all = self.grid.len() / rank;
        let elements: usize = self.sizes.iter().product();
        let moves = rule.interpolation != Interpolation::Nearest;
        let mut sums = [[A::ZERO; RUN]; 3];
        for channel in 0..self.channels {
            let mut grad = [A::ZERO; RUN];
            grad[..points].copy_from_slice(&self.grad[channel * all + first..][..points]);
            let dx = &mut self.dx[channel * elements..][..elements];
            for tap in 0..taps {
                let (index, weights) = (&tables.index[tap], &tables.weights[tap]);
                // taps outside must not add to the element at 0, even if the gradient is
                // infinite
                let (mut line, mut at) = ([A::ZERO; RUN], [0; RUN]);
                for l in 0..RUN {
                    let inside = index[l] >= 0;
                    at[l] = if inside { index[l] as usize } else { 0 };
                    line[l] = if inside {
                        grad[l] * weights[l]
                    } else {
                        A::ZERO
                    };
                }
                for (at, v) in at[..points].iter().zip(&line) {
                    let d = &mut dx[*at];
                    *d = *d + *v;
                }
                if !moves {
                    continue;
                }
                let x = &self.x[channel * elements..][..elements];
                for (v, at) in line.iter_mut().zip(&at) {
                    *v = x[*at];
                }
                for l in 0..RUN {
                    let inside = index[l] >= 0;
                    line[l] = if inside { grad[l] * line[l] } else { A::ZERO };
                }
                for (axis, sums) in sums[..rank].iter_mut().enumerate() {
                    let slopes = &tables.slopes[axis * taps + tap];
                    for ((sum, v), slope) in sums.iter_mut().zip(&line).zip(slopes) {
                        *sum = A::fma::<I>(*slope, *v, *sum);
                    }
                }
            }
        }
        if moves {
            let dgrid = self.dgrid[first * rank..].chunks_exact_mut(rank);
            for (point, d) in dgrid.take(points).enumerate() {
                for (d, sums) in d.iter_mut().rev().zip(&sums) {
                    *d = sums[point];
                }
            }
        }
    }
}

/// Adds `grad` times the weights to the channels of the taps' elements, from `first` on.
#[inline(always)]
fn spread<I: Isa, A: Sampled, const N: usize>(
    at: &[usize],
    weights: &[A],
    first: usize,
    grad: &[[A; N]],
    dx: &mut [A],
) {
    for (k, grad) in grad.iter().enumerate() {
        let grad = *grad;
        for (at, weight) in at.iter().zip(weights) {
            let at = at + first + k * N;
            let d = &mut dx[at..at + N];
            // reads everything before writing, so that LLVM sees no aliasing
            let mut sum = [A::ZERO; N];
            for l in 0..N {
                sum[l] = A::fma::<I>(*weight, grad[l], d[l]);
            }
            d.copy_from_slice(&sum);
        }
    }
}

/// The derivative of the weighted sum along one axis, times `grad`. One axis per call: otherwise
/// LLVM vectorises across axes.
#[inline(always)]
fn change<I: Isa, A: Sampled, const N: usize>(
    at: &[usize],
    slopes: &[A],
    first: usize,
    grad: &[[A; N]],
    x: &[A],
) -> A {
    let mut lanes = [A::ZERO; N];
    for (k, grad) in grad.iter().enumerate() {
        let mut sum = [A::ZERO; N];
        for (at, slope) in at.iter().zip(slopes) {
            let at = at + first + k * N;
            let x = &x[at..at + N];
            for l in 0..N {
                sum[l] = A::fma::<I>(*slope, x[l], sum[l]);
            }
        }
        for l in 0..N {
            lanes[l] = A::fma::<I>(sum[l], grad[l], lanes[l]);
        }
    }
    let mut n = N;
    while n > 1 {
        n /= 2;
        for l in 0..n {
            lanes[l] = lanes[l] + lanes[l + n];
        }
    }
    lanes[0]
}
