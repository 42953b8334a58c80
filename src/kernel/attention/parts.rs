//! Few queries by many keys. Reading keys and values dominates, so each is read once for all heads
//! that share it, and many keys are split into parts for all threads (as in Flash-Decoding, Dao et
//! al., 2023). The parts follow from the shape alone and are joined in order.
//!
//! ```text
//! for a part of the keys                         its state: mixed, maximum and sum of each query
//!   scores = queries keys^T                      [queries of all heads][keys]
//!   capped, plus bias, -inf where masked         head by head
//!   maximum; scores = exp(scores - maximum); sum
//!   mixed = scores values                        [queries of all heads][width]
//! out = sum of exp(maximum - largest) mixed / the same of the sums
//! ```

use super::head::{AttentionElement, Head};
use super::scores::Room;
use super::softmax;
use crate::error::Result;
use crate::kernel::gemm::{self, Epilogue, Mat, MatMut, Scratch};
use crate::kernel::math::Real;
use core::ops::Range;

/// The length of the state of `queries` queries.
pub fn state_len(queries: usize, width: usize) -> usize {
    width.saturating_add(2).saturating_mul(queries)
}

/// Whether elements of a row are adjacent and those of a column are not. The product of these has
/// the same bits whatever the row stride.
fn is_rows<T>(m: &Mat<T>) -> bool {
    m.cs() == 1 && m.rs().unsigned_abs() > 1
}

/// `c = a b` or `a b^T`, with `b` read in place or packed into rows.
fn product<T: AttentionElement>(
    a: Mat<T::Acc>,
    b: Mat<T>,
    transposed: bool,
    c: MatMut<T::Acc>,
) -> Result<()> {
    if is_rows(&b) {
        let b = if transposed { b.t() } else { b };
        return gemm::product(a, b, c, false, Epilogue::NONE);
    }
    let (rows, cols) = (b.rows(), b.cols());
    let mut packed = Scratch::<T::Acc>::new(rows.saturating_mul(cols))?;
    gemm::pack_panel(b, cols.max(1), &mut packed);
    let b = Mat::from_slice(&packed, rows, cols);
    let b = if transposed { b.t() } else { b };
    gemm::product(a, b, c, false, Epilogue::NONE)
}

/// The state of all queries of heads that share keys and values, over the range `keys`. Panics if
/// shapes don't match.
///
/// Errors if there is no memory for the scores.
pub fn part<T: AttentionElement>(
    heads: &[Head<T>],
    keys: Range<usize>,
    state: &mut [T::Acc],
) -> Result<()> {
    let Some(Head { k, v, .. }) = heads.first() else {
        return Ok(());
    };
    let (depth, width, len) = (k.cols(), v.cols(), keys.len());
    let rows = heads.iter().map(|head| head.q.rows()).sum::<usize>();
    let (mixed, rest) = state.split_at_mut(rows * width);
    let (maxima, sums) = rest.split_at_mut(rows);
    assert!(sums.len() == rows && k.rows() == v.rows());
    if len == 0 {
        mixed.fill(T::Acc::default());
        maxima.fill(T::Acc::NEG_INFINITY);
        sums.fill(T::Acc::default());
        return Ok(());
    }

    let mut q = Scratch::<T::Acc>::new(rows.saturating_mul(depth))?;
    let mut at = 0;
    for head in heads {
        let own = &mut q[at..][..head.q.rows() * depth];
        gemm::pack_panel(head.q, depth.max(1), own);
        softmax::scale(own, head.factor());
        at += own.len();
    }
    let mut scores = Scratch::<T::Acc>::new(rows.saturating_mul(len))?;
    product(
        Mat::from_slice(&q, rows, depth),
        k.block(keys.clone(), 0..depth),
        true,
        MatMut::from_slice(&mut scores, rows, len),
    )?;
    let mut at = 0;
    for head in heads {
        let queries = 0..head.q.rows();
        let own = &mut scores[at * len..][..queries.len() * len];
        let mut room = Room::new(&head.mask, own.len())?;
        head.finish_lines(own, len, queries.clone(), keys.clone(), &mut room);
        for (i, line) in (at..).zip(own.chunks_exact_mut(len)) {
            [maxima[i], sums[i]] = softmax::line(line);
        }
        at += queries.len();
    }
    product(
        Mat::from_slice(&scores, rows, len),
        v.block(keys, 0..width),
        false,
        MatMut::from_slice(mixed, rows, width),
    )
}

/// Joins the states of all parts, consecutive in the order of their keys, into the result.
/// Overwrites the first state. Panics if the number of rows doesn't match.
pub fn join<T: AttentionElement>(states: &mut [T::Acc], mut out: MatMut<T>) {
    let (rows, width) = (out.rows(), out.cols());
    let len = state_len(rows, width);
    assert!(len > 0 && states.len() >= len && states.len().is_multiple_of(len));
    let (first, rest) = states.split_at_mut(len);
    let (maxima, sums) = (rows * width, rows * (width + 1));
    for i in 0..rows {
        let mixed = i * width..(i + 1) * width;
        let mut sum = first[sums + i];
        if !rest.is_empty() {
            let top = rest
                .chunks_exact(len)
                .map(|part| part[maxima + i])
                .fold(first[maxima + i], |a, b| if b > a { b } else { a });
            let factor = softmax::factor(first[maxima + i], top);
            softmax::scale(&mut first[mixed.clone()], factor);
            sum = sum * factor;
            for part in rest.chunks_exact(len) {
                let factor = softmax::factor(part[maxima + i], top);
                softmax::add_scaled(&mut first[mixed.clone()], &part[mixed.clone()], factor);
                sum = sum + part[sums + i] * factor;
            }
        }
        softmax::finish(&first[mixed], sum, out.row(i));
    }
}
