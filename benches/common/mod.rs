//! What the benchmarks share.

use flex::{DType, Tensor};

/// Values in [-1, 1), the same in every run.
pub fn uniform(shape: &[usize], dtype: DType) -> Tensor {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect();
    Tensor::from_slice(&values, shape).and_then(|t| t.astype(dtype)).unwrap()
}

/// Times `f`. Its result is dropped within the measured time, as a program would: the pool has the memory back for the next call.
#[allow(dead_code, reason = "not of each benchmark")]
pub fn time(bencher: divan::Bencher, f: impl Fn() -> flex::Result<Tensor> + Sync) {
    bencher.bench(|| drop(divan::black_box(f().unwrap())));
}
