//! Rounding to a number of decimals.

use super::elementwise::{
    abs, add, divide, equal, floor_divide, greater, isfinite, less, logical_and, logical_or,
    multiply, remainder, round, where_,
};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::methods::method;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

method!(
    /// Rounds to the nearest multiple of `10^-decimals`, ties to even. Floats are computed in
    /// float64; integers stay as they are unless `decimals` is negative, and wrap if the rounded
    /// number is out of range.
    ///
    /// Errors for bool and float8.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1.25f64, -0.449]);
    /// assert_eq!(x.round_to(1)?.to_vec::<f64>()?, [1.2, -0.4]);
    /// let n = Tensor::from([1250i64, 1350]);
    /// assert_eq!(ops::round_to(&n, -2)?.to_vec::<i64>()?, [1200, 1400]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn round_to(x: &Tensor, decimals: i32) -> Result<Tensor> {
        let dtype = x.dtype();
        match decimals {
            _ if dtype.is_bool() || dtype.is_storage() => Err(Error::unsupported("round", dtype)),
            0 => round(x),
            0.. if dtype.is_integer() => Ok(x.clone()),
            _ if dtype.is_integer() => integers(x, decimals.unsigned_abs()),
            _ => floats(x, decimals),
        }
    }
);

fn floats(x: &Tensor, decimals: i32) -> Result<Tensor> {
    let wide = x.astype(if x.dtype().is_complex() {
        DType::Complex128
    } else {
        DType::F64
    })?;
    if decimals < -308 {
        // every finite float is less than half of 10^309
        return where_(isfinite(x)?, multiply(x, 0.0)?, x);
    }
    let scale = Scalar::Float((0..decimals.unsigned_abs().min(308)).fold(1.0, |s, _| s * 10.0));
    let scaled = if decimals < 0 {
        divide(&wide, scale)?
    } else {
        multiply(&wide, scale)?
    };
    // from 2^52 on a float64 has no fraction: such numbers are unchanged, as are infinities and NaN
    let has_fraction = less(abs(&scaled)?, 4503599627370496.0)?;
    let rounded = round(scaled)?;
    let rounded = if decimals < 0 {
        multiply(rounded, scale)?
    } else {
        divide(rounded, scale)?
    };
    where_(has_fraction, rounded, wide)?.astype(x.dtype())
}

fn integers(x: &Tensor, zeros: u32) -> Result<Tensor> {
    let dtype = x.dtype();
    let wide = x.astype(if dtype == DType::U64 {
        DType::U64
    } else {
        DType::I64
    })?;
    let largest = if wide.dtype() == DType::U64 {
        u64::MAX as i128
    } else {
        i64::MAX as i128
    };
    let Some(unit) = 10i128.checked_pow(zeros).filter(|u| *u <= largest) else {
        return multiply(x, Scalar::Int(0));
    };
    let (tens, rest) = (
        floor_divide(&wide, Scalar::Int(unit))?,
        remainder(&wide, Scalar::Int(unit))?,
    );
    let half = Scalar::Int(unit / 2);
    let odd = equal(remainder(&tens, Scalar::Int(2))?, Scalar::Int(1))?;
    let up = logical_or(
        greater(&rest, half)?,
        logical_and(equal(&rest, half)?, odd)?,
    )?;
    let tens = add(tens, up.astype(wide.dtype())?)?;
    multiply(tens, Scalar::Int(unit))?.astype(dtype)
}
