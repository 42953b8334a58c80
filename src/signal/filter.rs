//! Recursive filters along an axis: in float64, a line after the other on all threads.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::failure::try_chunks;
use crate::fallible;
use crate::layout::{self, Shape};
use crate::ops;
use crate::par::{Cost, Out};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The numbers of a vector, in float64.
fn numbers(op: &'static str, x: &Tensor) -> Result<Vec<f64>> {
    if x.dtype().is_complex() || x.dtype().is_storage() || !DType::F64.is_available() {
        return Err(Error::unsupported(op, x.dtype()));
    }
    x.astype(DType::F64)?.to_vec::<f64>()
}

/// The lines of `x` along an axis and the states of a filter, as contiguous rows.
struct Lines {
    op: &'static str,
    axis: usize,
    dtype: DType,
    x: Tensor,
    state: Tensor,
    /// The shape of states, `[sections, .., per section, ..]`, as the caller gives it.
    states: Shape,
    given: bool,
}

impl Lines {
    /// `sections` states of `order` numbers for each line. `state` is `[.., order, ..]`, with `order`
    /// at the axis, behind a dimension of sections if there are any.
    fn new(
        op: &'static str,
        x: &Tensor,
        axis: isize,
        (sections, order): (Option<usize>, usize),
        state: Option<&Tensor>,
    ) -> Result<Lines> {
        let axis = layout::axis(op, axis, x.rank())?;
        let dtype = x.dtype().inexact();
        if dtype.is_storage() || !dtype.is_available() || !DType::F64.is_available() {
            return Err(Error::unsupported(op, x.dtype()));
        }
        let mut states = Shape::from_slice(x.shape());
        states[axis] = order;
        if let Some(sections) = sections {
            states.insert(0, sections);
        }
        let x = x.astype(DType::F64)?.moveaxis(axis as isize, -1)?;
        let given = state.is_some();
        let state = match state {
            None => Tensor::zeros(&states[..], DType::F64)?,
            Some(zi) => {
                let fits = zi.rank() == states.len();
                let whole = fits.then(|| zi.astype(DType::F64)?.broadcast_to(&states[..]));
                whole.transpose().ok().flatten().ok_or_else(|| {
                    let operands = [("zi", zi.shape(), zi.dtype()), ("x", x.shape(), x.dtype())];
                    let message = message!("zi must have shape {:?}", &states[..]);
                    Error::shape_of(op, message, &operands)
                })?
            }
        };
        // the sections of a line one after another
        let lead = usize::from(sections.is_some());
        let state = state.moveaxis((axis + lead) as isize, -1)?;
        let state = match sections {
            Some(_) => state.moveaxis(0, -2)?,
            None => state,
        };
        Ok(Lines {
            op,
            axis,
            dtype,
            x: x.contiguous()?,
            state: state.contiguous()?,
            states,
            given,
        })
    }
    /// Replaces each line and its states by what `f` makes of them.
    fn run(&mut self, cost: usize, f: impl Fn(&mut [f64], &mut [f64]) + Sync) -> Result<()> {
        let n = self.x.shape().last().copied().unwrap_or(0);
        if self.x.is_empty() {
            return Ok(());
        }
        let count = self.x.len() / n;
        let per = self.state.len() / count;
        let cost = Cost {
            bytes: 16 * n,
            flops: n.saturating_mul(cost),
        };
        let (x, state) = (
            self.x.as_mut_slice::<f64>()?,
            self.state.as_mut_slice::<f64>()?,
        );
        let (x, state) = (Out::new(x), Out::new(state));
        try_chunks(count, cost, |k| {
            // SAFETY: OUT1: each line has parts of its own, and each call another line.
            let (line, state) = unsafe {
                (
                    x.part(k * n..(k + 1) * n),
                    state.part(k * per..(k + 1) * per),
                )
            };
            f(line, state);
            Ok(())
        })
    }
    /// The filtered tensor, and the last states if the first were given.
    fn results(self) -> Result<(Tensor, Option<Tensor>)> {
        let axis = self.axis as isize;
        let y = self
            .x
            .into_dtype(self.dtype)?
            .moveaxis(-1, axis)?
            .contiguous()?;
        if !self.given {
            return Ok((y, None));
        }
        let lead = self.states.len() - y.rank();
        let state = match lead {
            0 => self.state,
            _ => self.state.moveaxis(-2, 0)?,
        };
        let state = state.moveaxis(-1, axis + lead as isize)?;
        debug_assert!(*state.shape() == self.states[..], "{}", self.op);
        Ok((y, Some(state.into_dtype(self.dtype)?.contiguous()?)))
    }
}

/// Applies `f` to a tensor and its states; to the real and imaginary parts of complex ones apart,
/// since filters are linear and real.
fn by_parts(
    x: &Tensor,
    state: Option<&Tensor>,
    f: &dyn Fn(&Tensor, Option<&Tensor>) -> Result<(Tensor, Option<Tensor>)>,
) -> Result<(Tensor, Option<Tensor>)> {
    let complex = |x: &Tensor| x.dtype().is_complex();
    if !complex(x) && !state.is_some_and(complex) {
        return f(x, state);
    }
    let dtype = x.dtype().inexact().complex();
    let parts = |x: &Tensor| Ok::<_, Error>((ops::real(x)?, ops::imag(x)?));
    let (re, im) = parts(x)?;
    let states = state.map(parts).transpose()?;
    let (re, first) = f(&re, states.as_ref().map(|s| &s.0))?;
    let (im, second) = f(&im, states.as_ref().map(|s| &s.1))?;
    let state = match (first, second) {
        (Some(re), Some(im)) => Some(joined(&re, &im, dtype)?),
        _ => None,
    };
    Ok((joined(&re, &im, dtype)?, state))
}

/// The complex numbers with these parts.
#[cfg(feature = "complex")]
fn joined(re: &Tensor, im: &Tensor, dtype: DType) -> Result<Tensor> {
    use crate::dtype::Complex128;
    let part = |x: &Tensor| x.astype(DType::F64)?.contiguous();
    let (re, im) = (part(re)?, part(im)?);
    let mut y = Tensor::empty(re.shape(), DType::Complex128)?;
    let parts = re.as_slice::<f64>()?.iter().zip(im.as_slice::<f64>()?);
    for (to, (re, im)) in y.as_mut_slice::<Complex128>()?.iter_mut().zip(parts) {
        *to = Complex128::new(*re, *im);
    }
    y.into_dtype(dtype)
}
#[cfg(not(feature = "complex"))]
fn joined(_: &Tensor, _: &Tensor, dtype: DType) -> Result<Tensor> {
    Err(Error::unsupported("lfilter", dtype))
}

/// Filters each line of `x` along an axis by a rational transfer function, and returns the last states
/// if the first are given: `a[0] y[n]` is the sum of `b[k] x[n - k]`, less that of `a[k] y[n - k]` for
/// k from 1 on.
///
/// `b` and `a` are real vectors, or single numbers, `a[0]` is not zero. `state` has the shape of `x`,
/// but `max(len(a), len(b)) - 1` at the axis, or broadcasts to it: the delays of the transposed direct
/// form II. Computed in float64; the result has the dtype of `x`, integers become float32. Threads
/// share lines; each is computed in order.
///
/// Errors if there are no coefficients, `a[0]` is zero, a coefficient is complex, the axis is out of
/// range, and for float8.
///
/// ```
/// use flex::{Tensor, signal};
/// let (b, a) = (Tensor::from([1.0f64]), Tensor::from([1.0f64, -0.5]));
/// let (y, _) = signal::lfilter(&b, &a, &Tensor::from([1.0f64, 0.0, 4.0]), -1, None)?;
/// assert_eq!(y.to_vec::<f64>()?, [1.0, 0.5, 4.25]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn lfilter(
    b: &Tensor,
    a: &Tensor,
    x: &Tensor,
    axis: isize,
    state: Option<&Tensor>,
) -> Result<(Tensor, Option<Tensor>)> {
    const OP: &str = "lfilter";
    for (name, t) in [("b", b), ("a", a)] {
        if t.rank() > 1 || t.is_empty() {
            let message = message!("{name} is a vector of at least one coefficient");
            return Err(Error::shape_of(
                OP,
                message,
                &[(name, t.shape(), t.dtype())],
            ));
        }
    }
    let (mut b, mut a) = (numbers(OP, b)?, numbers(OP, a)?);
    let first = a[0];
    if first == 0.0 {
        return Err(Error::value(OP, "a[0] is zero"));
    }
    let count = a.len().max(b.len());
    for list in [&mut b, &mut a] {
        fallible::reserve(list, count - list.len())?;
        list.resize(count, 0.0);
        list.iter_mut().for_each(|c| *c /= first);
    }
    by_parts(x, state, &|x, state| {
        let mut lines = Lines::new(OP, x, axis, (None, count - 1), state)?;
        lines.run(4 * count, |line, z| filter(&b, &a, line, z))?;
        lines.results()
    })
    .map_err(|e| e.named(OP))
}

/// One line, by the transposed direct form II.
fn filter(b: &[f64], a: &[f64], line: &mut [f64], z: &mut [f64]) {
    let Some(last) = z.len().checked_sub(1) else {
        line.iter_mut().for_each(|x| *x *= b[0]);
        return;
    };
    for x in line {
        let (from, y) = (*x, b[0] * *x + z[0]);
        for k in 0..last {
            z[k] = z[k + 1] + b[k + 1] * from - a[k + 1] * y;
        }
        z[last] = b[last + 1] * from - a[last + 1] * y;
        *x = y;
    }
}

/// Filters each line of `x` along an axis by sections of order two, one after another, and returns
/// the last states if the first are given.
///
/// `sos` is `[sections, 6]`: `b[0..3]`, then `a[0..3]`, whose `a[0]` is 1. `state` is `[sections, ..]`
/// with the shape of `x` behind, but 2 at the axis, or broadcasts to it. Dtypes are those of
/// [`lfilter`].
///
/// Errors if `sos` has another shape or another `a[0]`, the axis is out of range, and for float8.
///
/// ```
/// use flex::{Tensor, signal};
/// let sos = Tensor::from([[1.0f64, 0.0, 0.0, 1.0, -0.5, 0.0]]);
/// let (y, _) = signal::sosfilt(&sos, &Tensor::from([1.0f64, 0.0, 4.0]), -1, None)?;
/// assert_eq!(y.to_vec::<f64>()?, [1.0, 0.5, 4.25]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn sosfilt(
    sos: &Tensor,
    x: &Tensor,
    axis: isize,
    state: Option<&Tensor>,
) -> Result<(Tensor, Option<Tensor>)> {
    const OP: &str = "sosfilt";
    let [sections, 6] = *sos.shape() else {
        let operands = [("sos", sos.shape(), sos.dtype())];
        return Err(Error::shape_of(
            OP,
            "sos has six numbers for each section",
            &operands,
        ));
    };
    let coefficients = numbers(OP, sos)?;
    if coefficients.chunks_exact(6).any(|s| s[3] != 1.0) {
        return Err(Error::value(OP, "sos[:, 3] must be 1"));
    }
    by_parts(x, state, &|x, state| {
        let mut lines = Lines::new(OP, x, axis, (Some(sections), 2), state)?;
        lines.run(12 * sections, |line, state| {
            for (s, z) in coefficients.chunks_exact(6).zip(state.chunks_exact_mut(2)) {
                let (mut first, mut second) = (z[0], z[1]);
                for x in line.iter_mut() {
                    let y = s[0] * *x + first;
                    first = s[1] * *x - s[4] * y + second;
                    second = s[2] * *x - s[5] * y;
                    *x = y;
                }
                (z[0], z[1]) = (first, second);
            }
        })?;
        lines.results()
    })
    .map_err(|e| e.named(OP))
}
