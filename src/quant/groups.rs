//! Arranges the elements that share a scale as one contiguous run each: axes that are cut into
//! blocks are split in two, and the axes along which scales vary are moved to the front.

use crate::error::Result;
use crate::layout::Shape;
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use core::ops::Range;
use smallvec::SmallVec;

/// A tensor's shape together with that of its scales, whose sizes divide the tensor's.
pub(super) struct Groups {
    /// The shape with block axes split, and the permutation that makes groups contiguous.
    split: Shape,
    order: SmallVec<[usize; 6]>,
    shape: Shape,
    count: usize,
    len: usize,
}
impl Groups {
    pub fn new(shape: &[usize], scales: &[usize]) -> Groups {
        let (mut split, mut first) = (Shape::new(), SmallVec::<[usize; 6]>::new());
        let mut last = first.clone();
        let (mut count, mut len) = (1, 1);
        for (n, s) in shape.iter().zip(scales) {
            let block = n.checked_div(*s).unwrap_or(1);
            let (vary, whole) = (*s != 1, block != 1);
            if vary {
                first.push(split.len());
                split.push(*s);
            }
            if whole || !vary {
                last.push(split.len());
                split.push(block);
            }
            (count, len) = (count * s, len * block);
        }
        first.extend(last);
        Groups {
            split,
            order: first,
            shape: shape.into(),
            count,
            len,
        }
    }
    /// The number of groups, and the elements in each.
    pub fn sizes(&self) -> (usize, usize) {
        (self.count, self.len)
    }
    /// Whether groups are contiguous in a row-major tensor.
    pub fn in_order(&self) -> bool {
        self.order.is_sorted()
    }
    /// The elements, group by group; a copy unless they are laid out so.
    pub fn gather(&self, x: &Tensor) -> Result<Tensor> {
        let order: SmallVec<[isize; 6]> = self.order.iter().map(|a| *a as isize).collect();
        x.reshape(&self.split)?.permute(&order)?.contiguous()
    }
    /// The inverse of `gather`: elements group by group, back in the tensor's shape.
    pub fn scatter(&self, x: Tensor) -> Result<Tensor> {
        let sizes: Shape = self.order.iter().map(|a| self.split[*a]).collect();
        let mut back: SmallVec<[isize; 6]> = SmallVec::from_elem(0, self.order.len());
        for (to, from) in self.order.iter().enumerate() {
            back[*from] = to as isize;
        }
        x.reshape(&sizes)?.permute(&back)?.reshape(&self.shape)
    }
    /// Calls `f` with groups and their part of `d`, or with a range of one group's elements if
    /// groups are so long that they are cut.
    pub fn each<T: Send>(
        &self,
        d: &mut [T],
        cost: Cost,
        f: impl Fn(usize, Range<usize>, &mut [T]) + Sync,
    ) {
        let (_, len) = self.sizes();
        if d.is_empty() {
            return;
        }
        if len > CUT {
            for (g, d) in d.chunks_mut(len).enumerate() {
                par::split(d, 1, 64, cost, |r, d| f(g, r, d));
            }
            return;
        }
        par::split(d, len, 1, cost.times(len), |r, d| f(r.start, 0..d.len(), d));
    }
}
/// The longest group that a thread takes whole.
pub(super) const CUT: usize = 1 << 15;
