//! The ends of a reduction: one or several accumulators, which take the same elements, or each an
//! output of a program.

use super::Fold;
use super::erased::Erased;
use crate::exec::lines::aligned;
use crate::exec::view::ViewMut;
use crate::storage::ALIGN;

/// A fold of any types, for code that is compiled once.
#[derive(Clone, Copy)]
pub struct FoldRef<'a>(&'a dyn Erased);

impl<'a, F: Fold> From<&'a F> for FoldRef<'a> {
    fn from(fold: &'a F) -> FoldRef<'a> {
        const {
            aligned::<F::In>();
            aligned::<F::Out>()
        };
        FoldRef(fold)
    }
}

/// One end of a reduction: the fold that accumulates, and where its results go.
pub struct End<'a> {
    pub(super) fold: &'a dyn Erased,
    pub(super) out: ViewMut<'a>,
}

impl<'a> End<'a> {
    /// Results go to `out`, which is contiguous and has the elements of the kept axes.
    pub fn new(fold: impl Into<FoldRef<'a>>, out: ViewMut<'a>) -> End<'a> {
        let FoldRef(fold) = fold.into();
        assert!(out.size() == fold.sizes().out);
        End { fold, out }
    }
}

/// The accumulators of a tile's columns, one fold after the other.
#[derive(Clone, Copy)]
pub(super) struct ColumnAccumulators {
    /// Accumulators per fold.
    pub columns: usize,
}

impl ColumnAccumulators {
    /// Bytes of one fold's accumulators.
    fn bytes(self, fold: &dyn Erased) -> usize {
        (self.columns * fold.sizes().acc).next_multiple_of(ALIGN)
    }
    /// Bytes of all accumulators.
    pub fn size(self, folds: &[&dyn Erased]) -> usize {
        folds.iter().map(|f| self.bytes(*f)).sum()
    }
    /// Each fold, and the index of its accumulators in a strip.
    pub fn each<'a>(
        self,
        folds: &'a [&'a dyn Erased],
        strip: *mut u8,
    ) -> impl Iterator<Item = (&'a dyn Erased, *mut u8)> {
        folds.iter().scan(strip, move |at, fold| {
            let here = *at;
            *at = here.wrapping_add(self.bytes(*fold));
            Some((*fold, here))
        })
    }
}
