//! Views: each is a function from a layout to a layout of all or some of its elements.

use super::axes::{axis, unique_axes};
use super::{Layout, Shape, Strides};
use crate::error::{Error, Result};
use smallvec::SmallVec;

impl Layout {
    /// Dimension `k` of the result is dimension `axes[k]`; each occurs once.
    ///
    /// Errors, with the name `op`, unless each axis occurs once; a negative one counts from the end.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[2, 3, 4])?.permute("t", &[2, 0, -2])?;
    /// assert_eq!((l.shape(), l.strides()), (&[4, 2, 3][..], &[1, 12, 4][..]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn permute(&self, op: &'static str, axes: &[isize]) -> Result<Layout> {
        if axes.len() != self.rank() {
            return Err(Error::shape(
                op,
                message!("{} axes for {} dimensions", axes.len(), self.rank()),
            ));
        }
        let (axes, mut draft) = (unique_axes(op, axes, self.rank())?, self.draft());
        for (to, from) in axes.iter().enumerate() {
            (draft.shape[to], draft.strides[to]) = (self.shape[*from], self.strides[*from]);
        }
        Ok(draft.finish())
    }
    /// Swaps two dimensions.
    /// Errors if one is out of range.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[2, 3, 4])?.swap_axes("t", 0, -1)?;
    /// assert_eq!(l.shape(), [4, 3, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn swap_axes(&self, op: &'static str, a: isize, b: isize) -> Result<Layout> {
        let (a, b) = (axis(op, a, self.rank())?, axis(op, b, self.rank())?);
        let mut draft = self.draft();
        draft.shape.swap(a, b);
        draft.strides.swap(a, b);
        Ok(draft.finish())
    }
    /// Moves the dimensions `source` to the positions `destination`; the others keep their order.
    ///
    /// Errors if the lists differ in length, or an axis is out of range or repeated.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[2, 3, 4])?.move_axes("t", &[0], &[-1])?;
    /// assert_eq!(l.shape(), [3, 4, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn move_axes(
        &self,
        op: &'static str,
        source: &[isize],
        destination: &[isize],
    ) -> Result<Layout> {
        if source.len() != destination.len() {
            return Err(Error::shape(
                op,
                message!(
                    "{} source axes but {} destinations",
                    source.len(),
                    destination.len()
                ),
            ));
        }
        let from = unique_axes(op, source, self.rank())?;
        let to = unique_axes(op, destination, self.rank())?;
        let mut rest = (0..self.rank()).filter(|k| !from.contains(k));
        let order: SmallVec<[isize; 6]> = (0..self.rank())
            .map(|k| match to.iter().position(|t| *t == k) {
                Some(i) => from[i] as isize,
                None => rest.next().unwrap_or(0) as isize,
            })
            .collect();
        self.permute(op, &order)
    }
    /// Elements `start, start + step, ..` of dimension `axis`, `count` of them.
    ///
    /// # Panics
    /// If there is no such dimension, an element lies outside it, or `step` is 0 for more than one
    /// element.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[6])?.slice(0, 5, -2, 3);
    /// assert_eq!((l.shape(), l.strides(), l.offset()), (&[3][..], &[-2][..], 5));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn slice(&self, axis: usize, start: usize, step: isize, count: usize) -> Layout {
        let mut draft = self.draft();
        draft.slice(axis, start, step, count);
        draft.finish()
    }
    /// `length` elements of a dimension from `start`. Errors if that range exceeds it.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[4, 3])?.narrow("t", 0, 1, 2)?;
    /// assert_eq!((l.shape(), l.offset()), (&[2, 3][..], 3));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn narrow(
        &self,
        op: &'static str,
        ax: isize,
        start: usize,
        length: usize,
    ) -> Result<Layout> {
        let k = axis(op, ax, self.rank())?;
        match start.checked_add(length) {
            Some(end) if end <= self.shape[k] => Ok(self.slice(k, start, 1, length)),
            _ => Err(Error::shape(
                op,
                message!(
                    "{length} elements from {start} exceed axis {k} of size {}",
                    self.shape[k]
                ),
            )),
        }
    }
    /// Selects index `index` of a dimension (negative counts from the end) and removes the
    /// dimension.
    /// Errors if the index is out of range.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[4, 3])?.index("t", 0, -1)?;
    /// assert_eq!((l.shape(), l.offset()), (&[3][..], 9));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn index(&self, op: &'static str, axis: usize, index: i64) -> Result<Layout> {
        let mut draft = self.draft();
        draft.index(op, axis, index)?;
        Ok(draft.finish())
    }
    /// Selects the elements at these positions along the first dimensions, and removes those; `None`
    /// if there are more positions than dimensions, or one is out of range.
    #[cfg(feature = "bindings")]
    pub(crate) fn at(&self, positions: &[i64]) -> Option<Layout> {
        let (sizes, strides) = (self.shape.get(positions.len()..)?, &self.strides);
        let mut offset = self.offset;
        for (i, (size, stride)) in positions.iter().zip(self.shape.iter().zip(strides)) {
            let size = *size as i64;
            let i = if *i < 0 { i + size } else { *i };
            if !(0..size).contains(&i) {
                return None;
            }
            offset = offset.wrapping_add_signed((i as isize).wrapping_mul(*stride));
        }
        let strides = Strides::from_slice(&strides[positions.len()..]);
        Some(Layout::normalized(
            Shape::from_slice(sizes),
            strides,
            offset,
        ))
    }
    /// Reverses the dimensions.
    /// Errors if an axis is out of range or repeated.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[4, 3])?.flip("t", &[1])?;
    /// assert_eq!((l.strides(), l.offset()), (&[3, -1][..], 2));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn flip(&self, op: &'static str, axes: &[isize]) -> Result<Layout> {
        let mut draft = self.draft();
        for k in unique_axes(op, axes, self.rank())? {
            if self.shape[k] > 0 {
                draft.slice(k, self.shape[k] - 1, -1, self.shape[k]);
            }
        }
        Ok(draft.finish())
    }
    /// Broadcasts to `shape`: dimensions of size 1, and new ones in front, are repeated.
    /// Errors if another size differs.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[3, 1])?.broadcast_to("t", &[2, 3, 4])?;
    /// assert_eq!(l.strides(), [0, 1, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn broadcast_to(&self, op: &'static str, shape: &[usize]) -> Result<Layout> {
        let fail = || {
            Error::shape(
                op,
                message!("shape {:?} does not broadcast to {shape:?}", self.shape()),
            )
        };
        let lead = shape.len().checked_sub(self.rank()).ok_or_else(fail)?;
        let mut strides = Strides::from_elem(0, shape.len());
        for k in 0..self.rank() {
            match self.shape[k] {
                n if n == shape[lead + k] => strides[lead + k] = self.strides[k],
                1 => {}
                _ => return Err(fail()),
            }
        }
        Layout::checked(Shape::from_slice(shape), strides, self.offset)
    }
    /// Removes the dimensions `axes`, each of size 1, or all dimensions of size 1.
    ///
    /// Errors if an axis has another size, is out of range or repeated.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[1, 3, 1])?;
    /// assert_eq!(l.squeeze("t", None)?.shape(), [3]);
    /// assert_eq!(l.squeeze("t", Some(&[0]))?.shape(), [3, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn squeeze(&self, op: &'static str, axes: Option<&[isize]>) -> Result<Layout> {
        let gone: SmallVec<[usize; 6]> = match axes {
            Some(a) => unique_axes(op, a, self.rank())?,
            None => (0..self.rank()).filter(|k| self.shape[*k] == 1).collect(),
        };
        if let Some(k) = gone.iter().find(|k| self.shape[**k] != 1) {
            return Err(Error::shape(
                op,
                message!(
                    "axis {k} has size {}, not 1 (shape {:?})",
                    self.shape[*k],
                    self.shape()
                ),
            ));
        }
        let mut draft = self.draft();
        for k in (0..self.rank()).rev().filter(|k| gone.contains(k)) {
            draft.remove(k);
        }
        Ok(draft.finish())
    }
    /// Inserts dimensions of size 1, at the positions `axes` of the result.
    /// Errors if a position is out of range or repeated.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[3, 4])?.expand_dims("t", &[0, -1])?;
    /// assert_eq!(l.shape(), [1, 3, 4, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn expand_dims(&self, op: &'static str, axes: &[isize]) -> Result<Layout> {
        let rank = self.rank() + axes.len();
        let mut positions = unique_axes(op, axes, rank)?;
        super::sort_by_key(&mut positions, |k| *k);
        let mut draft = self.draft();
        positions.into_iter().for_each(|k| draft.insert(k));
        Ok(draft.finish())
    }
    /// The same elements in row-major order under another shape, if the strides allow it without a
    /// copy; `shape` has as many elements.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[2, 6])?;
    /// assert_eq!(l.reshape(&[3, 4]).unwrap().strides(), [4, 1]);
    /// assert!(l.swap_axes("t", 0, 1)?.reshape(&[12]).is_none());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn reshape(&self, shape: &[usize]) -> Option<Layout> {
        debug_assert_eq!(shape.iter().product::<usize>(), self.len());
        if self.is_contiguous() {
            return Some(Layout {
                offset: self.offset,
                ..Layout::contiguous(shape).ok()?
            });
        }
        // runs of old dimensions that one stride covers, matched with runs of new ones of the same
        // product
        let old: SmallVec<[(usize, isize); 6]> = (0..self.rank())
            .filter(|k| self.shape[*k] != 1)
            .map(|k| (self.shape[k], self.strides[k]))
            .collect();
        let mut strides = Strides::from_elem(1, shape.len());
        let (mut i, mut j) = (0, 0);
        while i < old.len() {
            let (start, mut have, mut want) = (j, old[i].0, 1);
            let first = i;
            while j < shape.len() && want < have || want != have {
                if want < have {
                    want *= *shape.get(j)?;
                    j += 1;
                } else {
                    i += 1;
                    have *= old.get(i)?.0;
                }
            }
            if (first..i).any(|k| old[k].1 != old[k + 1].1 * old[k + 1].0 as isize) {
                return None;
            }
            let mut step = old[i].1;
            for k in (start..j).rev() {
                strides[k] = step;
                step = step.checked_mul(shape[k] as isize)?;
            }
            i += 1;
        }
        Some(Layout::normalized(
            Shape::from_slice(shape),
            strides,
            self.offset,
        ))
    }
    /// Sliding windows of `size` elements along a dimension, `step` apart; the window is a new last
    /// dimension.
    ///
    /// Errors if there is no such dimension, `size` is 0 or larger than it, or `step` is 0.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[5])?.unfold("t", 0, 3, 2)?;
    /// assert_eq!((l.shape(), l.strides()), (&[2, 3][..], &[2, 1][..]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn unfold(&self, op: &'static str, ax: isize, size: usize, step: usize) -> Result<Layout> {
        let k = axis(op, ax, self.rank())?;
        if size == 0 || size > self.shape[k] {
            return Err(Error::shape(
                op,
                message!(
                    "size {size} is not from 1 to {} (axis {k} of shape {:?})",
                    self.shape[k],
                    self.shape()
                ),
            ));
        }
        if step == 0 {
            return Err(Error::value(op, "step is 0; it must be at least 1"));
        }
        let Draft {
            mut shape,
            mut strides,
            ..
        } = self.draft();
        shape[k] = (shape[k] - size) / step + 1;
        shape.push(size);
        strides.push(strides[k]);
        strides[k] = if shape[k] > 1 {
            strides[k] * step as isize
        } else {
            strides[k]
        };
        Layout::checked(shape, strides, self.offset)
    }
    /// Diagonal `k` of the matrices in the last two dimensions, in place of both; above the main
    /// diagonal if positive, and empty if it lies outside the matrix. `None` for fewer dimensions.
    ///
    /// ```
    /// let l = flex::Layout::contiguous(&[2, 3])?.diagonal(1).unwrap();
    /// assert_eq!((l.shape(), l.strides(), l.offset()), (&[2][..], &[4][..], 1));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn diagonal(&self, k: i64) -> Option<Layout> {
        let [.., rows, columns] = *self.shape() else {
            return None;
        };
        let away = usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX);
        let (down, right) = if k < 0 { (away, 0) } else { (0, away) };
        let count = (rows.saturating_sub(down)).min(columns.saturating_sub(right));
        let (mut draft, axis) = (self.draft(), self.rank() - 2);
        draft.slice(axis, down, 1, count);
        draft.slice(axis + 1, right, 1, count);
        draft.strides[axis] = draft.strides[axis].wrapping_add(draft.strides[axis + 1]);
        draft.remove(axis + 1);
        Some(draft.finish())
    }
}

/// A builder of views: dimensions are sliced, removed and inserted one after the other, and what
/// follows from them (length, contiguity) is computed once, at the end. All its elements are
/// elements of the layout that it was made from.
pub(crate) struct Draft {
    shape: Shape,
    strides: Strides,
    offset: usize,
}

impl Layout {
    /// A builder that starts as this layout.
    #[inline]
    pub(crate) fn draft(&self) -> Draft {
        // from_slice is a memcpy; SmallVec's Clone copies element by element
        Draft {
            shape: Shape::from_slice(&self.shape),
            strides: Strides::from_slice(&self.strides),
            offset: self.offset,
        }
    }
}

impl Draft {
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }
    /// As [`Layout::slice`]. Each dimension is sliced at most once.
    #[inline]
    pub fn slice(&mut self, axis: usize, start: usize, step: isize, count: usize) {
        let (size, stride) = (&mut self.shape[axis], &mut self.strides[axis]);
        assert!(step != 0 || count <= 1, "the step of a slice is 0");
        if count > 0 {
            let last = start as i128 + (count as i128 - 1) * step as i128;
            assert!(
                start < *size && (0..*size as i128).contains(&last),
                "slice outside dimension of size {size}"
            );
            self.offset = self
                .offset
                .wrapping_add_signed((start as isize).wrapping_mul(*stride));
        }
        *size = count;
        // with at most one element the stride is irrelevant but must not overflow; with more,
        // LAYOUT3 bounds it
        if count > 1 {
            *stride = stride.wrapping_mul(step);
        }
    }
    /// As [`Layout::index`].
    #[inline]
    pub fn index(&mut self, op: &'static str, axis: usize, index: i64) -> Result<()> {
        let size = self.shape[axis];
        let i = if index < 0 {
            index as i128 + size as i128
        } else {
            index as i128
        };
        if !(0..size as i128).contains(&i) {
            return Err(Error::Index {
                op,
                index,
                axis,
                size,
            });
        }
        self.offset = self
            .offset
            .wrapping_add_signed((i as isize).wrapping_mul(self.strides[axis]));
        self.remove(axis);
        Ok(())
    }
    /// Selects index 0 of a dimension and removes the dimension.
    #[inline]
    pub fn remove(&mut self, axis: usize) {
        self.shape.remove(axis);
        self.strides.remove(axis);
    }
    /// Inserts a dimension of size 1 at this position.
    #[inline]
    pub fn insert(&mut self, axis: usize) {
        let step = self
            .strides
            .get(axis)
            .map_or(1, |s| s.saturating_mul(self.shape[axis].max(1) as isize));
        self.shape.insert(axis, 1);
        self.strides.insert(axis, step);
    }
    /// The layout. LAYOUT2 and LAYOUT3 hold because they hold for the one it was made from.
    #[inline]
    pub fn finish(self) -> Layout {
        Layout::normalized(self.shape, self.strides, self.offset)
    }
    /// The same if an empty dimension may have been removed, so that there are elements now:
    /// LAYOUT2 and LAYOUT3 are checked.
    pub fn finish_checked(self) -> Result<Layout> {
        Layout::checked(self.shape, self.strides, self.offset)
    }
}
