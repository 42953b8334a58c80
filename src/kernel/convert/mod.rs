//! Conversions between dtypes, as loops.
//!
//! Floats become integers by truncation, saturated, NaN by 0; integers become narrower ones by wrapping; everything becomes bool by
//! `!= 0`; complex numbers become real by their real part. What becomes a 16-bit float is rounded once.
//!
//! Bodies are shared: by width where only bits move, and through a block of `f32` or `f64` where that is exact.

// A build without some of the dtypes leaves some of the rules unused.
#![cfg_attr(not(all(feature = "half", feature = "f64", feature = "complex")), allow(dead_code, unused_imports))]

#[cfg(feature = "half")]
mod half;
mod number;
mod rule;
mod rules;
mod table;

#[cfg(feature = "half")]
pub use half::Widen;
pub use table::{cast_loop, narrow_loop, widen_loop};

/// Operations an element of a conversion, roughly.
pub const COST: u8 = 4;
