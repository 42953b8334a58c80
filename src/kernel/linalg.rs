//! Operations on the rows of matrices that are being factored (level 1 of the BLAS).

use super::gemm::Packed;
use super::math::{Number, Real};

/// Sums of a dot product: as many as keep multiply-adds of a vector busy.
const SUMS: usize = 16;
/// Sums of what is left: a short product is not to wait for itself.
const FEW: usize = 4;

/// Right-hand sides that [`substitute`] takes at a time: vectors of sums that don't wait for each
/// other.
pub const LANES: usize = 32;

/// `rest` and the sum of an array of [`SUMS`], in two chains. LLVM makes of a tree of pairs shuffles, which
/// it moves into the loop that made the array: float32 then takes twice the time.
macro_rules! joined {
    ($T:ty, $sums:ident, $rest:expr) => {{
        let (mut low, mut high) = ($rest, <$T>::default());
        for k in 0..SUMS / 2 {
            low = <$T>::add(low, $sums[k]);
            high = <$T>::add(high, $sums[k + SUMS / 2]);
        }
        <$T>::add(low, high)
    }};
}

/// A number of a matrix that is factored.
pub trait Entry: Packed + Number<Real: Real> {}
impl<T: Packed + Number<Real: Real>> Entry for T {}

kernel! {
    /// `y += a x`.
    pub fn axpy<'a, T: Packed>(a: T, x: &'a [T], y: &'a mut [T]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = T::mul_add::<I>(a, *x, *y);
        }
    }
}

kernel! {
    /// `x *= a`.
    pub fn scale<'a, T: Packed>(a: T, x: &'a mut [T]) -> () { |I|
        for x in x.iter_mut() {
            *x = T::mul(a, *x);
        }
    }
}

/// The sum of `x y`.
pub fn dot<T: Entry>(x: &[T], y: &[T]) -> T {
    sum_of_products(x, y, false)
}
/// The sum of `conj(x) y`.
pub fn dot_conj<T: Entry>(x: &[T], y: &[T]) -> T {
    sum_of_products(x, y, true)
}

kernel! {
    /// The sum of `x y`, or of `conj(x) y`.
    fn sum_of_products<'a, T: Entry>(x: &'a [T], y: &'a [T], conj: bool) -> T { |I|
        let n = x.len().min(y.len());
        let mut sums = [T::default(); SUMS];
        let (xs, x) = x[..n].as_chunks::<SUMS>();
        let (ys, y) = y[..n].as_chunks::<SUMS>();
        for (x, y) in xs.iter().zip(ys) {
            for k in 0..SUMS {
                let x = if conj { x[k].conj() } else { x[k] };
                sums[k] = T::mul_add::<I>(x, y[k], sums[k]);
            }
        }
        let (xs, x) = x.as_chunks::<FEW>();
        let (ys, y) = y.as_chunks::<FEW>();
        for (x, y) in xs.iter().zip(ys) {
            for k in 0..FEW {
                let x = if conj { x[k].conj() } else { x[k] };
                sums[k] = T::mul_add::<I>(x, y[k], sums[k]);
            }
        }
        let mut rest = T::default();
        for (x, y) in x.iter().zip(y) {
            let x = if conj { x.conj() } else { *x };
            rest = T::mul_add::<I>(x, *y, rest);
        }
        joined!(T, sums, rest)
    }
}

kernel! {
    /// `row += a x + b z`, and then `sums += conj(row[0]) row`.
    pub fn add_to_sums<'a, T: Entry>(
        a: T,
        x: &'a [T],
        b: T,
        z: &'a [T],
        row: &'a mut [T],
        sums: &'a mut [T],
    ) -> () { |I|
        let n = row.len().min(x.len()).min(z.len()).min(sums.len());
        if n == 0 {
            return;
        }
        let first = T::mul_add::<I>(b, z[0], T::mul_add::<I>(a, x[0], row[0]));
        let by = first.conj();
        let others = x[..n].iter().zip(&z[..n]);
        for ((row, (x, z)), sum) in row[..n].iter_mut().zip(others).zip(&mut sums[..n]) {
            *row = T::mul_add::<I>(b, *z, T::mul_add::<I>(a, *x, *row));
            *sum = T::mul_add::<I>(by, *row, *sum);
        }
    }
}

kernel! {
    /// Solves a lower triangular system for [`LANES`] right-hand sides, whose elements lie side by side in
    /// `tile`. `factor`, of `size`, has the negative of the triangle and the inverses of its diagonal.
    pub fn substitute<'a, T: Entry>(factor: &'a [T], size: usize, tile: &'a mut [T]) -> () { |I|
        let (lines, _) = tile.as_chunks_mut::<LANES>();
        for (j, factor) in factor.chunks_exact(size.max(1)).enumerate() {
            let (above, line) = lines.split_at_mut(j);
            let mut sums = line[0];
            for (by, x) in factor.iter().zip(above) {
                for k in 0..LANES {
                    sums[k] = T::mul_add::<I>(*by, x[k], sums[k]);
                }
            }
            for sum in &mut sums {
                *sum = T::mul(factor[j], *sum);
            }
            line[0] = sums;
        }
    }
}

kernel! {
    /// `p += A y`, of the first `rows` rows of a symmetric matrix, whose upper triangle has its diagonal in
    /// the first element of `a` and every `stride + 1` elements, and of their mirror image. Two rows at a
    /// time, which share what they read and write of `y` and `p`.
    pub fn multiply_symmetric<'a, T: Entry>(
        a: &'a [T],
        stride: usize,
        rows: usize,
        y: &'a [T],
        p: &'a mut [T],
    ) -> () { |I|
        let n = y.len().min(p.len());
        let rows = rows.min(n);
        let mut i = 0;
        while i + 1 < rows {
            let first = &a[i * (stride + 1)..][..n - i];
            let second = &a[(i + 1) * (stride + 1)..][..n - i - 1];
            let (y, p) = (&y[i..n], &mut p[i..n]);
            let by = [y[0], y[1]];
            let corner = T::mul_add::<I>(first[1], by[1], T::mul(first[0], by[0]));
            let mirrored = T::mul_add::<I>(first[1], by[0], T::mul(second[0], by[1]));
            let (xs, x) = first[2..].as_chunks::<SUMS>();
            let (zs, z) = second[1..].as_chunks::<SUMS>();
            let (ys, y) = y[2..].as_chunks::<SUMS>();
            let (head, tail) = p.split_at_mut(2);
            let (ps, last) = tail.as_chunks_mut::<SUMS>();
            let (mut sums, mut more) = ([T::default(); SUMS], [T::default(); SUMS]);
            for (((x, z), y), p) in xs.iter().zip(zs).zip(ys).zip(ps) {
                let mut line = *p;
                for k in 0..SUMS {
                    sums[k] = T::mul_add::<I>(x[k], y[k], sums[k]);
                }
                for k in 0..SUMS {
                    more[k] = T::mul_add::<I>(z[k], y[k], more[k]);
                }
                for k in 0..SUMS {
                    line[k] = T::mul_add::<I>(by[0], x[k], line[k]);
                }
                for k in 0..SUMS {
                    line[k] = T::mul_add::<I>(by[1], z[k], line[k]);
                }
                *p = line;
            }
            let (mut rest, mut other) = (corner, mirrored);
            for (((x, z), y), p) in x.iter().zip(z).zip(y).zip(last) {
                rest = T::mul_add::<I>(*x, *y, rest);
                other = T::mul_add::<I>(*z, *y, other);
                *p = T::mul_add::<I>(by[1], *z, T::mul_add::<I>(by[0], *x, *p));
            }
            head[0] = T::add(head[0], joined!(T, sums, rest));
            head[1] = T::add(head[1], joined!(T, more, other));
            i += 2;
        }
        if i < rows {
            let row = &a[i * (stride + 1)..][..n - i];
            let (y, p) = (&y[i..n], &mut p[i..n]);
            let mut sum = T::mul(row[0], y[0]);
            for ((x, z), p) in row.iter().zip(y).zip(p.iter_mut()).skip(1) {
                sum = T::mul_add::<I>(*x, *z, sum);
                *p = T::mul_add::<I>(y[0], *x, *p);
            }
            p[0] = T::add(p[0], sum);
        }
    }
}

kernel! {
    /// The same of a Hermitian matrix, row by row, in parts of complex numbers: `re` has the real part of
    /// each number of y twice, `im` the imaginary one, so that parts are multiplied as real numbers.
    /// Adds to p and q, where `conj(p - i q)` is the product; all in parts, but for `stride`.
    pub fn multiply_hermitian<'a, F: Real>(
        a: &'a [F],
        stride: usize,
        rows: usize,
        re: &'a [F],
        im: &'a [F],
        p: &'a mut [F],
        q: &'a mut [F],
    ) -> () { |I|
        let n = re.len().min(im.len()).min(p.len()).min(q.len()) / 2;
        for i in 0..rows.min(n) {
            let (x, y, z) = (&a[2 * i * (stride + 1)..][..2 * (n - i)], &re[2 * i..2 * n], &im[2 * i..2 * n]);
            let (p, q) = (&mut p[2 * i..2 * n], &mut q[2 * i..2 * n]);
            let by = [y[0], z[0]];
            // the diagonal, which is real
            let (mut real, mut imaginary) = (x[0] * by[0], x[0] * by[1]);
            let (head, tail) = p.split_at_mut(2);
            let (xs, x) = x[2..].as_chunks::<SUMS>();
            let (ys, y) = y[2..].as_chunks::<SUMS>();
            let (zs, z) = z[2..].as_chunks::<SUMS>();
            let (ps, p) = tail.as_chunks_mut::<SUMS>();
            let (qs, q) = q[2..].as_chunks_mut::<SUMS>();
            let (mut sums, mut more) = ([F::ZERO; SUMS], [F::ZERO; SUMS]);
            for ((((x, y), z), p), q) in xs.iter().zip(ys).zip(zs).zip(ps).zip(qs) {
                let (x, mut line, mut other) = (*x, *p, *q);
                for k in 0..SUMS {
                    sums[k] = x[k].multiply_add::<I>(y[k], sums[k]);
                }
                for k in 0..SUMS {
                    more[k] = x[k].multiply_add::<I>(z[k], more[k]);
                }
                for k in 0..SUMS {
                    line[k] = x[k].multiply_add::<I>(by[0], line[k]);
                }
                for k in 0..SUMS {
                    other[k] = x[k].multiply_add::<I>(by[1], other[k]);
                }
                (*p, *q) = (line, other);
            }
            for ((((x, y), z), p), q) in x.chunks_exact(2).zip(y.chunks_exact(2)).zip(z.chunks_exact(2)).zip(p.chunks_exact_mut(2)).zip(q.chunks_exact_mut(2)) {
                real = x[0].multiply_add::<I>(y[0], real) - x[1] * z[1];
                imaginary = x[0].multiply_add::<I>(z[0], imaginary) + x[1] * y[1];
                for k in 0..2 {
                    p[k] = x[k].multiply_add::<I>(by[0], p[k]);
                    q[k] = x[k].multiply_add::<I>(by[1], q[k]);
                }
            }
            for k in 0..SUMS / 2 {
                real = real + sums[2 * k] - more[2 * k + 1];
                imaginary = imaginary + more[2 * k] + sums[2 * k + 1];
            }
            head[0] = head[0] + real;
            head[1] = head[1] - imaginary;
        }
    }
}

kernel! {
    /// `y += a x + b z`.
    pub fn axpy_twice<'a, T: Packed>(a: T, x: &'a [T], b: T, z: &'a [T], y: &'a mut [T]) -> () { |I|
        for ((y, x), z) in y.iter_mut().zip(x).zip(z) {
            *y = T::mul_add::<I>(b, *z, T::mul_add::<I>(a, *x, *y));
        }
    }
}

kernel! {
    /// `y += a[0] x[0] + a[1] x[1] + ..`, in this order.
    pub fn axpy_four<'a, T: Packed>(a: [T; 4], x: [&'a [T]; 4], y: &'a mut [T]) -> () { |I|
        let others = x[0].iter().zip(x[1]).zip(x[2]).zip(x[3]);
        for (y, (((p, q), r), s)) in y.iter_mut().zip(others) {
            let sum = T::mul_add::<I>(a[1], *q, T::mul_add::<I>(a[0], *p, *y));
            *y = T::mul_add::<I>(a[3], *s, T::mul_add::<I>(a[2], *r, sum));
        }
    }
}

kernel! {
    /// The position of the number with the largest `|re| + |im|`: of the first of several, or of the
    /// first NaN.
    pub fn largest<'a, T: Entry>(x: &'a [T]) -> usize { |I|
        let size = |x: T| x.re().abs::<I>() + x.im().abs::<I>();
        let mut best = [T::Real::ZERO; SUMS];
        let (blocks, rest) = x.as_chunks::<SUMS>();
        for x in blocks {
            for k in 0..SUMS {
                best[k] = best[k].maximum::<I>(size(x[k]));
            }
        }
        let all = best.into_iter().chain(rest.iter().map(|x| size(*x)));
        let best = all.fold(T::Real::ZERO, |best, size| best.maximum::<I>(size));
        let is_best = |x: T| match best.isnan() {
            true => x.isnan(),
            false => size(x) == best,
        };
        for (block, x) in blocks.iter().enumerate() {
            if x.iter().fold(false, |found, x| found | is_best(*x)) {
                return SUMS * block + x.iter().position(|x| is_best(*x)).unwrap_or(0);
            }
        }
        let before = SUMS * blocks.len();
        before + rest.iter().position(|x| is_best(*x)).unwrap_or(0)
    }
}

/// A plane rotation: `(x, y) = (c x + s y, c y - s x)` of rows `row` and `row + 1`.
#[derive(Clone, Copy, Default)]
pub struct Rotation<F> {
    pub row: usize,
    pub c: F,
    pub s: F,
}
/// Columns that are rotated together: they stay in the second cache for many rotations.
pub const ROTATED: usize = 32;

kernel! {
    /// Applies rotations, one after the other, to a matrix of [`ROTATED`] columns. Of a run of rotations
    /// down or up the rows, the row that two of them share stays in registers.
    pub fn rotate_all<'a, F: Real>(rotations: &'a [Rotation<F>], x: &'a mut [[F; ROTATED]]) -> () { |I|
        let mut at = 0;
        while at < rotations.len() {
            let row = rotations[at].row;
            if at + 1 < rotations.len() && rotations[at + 1].row == row + 1 {
                let mut last = row;
                let mut shared = x[last];
                while at < rotations.len() && rotations[at].row == last {
                    let Rotation { c, s, .. } = rotations[at];
                    let [a, b] = &mut x[last..last + 2] else {
                        break;
                    };
                    for k in 0..ROTATED {
                        let (p, q) = (shared[k], b[k]);
                        a[k] = c.multiply_add::<I>(p, s * q);
                        shared[k] = c.multiply_add::<I>(q, -(s * p));
                    }
                    (last, at) = (last + 1, at + 1);
                }
                x[last] = shared;
            } else {
                let mut first = row + 1;
                let mut shared = x[first];
                while at < rotations.len() && rotations[at].row + 1 == first {
                    let Rotation { c, s, .. } = rotations[at];
                    let [a, b] = &mut x[first - 1..first + 1] else {
                        break;
                    };
                    for k in 0..ROTATED {
                        let (p, q) = (a[k], shared[k]);
                        b[k] = c.multiply_add::<I>(q, -(s * p));
                        shared[k] = c.multiply_add::<I>(p, s * q);
                    }
                    (first, at) = (first - 1, at + 1);
                }
                x[first] = shared;
            }
        }
    }
}
