//! Cosine transforms, by Fourier transforms of the same length or half of it (Makhoul, 1980: "A
//! fast cosine transform in one and two dimensions").

use super::cache::{PlanOwner, held};
use super::job::{Transform, TransformJob};
use super::line::TransformKind;
use super::one::{length, real};
use super::options::{Fft, Norm};
use super::plan::Purpose;
use super::tensors::resized;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::fallible;
use crate::kernel::fft::Float;
use crate::kernel::fft::roots::root;
use crate::layout::axis;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The type of a cosine transform. The sums run over `j` from 0 to `n - 1` unless given.
///
/// ```
/// use flex::{Tensor, fft::{self, Dct}};
/// let x = Tensor::from([1.0f32, 2.0, 3.0]);
/// assert_eq!(fft::dct(&x, Dct::I, ())?.to_vec::<f32>()?, [8.0, -2.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dct {
    /// `y[k] = x[0] + (-1)^k x[n - 1] + 2 sum x[j] cos(pi j k / (n - 1))`, for `j` from 1 to `n -
    /// 2`. Its own inverse up to a factor. Takes at least two values.
    I,
    /// `y[k] = 2 sum x[j] cos(pi k (2 j + 1) / (2 n))`: "the" DCT.
    #[default]
    II,
    /// `y[k] = x[0] + 2 sum x[j] cos(pi (2 k + 1) j / (2 n))`, for `j` from 1. The inverse of II up
    /// to a factor.
    III,
    /// `y[k] = 2 sum x[j] cos(pi (2 k + 1) (2 j + 1) / (4 n))`. Its own inverse up to a factor.
    IV,
}

/// The discrete cosine transform of real numbers along an axis, as defined by scipy.fft.dct.
/// [`Norm`] says whether the transform, its inverse or both are divided by `2 n` (type I: `2 n -
/// 2`). [`Norm::Ortho`] also scales the first element of the result of II and of the operand of
/// III, and the first and last of both for I, by `sqrt(2)` or its reciprocal, so that the transform
/// is orthonormal.
///
/// The result is float32 or float64, as with [`rfft`](super::rfft).
///
/// Errors for complex numbers, if the axis is out of range for `x`, for a length of 0 (for I also
/// 1), and for float8.
///
/// ```
/// use flex::{Tensor, fft::{self, Dct}};
/// let x = Tensor::from([1.0f32, 1.0, 1.0, 1.0]);
/// assert_eq!(fft::dct(&x, Dct::II, ())?.to_vec::<f32>()?, [8.0, 0.0, 0.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn dct(x: &Tensor, kind: Dct, how: impl Into<Fft>) -> Result<Tensor> {
    dct_as(x, kind, &how.into(), None)
}
/// [`dct`], orthonormal up to a factor or not, whatever the norm.
pub fn dct_as(x: &Tensor, kind: Dct, how: &Fft, ortho: Option<bool>) -> Result<Tensor> {
    cosine("dct", x, kind, how, ortho, false)
}

/// The inverse of [`dct`] of the same type: III inverts II and II inverts III, while I and IV
/// invert themselves. Arguments, dtypes and errors are those of `dct`.
///
/// ```
/// use flex::{Tensor, fft::{self, Dct}};
/// let x = Tensor::from([8.0f32, 0.0, 0.0, 0.0]);
/// assert_eq!(fft::idct(&x, Dct::II, ())?.to_vec::<f32>()?, [1.0, 1.0, 1.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn idct(x: &Tensor, kind: Dct, how: impl Into<Fft>) -> Result<Tensor> {
    idct_as(x, kind, &how.into(), None)
}
/// [`idct`], orthonormal up to a factor or not, whatever the norm.
pub fn idct_as(x: &Tensor, kind: Dct, how: &Fft, ortho: Option<bool>) -> Result<Tensor> {
    let kind = match kind {
        Dct::II => Dct::III,
        Dct::III => Dct::II,
        kind => kind,
    };
    cosine("idct", x, kind, how, ortho, true)
}

fn cosine(
    op: &'static str,
    x: &Tensor,
    kind: Dct,
    how: &Fft,
    ortho: Option<bool>,
    inverse: bool,
) -> Result<Tensor> {
    let x = real(op, x)?;
    let k = axis(op, how.axis, x.rank())?;
    let n = length(op, how.n, x.shape()[k])?;
    let x = resized(&x, k, n)?;
    if kind == Dct::I && n < 2 {
        let message = message!("a transform of type I needs at least two values, not {n}");
        return Err(Error::value(op, message));
    }
    let period = 2 * (n - (kind == Dct::I) as usize);
    let scale = how.norm.scale(period, inverse);
    let dtype = x.dtype();
    let mut y = Tensor::empty(x.shape(), dtype)?;
    if y.is_empty() {
        return Ok(y);
    }
    dispatch!(float dtype, |T| {
        let plan = Cosine::<T>::new(kind, n, scale, ortho.unwrap_or(how.norm == Norm::Ortho))?;
        plan.lines(&x, k, dtype, &mut y)?;
        Ok(y)
    }, else Err(Error::unsupported(op, dtype)))
}

/// The transform of lines of one length.
struct Cosine<T> {
    kind: Dct,
    n: usize,
    scale: T,
    ortho: bool,
    job: TransformJob<T>,
    /// `exp(-2 pi i k / (4 n))` for II and III, `exp(-2 pi i k / (8 n))` for IV.
    turns: PlanOwner<Vec<(T, T)>>,
}

impl<T: Float> Cosine<T> {
    fn new(kind: Dct, n: usize, scale: f64, ortho: bool) -> Result<Self> {
        let job = |of, n| {
            TransformJob::new(Transform {
                kind: of,
                n,
                inverse: of == TransformKind::Real,
                scale: 1.0,
            })
        };
        let job = match kind {
            Dct::I => job(TransformKind::Half, 2 * (n - 1))?,
            Dct::II => job(TransformKind::Half, n)?,
            Dct::III => job(TransformKind::Real, n)?,
            Dct::IV if n.is_multiple_of(2) => job(TransformKind::Complex, n / 2)?,
            Dct::IV => job(TransformKind::Complex, 2 * n)?,
        };
        let (len, circle) = match kind {
            Dct::I => (0, 1),
            Dct::IV => (2 * n, 8),
            _ => (n / 2 + 1, 4),
        };
        let make = || {
            let number = |(re, im)| (T::from_f64(re), T::from_f64(im));
            let mut turns = fallible::with_capacity(len)?;
            turns.extend((0..len as u64).map(|k| number(root(k, circle * n as u64))));
            Ok(turns)
        };
        let bytes = |turns: &Vec<(T, T)>| size_of_val(&turns[..]);
        let turns = held(n, Purpose::Cosine(circle as usize), make, bytes)?;
        Ok(Cosine {
            kind,
            n,
            scale: T::from_f64(scale),
            ortho,
            job,
            turns,
        })
    }

    fn lines(&self, x: &Tensor, axis: usize, dtype: DType, y: &mut Tensor) -> Result<()> {
        let (input, output) = (self.job.input(), self.job.output());
        Lines::new(x.shape(), axis)
            .input(x.elements())
            .output(y.elements_mut()?)
            .scratch(input, dtype)
            .scratch(output, dtype)
            .scratch(self.job.work_len(), dtype)
            .run(self.job.cost(), |line| {
                let (x, y): (&[T], &mut [T]) = (line.input(0), line.output(0));
                let (from, to): (&mut [T], &mut [T]) = (line.scratch(0), line.scratch(1));
                let work: &mut [T] = line.scratch(2);
                self.before(x, from);
                let work = Some(work.as_mut_ptr());
                // SAFETY: slices of the lengths that the job asks for.
                let done = unsafe { self.job.run(from.as_ptr(), to.as_mut_ptr(), work) };
                debug_assert!(done.is_ok(), "a line with scratch allocates nothing");
                self.after(to, y);
            })
    }

    /// The input of the Fourier transform.
    fn before(&self, x: &[T], v: &mut [T]) {
        let n = self.n;
        let ortho = |factor: f64| T::from_f64(if self.ortho { factor } else { 1.0 });
        match self.kind {
            // the line, then its interior reversed
            Dct::I => {
                v[..n].copy_from_slice(x);
                (1..n - 1).for_each(|j| v[2 * (n - 1) - j] = x[j]);
                let ends = ortho(core::f64::consts::SQRT_2);
                (v[0], v[n - 1]) = (v[0] * ends, v[n - 1] * ends);
            }
            // even elements, then odd ones reversed
            Dct::II => {
                let middle = n.div_ceil(2);
                (0..middle).for_each(|k| v[k] = x[2 * k]);
                (0..n / 2).for_each(|k| v[n - 1 - k] = x[2 * k + 1]);
            }
            // (x[k] - i x[n - k]) exp(i pi k / (2 n))
            Dct::III => {
                let first = ortho(core::f64::consts::SQRT_2);
                (v[0], v[1]) = (x[0] * first, T::ZERO);
                for k in 1..=n / 2 {
                    let ((c, s), (a, b)) = (self.turns[k], (x[k], x[n - k]));
                    (v[2 * k], v[2 * k + 1]) = (a * c - b * s, -(a * s) - b * c);
                }
            }
            Dct::IV if n.is_multiple_of(2) => {
                for k in 0..n / 2 {
                    let ((c, s), (a, b)) = (self.turns[4 * k + 1], (x[2 * k], x[n - 1 - 2 * k]));
                    (v[2 * k], v[2 * k + 1]) = (a * c - b * s, a * s + b * c);
                }
            }
            Dct::IV => {
                for k in 0..n {
                    let (c, s) = self.turns[2 * k];
                    (v[2 * k], v[2 * k + 1]) = (x[k] * c, x[k] * s);
                }
                v[2 * n..].fill(T::ZERO);
            }
        }
    }

    /// The result, from the output of the Fourier transform.
    fn after(&self, z: &[T], y: &mut [T]) {
        let (n, scale) = (self.n, self.scale);
        let twice = scale * T::from_f64(2.0);
        match self.kind {
            Dct::I => {
                (0..n).for_each(|k| y[k] = z[2 * k] * scale);
                if self.ortho {
                    let ends = T::from_f64(core::f64::consts::FRAC_1_SQRT_2);
                    (y[0], y[n - 1]) = (y[0] * ends, y[n - 1] * ends);
                }
            }
            Dct::II => {
                for k in 0..=n / 2 {
                    let ((c, s), (a, b)) = (self.turns[k], (z[2 * k], z[2 * k + 1]));
                    if k > 0 {
                        y[n - k] = -(a * s + b * c) * twice;
                    }
                    // for even lengths the middle element is in both halves, which agree
                    if k < n {
                        y[k] = (a * c - b * s) * twice;
                    }
                }
                if self.ortho {
                    y[0] = y[0] * T::from_f64(core::f64::consts::FRAC_1_SQRT_2);
                }
            }
            Dct::III => {
                (0..n.div_ceil(2)).for_each(|k| y[2 * k] = z[k] * scale);
                (0..n / 2).for_each(|k| y[2 * k + 1] = z[n - 1 - k] * scale);
            }
            Dct::IV if n.is_multiple_of(2) => {
                for k in 0..n / 2 {
                    let ((c, s), (a, b)) = (self.turns[4 * k], (z[2 * k], z[2 * k + 1]));
                    y[2 * k] = (a * c - b * s) * twice;
                    y[n - 1 - 2 * k] = -(a * s + b * c) * twice;
                }
            }
            Dct::IV => {
                for k in 0..n {
                    let ((c, s), (a, b)) = (self.turns[2 * k + 1], (z[2 * k], z[2 * k + 1]));
                    y[k] = (a * c - b * s) * twice;
                }
            }
        }
    }
}
