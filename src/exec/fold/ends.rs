//! The ends of a reduction: one or several accumulators, which take the same elements, or each an
//! output of a program.

use super::Fold;
use super::erased::Erased;
use crate::exec::lines::aligned;
use crate::exec::view::ViewMut;
use crate::storage::ALIGN;

/// One end of a reduction: the fold that accumulates, and where its results go.
pub struct End<'a> {
    pub(super) fold: &'a dyn Erased,
    pub(super) out: ViewMut<'a>,
}

impl<'a> End<'a> {
    /// Results go to `out`, which is contiguous and has the elements of the kept axes.
    pub fn new<F: Fold>(fold: &'a F, out: ViewMut<'a>) -> End<'a> {
        const {
            aligned::<F::In>();
            aligned::<F::Out>()
        };
        assert!(out.size() == size_of::<F::Out>());
        End { fold, out }
    }
}

/// The accumulators of a tile's columns, one fold after the other.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    /// Accumulators per fold.
    pub columns: usize,
}

impl Strip {
    /// Bytes of one fold's accumulators.
    fn bytes(self, end: &End) -> usize {
        (self.columns * end.fold.sizes().acc).next_multiple_of(ALIGN)
    }
    /// Bytes of all accumulators.
    pub fn size(self, ends: &[End]) -> usize {
        ends.iter().map(|e| self.bytes(e)).sum()
    }
    /// Each fold, and the place of its accumulators in a strip.
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
