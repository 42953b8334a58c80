//! A block of many queries of one head.
//!
//! Scores are kept transposed, one line per key and one column per query, in panels as wide as the
//! register tile. The queries are then the packed operand of the first product and the scores the
//! contiguous operand of the second, a panel stays in L1 between the two, and the softmax is
//! vectorised over queries.
//!
//! ```text
//! queries transposed, times the scale, in panels  [panel][depth][queries]
//! for tiles of 256 keys and values                packed into rows and panels, or read in place
//!   for panels of queries                         and the keys of the tile that any of them sees
//!     scores = keys queries                       [keys][queries]
//!     capped, plus bias, -inf where masked
//!     maximum of each query; out *= exp(old maximum - new)
//!     scores = exp(scores - maximum); sum of each query
//!     out += scores^T values                      [queries][depth of the values]
//! out /= sum, zero where every key was masked
//! ```

use super::blocking::{DIRECT, KEYS};
use super::head::{Attended, Head, accumulators};
use super::scores::Room;
use super::softmax;
use crate::error::Result;
use crate::kernel::gemm::{self, Mat, MatMut, Packed, Scratch};
use crate::kernel::math::Real;
use crate::simd;
use core::ops::Range;

/// The panels of `count` columns: the columns of each, and its width.
fn panels<F: Packed>(count: usize) -> impl Iterator<Item = (Range<usize>, usize)> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let w = gemm::panel_width::<F>(count - at);
        let cols = at..count.min(at + w);
        at = cols.end;
        (!cols.is_empty()).then_some((cols, w))
    })
}

/// The intersection of two ranges.
fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

/// The values, if the microkernel can read them in place: rows of whole panels that either are
/// packed already or serve too few queries to be worth packing.
fn values_in_place<T: Attended>(v: &Mat<T>, queries: usize) -> bool {
    let width = v.cols();
    let whole = gemm::padded_width::<T::Acc>(width) == width && (v.cs() == 1 || width == 1);
    let is_panel =
        v.rs() == width as isize && panels::<T::Acc>(width).next() == Some((0..width, width));
    T::SAME && whole && (simd::MICROCONTROLLER || is_panel || queries <= DIRECT)
}

/// Writes the rows `queries` of the result, at most a block, to `out`. Panics if shapes don't
/// match.
///
/// Errors if there is no memory for the scores.
pub fn block<T: Attended>(head: &Head<T>, queries: Range<usize>, mut out: MatMut<T>) -> Result<()> {
    let (depth, keys, width, count) = (head.q.cols(), head.k.rows(), head.v.cols(), queries.len());
    assert!(
        head.k.cols() == depth
            && head.v.rows() == keys
            && (out.rows(), out.cols()) == (count, width)
    );
    let visible = head.band.over(queries.clone(), keys);
    let k_in_place = accumulators(head.k).filter(gemm::reads_a);
    let v_in_place = accumulators(head.v).filter(|_| values_in_place(&head.v, count));
    let (n, padded) = (
        gemm::padded_width::<T::Acc>(count),
        gemm::padded_width::<T::Acc>(width),
    );
    let widest = panels::<T::Acc>(count).next().map_or(0, |(_, w)| w);
    let longest = visible.len().min(KEYS);
    let unless = |there: bool, len: usize| if there { 0 } else { len };
    let lens = [
        depth.saturating_mul(n),
        longest * widest,
        n,
        n,
        widest,
        unless(k_in_place.is_some(), longest.saturating_mul(depth)),
        unless(v_in_place.is_some(), longest.saturating_mul(padded)),
        count.saturating_mul(padded),
    ];
    let mut scratch = Scratch::<T::Acc>::new(
        lens.iter()
            .fold(0, |sum: usize, len| sum.saturating_add(*len)),
    )?;
    let mut room = Room::new(&head.mask, longest * widest)?;
    let mut rest = &mut scratch[..];
    let [q, scores, maxima, sums, factors, packed_k, packed_v, mixed] =
        lens.map(|len| rest.split_off_mut(..len).unwrap());

    for (cols, w) in panels::<T::Acc>(count) {
        let rows = queries.start + cols.start..queries.start + cols.end;
        let rows = head.q.block(rows, 0..depth);
        gemm::pack_panel(rows.t(), w, &mut q[depth * cols.start..][..depth * w]);
    }
    softmax::scale(q, head.factor());
    maxima.fill(T::Acc::NEG_INFINITY);
    sums.fill(T::Acc::default());
    // Tiles begin at multiples of their length, so that a query meets the same tiles in any block.
    for start in (visible.start / KEYS * KEYS..visible.end).step_by(KEYS) {
        let tile = common(&visible, &(start..start + KEYS));
        let len = tile.len();
        let k = match k_in_place {
            Some(k) => k.block(tile.clone(), 0..depth),
            None => {
                let packed = &mut packed_k[..len * depth];
                gemm::pack_panel(head.k.block(tile.clone(), 0..depth), depth.max(1), packed);
                Mat::from_slice(packed, len, depth)
            }
        };
        if v_in_place.is_none() {
            for (cols, w) in panels::<T::Acc>(width) {
                let packed = &mut packed_v[len * cols.start..][..len * w];
                gemm::pack_panel(head.v.block(tile.clone(), cols), w, packed);
            }
        }
        for (cols, w) in panels::<T::Acc>(count) {
            let own = queries.start + cols.start..queries.start + cols.end;
            let all = head.band.over(own.clone(), keys);
            let seen = common(&all, &tile);
            if seen.is_empty() {
                continue;
            }
            let again = seen.start > all.start;
            let local = seen.start - tile.start..seen.end - tile.start;
            let scores = &mut scores[..seen.len() * w];
            let q = Mat::from_slice(&q[depth * cols.start..][..depth * w], depth, w);
            gemm::multiply_panel(
                k.block(local.clone(), 0..depth),
                q,
                MatMut::from_slice(scores, seen.len(), w),
                false,
            );
            head.finish_columns(scores, w, own, seen.clone(), &mut room);
            let lanes = cols.start..cols.start + w;
            softmax::accumulate(
                scores,
                &mut maxima[lanes.clone()],
                &mut sums[lanes],
                &mut factors[..w],
            );
            for (i, factor) in cols.clone().zip(&*factors) {
                if again && *factor != T::Acc::ONE {
                    softmax::scale(&mut mixed[i * padded..][..padded], *factor);
                }
            }
            let weights = Mat::from_slice(scores, seen.len(), w)
                .block(0..seen.len(), 0..cols.len())
                .t();
            for (across, w) in panels::<T::Acc>(width) {
                let v = match v_in_place {
                    Some(v) => v.block(seen.clone(), across.clone()),
                    None => Mat::from_slice(&packed_v[len * across.start..][..len * w], len, w)
                        .block(local.clone(), 0..w),
                };
                let whole = MatMut::from_slice(mixed, count, padded);
                // SAFETY: no other part is borrowed.
                let part = unsafe { whole.part(cols.clone(), across.start..across.start + w) };
                gemm::multiply_panel(weights, v, part, again);
            }
        }
    }
    for (i, sum) in sums[..count].iter().enumerate() {
        softmax::finish(&mixed[i * padded..][..width], *sum, out.row(i));
    }
    Ok(())
}
