//! Where a tensor's elements lie: shape, signed strides and offset, in elements. A view is a new layout of the same storage:
//! every view operation here is a function from a layout to a layout, and touches no data.

use crate::error::{Error, Result};
use alloc::format;
use smallvec::SmallVec;

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

    /// Dimension `k` of the result is dimension `axes[k]`; each is named once.
    pub fn permute(&self, op: &'static str, axes: &[isize]) -> Result<Layout> {
        if axes.len() != self.rank() {
            return Err(Error::shape(op, format!("{} axes for {} dimensions", axes.len(), self.rank())));
        }
        let axes = unique_axes(op, axes, self.rank())?;
        Ok(Layout::derived(axes.iter().map(|k| self.shape[*k]).collect(), axes.iter().map(|k| self.strides[*k]).collect(), self.offset))
    }
    /// Two dimensions exchanged.
    pub fn swap_axes(&self, op: &'static str, a: isize, b: isize) -> Result<Layout> {
        let (a, b) = (axis(op, a, self.rank())?, axis(op, b, self.rank())?);
        let (mut shape, mut strides) = (self.shape.clone(), self.strides.clone());
        shape.swap(a, b);
        strides.swap(a, b);
        Ok(Layout::derived(shape, strides, self.offset))
    }
    /// Dimensions `source` moved to places `destination`; the others keep their order.
    pub fn move_axes(&self, op: &'static str, source: &[isize], destination: &[isize]) -> Result<Layout> {
        if source.len() != destination.len() {
            return Err(Error::shape(op, format!("{} source axes but {} destinations", source.len(), destination.len())));
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
    /// Elements `start, start + step, ..` of dimension `axis`, `count` of them, all inside it (L3 by the caller's bounds,
    /// asserted).
    pub fn slice(&self, axis: usize, start: usize, step: isize, count: usize) -> Layout {
        let size = self.shape[axis];
        if count > 0 {
            let last = start as i128 + (count as i128 - 1) * step as i128;
            assert!(start < size && (0..size as i128).contains(&last), "slice outside dimension of size {size}");
        }
        let (mut shape, mut strides) = (self.shape.clone(), self.strides.clone());
        let offset = if count > 0 { self.offset.wrapping_add_signed(start as isize * strides[axis]) } else { self.offset };
        shape[axis] = count;
        // one element or none: the stride is of no meaning, and must not overflow
        strides[axis] = if count > 1 { strides[axis] * step } else { strides[axis] };
        Layout::derived(shape, strides, offset)
    }
    /// `length` elements of a dimension from `start`. Errors where they leave it.
    pub fn narrow(&self, op: &'static str, ax: isize, start: usize, length: usize) -> Result<Layout> {
        let k = axis(op, ax, self.rank())?;
        match start.checked_add(length) {
            Some(end) if end <= self.shape[k] => Ok(self.slice(k, start, 1, length)),
            _ => Err(Error::shape(op, format!("{length} elements from {start} leave axis {k} of size {}", self.shape[k]))),
        }
    }
    /// Element `index` of a dimension (negative from its end), which goes.
    pub fn index(&self, op: &'static str, axis: usize, index: i64) -> Result<Layout> {
        let size = self.shape[axis];
        let i = if index < 0 { index as i128 + size as i128 } else { index as i128 };
        if !(0..size as i128).contains(&i) {
            return Err(Error::Index { op, index, axis, size });
        }
        let (mut shape, mut strides) = (self.shape.clone(), self.strides.clone());
        shape.remove(axis);
        let offset = self.offset.wrapping_add_signed(i as isize * strides.remove(axis));
        Ok(Layout::derived(shape, strides, offset))
    }
    /// The dimensions run backwards.
    pub fn flip(&self, op: &'static str, axes: &[isize]) -> Result<Layout> {
        let mut l = self.clone();
        for k in unique_axes(op, axes, self.rank())? {
            if l.shape[k] > 0 {
                l = l.slice(k, l.shape[k] - 1, -1, l.shape[k]);
            }
        }
        Ok(l)
    }
    /// Dimensions of size 1 (and new ones in front) repeated to `shape`.
    pub fn broadcast_to(&self, op: &'static str, shape: &[usize]) -> Result<Layout> {
        let fail = || Error::shape(op, format!("shape {:?} does not broadcast to {shape:?}", self.shape()));
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
    /// Without the dimensions `axes`, each of size 1; all such where none is named.
    pub fn squeeze(&self, op: &'static str, axes: Option<&[isize]>) -> Result<Layout> {
        let gone: SmallVec<[usize; 6]> = match axes {
            Some(a) => unique_axes(op, a, self.rank())?,
            None => (0..self.rank()).filter(|k| self.shape[*k] == 1).collect(),
        };
        if let Some(k) = gone.iter().find(|k| self.shape[**k] != 1) {
            return Err(Error::shape(op, format!("axis {k} has size {}, not 1 (shape {:?})", self.shape[*k], self.shape())));
        }
        let keep = |k: &usize| !gone.contains(k);
        let shape = (0..self.rank()).filter(keep).map(|k| self.shape[k]).collect();
        let strides = (0..self.rank()).filter(keep).map(|k| self.strides[k]).collect();
        Ok(Layout::derived(shape, strides, self.offset))
    }
    /// New dimensions of size 1, at places `axes` of the result.
    pub fn expand_dims(&self, op: &'static str, axes: &[isize]) -> Result<Layout> {
        let rank = self.rank() + axes.len();
        let mut places = unique_axes(op, axes, rank)?;
        places.sort_unstable();
        let (mut shape, mut strides) = (self.shape.clone(), self.strides.clone());
        for k in places {
            let step = strides.get(k).map_or(1, |s| s.saturating_mul(shape[k].max(1) as isize));
            shape.insert(k, 1);
            strides.insert(k, step);
        }
        Ok(Layout::derived(shape, strides, self.offset))
    }
    /// The elements in row-major order under another shape, where the strides allow it without moving any; `shape` has as
    /// many elements.
    pub fn reshape(&self, shape: &[usize]) -> Option<Layout> {
        debug_assert_eq!(shape.iter().product::<usize>(), self.len);
        if self.contiguous {
            return Some(Layout { offset: self.offset, ..Layout::contiguous(shape).ok()? });
        }
        // runs of old dimensions that one stride walks, matched with runs of new ones of the same product
        let old: SmallVec<[(usize, isize); 6]> =
            (0..self.rank()).filter(|k| self.shape[*k] != 1).map(|k| (self.shape[k], self.strides[k])).collect();
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
        Some(Layout::derived(Shape::from_slice(shape), strides, self.offset))
    }
    /// Sliding windows of `size` elements, every `step`, along a dimension; the window's dimension comes last.
    pub fn unfold(&self, op: &'static str, ax: isize, size: usize, step: usize) -> Result<Layout> {
        let k = axis(op, ax, self.rank())?;
        if size == 0 || size > self.shape[k] {
            return Err(Error::shape(op, format!("size {size} is not in 1..={} (axis {k} of shape {:?})", self.shape[k], self.shape())));
        }
        if step == 0 {
            return Err(Error::value(op, "step is 0; it must be at least 1"));
        }
        let (mut shape, mut strides) = (self.shape.clone(), self.strides.clone());
        shape[k] = (shape[k] - size) / step + 1;
        shape.push(size);
        strides.push(strides[k]);
        strides[k] = if shape[k] > 1 { strides[k] * step as isize } else { strides[k] };
        Layout::checked(shape, strides, self.offset)
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

/// An axis counted from the front; negative ones count from the end.
pub fn axis(op: &'static str, axis: isize, rank: usize) -> Result<usize> {
    let k = if axis < 0 { axis + rank as isize } else { axis };
    if (0..rank as isize).contains(&k) { Ok(k as usize) } else { Err(Error::Axis { op, axis, rank, repeated: false }) }
}

/// The same for several, each given once; in the order given.
pub fn unique_axes(op: &'static str, axes: &[isize], rank: usize) -> Result<SmallVec<[usize; 6]>> {
    let mut out = SmallVec::new();
    for a in axes {
        let k = axis(op, *a, rank)?;
        if out.contains(&k) {
            return Err(Error::Axis { op, axis: *a, rank, repeated: true });
        }
        out.push(k);
    }
    Ok(out)
}

/// The shape that all broadcast to (array API broadcasting). The names are those of the operands, for the error.
///
/// ```
/// let s = flex::layout::broadcast("add", &[&[3, 1], &[4]])?;
/// assert_eq!(s.as_slice(), [3, 4]);
/// assert!(flex::layout::broadcast("add", &[&[3], &[4]]).is_err());
/// # Ok::<(), flex::Error>(())
/// ```
pub fn broadcast(op: &'static str, shapes: &[&[usize]]) -> Result<Shape> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = Shape::from_elem(1, rank);
    for s in shapes {
        let lead = rank - s.len();
        for (o, d) in out[lead..].iter_mut().zip(*s) {
            if *o == 1 {
                *o = *d;
            } else if *d != 1 && *d != *o {
                let list: alloc::vec::Vec<_> = shapes.iter().map(|s| format!("{s:?}")).collect();
                return Err(Error::shape(
                    op,
                    format!("shapes {} do not broadcast: sizes {o} and {d} differ and neither is 1", list.join(" and ")),
                ));
            }
        }
    }
    Ok(out)
}

/// The bounds of a Python slice on a dimension of `size`: first element, number of elements. `step` is not 0.
pub fn slice_bounds(start: Option<i64>, stop: Option<i64>, step: i64, size: usize) -> (usize, usize) {
    let n = size as i128;
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |x: Option<i64>, default: i128| x.map_or(default, |x| if x < 0 { x as i128 + n } else { x as i128 }.clamp(low, high));
    let (a, b) = if step > 0 { (clamp(start, 0), clamp(stop, n)) } else { (clamp(start, n - 1), clamp(stop, -1)) };
    let span = if step > 0 { b - a } else { a - b };
    let step = (step as i128).abs();
    let count = if span <= 0 { 0 } else { (span + step - 1) / step };
    (if count > 0 { a as usize } else { 0 }, count as usize)
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
    fn slices_are_pythons() {
        for size in 0..6usize {
            for step in [-7, -2, -1, 1, 2, 3, 9] {
                for start in (-8..8).map(Some).chain([None]) {
                    for stop in (-8..8).map(Some).chain([None]) {
                        let n = size as i64;
                        let fix = |x: i64| if x < 0 { x + n } else { x };
                        let mut want = alloc::vec::Vec::new();
                        let mut i = start.map_or(if step > 0 { 0 } else { n - 1 }, fix);
                        let end = stop.map_or(if step > 0 { n } else { -1 }, fix);
                        i = if step > 0 { i.max(0) } else { i.min(n - 1) };
                        while if step > 0 { i < end } else { i > end } && (0..n).contains(&i) {
                            want.push(i);
                            i += step;
                        }
                        let (a, c) = slice_bounds(start, stop, step, size);
                        let got: alloc::vec::Vec<i64> = (0..c as i64).map(|k| a as i64 + k * step).collect();
                        assert_eq!(got, want, "{start:?}:{stop:?}:{step} of {size}");
                    }
                }
            }
        }
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
