//! Small matrices, one in each lane: element `(i, j)` of all of them is one array.

use super::math::Real;

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
