//! The elementwise functions, generated from the table of operations; and `clip`, `round` and
//! `where`, which have signatures of their own.

use super::cell::PyTensor;
use super::convert::{Compared, Operand, OperandRef, compute, is_short};
use super::default;
use super::deferred;
use super::index;
use crate::convert::error::Raise;
use flex::kernel::elementwise::{Row, rows};
use flex::ops::{self, Arg};
use flex::{DType, Error, Scalar, Tensor};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

impl Operand {
    fn shape(&self) -> &[usize] {
        match self {
            Operand::Tensor(t) => t.shape(),
            Operand::Scalar(_) => &[],
        }
    }
}

/// Applies a row of the table to Python operands.
#[inline(always)]
pub fn apply<const N: usize>(
    py: Python<'_>,
    row: &'static Row,
    operands: &[Operand; N],
) -> PyResult<PyTensor> {
    if operands.iter().all(|x| matches!(x, Operand::Scalar(_)))
        && default::float() != DType::DEFAULT_FLOAT
    {
        let mut alone = operands.clone();
        for x in &mut alone {
            *x = Operand::Tensor(x.clone().tensor().raise()?);
        }
        return compute_each(py, &alone, |args| ops::apply(row, args));
    }
    compute_each(py, operands, |args| ops::apply(row, args))
}

/// Computes a function of elements of Python operands, which broadcast.
#[inline(always)]
pub fn compute_each<const N: usize>(
    py: Python<'_>,
    operands: &[Operand; N],
    f: impl FnOnce([Arg<'_>; N]) -> flex::Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    // if shapes differ, the result may be as large as their product
    let first = operands[0].shape();
    let elements = operands[1..]
        .iter()
        .filter(|o| o.shape() != first)
        .fold(operands[0].len(), |n, o| n.saturating_mul(o.len()));
    compute(py, elements, || f(operands.each_ref().map(Operand::arg)))
}

/// [`apply`] for operands that are used in their objects if they are small.
#[inline(always)]
pub fn apply_ref<const N: usize>(
    py: Python<'_>,
    row: &'static Row,
    lent: [OperandRef<'_>; N],
) -> PyResult<PyTensor> {
    if let Some(later) = deferred::apply(row, &lent) {
        return later;
    }
    lent.iter().try_for_each(|x| x.compute_queued(py))?;
    // no `?` inside: exceptions are created after the locks are released
    let small = match &lent[..] {
        [OperandRef::Object(x)] => x
            .get()
            .read(|x| is_short(x.len()).then(|| ops::apply(row, [Arg::Ref(x)]))),
        [OperandRef::Object(a), OperandRef::Object(b)] => {
            let both = PyTensor::read_both(a.get(), b.get(), |a, b| {
                let most = if a.shape() == b.shape() {
                    a.len()
                } else {
                    a.len().saturating_mul(b.len())
                };
                is_short(most).then(|| ops::apply(row, [Arg::Ref(a), Arg::Ref(b)]))
            });
            both.flatten()
        }
        [
            OperandRef::Object(a),
            OperandRef::Operand(Operand::Scalar(s)),
        ] => a
            .get()
            .read(|a| is_short(a.len()).then(|| ops::apply(row, [Arg::Ref(a), Arg::Scalar(*s)]))),
        [
            OperandRef::Operand(Operand::Scalar(s)),
            OperandRef::Object(b),
        ] => b
            .get()
            .read(|b| is_short(b.len()).then(|| ops::apply(row, [Arg::Scalar(*s), Arg::Ref(b)]))),
        [
            OperandRef::Object(a),
            OperandRef::Object(b),
            OperandRef::Object(c),
        ] => {
            let three = PyTensor::read_three(a.get(), b.get(), c.get(), |a, b, c| {
                let alike = a.shape() == b.shape() && b.shape() == c.shape();
                (alike && is_short(a.len()))
                    .then(|| ops::apply(row, [Arg::Ref(a), Arg::Ref(b), Arg::Ref(c)]))
            });
            three.flatten()
        }
        _ => None,
    };
    match small {
        Some(result) => Ok(PyTensor::new(result.raise()?)),
        None => apply(py, row, &lent.map(OperandRef::take)),
    }
}

/// The sentence about the result's dtype in a docstring.
macro_rules! result_dtype {
    (Same) => {
        "The result has the operands' common dtype."
    };
    (Float) => {
        "The result has the operands' common dtype; integers and bool are computed in float32."
    };
    (Bool) => {
        "The result is bool."
    };
    (Real) => {
        "The result has the operand's dtype; that of its parts if it is complex."
    };
}

/// The end of the sentence about numbers.
macro_rules! numbers {
    (Bool) => {
        "dtype, and integers are compared with it exactly, in range or not."
    };
    ($rule:ident) => {
        "dtype."
    };
}

macro_rules! elementwise {
    // functions of `nn`, which are in `nn/activation`
    ($doc:tt $Name:ident $function:ident $arity:tt $rule:ident => nn) => {};
    // those with arguments of their own are below
    ($doc:tt Round round 1 $rule:ident) => {};
    ($doc:tt $Name:ident $function:ident 3 $rule:ident) => {};
    ([$($doc:literal)*] $Name:ident $function:ident 1 $rule:ident) => {
        $(#[doc = $doc])*
        ///
        /// x: a tensor, an array or a number. The result has its shape.
        #[doc = result_dtype!($rule)]
        /// DTypeError if the operation doesn't support the dtype.
        ///
        #[doc = example!("flex" $function)]
        #[function(x, /)]
        pub fn $function(py: Python<'_>, x: OperandRef<'_>) -> PyResult<PyTensor> {
            apply_ref(py, &rows::$Name::ROW, [x])
        }
    };
    ([$($doc:literal)*] $Name:ident $function:ident 2 Bool) => {
        elementwise!(@binary [$($doc)*] $Name $function Bool Compared);
    };
    ([$($doc:literal)*] $Name:ident $function:ident 2 $rule:ident) => {
        elementwise!(@binary [$($doc)*] $Name $function $rule OperandRef);
    };
    (@binary [$($doc:literal)*] $Name:ident $function:ident $rule:ident $Operand:ident) => {
        $(#[doc = $doc])*
        ///
        /// x1, x2: tensors, arrays or numbers, whose shapes broadcast; a number takes the other's
        #[doc = numbers!($rule)]
        #[doc = result_dtype!($rule)]
        /// DTypeError if the operation doesn't support the dtype, or there is no common dtype;
        /// ShapeError if shapes don't broadcast.
        ///
        #[doc = example!("flex" $function)]
        #[function(x1, x2, /)]
        pub fn $function(py: Python<'_>, x1: $Operand<'_>, x2: $Operand<'_>) -> PyResult<PyTensor> {
            apply_ref(py, &rows::$Name::ROW, [x1.into(), x2.into()])
        }
    };
}
macro_rules! make {
    ($($(#[doc = $doc:literal])* $Name:ident $function:ident $arity:tt $rule:ident $cost:literal [$($family:ident)*] $(=> $module:ident)?)*) => {
        $(elementwise!([$($doc)*] $Name $function $arity $rule $(=> $module)?);)*
    };
}
flex::operations!(make! {});

/// Clamps values to the range from `min` to `max`; None means no bound.
///
/// x: a tensor, an array or a number. min, max: numbers, or tensors that broadcast with it. NaN in
/// x or a bound gives NaN; if `min` is above `max` the result is `max`. The result has the common
/// dtype. DTypeError for bool and complex numbers; ShapeError if shapes don't broadcast.
///
/// >>> flex.clip(flex.asarray([1, 5, 9]), 2, 6).tolist()
/// [2, 5, 6]
/// >>> flex.clip(flex.asarray([1, 5, 9]), max=6).tolist()
/// [1, 5, 6]
#[function(x, /, min = None, max = None)]
pub fn clip(
    py: Python<'_>,
    x: OperandRef<'_>,
    min: Option<OperandRef<'_>>,
    max: Option<OperandRef<'_>>,
) -> PyResult<PyTensor> {
    let dtype = match &x {
        OperandRef::Object(t) => t.get().dtype_of(),
        OperandRef::Operand(Operand::Tensor(t)) => t.dtype(),
        OperandRef::Operand(Operand::Scalar(s)) => s.default_dtype(),
        OperandRef::Number(x) => x.value().default_dtype(),
    };
    if dtype.is_bool() {
        return Err(Error::unsupported("clip", dtype).raise()); // a bound would make it an integer
    }
    let [lowest, highest] = range(dtype).map(|s| OperandRef::Operand(Operand::Scalar(s)));
    let (min, max) = (min.unwrap_or(lowest), max.unwrap_or(highest));
    apply_ref(py, &rows::Clip::ROW, [x, min, max])
}

/// The lowest and the highest value of a dtype.
fn range(dtype: DType) -> [Scalar; 2] {
    match dtype.is_integer() {
        true => dtype.integers().map(Scalar::Int),
        false => [f64::NEG_INFINITY, f64::INFINITY].map(Scalar::Float),
    }
}

/// The nearest integer, or the nearest multiple of `10 ** -decimals`; ties to even.
///
/// x: a tensor, an array or a number. decimals: negative for tens, hundreds and so on. The result has
/// the shape of x and its dtype. DTypeError for bool and float8.
///
#[doc = example!("flex" round)]
/// >>> flex.round(flex.asarray([1250, 1350]), -2).tolist()
/// [1200, 1400]
#[function(x, /, decimals = 0)]
pub fn round(py: Python<'_>, x: OperandRef<'_>, decimals: i32) -> PyResult<PyTensor> {
    if decimals == 0 {
        return apply_ref(py, &rows::Round::ROW, [x]);
    }
    x.compute(py, move |x| ops::round_to(x, decimals))
}

/// `x1` where the condition is true, else `x2`. Without both, as in NumPy and torch, the indices where
/// the condition is true: `nonzero(condition)`.
///
/// condition: a bool tensor. x1, x2: tensors, arrays or numbers; the three broadcast. The result
/// has the common dtype of x1 and x2. DTypeError if the condition is not bool; ShapeError if shapes
/// don't broadcast; TypeError for one of x1 and x2 alone.
///
/// >>> flex.where(flex.asarray([True, False]), flex.asarray([1, 2]), 0).tolist()
/// [1, 0]
#[function(condition, x1: "_Operand" = _, x2: "_Operand" = _, / -> "Tensor")]
#[pyo3(name = "where")]
pub fn where_<'py>(
    py: Python<'py>,
    condition: OperandRef<'py>,
    x1: Option<OperandRef<'py>>,
    x2: Option<OperandRef<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    match (x1, x2) {
        (Some(x1), Some(x2)) => {
            apply_ref(py, &rows::Where::ROW, [condition, x1, x2])?.into_bound_py_any(py)
        }
        (None, None) => Ok(index::nonzero_of(py, &condition.tensor()?)?.into_any()),
        _ => Err(PyTypeError::new_err(
            "where() takes a condition with both x1 and x2, or alone",
        )),
    }
}
