//! What sampled points give back: to the elements around them, and to their coordinates.
//!
//! Elements are pixels of several channels, one lane a channel, so that nothing is scattered but whole
//! vectors; what is found of a point serves all of them. Fewer channels are planes, one lane a point.

use super::along::{CUBIC, beyond, by, distance, is_far, line_of, near};
use super::{Beyond, Interpolation, NONE, Rule, Sampled};
use crate::error::Result;
use crate::fallible;
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};
use alloc::vec::Vec;

/// The fewest channels that are lanes.
pub const LANES: usize = 4;
/// Points whose elements are found at once.
const RUN: usize = 64;
/// The most elements around a point.
const MOST: usize = 16;

/// Adds what the points of an image give to the gradients of its elements and of their coordinates.
pub struct GridGradient<'a, A> {
    /// How coordinates are read.
    pub rule: Rule,
    /// Depth, height and width.
    pub sizes: [usize; 3],
    /// A multiple of [`LANES`], or fewer.
    pub channels: usize,
    /// The image, `[elements][channels]`, or of fewer channels `[channels][elements]`; it is not read
    /// where the nearest element alone counts.
    pub x: &'a [A],
    /// The coordinates of points, `[points][rank]`.
    pub grid: &'a [A],
    /// What points got, `[points][channels]` or `[channels][points]`.
    pub grad: &'a [A],
    /// Of `x`.
    pub dx: &'a mut [A],
    /// Of `grid`, which nearest elements leave as it is.
    pub dgrid: &'a mut [A],
}

impl<A: Sampled> GridGradient<'_, A> {
    /// Errors where there is no memory for scratch; panics where sizes don't fit.
    pub fn add(self) -> Result<()> {
        let points = self.grid.len() / self.rule.rank;
        let elements: usize = self.sizes.iter().product();
        assert!(self.channels > 0);
        assert!(self.channels < LANES || self.channels.is_multiple_of(LANES));
        assert!(i32::try_from(elements).is_ok() && self.dx.len() == elements * self.channels);
        assert!(self.grad.len() == points * self.channels && self.dgrid.len() == self.grid.len());
        let tables = Tables::new(&self.rule)?;
        simd::call(Add { to: self, tables });
        Ok(())
    }
}

/// The taps of a run of points: elements, weights, and how weights change along each axis. There are always
/// as many points, so that loops have a length that is known.
struct Tables<A> {
    /// Of each axis, `[axis][tap][point]`.
    axis_index: Vec<i32>,
    axis_weights: Vec<A>,
    axis_slopes: Vec<A>,
    /// Of all taps, `[tap][point]`; the slopes `[axis][tap][point]`.
    index: Vec<[i32; RUN]>,
    weights: Vec<[A; RUN]>,
    slopes: Vec<[A; RUN]>,
}
impl<A: Sampled> Tables<A> {
    fn new(rule: &Rule) -> Result<Self> {
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
    /// For up to `RUN` points; the others are somewhere.
    #[inline(always)]
    fn fill<I: Isa>(&mut self, rule: &Rule, sizes: [usize; 3], grid: &[A]) {
        match rule.rank {
            2 => self.fill_of::<I, 2>(rule, sizes, grid),
            _ => self.fill_of::<I, 3>(rule, sizes, grid),
        }
    }
    /// The same for as many axes, which are one loop then.
    #[inline(always)]
    fn fill_of<I: Isa, const RANK: usize>(&mut self, rule: &Rule, sizes: [usize; 3], grid: &[A]) {
        let (rank, each) = (RANK, rule.along());
        let along = each * RUN;
        let steps = [sizes[1] * sizes[2], sizes[2], 1];
        for k in 0..rank {
            let (size, step) = (sizes[3 - rank + k], steps[3 - rank + k]);
            let mut line = [A::ZERO; RUN];
            line_of(grid, rank, k, &mut line);
            let of = k * along..(k + 1) * along;
            let index = &mut self.axis_index[of.clone()];
            let weights = &mut self.axis_weights[of.clone()];
            near::<I, A>(rule, size, step, &mut line, index, weights);
            slopes::<I, A>(rule, size, &line, &mut self.axis_slopes[of]);
        }
        let taps = rule.taps();
        for tap in 0..taps {
            // where the tap's part of each axis begins
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

/// The numbers of a run of points.
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

/// The product over the axes of what each has for a tap.
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

/// How the weights that [`near`] finds at a line of positions change with the coordinates.
#[inline(always)]
fn slopes<I: Isa, A: Sampled>(rule: &Rule, size: usize, line: &[A; RUN], slopes: &mut [A]) {
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
/// How positions that are brought into the image change with those that were given.
#[inline(always)]
fn turns<I: Isa, A: Sampled>(rule: &Rule, n: A, line: &[A; RUN], turns: &mut [A; RUN]) {
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

struct Add<'a, A> {
    to: GridGradient<'a, A>,
    tables: Tables<A>,
}
impl<A: Sampled> Kernel for Add<'_, A> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        if self.to.channels < LANES {
            return self.planes::<I>();
        }
        match (self.to.rule.interpolation, self.to.rule.rank) {
            (Interpolation::Nearest, _) => self.pixels::<I, 0>(),
            (_, 2) => self.pixels::<I, 2>(),
            _ => self.pixels::<I, 3>(),
        }
    }
}

/// The taps of a point that are elements: the first channel of each, its weight, and how that changes
/// along each axis.
struct Found<A, const AXES: usize> {
    at: [usize; MOST],
    weights: [A; MOST],
    slopes: [[A; MOST]; AXES],
}

impl<A: Sampled> Add<'_, A> {
    /// Of pixels. `AXES` are those of a coordinate, or none where it doesn't matter.
    #[inline(always)]
    fn pixels<I: Isa, const AXES: usize>(self) {
        let Add { to, mut tables } = self;
        let (rule, channels) = (&to.rule, to.channels);
        let (rank, taps) = (rule.rank, rule.taps());
        let mut found = Found {
            at: [0; MOST],
            weights: [A::ZERO; MOST],
            slopes: [[A::ZERO; MOST]; AXES],
        };
        let runs = to
            .grid
            .chunks(RUN * rank)
            .zip(to.dgrid.chunks_mut(RUN * rank));
        let runs = runs.zip(to.grad.chunks(RUN * channels));
        for ((grid, dgrid), grad) in runs {
            tables.fill::<I>(rule, to.sizes, grid);
            let each = dgrid
                .chunks_exact_mut(rank)
                .zip(grad.chunks_exact(channels));
            for (point, (dgrid, grad)) in each.enumerate() {
                let (mut count, mut sums) = (0, [A::ZERO; AXES]);
                for tap in 0..taps {
                    let element = tables.index[tap][point];
                    for (axis, sum) in sums.iter_mut().enumerate() {
                        let slope = tables.slopes[axis * taps + tap][point];
                        found.slopes[axis][count] = slope;
                        if element == NONE {
                            // of a zero, which is NaN where a coordinate is
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
                spread::<I, A, { 4 * LANES }>(at, weights, 0, wide, to.dx);
                spread::<I, A, LANES>(at, weights, first, few, to.dx);
                for (axis, sum) in sums.iter_mut().enumerate() {
                    let slopes = &found.slopes[axis][..count];
                    *sum = *sum + change::<I, A, { 4 * LANES }>(at, slopes, 0, wide, to.x);
                    *sum = *sum + change::<I, A, LANES>(at, slopes, first, few, to.x);
                }
                // the last axis has the first coordinate
                for (d, sum) in dgrid.iter_mut().rev().zip(sums) {
                    *d = sum;
                }
            }
        }
    }
    /// Of planes of few channels, a lane a point.
    #[inline(always)]
    fn planes<I: Isa>(self) {
        let Add { to, mut tables } = self;
        let (rule, rank, taps) = (&to.rule, to.rule.rank, to.rule.taps());
        let all = to.grid.len() / rank;
        let elements: usize = to.sizes.iter().product();
        let moves = rule.interpolation != Interpolation::Nearest;
        for first in (0..all).step_by(RUN) {
            let points = RUN.min(all - first);
            let grid = &to.grid[first * rank..][..points * rank];
            tables.fill::<I>(rule, to.sizes, grid);
            let mut sums = [[A::ZERO; RUN]; 3];
            for channel in 0..to.channels {
                let mut grad = [A::ZERO; RUN];
                grad[..points].copy_from_slice(&to.grad[channel * all + first..][..points]);
                let dx = &mut to.dx[channel * elements..][..elements];
                for tap in 0..taps {
                    let (index, weights) = (&tables.index[tap], &tables.weights[tap]);
                    // what is outside gives nothing to the first element, even of a gradient that is infinite
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
                    let x = &to.x[channel * elements..][..elements];
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
                let dgrid = to.dgrid[first * rank..].chunks_exact_mut(rank);
                for (point, d) in dgrid.take(points).enumerate() {
                    for (d, sums) in d.iter_mut().rev().zip(&sums) {
                        *d = sums[point];
                    }
                }
            }
        }
    }
}

/// Adds `grad`, times the weights of taps, to the channels of their elements from `first` on.
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
            // all read before one is written, so that it is known not to be among them
            let mut sum = [A::ZERO; N];
            for l in 0..N {
                sum[l] = A::fma::<I>(*weight, grad[l], d[l]);
            }
            d.copy_from_slice(&sum);
        }
    }
}

/// What `grad` times the elements changes by, whose weights change by `slopes`. One axis at a time: LLVM
/// would make lanes of axes.
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
