//! What a packed type has to be for the register tile.

use super::job::PanelJob;
use crate::kernel::gemm::blocking::Blocking;
use crate::simd::{self, Isa, Level};

/// A packed type: what panels hold, one lane of a tile, factor and accumulator alike.
///
/// # Safety
/// LANE1: a number without padding of which any bits are a value, so that scratch of the pool holds
/// them; `shape` gives a size that the table of tiles has; `panel` and `tall` stay within the job
/// that they are given.
pub unsafe trait Packed: Copy + Default + Send + Sync + 'static {
    /// `a * b + c`.
    fn mul_add<I: Isa>(a: Self, b: Self, c: Self) -> Self;
    /// The running sums of `L` lanes: those, or parts that are united in the end.
    type Sums<const L: usize>: Copy;
    /// Sums that begin with `c`.
    fn begin<const L: usize>(c: [Self; L]) -> Self::Sums<L>;
    /// The sums.
    fn end<const L: usize>(c: Self::Sums<L>) -> [Self; L];
    /// `a * b + c`, lane by lane.
    fn mul_add_lanes<I: Isa, const L: usize>(
        a: [Self; L],
        b: [Self; L],
        c: Self::Sums<L>,
    ) -> Self::Sums<L>;
    /// The same by one `a`.
    fn axpy<I: Isa, const L: usize>(a: Self, x: [Self; L], y: Self::Sums<L>) -> Self::Sums<L>;
    /// `a * b`.
    fn mul(a: Self, b: Self) -> Self;
    /// `a + b`.
    fn add(a: Self, b: Self) -> Self;
    /// These as floats, where they are.
    #[inline(always)]
    fn as_floats(_: &mut [Self]) -> Option<&mut [f32]> {
        None
    }
    /// Lanes of a vector, and vectors of the widest tile.
    fn shape(level: Level) -> (usize, usize);
    /// All micropanels times a panel.
    ///
    /// # Safety
    /// TILE1, see [`PanelJob`].
    unsafe fn panel<I: Isa>(job: PanelJob<Self>);
    /// Whether there are tall tiles.
    const TALL: bool = false;
    /// All rows times a panel, as one tile.
    ///
    /// # Safety
    /// TILE1, see [`PanelJob`], of a tall job.
    unsafe fn tall<I: Isa>(_job: PanelJob<Self>) {
        unreachable!("a tall job of a type without tall tiles")
    }
    /// Whether the K-loop is unrolled: where multiply-adds are short, and LLVM keeps all sums of the
    /// unrolled loop in registers, which it does not for 32-bit products and sums.
    const UNROLLED: bool = false;
    /// The sizes of its blocks.
    const BLOCKING: Blocking = Blocking::numbers::<Self>();
}

/// The width of the panel that begins where `left` columns are left: of 1, 2 or the widest tile's
/// vectors. Returns the vectors.
pub fn vectors(left: usize, lanes: usize, widest: usize) -> usize {
    if left > (widest - 1) * lanes {
        widest
    } else if left > lanes {
        2
    } else {
        1
    }
}

/// The width of the panel that begins where `left` columns are left.
pub fn panel_width<T: Packed>(left: usize) -> usize {
    let (lanes, widest) = T::shape(simd::level());
    vectors(left, lanes, widest) * lanes
}
/// The width of all panels of so many columns.
pub fn padded_width<T: Packed>(cols: usize) -> usize {
    cols.next_multiple_of(T::shape(simd::level()).0)
}
/// The width of the widest panel.
pub fn widest_panel<T: Packed>() -> usize {
    let (lanes, widest) = T::shape(simd::level());
    lanes * widest
}
