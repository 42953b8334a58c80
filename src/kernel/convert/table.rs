//! The loops for pairs of dtypes.

use super::cast::Cast;
use super::rule::{one, two};
use super::rules::*;
#[cfg(feature = "half")]
use crate::dtype::f16;
use crate::dtype::{Bool, Class, DType};
use crate::error::{Error, Result};
use crate::kernel::elementwise::Copy1;
use crate::simd::{LoopFn, pick};

/// The loop that converts `from` to `to`, for `op`. Errors if this build lacks one of these, and
/// for complex numbers to real ones, which would lose their imaginary parts.
pub fn cast_loop(op: &'static str, from: DType, to: DType) -> Result<LoopFn> {
    lookup(from, to).ok_or_else(|| {
        if from.is_complex() && from.is_available() && to.is_available() {
            let way_out = "take the real or imaginary part, or the absolute value, first";
            return Error::dtype(
                op,
                message!("{from} as {to} would lose the imaginary parts: {way_out}"),
            );
        }
        Error::unsupported(op, if from.is_available() { to } else { from })
    })
}
/// None if [`cast_loop`] is an error.
fn lookup(from: DType, to: DType) -> Option<LoopFn> {
    if !from.is_available() || !to.is_available() {
        return None;
    }
    if to.is_bool() {
        return truth(from);
    }
    if from == to {
        return Some(dispatch_width!(from.size(), |U| pick::<Copy1<U>>()));
    }
    match from.class() {
        Class::Boolean if to.is_integer() => bool_to_integer(to.size()),
        Class::Boolean => from_exact::<Bool>(to),
        Class::Signed | Class::Unsigned if to.is_integer() => resize(from, to.size()),
        Class::Signed | Class::Unsigned => {
            dispatch!(integer from, |A| from_exact::<A>(to), else None)
        }
        Class::Half | Class::Float8 if to == DType::F32 => widen_loop(from),
        #[cfg(feature = "half")]
        Class::Half => {
            dispatch!(half from, |A| dispatch!(target to, |T| Some(two::<Widened<A>, FromSingle<T>>()), else None), else None)
        }
        #[cfg(feature = "float8")]
        Class::Float8 => {
            dispatch!(float8 from, |A| dispatch!(target to, |T| Some(two::<Widened<A>, FromSingle<T>>()), else None), else None)
        }
        Class::Float if from == DType::F32 => {
            dispatch!(target to, |T| Some(one::<FromSingle<T>>()), else None)
        }
        #[cfg(all(feature = "f64", feature = "float8"))]
        Class::Float if to.class() == Class::Float8 => round_to_float8::<f64>(to),
        #[cfg(all(feature = "f64", feature = "half"))]
        Class::Float if to.class() == Class::Half => round_to_half::<f64>(to),
        #[cfg(feature = "f64")]
        Class::Float => dispatch!(number to, |T| Some(one::<FromDouble<T>>()), else None),
        #[cfg(feature = "complex")]
        Class::Complex => from_complex(from, to),
        #[allow(unreachable_patterns)]
        _ => None,
    }
}
/// The loop from `f32` to a 16-bit float.
pub fn narrow_loop(to: DType) -> Option<LoopFn> {
    if to.class() == Class::Half {
        lookup(DType::F32, to)
    } else {
        None
    }
}
/// The loop from a 16-bit or 8-bit float to `f32`.
pub fn widen_loop(from: DType) -> Option<LoopFn> {
    dispatch!(half from, |A| Some(one::<Widened<A>>()), else dispatch!(float8 from, |A| Some(one::<Widened<A>>()), else None))
}

/// To bool. By width for integers, and for bool itself, whose bytes may have any value.
fn truth(from: DType) -> Option<LoopFn> {
    match from.class() {
        Class::Half => Some(one::<MagnitudeTruth<u16>>()),
        Class::Float8 => Some(one::<MagnitudeTruth<u8>>()),
        Class::Float => dispatch!(float from, |A| Some(one::<Truth<A>>()), else None),
        Class::Complex => dispatch!(complex from, |A| Some(one::<Truth<A>>()), else None),
        _ => match from.size() {
            1 => Some(one::<Truth<u8>>()),
            2 if DType::has_integers(2) => Some(one::<Truth<u16>>()),
            4 if DType::has_integers(4) => Some(one::<Truth<u32>>()),
            8 if DType::has_integers(8) => Some(one::<Truth<u64>>()),
            _ => None,
        },
    }
}
fn bool_to_integer(to: usize) -> Option<LoopFn> {
    match to {
        1 if DType::has_integers(1) => Some(one::<Resize<Bool, u8>>()),
        2 if DType::has_integers(2) => Some(one::<Resize<Bool, u16>>()),
        4 if DType::has_integers(4) => Some(one::<Resize<Bool, u32>>()),
        8 if DType::has_integers(8) => Some(one::<Resize<Bool, u64>>()),
        _ => None,
    }
}
/// From integers and bool to floats and complex numbers.
fn from_exact<A: Cast>(to: DType) -> Option<LoopFn> {
    let double = cfg!(feature = "f64") && to.real() == DType::F64;
    match to.class() {
        #[cfg(feature = "half")]
        Class::Half => round_to_half::<A>(to),
        #[cfg(feature = "float8")]
        Class::Float8 => round_to_float8::<A>(to),
        Class::Float if double => Some(one::<Double<A>>()),
        Class::Float => Some(one::<Single<A>>()),
        _ if double => {
            dispatch!(complex to, |T| Some(two::<Double<A>, FromDouble<T>>()), else None)
        }
        _ => dispatch!(complex to, |T| Some(two::<Single<A>, FromSingle<T>>()), else None),
    }
}
/// To 16-bit floats, rounded once, from types that `f32` may not hold.
#[cfg(feature = "half")]
fn round_to_half<A: Cast>(to: DType) -> Option<LoopFn> {
    Some(if to == DType::F16 {
        two::<ForF16<A>, FromSingle<f16>>()
    } else {
        one::<ToBf16<A>>()
    })
}
/// To 8-bit floats, rounded once, from types that `f32` may not hold.
#[cfg(feature = "float8")]
fn round_to_float8<A: Cast>(to: DType) -> Option<LoopFn> {
    dispatch!(float8 to, |T| Some(two::<ForF16<A>, FromSingle<T>>()), else None)
}
/// Between integers: the sign only matters for widening.
fn resize(from: DType, to: usize) -> Option<LoopFn> {
    macro_rules! loops {
        (@ u8 u8) => { pick::<Copy1<u8>>() };
        (@ u16 u16) => { pick::<Copy1<u16>>() };
        (@ u32 u32) => { pick::<Copy1<u32>>() };
        (@ u64 u64) => { pick::<Copy1<u64>>() };
        (@ $A:ident $T:ident) => { one::<Resize<$A, $T>>() };
        ($($sign:literal $A:ident $T:ident;)*) => {
            match (from.is_signed() && to > from.size(), from.size(), to) {
                $(($sign, n, to) if n == size_of::<$A>() && to == size_of::<$T>() => {
                    if DType::has_integers(size_of::<$A>()) && DType::has_integers(size_of::<$T>()) {
                        Some(loops!(@ $A $T))
                    } else {
                        None
                    }
                })*
                _ => None,
            }
        };
    }
    loops! {
        false u8 u8; false u16 u16; false u32 u32; false u64 u64;
        false u8 u16; false u8 u32; false u8 u64;
        false u16 u8; false u16 u32; false u16 u64;
        false u32 u8; false u32 u16; false u32 u64;
        false u64 u8; false u64 u16; false u64 u32;
        true i8 u16; true i8 u32; true i8 u64;
        true i16 u32; true i16 u64;
        true i32 u64;
    }
}
#[cfg(feature = "complex")]
fn from_complex(from: DType, to: DType) -> Option<LoopFn> {
    match (from, to) {
        #[cfg(feature = "f64")]
        (DType::Complex64, DType::Complex128) => Some(one::<EachPart<f32, f64>>()),
        #[cfg(feature = "f64")]
        (DType::Complex128, DType::Complex64) => Some(one::<EachPart<f64, f32>>()),
        _ => None,
    }
}
