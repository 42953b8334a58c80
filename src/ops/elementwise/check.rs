//! Cases that elementwise operations refuse or treat separately: zero divisors of integers,
//! negative integer exponents, comparisons of int64 with uint64 and of integers with numbers.
#![cfg_attr(
    not(any(feature = "i8", feature = "i32", feature = "i64")),
    allow(
        unused,
        reason = "only integers are positions, or divisors that are refused"
    )
)]

use super::{Arg, apply};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::exact::Exact;
use crate::kernel::elementwise::{Row, rows};
use crate::op::{Op, Rule};
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether [`integers`] may refuse operands of an operation that is computed in `dtype`.
pub fn applies(op: Op, dtype: DType) -> bool {
    dtype.is_integer() && looks_at_elements(op)
}
/// Whether [`integers`] may refuse operands of the operation if they are integers.
pub fn looks_at_elements(op: Op) -> bool {
    matches!(op, Op::FloorDivide | Op::Remainder | Op::Fmod | Op::Pow)
}

kernel! {
    /// Whether any value is zero.
    fn any_zero<'a, T: Zero>(x: &'a [T]) -> bool { |I| x.iter().fold(false, |any, v| any | v.is_zero()) }
}
kernel! {
    /// Whether any value is below zero.
    fn any_negative<'a, T: Zero>(x: &'a [T]) -> bool { |I| x.iter().fold(false, |any, v| any | v.is_negative()) }
}
/// Whether `find` is true for any part of the elements; runs on all threads.
fn anywhere<T: Sync>(x: &[T], find: impl Fn(&[T]) -> bool + Sync) -> bool {
    let found = AtomicBool::new(false);
    par::ranges(
        x.len(),
        64,
        Cost {
            bytes: size_of::<T>(),
            flops: 1,
        },
        |r| {
            if find(&x[r]) {
                found.store(true, Relaxed);
            }
        },
    );
    found.into_inner()
}
trait Zero: Copy {
    fn is_zero(&self) -> bool;
    fn is_negative(&self) -> bool;
}
macro_rules! zero {
    ($($T:ident),*) => { $(impl Zero for $T {
        #[inline(always)]
        fn is_zero(&self) -> bool { *self == 0 }
        #[inline(always)]
        #[allow(unused_comparisons)]
        fn is_negative(&self) -> bool { *self < 0 }
    })* };
}
zero!(i8, i16, i32, i64, u8, u16, u32, u64);

/// Refuses integer division by zero and negative integer exponents, before anything is written.
pub fn integers(op: Op, dtype: DType, args: &[Arg<'_>]) -> Result<()> {
    if !applies(op, dtype) {
        return Ok(());
    }
    let bad = match &args[1] {
        Arg::Scalar(Scalar::Int(x)) => {
            if op == Op::Pow {
                *x < 0
            } else {
                *x == 0
            }
        }
        Arg::Scalar(s) => op != Op::Pow && !s.to_bool(),
        a => {
            let t = a
                .tensor()
                .map_or_else(|| Ok(Tensor::default()), Tensor::contiguous)?;
            let found = |negative: bool| -> Result<bool> {
                if t.dtype().is_bool() {
                    return Ok(!negative && t.as_slice::<crate::Bool>()?.iter().any(|b| !b.get()));
                }
                dispatch!(integer t.dtype(), |T| { let x = t.as_slice::<T>()?; Ok(if negative { anywhere(x, any_negative) } else { anywhere(x, any_zero) }) }, else Ok(false))
            };
            found(op == Op::Pow)?
        }
    };
    match (bad, op) {
        (false, _) => Ok(()),
        (true, Op::Pow) => Err(Error::value(
            op.name(),
            "integers cannot be raised to a negative power: convert them to a float dtype",
        )),
        (true, _) => Err(Error::DivisionByZero { op: op.name() }),
    }
}

/// Errors if the dtype of a condition is not bool; `None` stands for a number.
pub fn condition(dtype: Option<DType>) -> Result<()> {
    if dtype.is_some_and(DType::is_bool) {
        return Ok(());
    }
    let found = dtype.map_or("a number", DType::name);
    Err(Error::dtype(
        Op::Where.name(),
        message!("the condition is {found}, not bool: compare it with 0"),
    ))
}

/// The comparison of an integer or bool tensor with a number of another kind, or out of its range,
/// which is exact.
pub fn comparison_with_number(row: &Row, args: &[Arg<'_>]) -> Result<Option<Tensor>> {
    let (Some(exact), [a, b]) = (row.exact, args) else {
        return Ok(None);
    };
    let whole;
    let (x, number, on_left) = match (a, b) {
        // of two numbers an integer is the tensor
        (Arg::Scalar(n), Arg::Scalar(s)) if is_element(*n) => {
            whole = Tensor::scalar(*n, n.default_dtype())?;
            (Some(&whole), *s, false)
        }
        (Arg::Scalar(s), Arg::Scalar(n)) if is_element(*n) => {
            whole = Tensor::scalar(*n, n.default_dtype())?;
            (Some(&whole), *s, true)
        }
        (Arg::Scalar(s), x) => (x.tensor(), *s, true),
        (x, Arg::Scalar(s)) => (x.tensor(), *s, false),
        _ => return Ok(None),
    };
    let Some(x) = x else { return Ok(None) };
    Ok(match exact(row.op, x.dtype(), number, on_left) {
        None => None,
        Some(Exact::Number(n)) => {
            let (x, n) = (Arg::Ref(x), Arg::Scalar(n));
            Some(apply(row, if on_left { [n, x] } else { [x, n] })?)
        }
        Some(Exact::Always(answer)) => {
            let mut out = Tensor::empty_result(x.shape(), core::iter::once(x), crate::DType::Bool)?;
            let (p, n) = (out.as_mut_ptr()?, out.len());
            // SAFETY: a fresh result (STORAGE3) of `n` dense bytes, each of which becomes a bool.
            unsafe { p.write_bytes(answer as u8, n) };
            Some(out)
        }
    })
}

/// Whether the number is an integer or bool that its default dtype has.
fn is_element(n: Scalar) -> bool {
    let dtype = n.default_dtype();
    let [lowest, highest] = dtype.integers();
    match n {
        Scalar::Bool(_) => true,
        Scalar::Int(n) => dtype.is_available() && (lowest..=highest).contains(&n),
        _ => false,
    }
}

/// Whether [`mixed_comparison`] computes the operation for tensors of these dtypes.
pub fn is_mixed_comparison(op: Op, dtypes: impl Iterator<Item = DType>) -> bool {
    use Op::*;
    if !matches!(
        op,
        Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual
    ) {
        return false;
    }
    let mut seen = [false; 2];
    for d in dtypes {
        seen[0] |= d.is_integer() && d.is_signed();
        seen[1] |= d == DType::U64;
    }
    cfg!(feature = "ints") && seen == [true; 2]
}

/// Comparisons of uint64 with signed integers, which have no common dtype. They are exact: a
/// negative number is less than any uint64.
pub fn mixed_comparison(row: &Row, args: &[Arg<'_>]) -> Result<Option<Tensor>> {
    use Op::*;
    let dtypes = args.iter().filter_map(Arg::tensor).map(Tensor::dtype);
    if !is_mixed_comparison(row.op, dtypes) {
        return Ok(None);
    }
    debug_assert_eq!(row.op.rule(), Rule::Bool);
    let (Some(a), Some(b)) = (args[0].tensor(), args[1].tensor()) else {
        return Ok(None);
    };
    let signed = |t: &Tensor| t.dtype().is_integer() && t.dtype().is_signed();
    let (negative, answer) = match (a.dtype(), b.dtype()) {
        (DType::U64, _) if signed(b) => (b, matches!(row.op, NotEqual | Greater | GreaterEqual)),
        (_, DType::U64) if signed(a) => (a, matches!(row.op, NotEqual | Less | LessEqual)),
        _ => return Ok(None),
    };
    let (x, y) = (a.astype(DType::U64)?, b.astype(DType::U64)?);
    let compared = apply(row, [Arg::Ref(&x), Arg::Ref(&y)])?;
    let below = apply(
        &rows::Less::ROW,
        [Arg::Ref(negative), Arg::Scalar(Scalar::Int(0))],
    )?;
    apply(
        &rows::Where::ROW,
        [
            Arg::Own(below),
            Arg::Scalar(Scalar::Bool(answer)),
            Arg::Own(compared),
        ],
    )
    .map(Some)
}
