//! Rows whose squares, or sums, overflow or vanish although the result does not: normalised again,
//! multiplied by a power of two. Other rows pay one comparison.

use super::{CHUNK, RowNorm, join, part, write};
use crate::kernel::math::Real;
use crate::kernel::range::{largest, least_root, to_one};
use crate::simd::MICROCONTROLLER;

/// Normalises a row whose statistics were lost, whatever `y` holds: multiplied by a power of two that
/// brings its largest magnitude near 1, which changes no digit of what is neither too large nor too
/// small. If the row has no such magnitude, the statistics stand. There are as many `parts` as chunks.
#[cold]
#[inline(never)]
pub fn scaled_row<F: Real, N: RowNorm<F>>(norm: &N, x: &[F], y: &mut [F], parts: &mut [[F; 2]]) {
    const BLOCK: usize = if MICROCONTROLLER { 16 } else { 256 };
    let factor = to_one::<F>(largest(x.iter().map(|x| x.to_f64())));
    let scaled = norm.scaled(factor);
    let factor = F::from_f64(if scaled.is_some() { factor } else { 1.0 });
    let norm = scaled.as_ref().unwrap_or(norm);
    for (y, x) in y.iter_mut().zip(x) {
        *y = *x * factor;
    }
    for (part, x) in parts.iter_mut().zip(y.chunks(CHUNK)) {
        *part = self::part(norm, x, &mut []);
    }
    join(norm, parts, x.len());
    for (k, (part, y)) in parts.iter().zip(y.chunks_mut(CHUNK)).enumerate() {
        for (j, y) in y.chunks_mut(BLOCK).enumerate() {
            let mut x = [F::default(); BLOCK];
            let x = &mut x[..y.len()];
            x.copy_from_slice(y);
            write(norm, *part, k * CHUNK + j * BLOCK, x, y);
        }
    }
}

/// Whether a sum of squares was lost of which this is one over the root.
#[inline(always)]
pub fn is_lost_inverse<F: Real>(scale: F) -> bool {
    let most = F::from_f64(1.0 / least_root::<F>());
    !(scale > F::ZERO && scale <= most)
}

/// `eps` for what was multiplied by `factor`, or its power; none if it gets out of range: next to it
/// the elements don't count.
pub(super) fn scaled_eps<F: Real>(eps: f64, factor: f64, power: i32) -> Option<f64> {
    let scaled = (0..power).fold(eps, |eps, _| eps * factor);
    F::from_f64(scaled).isfinite().then_some(scaled)
}
