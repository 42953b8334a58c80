//! Losses of probabilities and rates.

use super::{Reduction, terms};
use crate::error::{Error, Result};
use crate::kernel::elementwise::rows;
use crate::nn::check;
use crate::ops;
use crate::ops::formula::Formula;
use crate::ops::program::Var;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The options of [`binary_cross_entropy`].
///
/// Example: [`binary_cross_entropy`].
#[derive(Clone, Copy, Debug, Default)]
pub struct BinaryCrossEntropy<'a> {
    /// A factor for each term; broadcasts.
    pub weight: Option<&'a Tensor>,
    /// How the terms are reduced.
    pub reduction: Reduction,
}

/// Errors unless the shapes are equal: like torch, since a broadcast would hide a mistake.
fn same_shape(op: &'static str, x: &Tensor, target: &Tensor) -> Result<()> {
    if x.shape() == target.shape() {
        return Ok(());
    }
    let operands = [
        ("x", x.shape(), x.dtype()),
        ("target", target.shape(), target.dtype()),
    ];
    Err(Error::shape_of(
        op,
        "x and target must have the same shape",
        &operands,
    ))
}

/// `-(target log(x) + (1 - target) log(1 - x))`, with logarithms clamped to at least -100. `x` and
/// `target` are probabilities, of one shape.
///
/// Errors if shapes or dtypes don't fit, or if a probability is outside 0 to 1, with its value and
/// position; NaN gives NaN.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([1.0f32, 0.0]), Tensor::from([1.0f32, 1.0]));
/// let none = nn::BinaryCrossEntropy { reduction: nn::Reduction::None, ..Default::default() };
/// assert_eq!(nn::binary_cross_entropy(&x, &t, none)?.to_vec::<f32>()?, [0.0, 100.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("bce"))]
pub fn binary_cross_entropy<'a>(
    x: &Tensor,
    target: &Tensor,
    options: impl Into<BinaryCrossEntropy<'a>>,
) -> Result<Tensor> {
    binary_cross_entropy_of(x, target, options.into())
}

fn binary_cross_entropy_of(
    x: &Tensor,
    target: &Tensor,
    options: BinaryCrossEntropy,
) -> Result<Tensor> {
    const OP: &str = "binary_cross_entropy";
    let BinaryCrossEntropy { weight, reduction } = options;
    same_shape(OP, x, target)?;
    let probabilities = [("x", x), ("target", target)];
    let mut operands = SmallVec::<[_; 3]>::from_slice(&probabilities);
    operands.extend(weight.map(|w| ("weight", w)));
    let y = terms(OP, &operands, reduction, |f, v| {
        let y = f.binary(&rows::BinaryCrossEntropy::ROW, v[0], v[1])?;
        match v.get(2) {
            Some(w) => f.binary(&rows::Multiply::ROW, y, *w),
            None => Ok(y),
        }
    })?;
    // what is no probability gives NaN, so it is looked for only if there is one
    let sum = match reduction {
        Reduction::None => ops::sum(&y, ())?,
        _ => y.clone(),
    };
    if ops::isnan(sum)?.item::<bool>()? {
        probabilities.iter().try_for_each(|(name, t)| {
            let wrong = ops::logical_or(ops::less(*t, 0)?, ops::greater(*t, 1)?)?;
            check::elements(OP, name, t, &wrong, "a probability, from 0 to 1")
        })?;
    }
    Ok(y)
}

/// The options of [`binary_cross_entropy_with_logits`].
///
/// Example: [`binary_cross_entropy_with_logits`].
#[derive(Clone, Copy, Debug, Default)]
pub struct WithLogits<'a> {
    /// A factor for each term; broadcasts.
    pub weight: Option<&'a Tensor>,
    /// A factor for positive targets; broadcasts.
    pub pos_weight: Option<&'a Tensor>,
    /// How the terms are reduced.
    pub reduction: Reduction,
}

/// [`binary_cross_entropy`] of `sigmoid(x)`, without overflow or cancellation: `(1 - target) log(1 +
/// exp(x)) + pos_weight target log(1 + exp(-x))`, where an infinite logarithm times 0 is 0. Targets
/// outside 0 to 1 are not looked for, as in torch: the loss is linear in them.
///
/// Errors if shapes or dtypes don't fit.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([1000.0f32, 0.0]), Tensor::from([0.0f32, 1.0]));
/// let none = nn::WithLogits { reduction: nn::Reduction::None, ..Default::default() };
/// assert_eq!(nn::binary_cross_entropy_with_logits(&x, &t, none)?.to_vec::<f32>()?, [1000.0, 0.6931472]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("bce_with_logits", "binary_cross_entropy_with_logit"))]
pub fn binary_cross_entropy_with_logits<'a>(
    x: &Tensor,
    target: &Tensor,
    options: impl Into<WithLogits<'a>>,
) -> Result<Tensor> {
    binary_cross_entropy_with_logits_of(x, target, options.into())
}

fn binary_cross_entropy_with_logits_of(
    x: &Tensor,
    target: &Tensor,
    options: WithLogits,
) -> Result<Tensor> {
    const OP: &str = "binary_cross_entropy_with_logits";
    let WithLogits {
        weight,
        pos_weight,
        reduction,
    } = options;
    same_shape(OP, x, target)?;
    let mut operands = SmallVec::<[_; 4]>::from_slice(&[("x", x), ("target", target)]);
    operands.extend(weight.map(|w| ("weight", w)));
    operands.extend(pos_weight.map(|w| ("pos_weight", w)));
    terms(OP, &operands, reduction, |f, v| {
        let no = f.binary(&rows::Subtract::ROW, 1.0, v[1])?;
        let yes = match pos_weight {
            Some(_) => f.binary(&rows::Multiply::ROW, v[1], v[v.len() - 1])?,
            None => v[1],
        };
        let y = f.ternary(&rows::LogisticCost::ROW, v[0], no, yes)?;
        match weight {
            Some(_) => f.binary(&rows::Multiply::ROW, y, v[2]),
            None => Ok(y),
        }
    })
}

/// `p y`, but where `p` is 0, 0 for infinite `y`: `x` there instead, NaN if that is and otherwise
/// clamped to finite numbers.
pub(super) fn product(f: &mut Formula<'_>, p: Var, y: Var, x: Var) -> Result<Var> {
    let none = f.binary(&rows::Equal::ROW, p, 0.0)?;
    let most = f64::from(f32::MAX);
    let finite = f.ternary(&rows::Clip::ROW, x, -most, most)?;
    let y = f.ternary(&rows::Where::ROW, none, finite, y)?;
    f.binary(&rows::Multiply::ROW, p, y)
}

/// The options of [`kl_div`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([[-1.0f32, -2.0]]), Tensor::from([[0.0f32, -f32::INFINITY]]));
/// let logs = nn::KlDiv { log_target: true, reduction: nn::Reduction::None, ..Default::default() };
/// assert_eq!(nn::kl_div(&x, &t, logs)?.at::<f32>((0, 0))?, 1.0);
/// let (x, t) = (Tensor::from([[-1.0f32], [-3.0]]), Tensor::from([[1.0f32], [1.0]]));
/// let batchmean = nn::KlDiv { batchmean: true, ..Default::default() };
/// assert_eq!(nn::kl_div(&x, &t, batchmean)?.item::<f32>()?, 2.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct KlDiv {
    /// Whether `target` are log-probabilities.
    pub log_target: bool,
    /// Whether the sum is divided by the size of the first axis; overrides `reduction`.
    pub batchmean: bool,
    /// How the terms are reduced.
    pub reduction: Reduction,
}

/// `target (log(target) - x)`, or 0 where `target` is 0: the Kullback-Leibler divergence (1951) of
/// log-probabilities `x`. Operands broadcast. A negative `target` gives NaN, as in torch.
///
/// Errors if shapes or dtypes don't fit, or for `batchmean` with rank 0.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([0.0f32, -1.0]), Tensor::from([0.0f32, 1.0]));
/// assert_eq!(nn::kl_div(&x, &t, ())?.item::<f32>()?, 0.5);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn kl_div(x: &Tensor, target: &Tensor, options: impl Into<KlDiv>) -> Result<Tensor> {
    kl_div_of(x, target, options.into())
}

fn kl_div_of(x: &Tensor, target: &Tensor, options: KlDiv) -> Result<Tensor> {
    const OP: &str = "kl_div";
    let KlDiv {
        log_target,
        batchmean,
        reduction,
    } = options;
    if batchmean && x.rank() == 0 {
        let operands = [("x", x.shape(), x.dtype())];
        let message = "reduction \"batchmean\" needs an axis for the batch";
        return Err(Error::shape_of(OP, message, &operands));
    }
    let how = if batchmean { Reduction::Sum } else { reduction };
    let operands = [("x", x), ("target", target)];
    let y = terms(OP, &operands, how, |f, v| {
        if log_target {
            let d = f.binary(&rows::Subtract::ROW, v[1], v[0])?;
            let p = f.unary(&rows::Exp::ROW, v[1])?;
            return product(f, p, d, v[0]);
        }
        f.binary(&rows::KlDivergence::ROW, v[0], v[1])
    })?;
    match x.shape().first() {
        Some(n) if batchmean => {
            let dtype = y.dtype();
            // the count may not be a value of the dtype
            ops::divide(y.astype(dtype.wide())?, *n as f64)?.into_dtype(dtype)
        }
        _ => Ok(y),
    }
}

/// The options of [`poisson_nll_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (rates, t) = (Tensor::from([1.0f32, 3.0]), Tensor::from([5.0f32, 0.0]));
/// let of_rates = nn::PoissonNllLoss { log_input: false, eps: 0.0, ..Default::default() };
/// assert_eq!(nn::poisson_nll_loss(&rates, &t, of_rates)?.item::<f32>()?, 2.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PoissonNllLoss {
    /// Whether `x` are logarithms of rates.
    pub log_input: bool,
    /// Whether to add the terms that depend on `target` alone, by Stirling's formula.
    pub full: bool,
    /// Added to rates before their logarithm is taken.
    pub eps: f64,
    /// How the terms are reduced.
    pub reduction: Reduction,
}
impl Default for PoissonNllLoss {
    fn default() -> Self {
        PoissonNllLoss {
            log_input: true,
            full: false,
            eps: 1e-8,
            reduction: Reduction::Mean,
        }
    }
}

/// The negative log-likelihood of a Poisson distribution: `exp(x) - target x`, or for rates `x -
/// target log(x + eps)`. Operands broadcast.
///
/// Errors if shapes or dtypes don't fit, or `eps` is negative or not finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([0.0f32, 0.0]), Tensor::from([0.0f32, 3.0]));
/// assert_eq!(nn::poisson_nll_loss(&x, &t, ())?.item::<f32>()?, 1.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn poisson_nll_loss(
    x: &Tensor,
    target: &Tensor,
    options: impl Into<PoissonNllLoss>,
) -> Result<Tensor> {
    poisson_nll_loss_of(x, target, options.into())
}

fn poisson_nll_loss_of(x: &Tensor, target: &Tensor, options: PoissonNllLoss) -> Result<Tensor> {
    const OP: &str = "poisson_nll_loss";
    let PoissonNllLoss {
        log_input,
        full,
        eps,
        reduction,
    } = options;
    check::eps(OP, eps)?;
    let operands = [("x", x), ("target", target)];
    terms(OP, &operands, reduction, |f, v| {
        let (rate, log) = if log_input {
            (f.unary(&rows::Exp::ROW, v[0])?, v[0])
        } else {
            let above = f.binary(&rows::Add::ROW, v[0], eps)?;
            (v[0], f.unary(&rows::Log::ROW, above)?)
        };
        let gain = product(f, v[1], log, log)?;
        let y = f.binary(&rows::Subtract::ROW, rate, gain)?;
        // beside an infinite rate its logarithm counts for nothing
        let all = f.binary(&rows::Equal::ROW, rate, f64::INFINITY)?;
        let y = f.ternary(&rows::Where::ROW, all, f64::INFINITY, y)?;
        if !full {
            return Ok(y);
        }
        // t log t - t + log(2 pi t) / 2
        let log = f.unary(&rows::Log::ROW, v[1])?;
        let less = f.binary(&rows::Subtract::ROW, log, 1.0)?;
        let first = f.binary(&rows::Multiply::ROW, v[1], less)?;
        let whole = f.binary(&rows::Add::ROW, log, libm::log(2.0 * core::f64::consts::PI))?;
        let half = f.binary(&rows::Multiply::ROW, whole, 0.5)?;
        let stirling = f.binary(&rows::Add::ROW, first, half)?;
        let many = f.binary(&rows::Greater::ROW, v[1], 1.0)?;
        let more = f.ternary(&rows::Where::ROW, many, stirling, 0.0)?;
        f.binary(&rows::Add::ROW, y, more)
    })
}

/// The options of [`gaussian_nll_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t, var) = (Tensor::from([1.0f32]), Tensor::from([0.0f32]), Tensor::from([1.0f32]));
/// let full = nn::GaussianNllLoss { full: true, ..Default::default() };
/// let y = nn::gaussian_nll_loss(&x, &t, &var, full)?.item::<f32>()?;
/// assert!((y - (0.5 + 0.5 * std::f32::consts::TAU.ln())).abs() < 1e-6);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GaussianNllLoss {
    /// Whether the constant term is added.
    pub full: bool,
    /// The lower bound of variances.
    pub eps: f64,
    /// How the terms are reduced.
    pub reduction: Reduction,
}
impl Default for GaussianNllLoss {
    fn default() -> Self {
        GaussianNllLoss {
            full: false,
            eps: 1e-6,
            reduction: Reduction::Mean,
        }
    }
}

/// The negative log-likelihood of a Gaussian distribution: `(log(var) + (x - target)^2 / var) / 2`,
/// with variances clamped to at least `eps` (Nix and Weigend 1994). `var` has the shape of `x`, or
/// that without its last axis, or broadcasts.
///
/// Errors if shapes or dtypes don't fit, `eps` is negative or not finite, or a variance is negative,
/// with its value and position.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, t) = (Tensor::from([1.0f32, 3.0]), Tensor::from([0.0f32, 0.0]));
/// let var = Tensor::from([1.0f32]);
/// assert_eq!(nn::gaussian_nll_loss(&x, &t, &var, ())?.item::<f32>()?, 2.5);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn gaussian_nll_loss(
    x: &Tensor,
    target: &Tensor,
    var: &Tensor,
    options: impl Into<GaussianNllLoss>,
) -> Result<Tensor> {
    gaussian_nll_loss_of(x, target, var, options.into())
}

fn gaussian_nll_loss_of(
    x: &Tensor,
    target: &Tensor,
    var: &Tensor,
    options: GaussianNllLoss,
) -> Result<Tensor> {
    const OP: &str = "gaussian_nll_loss";
    let GaussianNllLoss {
        full,
        eps,
        reduction,
    } = options;
    check::eps(OP, eps)?;
    check::elements(OP, "var", var, &ops::less(var, 0)?, "0 or more")?;
    let without_last = x.rank() > 0 && var.shape() == &x.shape()[..x.rank() - 1];
    let var = match var.shape() == x.shape() || !without_last {
        true => var.clone(),
        false => var.expand_dims(-1)?,
    };
    let operands = [("x", x), ("target", target), ("var", &var)];
    terms(OP, &operands, reduction, |f, v| {
        let var = f.binary(&rows::Maximum::ROW, v[2], eps)?;
        let log = f.unary(&rows::Log::ROW, var)?;
        // divided before it is squared, which may overflow
        let d = f.binary(&rows::Subtract::ROW, v[0], v[1])?;
        let share = f.binary(&rows::Divide::ROW, d, var)?;
        let share = f.binary(&rows::Multiply::ROW, share, d)?;
        let sum = f.binary(&rows::Add::ROW, log, share)?;
        let y = f.binary(&rows::Multiply::ROW, sum, 0.5)?;
        match full {
            true => f.binary(
                &rows::Add::ROW,
                y,
                0.5 * libm::log(2.0 * core::f64::consts::PI),
            ),
            false => Ok(y),
        }
    })
}
