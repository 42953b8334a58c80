//! Positions of the first extremes.

use super::Key;
use super::vectors::POSITIONS;
use crate::simd::{self, Isa, prefetch_run, rolled};

/// Whether `b` wins over `a`: NaN wins over every number, nothing over NaN.
#[inline(always)]
#[allow(
    clippy::eq_op,
    clippy::nonminimal_bool,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "NaN"
)]
fn beats<A: PartialOrd + Copy>(b: A, a: A) -> bool {
    // true for a NaN on either side without a comparison of its own
    !(a >= b) & (a == a)
}

/// Whether element `b` is larger than element `a`, or is NaN and `a` is not.
pub fn is_better<K: Key>(x: &[K], a: usize, b: usize, bits: i64) -> bool {
    beats(x[b].flipped(bits), x[a].flipped(bits))
}

/// Elements whose extreme is found before its position is searched for.
const BLOCK: usize = 1024;
/// Elements compared at once in the search.
const GROUP: usize = 64;

/// The index of the first element that satisfies the condition, 0 if none does. `|v| condition` is
/// macro text: a closure might be outlined from its kernel.
macro_rules! first {
    ($x:expr, $bits:expr, |$v:ident| $condition:expr) => {
        'search: {
            for (k, group) in $x.chunks(GROUP).enumerate() {
                let mut found = false;
                for v in group {
                    rolled::<I, K>();
                    let $v = v.flipped($bits);
                    found |= $condition;
                }
                if found {
                    for (i, v) in group.iter().enumerate() {
                        let $v = v.flipped($bits);
                        if $condition {
                            break 'search k * GROUP + i;
                        }
                    }
                }
            }
            0
        }
    };
}

/// The longest runs that are searched side by side.
const SHORT: usize = if simd::MICROCONTROLLER { 0 } else { 16 };
/// The fewest.
const FEW: usize = 8;

/// The index of the first extreme of each of `at.len()` consecutive runs of `n > 0` elements.
pub fn positions<K: Key>(x: &[K], n: usize, bits: i64, at: &mut [i64]) {
    let Some(any) = x.first().filter(|_| n <= SHORT && at.len() >= FEW) else {
        return positions_of_runs(x, n, bits, at);
    };
    // as columns, of which a vector takes as many comparisons as one run
    let mut columns = [*any; SHORT * COLUMNS];
    for (x, at) in x.chunks(COLUMNS * n).zip(at.chunks_mut(COLUMNS)) {
        for (j, run) in x.chunks_exact(n).enumerate() {
            for (column, v) in columns.chunks_exact_mut(COLUMNS).zip(run) {
                column[j] = *v;
            }
        }
        positions_of_columns(&columns, n, COLUMNS, bits, at);
    }
}

kernel! {
    fn positions_of_runs<'a, T: Key>(x: &'a [T], n: usize, bits: i64, at: &'a mut [i64]) -> () { |I|
        for (x, found) in x.chunks_exact(n).zip(at) {
            *found = position_of_blocks::<I, T>(x, bits) as i64;
        }
    }
}

/// Short runs that become columns together.
const COLUMNS: usize = if simd::MICROCONTROLLER { 4 } else { 64 };

kernel! {
    /// The index of the first extreme of each of `at.len()` columns of `n > 0` rows, fewer than
    /// 2^32; a row begins `step` elements after the one before.
    pub fn positions_of_columns<'a, T: Key>(x: &'a [T], n: usize, step: usize, bits: i64, at: &'a mut [i64]) -> () { |I|
        // as many as have their extremes and positions in registers
        if const { simd::MICROCONTROLLER || I::SMALL } {
            columns::<T, 4, false>(x, n, step, bits, at)
        } else if I::AVX512 {
            columns::<T, 64, false>(x, n, step, bits, at)
        } else if I::AVX2 {
            columns::<T, 32, true>(x, n, step, bits, at)
        } else {
            columns::<T, 16, false>(x, n, step, bits, at)
        }
    }
}

/// If `IN_TURN`, results are written to one pair of arrays and the other in turn. In place, LLVM
/// makes masked stores of choices between new values and those that they replace, which take AMD's
/// CPUs with AVX2 some twenty cycles each.
#[inline(always)]
fn columns<K: Key, const W: usize, const IN_TURN: bool>(
    x: &[K],
    n: usize,
    step: usize,
    bits: i64,
    at: &mut [i64],
) {
    for (block, at) in at.chunks_mut(W).enumerate() {
        let (mut best, mut found) = ([K::LOWEST; W], [0u32; W]);
        let (mut other_best, mut other_found) = (best, found);
        let mut turned = false;
        for k in 0..n {
            let row = &x[k * step + block * W..][..at.len()];
            // rows may be pages apart
            prefetch_run::<{ simd::L1 }, _>(row.as_ptr().wrapping_add(W), W);
            let mut lifted = [K::LOWEST; W];
            if let Some(row) = row.first_chunk::<W>() {
                for j in 0..W {
                    lifted[j] = row[j].flipped(bits);
                }
            } else {
                for (to, v) in lifted.iter_mut().zip(row) {
                    *to = v.flipped(bits);
                }
            }
            // an element may equal the lowest value
            if k == 0 {
                best = lifted;
                continue;
            }
            macro_rules! take {
                ($best:ident $found:ident to $best_after:ident $found_after:ident) => {
                    for j in 0..W {
                        let better = beats(lifted[j], $best[j]);
                        $best_after[j] = if better { lifted[j] } else { $best[j] };
                        $found_after[j] = if better { k as u32 } else { $found[j] };
                    }
                };
            }
            match IN_TURN {
                false => take!(best found to best found),
                true if turned => take!(other_best other_found to best found),
                true => take!(best found to other_best other_found),
            }
            turned = !turned;
        }
        let found = if IN_TURN && turned {
            other_found
        } else {
            found
        };
        for (at, found) in at.iter_mut().zip(found) {
            *at = found as i64;
        }
    }
}

/// The index of the first extreme of a run: the extreme of each block, then a search of the one
/// block that has it.
#[inline(always)]
#[allow(clippy::eq_op, clippy::neg_cmp_op_on_partial_ord, reason = "NaN")]
fn position_of_blocks<I: Isa, K: Key>(x: &[K], bits: i64) -> usize {
    if x.len() <= POSITIONS
        && let Some(at) = K::position::<I>(x, bits)
    {
        return at;
    }
    let (mut best, mut at) = (K::LOWEST, 0);
    for (k, block) in x.chunks(BLOCK).enumerate() {
        let m = K::run::<I>(block, bits);
        if m != m {
            return k * BLOCK + first!(block, bits, |v| v != v);
        }
        if m > best {
            (best, at) = (m, k);
        }
    }
    let block = &x[at * BLOCK..x.len().min((at + 1) * BLOCK)];
    // nothing exceeds the extreme: what it doesn't exceed equals it
    at * BLOCK + first!(block, bits, |v| !(best > v))
}
