//! Products of few rows by weights that are integers: bound by the memory that these are read from,
//! so they are decoded in registers.

use super::levels::Levels;
use super::weights::Weights;
use crate::kernel::gemm::Source;
use crate::simd::{self, Isa, Kernel, fma32};
use core::ops::Range;

/// Rows that count as few.
pub const FEW_ROWS: usize = 4;
/// Running sums of a product.
const LANES: usize = 16;
/// Rows of the weight whose sums are found together.
const TOGETHER: usize = 4;

/// Whether halves of bytes meet their factors in whole vectors.
fn pairs(w: &Weights) -> bool {
    w.levels() == Levels::I4 && w.block().is_multiple_of(2)
}

/// A row of factors, `w.k()` of them, in the order in which [`few_rows`] reads them: where bytes hold two
/// integers, the factors of a block's lower halves come first.
pub fn in_order(w: &Weights, x: &[f32], d: &mut [f32]) {
    if !pairs(w) {
        return d.copy_from_slice(x);
    }
    let block = w.block().max(1);
    for (x, d) in x.chunks_exact(block).zip(d.chunks_exact_mut(block)) {
        let (low, high) = d.split_at_mut(block / 2);
        for ((x, low), high) in x.as_chunks::<2>().0.iter().zip(low).zip(high) {
            [*low, *high] = *x;
        }
    }
}

/// Sums of some rows of the weight with each row of `x`, which are [in order](in_order): `d[row of the
/// weight][row of x]`.
pub fn few_rows(w: &Weights, x: &[f32], rows: Range<usize>, d: &mut [f32]) {
    simd::call(Few {
        w: w.slice(rows),
        x,
        d,
    })
}

struct Few<'a> {
    w: Weights<'a>,
    x: &'a [f32],
    d: &'a mut [f32],
}
impl Kernel for Few<'_> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Few { w, x, d } = self;
        let m = d.len() / w.rows().max(1);
        for (group, d) in d.chunks_mut(TOGETHER * m.max(1)).enumerate() {
            let first = group * TOGETHER;
            for (i, x) in x.chunks_exact(w.k().max(1)).enumerate() {
                if d.len() == TOGETHER * m {
                    let sums = dots::<I, TOGETHER>(&w, first, x);
                    (0..TOGETHER).for_each(|r| d[r * m + i] = sums[r]);
                } else {
                    (0..d.len() / m).for_each(|r| {
                        let [sum] = dots::<I, 1>(&w, first + r, x);
                        d[r * m + i] = sum;
                    });
                }
            }
        }
    }
}

/// The sums of `R` rows of the weight.
#[inline(always)]
fn dots<I: Isa, const R: usize>(w: &Weights, first: usize, x: &[f32]) -> [f32; R] {
    let mut sums = [[0.0; LANES]; R];
    let rows: [&[u8]; R] = core::array::from_fn(|r| w.row(first + r));
    let block = w.block();
    for (b, x) in x.chunks_exact(block.max(1)).enumerate() {
        for r in 0..R {
            let (scale, zero) = w.step(first + r, b);
            let part = match w.levels() {
                Levels::I4 if pairs(w) => {
                    let q = &rows[r][b * block / 2..][..block / 2];
                    let (low, high) = x.split_at(block / 2);
                    nibbles::<I>(q, low, high, zero)
                }
                Levels::I4 => halves::<I>(rows[r], b * block, x, zero),
                levels => bytes::<I>(&rows[r][b * block..][..block], x, levels, zero),
            };
            for l in 0..LANES {
                sums[r][l] = fma32::<I>(part[l], scale, sums[r][l]);
            }
        }
    }
    core::array::from_fn(|r| {
        let mut sums = sums[r];
        let mut half = LANES / 2;
        while half > 0 {
            (0..half).for_each(|l| sums[l] += sums[l + half]);
            half /= 2;
        }
        sums[0]
    })
}

/// The sums of a block, lane by lane, before its scale.
#[inline(always)]
fn bytes<I: Isa>(q: &[u8], x: &[f32], levels: Levels, zero: f32) -> [f32; LANES] {
    let (flip, zero) = if levels == Levels::I8 { (0x80, zero + 128.0) } else { (0, zero) };
    let mut sums = [0.0; LANES];
    let ((q, q_rest), (x, x_rest)) = (q.as_chunks::<LANES>(), x.as_chunks::<LANES>());
    for (q, x) in q.iter().zip(x) {
        for l in 0..LANES {
            sums[l] = fma32::<I>((q[l] ^ flip) as f32 - zero, x[l], sums[l]);
        }
    }
    for (l, (q, x)) in q_rest.iter().zip(x_rest).enumerate() {
        sums[l] = fma32::<I>((q ^ flip) as f32 - zero, *x, sums[l]);
    }
    sums
}
#[inline(always)]
fn nibbles<I: Isa>(q: &[u8], low: &[f32], high: &[f32], zero: f32) -> [f32; LANES] {
    let zero = zero + 8.0;
    let mut sums = [0.0; LANES];
    let ((q, q_rest), (low, low_rest), (high, high_rest)) = (
        q.as_chunks::<LANES>(),
        low.as_chunks::<LANES>(),
        high.as_chunks::<LANES>(),
    );
    for ((q, low), high) in q.iter().zip(low).zip(high) {
        for l in 0..LANES {
            let q = (q[l] ^ 0x88) as i32;
            sums[l] = fma32::<I>((q & 15) as f32 - zero, low[l], sums[l]);
            sums[l] = fma32::<I>((q >> 4) as f32 - zero, high[l], sums[l]);
        }
    }
    for (l, ((q, low), high)) in q_rest.iter().zip(low_rest).zip(high_rest).enumerate() {
        let q = (q ^ 0x88) as i32;
        sums[l] = fma32::<I>((q & 15) as f32 - zero, *low, sums[l]);
        sums[l] = fma32::<I>((q >> 4) as f32 - zero, *high, sums[l]);
    }
    sums
}
/// Halves of bytes that begin or end within a byte.
#[inline(always)]
fn halves<I: Isa>(q: &[u8], first: usize, x: &[f32], zero: f32) -> [f32; LANES] {
    let mut sums = [0.0; LANES];
    for (i, x) in x.iter().enumerate() {
        let at = first + i;
        let q = ((q[at / 2] ^ 0x88) >> (at % 2 * 4) & 15) as f32 - (zero + 8.0);
        sums[i % LANES] = fma32::<I>(q, *x, sums[i % LANES]);
    }
    sums
}
