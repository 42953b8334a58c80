//! Where a tensor's elements lie: shape, signed strides and offset, in elements. A view is a new layout of the same storage:
//! every view operation here is a function from a layout to a layout, and touches no data.

use crate::error::{Error, Result};
use alloc::format;
use smallvec::SmallVec;

mod axes;
mod views;

pub use axes::{axis, broadcast, slice_bounds, unique_axes};

/// Sizes of dimensions; up to six lie inline.
pub type Shape = SmallVec<[usize; 6]>;
/// Steps of dimensions, in elements; negative where a dimension runs backwards, zero where it repeats.
pub type Strides = SmallVec<[isize; 6]>;

/// Shape, strides and offset.
///
/// Invariants, checked in the one constructor `Layout::checked` and kept by every method:
/// - L1. `strides` has as many entries as `shape`.
/// - L2. The product of the sizes that are not zero fits `isize`; `len` is the product of all.
/// - L3. For every index inside `shape`, the position `offset + sum(index[k] * strides[k])` and all its partial sums are
///   in `0..=isize::MAX`.
/// - L4. `contiguous` says whether the elements lie one after the other in row-major order (dimensions of size 1 don't
///   count; an empty layout is contiguous).
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    strides: Strides,
    offset: usize,
    len: usize,
    contiguous: bool,
}

impl Clone for Layout {
    #[inline]
    fn clone(&self) -> Layout {
        // from_slice copies memory; SmallVec's Clone goes element by element
        Layout { shape: Shape::from_slice(&self.shape), strides: Strides::from_slice(&self.strides), ..*self }
    }
}

impl Layout {
    /// Row-major, from offset 0. Errors where the number of elements overflows.
    pub fn contiguous(shape: &[usize]) -> Result<Layout> {
        let overflow = || Error::Memory { bytes: shape.iter().fold(1u128, |n, d| n.saturating_mul(*d as u128)), limit: 0 };
        let mut strides = Strides::from_elem(0, shape.len());
        let (mut step, mut len) = (1isize, 1usize);
        for k in (0..shape.len()).rev() {
            strides[k] = step;
            step = isize::try_from(shape[k].max(1)).ok().and_then(|d| step.checked_mul(d)).ok_or_else(overflow)?;
            len *= shape[k]; // L2: at most `step`, or zero
        }
        Ok(Layout { shape: Shape::from_slice(shape), strides, offset: 0, len, contiguous: true })
    }
    /// Shape `[0]`.
    pub(crate) fn empty() -> Layout {
        Layout { shape: Shape::from_slice(&[0]), strides: Strides::from_slice(&[1]), offset: 0, len: 0, contiguous: true }
    }
    /// Any strides. Errors where an element would lie before position 0 or beyond `isize::MAX`.
    pub fn new(shape: &[usize], strides: &[isize], offset: usize) -> Result<Layout> {
        if shape.len() != strides.len() {
            return Err(Error::shape("strides", format!("{} strides for {} dimensions", strides.len(), shape.len())));
        }
        Layout::checked(Shape::from_slice(shape), Strides::from_slice(strides), offset)
    }
    /// Checks L2 and L3, derives `len` and L4.
    fn checked(shape: Shape, strides: Strides, offset: usize) -> Result<Layout> {
        let outside =
            || Error::shape("strides", format!("shape {shape:?} with strides {strides:?} from {offset} leaves the address space"));
        let mut len = 1usize;
        let (mut nonzero, mut low, mut high) = (1isize, offset as i128, offset as i128);
        for (d, s) in shape.iter().zip(&strides) {
            nonzero = isize::try_from((*d).max(1)).ok().and_then(|d| nonzero.checked_mul(d)).ok_or_else(outside)?;
            len *= d;
            let reach = (*d as i128 - 1).max(0) * *s as i128;
            if reach < 0 { low += reach } else { high += reach }
        }
        if len > 0 && (low < 0 || high > isize::MAX as i128) || offset > isize::MAX as usize {
            return Err(outside());
        }
        let contiguous = len == 0 || row_major(&shape, &strides);
        Ok(Layout { shape, strides, offset, len, contiguous })
    }
    /// A layout of elements of this one: L3 follows from L3 of `self`.
    fn derived(shape: Shape, strides: Strides, offset: usize) -> Layout {
        let len = shape.iter().product();
        let contiguous = len == 0 || row_major(&shape, &strides);
        Layout { shape, strides, offset, len, contiguous }
    }

    /// The sizes.
    #[inline(always)]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
    /// The strides, in elements.
    #[inline(always)]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }
    /// Position of the first element.
    #[inline(always)]
    pub fn offset(&self) -> usize {
        self.offset
    }
    /// Number of dimensions.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// L4: whether the elements lie one after the other.
    #[inline(always)]
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }
    /// The lowest and the highest position of an element; none where there is no element.
    pub fn span(&self) -> Option<(usize, usize)> {
        if self.len == 0 {
            return None;
        }
        let (mut low, mut high) = (self.offset as isize, self.offset as isize);
        for (d, s) in self.shape.iter().zip(&self.strides) {
            let reach = (*d as isize - 1) * s; // L3
            if reach < 0 { low += reach } else { high += reach }
        }
        Some((low as usize, high as usize))
    }
    /// Whether no two indices share an element, as far as nested strides show it.
    pub fn is_injective(&self) -> bool {
        if self.contiguous {
            return true;
        }
        let mut dims: SmallVec<[(usize, usize); 6]> =
            (0..self.rank()).filter(|k| self.shape[*k] != 1).map(|k| (self.strides[k].unsigned_abs(), self.shape[k])).collect();
        dims.sort_unstable();
        let mut reach = 0; // of the smaller strides together
        dims.iter().all(|(step, n)| {
            let apart = *step > reach;
            reach += step * (n - 1); // L3
            apart
        })
    }
    /// The same elements counted from 0, for a storage that begins with the first.
    #[inline]
    pub(crate) fn at_zero(&self) -> Layout {
        debug_assert!(self.contiguous);
        let mut l = self.clone();
        l.offset = 0;
        l
    }
}

fn row_major(shape: &[usize], strides: &[isize]) -> bool {
    let mut step = 1isize;
    for k in (0..shape.len()).rev() {
        if shape[k] != 1 {
            if strides[k] != step {
                return false;
            }
            step *= shape[k] as isize;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(l: &Layout) -> alloc::vec::Vec<usize> {
        let mut out = alloc::vec::Vec::new();
        for n in 0..l.len() {
            let (mut n, mut p) = (n, l.offset() as isize);
            for k in (0..l.rank()).rev() {
                p += (n % l.shape()[k]) as isize * l.strides()[k];
                n /= l.shape()[k];
            }
            out.push(p as usize);
        }
        out
    }

    #[test]
    fn reshape_keeps_the_order_or_declines() {
        let base = Layout::contiguous(&[2, 3, 4]).unwrap();
        let views = [
            base.clone(),
            base.swap_axes("t", 0, 1).unwrap(),
            base.swap_axes("t", 1, 2).unwrap(),
            base.flip("t", &[0, 1, 2]).unwrap(),
            base.flip("t", &[2]).unwrap(),
            base.narrow("t", 1, 0, 2).unwrap(),
            base.expand_dims("t", &[1, -1]).unwrap(),
            Layout::contiguous(&[3, 1]).unwrap().broadcast_to("t", &[2, 3, 4]).unwrap(),
        ];
        let mut viewed = 0;
        for v in &views {
            let n = v.len();
            for shape in
                [&[n][..], &[2, n / 2], &[n / 2, 2], &[n / 4, 4], &[2, n / 4, 2], &[1, n, 1], &[4, n / 4], &[n / 8, 2, 4], &[2, 1, n / 2]]
            {
                if shape.iter().product::<usize>() != n {
                    continue;
                }
                if let Some(r) = v.reshape(shape) {
                    assert_eq!(positions(&r), positions(v), "{v:?} {shape:?}");
                    assert_eq!(r.shape(), shape);
                    viewed += 1;
                }
            }
        }
        assert!(viewed > 20);
        // what can be a view is one
        assert!(views[3].reshape(&[24]).is_some());
        assert!(views[4].reshape(&[6, 2, 2]).is_some());
        assert!(views[1].reshape(&[24]).is_none());
    }

    #[test]
    fn layouts_that_leave_memory_are_refused() {
        assert!(Layout::new(&[3], &[-1], 1).is_err());
        assert!(Layout::new(&[3], &[-1], 2).is_ok());
        assert!(Layout::new(&[usize::MAX, 2], &[0, 0], 0).is_err());
        assert!(Layout::contiguous(&[1 << 40, 1 << 40]).is_err());
        assert!(Layout::contiguous(&[0, 1 << 40, 1 << 40]).is_err());
        assert!(Layout::new(&[2, 2], &[isize::MAX, isize::MAX], 0).is_err());
    }
}
