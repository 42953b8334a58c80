//! Attention for a block of queries, without a matrix of all scores: keys and values in tiles, with
//! the running maximum and sum of an online softmax.
//!
//! Scores are kept transposed, a row a key and a column a query, in panels as wide as the register
//! tile: then the queries are the packed side of the first product and the scores the contiguous
//! side of the second, a panel stays in L1 between them, and the softmax runs along rows of
//! queries, a lane each.
//!
//! ```text
//! queries transposed, times the scale, in panels                   [panel][depth][queries]
//! for keys and values in tiles of 256                              values packed into panels, where several panels of queries meet them
//!   for panels of queries                                          but of those that see no key of the tile
//!     scores = keys queries                                        [keys][queries]
//!     scores += bias, = -inf where masked
//!     maximum of each query; out *= exp(old maximum - new)
//!     scores = exp(scores - maximum); sum of each query
//!     out += scores^T values                                       [queries][depth of the values]
//! out /= sum, zero where nothing took part
//! ```

mod softmax;

use crate::dtype::Bool;
use crate::error::Result;
use crate::kernel::gemm::{self, Epilogue, Mat, MatElement, MatMut, Packed, Scratch};
use crate::kernel::math::Real;
use crate::simd;
use core::ops::Range;

/// Queries of a block at least, where there are so many, and at most: each block packs all values,
/// so more are faster.
const LEAST: usize = if cfg!(feature = "std") { 64 } else { 8 };
pub const QUERIES: usize = if cfg!(feature = "std") { 256 } else { 8 };
/// Keys of a tile.
const KEYS: usize = if cfg!(feature = "std") { 256 } else { 32 };
/// Fewer queries are no panel: their products are bound by the memory of keys and values.
const FEW: usize = if cfg!(feature = "std") { 4 } else { 1 };
/// Queries up to which values are read in place: packing them would cost more than it saves.
const DIRECT: usize = 12;

/// Queries of a block, where so many heads have so many each: several blocks for each thread. A
/// query's bits don't depend on it.
pub fn rows(heads: usize, queries: usize, threads: usize) -> usize {
    let mut rows = QUERIES;
    while rows > LEAST && heads.saturating_mul(queries.div_ceil(rows)) < 4 * threads {
        rows /= 2;
    }
    rows
}

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

/// The rows `queries` of the result, at most [`QUERIES`] of them, to `out`. Panics where the shapes
/// don't fit.
///
/// Errors where there is no memory for the scores.
pub fn block<F: Real + Packed + MatElement<Acc = F>>(
    head: &Head<F>,
    queries: Range<usize>,
    mut out: MatMut<F>,
) -> Result<()> {
    let (depth, keys, width, count) = (head.q.cols(), head.k.rows(), head.v.cols(), queries.len());
    assert!(
        head.k.cols() == depth
            && head.v.rows() == keys
            && (out.rows(), out.cols()) == (count, width)
    );
    let visible = if head.causal {
        keys.min(queries.end)
    } else {
        keys
    };
    if visible == 0 {
        (0..count).for_each(|i| out.row(i).fill(F::default()));
        return Ok(());
    }
    let few = count < FEW;
    let (n, padded) = if few {
        (count, width)
    } else {
        (
            gemm::padded_width::<F>(count),
            gemm::padded_width::<F>(width),
        )
    };
    let widest = panels::<F>(count, few).next().map_or(0, |(_, w)| w);
    let longest = visible.min(KEYS);
    // What tiles read and write in place: keys by rows, values that are a panel as they lie, rows
    // of whole vectors.
    let direct_k = few || gemm::reads_a(&head.k);
    let is_panel = head.v.rs() == width as isize
        && panels::<F>(width, false).next() == Some((0..width, width));
    let direct_v = few
        || padded == width
            && (head.v.cs() == 1 || width == 1)
            && (simd::MICROCONTROLLER || is_panel || count <= DIRECT);
    let direct_out = padded == width;
    let lens = [
        depth.saturating_mul(n),
        longest * widest,
        n,
        n,
        widest,
        if direct_k {
            0
        } else {
            longest.saturating_mul(depth)
        },
        if direct_v {
            0
        } else {
            longest.saturating_mul(padded)
        },
        if direct_out {
            0
        } else {
            count.saturating_mul(padded)
        },
    ];
    let mut scratch = Scratch::<F>::new(
        lens.iter()
            .fold(0, |sum: usize, len| sum.saturating_add(*len)),
    )?;
    let mut rest = &mut scratch[..];
    let [
        q,
        scores,
        maxima,
        sums,
        factors,
        packed_k,
        packed_v,
        partial,
    ] = lens.map(|len| rest.split_off_mut(..len).unwrap());

    for (cols, w) in panels::<F>(count, few) {
        let rows = head.q.block(
            queries.start + cols.start..queries.start + cols.end,
            0..depth,
        );
        gemm::pack_panel(rows.t(), w, &mut q[depth * cols.start..][..depth * w]);
    }
    softmax::scale(q, head.scale);
    maxima.fill(F::NEG_INFINITY);
    sums.fill(F::default());
    let mut mixed = if direct_out {
        out.reborrow()
    } else {
        MatMut::from_slice(partial, count, padded)
    };
    for start in (0..visible).step_by(KEYS) {
        let tile = start..visible.min(start + KEYS);
        let len = tile.len();
        let (mut k, v) = (
            head.k.block(tile.clone(), 0..depth),
            head.v.block(tile, 0..width),
        );
        if !direct_k {
            gemm::pack_panel(k, depth.max(1), &mut packed_k[..len * depth]);
            k = Mat::from_slice(&packed_k[..len * depth], len, depth);
        }
        if !direct_v {
            for (cols, w) in panels::<F>(width, false) {
                gemm::pack_panel(
                    v.block(0..len, cols.clone()),
                    w,
                    &mut packed_v[len * cols.start..][..len * w],
                );
            }
        }
        for (cols, w) in panels::<F>(count, few) {
            let own = queries.start + cols.start..queries.start + cols.end;
            let seen = if head.causal {
                len.min(own.end.saturating_sub(start))
            } else {
                len
            };
            if seen == 0 {
                continue;
            }
            let scores = &mut scores[..seen * w];
            let (k, q) = (
                k.block(0..seen, 0..depth),
                Mat::from_slice(&q[depth * cols.start..][..depth * w], depth, w),
            );
            if few {
                gemm::product(
                    k,
                    q,
                    MatMut::from_slice(scores, seen, w),
                    false,
                    Epilogue::NONE,
                )?;
            } else {
                gemm::multiply_panel(k, q, MatMut::from_slice(scores, seen, w), false);
            }
            head.mask_scores(scores, w, &own, &(start..start + seen));
            let lanes = cols.start..cols.start + w;
            softmax::accumulate(
                scores,
                &mut maxima[lanes.clone()],
                &mut sums[lanes],
                &mut factors[..w],
            );
            let again = start > 0;
            for (i, factor) in cols
                .clone()
                .zip(&*factors)
                .filter(|(_, factor)| again && **factor != F::ONE)
            {
                softmax::scale(mixed.row(i), *factor);
            }
            let weights = Mat::from_slice(scores, seen, w)
                .block(0..seen, 0..cols.len())
                .t();
            if few {
                gemm::product(
                    weights,
                    v.block(0..seen, 0..width),
                    mixed.reborrow(),
                    again,
                    Epilogue::NONE,
                )?;
                continue;
            }
            for (across, w) in panels::<F>(width, false) {
                let v = match direct_v {
                    true => v.block(0..seen, across.clone()),
                    false => Mat::from_slice(&packed_v[len * across.start..][..len * w], len, w)
                        .block(0..seen, 0..w),
                };
                // SAFETY: parts that are used one after the other.
                let part = unsafe { mixed.part(cols.clone(), across.start..across.start + w) };
                gemm::multiply_panel(weights, v, part, again);
            }
        }
    }
    for (i, sum) in sums[..count].iter().enumerate() {
        let factor = if *sum == F::default() {
            F::default()
        } else {
            F::ONE / *sum
        };
        if direct_out {
            softmax::scale(out.row(i), factor);
        } else {
            softmax::scaled(&partial[i * padded..][..width], factor, out.row(i));
        }
    }
    Ok(())
}

/// Columns in panels: those of each, and its width. Few are a panel as they are.
fn panels<F: Packed>(count: usize, few: bool) -> impl Iterator<Item = (Range<usize>, usize)> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let w = if few {
            count
        } else {
            gemm::panel_width::<F>(count - at)
        };
        let cols = at..count.min(at + w);
        at = cols.end;
        (!cols.is_empty()).then_some((cols, w))
    })
}

impl<F: Real> Head<'_, F> {
    /// Adds the bias, and takes out what is masked, in rows of `n`, whose first are those of
    /// `queries`.
    fn mask_scores(&self, scores: &mut [F], n: usize, queries: &Range<usize>, keys: &Range<usize>) {
        for (row, key) in scores.chunks_exact_mut(n).zip(keys.clone()) {
            let row = &mut row[..queries.len()];
            match self.mask {
                Mask::None => break,
                Mask::Bool(m) => {
                    let m = m.block(queries.clone(), key..key + 1);
                    for (i, s) in row.iter_mut().enumerate() {
                        // SAFETY: a column as high as `row` is long: `i < queries.len()`.
                        *s = if unsafe { m.get(i, 0) }.get() {
                            *s
                        } else {
                            F::NEG_INFINITY
                        };
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
        }
        // The queries that come before a key.
        let first = keys.end.min(queries.start + 1).max(keys.start);
        for key in if self.causal { first..keys.end } else { 0..0 } {
            scores[(key - keys.start) * n..][..(key - queries.start).min(queries.len())]
                .fill(F::NEG_INFINITY);
        }
    }
}
