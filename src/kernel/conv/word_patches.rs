//! Patches of an image of words, which several neighbouring channels share.

use super::geometry::{Geometry, Image};
use super::patches::Patches;
use crate::kernel::gemm::{BlockA, Packed, Source, cost};
use crate::simd;
use core::marker::PhantomData;
use core::ops::Range;

/// Patches of an image of words, which are packed elements of `P`.
pub struct WordPatches<'a, P> {
    patches: Patches<'a, u32>,
    _words: PhantomData<fn(P)>,
}
impl<P> Clone for WordPatches<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for WordPatches<'_, P> {}
impl<'a, P: Packed> WordPatches<'a, P> {
    /// All patches of an image. Panics unless `P` has the size and the panels of words.
    pub fn new(image: Image<'a, u32>, geometry: Geometry) -> Self {
        let level = simd::level();
        assert!(size_of::<P>() == 4 && P::shape(level) == u32::shape(level));
        WordPatches {
            patches: Patches::new(image, geometry),
            _words: PhantomData,
        }
    }
}
/// Reinterprets elements as words. Panics if size or alignment don't allow it.
fn as_words<P: Packed>(d: &mut [P]) -> &mut [u32] {
    // SAFETY: LANE1: elements for which any bits are a value.
    let (before, words, after) = unsafe { d.align_to_mut::<u32>() };
    assert!(before.is_empty() && after.is_empty());
    words
}
// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<P: Packed> Source for WordPatches<'_, P> {
    type Packed = P;
    fn pack_cost(&self) -> Option<usize> {
        Some(cost::PACK_PATCHES)
    }
    fn lines(&self) -> usize {
        self.patches.lines()
    }
    fn steps(&self) -> usize {
        self.patches.steps()
    }
    fn slice(self, lines: Range<usize>) -> Self {
        WordPatches {
            patches: self.patches.slice(lines),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [P]) {
        self.patches.pack_panels(steps, lines, as_words(d))
    }
    fn pack_block(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [P]) -> BlockA<P> {
        let BlockA { strides, .. } = self.patches.pack_block(steps, lines, as_words(d));
        BlockA {
            at: d.as_ptr(),
            strides,
        }
    }
}
