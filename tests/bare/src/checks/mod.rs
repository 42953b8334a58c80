//! Checks for every target. Expectations come from plain loops, `libm`, or figures worked out by
//! hand; tensors are small enough for a heap of a few KiB.
#![allow(dead_code, reason = "each part uses some of the helpers")]

use alloc::vec::Vec;
use flex::{Result, Tensor};

#[cfg(feature = "elementwise")]
mod elementwise;
#[cfg(feature = "gathers")]
mod gathers;
#[cfg(feature = "moments")]
mod moments;
#[cfg(feature = "norms")]
mod norms;
#[cfg(feature = "orders")]
mod orders;
#[cfg(feature = "products")]
mod products;
#[cfg(feature = "reductions")]
mod reductions;
#[cfg(feature = "signals")]
mod signals;
#[cfg(feature = "tensors")]
mod tensors;

/// Names, and functions that return an error or panic on failure.
pub type Checks = &'static [(&'static str, fn() -> Result<()>)];

/// All parts that this program has.
pub const ALL: &[Checks] = &[
    #[cfg(feature = "elementwise")]
    elementwise::ALL,
    #[cfg(feature = "tensors")]
    tensors::ALL,
    #[cfg(feature = "reductions")]
    reductions::ALL,
    #[cfg(feature = "moments")]
    moments::ALL,
    #[cfg(feature = "norms")]
    norms::ALL,
    #[cfg(feature = "products")]
    products::ALL,
    #[cfg(feature = "orders")]
    orders::ALL,
    #[cfg(feature = "gathers")]
    gathers::ALL,
    #[cfg(feature = "signals")]
    signals::ALL,
];

/// Values in [-1, 1) that repeat.
pub fn series(n: usize, seed: u32) -> Vec<f32> {
    let mut x = seed;
    let next = |_| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(next).collect()
}
pub fn tensor(shape: &[usize], seed: u32) -> Result<Tensor> {
    Tensor::from_slice(&series(shape.iter().product(), seed), shape)
}
pub fn list(x: &Tensor) -> Result<Vec<f32>> {
    x.to_vec::<f32>()
}
/// Each value is within `tolerance` of the expected one, relative to its magnitude or 1, whichever
/// is larger.
#[track_caller]
pub fn assert_close(got: &[f32], want: impl IntoIterator<Item = f64>, tolerance: f64) {
    let mut count = 0;
    for (k, want) in want.into_iter().enumerate() {
        let got = got[k] as f64;
        assert!((got - want).abs() <= tolerance * want.abs().max(1.0), "{k}: {got}, not {want}");
        count += 1;
    }
    assert_eq!(got.len(), count);
}
