//! Products of few rows by weights that are integers: bound by the memory that these are read from,
//! so they are decoded in registers.

use super::levels::Levels;
use super::weights::Weights;
use crate::error::Result;
use crate::kernel::gemm::{Scratch, Source};
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
///
/// Errors where there is no memory for scales that are converted.
pub fn few_rows(w: &Weights, x: &[f32], rows: Range<usize>, d: &mut [f32]) -> Result<()> {
    let mut scales = Scratch::<f32>::new(TOGETHER * w.blocks())?;
    simd::call(Few {
        w: w.slice(rows),
        x,
        d,
        scales: &mut scales,
    });
    Ok(())
}

struct Few<'a> {
    w: Weights<'a>,
    x: &'a [f32],
    d: &'a mut [f32],
    scales: &'a mut [f32],
}
impl Kernel for Few<'_> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Few { w, x, d, scales } = self;
        let m = d.len() / w.rows().max(1);
        for (group, d) in d.chunks_mut(TOGETHER * m.max(1)).enumerate() {
            let first = group * TOGETHER;
            if d.len() == TOGETHER * m {
                rows::<I, TOGETHER>(&w, first, x, scales, d);
            } else {
                for (r, d) in d.chunks_mut(m).enumerate() {
                    rows::<I, 1>(&w, first + r, x, scales, d);
                }
            }
        }
    }
}

/// The sums of `R` rows of the weight with all of `x`.
#[inline(always)]
fn rows<I: Isa, const R: usize>(w: &Weights, first: usize, x: &[f32], scales: &mut [f32], d: &mut [f32]) {
    let m = d.len() / R;
    let mut buffers = scales.chunks_exact_mut(w.blocks());
    let mut of = [&[][..]; R];
    for (r, of) in of.iter_mut().enumerate() {
        if let Some(buffer) = buffers.next() {
            *of = w.scales_of::<I>(first + r, buffer);
        }
    }
    for (i, x) in x.chunks_exact(w.k()).enumerate() {
        let sums = dots::<I, R>(w, first, x, of);
        (0..R).for_each(|r| d[r * m + i] = sums[r]);
    }
}

/// The sums of `R` rows of the weight with one of `x`.
#[inline(always)]
fn dots<I: Isa, const R: usize>(w: &Weights, first: usize, x: &[f32], scales: [&[f32]; R]) -> [f32; R] {
    /// Bytes of a cache line.
    const LINE: usize = 64;
    let mut sums = [[0.0; LANES]; R];
    let rows: [&[u8]; R] = core::array::from_fn(|r| w.row(first + r));
    let (block, pairs) = (w.block(), pairs(w));
    let bytes_of_block = block / w.levels().per_byte();
    for (b, x) in x.chunks_exact(block).enumerate() {
        for r in 0..R {
            let at = b * bytes_of_block;
            // the same place of the next rows
            for line in (at.next_multiple_of(LINE)..at + bytes_of_block).step_by(LINE) {
                let next = rows[r].as_ptr().wrapping_add(R * rows[r].len() + line);
                simd::prefetch::<{ simd::L1 }, _>(next);
            }
            let part = match w.levels() {
                Levels::I4 if pairs => {
                    let (low, high) = x.split_at(block / 2);
                    nibbles::<I>(&rows[r][at..at + bytes_of_block], low, high)
                }
                Levels::I4 => halves::<I>(rows[r], b * block, x),
                Levels::I8 => bytes::<I, true>(&rows[r][at..at + block], x, w.zero_of(first + r, b)),
                Levels::U8 => bytes::<I, false>(&rows[r][at..at + block], x, w.zero_of(first + r, b)),
            };
            for l in 0..LANES {
                sums[r][l] = fma32::<I>(part[l], scales[r][b], sums[r][l]);
            }
        }
    }
    let mut totals = [0.0; R];
    for r in 0..R {
        let mut sums = sums[r];
        let mut half = LANES / 2;
        while half > 0 {
            (0..half).for_each(|l| sums[l] += sums[l + half]);
            half /= 2;
        }
        totals[r] = sums[0];
    }
    totals
}

/// The sums of a block, lane by lane, before its scale.
#[inline(always)]
fn bytes<I: Isa, const SIGNED: bool>(q: &[u8], x: &[f32], zero: f32) -> [f32; LANES] {
    /// Vectors of sums, each of which waits for its last addition.
    const CHAINS: usize = 4;
    let value = |q: u8| if SIGNED { q as i8 as f32 } else { q as f32 };
    let mut sums = [[0.0; LANES]; CHAINS];
    let ((q, q_rest), (x, x_rest)) = (q.as_chunks::<LANES>(), x.as_chunks::<LANES>());
    let (q_four, q_ones) = q.as_chunks::<CHAINS>();
    let (x_four, x_ones) = x.as_chunks::<CHAINS>();
    for (q, x) in q_four.iter().zip(x_four) {
        for c in 0..CHAINS {
            for l in 0..LANES {
                sums[c][l] = fma32::<I>(value(q[c][l]) - zero, x[c][l], sums[c][l]);
            }
        }
    }
    for (q, x) in q_ones.iter().zip(x_ones) {
        for l in 0..LANES {
            sums[0][l] = fma32::<I>(value(q[l]) - zero, x[l], sums[0][l]);
        }
    }
    let [mut s, t, u, v] = sums;
    for l in 0..LANES {
        s[l] = (s[l] + t[l]) + (u[l] + v[l]);
    }
    for (l, (q, x)) in q_rest.iter().zip(x_rest).enumerate() {
        s[l] = fma32::<I>(value(*q) - zero, *x, s[l]);
    }
    s
}
#[inline(always)]
fn nibbles<I: Isa>(q: &[u8], low: &[f32], high: &[f32]) -> [f32; LANES] {
    let ((q, q_rest), (low, low_rest), (high, high_rest)) = (
        q.as_chunks::<LANES>(),
        low.as_chunks::<LANES>(),
        high.as_chunks::<LANES>(),
    );
    let mut sums = whole_nibbles::<I>(q, low, high);
    for (l, ((q, low), high)) in q_rest.iter().zip(low_rest).zip(high_rest).enumerate() {
        sums[l] = fma32::<I>(half(*q), *low, sums[l]);
        sums[l] = fma32::<I>(half(*q >> 4), *high, sums[l]);
    }
    sums
}
/// What the lower half of a byte stands for.
#[inline(always)]
fn half(q: u8) -> f32 {
    ((q & 15 ^ 8) as i32 - 8) as f32
}
#[inline(always)]
fn whole_nibbles<I: Isa>(q: &[[u8; LANES]], low: &[[f32; LANES]], high: &[[f32; LANES]]) -> [f32; LANES] {
    #[cfg(x86_dispatch)]
    if let Some(sums) = simd::x86::nibbles::dot::<I>(q, low, high) {
        return sums;
    }
    let (mut s, mut t) = ([0.0; LANES], [0.0; LANES]);
    for ((q, low), high) in q.iter().zip(low).zip(high) {
        for l in 0..LANES {
            s[l] = fma32::<I>(half(q[l]), low[l], s[l]);
            t[l] = fma32::<I>(half(q[l] >> 4), high[l], t[l]);
        }
    }
    for l in 0..LANES {
        s[l] += t[l];
    }
    s
}
/// Halves of bytes that begin or end within a byte.
#[inline(always)]
fn halves<I: Isa>(q: &[u8], first: usize, x: &[f32]) -> [f32; LANES] {
    let mut sums = [0.0; LANES];
    for (i, x) in x.iter().enumerate() {
        let at = first + i;
        sums[i % LANES] = fma32::<I>(half(q[at / 2] >> (at % 2 * 4)), *x, sums[i % LANES]);
    }
    sums
}
