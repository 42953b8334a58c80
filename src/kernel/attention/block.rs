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
//!
//! On CPUs that multiply bfloat16 in pairs, queries and keys are paired along their depth, and
//! weights, rounded to bfloat16, and values along the keys; scores are scaled after the product.

use super::blocking::{DIRECT, KEYS};
use super::head::{AttentionElement, Head};
use super::scores::Room;
use super::softmax;
use crate::error::Result;
use crate::kernel::gemm::{
    self, InPlace, Mat, MatElement, MatMut, Packed, Packing, Scratch, Source, operand::Operand,
    with_packing,
};
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
fn values_in_place<T: Packed>(v: InPlace<T>, width: usize, queries: usize) -> bool {
    let whole = gemm::padded_width::<T>(width) == width && (v.line == 1 || width == 1);
    let is_panel = v.step == width as isize && panels::<T>(width).next() == Some((0..width, width));
    whole && (simd::MICROCONTROLLER || is_panel || queries <= DIRECT)
}

/// Writes the rows `queries` of the result, at most a block, to `out`. Panics if shapes don't
/// match.
///
/// Errors if there is no memory for the scores.
pub fn block<T: AttentionElement>(
    head: &Head<T>,
    queries: Range<usize>,
    out: MatMut<T>,
) -> Result<()> {
    with_packing!(T, T, |operand, _| by_lanes(operand, head, queries, out))
}

/// Weights, lines of `width`, as lanes along the lines, in `room` if they are not lanes already.
fn as_lanes<'a, F: Packed, P: Packing<To: Packed>>(
    weights: &'a [F],
    width: usize,
    room: &'a mut [F],
) -> &'a [P::To] {
    #[cfg(x86_bf16)]
    if P::GROUP > 1 {
        let weights = gemm::packed_as(weights);
        gemm::rounded_pairs(weights, width, gemm::packed_as_mut(room));
        return gemm::packed_as(room);
    }
    let _ = (width, room);
    gemm::packed_as(weights)
}

/// [`block`] by the microkernel of `P`'s lanes.
fn by_lanes<T: AttentionElement, P: Packing<To: Packed + MatElement<Acc = P::To>>>(
    operand: Operand<T, P>,
    head: &Head<T>,
    queries: Range<usize>,
    mut out: MatMut<T>,
) -> Result<()> {
    let (depth, keys, width, count) = (head.q.cols(), head.k.rows(), head.v.cols(), queries.len());
    assert!(
        head.k.cols() == depth
            && head.v.rows() == keys
            && (out.rows(), out.cols()) == (count, width)
    );
    let (of_k, of_v) = (operand.rows(head.k), operand.columns(head.v));
    // ranges of keys begin with a whole lane, whatever the block
    let lanes = |keys: Range<usize>| keys.start / P::GROUP..keys.end.div_ceil(P::GROUP);
    let visible = head.band.over(queries.clone(), keys);
    let visible = visible.start / P::GROUP * P::GROUP..visible.end;
    let steps = depth.div_ceil(P::GROUP);
    let k_in_place = of_k.info().block_in_place();
    let v_in_place = of_v.in_place();
    let v_in_place = v_in_place.filter(|v| values_in_place(*v, width, count));
    let (n, padded) = (
        gemm::padded_width::<P::To>(count),
        gemm::padded_width::<P::To>(width),
    );
    let widest = panels::<P::To>(count).next().map_or(0, |(_, w)| w);
    let longest = visible.len().min(KEYS);
    let longest_lanes = longest.div_ceil(P::GROUP);
    let unless = |there: bool, len: usize| if there { 0 } else { len };
    let lens = [
        steps.saturating_mul(n),
        longest * widest,
        unless(P::GROUP == 1, longest_lanes * widest),
        n,
        n,
        widest,
        unless(k_in_place.is_some(), longest.saturating_mul(steps)),
        unless(v_in_place.is_some(), longest_lanes.saturating_mul(padded)),
        count.saturating_mul(padded),
    ];
    let mut scratch = Scratch::<T::Acc>::new(
        lens.iter()
            .fold(0, |sum: usize, len| sum.saturating_add(*len)),
    )?;
    let mut room = Room::new(&head.mask, longest * widest)?;
    let mut rest = &mut scratch[..];
    let [
        q,
        scores,
        weights,
        maxima,
        sums,
        factors,
        packed_k,
        packed_v,
        mixed,
    ] = lens.map(|len| rest.split_off_mut(..len).unwrap());

    for (cols, w) in panels::<P::To>(count) {
        let rows = queries.start + cols.start..queries.start + cols.end;
        let rows = operand.bits(head.q.block(rows, 0..depth));
        let packed = &mut q[steps * cols.start..][..steps * w];
        gemm::pack_panels(
            operand.packing(),
            rows.t(),
            w,
            w,
            gemm::packed_as_mut(packed),
        );
    }
    if P::GROUP == 1 {
        softmax::scale(q, head.factor());
    }
    let q = gemm::packed_as::<T::Acc, P::To>(q);
    maxima.fill(T::Acc::NEG_INFINITY);
    sums.fill(T::Acc::default());
    // Tiles begin at multiples of their length, so that a query meets the same tiles in any block.
    for start in (visible.start / KEYS * KEYS..visible.end).step_by(KEYS) {
        let tile = common(&visible, &(start..start + KEYS));
        let len = tile.len();
        let k = match k_in_place {
            // SAFETY: MAT1: the lanes of these keys, which may be read in place (SOURCE1).
            Some(k) => unsafe { Mat::new(k.at(0, tile.start), len, steps, k.line, k.step) },
            None => {
                let packed = gemm::packed_as_mut(&mut packed_k[..len * steps]);
                let k = operand.bits(head.k.block(tile.clone(), 0..depth));
                gemm::pack_rows(operand.packing(), k, packed);
                Mat::from_slice(packed, len, steps)
            }
        };
        let in_tile = lanes(0..len);
        if v_in_place.is_none() {
            for (cols, w) in panels::<P::To>(width) {
                let packed = &mut packed_v[in_tile.len() * cols.start..][..in_tile.len() * w];
                let v = operand.bits(head.v.block(tile.clone(), cols));
                gemm::pack_panels(operand.packing(), v, w, w, gemm::packed_as_mut(packed));
            }
        }
        for (cols, w) in panels::<P::To>(count) {
            let own = queries.start + cols.start..queries.start + cols.end;
            let all = head.band.over(own.clone(), keys);
            let seen = common(&all, &tile);
            if seen.is_empty() {
                continue;
            }
            let again = seen.start > all.start;
            let local = lanes(seen.start - tile.start..seen.end - tile.start);
            let seen = tile.start + local.start * P::GROUP..seen.end;
            let scores = &mut scores[..seen.len() * w];
            let q = Mat::from_slice(&q[steps * cols.start..][..steps * w], steps, w);
            let rows = seen.start - tile.start..seen.end - tile.start;
            gemm::multiply_panel(
                k.block(rows, 0..steps),
                q,
                MatMut::<P::To>::from_slice(gemm::packed_as_mut(scores), seen.len(), w),
                false,
            );
            if P::GROUP > 1 {
                softmax::scale(scores, head.factor());
            }
            head.finish_columns(scores, w, own, seen.clone(), &mut room);
            let at = cols.start..cols.start + w;
            softmax::accumulate(
                scores,
                &mut maxima[at.clone()],
                &mut sums[at],
                &mut factors[..w],
            );
            for (i, factor) in cols.clone().zip(&*factors) {
                if again && *factor != T::Acc::ONE {
                    softmax::scale(&mut mixed[i * padded..][..padded], *factor);
                }
            }
            let weights = as_lanes::<T::Acc, P>(scores, w, weights);
            let weights = Mat::from_slice(&weights[..local.len() * w], local.len(), w)
                .block(0..local.len(), 0..cols.len())
                .t();
            for (across, w) in panels::<P::To>(width) {
                let v = match v_in_place {
                    // SAFETY: MAT1: the rows of these keys, which may be read in place (SOURCE1).
                    Some(v) => unsafe {
                        let at = v.at(tile.start / P::GROUP + local.start, across.start);
                        Mat::new(at, local.len(), w, v.step, v.line)
                    },
                    None => {
                        let panel = &packed_v[in_tile.len() * across.start..];
                        let panel = gemm::packed_as(&panel[..in_tile.len() * w]);
                        Mat::from_slice(panel, in_tile.len(), w).block(local.clone(), 0..w)
                    }
                };
                let whole = MatMut::<P::To>::from_slice(gemm::packed_as_mut(mixed), count, padded);
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
