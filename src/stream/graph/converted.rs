//! Operands of products that were just converted: the product reads them before the conversion.

use super::super::view::{ViewForm, ViewKind};
use super::{Expr, Graph, Value};
use crate::dtype::DType;
use crate::error::Result;
use crate::ops::linalg::{is_dense, widens};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// What the operands of a product are converted from.
pub struct Sources {
    pub values: [Value; 2],
    /// The views of the converted values that are the operands, the last first.
    views: [SmallVec<[ViewForm; 1]>; 2],
    dtype: DType,
}

impl Graph {
    /// What both operands of a product with sums of this dtype are converted from, if the product
    /// can convert elements as it packs them. Views between may permute axes. Elementwise values
    /// are left out: to be read they would have to be stored, which rounds them.
    pub fn sources(&self, a: Value, b: Value, dtype: DType) -> Option<Sources> {
        let ((left, of_left), (right, of_right)) = (self.source(a)?, self.source(b)?);
        let is_wide = |x: Value| self.dtype(x) == dtype;
        let widens = || widens(self.dtype(left), self.dtype(right), dtype);
        (is_wide(a) && is_wide(b) && widens()).then_some(Sources {
            values: [left, right],
            views: [of_left, of_right],
            dtype,
        })
    }
    fn source(&self, x: Value) -> Option<(Value, SmallVec<[ViewForm; 1]>)> {
        let (mut x, mut views) = (x, SmallVec::new());
        loop {
            let node = &self.nodes[x.at()];
            match &node.expr {
                Expr::Convert(y) if !self.nodes[y.at()].expr.is_elementwise() => {
                    return Some((*y, views));
                }
                Expr::View {
                    x: of,
                    kind: ViewKind::Given(at),
                } => {
                    let form = self.views[*at].form();
                    if !form.is_permutation(&node.shape) {
                        return None;
                    }
                    views.push(form);
                    x = *of;
                }
                _ => return None,
            }
        }
    }
}

impl Sources {
    /// The operands of the product. They are converted unless both lie in memory as converted
    /// copies would, since products with other strides may have other bits.
    pub fn operands(&self, x: &[Tensor]) -> Result<[Tensor; 2]> {
        let dense = x[..2].iter().all(is_dense);
        let operand = |k: usize| {
            let source = match dense {
                true => x[k].clone(),
                false => x[k].astype(self.dtype)?,
            };
            let mut views = self.views[k].iter().rev();
            views.try_fold(source, |x, form| form.permute(&x))
        };
        Ok([operand(0)?, operand(1)?])
    }
}
