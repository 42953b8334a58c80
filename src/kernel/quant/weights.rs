//! Quantised weights of products: a source of float panels, dequantised while they are packed.

use super::decode::{self, Fields, with_fields};
use super::levels::Levels;
#[cfg(feature = "half")]
use crate::dtype::{bf16, f16};
use crate::kernel::gemm::{BlockA, Mat, Source, pack_panel, panel_width};
#[cfg(feature = "half")]
use crate::kernel::{convert::Widen, gemm::MatElement};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Borrowed scales, in the dtype they are stored in.
#[derive(Clone, Copy)]
pub enum Scales<'a> {
    F32(&'a [f32]),
    #[cfg(feature = "half")]
    F16(&'a [f16]),
    #[cfg(feature = "half")]
    Bf16(&'a [bf16]),
}
impl Scales<'_> {
    fn len(&self) -> usize {
        match self {
            Scales::F32(x) => x.len(),
            #[cfg(feature = "half")]
            Scales::F16(x) => x.len(),
            #[cfg(feature = "half")]
            Scales::Bf16(x) => x.len(),
        }
    }
    #[inline(always)]
    fn get(&self, i: usize) -> f32 {
        match self {
            Scales::F32(x) => x[i],
            #[cfg(feature = "half")]
            Scales::F16(x) => Widen::widen(x[i]),
            #[cfg(feature = "half")]
            Scales::Bf16(x) => Widen::widen(x[i]),
        }
    }
}

/// Rows of `k` integers, which are the columns of B, divided into blocks of one step each.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    values: &'a [u8],
    levels: Levels,
    k: usize,
    /// The rows of this slice.
    first: usize,
    rows: usize,
    scales: Scales<'a>,
    /// Empty, or a zero point for each scale, as bytes like the values.
    zeros: &'a [u8],
    /// Blocks of a row, and whether each row has scales of its own.
    blocks: usize,
    per_row: bool,
}
impl<'a> Weights<'a> {
    /// `rows` rows of `k` integers; packed rows end on whole bytes. A row has equally long blocks,
    /// as many as there are scales, or scales per row. Panics if lengths don't match.
    pub fn new(
        values: &'a [u8],
        levels: Levels,
        [rows, k]: [usize; 2],
        scales: Scales<'a>,
        zeros: &'a [u8],
        per_row: bool,
    ) -> Self {
        let blocks = scales.len() / if per_row { rows.max(1) } else { 1 };
        assert!(values.len() == rows * k.div_ceil(levels.per_byte()));
        assert!(scales.len() == blocks * if per_row { rows } else { 1 });
        assert!(zeros.is_empty() || zeros.len() == scales.len());
        assert!(rows * k == 0 || blocks > 0 && k.is_multiple_of(blocks));
        Weights {
            values,
            levels,
            k,
            first: 0,
            rows,
            scales,
            zeros,
            blocks,
            per_row,
        }
    }
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Integers in a row.
    pub fn k(&self) -> usize {
        self.k
    }
    /// The integers.
    pub fn levels(&self) -> Levels {
        self.levels
    }
    /// Integers in a block.
    pub fn block(&self) -> usize {
        self.k / self.blocks.max(1)
    }
    /// Blocks in a row.
    pub fn blocks(&self) -> usize {
        self.blocks
    }
    /// The bytes of a row.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &'a [u8] {
        let bytes = self.k.div_ceil(self.levels.per_byte());
        &self.values[(self.first + i) * bytes..][..bytes]
    }
    /// Scale and zero point of a block.
    #[inline(always)]
    fn step(&self, row: usize, block: usize) -> (f32, f32) {
        let at = block + self.first_step(row);
        (self.scales.get(at), self.zero(at))
    }
    /// The zero point of a row's block.
    #[inline(always)]
    pub(super) fn zero_of(&self, row: usize, block: usize) -> f32 {
        self.zero(block + self.first_step(row))
    }
    #[inline(always)]
    fn first_step(&self, row: usize) -> usize {
        if self.per_row {
            (self.first + row) * self.blocks
        } else {
            0
        }
    }
    #[inline(always)]
    fn zero(&self, at: usize) -> f32 {
        match (self.zeros.get(at), self.levels) {
            (None, _) => 0.0,
            (Some(zero), Levels::U8) => *zero as f32,
            (Some(zero), _) => *zero as i8 as f32,
        }
    }
    /// The scales of a row's blocks, borrowed or widened into `d`.
    #[cfg_attr(
        not(feature = "half"),
        allow(
            clippy::extra_unused_type_parameters,
            reason = "scales of 16 bits are converted by it"
        )
    )]
    #[inline(always)]
    pub(super) fn scales_of<'d, I: Isa>(&self, row: usize, d: &'d mut [f32]) -> &'d [f32]
    where
        'a: 'd,
    {
        let at = self.first_step(row)..self.first_step(row) + self.blocks;
        #[cfg(not(feature = "half"))]
        let _ = d;
        match self.scales {
            Scales::F32(x) => &x[at],
            #[cfg(feature = "half")]
            Scales::F16(x) => {
                <f16 as MatElement>::widen_all::<I>(&x[at], d);
                d
            }
            #[cfg(feature = "half")]
            Scales::Bf16(x) => {
                <bf16 as MatElement>::widen_all::<I>(&x[at], d);
                d
            }
        }
    }
    /// Dequantises some values of a row.
    #[inline(always)]
    pub(super) fn decode(&self, row: usize, steps: Range<usize>, d: &mut [f32]) {
        let (q, block) = (self.row(row), self.block());
        let mut at = steps.start;
        while at < steps.end {
            let b = at / block;
            let part = at..steps.end.min((b + 1) * block);
            let d = &mut d[part.start - steps.start..][..part.len()];
            let (scale, zero) = self.step(row, b);
            match self.levels {
                Levels::I8 | Levels::U8 => {
                    let signed = self.levels == Levels::I8;
                    decode::bytes(&q[part.clone()], signed, scale, zero, d);
                }
                levels => with_fields!(levels.per_byte(), |F| {
                    let per = levels.per_byte();
                    // whole bytes at once, the ends one by one
                    let start = part.start.next_multiple_of(per).min(part.end);
                    let end = (part.end / per * per).max(start);
                    for i in (part.start..start).chain(end..part.end) {
                        d[i - part.start] = F::one(q, i, scale, zero);
                    }
                    let to = &mut d[start - part.start..end - part.start];
                    F::all(&q[start / per..][..to.len() / per], scale, zero, to);
                }),
            }
            at = part.end;
        }
    }
}

/// Depth that is decoded before it is packed, and the size of the buffer for it.
const PIECE: usize = if simd::MICROCONTROLLER { 16 } else { 32 };
const BUFFER: usize = if simd::MICROCONTROLLER {
    64
} else {
    64 * PIECE
};

/// Some columns of some rows, dequantised side by side.
struct DequantizeRows<'a, 'b> {
    weights: &'a Weights<'b>,
    steps: Range<usize>,
    lines: Range<usize>,
    d: &'a mut [f32],
}
impl Kernel for DequantizeRows<'_, '_> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let depth = self.steps.len();
        for (line, d) in self.lines.zip(self.d.chunks_mut(depth.max(1))) {
            self.weights.decode(line, self.steps.clone(), d);
        }
    }
}

// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl Source for Weights<'_> {
    type Packed = f32;
    /// Decoding costs about as much as transposing.
    fn pack_cost(&self) -> Option<usize> {
        Some(32)
    }
    fn lines(&self) -> usize {
        self.rows
    }
    fn steps(&self) -> usize {
        self.k
    }
    fn slice(self, lines: Range<usize>) -> Self {
        assert!(lines.start <= lines.end && lines.end <= self.rows);
        Weights {
            first: self.first + lines.start,
            rows: lines.len(),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [f32]) {
        let mut buffer = [0.0; BUFFER];
        let (mut j, mut at) = (lines.start, 0);
        while j < lines.end {
            let width = panel_width::<f32>(lines.end - j);
            let count = width.min(lines.end - j);
            let piece = (BUFFER / count).min(PIECE);
            for first in steps.clone().step_by(piece) {
                let depth = piece.min(steps.end - first);
                let values = &mut buffer[..count * depth];
                simd::call(DequantizeRows {
                    weights: self,
                    steps: first..first + depth,
                    lines: j..j + count,
                    d: values,
                });
                let d = &mut d[at..at + width * depth];
                pack_panel(Mat::from_slice(values, count, depth).t(), width, d);
                at += width * depth;
            }
            j += width;
        }
    }
    fn pack_block(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [f32]) -> BlockA<f32> {
        let depth = steps.len();
        let d = &mut d[..lines.len() * depth];
        simd::call(DequantizeRows {
            weights: self,
            steps,
            lines,
            d: &mut *d,
        });
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}
