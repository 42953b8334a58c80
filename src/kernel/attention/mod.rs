//! Attention for a block of queries, without a matrix of all scores: keys and values in tiles, with the running maximum and sum
//! of an online softmax.
//!
//! Scores are kept transposed, a row a key and a column a query. Then nothing is packed: keys, the transposed queries, the
//! scores and the values are all read where they lie, and the softmax runs along rows of queries, a lane each.
//!
//! ```text
//! queries transposed, times the scale                              [depth][queries]
//! for keys and values in tiles of 256
//!   scores = keys queries                                          [keys][queries]
//!   scores += bias, = -inf where masked
//!   maximum of each query; out *= exp(old maximum - new)
//!   scores = exp(scores - maximum); sum of each query
//!   out += scores^T values                                         [queries][depth of the values]
//! out /= sum, zero where nothing took part
//! ```

use crate::dtype::Bool;
use crate::error::Result;
use crate::kernel::gemm::{self, Lane, Mat, MatMut, Product, Scratch, Stages};
use crate::kernel::math::Math;
use crate::kernel::norm::Float;
use core::ops::Range;

/// Queries of a block.
pub const QUERIES: usize = if cfg!(feature = "std") { 64 } else { 8 };
/// Keys of a tile.
const KEYS: usize = if cfg!(feature = "std") { 256 } else { 32 };

/// Queries of a row of scores are a multiple of this, but for very few.
const LANES: usize = if cfg!(feature = "std") { 16 } else { 4 };

/// Which keys take part, and what is added to their scores.
#[derive(Clone, Copy)]
pub enum Mask<'a, F> {
    /// All.
    None,
    /// Those where it is true (of query and key).
    Bool(Mat<'a, Bool>),
    /// All, their scores plus a number.
    Bias(Mat<'a, F>),
}

/// One head.
#[derive(Clone, Copy)]
pub struct Head<'a, F> {
    /// `[queries, depth]`.
    pub q: Mat<'a, F>,
    /// `[keys, depth]`.
    pub k: Mat<'a, F>,
    /// `[keys, depth of the result]`.
    pub v: Mat<'a, F>,
    /// `[queries, keys]`.
    pub mask: Mask<'a, F>,
    /// Query `i` sees keys `0..=i` only.
    pub causal: bool,
    /// What scores are multiplied with.
    pub scale: F,
}

/// The rows `queries` of the result, at most [`QUERIES`] of them, to `out`. Panics where the shapes don't fit.
///
/// Errors where there is no memory for the scores.
pub fn block<F: Float + Lane + Product<Lane = F>>(head: &Head<F>, queries: Range<usize>, mut out: MatMut<F>) -> Result<()> {
    let (depth, keys, width, count) = (head.q.cols(), head.k.rows(), head.v.cols(), queries.len());
    assert!(head.k.cols() == depth && head.v.rows() == keys && (out.rows(), out.cols()) == (count, width));
    // Rows of scores are whole vectors, with queries of zeros at the end: their rest would cost as much as a block of queries.
    let n = if count < LANES / 4 { count } else { count.next_multiple_of(LANES) };
    let longest = keys.min(KEYS);
    let mut scratch = Scratch::<F>::new(depth.saturating_add(longest + 4).saturating_mul(n))?;
    let (q, rest) = scratch.split_at_mut(depth * n);
    let (scores, rest) = rest.split_at_mut(longest * n);
    let (maxima, rest) = rest.split_at_mut(n);
    let (sums, rest) = rest.split_at_mut(n);
    let (tile_sums, factors) = rest.split_at_mut(n);
    gemm::panel(head.q.block(queries.clone(), 0..depth).t(), n.max(1), q);
    scale(q, head.scale);
    let q = Mat::from_slice(q, depth, n);
    maxima.fill(F::NEG_INFINITY);
    sums.fill(F::default());
    for i in 0..count {
        out.row(i).fill(F::default());
    }
    let visible = if head.causal { keys.min(queries.end) } else { keys };
    for start in (0..visible).step_by(KEYS) {
        let tile = start..visible.min(start + KEYS);
        let scores = &mut scores[..tile.len() * n];
        let keys = head.k.block(tile.clone(), 0..depth);
        gemm::product(keys, q, MatMut::from_slice(scores, tile.len(), n), false, Stages::NONE)?;
        head.mask_scores(scores, n, &queries, &tile);
        accumulate(scores, maxima, sums, tile_sums, factors);
        for (i, factor) in factors[..count].iter().enumerate() {
            scale(out.row(i), *factor);
        }
        let weights = Mat::from_slice(scores, tile.len(), n).block(0..tile.len(), 0..count).t();
        gemm::product(weights, head.v.block(tile, 0..width), out.reborrow(), true, Stages::NONE)?;
    }
    for (i, sum) in sums[..count].iter().enumerate() {
        let factor = if *sum == F::default() { F::default() } else { F::ONE / *sum };
        scale(out.row(i), factor);
    }
    Ok(())
}

impl<F: Float> Head<'_, F> {
    /// Adds the bias, and takes out what is masked, in rows of `n`, whose first are those of `queries`.
    fn mask_scores(&self, scores: &mut [F], n: usize, queries: &Range<usize>, keys: &Range<usize>) {
        for (row, key) in scores.chunks_exact_mut(n).zip(keys.clone()) {
            let row = &mut row[..queries.len()];
            match self.mask {
                Mask::None => {}
                Mask::Bool(m) => {
                    let m = m.block(queries.clone(), key..key + 1);
                    for (i, s) in row.iter_mut().enumerate() {
                        // SAFETY: a column as high as `row` is long: `i < queries.len()`.
                        *s = if unsafe { m.get(i, 0) }.get() { *s } else { F::NEG_INFINITY };
                    }
                }
                Mask::Bias(m) => {
                    let m = m.block(queries.clone(), key..key + 1);
                    for (i, s) in row.iter_mut().enumerate() {
                        // SAFETY: a column as high as `row` is long: `i < queries.len()`.
                        *s = *s + unsafe { m.get(i, 0) };
                    }
                }
            }
            if self.causal && key > queries.start {
                row[..(key - queries.start).min(queries.len())].fill(F::NEG_INFINITY);
            }
        }
    }
}

kernel! {
    /// One step of the online softmax: `scores` (rows of as many queries as `maxima` has) become weights under the new maxima,
    /// `sums` follows, and `factors` are what earlier weights have to be multiplied with.
    fn accumulate<'a, F: Float>(
        scores: &'a mut [F], maxima: &'a mut [F], sums: &'a mut [F], tile_sums: &'a mut [F], factors: &'a mut [F],
    ) -> () { |I|
        let n = maxima.len();
        factors.copy_from_slice(maxima);
        tile_sums.fill(F::default());
        for row in scores.chunks_exact(n) {
            for (m, s) in maxima.iter_mut().zip(row) {
                *m = if *s > *m { *s } else { *m };
            }
        }
        for row in scores.chunks_exact_mut(n) {
            for ((s, m), sum) in row.iter_mut().zip(&*maxima).zip(&mut *tile_sums) {
                *s = Math::exp::<I>(*s - base(*m));
                *sum = *sum + *s;
            }
        }
        for (((f, m), sum), tile) in factors.iter_mut().zip(&*maxima).zip(sums).zip(tile_sums) {
            *f = Math::exp::<I>(*f - base(*m));
            *sum = *sum * *f + *tile;
        }
    }
}
/// What a query subtracts from its scores: zero while it has seen no key, so that its weights are zeros and not NaN.
#[inline(always)]
fn base<F: Float>(maximum: F) -> F {
    if maximum == F::NEG_INFINITY { F::default() } else { maximum }
}
kernel! {
    fn scale<'a, F: Float>(row: &'a mut [F], factor: F) -> () { |I|
        for x in row {
            *x = *x * factor;
        }
    }
}
