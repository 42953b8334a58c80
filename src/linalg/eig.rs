//! Eigenvalues and eigenvectors of general matrices.

use super::batch::{Batch, dtypes, each, none, prepared};
use super::blocks::{copied, product};
use super::field::{Field, epsilon, tiny};
use super::hessenberg::{balance, reduce};
use super::precise::{nan, normalize, precise};
use super::qr::transpose_into;
use super::reflect::Reflections;
use super::{double_shift, single_shift};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::kernel::gemm::{Mat, Packed, Scratch};
use crate::kernel::math::{Number, Real};
use crate::par::Cost;
use crate::tensor::Tensor;
use num_complex::Complex;

/// A matrix on the way to its eigenvalues: balanced, in Hessenberg form.
struct Reduced<T: Field> {
    h: Scratch<T>,
    /// What rows of vectors are multiplied by, to undo the balancing.
    scales: Scratch<T::Real>,
    /// The power of two that the matrix was divided by.
    exponent: i32,
    q: Reflections<T>,
}

/// None for a matrix that is not finite.
fn reduced<T: Field>(a: &[T], n: usize) -> Result<Option<Reduced<T>>> {
    let mut h = copied(a, n, 0..n, 0..n, |x| x)?;
    let Some(exponent) = normalize(T::parts(&mut h)) else {
        return Ok(None);
    };
    let mut scales = Scratch::new(n)?;
    balance(&mut h, n, &mut scales)?;
    let Some(again) = normalize(T::parts(&mut h)) else {
        return Ok(None);
    };
    let q = reduce(&mut h, n)?;
    Ok(Some(Reduced {
        h,
        scales,
        exponent: exponent + again,
        q,
    }))
}
impl<T: Field> Reduced<T> {
    /// The columns of Q, as rows; nothing if vectors are not wanted.
    fn columns(&self, n: usize, wanted: bool) -> Result<Option<Scratch<T>>> {
        wanted.then(|| self.q.units(n)).transpose()
    }
}

/// A number of the result, times a power of two.
fn scaled<R: Real>(re: R, im: R, exponent: i32) -> Complex<R> {
    let mut parts = [re, im];
    super::precise::multiply(&mut parts, exponent);
    Complex::new(parts[0], parts[1])
}

/// Divides a vector by its length, and turns its largest component real.
fn unit<R: Real + Element + Packed>(x: &mut [Complex<R>]) {
    use super::field::{abs, hypot};
    let mut largest = (R::ZERO, Complex::new(R::ONE, R::ZERO));
    for x in x.iter() {
        let size = hypot(x.re, x.im);
        if size > largest.0 {
            largest = (size, *x);
        }
    }
    let (size, by) = largest;
    if size < tiny::<R>() || !size.isfinite() {
        return;
    }
    let (re, im) = (by.re / size, by.im / size);
    let turned = abs(im) > R::ZERO;
    let mut sum = R::ZERO;
    for x in x.iter_mut() {
        let (a, b) = (x.re / size, x.im / size);
        (x.re, x.im) = match turned {
            true => (a * re + b * im, b * re - a * im),
            false => (a, b),
        };
        sum = sum + x.re * x.re + x.im * x.im;
    }
    let length = super::field::sqrt(sum);
    for x in x.iter_mut() {
        (x.re, x.im) = (x.re / length, x.im / length);
    }
    if turned {
        // exactly real
        let close = epsilon::<R>() * R::from_f64(8.0);
        let at = x
            .iter()
            .position(|x| abs(x.im) <= close && abs(x.re) * length > R::ONE - close);
        if let Some(k) = at {
            x[k].im = R::ZERO;
        }
    }
}

/// The eigenvalues of a real matrix, and its eigenvectors as columns. Returns 0, or 1 if they do not
/// converge.
fn real<R: Field<Real = R> + Real>(
    a: &[R],
    n: usize,
    values: &mut [Complex<R>],
    vectors: &mut [Complex<R>],
) -> Result<usize>
where
    Complex<R>: Copy,
{
    let wanted = !vectors.is_empty();
    let none = Complex::new(nan(), nan());
    let Some(mut matrix) = reduced(a, n)? else {
        values.fill(none);
        vectors.fill(none);
        return Ok(0);
    };
    let mut z = matrix.columns(n, wanted)?;
    let mut re = Scratch::<R>::new(n)?;
    let mut im = Scratch::<R>::new(n)?;
    if !double_shift::iterate(&mut matrix.h, n, &mut re, &mut im, z.as_deref_mut()) {
        return Ok(1);
    }
    for (to, (re, im)) in values.iter_mut().zip(re.iter().zip(im.iter())) {
        *to = scaled(*re, *im, matrix.exponent);
    }
    let Some(z) = z else {
        return Ok(0);
    };
    let h = &mut matrix.h;
    double_shift::vectors(h, n, &re, &im);
    for i in 0..n {
        h[i * n..i * n + i].fill(<R as Field>::ZERO);
    }
    // V^T = X^T Z^T
    let rows = product(Mat::from_slice(h, n, n).t(), Mat::from_slice(&z, n, n))?;
    let mut x = crate::fallible::filled(Complex::new(<R as Field>::ZERO, <R as Field>::ZERO), n)?;
    let zero = <R as Field>::ZERO;
    for k in 0..n {
        if im[k] > zero {
            continue; // it comes with the next
        }
        let parts = |k: usize| &rows[k * n..(k + 1) * n];
        for (i, (x, scale)) in x.iter_mut().zip(matrix.scales.iter()).enumerate() {
            *x = match im[k] < zero {
                true => Complex::new(parts(k - 1)[i] * *scale, parts(k)[i] * *scale),
                false => Complex::new(parts(k)[i] * *scale, zero),
            };
        }
        unit(&mut x);
        for (i, x) in x.iter().enumerate() {
            vectors[i * n + k] = *x;
            if im[k] < zero {
                vectors[i * n + k - 1] = *x;
                vectors[i * n + k] = Complex::new(x.re, -x.im);
            }
        }
    }
    Ok(0)
}

/// The same for a complex matrix.
fn complex<R: Real + Element + Packed>(
    a: &[Complex<R>],
    n: usize,
    values: &mut [Complex<R>],
    vectors: &mut [Complex<R>],
) -> Result<usize>
where
    Complex<R>: Field<Real = R>,
{
    let none = Complex::new(nan(), nan());
    let Some(mut matrix) = reduced(a, n)? else {
        values.fill(none);
        vectors.fill(none);
        return Ok(0);
    };
    let mut z = matrix.columns(n, !vectors.is_empty())?;
    if !single_shift::iterate(&mut matrix.h, n, z.as_deref_mut()) {
        return Ok(1);
    }
    for (k, to) in values.iter_mut().enumerate() {
        let x = matrix.h[k * n + k];
        *to = scaled(x.re, x.im, matrix.exponent);
    }
    let Some(z) = z else {
        return Ok(0);
    };
    let x = single_shift::vectors(&matrix.h, n)?;
    let mut rows = product(Mat::from_slice(&x, n, n), Mat::from_slice(&z, n, n))?;
    for row in rows.chunks_exact_mut(n.max(1)) {
        for (x, scale) in row.iter_mut().zip(matrix.scales.iter()) {
            (x.re, x.im) = (x.re * *scale, x.im * *scale);
        }
        unit(row);
    }
    transpose_into(&rows, n, [n, n], (vectors, n, 0), |x| x);
    Ok(0)
}

fn decompose(op: &'static str, x: &Tensor, vectors: bool) -> Result<(Tensor, Tensor)> {
    let batch = Batch::square(op, x)?;
    let (dtype, wide) = dtypes(op, x.dtype())?;
    let wide = precise(wide);
    let n = batch.rows;
    let size = if vectors { n * n } else { 0 };
    let x = prepared(x, wide)?;
    let mut values = Tensor::empty(batch.shape(&[n]), wide.complex())?;
    let mut v = Tensor::empty(
        batch.shape(&[n, if vectors { n } else { 0 }]),
        wide.complex(),
    )?;
    let cost = Cost {
        bytes: 64 * n * n,
        flops: (n * n).saturating_mul(if vectors { 50 * n } else { 20 * n }),
    };
    macro_rules! run {
        ($R:ty, $T:ty, $one:ident) => {{
            let a = x.as_slice::<$T>()?;
            let results = (
                (values.as_mut_slice::<Complex<$R>>()?, n),
                (v.as_mut_slice::<Complex<$R>>()?, size),
                none(),
            );
            each(batch.len, cost, results, |k, values, vectors, _| {
                $one::<$R>(&a[k * n * n..][..n * n], n, values, vectors)
            })?
        }};
    }
    let failed = dispatch!(float wide, |R| run!(R, R, real), else dispatch!(complex wide, |T| {
        run!(<T as Number>::Real, T, complex)
    }, else return Err(Error::unsupported(op, wide))));
    if let Some((k, _)) = failed {
        let matrix = batch.index(k);
        return Err(Error::NoConvergence { op, matrix });
    }
    Ok((
        values.into_dtype(dtype.complex())?,
        v.into_dtype(dtype.complex())?,
    ))
}

/// The eigenvalues of each matrix, in no particular order, and its eigenvectors:
/// `x V = V diag(values)`.
///
/// `x` is `[.., n, n]`; the values are `[.., n]` and the vectors, the columns of V, `[.., n, n]`. Both
/// are complex: complex128 for float64 and complex128, else complex64. Of a real matrix, complex
/// values are exact pairs of conjugates, the one with the positive imaginary part first. A vector
/// has length 1, and its largest component is real. By balancing, reduction to Hessenberg form and
/// implicit QR iterations (Francis 1961), in float64 also for float32. A matrix with NaN or
/// infinities has NaN in all results.
///
/// Errors if the matrices are not square, an iteration does not converge
/// ([`Error::NoConvergence`]), and for float8.
///
/// ```
/// use flex::{Tensor, dtype::Complex128, linalg};
/// let x = Tensor::from([[0.0f64, -1.0], [1.0, 0.0]]); // a quarter turn
/// let (values, _vectors) = linalg::eig(&x)?;
/// let i = Complex128::new(0.0, 1.0);
/// assert_eq!(values.to_vec::<Complex128>()?, [i, -i]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn eig(x: &Tensor) -> Result<(Tensor, Tensor)> {
    decompose("eig", x, true)
}

/// The eigenvalues of each matrix: the first result of [`eig`], with its errors.
///
/// ```
/// use flex::{Tensor, dtype::Complex64, linalg};
/// let x = Tensor::from([[2.0f32, 1.0], [0.0, 3.0]]);
/// let values = linalg::eigvals(&x)?;
/// assert_eq!(values.to_vec::<Complex64>()?, [Complex64::new(2.0, 0.0), Complex64::new(3.0, 0.0)]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn eigvals(x: &Tensor) -> Result<Tensor> {
    Ok(decompose("eigvals", x, false)?.0)
}
