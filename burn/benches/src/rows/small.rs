//! Calls with 16 elements: what a call costs.

use super::places::pollster;
use super::rows;
use crate::data::{BOOL, bools, floats, ints, weights};
use burn_backend::{IntDType, Slice, TensorData};

const N: &[usize] = &[4, 4];

rows! { B;
    "16 elements" {
        "add" => { let (x, y) = (floats::<B>(N, 1), floats::<B>(N, 2)); move || B::float_add(x.clone(), y.clone()) };
        "mul by a number" => { let x = floats::<B>(N, 1); move || B::float_mul_scalar(x.clone(), 2.0.into()) };
        "add a row" => { let (x, y) = (floats::<B>(N, 1), floats::<B>(&[1, 4], 2)); move || B::float_add(x.clone(), y.clone()) };
        "exp" => { let x = floats::<B>(N, 1); move || B::float_exp(x.clone()) };
        "relu" => { let x = floats::<B>(N, 1); move || B::relu(x.clone()) };
        "greater" => { let (x, y) = (floats::<B>(N, 1), floats::<B>(N, 2)); move || B::float_greater(x.clone(), y.clone(), BOOL) };
        "mask_where" => {
            let (x, y, mask) = (floats::<B>(N, 1), floats::<B>(N, 2), bools::<B>(N, 3));
            move || B::float_mask_where(x.clone(), mask.clone(), y.clone())
        };
        "sum" => { let x = floats::<B>(N, 1); move || B::float_sum(x.clone()) };
        "sum_dim" => { let x = floats::<B>(N, 1); move || B::float_sum_dim(x.clone(), 1) };
        "argmax" => { let x = floats::<B>(N, 1); move || B::float_argmax(x.clone(), 1, IntDType::I32) };
        "softmax" => { let x = floats::<B>(N, 1); move || B::softmax(x.clone(), 1) };
        "matmul" => { let (x, y) = (floats::<B>(N, 1), floats::<B>(N, 2)); move || B::float_matmul(x.clone(), y.clone()) };
        "linear" => {
            let (x, w, b) = (floats::<B>(N, 1), weights::<B>(N, 2), weights::<B>(&[4], 3));
            move || B::linear(x.clone(), w.clone(), Some(b.clone()))
        };
        "reshape" => { let x = floats::<B>(N, 1); move || B::float_reshape(x.clone(), vec![16].into()) };
        "swap_dims" => { let x = floats::<B>(N, 1); move || B::float_swap_dims(x.clone(), 0, 1) };
        "slice" => { let x = floats::<B>(N, 1); move || B::float_slice(x.clone(), &[Slice::new(1, Some(3), 1)]) };
        "cat" => { let x = floats::<B>(N, 1); move || B::float_cat(vec![x.clone(), x.clone()], 0) };
        "select" => { let (x, at) = (floats::<B>(N, 1), ints::<B>(&[4], 4, 2)); move || B::float_select(x.clone(), 0, at.clone()) };
        "cast to int" => { let x = floats::<B>(N, 1); move || B::float_into_int(x.clone(), IntDType::I32) };
        "from_data" => {
            let data = TensorData::new(vec![1.0f32; 16], N);
            move || B::float_from_data(data.clone(), &Default::default())
        };
        "into_data" => { let x = floats::<B>(N, 1); move || pollster(B::float_into_data(x.clone())).unwrap() };
    }
}
