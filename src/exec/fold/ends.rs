//! What a reduction ends in: accumulators, one or several, that take the same elements or an output
//! of a program each.

use super::Fold;
use super::erased::Erased;
use crate::exec::lines::aligned;
use crate::exec::view::ViewMut;
use crate::storage::ALIGN;

/// An accumulator of a reduction: the fold that joins what it is given, and where its results go.
pub struct End<'a> {
    pub(super) fold: &'a dyn Erased,
    pub(super) out: ViewMut<'a>,
}

impl<'a> End<'a> {
    /// Results go to `out`: contiguous, its elements those of the axes that are kept.
    pub fn new<F: Fold>(fold: &'a F, out: ViewMut<'a>) -> End<'a> {
        const {
            aligned::<F::In>();
            aligned::<F::Out>()
        };
        assert!(out.size() == size_of::<F::Out>());
        End { fold, out }
    }
}

/// The accumulators of a tile's columns: those of the first fold, those of the second, ..
#[derive(Clone, Copy)]
pub(super) struct Strip {
    /// Accumulators of a fold.
    pub columns: usize,
}

impl Strip {
    /// Bytes of those of one fold.
    fn bytes(self, end: &End) -> usize {
        (self.columns * end.fold.sizes().acc).next_multiple_of(ALIGN)
    }
    /// Bytes of all.
    pub fn size(self, ends: &[End]) -> usize {
        ends.iter().map(|e| self.bytes(e)).sum()
    }
    /// Each fold, and where its accumulators begin in a strip.
    pub fn each<'a>(
        self,
        ends: &'a [End<'a>],
        strip: *mut u8,
    ) -> impl Iterator<Item = (&'a dyn Erased, *mut u8)> {
        ends.iter().scan(strip, move |at, end| {
            let here = *at;
            *at = here.wrapping_add(self.bytes(end));
            Some((end.fold, here))
        })
    }
}
