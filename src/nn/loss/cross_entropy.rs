//! Losses of distributions over classes.
//!
//! Logarithms of probabilities are never materialised: a term is the logsumexp of a line less the
//! score of its class.

use super::classes::ClassScores;
use super::probability::product;
use super::terms::{TermParts, weighed};
use super::{Reduction, scalar};
use crate::error::Result;
use crate::kernel::elementwise::rows;
use crate::layout::Axes;
use crate::nn::check;
use crate::ops;
use crate::ops::formula::Formula;
use crate::tensor::Tensor;

/// The options of [`cross_entropy`].
///
/// Example: [`cross_entropy`].
#[derive(Clone, Copy, Debug)]
pub struct CrossEntropy<'a> {
    /// `[classes]`, a factor for the terms of each class; a mean is divided by the sum of the
    /// factors used.
    pub weight: Option<&'a Tensor>,
    /// Targets with this class are ignored.
    pub ignore_index: i64,
    /// The share of each target that is spread over all classes (Szegedy et al. 2016).
    pub label_smoothing: f64,
    /// How the terms are reduced.
    pub reduction: Reduction,
}
impl Default for CrossEntropy<'_> {
    fn default() -> Self {
        CrossEntropy {
            weight: None,
            ignore_index: -100,
            label_smoothing: 0.0,
            reduction: Reduction::Mean,
        }
    }
}
/// The options of [`nll_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[-1.0f32, -2.0], [-3.0, -4.0]]);
/// let sum = nn::NllLoss { reduction: nn::Reduction::Sum, ignore_index: 0, ..Default::default() };
/// assert_eq!(nn::nll_loss(&x, &Tensor::from([0i64, 1]), sum)?.item::<f32>()?, 4.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NllLoss<'a> {
    /// Like [`CrossEntropy::weight`].
    pub weight: Option<&'a Tensor>,
    /// Targets with this class are ignored.
    pub ignore_index: i64,
    /// How the terms are reduced.
    pub reduction: Reduction,
}
impl Default for NllLoss<'_> {
    fn default() -> Self {
        NllLoss {
            weight: None,
            ignore_index: -100,
            reduction: Reduction::Mean,
        }
    }
}

/// `-log(softmax(x))` at each target. `x` are scores, `[batch, classes, ..]` or `[classes]`;
/// `target` are class indices, integers of that shape without the axis of classes, or
/// probabilities, floats of the shape of `x`. There is one term per target.
///
/// Errors if shapes or dtypes don't fit, or if a class is out of range and not
/// [`ignore_index`](CrossEntropy::ignore_index), with the class and its position.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[0.0f32, 0.0], [1000.0, 0.0]]);
/// let none = nn::CrossEntropy { reduction: nn::Reduction::None, ..Default::default() };
/// let y = nn::cross_entropy(&x, &Tensor::from([0i64, 1]), none)?;
/// assert_eq!(y.to_vec::<f32>()?, [0.6931472, 1000.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cross_entropy<'a>(
    x: &Tensor,
    target: &Tensor,
    options: impl Into<CrossEntropy<'a>>,
) -> Result<Tensor> {
    cross_entropy_of(x, target, options.into())
}

fn cross_entropy_of(x: &Tensor, target: &Tensor, options: CrossEntropy) -> Result<Tensor> {
    const OP: &str = "cross_entropy";
    let CrossEntropy {
        weight,
        ignore_index,
        label_smoothing,
        reduction,
    } = options;
    check::share(OP, "label_smoothing", label_smoothing)?;
    let p = ClassScores::new(OP, x, target, weight)?;
    let sums = || ops::logsumexp(&p.x, Axes::from(p.axis as isize).keepdims());
    if target.dtype().is_float() {
        return p.of_probabilities(&sums()?, target, label_smoothing, reduction);
    }
    let smoothing = match label_smoothing {
        0.0 => None,
        share => Some(p.smoothing(share)?),
    };
    let given = p.given(target)?;
    let (logs, scores) = match p.of_columns(&given)? {
        Some((logs, scores)) => (logs, Some(scores)),
        None => (sums()?, None),
    };
    let parts = TermParts {
        logs: Some(&logs),
        scores: scores.as_ref(),
        smoothing,
    };
    p.reduce(&given, ignore_index, parts, reduction)
}

/// `-x` at each target, with log-probabilities `x`: [`cross_entropy`] for the result of
/// [`log_softmax`](crate::nn::log_softmax). Shapes and errors as there; targets are integers.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[-1.0f32, -2.0], [-3.0, -4.0]]);
/// let y = nn::nll_loss(&x, &Tensor::from([0i64, -100]), ())?;
/// assert_eq!(y.item::<f32>()?, 1.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("nll"))]
pub fn nll_loss<'a>(
    x: &Tensor,
    target: &Tensor,
    options: impl Into<NllLoss<'a>>,
) -> Result<Tensor> {
    let NllLoss {
        weight,
        ignore_index,
        reduction,
    } = options.into();
    let p = ClassScores::new("nll_loss", x, target, weight)?;
    let given = p.given(target)?;
    p.reduce(&given, ignore_index, TermParts::default(), reduction)
}

impl ClassScores {
    /// The loss for probabilities of classes.
    fn of_probabilities(
        &self,
        sums: &Tensor,
        target: &Tensor,
        smoothing: f64,
        reduction: Reduction,
    ) -> Result<Tensor> {
        let w = self
            .weight
            .as_ref()
            .map(|w| self.along_classes(w))
            .transpose()?;
        let mut f = Formula::new(self.op, &[self.x.shape()], self.x.dtype())?;
        let (x, mut t, log) = (f.input(&self.x)?, f.input(target)?, f.input(sums)?);
        if smoothing > 0.0 {
            let kept = f.binary(&rows::Multiply::ROW, t, 1.0 - smoothing)?;
            t = f.binary(&rows::Add::ROW, kept, smoothing / self.classes as f64)?;
        }
        let cost = f.binary(&rows::Subtract::ROW, log, x)?;
        let mut y = product(&mut f, t, cost, x)?;
        if let Some(w) = &w {
            let w = f.input(w)?;
            y = weighed(&mut f, y, w)?;
        }
        let terms: usize = self.shape.iter().product();
        match reduction {
            Reduction::Sum => scalar(self.op, f.sum(y)?, self.dtype),
            Reduction::Mean => scalar(self.op, f.sum(y)? / terms as f64, self.dtype),
            Reduction::None => {
                let all = f.write(y, self.x.dtype())?;
                ops::sum(&all, self.axis as isize)?.into_dtype(self.dtype)
            }
        }
    }
}
