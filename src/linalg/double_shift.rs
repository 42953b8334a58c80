//! The Schur form of real matrices, by Francis's QR iterations with two shifts (EISPACK's hqr2), and
//! its eigenvectors.

use super::blocks::pair_mut;
use super::field::{abs, epsilon, hypot, sqrt, tiny};
use crate::kernel::math::Real;

/// The quotient of complex numbers.
fn quotient<R: Real>(x: (R, R), y: (R, R)) -> (R, R) {
    if abs(y.0) > abs(y.1) {
        let r = y.1 / y.0;
        let d = y.0 + r * y.1;
        ((x.0 + r * x.1) / d, (x.1 - r * x.0) / d)
    } else {
        let r = y.0 / y.1;
        let d = y.1 + r * y.0;
        ((r * x.0 + x.1) / d, (r * x.1 - x.0) / d)
    }
}

/// The sum of the magnitudes of a Hessenberg matrix.
fn norm<R: Real>(h: &[R], n: usize) -> R {
    let mut sum = R::ZERO;
    for (i, row) in h.chunks_exact(n.max(1)).enumerate() {
        for x in &row[i.saturating_sub(1)..] {
            sum = sum + abs(*x);
        }
    }
    sum
}

/// Iterations after which what is small beside the whole matrix counts as zero, not only what is small
/// beside its neighbours: of matrices whose rows differ by hundreds of orders of magnitude, some
/// never get there. The error is that of a perturbation by the rounding of the norm.
pub(super) const STUBBORN: usize = 20;

/// Makes the Hessenberg matrix `h` of `n` upper triangular but for blocks of 2 x 2 with complex
/// eigenvalues, by orthogonal transformations that are also applied to the rows of `z`, the columns
/// of a matrix, if they are wanted. `re` and `im` become the eigenvalues. False if there are more
/// than 30 max(10, n) iterations.
pub(super) fn iterate<R: Real>(
    h: &mut [R],
    n: usize,
    re: &mut [R],
    im: &mut [R],
    mut z: Option<&mut [R]>,
) -> bool {
    let eps = epsilon::<R>();
    let norm = norm(h, n);
    // products with a number below this underflow
    let least = tiny::<R>() / eps;
    let (mut end, mut count, mut left, mut shifted) = (n, 0, 30 * n.max(10), R::ZERO);
    while end > 0 {
        let last = end - 1;
        // the block start..end does not split
        let mut start = last;
        while start > 0 {
            let around = abs(h[(start - 1) * n + start - 1]) + abs(h[start * n + start]);
            let graded = around == R::ZERO || count > STUBBORN;
            let around = if graded { norm } else { around };
            let beside = abs(h[start * n + start - 1]);
            if beside <= eps * around || beside <= least {
                break;
            }
            start -= 1;
        }
        if start == last {
            let at = last * n + last;
            h[at] = h[at] + shifted;
            (re[last], im[last]) = (h[at], R::ZERO);
            (end, count) = (end - 1, 0);
        } else if start + 1 == last {
            pair_of(h, n, last, shifted, re, im, &mut z);
            (end, count) = (end - 2, 0);
        } else {
            if left == 0 {
                return false;
            }
            let shift = shift(h, n, last, count, &mut shifted);
            (left, count) = (left - 1, count + 1);
            step(h, n, start, last, shift, &mut z);
        }
    }
    true
}

/// The eigenvalues of the 2 x 2 block that ends at `last`; a block with real ones is made
/// triangular.
fn pair_of<R: Real>(
    h: &mut [R],
    n: usize,
    last: usize,
    shifted: R,
    re: &mut [R],
    im: &mut [R],
    z: &mut Option<&mut [R]>,
) {
    let first = last - 1;
    let w = h[last * n + first] * h[first * n + last];
    let p = (h[first * n + first] - h[last * n + last]) * R::from_f64(0.5);
    let q = p * p + w;
    let root = sqrt(abs(q));
    for k in [first, last] {
        h[k * n + k] = h[k * n + k] + shifted;
    }
    let x = h[last * n + last];
    if q < R::ZERO {
        (re[first], im[first]) = (x + p, root);
        (re[last], im[last]) = (x + p, -root);
        return;
    }
    let root = if p < R::ZERO { p - root } else { p + root };
    (re[first], im[first]) = (x + root, R::ZERO);
    re[last] = if root == R::ZERO {
        re[first]
    } else {
        x - w / root
    };
    im[last] = R::ZERO;
    let x = h[last * n + first];
    let size = hypot(x, root);
    let (p, q) = (x / size, root / size);
    let (above, row) = pair_mut(h, n, first, last);
    turn(q, p, &mut above[first..], &mut row[first..]);
    for row in h.chunks_exact_mut(n).take(last + 1) {
        (row[first], row[last]) = (
            q * row[first] + p * row[last],
            q * row[last] - p * row[first],
        );
    }
    if let Some(z) = z {
        let (x, y) = pair_mut(z, n, first, last);
        turn(q, p, x, y);
    }
}

/// `(x, y) = (c x + s y, c y - s x)`.
fn turn<R: Real>(c: R, s: R, x: &mut [R], y: &mut [R]) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
    }
}

/// The shifts of iteration `count`, as the last number, the one before, and the product of those
/// beside the diagonal. After 10 and 30 iterations for one value exceptional ones, whose origin
/// moves.
fn shift<R: Real>(h: &mut [R], n: usize, last: usize, count: usize, shifted: &mut R) -> (R, R, R) {
    let x = h[last * n + last];
    let y = h[(last - 1) * n + last - 1];
    let w = h[last * n + last - 1] * h[(last - 1) * n + last];
    if count == 0 || !count.is_multiple_of(10) {
        return (x, y, w);
    }
    let size = abs(h[last * n + last - 1]) + abs(h[(last - 1) * n + last - 2]);
    let by = if count % 20 == 10 {
        x
    } else {
        size * R::from_f64(0.75)
    };
    *shifted = *shifted + by;
    for i in 0..=last {
        h[i * n + i] = h[i * n + i] - by;
    }
    let near = R::from_f64(0.75) * size;
    (near, near, R::from_f64(-0.4375) * size * size)
}

/// A double step on the block `start..=last`.
fn step<R: Real>(
    h: &mut [R],
    n: usize,
    start: usize,
    last: usize,
    (x, y, w): (R, R, R),
    z: &mut Option<&mut [R]>,
) {
    let eps = epsilon::<R>();
    let at = |i: usize, j: usize| i * n + j;
    // two consecutive small numbers below the diagonal split the block for this step
    let (mut m, mut p, mut q, mut r);
    m = last - 2;
    loop {
        let d = h[at(m, m)];
        let (a, b) = (x - d, y - d);
        // times the number below the diagonal, which may be too small to divide by
        let below = h[at(m + 1, m)];
        let size = abs(a) + abs(b) + abs(below);
        let below = below / size;
        p = a / size * b - w / size + h[at(m, m + 1)] * below;
        q = below * (h[at(m + 1, m + 1)] - d - a - b);
        r = below * h[at(m + 2, m + 1)];
        let size = abs(p) + abs(q) + abs(r);
        (p, q, r) = match size > R::ZERO {
            true => (p / size, q / size, r / size),
            false => (R::ONE, R::ZERO, R::ZERO),
        };
        if m == start {
            break;
        }
        let around = abs(h[at(m - 1, m - 1)]) + abs(d) + abs(h[at(m + 1, m + 1)]);
        if abs(h[at(m, m - 1)]) * (abs(q) + abs(r)) <= eps * (abs(p) * around) {
            break;
        }
        m -= 1;
    }
    for i in m + 2..=last {
        h[at(i, i - 2)] = R::ZERO;
        if i > m + 2 {
            h[at(i, i - 3)] = R::ZERO;
        }
    }
    for k in m..last {
        let three = k + 1 < last;
        let mut size = R::ONE;
        if k > m {
            p = h[at(k, k - 1)];
            q = h[at(k + 1, k - 1)];
            r = if three { h[at(k + 2, k - 1)] } else { R::ZERO };
            size = abs(p) + abs(q) + abs(r);
            if size == R::ZERO {
                continue;
            }
            (p, q, r) = (p / size, q / size, r / size);
        }
        let s = sqrt(p * p + q * q + r * r);
        let s = if p < R::ZERO { -s } else { s };
        if s == R::ZERO {
            continue;
        }
        if k > m {
            h[at(k, k - 1)] = -s * size;
        } else if start != m {
            h[at(k, k - 1)] = -h[at(k, k - 1)];
        }
        p = p + s;
        // I - (p / s, q / s, r / s)^T (1, q / p, r / p)
        let (left, right) = ([p / s, q / s, r / s], [q / p, r / p]);
        let rows = &mut h[k * n..];
        reflect(rows, n, k, three, left, right);
        for row in h.chunks_exact_mut(n).take(last.min(k + 3) + 1) {
            let mut sum = left[0] * row[k] + left[1] * row[k + 1];
            if three {
                sum = sum + left[2] * row[k + 2];
                row[k + 2] = row[k + 2] - sum * right[1];
            }
            row[k] = row[k] - sum;
            row[k + 1] = row[k + 1] - sum * right[0];
        }
        if let Some(z) = z {
            // of transposed columns, the factors change places
            let left = [R::ONE, right[0], right[1]].map(|x| x * left[0]);
            let right = [left[1] / left[0], left[2] / left[0]];
            reflect(&mut z[k * n..], n, 0, three, left, right);
        }
    }
}

/// Subtracts `left` times the sum, weighted by 1 and `right`, of the first two or three rows, from
/// column `from` on.
fn reflect<R: Real>(
    rows: &mut [R],
    n: usize,
    from: usize,
    three: bool,
    left: [R; 3],
    right: [R; 2],
) {
    let (x, rest) = rows.split_at_mut(n);
    let (y, rest) = rest.split_at_mut(n);
    if !three {
        for (x, y) in x[from..].iter_mut().zip(&mut y[from..]) {
            let sum = *x + right[0] * *y;
            *x = *x - sum * left[0];
            *y = *y - sum * left[1];
        }
        return;
    }
    let z = &mut rest[..n];
    for ((x, y), z) in x[from..].iter_mut().zip(&mut y[from..]).zip(&mut z[from..]) {
        let sum = *x + right[0] * *y + right[1] * *z;
        *x = *x - sum * left[0];
        *y = *y - sum * left[1];
        *z = *z - sum * left[2];
    }
}

/// Replaces the upper triangle by the eigenvectors of the matrix that [`iterate`] left, as columns:
/// for a pair of complex ones the real and the imaginary part of the vector of the first.
pub(super) fn vectors<R: Real>(h: &mut [R], n: usize, re: &[R], im: &[R]) {
    let norm = norm(h, n);
    if norm == R::ZERO {
        for k in 0..n {
            h[k * n + k] = R::ONE;
        }
        return;
    }
    for k in (0..n).rev() {
        if im[k] == R::ZERO {
            real(h, n, k, re, im, norm);
        } else if im[k] < R::ZERO {
            complex(h, n, k, re, im, norm);
        }
    }
}

/// The vector of the real eigenvalue `k`.
fn real<R: Real>(h: &mut [R], n: usize, k: usize, re: &[R], im: &[R], norm: R) {
    let eps = epsilon::<R>();
    let p = re[k];
    let (mut first, mut z, mut s) = (k, R::ZERO, R::ZERO);
    h[k * n + k] = R::ONE;
    for i in (0..k).rev() {
        let w = h[i * n + i] - p;
        let mut r = R::ZERO;
        for j in first..=k {
            r = r + h[i * n + j] * h[j * n + k];
        }
        if im[i] < R::ZERO {
            (z, s) = (w, r);
            continue;
        }
        first = i;
        if im[i] == R::ZERO {
            let w = if w == R::ZERO { eps * norm } else { w };
            h[i * n + k] = -r / w;
        } else {
            let (x, y) = (h[i * n + i + 1], h[(i + 1) * n + i]);
            let q = (re[i] - p) * (re[i] - p) + im[i] * im[i];
            let t = (x * s - z * r) / q;
            h[i * n + k] = t;
            h[(i + 1) * n + k] = if abs(x) > abs(z) {
                (-r - w * t) / x
            } else {
                (-s - y * t) / z
            };
        }
        let t = abs(h[i * n + k]);
        if eps * t * t > R::ONE {
            for j in i..=k {
                h[j * n + k] = h[j * n + k] / t;
            }
        }
    }
}

/// The vector of the first of the pair of complex eigenvalues of which `k` is the second: real parts
/// in column `k - 1`, imaginary parts in column `k`.
fn complex<R: Real>(h: &mut [R], n: usize, k: usize, re: &[R], im: &[R], norm: R) {
    let eps = epsilon::<R>();
    let (p, q, a) = (re[k], im[k], k - 1);
    let mut first = a;
    let set = |h: &mut [R], i: usize, (x, y): (R, R)| {
        h[i * n + a] = x;
        h[i * n + k] = y;
    };
    // the last component is imaginary, so that the vectors are triangular
    let start = if abs(h[k * n + a]) > abs(h[a * n + k]) {
        let below = h[k * n + a];
        (q / below, -(h[k * n + k] - p) / below)
    } else {
        quotient((R::ZERO, -h[a * n + k]), (h[a * n + a] - p, q))
    };
    set(h, a, start);
    set(h, k, (R::ZERO, R::ONE));
    let (mut z, mut r, mut s) = (R::ZERO, R::ZERO, R::ZERO);
    for i in (0..a).rev() {
        let (mut ra, mut sa) = (R::ZERO, R::ZERO);
        for j in first..=k {
            ra = ra + h[i * n + j] * h[j * n + a];
            sa = sa + h[i * n + j] * h[j * n + k];
        }
        let w = h[i * n + i] - p;
        if im[i] < R::ZERO {
            (z, r, s) = (w, ra, sa);
            continue;
        }
        first = i;
        if im[i] == R::ZERO {
            let at = if w == R::ZERO && q == R::ZERO {
                eps * norm
            } else {
                w
            };
            set(h, i, quotient((-ra, -sa), (at, q)));
        } else {
            let (x, y) = (h[i * n + i + 1], h[(i + 1) * n + i]);
            let mut v = (re[i] - p) * (re[i] - p) + im[i] * im[i] - q * q;
            let u = (re[i] - p) * R::from_f64(2.0) * q;
            if v == R::ZERO && u == R::ZERO {
                v = eps * norm * (abs(w) + abs(q) + abs(x) + abs(y) + abs(z));
            }
            let num = (x * r - z * ra + q * sa, x * s - z * sa - q * ra);
            let (c, d) = quotient(num, (v, u));
            set(h, i, (c, d));
            let next = if abs(x) > abs(z) + abs(q) {
                ((-ra - w * c + q * d) / x, (-sa - w * d - q * c) / x)
            } else {
                quotient((-r - y * c, -s - y * d), (z, q))
            };
            set(h, i + 1, next);
        }
        let (c, d) = (abs(h[i * n + a]), abs(h[i * n + k]));
        let t = if c > d { c } else { d };
        if eps * t * t > R::ONE {
            for j in i..=k {
                set(h, j, (h[j * n + a] / t, h[j * n + k] / t));
            }
        }
    }
}
