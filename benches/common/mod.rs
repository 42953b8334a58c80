//! Shared by the benchmarks.
#![allow(dead_code, reason = "each benchmark uses its part")]

use flex::{DType, Tensor};
pub use random::Rng;

#[path = "../../tests/suite/common/random.rs"]
mod random;

/// Values in [-1, 1), the same in every run.
pub fn uniform(shape: &[usize], dtype: DType) -> Tensor {
    let mut rng = Rng(0);
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| 2.0 * rng.short() - 1.0)
        .collect();
    Tensor::from_slice(&values, shape)
        .and_then(|t| t.astype(dtype))
        .unwrap()
}

/// Times `f`, including the drop of its result, as in a program: the pool can then reuse the memory
/// for the next call.
pub fn time(bencher: divan::Bencher, f: impl Fn() -> flex::Result<Tensor> + Sync) {
    bencher.bench(|| drop(divan::black_box(f().unwrap())));
}
