//! Gradients of losses of distributions.

use super::common_float;
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::fallible;
use crate::kernel::elementwise::rows::{Add, Multiply, Subtract};
use crate::kernel::math::Real;
use crate::kernel::norm::{self, classes};
use crate::layout::{Axes, Shape};
use crate::nn::loss::classes::{ClassScores, doubles};
use crate::nn::{CrossEntropy, Reduction, check, rows, softmax};
use crate::ops;
use crate::ops::formula::Formula;
use crate::par::Cost;
use crate::tensor::Tensor;

/// The gradient of the scores `x` of [`cross_entropy`](crate::nn::cross_entropy): for each term
/// `softmax(x)` less its target, times the term's weight, or 0 if that is 0. `grad` has the loss's
/// shape: a single number, or one per term without a reduction.
///
/// Options and errors as for that function; also errors if `grad` has another shape or is not a
/// float tensor. The result has the dtype of `x`.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, target) = (Tensor::from([[0.0f32, 0.0], [0.0, 1000.0]]), Tensor::from([0i64, 1]));
/// let one = Tensor::from_slice(&[1.0f32], [0usize; 0])?;
/// let dx = nn::grad::cross_entropy(&one, &x, &target, ())?;
/// assert_eq!(dx.to_vec::<f32>()?, [-0.25, 0.25, 0.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cross_entropy<'a>(
    grad: &Tensor,
    x: &Tensor,
    target: &Tensor,
    options: impl Into<CrossEntropy<'a>>,
) -> Result<Tensor> {
    cross_entropy_of(grad, x, target, options.into())
}

fn cross_entropy_of(
    grad: &Tensor,
    x: &Tensor,
    target: &Tensor,
    options: CrossEntropy,
) -> Result<Tensor> {
    const OP: &str = "grad.cross_entropy";
    let smoothing = options.label_smoothing;
    check::share(OP, "label_smoothing", smoothing)?;
    let p = ClassScores::new(OP, x, target, options.weight)?;
    let wanted: &[usize] = match options.reduction {
        Reduction::None => &p.shape,
        _ => &[],
    };
    super::expect_shape(OP, grad, wanted, ("x", x))?;
    common_float(OP, &[grad])?;
    let grad = doubles(&grad.astype(grad.dtype().wide())?)?;
    let d = if target.dtype().is_float() {
        of_probabilities(OP, &p, &grad, target, options)?
    } else {
        of_classes(OP, &p, &grad, target, options)?
    };
    d.into_dtype(p.dtype)
}

/// A number per term, shaped to broadcast to the scores.
fn column(p: &ClassScores, numbers: impl Iterator<Item = f64>) -> Result<Tensor> {
    let mut shape = Shape::from_slice(p.x.shape());
    shape[p.axis] = 1;
    let mut column = Tensor::empty(&shape, p.x.dtype())?;
    dispatch!(float p.x.dtype(), |F| {
        for (to, x) in column.as_mut_slice::<F>()?.iter_mut().zip(numbers) {
            *to = <F as Real>::from_f64(x);
        }
    }, else return Err(Error::unsupported("grad.cross_entropy", p.dtype)));
    Ok(column)
}

/// `softmax(x) * all - share * weight` over all classes, less `own` at the target, while a few
/// lines of scores are in cache.
fn of_classes(
    op: &'static str,
    p: &ClassScores,
    grad: &[f64],
    target: &Tensor,
    options: CrossEntropy,
) -> Result<Tensor> {
    let ignored = options.ignore_index;
    let (targets, factors, sum) = p.targets(target, ignored)?;
    let targets = targets.as_slice::<i64>()?;
    let (n, dtype) = (p.classes, p.x.dtype());
    let smoothing = options.label_smoothing;
    let total = match &p.weight {
        Some(_) => factors.iter().sum(),
        None => n as f64,
    };
    let divisor = match options.reduction {
        Reduction::Mean => sum,
        _ => 1.0,
    };
    // rows too few for the threads are normalised in chunks first
    let cut = rows::is_cut(&p.x, p.axis);
    let x = if cut {
        softmax(&p.x, p.axis as isize)?
    } else {
        p.x.clone()
    };
    let mut d = Tensor::empty(x.shape(), dtype)?;
    if d.is_empty() {
        return Ok(d);
    }
    let cost = Cost {
        bytes: 2 * n * dtype.size(),
        flops: 24 * n,
    };
    dispatch!(float dtype, |F| {
        let mut weights = fallible::filled(<F as Real>::ONE, n)?;
        for (to, weight) in weights.iter_mut().zip(&factors) {
            *to = <F as Real>::from_f64(*weight);
        }
        let lines = Lines::new(x.shape(), p.axis)
            .together()
            .columns(norm::CHUNK)
            .input(x.elements())
            .output(d.elements_mut()?);
        let lines = (0..3).fold(lines, |lines, _| lines.scratch(1, dtype));
        lines.run(cost, |line| {
            let (x, d) = (line.input::<F>(0), line.output::<F>(0));
            let (own, all, share) = (line.scratch(0), line.scratch(1), line.scratch(2));
            let weighed = |j: usize| p.weighed(targets[line.index_of(j)], ignored, &factors);
            for j in 0..line.count() {
                // a single gradient is that of every term
                let g = grad[line.index_of(j) % grad.len()] / divisor;
                let (g, weight) = weighed(j).map_or((0.0, 0.0), |(_, weight)| (g, weight));
                let (of_own, of_share) = (g * (1.0 - smoothing) * weight, g * smoothing / n as f64);
                own[j] = <F as Real>::from_f64(of_own);
                all[j] = <F as Real>::from_f64(of_own + of_share * total);
                share[j] = <F as Real>::from_f64(of_share);
            }
            if line.columns() {
                norm::normalize_columns(&norm::Softmax, n, x, d);
                classes::weigh_columns(n, all, share, &weights, d);
            } else {
                match cut {
                    true => d.copy_from_slice(x),
                    false => norm::rows(&norm::Softmax, n, x, d),
                }
                classes::weigh(n, all, share, &weights, d);
            }
            for j in 0..line.count() {
                if let Some((class, _)) = weighed(j) {
                    d[line.position(n, j, class)] -= own[j];
                }
            }
        })?;
    }, else return Err(Error::unsupported(op, p.dtype)));
    Ok(d)
}

/// `softmax(x) * sum(t) - t` along the classes, for smoothed and weighted targets `t`.
fn of_probabilities(
    op: &'static str,
    p: &ClassScores,
    grad: &[f64],
    target: &Tensor,
    options: CrossEntropy,
) -> Result<Tensor> {
    let smoothing = options.label_smoothing;
    let terms: usize = p.shape.iter().product();
    let divisor = match options.reduction {
        Reduction::Mean => terms as f64,
        _ => 1.0,
    };
    let factor = column(p, grad.iter().cycle().take(terms).map(|g| g / divisor))?;
    let weight = p.weight.as_ref().map(|w| p.along_classes(w)).transpose()?;
    let wide = p.x.dtype();
    let y = softmax(&p.x, p.axis as isize)?;
    let mut f = Formula::new(op, &[p.x.shape()], wide)?;
    let mut t = f.input(target)?;
    if smoothing > 0.0 {
        let kept = f.binary(&Multiply::ROW, t, 1.0 - smoothing)?;
        t = f.binary(&Add::ROW, kept, smoothing / p.classes as f64)?;
    }
    if let Some(w) = &weight {
        let w = f.input(w)?;
        t = f.binary(&Multiply::ROW, t, w)?;
    }
    let factors = f.input(&factor)?;
    let t = f.binary(&Multiply::ROW, t, factors)?;
    let t = f.write(t, wide)?;
    let sums = ops::sum(&t, Axes::from(p.axis as isize).keepdims())?;
    let mut f = Formula::new(op, &[p.x.shape()], wide)?;
    let (y, t, sums) = (f.input(&y)?, f.input(&t)?, f.input(&sums)?);
    let y = f.binary(&Multiply::ROW, y, sums)?;
    let d = f.binary(&Subtract::ROW, y, t)?;
    f.write(d, wide)
}
