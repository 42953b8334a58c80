//! Losses.

use super::super::call::{Call, Node, Outputs, many, one};
use super::{Attribute, Kind, Row, make, maybe, text};
use crate::error::Result;
use crate::nn::{self, NllLoss, Reduction};
use crate::tensor::Tensor;

const LOSS: &[Attribute] = &[maybe("ignore_index", Kind::Int), text("reduction", "mean")];

pub(super) const ROWS: &[Row] = &[
    make("NegativeLogLikelihoodLoss", 12, 2..=3, LOSS, |node| {
        let loss = Loss::new(node)?;
        one(move |x| loss.of(x.get(0)?, x.get(1)?, x.maybe(2)))
    }),
    make("SoftmaxCrossEntropyLoss", 12, 2..=3, LOSS, cross_entropy),
];

struct Loss {
    ignore_index: i64,
    reduction: Reduction,
}
impl Loss {
    fn new(node: &Node) -> Result<Loss> {
        let reductions = [
            ("none", Reduction::None),
            ("mean", Reduction::Mean),
            ("sum", Reduction::Sum),
        ];
        Ok(Loss {
            // without it, a class that no target has
            ignore_index: node.maybe_int("ignore_index").unwrap_or(i64::MIN),
            reduction: node.choice("reduction", &reductions)?,
        })
    }
    fn of(&self, x: &Tensor, target: &Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
        let options = NllLoss {
            weight,
            ignore_index: self.ignore_index,
            reduction: self.reduction,
        };
        nn::nll_loss(x, target, options)
    }
}

fn cross_entropy(node: &Node) -> Result<Call> {
    let loss = Loss::new(node)?;
    many(move |x| {
        let logs = nn::log_softmax(x.get(0)?, 1)?;
        let y = loss.of(&logs, x.get(1)?, x.maybe(2))?;
        Ok(Outputs::from_vec(alloc::vec![y, logs]))
    })
}
