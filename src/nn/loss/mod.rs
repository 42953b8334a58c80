//! Losses, with the names of torch.nn.functional. They are formulas of elementwise operations,
//! reduced as they are computed: the terms are not materialised if only their sum or mean is asked
//! for. Terms are computed and summed in float32 or float64.

pub(in crate::nn) mod classes;
mod cross_entropy;
mod ctc;
mod margin;
mod pointwise;
mod probability;
mod terms;

pub use cross_entropy::{CrossEntropy, NllLoss, cross_entropy, nll_loss};
pub use ctc::{CtcLoss, ctc_loss};
pub use margin::{
    CosineEmbeddingLoss, MarginRankingLoss, TripletMarginLoss, cosine_embedding_loss,
    margin_ranking_loss, triplet_margin_loss,
};
pub use pointwise::{huber_loss, l1_loss, mse_loss, smooth_l1_loss};
pub use probability::{
    BinaryCrossEntropy, GaussianNllLoss, KlDiv, PoissonNllLoss, WithLogits, binary_cross_entropy,
    binary_cross_entropy_with_logits, gaussian_nll_loss, kl_div, poisson_nll_loss,
};

use super::check;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::formula::Formula;
use crate::ops::program::Var;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// How the terms of a loss are reduced.
///
/// ```
/// use flex::nn::Reduction;
/// assert_eq!(Reduction::from_name("mean"), Some(Reduction::Mean));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Not at all: the terms are the result.
    None,
    /// Their mean; NaN if there are none.
    #[default]
    Mean,
    /// Their sum.
    Sum,
}
impl Reduction {
    /// The reduction with torch's name: `"none"`, `"mean"` or `"sum"`.
    ///
    /// Example: [`Reduction`].
    pub fn from_name(name: &str) -> Option<Reduction> {
        match name {
            "none" => Some(Reduction::None),
            "mean" => Some(Reduction::Mean),
            "sum" => Some(Reduction::Sum),
            _ => None,
        }
    }
}

/// The loss whose terms are a formula of the broadcast operands, in their common dtype; the default
/// float for integers.
fn terms(
    op: &'static str,
    operands: &[(&'static str, &Tensor)],
    reduction: Reduction,
    formula: impl FnOnce(&mut Formula<'_>, &[Var]) -> Result<Var>,
) -> Result<Tensor> {
    let mut dtype = operands[0].1.dtype();
    for (_, x) in &operands[1..] {
        dtype = dtype.promote(x.dtype(), op)?;
    }
    let mut f = Formula::new(op, &[&check::broadcast(op, operands)?], dtype)?;
    let mut vars = SmallVec::<[Var; 4]>::new();
    for (_, x) in operands {
        vars.push(f.input(x)?);
    }
    let y = formula(&mut f, &vars)?;
    let (dtype, n) = (dtype.inexact(), f.len());
    match reduction {
        Reduction::None => f.write(y, dtype),
        Reduction::Sum => scalar(op, f.sum(y)?, dtype),
        Reduction::Mean => scalar(op, f.sum(y)? / n as f64, dtype),
    }
}

/// A result of rank 0.
fn scalar(op: &'static str, x: f64, dtype: DType) -> Result<Tensor> {
    let one = dispatch!(float dtype.wide(), |F| Tensor::from_slice(&[x as F], [0usize; 0]), else Err(Error::unsupported(op, dtype)))?;
    one.into_dtype(dtype)
}
