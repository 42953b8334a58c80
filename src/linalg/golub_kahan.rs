//! Singular values of real bidiagonal matrices, by implicit QR iterations with shift zero where only
//! that keeps the accuracy of small values (Demmel, Kahan 1990; LAPACK's bdsqr).

use super::field::{abs, epsilon, sqrt, tiny};
use super::rotations::{Rotations, rotation};
use crate::dtype::Element;
use crate::kernel::gemm::Packed;
use crate::kernel::math::Real;

/// A block of the matrix that does not split, and the direction in which it is iterated: from the
/// larger end to the smaller.
struct Block {
    start: usize,
    end: usize,
    down: bool,
}

/// Replaces the diagonal `d` of an upper bidiagonal matrix B, whose numbers above it are `e`, by its
/// singular values, in no order and of any sign. `left` and `right` become U^T and V^T of
/// `B = U S V^T`. False if they do not converge in LAPACK's limit.
pub(super) fn iterate<F: Real + Element + Packed>(
    d: &mut [F],
    e: &mut [F],
    left: &mut Rotations<F>,
    right: &mut Rotations<F>,
) -> bool {
    let n = d.len();
    if n == 0 {
        return true;
    }
    let (eps, count) = (epsilon::<F>() * F::from_f64(0.5), F::from_f64(n as f64));
    let factor = libm::pow(eps.to_f64(), -0.125).clamp(10.0, 100.0);
    let tol = F::from_f64(factor) * eps;
    // a lower bound of the smallest value
    let mut mu = abs(d[0]);
    let mut least = mu;
    for i in 1..n {
        mu = if mu == F::ZERO {
            mu
        } else {
            abs(d[i]) * (mu / (mu + abs(e[i - 1])))
        };
        least = if mu < least { mu } else { least };
    }
    least = least / sqrt(count);
    let steps = 6.0 * n as f64 * n as f64;
    let floor = F::from_f64(steps) * tiny::<F>();
    let threshold = if tol * least > floor {
        tol * least
    } else {
        floor
    };
    let (mut left_over, mut end) = (steps, n - 1);
    let mut block = Block {
        start: usize::MAX,
        end: usize::MAX,
        down: true,
    };
    while end > 0 {
        if left_over < 0.0 {
            return false;
        }
        let mut largest = abs(d[end]);
        let mut start = 0;
        for k in (0..end).rev() {
            if abs(e[k]) <= threshold {
                e[k] = F::ZERO;
                start = k + 1;
                break;
            }
            for size in [abs(d[k]), abs(e[k])] {
                largest = if size > largest { size } else { largest };
            }
        }
        if start == end {
            end -= 1;
            continue;
        }
        if start > block.end || end < block.start || block.start == usize::MAX {
            block.down = abs(d[start]) >= abs(d[end]);
        }
        (block.start, block.end) = (start, end);
        let Some(smallest) = converged(d, e, &block, tol) else {
            continue;
        };
        let small = if eps > F::from_f64(0.01) * tol {
            eps
        } else {
            F::from_f64(0.01) * tol
        };
        let shift = if count * tol * (smallest / largest) <= small {
            F::ZERO
        } else {
            shift(d, e, &block, eps)
        };
        left_over -= (end - start) as f64;
        match (shift == F::ZERO, block.down) {
            (true, true) => zero_down(d, e, &block, left, right),
            (true, false) => zero_up(d, e, &block, left, right),
            (false, true) => shifted_down(d, e, &block, shift, left, right),
            (false, false) => shifted_up(d, e, &block, shift, left, right),
        }
        let last = if block.down { end - 1 } else { start };
        if abs(e[last]) <= threshold {
            e[last] = F::ZERO;
        }
    }
    true
}

/// Sets a number beside the diagonal to zero if that changes no value by much; otherwise a lower
/// bound of the smallest value of the block.
fn converged<F: Real>(d: &[F], e: &mut [F], block: &Block, tol: F) -> Option<F> {
    let Block { start, end, down } = *block;
    let last = if down { end - 1 } else { start };
    let corner = if down { end } else { start };
    if abs(e[last]) <= tol * abs(d[corner]) {
        e[last] = F::ZERO;
        return None;
    }
    let mut mu = abs(d[if down { start } else { end }]);
    let mut least = mu;
    for k in 0..end - start {
        let (beside, next) = if down {
            (start + k, start + k + 1)
        } else {
            (end - 1 - k, end - 1 - k)
        };
        if abs(e[beside]) <= tol * mu {
            e[beside] = F::ZERO;
            return None;
        }
        mu = abs(d[next]) * (mu / (mu + abs(e[beside])));
        least = if mu < least { mu } else { least };
    }
    Some(least)
}

/// The smaller singular value of the last 2 x 2 block in the direction; zero if it is too small to
/// be a useful shift.
fn shift<F: Real>(d: &[F], e: &[F], block: &Block, eps: F) -> F {
    let Block { start, end, down } = *block;
    let (size, shift) = if down {
        (abs(d[start]), smaller(d[end - 1], e[end - 1], d[end]))
    } else {
        (abs(d[end]), smaller(d[start], e[start], d[start + 1]))
    };
    let ratio = shift / size;
    if size > F::ZERO && ratio * ratio < eps {
        F::ZERO
    } else {
        shift
    }
}

/// The smaller singular value of `[[f, g], [0, h]]` (LAPACK's las2).
fn smaller<F: Real>(f: F, g: F, h: F) -> F {
    let (f, g, h) = (abs(f), abs(g), abs(h));
    let (low, high) = if f < h { (f, h) } else { (h, f) };
    if low == F::ZERO {
        return F::ZERO;
    }
    let (sum, difference) = (F::ONE + low / high, (high - low) / high);
    if g < high {
        let ratio = g / high * (g / high);
        let c = sqrt(sum * sum + ratio) + sqrt(difference * difference + ratio);
        return low * (F::from_f64(2.0) / c);
    }
    let ratio = high / g;
    if ratio == F::ZERO {
        return low * high / g;
    }
    let (a, b) = (sum * ratio, difference * ratio);
    let c = F::ONE / (sqrt(F::ONE + a * a) + sqrt(F::ONE + b * b));
    let product = low * c * ratio;
    product + product
}

fn zero_down<F: Real + Element + Packed>(
    d: &mut [F],
    e: &mut [F],
    block: &Block,
    left: &mut Rotations<F>,
    right: &mut Rotations<F>,
) {
    let (mut c, mut old_c, mut old_s) = (F::ONE, F::ONE, F::ZERO);
    for i in block.start..block.end {
        let (next_c, s, r) = rotation(d[i] * c, e[i]);
        c = next_c;
        if i > block.start {
            e[i - 1] = old_s * r;
        }
        (old_c, old_s, d[i]) = rotation(old_c * r, d[i + 1] * s);
        right.push(i, c, s);
        left.push(i, old_c, old_s);
    }
    let h = d[block.end] * c;
    d[block.end] = h * old_c;
    e[block.end - 1] = h * old_s;
}

fn zero_up<F: Real + Element + Packed>(
    d: &mut [F],
    e: &mut [F],
    block: &Block,
    left: &mut Rotations<F>,
    right: &mut Rotations<F>,
) {
    let (mut c, mut old_c, mut old_s) = (F::ONE, F::ONE, F::ZERO);
    for i in (block.start + 1..=block.end).rev() {
        let (next_c, s, r) = rotation(d[i] * c, e[i - 1]);
        c = next_c;
        if i < block.end {
            e[i] = old_s * r;
        }
        (old_c, old_s, d[i]) = rotation(old_c * r, d[i - 1] * s);
        left.push(i - 1, c, -s);
        right.push(i - 1, old_c, -old_s);
    }
    let h = d[block.start] * c;
    d[block.start] = h * old_c;
    e[block.start] = h * old_s;
}

/// The first column of the shifted matrix, scaled.
fn first<F: Real>(d: F, shift: F) -> F {
    let sign = if d < F::ZERO { -F::ONE } else { F::ONE };
    (abs(d) - shift) * (sign + shift / d)
}

fn shifted_down<F: Real + Element + Packed>(
    d: &mut [F],
    e: &mut [F],
    block: &Block,
    shift: F,
    left: &mut Rotations<F>,
    right: &mut Rotations<F>,
) {
    let (mut f, mut g) = (first(d[block.start], shift), e[block.start]);
    for i in block.start..block.end {
        let (c, s, r) = rotation(f, g);
        if i > block.start {
            e[i - 1] = r;
        }
        f = c * d[i] + s * e[i];
        e[i] = c * e[i] - s * d[i];
        g = s * d[i + 1];
        d[i + 1] = c * d[i + 1];
        right.push(i, c, s);
        let (c, s, r) = rotation(f, g);
        d[i] = r;
        f = c * e[i] + s * d[i + 1];
        d[i + 1] = c * d[i + 1] - s * e[i];
        if i + 1 < block.end {
            g = s * e[i + 1];
            e[i + 1] = c * e[i + 1];
        }
        left.push(i, c, s);
    }
    e[block.end - 1] = f;
}

fn shifted_up<F: Real + Element + Packed>(
    d: &mut [F],
    e: &mut [F],
    block: &Block,
    shift: F,
    left: &mut Rotations<F>,
    right: &mut Rotations<F>,
) {
    let (mut f, mut g) = (first(d[block.end], shift), e[block.end - 1]);
    for i in (block.start + 1..=block.end).rev() {
        let (c, s, r) = rotation(f, g);
        if i < block.end {
            e[i] = r;
        }
        f = c * d[i] + s * e[i - 1];
        e[i - 1] = c * e[i - 1] - s * d[i];
        g = s * d[i - 1];
        d[i - 1] = c * d[i - 1];
        left.push(i - 1, c, -s);
        let (c, s, r) = rotation(f, g);
        d[i] = r;
        f = c * e[i - 1] + s * d[i - 1];
        d[i - 1] = c * d[i - 1] - s * e[i - 1];
        if i > block.start + 1 {
            g = s * e[i - 2];
            e[i - 2] = c * e[i - 2];
        }
        right.push(i - 1, c, -s);
    }
    e[block.start] = f;
}
