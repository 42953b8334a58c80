//! Products, attention and quantised tensors.

use super::rows;
use crate::data::{bools, floats, ints, weights};
use burn_backend::ops::AttentionModuleOptions;
use burn_backend::{FloatDType, TensorPrimitive};
use burn_std::{QuantScheme, QuantStore, QuantValue};

rows! { B;
    "matmul" {
        "512 x 512 x 512" => { let (x, y) = (floats::<B>(&[512, 512], 1), floats::<B>(&[512, 512], 2)); move || B::float_matmul(x.clone(), y.clone()) };
        "64 x 64 x 64" => { let (x, y) = (floats::<B>(&[64, 64], 1), floats::<B>(&[64, 64], 2)); move || B::float_matmul(x.clone(), y.clone()) };
        "by a transpose 256" => {
            let (x, y) = (floats::<B>(&[256, 256], 1), B::float_swap_dims(floats::<B>(&[256, 256], 2), 0, 1));
            move || B::float_matmul(x.clone(), y.clone())
        };
        "a vector by 1024 x 1024" => { let (x, y) = (floats::<B>(&[1, 1024], 1), floats::<B>(&[1024, 1024], 2)); move || B::float_matmul(x.clone(), y.clone()) };
        "32 of 64 x 64 x 64" => { let (x, y) = (floats::<B>(&[32, 64, 64], 1), floats::<B>(&[32, 64, 64], 2)); move || B::float_matmul(x.clone(), y.clone()) };
        "int 128 x 128 x 128" => { let (x, y) = (ints::<B>(&[128, 128], 99, 1), ints::<B>(&[128, 128], 99, 2)); move || B::int_matmul(x.clone(), y.clone()) };
        "linear 64 x 768 by 768 x 768" => {
            let (x, w, b) = (floats::<B>(&[64, 768], 1), weights::<B>(&[768, 768], 2), weights::<B>(&[768], 3));
            move || B::linear(x.clone(), w.clone(), Some(b.clone()))
        };
        "f16 256 x 256 x 256" => {
            let half = |seed| B::float_cast(floats::<B>(&[256, 256], seed), FloatDType::F16);
            let (x, y) = (half(1), half(2));
            move || B::float_matmul(x.clone(), y.clone())
        };
    }
    "attention" {
        "8 heads of 256 x 64" => {
            let [q, k, v] = [1, 2, 3].map(|seed| floats::<B>(&[1, 8, 256, 64], seed));
            move || B::attention(q.clone(), k.clone(), v.clone(), None, None, AttentionModuleOptions::default())
        };
        "the same, causal" => {
            let [q, k, v] = [1, 2, 3].map(|seed| floats::<B>(&[1, 8, 256, 64], seed));
            let options = AttentionModuleOptions { is_causal: true, ..Default::default() };
            move || B::attention(q.clone(), k.clone(), v.clone(), None, None, options)
        };
        "the same, with a mask" => {
            let [q, k, v] = [1, 2, 3].map(|seed| floats::<B>(&[1, 8, 256, 64], seed));
            let mask = bools::<B>(&[1, 8, 256, 256], 4);
            move || B::attention(q.clone(), k.clone(), v.clone(), Some(mask.clone()), None, AttentionModuleOptions::default())
        };
    }
    "quantised" {
        "quantize_dynamic 1M" => { let x = floats::<B>(&[1024, 1024], 1); move || B::quantize_dynamic(x.clone(), &scheme()) };
        "dequantize 1M" => {
            let x = B::quantize_dynamic(floats::<B>(&[1024, 1024], 1), &scheme());
            move || B::dequantize(x.clone(), FloatDType::F32)
        };
        "quantize_dynamic, blocks of 32" => {
            let (x, scheme) = (floats::<B>(&[1024, 1024], 1), scheme().per_block([32], burn_backend::quantization::ScaleDtype::F32));
            move || B::quantize_dynamic(x.clone(), &scheme)
        };
        "dequantize, blocks of 32" => {
            let scheme = scheme().per_block([32], burn_backend::quantization::ScaleDtype::F32);
            let x = B::quantize_dynamic(floats::<B>(&[1024, 1024], 1), &scheme);
            move || B::dequantize(x.clone(), FloatDType::F32)
        };
        "q_matmul 64 x 512 x 512" => {
            let x = B::quantize_dynamic(floats::<B>(&[64, 512], 1), &scheme());
            let y = B::quantize_dynamic(floats::<B>(&[512, 512], 2), &scheme());
            move || B::q_matmul(TensorPrimitive::QFloat(x.clone()), TensorPrimitive::QFloat(y.clone()))
        };
    }
}

/// Eight bits, one scale for a tensor.
fn scheme() -> QuantScheme {
    QuantScheme::default()
        .with_value(QuantValue::Q8S)
        .with_store(QuantStore::Native)
}
