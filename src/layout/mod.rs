//! Where a tensor's elements lie: shape, signed strides and offset, in elements. A view is a new
//! layout of the same storage: every view operation here is a function from a layout to a layout,
//! and touches no data.

use crate::error::{Error, Result};

mod arguments;
mod axes;
#[cfg(feature = "stream")]
mod view_map;
mod views;

pub(crate) use arguments::defaults;
pub use arguments::{Axes, Int, IntoShape, Ints};
pub use axes::broadcast;
pub(crate) use axes::unique_axes;
#[doc(hidden)]
pub use axes::{axis, slice_bounds};
/// The lists of sizes and axes that functions take and return, of the crate `smallvec`.
#[doc(no_inline)]
pub use smallvec::SmallVec;
#[cfg(feature = "stream")]
pub(crate) use view_map::{ViewAxis, ViewMap};
pub(crate) use views::Draft;

/// Sizes of the dimensions; up to six are stored inline.
///
/// ```
/// use flex::layout::{self, Shape};
/// let shape: Shape = layout::broadcast("add", &[&[2, 1], &[3]])?;
/// assert_eq!(shape.as_slice(), [2, 3]);
/// # Ok::<(), flex::Error>(())
/// ```
pub type Shape = SmallVec<[usize; 6]>;
/// Strides of the dimensions, in elements; negative if a dimension is reversed, zero if it is
/// broadcast.
///
/// ```
/// use flex::{Layout, layout::Strides};
/// let strides = Strides::from_slice(Layout::contiguous(&[2, 3])?.strides());
/// assert_eq!(strides.as_slice(), [3, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
pub type Strides = SmallVec<[isize; 6]>;

/// Shape, strides and offset.
///
/// Invariants, checked in the one constructor `Layout::checked` and kept by every method:
/// - LAYOUT1. `strides` has as many entries as `shape`.
/// - LAYOUT2. The product of the sizes that are not zero is at most [`Layout::MAX_LEN`], so that
///   the bytes of that many elements of any dtype fit `isize`; `extent` has the product of all sizes.
/// - LAYOUT3. For every index inside `shape`, the position `offset + sum(index[k] * strides[k])`
///   and all its partial sums are in `0..=Layout::MAX_LEN`.
/// - LAYOUT4. `extent` says whether the elements are adjacent in row-major order (dimensions of
///   size 1 don't count; an empty layout is contiguous).
///
/// ```
/// use flex::Layout;
/// let rows = Layout::contiguous(&[2, 3])?;
/// assert_eq!((rows.shape(), rows.strides(), rows.offset()), (&[2, 3][..], &[3, 1][..], 0));
/// let columns = rows.swap_axes("t", 0, 1)?;
/// assert_eq!((columns.strides(), columns.is_contiguous()), (&[1, 3][..], false));
/// assert_eq!((columns.rank(), columns.len(), columns.is_empty()), (2, 6, false));
/// assert_eq!((columns.span(), columns.is_injective()), (Some((0, 5)), true));
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    strides: Strides,
    offset: usize,
    extent: Extent,
}

/// The number of elements, and whether they are contiguous, in one number: a layout of 128 bytes
/// moves through registers, a longer one by calls of `memcpy`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extent(usize);

impl Extent {
    /// LAYOUT2 leaves room for the flag.
    #[inline(always)]
    const fn new(len: usize, contiguous: bool) -> Extent {
        Extent(len << 1 | contiguous as usize)
    }
    #[inline(always)]
    const fn len(self) -> usize {
        self.0 >> 1
    }
    #[inline(always)]
    const fn is_contiguous(self) -> bool {
        self.0 & 1 == 1
    }
}
impl core::fmt::Debug for Extent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        (self.len(), self.is_contiguous()).fmt(f)
    }
}

impl Clone for Layout {
    #[inline]
    fn clone(&self) -> Layout {
        // from_slice is a memcpy; SmallVec's Clone copies element by element
        Layout {
            shape: Shape::from_slice(&self.shape),
            strides: Strides::from_slice(&self.strides),
            ..*self
        }
    }
}

impl Layout {
    /// The most elements that a layout may have.
    pub const MAX_LEN: usize = isize::MAX as usize / 16;

    /// Row-major, at offset 0. Errors if there are more than [`Layout::MAX_LEN`] elements.
    ///
    /// ```
    /// assert_eq!(flex::Layout::contiguous(&[2, 3, 4])?.strides(), [12, 4, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn contiguous(shape: &[usize]) -> Result<Layout> {
        let len = Layout::count(shape).ok_or_else(|| {
            let elements = shape
                .iter()
                .filter(|d| **d > 0)
                .fold(1u128, |n, d| n.saturating_mul(*d as u128));
            Error::Memory {
                bytes: elements,
                limit: 0,
            }
        })?;
        let mut strides = Strides::from_elem(0, shape.len());
        let mut step = 1isize;
        for k in (0..shape.len()).rev() {
            strides[k] = step;
            step *= shape[k].max(1) as isize; // LAYOUT2
        }
        Ok(Layout {
            shape: Shape::from_slice(shape),
            strides,
            offset: 0,
            extent: Extent::new(len, true),
        })
    }
    /// The layout of an elementwise result of this shape: dense, with the dimensions in the stride
    /// order that all operands of that shape share, so that loops run along memory; row-major if
    /// they differ. Operands that are broadcast are ignored.
    #[doc(hidden)]
    pub fn of_result<'a>(
        shape: &[usize],
        operands: impl Iterator<Item = &'a Layout>,
    ) -> Result<Layout> {
        let mut result = Layout::contiguous(shape)?;
        let mut whole =
            operands.filter(|l| l.shape() == shape && (l.is_contiguous() || l.has_order()));
        let Some(first) = whole.next().filter(|l| !l.is_contiguous()) else {
            return Ok(result);
        };
        let mut order: SmallVec<[usize; 6]> = (0..shape.len()).filter(|k| shape[*k] != 1).collect();
        sort_by_key(&mut order, |k| {
            (first.strides[*k].unsigned_abs(), usize::MAX - k)
        }); // innermost first
        if whole.all(|l| {
            order
                .windows(2)
                .all(|w| l.strides[w[0]].unsigned_abs() <= l.strides[w[1]].unsigned_abs())
        }) {
            let mut step = 1;
            for k in order {
                result.strides[k] = step;
                step *= shape[k] as isize; // LAYOUT2
            }
            result = Layout::normalized(result.shape, result.strides, 0);
        }
        Ok(result)
    }
    /// Whether strides put the dimensions in an order: no two of more than one element have the
    /// same, and none repeats its elements.
    fn has_order(&self) -> bool {
        let stride = |k: usize| self.strides[k].unsigned_abs();
        let moves = |k: &usize| self.shape[*k] != 1;
        (0..self.rank()).filter(moves).all(|j| {
            let mut before = (0..j).filter(moves);
            stride(j) != 0 && before.all(|k| stride(j) != stride(k))
        })
    }
    /// The number of elements; `None` if LAYOUT2 doesn't hold.
    fn count(shape: &[usize]) -> Option<usize> {
        let nonzero = shape.iter().filter(|d| **d > 0).try_fold(1usize, |n, d| {
            n.checked_mul(*d).filter(|n| *n <= Layout::MAX_LEN)
        })?;
        Some(if shape.contains(&0) { 0 } else { nonzero })
    }
    /// The layout of shape `[0]`.
    pub(crate) fn empty() -> Layout {
        Layout {
            shape: Shape::from_slice(&[0]),
            strides: Strides::from_slice(&[1]),
            offset: 0,
            extent: Extent::new(0, true),
        }
    }
    /// Arbitrary strides. Errors if an element would lie before position 0 or beyond
    /// [`Layout::MAX_LEN`].
    ///
    /// ```
    /// use flex::Layout;
    /// let backwards = Layout::new(&[3], &[-1], 2)?;
    /// assert_eq!(backwards.span(), Some((0, 2)));
    /// assert!(Layout::new(&[3], &[-1], 1).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn new(shape: &[usize], strides: &[isize], offset: usize) -> Result<Layout> {
        if shape.len() != strides.len() {
            return Err(Error::shape(
                "strides",
                message!("{} strides for {} dimensions", strides.len(), shape.len()),
            ));
        }
        Layout::checked(
            Shape::from_slice(shape),
            Strides::from_slice(strides),
            offset,
        )
    }
    /// Checks LAYOUT2 and LAYOUT3, derives `len` and LAYOUT4.
    fn checked(shape: Shape, strides: Strides, offset: usize) -> Result<Layout> {
        let outside = || {
            Error::shape(
                "strides",
                message!(
                    "shape {shape:?} with strides {strides:?} from {offset} leaves the address \
                        space"
                ),
            )
        };
        if Layout::count(&shape).ok_or_else(outside)? > 0 {
            let (mut low, mut high) = (offset as i128, offset as i128);
            for (d, s) in shape.iter().zip(&strides) {
                let reach = (*d as i128 - 1) * *s as i128;
                if reach < 0 {
                    low += reach
                } else {
                    high += reach
                }
            }
            if low < 0 || high > Layout::MAX_LEN as i128 {
                return Err(outside());
            }
        }
        Ok(Layout::normalized(shape, strides, offset))
    }
    /// Derives `len` and LAYOUT4 of a layout for which LAYOUT2 and LAYOUT3 hold. Strides and
    /// offsets that reach no element become 0, so that arithmetic with them cannot overflow.
    #[inline]
    fn normalized(shape: Shape, mut strides: Strides, mut offset: usize) -> Layout {
        let (mut len, mut contiguous) = (1, true);
        for (d, s) in shape.iter().zip(strides.iter_mut()).rev() {
            if *d != 1 {
                contiguous &= *s == len as isize;
                len *= *d; // LAYOUT2; stays 0 once it is 0
            } else if s.unsigned_abs() > Layout::MAX_LEN {
                *s = 0;
            }
        }
        if len == 0 {
            offset = 0;
            strides.fill(0);
            contiguous = true;
        }
        Layout {
            shape,
            strides,
            offset,
            extent: Extent::new(len, contiguous),
        }
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
    /// The position of the element of index 0, 0, .., in elements.
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
        self.extent.len()
    }
    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether the elements are adjacent in row-major order (LAYOUT4).
    #[inline(always)]
    pub fn is_contiguous(&self) -> bool {
        self.extent.is_contiguous()
    }
    /// The lowest and the highest position of an element; `None` if there are no elements.
    ///
    /// ```
    /// let l = flex::Layout::new(&[2, 3], &[10, -1], 2)?;
    /// assert_eq!(l.span(), Some((0, 12)));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn span(&self) -> Option<(usize, usize)> {
        if self.is_empty() {
            return None;
        }
        let (mut low, mut high) = (self.offset as isize, self.offset as isize);
        for (d, s) in self.shape.iter().zip(&self.strides) {
            let reach = (*d as isize - 1) * s; // LAYOUT3
            if reach < 0 {
                low += reach
            } else {
                high += reach
            }
        }
        Some((low as usize, high as usize))
    }
    /// Whether no two indices address the same element, as far as nested strides can prove it.
    ///
    /// ```
    /// use flex::Layout;
    /// assert!(Layout::new(&[2, 3], &[1, 2], 0)?.is_injective());
    /// assert!(!Layout::contiguous(&[1])?.broadcast_to("t", &[4])?.is_injective());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn is_injective(&self) -> bool {
        if self.is_contiguous() {
            return true;
        }
        let mut dims: SmallVec<[(usize, usize); 6]> = (0..self.rank())
            .filter(|k| self.shape[*k] != 1)
            .map(|k| (self.strides[k].unsigned_abs(), self.shape[k]))
            .collect();
        sort_by_key(&mut dims, |d| *d);
        let mut reach = 0; // the extent of all smaller strides
        dims.iter().all(|(step, n)| {
            let apart = *step > reach;
            reach += step * (n - 1); // LAYOUT3
            apart
        })
    }
    /// Whether both have the same shape, and every index has the same distance from the first
    /// element.
    #[inline]
    pub(crate) fn is_parallel(&self, other: &Layout) -> bool {
        let same =
            || (0..self.rank()).all(|k| self.strides[k] == other.strides[k] || self.shape[k] == 1);
        self.shape == other.shape && (self.is_contiguous() && other.is_contiguous() || same())
    }
    /// Whether the elements fill a range of memory without gaps, starting at the first, in any
    /// order of dimensions.
    #[inline]
    pub(crate) fn is_dense(&self) -> bool {
        self.is_contiguous()
            || self.is_injective()
                && self.span() == Some((self.offset, self.offset + self.len() - 1))
    }
    /// The same layout at offset 0, for a storage that begins with the first element.
    #[inline]
    pub(crate) fn at_zero(&self) -> Layout {
        debug_assert!(self.is_dense());
        let mut l = self.clone();
        l.offset = 0;
        l
    }
}

/// A stable insertion sort for a few elements: a hundredth of the code of `core`'s.
pub(crate) fn sort_by_key<T, K: Ord>(x: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..x.len() {
        let mut k = end;
        while k > 0 && key(&x[k - 1]) > key(&x[k]) {
            x.swap(k - 1, k);
            k -= 1;
        }
    }
}
