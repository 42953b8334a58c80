//! Distances and similarities between rows.

use super::check;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::try_chunks;
use crate::exec::lines::Lines;
use crate::exec::products::{ProductSizes, Right, products};
use crate::kernel::distance::{self, Distance};
use crate::kernel::elementwise::rows;
use crate::kernel::gemm::{Epilogue, EpilogueOp, Map};
use crate::kernel::math::Real;
use crate::kernel::norm::{CHUNK, Power};
use crate::kernel::range::{least_sum, most_sum};
use crate::layout::{self, Shape};
use crate::ops;
use crate::ops::formula::Formula;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The options of [`cosine_similarity`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, b) = (Tensor::from([[3.0f32, 4.0]]), Tensor::from([[6.0f32, -4.0]]));
/// let columns = nn::CosineSimilarity { axis: 0, ..Default::default() };
/// assert_eq!(nn::cosine_similarity(&a, &b, columns)?.to_vec::<f32>()?, [1.0, -1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CosineSimilarity {
    /// The axis along which vectors lie.
    pub axis: isize,
    /// The lower bound of the norms.
    pub eps: f64,
}
impl Default for CosineSimilarity {
    fn default() -> Self {
        CosineSimilarity { axis: 1, eps: 1e-8 }
    }
}

/// The cosine of the angle between vectors along an axis: `sum(x1 x2) / (max(|x1|, eps) max(|x2|,
/// eps))`. Operands broadcast, and the axis is removed. A negative axis counts from the end.
///
/// Errors if shapes or dtypes don't fit, the axis is out of range, or `eps` is negative or not
/// finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, b) = (Tensor::from([[3.0f32, 4.0]]), Tensor::from([[3.0f32, 4.0], [-4.0, 3.0]]));
/// assert_eq!(nn::cosine_similarity(&a, &b, ())?.to_vec::<f32>()?, [1.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cosine_similarity(
    x1: &Tensor,
    x2: &Tensor,
    options: impl Into<CosineSimilarity>,
) -> Result<Tensor> {
    const OP: &str = "cosine_similarity";
    let CosineSimilarity { axis, eps } = options.into();
    check::eps(OP, eps)?;
    // the losses pass axis 1 for a batch, whose vectors may have no batch dimension
    let rank = x1.rank().max(x2.rank());
    let axis = if rank == 1 && axis == 1 { -1 } else { axis };
    of_lines(OP, x1, x2, axis, Distance::Cosine { eps })
}

/// The options of [`pairwise_distance`].
///
/// Example: [`pairwise_distance`].
#[derive(Clone, Copy, Debug)]
pub struct PairwiseDistance {
    /// The order of the norm.
    pub p: f64,
    /// Added to differences.
    pub eps: f64,
    /// Whether the last axis is kept, with size 1.
    pub keepdims: bool,
}
impl Default for PairwiseDistance {
    fn default() -> Self {
        PairwiseDistance {
            p: 2.0,
            eps: 1e-6,
            keepdims: false,
        }
    }
}

/// `sum(|x1 - x2 + eps|^p)^(1/p)` along the last axis. Operands broadcast.
///
/// Errors if shapes or dtypes don't fit, `p` is negative or NaN, or `eps` is negative or not finite.
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, b) = (Tensor::from([[3.0f32, 0.0]]), Tensor::from([[0.0f32, 4.0]]));
/// let exact = nn::PairwiseDistance { eps: 0.0, ..Default::default() };
/// assert_eq!(nn::pairwise_distance(&a, &b, exact)?.to_vec::<f32>()?, [5.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn pairwise_distance(
    x1: &Tensor,
    x2: &Tensor,
    options: impl Into<PairwiseDistance>,
) -> Result<Tensor> {
    const OP: &str = "pairwise_distance";
    let PairwiseDistance { p, eps, keepdims } = options.into();
    let power = power(OP, p)?;
    check::eps(OP, eps)?;
    let y = of_lines(OP, x1, x2, -1, Distance::Of { power, eps })?;
    if keepdims { y.expand_dims(-1) } else { Ok(y) }
}

/// The power of a norm of order `p`. Errors unless that is 0 or more.
pub(super) fn power(op: &'static str, p: f64) -> Result<Power> {
    check::number(op, "p", p, p >= 0.0, "0 or more")?;
    Ok(Power::from(p))
}

/// The common float dtype of both.
fn common(op: &'static str, a: &Tensor, b: &Tensor) -> Result<DType> {
    let dtype = a.dtype().promote(b.dtype(), op)?.inexact();
    if !dtype.is_float() || dtype.is_storage() || !dtype.wide().is_available() {
        return Err(Error::unsupported(op, dtype));
    }
    Ok(dtype)
}

/// The distance of each pair of lines along an axis, which is removed.
fn of_lines(op: &'static str, a: &Tensor, b: &Tensor, axis: isize, by: Distance) -> Result<Tensor> {
    let dtype = common(op, a, b)?;
    let shape = check::broadcast(op, &[("x1", a), ("x2", b)])?;
    let k = layout::axis(op, axis, shape.len())?;
    let wide = dtype.wide();
    let whole = |t: &Tensor| t.astype(wide)?.broadcast_to(&shape);
    let (a, b) = (whole(a)?, whole(b)?);
    let mut kept = shape.clone();
    kept[k] = 1;
    let mut y = Tensor::empty(&kept, wide)?;
    let n = shape[k];
    let cost = Cost {
        bytes: 2 * n * wide.size(),
        flops: 6 * n,
    };
    let longest = match by {
        Distance::Cosine { .. } if n > 0 => CHUNK,
        _ => 0,
    };
    let (lost, negated) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut run = |longest: usize| -> Result<()> {
        dispatch!(float wide, |F| {
            Lines::new(&shape, k)
                .columns(longest)
                .input(a.elements())
                .input(b.elements())
                .output(y.elements_mut()?)
                .run(cost, |line| {
                    let (a, b, y) = (line.input::<F>(0), line.input(1), line.output(0));
                    match by {
                        Distance::Cosine { eps } if line.columns() => {
                            if distance::cosines_of_columns(n, eps, a, b, y) {
                                lost.store(true, Relaxed);
                            }
                        }
                        _ => {
                            if distance::of(by, a, b, y) {
                                negated.store(true, Relaxed);
                            }
                        }
                    }
                })
        }, else Err(Error::unsupported(op, dtype)))
    };
    run(longest)?;
    if lost.load(Relaxed) {
        // rows find their own scale
        run(0)?;
    }
    rooted(y.squeeze(k as isize)?, by, negated.into_inner())?.into_dtype(dtype)
}

/// The options of [`cdist`].
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, b) = (Tensor::from([[0.0f32, 0.0]]), Tensor::from([[3.0f32, 4.0]]));
/// let manhattan = nn::Cdist { p: 1.0, ..Default::default() };
/// assert_eq!(nn::cdist(&a, &b, manhattan)?.to_vec::<f32>()?, [7.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cdist {
    /// The order of the norm.
    pub p: f64,
    /// Whether Euclidean distances are computed by a matrix product, which is faster but less
    /// precise for points close to each other. Default: with more than 25 points, as in torch.
    pub product: Option<bool>,
}
impl Default for Cdist {
    fn default() -> Self {
        Cdist {
            p: 2.0,
            product: None,
        }
    }
}

/// The distances between all rows of `x1`, `[.., m, width]`, and all rows of `x2`, `[.., n, width]`:
/// `[.., m, n]`. Leading dimensions broadcast.
///
/// Errors if shapes or dtypes don't fit, or `p` is negative or NaN.
///
/// ```
/// use flex::{Tensor, nn};
/// let (a, b) = (Tensor::from([[0.0f32, 0.0]]), Tensor::from([[3.0f32, 4.0], [0.0, 1.0]]));
/// assert_eq!(nn::cdist(&a, &b, ())?.to_vec::<f32>()?, [5.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cdist(x1: &Tensor, x2: &Tensor, options: impl Into<Cdist>) -> Result<Tensor> {
    cdist_of(x1, x2, options.into())
}

fn cdist_of(x1: &Tensor, x2: &Tensor, options: Cdist) -> Result<Tensor> {
    const OP: &str = "cdist";
    let Cdist { p, product } = options;
    let power = power(OP, p)?;
    let dtype = common(OP, x1, x2)?;
    let wrong = |message| {
        let operands = [
            ("x1", x1.shape(), x1.dtype()),
            ("x2", x2.shape(), x2.dtype()),
        ];
        Error::shape_of(OP, message, &operands)
    };
    let width = |x: &Tensor| (x.rank() >= 2).then(|| x.shape()[x.rank() - 1]);
    if width(x1).is_none() || width(x1) != width(x2) {
        return Err(wrong(
            "the shapes must be [.., m, width] and [.., n, width]",
        ));
    }
    let wide = dtype.wide();
    let (a, b) = (x1.astype(wide)?, x2.astype(wide)?);
    let (m, n) = (a.shape()[a.rank() - 2], b.shape()[b.rank() - 2]);
    let leads = [&a, &b].map(|t| &t.shape()[..t.rank() - 2]);
    let lead = layout::broadcast(OP, &leads)
        .map_err(|_| wrong("the dimensions before the last two do not broadcast"))?;
    let pairs: Shape = lead.iter().copied().chain([m, n]).collect();
    let mut y = Tensor::empty(&pairs, wide)?;
    if power == Power::Two && product.unwrap_or(m > 25 || n > 25) {
        by_product(OP, &a, &b, &lead, &mut y)?;
        return y.into_dtype(dtype);
    }
    let whole = |t: &Tensor| whole(t, &lead, 2)?.contiguous();
    let (a, b) = (whole(&a)?, whole(&b)?);
    let width = a.shape()[a.rank() - 1];
    let (by, negated) = (Distance::Of { power, eps: 0.0 }, AtomicBool::new(false));
    dispatch!(float wide, |F| {
        let (a, b) = (a.as_slice::<F>()?, b.as_slice::<F>()?);
        let cost = Cost { bytes: 8 * n, flops: n.saturating_mul(3 * width + 8) };
        if n > 0 {
            par::split(y.as_mut_slice::<F>()?, n, 1, cost, |r, y| {
                for (i, y) in r.zip(y.chunks_mut(n)) {
                    let others = &b[i / m * n * width..][..n * width];
                    if distance::of_many(by, &a[i * width..][..width], others, y) {
                        negated.store(true, Relaxed);
                    }
                }
            });
        }
    }, else return Err(Error::unsupported(OP, dtype)));
    rooted(y, by, negated.into_inner())?.into_dtype(dtype)
}

/// The measures from what kernels compute, which for whole orders from 3 on are their powers, or where
/// these were lost, the measures, `negated`.
fn rooted(y: Tensor, by: Distance, negated: bool) -> Result<Tensor> {
    match by {
        Distance::Of {
            power: Power::Whole(p),
            ..
        } => {
            let measures = negated.then(|| ops::negative(&y)).transpose()?;
            let roots = ops::pow(y, 1.0 / f64::from(p))?;
            match measures {
                Some(m) => ops::where_(&ops::greater(&m, 0.0)?, &m, &roots),
                None => Ok(roots),
            }
        }
        _ => Ok(y),
    }
}

/// The tensor with its last `own` dimensions behind these.
fn whole(t: &Tensor, lead: &[usize], own: usize) -> Result<Tensor> {
    let own = &t.shape()[t.rank() - own..];
    let shape: Shape = lead.iter().chain(own).copied().collect();
    t.broadcast_to(&shape[..])
}

/// `sqrt(|a|^2 + |b|^2 - 2 a b)`, clamped to 0 under the root, of the rows of matrices whose leading
/// dimensions broadcast to `lead`.
fn by_product(
    op: &'static str,
    a: &Tensor,
    b: &Tensor,
    lead: &[usize],
    y: &mut Tensor,
) -> Result<()> {
    let squares = |t: &Tensor| -> Result<Tensor> {
        let mut f = Formula::new(op, &[t.shape()], t.dtype())?;
        let x = f.input(t)?;
        let square = f.binary(&rows::Multiply::ROW, x, x)?;
        let [sums] = f.sums([square], -1)?;
        whole(&sums, lead, 1)?.contiguous()
    };
    let (of_a, of_b) = (squares(a)?, squares(b)?);
    let (rows_a, rows_b) = (whole(a, lead, 2)?, whole(b, lead, 2)?);
    let (a, b) = (&rows_a, rows_b.transpose(-1, -2)?);
    let (m, k, n) = (
        a.shape()[lead.len()],
        a.shape()[lead.len() + 1],
        b.shape()[lead.len() + 1],
    );
    let sizes = ProductSizes { m, n, k };
    let cost = Cost {
        bytes: 0,
        flops: m.saturating_mul(n).saturating_mul(k + 8),
    };
    dispatch!(float y.dtype(), |F| {
        let (of_a, of_b) = (of_a.as_slice::<F>()?, of_b.as_slice::<F>()?);
        let (left, right) = (Matrices::<F>::new(a), Matrices::<F>::new(&b));
        let map = |row| Map::of(row).ok_or_else(|| Error::unsupported(op, F::DTYPE));
        let (clamp, root) = (map(&rows::Relu::ROW)?, map(&rows::Sqrt::ROW)?);
        let c = ResultMatrices::<F>::new(y, m, n)?;
        try_chunks(lead.iter().product(), cost, |i| {
            let ops = [
                EpilogueOp::Scale(-2.0),
                EpilogueOp::RowBias(&of_a[i * m..][..m]),
                EpilogueOp::Bias(&of_b[i * n..][..n]),
                EpilogueOp::Map(clamp),
                EpilogueOp::Map(root),
            ];
            // SAFETY: the shapes are those of the operands; each matrix is used by one call.
            unsafe {
                let operands = |_| (left.get(i), right.get(i), c.get(i));
                products(sizes, 1, &operands, Right::Once, Epilogue::new(&ops, m, n))
            }
        })?;
        let lost = |x: &Tensor, squares: &[F]| -> Result<bool> {
            Ok(squares.iter().any(|s| is_far(*s)) && any_lost::<F>(x, squares)?)
        };
        if lost(&rows_a, of_a)? || lost(&rows_b, of_b)? {
            settle::<F>(&rows_a, &rows_b, [of_a, of_b], y)?;
        }
        Ok(())
    }, else Err(Error::unsupported(op, y.dtype())))
}

/// Whether a row's sum of squares is so large or small that the sum with another's may overflow, or
/// lost digits that count.
fn is_far<F: Real>(squares: F) -> bool {
    let (least, most) = (least_sum::<F>(), most_sum::<F>());
    !(squares >= F::from_f64(least) && squares <= F::from_f64(most))
}
/// Whether any row has such a sum and is not of zeros.
#[cold]
#[inline(never)]
fn any_lost<F: Real + Element>(x: &Tensor, squares: &[F]) -> Result<bool> {
    let x = x.contiguous()?;
    let x = x.as_slice::<F>()?;
    let width = x.len() / squares.len().max(1);
    let rows = squares.iter().enumerate().filter(|(_, s)| is_far(**s));
    let mut rows = rows.map(|(k, _)| &x[k * width..][..width]);
    Ok(rows.any(|x| x.iter().any(|x| *x != F::ZERO)))
}
/// Computes distances again, row from row, where the squares of both were lost.
#[cold]
#[inline(never)]
fn settle<F: Real + Element>(
    a: &Tensor,
    b: &Tensor,
    squares: [&[F]; 2],
    y: &mut Tensor,
) -> Result<()> {
    let (m, n) = (a.shape()[a.rank() - 2], b.shape()[b.rank() - 2]);
    let (a, b) = (a.contiguous()?, b.contiguous()?);
    let (a, b) = (a.as_slice::<F>()?, b.as_slice::<F>()?);
    let [of_a, of_b] = squares;
    let width = a.len() / of_a.len().max(1);
    let cost = Cost {
        bytes: 8 * n,
        flops: n.saturating_mul(8 * width + 8),
    };
    par::split(y.as_mut_slice::<F>()?, n, 1, cost, |r, y| {
        for (i, y) in r.zip(y.chunks_mut(n)) {
            for (j, y) in (i / m * n..).zip(y) {
                if is_far(of_a[i] + of_b[j]) {
                    let (a, b) = (&a[i * width..][..width], &b[j * width..][..width]);
                    *y = distance::length_by_largest(2.0, 0.0, a, b);
                }
            }
        }
    });
    Ok(())
}

/// The distances between all pairs of rows of `x`, `[n, width]`: the part of [`cdist`] above the
/// diagonal, row by row, as a vector of `n (n - 1) / 2`.
///
/// Errors if `x` is not a real matrix, or `p` is negative or NaN.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[0.0f32, 0.0], [3.0, 4.0], [0.0, 1.0]]);
/// assert_eq!(nn::pdist(&x, 1.0)?.to_vec::<f32>()?, [7.0, 1.0, 6.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn pdist(x: &Tensor, p: f64) -> Result<Tensor> {
    const OP: &str = "pdist";
    let power = power(OP, p)?;
    let dtype = common(OP, x, x)?;
    let &[n, width] = x.shape() else {
        let message = "x must have the shape [points, width]";
        return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    };
    let pairs = n.checked_mul(n.saturating_sub(1)).ok_or(Error::Memory {
        bytes: n as u128 * n as u128,
        limit: 0,
    })? / 2;
    let x = x.astype(dtype.wide())?.contiguous()?;
    let mut y = Tensor::empty([pairs], dtype.wide())?;
    let (by, negated) = (Distance::Of { power, eps: 0.0 }, AtomicBool::new(false));
    dispatch!(float y.dtype(), |F| {
        let x = x.as_slice::<F>()?;
        let out = Out::new(y.as_mut_slice::<F>()?);
        let cost = Cost { bytes: 4 * n, flops: n.saturating_mul(width + 4) };
        par::chunks(n, cost, |i| {
            let before = i * n - i * (i + 1) / 2;
            // SAFETY: OUT1: a row's pairs with later rows follow those of earlier rows.
            let y = unsafe { out.part(before..before + n - i - 1) };
            if distance::of_many(by, &x[i * width..][..width], &x[(i + 1) * width..], y) {
                negated.store(true, Relaxed);
            }
        });
    }, else return Err(Error::unsupported(OP, dtype)));
    rooted(y, by, negated.into_inner())?.into_dtype(dtype)
}
