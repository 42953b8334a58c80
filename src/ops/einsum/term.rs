//! Operands and intermediate results, whose dimensions have labels.

use super::expression::{Labels, Set, set};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Shape, Strides, sort_by_key};
use crate::ops::sum_as;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// A tensor without dimensions of size 1, and the label of each dimension; all differ.
pub(super) struct Term {
    pub tensor: Tensor,
    pub labels: Labels,
}

impl Term {
    /// A view of an operand: dimensions with the same label are a diagonal, whose stride is the sum
    /// of theirs.
    pub fn new(x: &Tensor, labels: &[u8]) -> Result<Term> {
        let (mut shape, mut strides) = (Shape::new(), Strides::new());
        let mut longer = Labels::new();
        for (k, label) in labels.iter().enumerate() {
            match longer.iter().position(|l| l == label) {
                _ if x.shape()[k] == 1 => {}
                // no overflow: by LAYOUT3, strides of dimensions longer than 1 add up to less
                // than the reach
                Some(at) => strides[at] += x.strides()[k],
                None => {
                    longer.push(*label);
                    shape.push(x.shape()[k]);
                    strides.push(x.strides()[k]);
                }
            }
        }
        let layout = Layout::new(&shape, &strides, x.layout().offset())?;
        Ok(Term {
            tensor: x.share(layout),
            labels: longer,
        })
    }
    pub fn set(&self) -> Set {
        set(&self.labels)
    }
    /// The stride of a label, 0 if there is no such dimension.
    pub fn stride(&self, label: u8) -> isize {
        let at = self.labels.iter().position(|l| *l == label);
        at.map_or(0, |k| self.tensor.strides()[k])
    }
    /// Sums over the labels that are not kept.
    pub fn sum(&mut self, kept: Set, dtype: DType) -> Result<()> {
        let summed = |label: &u8| kept >> label & 1 == 0;
        let axes: SmallVec<[usize; 6]> = (0..self.labels.len())
            .filter(|k| summed(&self.labels[*k]))
            .collect();
        if !axes.is_empty() {
            self.tensor = sum_as(&self.tensor, axes, dtype)?;
            self.labels.retain(|label| !summed(label));
        }
        Ok(())
    }
    /// The labels of a set, the one with the largest stride first.
    pub fn by_stride(&self, of: Set) -> Labels {
        let mut labels = self.labels.clone();
        labels.retain(|label| of >> *label & 1 == 1);
        sort_by_key(&mut labels, |label| {
            core::cmp::Reverse(self.stride(*label).unsigned_abs())
        });
        labels
    }
    /// The length of the longest prefix of dimensions that are one dimension in memory.
    pub fn merged(&self, labels: &[u8], sizes: &[usize]) -> usize {
        let adjacent = |pair: &&[u8]| {
            self.stride(pair[0])
                == self
                    .stride(pair[1])
                    .wrapping_mul(sizes[pair[1] as usize] as isize)
        };
        labels
            .len()
            .min(1 + labels.windows(2).take_while(adjacent).count())
    }
    /// A view with a dimension for each of these labels, and one for all labels of each group, which
    /// are one dimension in memory. Labels that this tensor lacks broadcast if `whole`, and are of
    /// size 1 otherwise.
    pub fn view(
        &self,
        each: &[u8],
        groups: &[&[u8]],
        sizes: &[usize],
        whole: bool,
    ) -> Result<Tensor> {
        let (mut shape, mut strides) = (Shape::new(), Strides::new());
        for group in each.chunks(1).chain(groups.iter().copied()) {
            let here = |label: &&u8| whole || self.labels.contains(label);
            let size = group.iter().filter(here).map(|l| sizes[*l as usize]);
            shape.push(size.product());
            strides.push(group.last().map_or(0, |label| self.stride(*label)));
        }
        let layout = Layout::new(&shape, &strides, self.tensor.layout().offset())?;
        Ok(self.tensor.share(layout))
    }
    /// The result, with the first labels in order and a dimension of size 1 for each that it lacks.
    pub fn into_output(self, shape: &[usize]) -> Result<Tensor> {
        let strides: Strides = (0..shape.len()).map(|k| self.stride(k as u8)).collect();
        let layout = Layout::new(shape, &strides, self.tensor.layout().offset())?;
        if layout.is_contiguous() && self.tensor.is_contiguous() {
            return Ok(self.tensor.share(layout));
        }
        Ok(self.tensor.view(layout))
    }
}
