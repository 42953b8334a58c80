//! Conversions between dtypes.

#[cfg(feature = "half")]
mod half;

#[cfg(feature = "half")]
pub use half::Widen;
