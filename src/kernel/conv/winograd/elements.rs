//! The transform of a row of tiles, for a group of channels.

use super::lanes::{IN, OUT, elements_of};
use crate::kernel::conv::planes::{ChannelLanes, LANES};
use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::simd::{Isa, Kernel};
use core::ops::Range;

/// `B^T d B` of a row of adjacent tiles, for as many channels as lanes.
pub struct TransformElements<'a, T: MatElement> {
    /// Channels of a plane, and its rows and columns.
    pub lanes: ChannelLanes<'a, T>,
    pub size: [usize; 2],
    /// The window of the tiles, which may extend beyond the plane.
    pub rows: Range<isize>,
    pub cols: Range<isize>,
    /// Scratch for two such windows.
    pub lines: &'a mut [T::Acc],
    /// Contract ELEMENTS1: the lanes of each product are at `product * step + tile * line`, for all
    /// tiles of the window, writable by this call alone.
    pub d: *mut T::Acc,
    pub step: usize,
    pub line: usize,
}
impl<T: MatElement<Acc: Real>> Kernel for TransformElements<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        by_lanes!(self.by, I, T::Acc)
    }
}
impl<T: MatElement<Acc: Real>> TransformElements<'_, T> {
    /// `L` lanes at a time, which fit in registers.
    #[inline(always)]
    fn by<I: Isa, const L: usize>(self) {
        let columns = (self.cols.end - self.cols.start) as usize;
        let tiles = (columns - (IN - OUT)) / OUT;
        let lines = self.lines.as_chunks_mut::<LANES>().0;
        let (from, down) = lines[..2 * IN * columns].split_at_mut(IN * columns);
        (self.lanes).window::<I>(self.size, self.rows, self.cols, from);
        let (from, down) = (from.as_flattened(), down.as_flattened_mut());
        let at = |row: usize, column: usize, lane: usize| (row * columns + column) * LANES + lane;
        for (x, lane) in (0..columns).flat_map(|x| (0..LANES).step_by(L).map(move |l| (x, l))) {
            let mut d = [[T::Acc::ZERO; L]; IN];
            for (i, d) in d.iter_mut().enumerate() {
                d.copy_from_slice(&from[at(i, x, lane)..][..L]);
            }
            for (i, t) in elements_of::<I, T::Acc, L>(&d).iter().enumerate() {
                down[at(i, x, lane)..][..L].copy_from_slice(t);
            }
        }
        for (t, i) in (0..tiles).flat_map(|t| (0..IN).map(move |i| (t, i))) {
            for lane in (0..LANES).step_by(L) {
                let mut d = [[T::Acc::ZERO; L]; IN];
                for (j, d) in d.iter_mut().enumerate() {
                    d.copy_from_slice(&down[at(i, OUT * t + j, lane)..][..L]);
                }
                for (j, x) in elements_of::<I, T::Acc, L>(&d).iter().enumerate() {
                    let at = (i * IN + j) * self.step + t * self.line + lane;
                    // SAFETY: ELEMENTS1: lanes of a tile.
                    unsafe { *(self.d.wrapping_add(at) as *mut [T::Acc; L]) = *x };
                }
            }
        }
    }
}
