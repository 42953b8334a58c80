//! Operands, the same for all backends.

use burn_backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn_backend::{Backend, BoolDType, BoolStore, TensorData};

/// Values in [0, 1), the same in every run (splitmix64).
pub fn values(n: usize, seed: u64) -> impl Iterator<Item = f32> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 40) as f32 / (1u64 << 24) as f32
    })
    .take(n)
}

/// A tensor of values in [-1, 1), as it comes out of a file: what a backend makes of weights.
pub fn weights<B: Backend>(shape: &[usize], seed: u64) -> FloatTensor<B> {
    let n = shape.iter().product();
    let data: Vec<f32> = values(n, seed).map(|x| 2.0 * x - 1.0).collect();
    B::float_from_data(TensorData::new(data, shape), &Default::default())
}

/// The same as the result of an operation.
pub fn floats<B: Backend>(shape: &[usize], seed: u64) -> FloatTensor<B> {
    B::float_add_scalar(weights::<B>(shape, seed), 0.0.into())
}

/// Numbers of 0 to `below`.
pub fn ints<B: Backend>(shape: &[usize], below: usize, seed: u64) -> IntTensor<B> {
    let n = shape.iter().product();
    let data: Vec<i32> = values(n, seed).map(|x| (x * below as f32) as i32).collect();
    B::int_from_data(TensorData::new(data, shape), &Default::default())
}

pub const BOOL: BoolDType = BoolDType::Native;

/// True for about half of the places.
pub fn bools<B: Backend>(shape: &[usize], seed: u64) -> BoolTensor<B> {
    debug_assert_eq!(
        burn_backend::DType::from(BOOL),
        burn_backend::DType::Bool(BoolStore::Native)
    );
    B::float_greater_elem(weights::<B>(shape, seed), 0.0.into(), BOOL)
}
