//! Gradients of losses of distributions.

use super::common_float;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::elementwise::rows;
use crate::kernel::math::Real;
use crate::layout::{Axes, Shape};
use crate::nn::check;
use crate::nn::loss::classes::{Problem, doubles, sum_of};
use crate::nn::{CrossEntropy, Reduction, softmax};
use crate::ops;
use crate::ops::formula::Formula;
use crate::tensor::Tensor;
use alloc::vec::Vec;

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
/// let dx = nn::grad::cross_entropy(&one, &x, &target, Default::default())?;
/// assert_eq!(dx.to_vec::<f32>()?, [-0.25, 0.25, 0.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cross_entropy(
    grad: &Tensor,
    x: &Tensor,
    target: &Tensor,
    options: CrossEntropy,
) -> Result<Tensor> {
    const OP: &str = "grad.cross_entropy";
    let smoothing = options.label_smoothing;
    check::share(OP, "label_smoothing", smoothing)?;
    let p = Problem::new(OP, x, target, options.weight)?;
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
fn column(p: &Problem, numbers: impl Iterator<Item = f64>) -> Result<Tensor> {
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

/// `softmax(x) * all - share * weight` over all classes, less `own` at the target.
fn of_classes(
    op: &'static str,
    p: &Problem,
    grad: &[f64],
    target: &Tensor,
    options: CrossEntropy,
) -> Result<Tensor> {
    let targets = p.targets(target, options.ignore_index)?;
    let smoothing = options.label_smoothing;
    let each = smoothing / p.classes as f64;
    let total = match &p.weight {
        Some(w) => doubles(w)?.iter().sum(),
        None => p.classes as f64,
    };
    let divisor = match options.reduction {
        Reduction::Mean => sum_of(&targets.weights),
        _ => 1.0,
    };
    // a single gradient is that of every term
    let each_grad = grad.iter().cycle();
    let mut own: Vec<f64> = fallible::with_capacity(targets.weights.len())?;
    let mut share: Vec<f64> = fallible::with_capacity(targets.weights.len())?;
    for (weight, g) in targets.weights.iter().zip(each_grad) {
        let (w, g) = (
            weight.unwrap_or(0.0),
            if weight.is_some() { g / divisor } else { 0.0 },
        );
        own.push(g * (1.0 - smoothing) * w);
        share.push(g * each);
    }
    let all = column(
        p,
        own.iter()
            .zip(&share)
            .map(|(own, share)| own + share * total),
    )?;
    let y = softmax(&p.x, p.axis as isize)?;
    let spread = column(p, share.iter().copied())?;
    let weight = p.weight.as_ref().map(|w| p.along_classes(w)).transpose()?;
    let mut f = Formula::new(op, &[p.x.shape()], p.x.dtype())?;
    let (y, all) = (f.input(&y)?, f.input(&all)?);
    let mut d = f.binary(&rows::Multiply::ROW, y, all)?;
    // terms of weight 0 may be infinite
    d = f.ternary(&rows::Where::ROW, all, d, 0.0)?;
    if smoothing > 0.0 {
        let mut part = f.input(&spread)?;
        if let Some(w) = &weight {
            let w = f.input(w)?;
            part = f.binary(&rows::Multiply::ROW, part, w)?;
        }
        d = f.binary(&rows::Subtract::ROW, d, part)?;
    }
    let mut d = f.write(d, p.x.dtype())?.contiguous()?;
    let inner: usize = p.x.shape()[p.axis + 1..].iter().product();
    dispatch!(float d.dtype(), |F| {
        let d = d.as_mut_slice::<F>()?;
        for (k, (class, own)) in targets.classes.iter().zip(&own).enumerate() {
            let line = k / inner * p.classes * inner + k % inner;
            // out of range only if there are no classes
            if let Some(d) = d.get_mut(line + *class as usize * inner) {
                *d -= <F as Real>::from_f64(*own);
            }
        }
    }, else return Err(Error::unsupported(op, p.dtype)));
    Ok(d)
}

/// `softmax(x) * sum(t) - t` along the classes, for smoothed and weighted targets `t`.
fn of_probabilities(
    op: &'static str,
    p: &Problem,
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
        let kept = f.binary(&rows::Multiply::ROW, t, 1.0 - smoothing)?;
        t = f.binary(&rows::Add::ROW, kept, smoothing / p.classes as f64)?;
    }
    if let Some(w) = &weight {
        let w = f.input(w)?;
        t = f.binary(&rows::Multiply::ROW, t, w)?;
    }
    let factors = f.input(&factor)?;
    let t = f.binary(&rows::Multiply::ROW, t, factors)?;
    let t = f.write(t, wide)?;
    let sums = ops::sum(&t, Axes::from(p.axis as isize).keepdims())?;
    let mut f = Formula::new(op, &[p.x.shape()], wide)?;
    let (y, t, sums) = (f.input(&y)?, f.input(&t)?, f.input(&sums)?);
    let y = f.binary(&rows::Multiply::ROW, y, sums)?;
    let d = f.binary(&rows::Subtract::ROW, y, t)?;
    f.write(d, wide)
}
