//! What the register tile requires of a packed type.

use super::job::PanelJob;
use crate::kernel::gemm::blocking::Blocking;
use crate::kernel::gemm::element::MatElement;
use crate::kernel::gemm::gemv::FewRows;
use crate::simd::{self, Isa, Level};

/// A packed type: what panels hold, and a lane of a tile, for factors and accumulators alike.
///
/// # Safety
/// LANE1: a number without padding for which any bits are a value, so that scratch from the pool
/// can hold it; `shape` returns a size in the table of tiles; `panel` and `tall` stay within the
/// job they are given.
pub unsafe trait Packed: Copy + Default + Send + Sync + 'static {
    /// `a * b + c`.
    fn mul_add<I: Isa>(a: Self, b: Self, c: Self) -> Self;
    /// The running sums of `L` lanes: the lanes themselves, or parts that are combined at the end.
    type Sums<const L: usize>: Copy;
    /// Running sums that start from `c`.
    fn begin<const L: usize>(c: [Self; L]) -> Self::Sums<L>;
    /// The final sums.
    fn end<const L: usize>(c: Self::Sums<L>) -> [Self; L];
    /// `a * b + c`, lane by lane.
    fn mul_add_lanes<I: Isa, const L: usize>(
        a: [Self; L],
        b: [Self; L],
        c: Self::Sums<L>,
    ) -> Self::Sums<L>;
    /// The same with one `a` for all lanes.
    fn axpy<I: Isa, const L: usize>(a: Self, x: [Self; L], y: Self::Sums<L>) -> Self::Sums<L>;
    /// `a * b`.
    fn mul(a: Self, b: Self) -> Self;
    /// `a + b`.
    fn add(a: Self, b: Self) -> Self;
    /// These as floats, if they are `f32`.
    #[inline(always)]
    fn as_floats(_: &mut [Self]) -> Option<&mut [f32]> {
        None
    }
    /// Whether it is float32 or float64, for which `gemv` has vectors.
    const IS_FLOAT: bool = false;
    /// Adds dot products, by these.
    #[inline(always)]
    fn float_columns<I: Isa, T: MatElement<Acc = Self>>(_: FewRows<T>) {}
    /// Adds multiples of short rows, by these.
    #[inline(always)]
    fn float_rows<I: Isa, T: MatElement<Acc = Self>>(_: FewRows<T>) {}
    /// Lanes per vector, and vectors of the widest tile.
    fn shape(level: Level) -> (usize, usize);
    /// Multiplies all micropanels by a panel.
    ///
    /// # Safety
    /// TILE1, see [`PanelJob`].
    unsafe fn panel<I: Isa>(job: PanelJob<Self>);
    /// Whether AMX's tile registers multiply it: packed blocks of A are then rows, not micropanels.
    #[inline]
    fn is_tiled() -> bool {
        false
    }
    /// Whether there are tall tiles.
    const TALL: bool = false;
    /// Multiplies all rows by a panel, as one tile.
    ///
    /// # Safety
    /// TILE1, see [`PanelJob`], of a tall job.
    unsafe fn tall<I: Isa>(_job: PanelJob<Self>) {
        unreachable!("a tall job of a type without tall tiles")
    }
    /// Whether the K-loop is unrolled: for types whose multiply-adds are short, and for which LLVM
    /// keeps all sums of the unrolled loop in registers, which it does not for 32-bit integers.
    const UNROLLED: bool = false;
    /// Whether a pass of that loop is a loop of single steps: LLVM adds up the products of several
    /// steps before it adds them to the sums where these are integers, for which there are too few
    /// registers.
    const STEP_BY_STEP: bool = false;
    /// Whether a tile's sums can be changed while registers hold them
    /// ([`TileEnd`](super::job::TileEnd)).
    const ENDS: bool = false;
    /// `max(a, 0)`, for types of which that is so; NaN remains.
    #[inline(always)]
    fn relu<I: Isa>(a: Self) -> Self {
        a
    }
    /// `c + x` for these.
    #[inline(always)]
    fn plus<I: Isa, const L: usize>(_x: [Self; L], c: Self::Sums<L>) -> Self::Sums<L> {
        c
    }
    /// `max(c + x, 0)` for these.
    #[inline(always)]
    fn plus_rectified<I: Isa, const L: usize>(_x: [Self; L], c: Self::Sums<L>) -> Self::Sums<L> {
        c
    }
    /// Its block sizes.
    const BLOCKING: Blocking = Blocking::scalars::<Self>();
}

/// The vectors of the panel that begins where `left` columns are left: 1, 2 or those of the widest
/// tile.
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
/// The width of all panels of `cols` columns.
pub fn padded_width<T: Packed>(cols: usize) -> usize {
    cols.next_multiple_of(T::shape(simd::level()).0)
}
/// The width of the widest panel.
pub fn widest_panel<T: Packed>() -> usize {
    let (lanes, widest) = T::shape(simd::level());
    lanes * widest
}
