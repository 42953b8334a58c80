//! Elementwise operations, casts, and chains of them.

use super::rows;
use crate::data::{BOOL, bools, floats, ints};
use burn_backend::tensor::FloatTensor;
use burn_backend::{Backend, FloatDType, IntDType};

const N: &[usize] = &[1024, 1024];

rows! { B;
    "binary" {
        "add 1M" => { let (x, y) = (floats::<B>(N, 1), floats::<B>(N, 2)); move || B::float_add(x.clone(), y.clone()) };
        "mul rows by a column" => {
            let (x, y) = (floats::<B>(N, 1), floats::<B>(&[1024, 1], 2));
            move || B::float_mul(x.clone(), y.clone())
        };
        "sub a transpose" => {
            let (x, y) = (floats::<B>(N, 1), B::float_swap_dims(floats::<B>(N, 2), 0, 1));
            move || B::float_sub(x.clone(), y.clone())
        };
        "div 1M" => { let (x, y) = (floats::<B>(N, 1), floats::<B>(N, 2)); move || B::float_div(x.clone(), y.clone()) };
        "remainder 1M" => { let (x, y) = (floats::<B>(N, 1), floats::<B>(N, 2)); move || B::float_remainder(x.clone(), y.clone()) };
        "powf 1M" => {
            let (x, y) = (B::float_abs(floats::<B>(N, 1)), floats::<B>(N, 2));
            move || B::float_powf(x.clone(), y.clone())
        };
        "add a number, in place" => {
            let mut x = Some(floats::<B>(N, 1));
            move || x = x.take().map(|x| B::float_add_scalar(x, 0.5.into()))
        };
        "int add 1M" => { let (x, y) = (ints::<B>(N, 1000, 1), ints::<B>(N, 1000, 2)); move || B::int_add(x.clone(), y.clone()) };
        "int div 1M" => {
            let (x, y) = (ints::<B>(N, 1000, 1), B::int_add_scalar(ints::<B>(N, 9, 2), 1.into()));
            move || B::int_div(x.clone(), y.clone())
        };
        "greater 1M" => { let (x, y) = (floats::<B>(N, 1), floats::<B>(N, 2)); move || B::float_greater(x.clone(), y.clone(), BOOL) };
        "mask_where 1M" => {
            let (x, y, mask) = (floats::<B>(N, 1), floats::<B>(N, 2), bools::<B>(N, 3));
            move || B::float_mask_where(x.clone(), mask.clone(), y.clone())
        };
        "bool and 1M" => { let (x, y) = (bools::<B>(N, 1), bools::<B>(N, 2)); move || B::bool_and(x.clone(), y.clone()) };
    }
    "unary" {
        "exp 1M" => { let x = floats::<B>(N, 1); move || B::float_exp(x.clone()) };
        "log 1M" => { let x = B::float_abs(floats::<B>(N, 1)); move || B::float_log(x.clone()) };
        "sqrt 1M" => { let x = B::float_abs(floats::<B>(N, 1)); move || B::float_sqrt(x.clone()) };
        "sin 1M" => { let x = floats::<B>(N, 1); move || B::float_sin(x.clone()) };
        "tanh 1M" => { let x = floats::<B>(N, 1); move || B::float_tanh(x.clone()) };
        "erf 1M" => { let x = floats::<B>(N, 1); move || B::float_erf(x.clone()) };
        "abs of a transpose" => { let x = B::float_swap_dims(floats::<B>(N, 1), 0, 1); move || B::float_abs(x.clone()) };
        "round 1M" => { let x = floats::<B>(N, 1); move || B::float_round(x.clone()) };
        "clamp 1M" => { let x = floats::<B>(N, 1); move || B::float_clamp(x.clone(), (-0.5).into(), 0.5.into()) };
        "int abs 1M" => { let x = ints::<B>(N, 1000, 1); move || B::int_abs(x.clone()) };
    }
    "activation" {
        "relu 1M" => { let x = floats::<B>(N, 1); move || B::relu(x.clone()) };
        "sigmoid 1M" => { let x = floats::<B>(N, 1); move || B::sigmoid(x.clone()) };
        "gelu 1M" => { let x = floats::<B>(N, 1); move || B::gelu(x.clone()) };
        "gelu by erf 1M" => { let x = floats::<B>(N, 1); move || gelu::<B>(x.clone(), B::float_erf) };
        "gelu by an erf of its own 1M" => { let x = floats::<B>(N, 1); move || gelu::<B>(x.clone(), erf::<B>) };
        "gelu_backward 1M" => { let (x, g) = (floats::<B>(N, 1), floats::<B>(N, 2)); move || B::gelu_backward(x.clone(), g.clone()) };
        "softmax 1024 x 1024" => { let x = floats::<B>(N, 1); move || B::softmax(x.clone(), 1) };
        "softmax along the first axis" => { let x = floats::<B>(N, 1); move || B::softmax(x.clone(), 0) };
        "log_softmax 1024 x 1024" => { let x = floats::<B>(N, 1); move || B::log_softmax(x.clone(), 1) };
    }
    "cast" {
        "f32 to f16 1M" => { let x = floats::<B>(N, 1); move || B::float_cast(x.clone(), FloatDType::F16) };
        "f16 to f32 1M" => { let x = B::float_cast(floats::<B>(N, 1), FloatDType::F16); move || B::float_cast(x.clone(), FloatDType::F32) };
        "f32 to bf16 1M" => { let x = floats::<B>(N, 1); move || B::float_cast(x.clone(), FloatDType::BF16) };
        "f32 to f64 1M" => { let x = floats::<B>(N, 1); move || B::float_cast(x.clone(), FloatDType::F64) };
        "f32 to i32 1M" => { let x = floats::<B>(N, 1); move || B::float_into_int(x.clone(), IntDType::I32) };
        "i32 to f32 1M" => { let x = ints::<B>(N, 1000, 1); move || B::int_into_float(x.clone(), FloatDType::F32) };
        "i32 to i64 1M" => { let x = ints::<B>(N, 1000, 1); move || B::int_cast(x.clone(), IntDType::I64) };
        "bool to f32 1M" => { let x = bools::<B>(N, 1); move || B::bool_into_float(x.clone(), FloatDType::F32) };
    }
}

/// `x (1 + erf(x / sqrt 2)) / 2`, as a program writes it.
pub fn gelu<B: Backend>(
    x: FloatTensor<B>,
    erf: impl Fn(FloatTensor<B>) -> FloatTensor<B>,
) -> FloatTensor<B> {
    let y = erf(B::float_mul_scalar(
        x.clone(),
        std::f64::consts::FRAC_1_SQRT_2.into(),
    ));
    B::float_mul_scalar(
        B::float_mul(x, B::float_add_scalar(y, 1.0.into())),
        0.5.into(),
    )
}

/// Abramowitz and Stegun's 7.1.26.
pub fn erf<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let (sign, x) = (B::float_sign(x.clone()), B::float_abs(x));
    let t = B::float_recip(B::float_add_scalar(
        B::float_mul_scalar(x.clone(), 0.3275911.into()),
        1.0.into(),
    ));
    let step = |sum, a: f64| B::float_mul(B::float_add_scalar(sum, a.into()), t.clone());
    let first = B::float_mul_scalar(t.clone(), 1.061405429.into());
    let sum = [-1.453152027, 1.421413741, -0.284496736, 0.254829592]
        .into_iter()
        .fold(first, step);
    let tail = B::float_mul(sum, B::float_exp(B::float_neg(B::float_mul(x.clone(), x))));
    B::float_mul(sign, B::float_add_scalar(B::float_neg(tail), 1.0.into()))
}
