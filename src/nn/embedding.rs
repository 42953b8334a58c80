//! Embeddings, embedding bags and one-hot vectors.

use super::check;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::gemm::MatElement;
pub use crate::kernel::index::bag::BagMode;
use crate::kernel::index::bag::{Bag, bag};
use crate::kernel::math::Real;
use crate::ops::take;
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

/// The rows of `weight`, `[entries, width]`, at `indices` of any shape: `[.., width]`. Negative
/// indices count from the end.
///
/// Errors if `indices` is not an integer tensor, an index is out of range, or `weight` is not a
/// matrix.
///
/// ```
/// use flex::{Tensor, nn};
/// let weight = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let rows = nn::embedding(&Tensor::from_slice(&[1i64, 0, 1], [3])?, &weight)?;
/// assert_eq!(rows.to_vec::<f32>()?, [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn embedding(indices: &Tensor, weight: &Tensor) -> Result<Tensor> {
    const OP: &str = "embedding";
    if weight.rank() != 2 {
        return Err(Error::shape_of(
            OP,
            "weight must have the shape [entries, width]",
            &[("weight", weight.shape(), weight.dtype())],
        ));
    }
    take(weight, indices, 0).map_err(|e| e.named(OP))
}

/// One-hot vectors: int64 with 1 at the position of each integer and 0 elsewhere; `[..]` gives
/// `[.., classes]`. By default the number of classes is one more than the largest integer.
///
/// Errors if `x` is not an integer tensor or has a value that is negative or too large; the message
/// names it and its position.
///
/// ```
/// let x = flex::Tensor::from([1i64, 0]);
/// assert_eq!(flex::nn::one_hot(&x, Some(3))?.to_vec::<i64>()?, [0, 1, 0, 1, 0, 0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("one_hot_fill"))]
pub fn one_hot(x: &Tensor, classes: Option<usize>) -> Result<Tensor> {
    const OP: &str = "one_hot";
    let given = integers(OP, "x", x)?;
    let given = given.as_slice::<i64>()?;
    let classes = classes.unwrap_or_else(|| {
        let largest = given.iter().copied().max().unwrap_or(-1);
        largest.saturating_add(1).max(0) as usize
    });
    in_range(OP, "x", given, classes)?;
    let shape: crate::layout::Shape = x.shape().iter().copied().chain([classes]).collect();
    let mut y = Tensor::empty(&shape[..], DType::I64)?;
    let cost = Cost {
        bytes: classes * size_of::<i64>(),
        flops: 0,
    };
    par::split(y.as_mut_slice::<i64>()?, classes, 1, cost, |rows, y| {
        for (row, class) in y.chunks_exact_mut(classes).zip(&given[rows]) {
            row.fill(0);
            row[*class as usize] = 1;
        }
    });
    Ok(y)
}

/// Integers copied to int64, so that the values checked are the values used (READ1).
fn integers(op: &'static str, name: &'static str, x: &Tensor) -> Result<Tensor> {
    if !x.dtype().is_integer() {
        let message = message!("{name} must be integers, not {}", x.dtype());
        return Err(Error::dtype(op, message));
    }
    x.copy_once()?.into_dtype(DType::I64)
}
/// Errors if a value is not below `size`, and names it.
fn in_range(op: &'static str, name: &str, x: &[i64], size: usize) -> Result<()> {
    let outside = |v: &i64| !(0..size as i64).contains(v);
    // without an early exit, the loop is vectorised
    if !x.iter().fold(false, |any, v| any | outside(v)) {
        return Ok(());
    }
    match x.iter().position(outside) {
        None => Ok(()),
        Some(at) => Err(Error::value(
            op,
            message!(
                "{name} has {} at row-major position {at}; it must be from 0 to below {size}",
                x[at]
            ),
        )),
    }
}

/// The options of [`embedding_bag`].
///
/// ```
/// use flex::{Tensor, nn};
/// let weight = Tensor::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
/// let starts = Tensor::from([0i64, 1]);
/// let sums = nn::EmbeddingBag {
///     offsets: Some(&starts),
///     mode: nn::BagMode::Sum,
///     ..Default::default()
/// };
/// let y = nn::embedding_bag(&Tensor::from([0i64, 1, 2]), &weight, sums)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 2.0, 8.0, 10.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddingBag<'a> {
    /// Where each bag starts, for indices of rank 1; the first is 0.
    pub offsets: Option<&'a Tensor>,
    /// How rows are reduced.
    pub mode: BagMode,
    /// A factor per row, with the shape of the indices; for sums only.
    pub per_sample_weights: Option<&'a Tensor>,
    /// Whether the last offset is the end of the last bag.
    pub include_last_offset: bool,
    /// Rows with this index are skipped.
    pub padding_idx: Option<usize>,
}

/// The sum, mean or maximum of the rows of `weight`, `[entries, width]`, at the indices of each
/// bag. A bag is a row of indices of rank 2, or a range between offsets. The result is `[bags,
/// width]`; the gathered rows are never materialised.
///
/// Errors if shapes don't fit, offsets don't ascend from 0, or an index is out of range, with the
/// index and its position; also if `padding_idx` is.
///
/// ```
/// use flex::{Tensor, nn};
/// let weight = Tensor::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
/// let y = nn::embedding_bag(&Tensor::from([[0i64, 2], [1, 1]]), &weight, ())?;
/// assert_eq!(y.to_vec::<f32>()?, [3.0, 4.0, 3.0, 4.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn embedding_bag<'a>(
    indices: &Tensor,
    weight: &Tensor,
    options: impl Into<EmbeddingBag<'a>>,
) -> Result<Tensor> {
    embedding_bag_of(indices, weight, options.into())
}

fn embedding_bag_of(indices: &Tensor, weight: &Tensor, options: EmbeddingBag) -> Result<Tensor> {
    const OP: &str = "embedding_bag";
    let EmbeddingBag {
        mode,
        per_sample_weights: factors,
        padding_idx,
        ..
    } = options;
    let &[entries, width] = weight.shape() else {
        let operands = [("weight", weight.shape(), weight.dtype())];
        let message = "weight must have the shape [entries, width]";
        return Err(Error::shape_of(OP, message, &operands));
    };
    let ends = ends(OP, indices, options)?;
    let given = integers(OP, "indices", indices)?;
    let given = given.as_slice::<i64>()?;
    if let Some(padding_idx) = padding_idx.filter(|p| *p >= entries) {
        let message = message!("padding_idx is {padding_idx}, but weight has {entries} entries");
        return Err(Error::value(OP, message));
    }
    let factors = match factors {
        None => None,
        Some(f) if mode != BagMode::Sum || f.shape() != indices.shape() => {
            let operands = [
                ("indices", indices.shape(), indices.dtype()),
                ("per_sample_weights", f.shape(), f.dtype()),
            ];
            let message =
                "per_sample_weights must have the shape of indices, and apply only to sums";
            return Err(Error::shape_of(OP, message, &operands));
        }
        Some(f) => {
            check::real(OP, "per_sample_weights", f)?;
            Some(f.astype(weight.dtype().wide())?.contiguous()?)
        }
    };
    let weight = weight.contiguous()?;
    let mut y = Tensor::empty([ends.len(), width], weight.dtype())?;
    if width == 0 {
        in_range(OP, "indices", given, entries)?;
        return Ok(y);
    }
    let bags = Bags {
        indices: given,
        ends: &ends,
        mode,
        padding: padding_idx.map(|p| p as i64),
        width,
    };
    let found = dispatch!(floating weight.dtype(), |T| {
        let factors = factors.as_ref().map(|f| f.as_slice()).transpose()?;
        bags.write::<T>(weight.as_slice()?, factors, y.as_mut_slice()?)
    }, else return Err(Error::unsupported(OP, weight.dtype())));
    if !found {
        in_range(OP, "indices", given, entries)?;
    }
    Ok(y)
}

/// The end of each bag.
fn ends(op: &'static str, indices: &Tensor, options: EmbeddingBag) -> Result<Vec<usize>> {
    let wrong = |message| {
        let operands = [("indices", indices.shape(), indices.dtype())];
        Err(Error::shape_of(op, message, &operands))
    };
    match (indices.shape(), options.offsets) {
        (&[bags, n], None) => {
            let mut ends = fallible::with_capacity(bags)?;
            ends.extend((1..=bags).map(|b| b * n));
            Ok(ends)
        }
        (&[n], Some(offsets)) => {
            let given = integers(op, "offsets", offsets)?;
            let given = given.as_slice::<i64>()?;
            let rising = given.windows(2).all(|pair| pair[0] <= pair[1]);
            let last = if options.include_last_offset {
                n as i64
            } else {
                given.last().copied().unwrap_or(0)
            };
            let fits = given.first().is_none_or(|f| *f == 0) && last <= n as i64;
            let whole = !options.include_last_offset || given.last() == Some(&(n as i64));
            if offsets.rank() != 1 || !rising || !fits || !whole {
                return wrong(
                    "offsets must be a vector that ascends from 0 to at most the number of indices",
                );
            }
            let mut ends = fallible::with_capacity(given.len())?;
            ends.extend(given.iter().skip(1).map(|o| *o as usize));
            if !options.include_last_offset && !given.is_empty() {
                ends.push(n);
            }
            Ok(ends)
        }
        _ => wrong("indices must be [bags, length], or a vector with offsets"),
    }
}

/// Bags of indices.
struct Bags<'a> {
    indices: &'a [i64],
    ends: &'a [usize],
    mode: BagMode,
    padding: Option<i64>,
    width: usize,
}
impl Bags<'_> {
    /// Reduces each bag; false, with part of them written, if an index is out of range.
    fn write<T>(&self, weight: &[T], factors: Option<&[T::Acc]>, y: &mut [T]) -> bool
    where
        T: Element + MatElement<Acc: Real + Element>,
    {
        let mean = self.indices.len() / self.ends.len().max(1) + 1;
        let cost = Cost {
            bytes: (mean * self.width).saturating_mul(size_of::<T>()),
            flops: (mean * self.width).saturating_mul(2),
        };
        let wrong = AtomicBool::new(false);
        par::split(y, self.width, 1, cost, |r, y| {
            for (b, to) in r.zip(y.chunks_mut(self.width)) {
                let first = if b == 0 { 0 } else { self.ends[b - 1] };
                let own = first..self.ends[b];
                let reduced = bag(Bag {
                    table: weight,
                    mode: self.mode,
                    rows: &self.indices[first..],
                    count: own.len(),
                    factors: factors.map(|f| &f[own]),
                    padding: self.padding,
                    to,
                });
                if reduced.is_err() {
                    return wrong.store(true, Ordering::Relaxed);
                }
            }
        });
        !wrong.into_inner()
    }
}
