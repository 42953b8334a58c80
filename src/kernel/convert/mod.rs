//! Conversions between dtypes, as loops.
//!
//! Floats become integers by truncation and saturation, with NaN as 0; integers become narrower
//! ones by wrapping; everything becomes bool by `!= 0`; complex numbers don't become real.
//! Conversions to floats of 16 or 8 bits round once.
//!
//! Bodies are shared: by width if only bits move, and through a block of `f32` or `f64` if that is
//! exact.

// A build without some of the dtypes leaves some of the rules unused.
#![cfg_attr(
    not(all(feature = "half", feature = "f64", feature = "complex")),
    allow(dead_code, unused_imports)
)]

mod cast;
#[cfg(feature = "float8")]
mod float8;
#[cfg(feature = "half")]
mod half;
mod integer;
mod rule;
mod rules;
mod table;
#[cfg(any(feature = "half", feature = "float8"))]
mod widen;

pub use cast::Cast;
pub use table::{cast_loop, narrow_loop, widen_loop};
#[cfg(any(feature = "half", feature = "float8"))]
pub use widen::Widen;

/// Operations per element of a conversion, roughly.
pub const COST: u8 = 4;
