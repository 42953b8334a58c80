//! Few rows times a packed B: all rows are one tile, so that each panel is read once from memory,
//! or even from L2. Those reads bound the product, which takes a quarter less time than with two
//! micropanels. Sums are the same chains of multiply-adds, so they have the same bits.

use super::job::PanelJob;
use super::packed::Packed;
use super::tile::{self, TileRows};
use crate::simd::{self, Isa};

/// Bytes of B prefetched into L1 ahead of their use, past the end of a panel too.
const AHEAD: usize = 4 << 10;
/// Bytes of a panel that are multiplied, one group of vectors after the other, before the rest is:
/// L1 holds them, and memory is read sequentially.
const CHUNK: usize = 8 << 10;

/// Multiplies all rows by the panel: up to six by `V` vectors at a time, more by `HALF`.
///
/// # Safety
/// TILE1, of a tall job.
#[inline(always)]
pub unsafe fn panel<I: Isa, A: Packed, const L: usize, const V: usize, const HALF: usize>(
    s: PanelJob<A>,
) {
    macro_rules! heights {
        ($($R:literal)*; $($high:literal)*) => {
            // SAFETY: TILE1, by the caller's promise, for as many rows as the job has.
            unsafe {
                match s.rows {
                    $($R => rows::<I, A, L, $R, V>(&s),)*
                    $($high => rows::<I, A, L, $high, HALF>(&s),)*
                    _ => unreachable!("TILE1: at most TALL_ROWS rows"),
                }
            }
        };
    }
    heights!(1 2 3 4 5 6; 7 8 9 10 11 12)
}

/// Multiplies `R` rows by the panel, `V` vectors at a time.
///
/// # Safety
/// TILE1, of a tall job of `R` rows.
#[inline(always)]
unsafe fn rows<I: Isa, A: Packed, const L: usize, const R: usize, const V: usize>(s: &PanelJob<A>) {
    let chunk = if s.vectors > V {
        (CHUNK / (s.vectors * L * size_of::<A>())).max(1)
    } else {
        s.k.max(1)
    };
    // at least once: an empty sum is zero
    for start in (0..s.k.max(1)).step_by(chunk) {
        let steps = (s.k - start).min(chunk);
        let mut first = 0;
        while first < s.vectors {
            // SAFETY: TILE1, for vectors of the panel.
            unsafe {
                if first + V <= s.vectors {
                    sums::<I, A, L, R, V>(s, first, start, steps);
                    first += V;
                } else {
                    sums::<I, A, L, R, 1>(s, first, start, steps);
                    first += 1;
                }
            }
        }
    }
}

/// `R` rows of `V` vectors from vector `first` on, over `steps` steps from `start` on.
///
/// # Safety
/// TILE1, of a tall job of `R` rows; `first + V <= vectors`, and the job has the steps.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "indices that are constants after unrolling keep the tile in registers"
)]
unsafe fn sums<I: Isa, A: Packed, const L: usize, const R: usize, const V: usize>(
    s: &PanelJob<A>,
    first: usize,
    start: usize,
    steps: usize,
) {
    let mut c = [[A::begin([A::default(); L]); V]; R];
    let (rs, cs) = s.a.strides.unwrap_or_default();
    let mut a = TileRows::strided(s.a.at.wrapping_offset(start as isize * cs), rs);
    let mut b = s.b.wrapping_add((start * s.vectors + first) * L);
    let at = |i: usize, j: usize| {
        s.o.wrapping_offset((i as isize).wrapping_mul(s.ldo))
            .wrapping_add((first + j) * L) as *mut [A; L]
    };
    if start > 0 || s.accumulate {
        for i in 0..R {
            for j in 0..V {
                // SAFETY: TILE1: row `i < R` and vector `first + j` of the output, written by the
                // steps before `start`, or holding what is added to.
                c[i][j] = A::begin(unsafe { *at(i, j) });
            }
        }
    }
    for _ in 0..steps {
        for j in 0..V {
            simd::prefetch::<{ simd::L1 }, _>(b.wrapping_byte_add(AHEAD).wrapping_add(j * L));
        }
        // SAFETY: TILE1: a step of the panel has `vectors` vectors, of which those before `first +
        // V` are read, and a row of A one number.
        unsafe { tile::step::<I, A, L, R, V>(a, b, &mut c) };
        a.at = a.at.wrapping_offset(cs);
        b = b.wrapping_add(s.vectors * L);
    }
    for i in 0..R {
        for j in 0..V {
            // SAFETY: TILE1: row `i < R` and vector `first + j` lie within the output.
            unsafe { *at(i, j) = A::end(c[i][j]) };
        }
    }
}
