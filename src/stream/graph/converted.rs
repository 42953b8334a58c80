//! Operands of products that were just converted: the product reads them before the conversion.

use super::super::step::Operation;
use super::super::view::{ViewForm, ViewKind};
use super::{Graph, Value};
use crate::dtype::DType;
use crate::error::Result;
use crate::ops::linalg::{is_dense, widens};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// What the operands of a product are converted from.
#[derive(PartialEq)]
pub struct Sources {
    /// The views of the converted values that are the operands, the last first.
    views: [SmallVec<[ViewForm; 1]>; 2],
    dtype: DType,
}

impl Graph {
    /// What both operands of a product with sums of this dtype are converted from, if the product
    /// can convert elements as it packs them. Views between may permute axes. Elementwise values
    /// are left out: to be read they would have to be stored, which rounds them.
    pub fn sources(&self, a: Value, b: Value, dtype: DType) -> Option<([Value; 2], Sources)> {
        let ((left, of_left), (right, of_right)) = (self.source(a)?, self.source(b)?);
        let is_wide = |x: Value| self.dtype(x) == dtype;
        let widens = || widens(self.dtype(left), self.dtype(right), dtype);
        let sources = Sources {
            views: [of_left, of_right],
            dtype,
        };
        (is_wide(a) && is_wide(b) && widens()).then_some(([left, right], sources))
    }
    fn source(&self, x: Value) -> Option<(Value, SmallVec<[ViewForm; 1]>)> {
        let (mut x, mut views) = (x, SmallVec::new());
        loop {
            let node = &self.nodes[x.at()];
            let of = node.operand();
            match &node.step.operation {
                Operation::Convert { .. } if !self.nodes[of.at()].is_elementwise() => {
                    return Some((of, views));
                }
                Operation::View {
                    view: ViewKind::Given(at),
                } => {
                    let form = self.views[*at].form();
                    if !form.is_permutation(&node.shape) {
                        return None;
                    }
                    views.push(form);
                    x = of;
                }
                _ => return None,
            }
        }
    }
}

impl Sources {
    /// Replaces what was read by the operands of the product. They are converted unless both lie
    /// in memory as converted copies would, since products with other strides may have other bits.
    pub fn convert(&self, x: &mut [Tensor]) -> Result<()> {
        let dense = x[..2].iter().all(is_dense);
        for (x, views) in x.iter_mut().zip(&self.views) {
            let source = match dense {
                true => x.clone(),
                false => x.astype(self.dtype)?,
            };
            let mut views = views.iter().rev();
            *x = views.try_fold(source, |x, form| form.permute(&x))?;
        }
        Ok(())
    }
}
