//! Small matrices, one in each lane: element `(i, j)` of all of them is one array.

use super::math::Real;
use crate::simd::Isa;

/// Matrices that are computed together: a cache line of float32.
pub const LANES: usize = 16;

kernel! {
    /// Eliminates with partial pivoting: `a` has `n` rows of `n + width` columns, A and behind it B.
    /// A becomes U, and B the solutions X of `A X = B`; `signs` changes with each exchange of rows.
    pub fn eliminate<'a, F: Real>(
        a: &'a mut [[F; LANES]],
        n: usize,
        width: usize,
        signs: &'a mut [F; LANES],
    ) -> () { |I|
        let cols = n + width;
        for k in 0..n {
            for i in k + 1..n {
                let (above, below) = a.split_at_mut(i * cols);
                let (pivot, row) = (&mut above[k * cols..(k + 1) * cols], &mut below[..cols]);
                let (p, r) = (pivot[k], row[k]);
                let mut larger = [F::ZERO; LANES];
                for l in 0..LANES {
                    let p = if p[l] < F::ZERO { -p[l] } else { p[l] };
                    let r = if r[l] < F::ZERO { -r[l] } else { r[l] };
                    larger[l] = if r > p { F::ONE } else { F::ZERO };
                    signs[l] = if r > p { -signs[l] } else { signs[l] };
                }
                for (p, r) in pivot[k..].iter_mut().zip(&mut row[k..]) {
                    let (x, y) = (*p, *r);
                    for l in 0..LANES {
                        p[l] = if larger[l] > F::ZERO { y[l] } else { x[l] };
                        r[l] = if larger[l] > F::ZERO { x[l] } else { y[l] };
                    }
                }
            }
            for i in k + 1..n {
                let (above, below) = a.split_at_mut(i * cols);
                let (pivot, row) = (&above[k * cols..(k + 1) * cols], &mut below[..cols]);
                let mut factor = [F::ZERO; LANES];
                for l in 0..LANES {
                    // the rest of the column of a pivot of zero is zero too
                    let quotient = -(row[k][l] / pivot[k][l]);
                    factor[l] = if pivot[k][l] == F::ZERO { F::ZERO } else { quotient };
                }
                for (p, r) in pivot[k + 1..].iter().zip(&mut row[k + 1..]) {
                    for l in 0..LANES {
                        r[l] = factor[l].multiply_add::<I>(p[l], r[l]);
                    }
                }
            }
        }
        for i in (0..n).rev() {
            let (above, below) = a.split_at_mut((i + 1) * cols);
            let row = &mut above[i * cols..];
            let (u, x) = row.split_at_mut(n);
            for j in i + 1..n {
                let known = &below[(j - i - 1) * cols + n..][..width];
                for (x, y) in x.iter_mut().zip(known) {
                    for l in 0..LANES {
                        x[l] = (-u[j][l]).multiply_add::<I>(y[l], x[l]);
                    }
                }
            }
            for x in x.iter_mut() {
                for l in 0..LANES {
                    x[l] = x[l] / u[i][l];
                }
            }
        }
    }
}

kernel! {
    /// The determinants, `signs` times the diagonals of what [`eliminate`] left. False if the product
    /// of some of a diagonal is not between `least` and its inverse, unless it is of a zero.
    pub fn determinants<'a, F: Real>(
        a: &'a [[F; LANES]],
        n: usize,
        signs: &'a mut [F; LANES],
        least: F,
    ) -> bool { |I|
        let most = F::ONE / least;
        let (mut zero, mut sound) = ([F::ZERO; LANES], [F::ONE; LANES]);
        for i in 0..n {
            let factor = &a[i * n + i];
            for l in 0..LANES {
                zero[l] = if factor[l] == F::ZERO { F::ONE } else { zero[l] };
                signs[l] = signs[l] * factor[l];
                let size = if signs[l] < F::ZERO { -signs[l] } else { signs[l] };
                let fits = if size > least && size < most { F::ONE } else { zero[l] };
                sound[l] = sound[l] * fits;
            }
        }
        sound.iter().all(|x| *x > F::ZERO)
    }
}

kernel! {
    /// Replaces the lower triangles of matrices of `n` by their Cholesky factors; `least` becomes the
    /// smallest of the numbers that roots are taken of, or NaN.
    pub fn cholesky<'a, F: Real>(a: &'a mut [[F; LANES]], n: usize, least: &'a mut [F; LANES]) -> () { |I|
        for i in 0..n {
            let (above, below) = a.split_at_mut(i * n);
            let row = &mut below[..n];
            for j in 0..=i {
                let mut sum = row[j];
                for k in 0..j {
                    // of the diagonal, the row itself
                    let other = if j == i { row[k] } else { above[j * n + k] };
                    for l in 0..LANES {
                        sum[l] = (-row[k][l]).multiply_add::<I>(other[l], sum[l]);
                    }
                }
                if j < i {
                    let d = above[j * n + j];
                    for l in 0..LANES {
                        row[j][l] = sum[l] / d[l];
                    }
                } else {
                    for l in 0..LANES {
                        least[l] = if least[l] < sum[l] { least[l] } else { sum[l] };
                        row[i][l] = sum[l].sqrt::<I>();
                    }
                }
            }
        }
    }
}

/// Reduces symmetric matrices, of which `a` has the lower triangles, to tridiagonal ones, from the last
/// row up (EISPACK's tred1): their diagonals, and the squares of what stands beside them. What is
/// smaller than the root of `least` counts as zero where it is to be mapped to zero.
#[inline(always)]
fn tridiagonal<I: Isa, F: Real>(
    a: &mut [[F; LANES]],
    n: usize,
    d: &mut [[F; LANES]],
    e: &mut [[F; LANES]],
    least: F,
) {
    let half = F::from_f64(0.5);
    for i in (1..n).rev() {
        let (above, row) = a.split_at_mut(i * n);
        d[i] = row[i];
        let (before, last) = row[..i].split_at_mut(i - 1);
        let mut sum = [F::ZERO; LANES];
        for x in before.iter() {
            for l in 0..LANES {
                sum[l] = x[l].multiply_add::<I>(x[l], sum[l]);
            }
        }
        // of the reflection I - factor u u^T, which is the identity if there is nothing to map to zero
        let mut factor = [F::ZERO; LANES];
        let last = &mut last[0];
        for l in 0..LANES {
            let x = last[l];
            let square = x.multiply_add::<I>(x, sum[l]);
            let root = square.sqrt::<I>();
            let root = if x < F::ZERO { root } else { -root };
            let inverse = F::ONE / (square - x * root);
            factor[l] = if sum[l] > least { inverse } else { F::ZERO };
            last[l] = x - root;
            e[i - 1][l] = square;
        }
        if i == 1 {
            break;
        }
        let (u, p) = (&row[..i], &mut d[..i]);
        for j in 0..i {
            let line = &above[j * n..][..=j];
            let mut sum = [F::ZERO; LANES];
            for k in 0..j {
                for l in 0..LANES {
                    sum[l] = line[k][l].multiply_add::<I>(u[k][l], sum[l]);
                    p[k][l] = line[k][l].multiply_add::<I>(u[j][l], p[k][l]);
                }
            }
            for l in 0..LANES {
                p[j][l] = line[j][l].multiply_add::<I>(u[j][l], sum[l]);
            }
        }
        let mut sum = [F::ZERO; LANES];
        for (p, u) in p.iter_mut().zip(u) {
            for l in 0..LANES {
                p[l] = p[l] * factor[l];
                sum[l] = p[l].multiply_add::<I>(u[l], sum[l]);
            }
        }
        for l in 0..LANES {
            sum[l] = -(sum[l] * factor[l] * half);
        }
        for (p, u) in p.iter_mut().zip(u) {
            for l in 0..LANES {
                p[l] = sum[l].multiply_add::<I>(u[l], p[l]);
            }
        }
        for j in 0..i {
            for (k, x) in above[j * n..][..=j].iter_mut().enumerate() {
                for l in 0..LANES {
                    let y = (-u[j][l]).multiply_add::<I>(p[k][l], x[l]);
                    x[l] = (-p[j][l]).multiply_add::<I>(u[k][l], y);
                }
            }
        }
    }
    d[0] = a[0];
}

/// How far the smaller value of `[[x, ..], [.., y]]`, with `square` beside the diagonal, lies from `x`
/// if `x` is the smaller number: Wilkinson's shift, as what it subtracts from `x`.
#[inline(always)]
fn shift<I: Isa, F: Real>(x: F, y: F, square: F) -> F {
    let half = (y - x) * F::from_f64(0.5);
    let root = half.multiply_add::<I>(half, square).sqrt::<I>();
    square / (half + if half < F::ZERO { -root } else { root })
}

kernel! {
    /// The eigenvalues of symmetric matrices of `n`, of which `a` has the lower triangles, ascending in
    /// `d`, by QL iterations without square roots (Pal, Walker and Kahan's, EISPACK's tqlrat). `e` is
    /// scratch. A number beside the diagonal is negligible if it is smaller than `tolerance` times the
    /// geometric mean of its neighbours; `least` is the smallest number whose inverse is far from
    /// infinite. `done` becomes zero where an eigenvalue does not converge.
    pub fn eigenvalues<'a, F: Real>(
        a: &'a mut [[F; LANES]],
        n: usize,
        d: &'a mut [[F; LANES]],
        e: &'a mut [[F; LANES]],
        tolerance: F,
        least: F,
        done: &'a mut [F; LANES],
    ) -> () { |I|
        /// The most steps of an eigenvalue.
        const STEPS: usize = 30;
        tridiagonal::<I, F>(a, n, d, e, least);
        let size = |x: F| if x < F::ZERO { -x } else { x };
        for k in 0..n.saturating_sub(2) {
            for step in 0..=STEPS {
                // what has converged keeps its numbers, whatever its neighbours need
                let (mut active, mut any) = ([F::ZERO; LANES], F::ZERO);
                for l in 0..LANES {
                    let most = tolerance * size(d[k][l]) * (tolerance * size(d[k + 1][l])) + least;
                    active[l] = if e[k][l] > most { F::ONE } else { F::ZERO };
                    any = any + active[l];
                }
                if any == F::ZERO {
                    break;
                }
                if step == STEPS {
                    for l in 0..LANES {
                        done[l] = done[l] * (F::ONE - active[l]);
                    }
                    break;
                }
                let mut sigma = [F::ZERO; LANES];
                let (mut c, mut s) = ([F::ONE; LANES], [F::ZERO; LANES]);
                let (mut gamma, mut p) = ([F::ZERO; LANES], [F::ZERO; LANES]);
                for l in 0..LANES {
                    sigma[l] = d[k][l] - shift::<I, F>(d[k][l], d[k + 1][l], e[k][l]);
                    gamma[l] = d[n - 1][l] - sigma[l];
                    p[l] = gamma[l] * gamma[l];
                }
                for i in (k..n - 1).rev() {
                    let (d, above) = d.split_at_mut(i + 1);
                    let (d, above) = (&d[i], &mut above[0]);
                    let (e, beside) = e.split_at_mut(i + 1);
                    let e = &e[i];
                    if i + 2 < n {
                        let beside = &mut beside[0];
                        for l in 0..LANES {
                            let next = s[l] * (p[l] + e[l]);
                            beside[l] = if active[l] > F::ZERO { next } else { beside[l] };
                        }
                    }
                    for l in 0..LANES {
                        let r = p[l] + e[l];
                        let inverse = F::ONE / r;
                        // where the matrix splits the iteration begins anew
                        let next_c = if r > least { p[l] * inverse } else { F::ONE };
                        s[l] = if r > least { e[l] * inverse } else { F::ZERO };
                        let next = next_c.multiply_add::<I>(d[l] - sigma[l], -(s[l] * gamma[l]));
                        let value = gamma[l] + (d[l] - next);
                        above[l] = if active[l] > F::ZERO { value } else { above[l] };
                        let quotient = next * next / next_c;
                        // the limit of the quotient
                        let zero = r > least && p[l] <= least;
                        p[l] = if zero { c[l] * e[l] } else { quotient };
                        (c[l], gamma[l]) = (next_c, next);
                    }
                }
                for l in 0..LANES {
                    e[k][l] = if active[l] > F::ZERO { s[l] * p[l] } else { e[k][l] };
                    d[k][l] = if active[l] > F::ZERO { sigma[l] + gamma[l] } else { d[k][l] };
                }
            }
        }
        if n >= 2 {
            for l in 0..LANES {
                let (x, y, square) = (d[n - 2][l], d[n - 1][l], e[n - 2][l]);
                let by = shift::<I, F>(x, y, square);
                let by = if square > F::ZERO { by } else { F::ZERO };
                d[n - 2][l] = x - by;
                d[n - 1][l] = y + by;
            }
        }
        for end in (1..n).rev() {
            for k in 0..end {
                let (x, y) = (d[k], d[k + 1]);
                for l in 0..LANES {
                    d[k][l] = if x[l] > y[l] { y[l] } else { x[l] };
                    d[k + 1][l] = if x[l] > y[l] { x[l] } else { y[l] };
                }
            }
        }
    }
}
