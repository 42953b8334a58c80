//! Losses of classes, and their gradients, from scores along rows or columns.

use super::columns::{ColumnNorm, TOGETHER, together};
use super::{LogSoftmax, RowNorm, Softmax};
use crate::dtype::Pod;
use crate::kernel::columns::{COLUMNS, at, put, vectors};
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;
use crate::simd::{self, Isa, Kernel};

kernel! {
    /// The logarithm of the sum of exponentials of each column of matrices of `n` rows, at most
    /// [`CHUNK`](super::CHUNK). `y` is scratch of the size of `x`.
    pub fn logs_of_columns<'a, F: Real>(n: usize, x: &'a [F], y: &'a mut [F], logs: &'a mut [F]) -> () { |I|
        let some = together(n);
        let matrices = x.chunks(some * n).zip(y.chunks_mut(some * n));
        for (logs, (x, y)) in logs.chunks_mut(some).zip(matrices) {
            let mut parts = [[F::default(); 2]; TOGETHER];
            let parts = &mut parts[..logs.len()];
            Softmax.column_parts::<I>(n, x, y, parts);
            LogSoftmax.join_rows::<I>(parts, n);
            for (to, [max, log]) in logs.iter_mut().zip(parts) {
                // beside an infinity all are 0, and itself has no exponential
                *to = if *max == -F::NEG_INFINITY { *max } else { *max + *log };
            }
        }
    }
}

kernel! {
    /// `d * all - share * weights` of rows of `n` elements, in place; less the share of 0 if `all`
    /// is 0. There are an `all` and a `share` for each row, and a weight for each element.
    pub fn weigh<'a, F: Real>(n: usize, all: &'a [F], share: &'a [F], weights: &'a [F], d: &'a mut [F]) -> () { |I|
        for (d, (all, share)) in d.chunks_exact_mut(n).zip(all.iter().zip(share)) {
            if *all == F::ZERO {
                d.fill(F::ZERO);
            }
            for (d, w) in d.iter_mut().zip(weights) {
                *d = *d * *all - *share * *w;
            }
        }
    }
}
kernel! {
    /// [`weigh`] for the columns of matrices of `n` rows.
    pub fn weigh_columns<'a, F: Real>(n: usize, all: &'a [F], share: &'a [F], weights: &'a [F], d: &'a mut [F]) -> () { |I|
        let each = all.chunks_exact(COLUMNS).zip(share.chunks_exact(COLUMNS));
        for (d, (all, share)) in d.chunks_exact_mut(COLUMNS * n).zip(each) {
            for (j, _) in all.iter().enumerate().filter(|(_, all)| **all == F::ZERO) {
                for d in d.iter_mut().skip(j).step_by(COLUMNS) {
                    *d = F::ZERO;
                }
            }
            for c in vectors::<F::Vector<I>>() {
                let (all, share): (F::Vector<I>, F::Vector<I>) = (at(all, 0, c), at(share, 0, c));
                for (r, w) in weights.iter().enumerate() {
                    put(d, r, c, at::<F::Vector<I>>(d, r, c) * all - share * F::Vector::<I>::splat(*w));
                }
            }
        }
    }
}

kernel! {
    /// The weight of each target: its class's factor, 1 if there are no `factors`, and 0 if the
    /// target is `ignored`. Returns the position of the first that is no class, if there is one.
    pub fn weights_of<'a>(targets: &'a [i64], classes: usize, ignored: i64, factors: &'a [f64], weights: &'a mut [f64]) -> Option<usize> { |I|
        let is_class = |target: i64| (target as u64) < classes as u64;
        let mut bad = false;
        for (to, target) in weights.iter_mut().zip(targets) {
            let is_ignored = *target == ignored;
            *to = if is_ignored { 0.0 } else { 1.0 };
            bad |= !(is_ignored | is_class(*target));
        }
        if !factors.is_empty() {
            for (to, target) in weights.iter_mut().zip(targets).filter(|(to, _)| **to != 0.0) {
                *to = usize::try_from(*target).ok().and_then(|t| factors.get(t)).copied().unwrap_or(0.0);
            }
        }
        match bad {
            true => targets.iter().position(|t| *t != ignored && !is_class(*t)),
            false => None,
        }
    }
}
kernel! {
    /// `weights * (logs - scores)`; 0 where the weight is, since such terms may be infinite. Logs
    /// are 0 if absent.
    pub fn terms<'a, F: Real>(weights: &'a [f64], logs: Option<&'a [F]>, scores: &'a [F], terms: &'a mut [f64]) -> () { |I|
        let all = terms.iter_mut().zip(weights).zip(scores);
        match logs {
            Some(logs) => for (((to, w), score), log) in all.zip(logs) {
                let term = *w * (log.to_f64() - score.to_f64());
                *to = if *w == 0.0 { 0.0 } else { term };
            },
            None => for ((to, w), score) in all {
                let term = *w * (0.0 - score.to_f64());
                *to = if *w == 0.0 { 0.0 } else { term };
            },
        }
    }
}
kernel! {
    /// The sum.
    pub fn sum<'a>(x: &'a [f64]) -> f64 { |I| lanes!(x, 0.0, |v| v, |a, b| a + b) }
}

/// Targets of a chunk: enough that rows of scores are read as streams.
pub const CHUNK: usize = if simd::CACHE_BLOCKING { 1024 } else { 64 };
/// The most bytes of the classes of a place for which all are read in order: a cache line that is
/// read out of order, for one of them, takes longer.
const STREAMED: usize = 256;
/// The fewest neighbours whose classes are.
const NEIGHBOURS: usize = 64;

/// Scores of classes, `[batch, classes, inner]`.
pub struct ClassRows<'a, F> {
    pub x: &'a [F],
    pub classes: usize,
    pub inner: usize,
}
impl<F: Real + Pod> ClassRows<'_, F> {
    /// The scores of the classes that targets name, from row-major position `first` of `[batch,
    /// inner]` on, at most [`CHUNK`]. Those of other targets are unspecified.
    pub fn gather(&self, first: usize, targets: &[i64], d: &mut [F]) {
        simd::call(Gather {
            rows: self,
            first,
            targets,
            d,
        });
    }
}
struct Gather<'a, F> {
    rows: &'a ClassRows<'a, F>,
    first: usize,
    targets: &'a [i64],
    d: &'a mut [F],
}
impl<F: Real + Pod> Kernel for Gather<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let ClassRows { x, classes, inner } = *self.rows;
        let (mut targets, mut d) = (self.targets, self.d);
        let (mut batch, mut place) = (self.first / inner, self.first % inner);
        while !targets.is_empty() {
            let n = (inner - place).min(targets.len());
            let (some, to);
            (some, targets) = targets.split_at(n);
            (to, d) = d.split_at_mut(n);
            let x = &x[batch * classes * inner + place..];
            if n >= NEIGHBOURS && classes * size_of::<F>() <= STREAMED {
                select::<F>(x, inner, classes, some, to);
            } else {
                for (j, (to, target)) in to.iter_mut().zip(some).enumerate() {
                    let class = usize::try_from(*target).ok().filter(|c| *c < classes);
                    *to = class.map_or(F::ZERO, |class| x[class * inner + j]);
                }
            }
            (batch, place) = (batch + 1, 0);
        }
    }
}
/// The same for neighbours, row by row of the classes. By words: of other types, LLVM does not
/// vectorise a choice.
#[inline(always)]
fn select<F: Real + Pod>(x: &[F], ld: usize, classes: usize, targets: &[i64], d: &mut [F]) {
    const WORDS: usize = 2;
    let each = size_of::<F>() / size_of::<u32>();
    assert!(each <= WORDS && targets.len() <= CHUNK);
    // few classes: those that alias are no targets, whose scores are of no use
    let mut names = [0u32; WORDS * CHUNK];
    let names = &mut names[..each * targets.len()];
    for (to, target) in names.chunks_exact_mut(each).zip(targets) {
        to.fill(*target as u32);
    }
    d.fill(F::ZERO);
    for class in 0..classes {
        let row = &x[class * ld..][..d.len()];
        let words = bytemuck::cast_slice::<F, u32>(row).iter().zip(&*names);
        for (d, (word, name)) in bytemuck::cast_slice_mut::<F, u32>(d).iter_mut().zip(words) {
            let mask = u32::from(*name == class as u32).wrapping_neg();
            *d |= *word & mask;
        }
    }
}
