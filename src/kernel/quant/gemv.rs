//! Products of a few rows by quantised weights. Bound by the memory bandwidth of the weights, so
//! these are decoded in registers.

use super::levels::Levels;
use super::weights::Weights;
use crate::error::Result;
use crate::kernel::gemm::{Scratch, Source};
use crate::simd::{self, Isa, Kernel, fma32};
use core::ops::Range;

/// The most rows that count as few.
pub const FEW_ROWS: usize = 4;
/// Lanes of an accumulator, and bytes multiplied per round: four accumulators, to hide the latency
/// of the additions.
const LANES: usize = 16;
const TOGETHER: usize = 4 * LANES;

/// Whether the product runs on nibbles (`simd::x86::nibbles`).
fn by_words(w: &Weights) -> bool {
    #[cfg(x86_dispatch)]
    return w.levels() == Levels::I4
        && simd::level() != simd::Level::Base
        && simd::x86::nibbles::takes(w.k(), w.block());
    #[cfg(not(x86_dispatch))]
    return {
        let _ = w;
        false
    };
}

/// Arranges a row of `w.k()` factors in the order in which [`few_rows`] reads them.
pub fn in_order(w: &Weights, x: &[f32], d: &mut [f32]) {
    #[cfg(x86_dispatch)]
    if by_words(w) {
        return simd::x86::nibbles::in_order(x, d);
    }
    let _ = w;
    d.copy_from_slice(x)
}

/// Products of some rows of the weight with each row of `x`, which is [in order](in_order): `d[row
/// of the weight][row of x]`.
///
/// Errors if there is no memory for decoded values or scales.
pub fn few_rows(w: &Weights, x: &[f32], rows: Range<usize>, d: &mut [f32]) -> Result<()> {
    let by_words = by_words(w);
    let values = if w.levels().is_packed() && !by_words {
        w.k()
    } else {
        0
    };
    let mut scratch = Scratch::<f32>::new(values + w.blocks())?;
    let (values, scales) = scratch.split_at_mut(values);
    simd::call(FewRows {
        w: w.slice(rows),
        x,
        d,
        values,
        scales,
        by_words,
    });
    Ok(())
}

struct FewRows<'a> {
    w: Weights<'a>,
    x: &'a [f32],
    d: &'a mut [f32],
    /// Scratch for a decoded row, where rows are decoded.
    values: &'a mut [f32],
    scales: &'a mut [f32],
    by_words: bool,
}
impl Kernel for FewRows<'_> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let FewRows {
            w,
            x,
            d,
            values,
            scales,
            by_words,
        } = self;
        let m = d.len() / w.rows().max(1);
        for (j, d) in d.chunks_mut(m.max(1)).enumerate() {
            let (q, all) = (w.row(j), w.k());
            if !values.is_empty() {
                w.decode(j, 0..all, values);
            }
            let scales = w.scales_of::<I>(j, scales);
            for (x, d) in x.chunks_exact(all).zip(d) {
                *d = match w.levels() {
                    Levels::I8 => bytes::<I, true>(&w, j, q, x, scales),
                    Levels::U8 => bytes::<I, false>(&w, j, q, x, scales),
                    Levels::I4 if by_words => words::<I>(q, x, scales, w.block()),
                    Levels::I4 | Levels::I2 => floats::<I>(values, x),
                };
            }
        }
    }
}

/// The product of a row of nibbles.
#[cfg_attr(
    not(x86_dispatch),
    allow(
        clippy::extra_unused_type_parameters,
        reason = "the other sets have no such words"
    )
)]
#[inline(always)]
fn words<I: Isa>(q: &[u8], x: &[f32], scales: &[f32], block: usize) -> f32 {
    #[cfg(x86_dispatch)]
    if let Some(sum) = simd::x86::nibbles::row::<I>(q, x, scales, block) {
        return sum;
    }
    let _ = (q, x, scales, block);
    f32::NAN // `by_words` says where they are multiplied so
}

/// The product of a row of bytes, block by block.
#[inline(always)]
fn bytes<I: Isa, const SIGNED: bool>(
    w: &Weights,
    row: usize,
    q: &[u8],
    x: &[f32],
    scales: &[f32],
) -> f32 {
    let block = w.block();
    let mut sums = [0.0; LANES];
    for (b, (q, x)) in q.chunks_exact(block).zip(x.chunks_exact(block)).enumerate() {
        let zero = w.zero_of(row, b);
        let (q_whole, q_rest) = q.as_chunks::<TOGETHER>();
        let (x_whole, x_rest) = x.as_chunks::<TOGETHER>();
        let mut part = [0.0; LANES];
        if !q_whole.is_empty() {
            let chains = together::<I, SIGNED>(q_whole, x_whole, zero);
            for l in 0..LANES {
                let pairs = [
                    chains[l] + chains[l + LANES],
                    chains[l + 2 * LANES] + chains[l + 3 * LANES],
                ];
                part[l] = pairs[0] + pairs[1];
            }
        }
        let (q_whole, q_rest) = q_rest.as_chunks::<LANES>();
        let (x_whole, x_rest) = x_rest.as_chunks::<LANES>();
        for (q, x) in q_whole.iter().zip(x_whole) {
            for l in 0..LANES {
                part[l] = fma32::<I>(value::<SIGNED>(q[l]) - zero, x[l], part[l]);
            }
        }
        for (l, (q, x)) in q_rest.iter().zip(x_rest).enumerate() {
            part[l] = fma32::<I>(value::<SIGNED>(*q) - zero, *x, part[l]);
        }
        for l in 0..LANES {
            sums[l] = fma32::<I>(part[l], scales[b], sums[l]);
        }
    }
    total(sums)
}

/// Sums of bytes times factors. A function of its own: code that indexes the sums by variables
/// would keep them in memory.
#[inline(always)]
fn together<I: Isa, const SIGNED: bool>(
    q: &[[u8; TOGETHER]],
    x: &[[f32; TOGETHER]],
    zero: f32,
) -> [f32; TOGETHER] {
    let mut sums = [0.0; TOGETHER];
    for (q, x) in q.iter().zip(x) {
        for l in 0..TOGETHER {
            sums[l] = fma32::<I>(value::<SIGNED>(q[l]) - zero, x[l], sums[l]);
        }
    }
    // forces one store to memory here, so that the loop keeps them in registers
    core::hint::black_box(sums)
}

/// A byte as a number. Not a closure: these lose the target features.
#[inline(always)]
fn value<const SIGNED: bool>(q: u8) -> f32 {
    if SIGNED { q as i8 as f32 } else { q as f32 }
}

/// The dot product of floats.
#[inline(always)]
fn floats<I: Isa>(w: &[f32], x: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let ((w, w_rest), (x, x_rest)) = (w.as_chunks::<LANES>(), x.as_chunks::<LANES>());
    for (w, x) in w.iter().zip(x) {
        for l in 0..LANES {
            sums[l] = fma32::<I>(w[l], x[l], sums[l]);
        }
    }
    let mut sums = core::hint::black_box(sums); // forces one store, as above
    for (l, (w, x)) in w_rest.iter().zip(x_rest).enumerate() {
        sums[l] = fma32::<I>(*w, *x, sums[l]);
    }
    total(sums)
}

#[inline(always)]
fn total(mut sums: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            sums[l] += sums[l + half];
        }
        half /= 2;
    }
    sums[0]
}
