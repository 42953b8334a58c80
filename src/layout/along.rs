//! Views as data: which axis of a layout each axis of a view goes along, and from where.

use super::{Layout, Shape, Strides};
use smallvec::SmallVec;

/// An axis of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Along {
    /// The axis of the layout that it goes along; none where it is of size 1 or repeats an element.
    pub axis: Option<u8>,
    /// Indices from one element to the next.
    pub step: isize,
    /// Its size.
    pub count: usize,
}

/// A view: the index of its first element, and its axes.
pub(crate) type Course = (Shape, SmallVec<[Along; 6]>);

impl Layout {
    /// How a view of this layout goes, which is row-major from position 0: so its strides say along which axis
    /// each of the view's goes. None without elements, and for views along several axes at once, or
    /// several times along one. What is no view is a course that leaves the layout.
    pub(crate) fn course(&self, view: &Layout) -> Option<Course> {
        if !self.contiguous || self.offset != 0 || self.len == 0 || view.len == 0 {
            return None;
        }
        let mut rest = view.offset;
        let mut starts = Shape::new();
        for (n, s) in self.shape.iter().zip(&self.strides) {
            let start = if *n > 1 { rest / *s as usize } else { 0 };
            rest -= start * *s as usize;
            starts.push(start);
        }
        let mut axes: SmallVec<[Along; 6]> = SmallVec::new();
        for (n, s) in view.shape.iter().zip(&view.strides) {
            let mut along = Along {
                axis: None,
                step: 0,
                count: *n,
            };
            if *n > 1 && *s != 0 {
                let own = |k: &usize| self.shape[*k] > 1 && self.strides[*k] <= s.abs();
                let k = (0..self.rank()).find(own)?; // strides decrease
                along.axis = Some(u8::try_from(k).ok()?);
                along.step = s / self.strides[k];
                if s % self.strides[k] != 0 || axes.iter().any(|a| a.axis == along.axis) {
                    return None;
                }
            }
            axes.push(along);
        }
        (rest == 0).then_some((starts, axes))
    }
    /// The view of this layout that goes so. None where it would leave it.
    pub(crate) fn follow(&self, (starts, axes): &Course) -> Option<Layout> {
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
        for along in axes {
            shape.push(along.count);
            strides.push(match along.axis {
                None => 0,
                Some(k) => {
                    let size = *self.shape.get(k as usize)? as i128;
                    let last = along.count as i128 - 1;
                    let last = starts[k as usize] as i128 + last * along.step as i128;
                    if along.count < 2 || !(0..size).contains(&last) {
                        return None;
                    }
                    self.strides[k as usize] * along.step // LAYOUT3
                }
            });
        }
        // axes that are taken twice may leave it together
        let once = |k: usize| axes[..k].iter().all(|a| a.axis != axes[k].axis);
        if (0..axes.len()).any(|k| axes[k].axis.is_some() && !once(k)) {
            return None;
        }
        // as where axes of size 1 are inserted
        for k in (0..axes.len()).rev().filter(|k| axes[*k].count == 1) {
            let next = strides.get(k + 1).zip(shape.get(k + 1));
            strides[k] = next.map_or(1, |(s, n)| s.saturating_mul(*n as isize));
        }
        Layout::checked(shape, strides, position as usize).ok()
    }
}
