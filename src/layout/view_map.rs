//! Views as data: the axis of a layout that each axis of a view runs along, and where the view
//! starts.

use super::{Layout, Shape, Strides};
use smallvec::SmallVec;

/// An axis of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ViewAxis {
    /// The axis of the layout that it runs along; none if its size is 1 or it repeats an element.
    pub axis: Option<u8>,
    /// Indices from one element to the next.
    pub step: isize,
    /// Its size.
    pub count: usize,
}

/// A view: the index of its first element in the layout, and its axes.
pub(crate) type ViewMap = (Shape, SmallVec<[ViewAxis; 6]>);

impl Layout {
    /// A view of this layout as data. The layout must be row-major from position 0, so that the
    /// view's strides tell which axis each of its axes runs along. None without elements, and for
    /// views along several axes at once, or several times along one. If `view` is no view of this
    /// layout, the result leaves the layout, and `mapped` gives none.
    pub(crate) fn view_map(&self, view: &Layout) -> Option<ViewMap> {
        if !self.is_contiguous() || self.offset != 0 || self.is_empty() || view.is_empty() {
            return None;
        }
        let mut rest = view.offset;
        let mut starts = Shape::new();
        for (n, s) in self.shape.iter().zip(&self.strides) {
            let start = if *n > 1 { rest / *s as usize } else { 0 };
            rest -= start * *s as usize;
            starts.push(start);
        }
        let mut axes: SmallVec<[ViewAxis; 6]> = SmallVec::new();
        for (n, s) in view.shape.iter().zip(&view.strides) {
            let mut to = ViewAxis {
                axis: None,
                step: 0,
                count: *n,
            };
            if *n > 1 && *s != 0 {
                let own = |k: &usize| self.shape[*k] > 1 && self.strides[*k] <= s.abs();
                let k = (0..self.rank()).find(own)?; // strides decrease
                to.axis = Some(u8::try_from(k).ok()?);
                to.step = s / self.strides[k];
                if s % self.strides[k] != 0 || axes.iter().any(|a| a.axis == to.axis) {
                    return None;
                }
            }
            axes.push(to);
        }
        (rest == 0).then_some((starts, axes))
    }
    /// The view of this layout that such data describe; none if it leaves the layout.
    pub(crate) fn mapped(&self, (starts, axes): &ViewMap) -> Option<Layout> {
        let mut position = self.offset as isize;
        if starts.len() != self.rank() {
            return None;
        }
        for ((start, n), s) in starts.iter().zip(&self.shape).zip(&self.strides) {
            if start >= n {
                return None;
            }
            position += *start as isize * s; // LAYOUT3
        }
        let (mut shape, mut strides) = (Shape::new(), Strides::new());
        for to in axes {
            shape.push(to.count);
            strides.push(match to.axis {
                None => 0,
                Some(k) => {
                    let size = *self.shape.get(k as usize)? as i128;
                    let last = to.count as i128 - 1;
                    let last = starts[k as usize] as i128 + last * to.step as i128;
                    if to.count < 2 || !(0..size).contains(&last) {
                        return None;
                    }
                    self.strides[k as usize] * to.step // LAYOUT3
                }
            });
        }
        // axes that are used twice may leave the layout together
        let once = |k: usize| axes[..k].iter().all(|a| a.axis != axes[k].axis);
        if (0..axes.len()).any(|k| axes[k].axis.is_some() && !once(k)) {
            return None;
        }
        // the strides that `Draft::insert` gives axes of size 1
        for k in (0..axes.len()).rev().filter(|k| axes[*k].count == 1) {
            let next = strides.get(k + 1).zip(shape.get(k + 1));
            strides[k] = next.map_or(1, |(s, n)| s.saturating_mul(*n as isize));
        }
        Layout::checked(shape, strides, position as usize).ok()
    }
}
