//! Connectionist temporal classification (CTC).

use super::{Reduction, scalar};
use crate::dtype::DType;
use crate::error::{Error, Excerpt, Result};
use crate::exec::failure::try_each;
use crate::fallible;
use crate::kernel::ctc::{self, BLOCK, MARGIN};
use crate::kernel::math::Real;
use crate::par::Cost;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

/// The options of [`ctc_loss`].
///
/// ```
/// use flex::{Tensor, nn};
/// // one step has no room for two labels
/// let (x, labels) = (Tensor::from([[0.5f32.ln(); 2]]), Tensor::from([1i64, 1]));
/// let finite = nn::CtcLoss { zero_infinity: true, ..Default::default() };
/// assert_eq!(nn::ctc_loss(&x, &labels, &[1], &[2], finite)?.item::<f32>()?, 0.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CtcLoss {
    /// The class of the blank label.
    pub blank: usize,
    /// How the losses are reduced; for a mean, each is first divided by its target's length, or 1.
    pub reduction: Reduction,
    /// Whether infinite losses, of targets that are too long, count as 0.
    pub zero_infinity: bool,
}

/// The negative log-probability of a sequence of labels, summed over all alignments with blanks
/// between labels (Graves et al. 2006). `log_probs` is `[time, batch, classes]` or `[time,
/// classes]`; `targets` are integers, `[batch, length]` or concatenated; the lengths say how much
/// of each is used.
///
/// Errors if shapes or dtypes don't fit, if a length exceeds what there is, and if a label is the
/// blank or out of range, with the label and its position.
///
/// ```
/// use flex::{Tensor, nn};
/// // two steps, a blank and one label, all equally likely: 3 of 4 alignments give the label
/// let x = Tensor::from([[0.5f32.ln(); 2]; 2]);
/// let y = nn::ctc_loss(&x, &Tensor::from([1i64]), &[2], &[1], ())?;
/// assert!((y.item::<f32>()? + 0.75f32.ln()).abs() < 1e-6);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn ctc_loss(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &[usize],
    target_lengths: &[usize],
    options: impl Into<CtcLoss>,
) -> Result<Tensor> {
    ctc_loss_of(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        options.into(),
    )
}

fn ctc_loss_of(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &[usize],
    target_lengths: &[usize],
    options: CtcLoss,
) -> Result<Tensor> {
    const OP: &str = "ctc_loss";
    let dtype = log_probs.dtype();
    if !dtype.is_float() || dtype.is_storage() || !dtype.is_available() {
        return Err(Error::unsupported(OP, dtype));
    }
    if !targets.dtype().is_integer() {
        let message = message!("targets must be integers, not {}", targets.dtype());
        return Err(Error::dtype(OP, message));
    }
    let wrong = |message| {
        let operands = [
            ("log_probs", log_probs.shape(), dtype),
            ("targets", targets.shape(), targets.dtype()),
        ];
        Error::shape_of(OP, message, &operands)
    };
    let (steps, batch, classes) = match *log_probs.shape() {
        [steps, batch, classes] => (steps, batch, classes),
        [steps, classes] => (steps, 1, classes),
        _ => {
            return Err(wrong(message!(
                "log_probs must have the shape [time, batch, classes]"
            )));
        }
    };
    if input_lengths.len() != batch || target_lengths.len() != batch {
        let message = message!(
            "there are {} input_lengths and {} target_lengths, for a batch of {batch}",
            input_lengths.len(),
            target_lengths.len()
        );
        return Err(wrong(message));
    }
    if options.blank >= classes {
        let message = message!("blank {} out of range for {classes} classes", options.blank);
        return Err(Error::value(OP, message));
    }
    if let Some(n) = input_lengths.iter().find(|n| **n > steps) {
        let message = message!("input_lengths has {n}, but there are {steps} steps");
        return Err(wrong(message));
    }
    let places = places(targets, batch, target_lengths).ok_or_else(|| {
        wrong(message!(
            "target_lengths are {}; targets must be [{batch}, length], or a vector of that many in all",
            Excerpt(&target_lengths)
        ))
    })?;
    let given = targets.copy_once()?.into_dtype(DType::I64)?; // READ1
    let given = given.as_slice::<i64>()?;
    for place in &places {
        for at in place.clone() {
            if !(0..classes as i64).contains(&given[at]) || given[at] == options.blank as i64 {
                let message = message!(
                    "targets has {} at row-major position {at}, which is the blank, {}, or out of range for {classes} classes",
                    given[at],
                    options.blank
                );
                return Err(Error::value(OP, message));
            }
        }
    }
    let x = log_probs.astype(dtype.wide())?.contiguous()?;
    let longest = target_lengths.iter().copied().max().unwrap_or(0);
    let cost = Cost {
        bytes: steps.saturating_mul(longest).saturating_mul(64),
        flops: steps.saturating_mul(longest).saturating_mul(200),
    };
    let mut losses = fallible::filled(0.0f64, batch)?;
    dispatch!(float x.dtype(), |F| {
        let x = x.as_slice::<F>()?;
        try_each(&mut losses, cost, |b, loss| {
            let labels = &given[places[b].clone()];
            let at = |t: usize, class: usize| x[(t * batch + b) * classes + class].to_f64();
            let l = negative_log(labels, options.blank, input_lengths[b], at)?;
            *loss = if options.zero_infinity && l == f64::INFINITY { 0.0 } else { l };
            Ok(())
        })?;
    }, else return Err(Error::unsupported(OP, dtype)));
    match options.reduction {
        Reduction::Sum => scalar(OP, losses.iter().sum(), dtype),
        Reduction::Mean => {
            let each = losses.iter().zip(target_lengths);
            let sum: f64 = each.map(|(l, n)| l / (*n).max(1) as f64).sum();
            scalar(OP, sum / batch as f64, dtype)
        }
        Reduction::None => {
            let shape = &[batch][..usize::from(log_probs.rank() == 3)];
            let mut y = Tensor::empty(shape, dtype.wide())?;
            dispatch!(float y.dtype(), |F| {
                for (y, l) in y.as_mut_slice::<F>()?.iter_mut().zip(&losses) {
                    *y = *l as F;
                }
            }, else return Err(Error::unsupported(OP, dtype)));
            y.into_dtype(dtype)
        }
    }
}

/// The range of each sequence's labels; none if lengths don't fit.
fn places(targets: &Tensor, batch: usize, lengths: &[usize]) -> Option<Vec<Range<usize>>> {
    let mut places = fallible::with_capacity(batch).ok()?;
    let mut end = 0usize;
    for (b, n) in lengths.iter().enumerate() {
        let first = match *targets.shape() {
            [rows, longest] if rows == batch && *n <= longest => b * longest,
            [_] => end,
            _ => return None,
        };
        end = first.checked_add(*n)?;
        if end > targets.len() {
            return None;
        }
        places.push(first..end);
    }
    let all_used = targets.rank() == 2 || end == targets.len();
    all_used.then_some(places)
}

/// Computes the forward variables: after each step, the log-probability of being at each place, of
/// labels with blanks between them. `at` gives that of a class at a step.
fn negative_log(
    labels: &[i64],
    blank: usize,
    steps: usize,
    at: impl Fn(usize, usize) -> f64,
) -> Result<f64> {
    if steps == 0 {
        return Ok(if labels.is_empty() {
            0.0
        } else {
            f64::INFINITY
        });
    }
    let places = 2 * labels.len() + 1;
    let line = places.next_multiple_of(BLOCK);
    let mut lines = fallible::filled(f64::NEG_INFINITY, 4 * line + 2 * MARGIN)?;
    let (skips, lines) = lines.split_at_mut(line);
    let (seen, lines) = lines.split_at_mut(line);
    let (mut now, mut next) = lines.split_at_mut(line + MARGIN);
    for (k, pair) in labels.windows(2).enumerate() {
        // a blank may be skipped between different labels
        if pair[0] != pair[1] {
            skips[2 * k + 3] = 0.0;
        }
    }
    now[MARGIN] = at(0, blank);
    if let Some(first) = labels.first() {
        now[MARGIN + 1] = at(0, *first as usize);
    }
    for t in 1..steps {
        let of_blank = at(t, blank);
        seen[2 * labels.len()] = of_blank;
        for (seen, label) in seen.as_chunks_mut::<2>().0.iter_mut().zip(labels) {
            *seen = [of_blank, at(t, *label as usize)];
        }
        ctc::step(now, skips, seen, next);
        (now, next) = (next, now);
    }
    // at the last label, or the blank after it
    let ends = [now[MARGIN + places - 1], now[MARGIN + places - 2]];
    if ends == [f64::NEG_INFINITY; 2] {
        return Ok(f64::INFINITY);
    }
    let largest = ends[0].max(ends[1]);
    let sum: f64 = ends.iter().map(|x| libm::exp(x - largest)).sum();
    Ok(-(largest + libm::log(sum)))
}
