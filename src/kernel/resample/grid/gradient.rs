//! What sampled points give back: to the elements around them, and to their coordinates.
//!
//! Elements are pixels of several channels, one lane a channel, so that nothing is scattered but whole
//! vectors; what is found of a point serves all of them. Fewer channels are planes, one lane a point.

use super::along::{CUBIC, beyond, distance, is_far, near, position};
use super::{Interpolation, NONE, Rule, Sampled, around, gather};
use crate::error::Result;
use crate::fallible;
use crate::kernel::math::Real;
use crate::simd::{self, Isa, Kernel};
use alloc::vec::Vec;

/// The fewest channels that are lanes.
pub const LANES: usize = 4;
/// Points whose elements are found at once.
const RUN: usize = 32;
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

/// The taps of a run of points: elements, weights, and how weights change along each axis.
struct Tables<A> {
    /// Of each axis, `[axis][tap][point]`.
    axis_index: Vec<i32>,
    axis_weights: Vec<A>,
    axis_slopes: Vec<A>,
    /// Of all taps, `[tap][point]`; the slopes `[axis][tap][point]`.
    index: Vec<i32>,
    weights: Vec<A>,
    slopes: Vec<A>,
}
impl<A: Sampled> Tables<A> {
    fn new(rule: &Rule) -> Result<Self> {
        let along = rule.rank * rule.along() * RUN;
        let taps = rule.taps() * RUN;
        Ok(Tables {
            axis_index: fallible::filled(NONE, along)?,
            axis_weights: fallible::filled(A::ZERO, along)?,
            axis_slopes: fallible::filled(A::ZERO, along)?,
            index: fallible::filled(NONE, taps)?,
            weights: fallible::filled(A::ZERO, taps)?,
            slopes: fallible::filled(A::ZERO, rule.rank * taps)?,
        })
    }
    /// For up to `RUN` points.
    #[inline(always)]
    fn fill<I: Isa>(&mut self, rule: &Rule, sizes: [usize; 3], grid: &[A]) {
        let (rank, each) = (rule.rank, rule.along());
        let points = grid.len() / rank;
        let along = each * points;
        let steps = [sizes[1] * sizes[2], sizes[2], 1];
        for k in 0..rank {
            let (size, step) = (sizes[3 - rank + k], steps[3 - rank + k]);
            // the last axis has the first coordinate
            let (grid, of) = (&grid[rank - 1 - k..], k * along..(k + 1) * along);
            let index = &mut self.axis_index[of.clone()];
            let weights = &mut self.axis_weights[of.clone()];
            near::<I, A>(rule, size, step, grid, points, index, weights);
            slopes::<I, A>(rule, size, grid, points, &mut self.axis_slopes[of]);
        }
        let taps = rule.taps();
        around(
            rule,
            points,
            &self.axis_index,
            &self.axis_weights,
            &mut self.index[..taps * points],
            &mut self.weights[..taps * points],
        );
        for tap in 0..taps {
            // where the tap's part of each axis begins
            let mut at = [0; 3];
            let mut rest = tap;
            for k in (0..rank).rev() {
                at[k] = k * along + rest % each * points;
                rest /= each;
            }
            for axis in 0..rank {
                let mut of_axes = [&self.axis_weights[..]; 3];
                of_axes[axis] = &self.axis_slopes;
                let of = (axis * taps + tap) * points;
                product(&mut self.slopes[of..of + points], &at[..rank], of_axes);
            }
        }
    }
}

/// The product over the axes of what each has for a tap, at `at`.
#[inline(always)]
fn product<A: Real>(d: &mut [A], at: &[usize], of_axes: [&[A]; 3]) {
    d.fill(A::ONE);
    for (at, of) in at.iter().zip(of_axes) {
        for (d, v) in d.iter_mut().zip(&of[*at..]) {
            *d = *d * *v;
        }
    }
}

/// How the weights that [`near`] finds change with the coordinate.
#[inline(always)]
fn slopes<I: Isa, A: Sampled>(
    rule: &Rule,
    size: usize,
    grid: &[A],
    points: usize,
    slopes: &mut [A],
) {
    let (n, two) = (A::from_f64(size as f64), A::from_f64(2.0));
    let scale = if rule.align_corners { n - A::ONE } else { n } / two;
    for (tap, slopes) in slopes.chunks_exact_mut(points).enumerate() {
        for (d, x) in slopes.iter_mut().zip(grid.iter().step_by(rule.rank)) {
            let at = position(rule, n, *x);
            *d = match rule.interpolation {
                Interpolation::Nearest => A::ZERO,
                Interpolation::Linear => {
                    let slope = scale * beyond::<I, A>(rule, n, at).1;
                    if tap == 0 { -slope } else { slope }
                }
                Interpolation::Cubic => {
                    let t = distance(tap, at - Real::floor::<I>(at));
                    let slope = scale * cubic_slope(t, A::from_f64(CUBIC), is_far(tap));
                    if tap < 2 { slope } else { -slope }
                }
            };
        }
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
            let points = grid.len() / rank;
            let each = dgrid
                .chunks_exact_mut(rank)
                .zip(grad.chunks_exact(channels));
            for (point, (dgrid, grad)) in each.enumerate() {
                let (mut count, mut sums) = (0, [A::ZERO; AXES]);
                for tap in 0..taps {
                    let at = tap * points + point;
                    let element = tables.index[at];
                    for (axis, sum) in sums.iter_mut().enumerate() {
                        let slope = tables.slopes[axis * taps * points + at];
                        found.slopes[axis][count] = slope;
                        if element == NONE {
                            // of a zero, which is NaN where a coordinate is
                            *sum = *sum + slope * A::ZERO;
                        }
                    }
                    if element != NONE {
                        found.at[count] = element as usize * channels;
                        found.weights[count] = tables.weights[at];
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
            let mut line = [A::ZERO; RUN];
            let line = &mut line[..points];
            let mut sums = [[A::ZERO; RUN]; 3];
            for channel in 0..to.channels {
                let grad = &to.grad[channel * all + first..][..points];
                let dx = &mut to.dx[channel * elements..][..elements];
                for tap in 0..taps {
                    let of = tap * points..(tap + 1) * points;
                    let index = &tables.index[of.clone()];
                    let weights = &tables.weights[of.clone()];
                    for ((v, g), w) in line.iter_mut().zip(grad).zip(weights) {
                        *v = *g * *w;
                    }
                    for (v, i) in line.iter().zip(index) {
                        // `NONE` is beyond all elements
                        if let Some(d) = dx.get_mut(*i as u32 as usize) {
                            *d = *d + *v;
                        }
                    }
                    if !moves {
                        continue;
                    }
                    let x = &to.x[channel * elements..][..elements];
                    // SAFETY: `near` gives elements of these sizes, whose product is the plane's length.
                    unsafe { gather::<I, A, A>(x.as_ptr(), index, grad, points, line) };
                    for (v, i) in line.iter_mut().zip(index) {
                        // what is outside moves nothing, even of a gradient that is infinite
                        *v = if *i < 0 { A::ZERO } else { *v };
                    }
                    for (axis, sums) in sums[..rank].iter_mut().enumerate() {
                        let slopes = &tables.slopes[(axis * taps + tap) * points..][..points];
                        for ((sum, v), slope) in sums.iter_mut().zip(&*line).zip(slopes) {
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
