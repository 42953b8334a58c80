//! Between the two products: softcap, bias, and minus infinity for masked scores. The lines of a
//! tile of scores are queries or keys; masks are transposed to match.

use super::head::{AttentionElement, Head, Mask};
use super::softmax;
use crate::dtype::Bool;
use crate::error::Result;
use crate::kernel::gemm::{self, Mat, MatElement, Packed, Scratch};
use crate::kernel::math::{Math, Real};
use core::ops::Range;

/// Scratch for a tile of a mask.
pub struct Room<F> {
    bias: Scratch<F>,
    flags: Scratch<u32>,
}
impl<F: Packed> Room<F> {
    /// Scratch for tiles of `len` scores.
    pub fn new<T: MatElement<Acc = F>>(mask: &Mask<T>, len: usize) -> Result<Self> {
        let (bias, flags) = match mask {
            Mask::None => (0, 0),
            Mask::Bool(_) => (0, len),
            Mask::Bias(_) | Mask::Wide(_) => (len, 0),
        };
        Ok(Room {
            bias: Scratch::new(bias)?,
            flags: Scratch::new(flags)?,
        })
    }
}

impl<T: AttentionElement> Head<'_, T> {
    /// The factor of the queries: with a softcap, scores are fractions of it until the tanh is
    /// taken.
    pub fn factor(&self) -> T::Acc {
        self.softcap.map_or(self.scale, |cap| self.scale / cap)
    }

    /// Finishes the scores of some queries (lines) by some keys.
    pub fn finish_lines(
        &self,
        scores: &mut [T::Acc],
        width: usize,
        queries: Range<usize>,
        keys: Range<usize>,
        room: &mut Room<T::Acc>,
    ) {
        self.cap(scores);
        let mask = self.mask.block(queries.clone(), keys.clone());
        mask.apply(scores, width, room);
        self.band
            .confine(scores, width, queries, keys, T::Acc::NEG_INFINITY);
    }
    /// The same for a tile whose lines are keys.
    pub fn finish_columns(
        &self,
        scores: &mut [T::Acc],
        width: usize,
        queries: Range<usize>,
        keys: Range<usize>,
        room: &mut Room<T::Acc>,
    ) {
        self.cap(scores);
        let mask = self.mask.block(queries.clone(), keys.clone()).t();
        mask.apply(scores, width, room);
        let band = self.band.t();
        band.confine(scores, width, keys, queries, T::Acc::NEG_INFINITY);
    }
    fn cap(&self, scores: &mut [T::Acc]) {
        if let Some(cap) = self.softcap {
            cap_all(scores, cap);
        }
    }
}

impl<T: AttentionElement> Mask<'_, T> {
    fn block(self, queries: Range<usize>, keys: Range<usize>) -> Self {
        match self {
            Mask::None => Mask::None,
            Mask::Bool(m) => Mask::Bool(m.block(queries, keys)),
            Mask::Bias(m) => Mask::Bias(m.block(queries, keys)),
            Mask::Wide(m) => Mask::Wide(m.block(queries, keys)),
        }
    }
    fn t(self) -> Self {
        match self {
            Mask::None => Mask::None,
            Mask::Bool(m) => Mask::Bool(m.t()),
            Mask::Bias(m) => Mask::Bias(m.t()),
            Mask::Wide(m) => Mask::Wide(m.t()),
        }
    }
    /// Applies the mask to lines of `width` scores.
    fn apply(self, scores: &mut [T::Acc], width: usize, room: &mut Room<T::Acc>) {
        match self {
            Mask::None => {}
            // one flag per line: keys masked for all queries
            Mask::Bool(m) if m.cs() == 0 && m.cols() > 0 => {
                for (i, line) in scores.chunks_exact_mut(width).enumerate() {
                    // SAFETY: the mask has as many lines as there are scores.
                    if !unsafe { m.get(i, 0) }.get() {
                        line.fill(T::Acc::NEG_INFINITY);
                    }
                }
            }
            Mask::Bool(m) => {
                let flags = &mut room.flags[..scores.len()];
                gemm::pack_panel(bytes(m), width, flags);
                softmax::select(scores, flags);
            }
            Mask::Bias(m) => bias(m, scores, width, &mut room.bias),
            Mask::Wide(m) => bias(m, scores, width, &mut room.bias),
        }
    }
}

/// Adds the bias to lines of `width` scores.
fn bias<T: MatElement<Acc: Real>>(
    m: Mat<T>,
    scores: &mut [T::Acc],
    width: usize,
    room: &mut [T::Acc],
) {
    if m.cs() == 0 && m.cols() > 0 {
        // one number per line: a bias of keys
        let lines = scores.len() / width;
        gemm::pack_panel(m.block(0..lines, 0..1), 1, &mut room[..lines]);
        softmax::shift(scores, width, &room[..lines]);
    } else {
        let room = &mut room[..scores.len()];
        gemm::pack_panel(m, width, room);
        softmax::add(scores, room);
    }
}

/// The flags viewed as bytes.
fn bytes(m: Mat<Bool>) -> Mat<u8> {
    // SAFETY: MAT1: the same elements; `Bool` is transparent over u8.
    unsafe { Mat::new(m.as_ptr() as *const u8, m.rows(), m.cols(), m.rs(), m.cs()) }
}

kernel! {
    /// Turns fractions of the cap into scores.
    fn cap_all<'a, F: Real>(scores: &'a mut [F], cap: F) -> () { |I|
        for x in scores {
            *x = Math::tanh::<I>(*x) * cap;
        }
    }
}
