//! Burn's dtypes, numbers and slices as flex's.

use alloc::vec::Vec;
use burn_backend::{BoolStore, DType, Scalar, Slice};
use burn_backend::{FloatDType, IntDType};
use flex::ops::{Index, ReductionAxes};
use flex::{Axes, Result};

/// The value of an operation that Burn's traits do not let fail.
#[track_caller]
pub(crate) fn done<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

macro_rules! dtypes {
    ($($dtype:ident)*) => {
        /// flex's dtype. Panics for those that it lacks.
        #[track_caller]
        pub(crate) fn flex_dtype(dtype: DType) -> flex::DType {
            match dtype {
                $(DType::$dtype => flex::DType::$dtype,)*
                DType::Flex32 => flex::DType::F32,
                DType::Bool(BoolStore::Native | BoolStore::U8) => flex::DType::Bool,
                other => panic!("flex has no tensors of {other:?}"),
            }
        }
        /// Burn's dtype; `store` names the bytes of bools.
        pub(crate) fn burn_dtype(dtype: flex::DType, store: BoolStore) -> DType {
            match dtype {
                $(flex::DType::$dtype => DType::$dtype,)*
                flex::DType::Bool => DType::Bool(store),
                other => panic!("Burn has no tensors of {other}"),
            }
        }
    };
}
dtypes!(F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8);

#[track_caller]
pub(crate) fn float(dtype: FloatDType) -> flex::DType {
    flex_dtype(dtype.into())
}
#[track_caller]
pub(crate) fn int(dtype: IntDType) -> flex::DType {
    flex_dtype(dtype.into())
}

/// A number for a float tensor.
pub(crate) fn number(x: Scalar) -> flex::Scalar {
    flex::Scalar::Float(x.elem::<f64>())
}

/// A number for a bool tensor.
pub(crate) fn truth(x: Scalar) -> flex::Scalar {
    flex::Scalar::Bool(x.elem::<bool>())
}

/// An integer: floats are truncated.
pub(crate) fn integer(x: Scalar) -> i128 {
    match x {
        Scalar::Float(x) => x as i128,
        Scalar::Int(x) => x.into(),
        Scalar::UInt(x) => x.into(),
        Scalar::Bool(x) => x.into(),
    }
}

/// The smallest and the largest integer of an integer dtype.
pub(crate) fn range(dtype: flex::DType) -> (i128, i128) {
    let bits = 8 * dtype.size();
    match dtype.is_signed() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// A number for a tensor of an integer dtype, in which it wraps.
pub(crate) fn wrapped(x: Scalar, dtype: flex::DType) -> flex::Scalar {
    let (low, high) = range(dtype);
    flex::Scalar::Int((integer(x) - low).rem_euclid(high - low + 1) + low)
}

/// A bound for a tensor of an integer dtype: what is beyond the dtype bounds nothing.
pub(crate) fn bound(x: Scalar, dtype: flex::DType) -> flex::Scalar {
    let (low, high) = range(dtype);
    flex::Scalar::Int(integer(x).clamp(low, high))
}

/// The items of an index. A step below zero runs through the same range backwards, whereas NumPy's
/// and flex's begin at `start`.
pub(crate) fn indices(slices: &[Slice], shape: &[usize]) -> Vec<Index> {
    let item = |(slice, size): (&Slice, &usize)| {
        let range = slice.to_range(*size);
        let (start, end) = (range.start as i64, range.end as i64);
        let (start, stop, step) = match slice.step() as i64 {
            _ if start >= end => (0, Some(0), 1),
            step if step > 0 => (start, Some(end), step),
            step => (end - 1, (start > 0).then(|| start - 1), step),
        };
        Index::Slice {
            start: Some(start),
            stop,
            step,
        }
    };
    slices.iter().zip(shape).map(item).collect()
}

/// A reduction along one axis that keeps it.
pub(crate) fn along(dim: usize) -> ReductionAxes {
    Axes::from(dim).keepdims()
}
