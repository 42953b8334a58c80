//! Integers of a range.

use super::Generator;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::random::{GROUP, Range};
use crate::layout::IntoShape;
use crate::ops::draw;
use crate::ops::elementwise::Arg;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The bounds of the integers of a result.
enum Bounds {
    One(i128),
    Each(Vec<i128>),
}
impl Bounds {
    fn at(&self, i: usize) -> i128 {
        match self {
            Bounds::One(x) => *x,
            Bounds::Each(all) => all[i],
        }
    }
}

impl Generator {
    /// Integers evenly distributed from `low` to `high`, which is left out, by Lemire's method
    /// (2019): without bias.
    ///
    /// Errors if the dtype is neither an integer nor bool, a bound is not an integer, `low` is not
    /// below `high`, or the dtype can't hold the integers.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let dice = default_rng(7).integers(1, 7, 1000, DType::U8)?;
    /// assert!(dice.iter::<u8>()?.all(|n| (1..7).contains(&n)));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn integers<'a, 'b>(
        &mut self,
        low: impl Into<Arg<'a>>,
        high: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        let shape = shape.into_shape();
        self.integers_of(low.into(), high.into(), 0, shape.as_ref(), dtype)
    }
    /// [`integers`](Generator::integers) with `high` among them: NumPy's `endpoint=True`.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let bytes = default_rng(7).integers_inclusive(0, 255, 1000, DType::U8)?;
    /// assert!(bytes.iter::<u8>()?.any(|n| n == 255));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn integers_inclusive<'a, 'b>(
        &mut self,
        low: impl Into<Arg<'a>>,
        high: impl Into<Arg<'b>>,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        let shape = shape.into_shape();
        self.integers_of(low.into(), high.into(), 1, shape.as_ref(), dtype)
    }
    /// Integers from `low` up to, but without, `high + after`.
    fn integers_of(
        &mut self,
        low: Arg<'_>,
        high: Arg<'_>,
        after: i128,
        shape: &[usize],
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "integers";
        if !(dtype.is_integer() || dtype.is_bool()) || !dtype.is_available() {
            return Err(Error::unsupported(OP, dtype));
        }
        let (low, high) = (bounds("low", &low, shape)?, bounds("high", &high, shape)?);
        // the lowest integer and their number, modulo 2^64
        let range = |i| {
            let low = low.at(i);
            (low as u64, (high.at(i) + after - low) as u64)
        };
        let check = |i| checked(dtype, low.at(i), high.at(i), after);
        if let (Bounds::One(_), Bounds::One(_)) = (&low, &high) {
            check(0)?;
            let (low, count) = range(0);
            let range = Range::new(count);
            let mut y = Tensor::empty(shape, dtype)?;
            let source = self.take(y.len(), range.per_group());
            draw::integers(range, low, source, &mut y)?;
            return Ok(y);
        }
        let mut y = Tensor::empty(shape, dtype)?;
        (0..y.len()).try_for_each(check)?;
        let source = self.take(y.len(), GROUP);
        draw::integers_each(&range, source, &mut y)?;
        Ok(y)
    }
}

/// Errors if there are no integers from `low` up to `high + after`, or the dtype can't hold them.
fn checked(dtype: DType, low: i128, high: i128, after: i128) -> Result<()> {
    const OP: &str = "integers";
    let last = high + after - 1;
    if low > last {
        let must = if after == 0 {
            "be below"
        } else {
            "not be above"
        };
        let message = message!("low is {low} and high {high}; low must {must} high");
        return Err(Error::value(OP, message));
    }
    let [least, most] = dtype.integers();
    if low < least || last > most {
        let message = message!(
            "low is {low} and high {high}; {dtype} holds the integers from {least} to {most}"
        );
        return Err(Error::Range {
            op: OP,
            message: message.into(),
        });
    }
    Ok(())
}

/// The values of a bound that broadcasts to `shape`.
fn bounds(name: &'static str, x: &Arg<'_>, shape: &[usize]) -> Result<Bounds> {
    const OP: &str = "integers";
    let wrong = |what: &dyn core::fmt::Display| {
        Error::dtype(OP, message!("{name} is {what}; it must be an integer"))
    };
    let t = match x {
        Arg::Scalar(Scalar::Int(x)) if x.unsigned_abs() < 1 << 65 => return Ok(Bounds::One(*x)),
        Arg::Scalar(Scalar::Bool(x)) => return Ok(Bounds::One(*x as i128)),
        Arg::Scalar(Scalar::Int(x)) => {
            let message = message!("{name} is {x}; no dtype holds such integers");
            return Err(Error::Range {
                op: OP,
                message: message.into(),
            });
        }
        Arg::Scalar(x) => return Err(wrong(x)),
        Arg::Ref(t) => *t,
        Arg::Own(t) => t,
    };
    if !t.dtype().is_integer() {
        return Err(wrong(&t.dtype()));
    }
    let whole = t.broadcast_to(shape).map_err(|_| {
        let message = message!("{name} does not broadcast to the shape {shape:?}");
        Error::shape_of(OP, message, &[("bound", t.shape(), t.dtype())])
    })?;
    let all = dispatch!(integer t.dtype(), |T| widened::<T>(&whole),
        else Err(Error::unsupported(OP, whole.dtype())));
    all.map(Bounds::Each)
}
fn widened<T: Element + Into<i128>>(x: &Tensor) -> Result<Vec<i128>> {
    let x = x.contiguous()?;
    let x = x.as_slice::<T>()?;
    let mut all = fallible::with_capacity(x.len())?;
    all.extend(x.iter().map(|x| (*x).into()));
    Ok(all)
}
