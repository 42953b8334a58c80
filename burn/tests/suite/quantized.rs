//! Quantised tensors, in schemes of one scale, of blocks, and of two levels.

use crate::common::*;
use burn_backend::ops::QTensorOps;
use burn_backend::quantization::{QuantizationParametersPrimitive, ScaleDtype};
use burn_backend::{DType, FloatDType, IntDType, Slice, TensorMetadata, TensorPrimitive};
use burn_std::reader::try_read_sync;
use burn_std::{QuantScheme, QuantStore, QuantValue};
use flex_burn::{Flex, FlexQTensor};

fn schemes() -> Vec<QuantScheme> {
    let base = |value| {
        QuantScheme::default()
            .with_value(value)
            .with_store(QuantStore::Native)
    };
    let mut all = vec![];
    for value in [
        QuantValue::Q8F,
        QuantValue::Q8S,
        QuantValue::Q4F,
        QuantValue::Q4S,
        QuantValue::Q2F,
        QuantValue::Q2S,
    ] {
        all.push(base(value));
        all.push(base(value).per_tensor(ScaleDtype::F16));
        all.push(base(value).per_block([4], ScaleDtype::F32));
        all.push(base(value).per_block([2, 4], ScaleDtype::BF16));
        all.push(base(value).per_block([2, 1], ScaleDtype::UE8M0));
        all.push(
            base(value)
                .per_block([4], ScaleDtype::UE4M3)
                .per_tensor(ScaleDtype::F32),
        );
    }
    all
}

/// The block of a place, for blocks that cover the last axes.
fn block_sizes(scheme: &QuantScheme, shape: &[usize]) -> Vec<usize> {
    match scheme.block_size() {
        None => shape.to_vec(),
        Some(size) => size
            .to_dim_vec(shape.len())
            .iter()
            .map(|n| *n as usize)
            .collect(),
    }
}

/// What the values are quantised to: rounded half away from zero, of the largest integer for the
/// largest magnitude of a block. The scales are those of the tensor, which are checked apart.
fn oracle(a: &Array, q: &FlexQTensor, scheme: &QuantScheme) -> Array {
    let (low, high) = scheme.value.range();
    let sizes = block_sizes(scheme, &a.shape);
    let blocks: Vec<usize> = a.shape.iter().zip(&sizes).map(|(n, b)| n / b).collect();
    let scales = Array::new(&blocks, q.scales().iter().map(|s| f64::from(*s)).collect());
    Array::of(&a.shape, |at| {
        let block: Vec<usize> = at.iter().zip(&sizes).map(|(i, b)| i / b).collect();
        let scale = scales.at(&block) as f32 * q.global_scale().unwrap_or(1.0);
        let x = (a.at(at) as f32 * (1.0 / scale)).round();
        f64::from(x.clamp(low, high))
    })
}

#[test]
fn schemes_of_all_kinds() {
    let a = Array::random(&[4, 8], -3.0, 3.0, 1);
    for scheme in schemes() {
        let sizes = block_sizes(&scheme, &a.shape);
        let (low, high) = scheme.value.range();
        for dtype in FLOATS {
            for layout in 0..LAYOUTS {
                println!("{scheme:?} {dtype:?} {layout}");
                let q = Flex::quantize_dynamic(floats(&a, dtype, layout), &scheme);
                assert_eq!(q.dtype(), DType::QFloat(scheme));
                let values: Vec<f64> = q
                    .values()
                    .to_vec::<i8>()
                    .unwrap()
                    .iter()
                    .map(|x| f64::from(*x))
                    .collect();
                assert_eq!(Array::new(&a.shape, values), oracle(&a, &q, &scheme));
                // each block reaches its largest integer, up to the rounding of its scale upwards
                let blocks: Vec<usize> = a.shape.iter().zip(&sizes).map(|(n, b)| n / b).collect();
                for (block, scale) in places(&blocks).iter().zip(q.scales()) {
                    let within = places(&sizes);
                    let peak = within
                        .iter()
                        .map(|at| {
                            let at: Vec<usize> =
                                (0..2).map(|k| block[k] * sizes[k] + at[k]).collect();
                            a.at(&at).abs()
                        })
                        .fold(0.0, f64::max);
                    let exact = 2.0 * peak / f64::from(high - low);
                    let scale = f64::from(scale * q.global_scale().unwrap_or(1.0));
                    let room = match scheme.scale_dtype() {
                        ScaleDtype::UE8M0 => 2.0,
                        ScaleDtype::UE4M3 => 1.13,
                        _ => 1.01,
                    };
                    assert!(
                        scale >= exact * (1.0 - 1e-6) && scale <= exact * room,
                        "{scale} for {exact}"
                    );
                }
                // back within half a step
                let back = array(Flex::dequantize(q.clone(), dtype));
                let largest = q.scales().iter().copied().fold(0.0, f32::max)
                    * q.global_scale().unwrap_or(1.0);
                for (x, y) in a.values.iter().zip(&back.values) {
                    let overflow =
                        f64::from(largest) * (f64::from(high).max(-f64::from(low)) + 0.5);
                    let bound = f64::from(largest) * 0.51 + x.abs() * 0.005;
                    assert!(
                        (x - y).abs() <= bound || x.abs() > overflow,
                        "{x} became {y}"
                    );
                }
                // through data
                let data = try_read_sync(Flex::q_into_data(q.clone()))
                    .unwrap()
                    .unwrap();
                let again = Flex::q_from_data(data, &DEVICE);
                assert_eq!(again.scales(), q.scales());
                assert_eq!(again.global_scale(), q.global_scale());
                assert_eq!(
                    again.values().to_vec::<i8>().unwrap(),
                    q.values().to_vec::<i8>().unwrap()
                );
            }
        }
    }
}

#[test]
fn given_scales() {
    let a = Array::new(&[8], vec![0.5, -0.5, 1.5, -1.5, 2.49, 200.0, -200.0, 0.0]);
    let scheme = QuantScheme::default()
        .with_value(QuantValue::Q8S)
        .with_store(QuantStore::Native);
    for dtype in FLOATS {
        let params = QuantizationParametersPrimitive {
            scales: floats(&Array::new(&[1], vec![1.0]), dtype, 0),
            global: None,
        };
        let q = Flex::quantize(floats(&a, dtype, 0), &scheme, params);
        // half away from zero
        assert_eq!(
            q.values().to_vec::<i8>().unwrap(),
            [1, -1, 2, -2, 2, 127, -127, 0]
        );
    }
    // the float below one half
    let x = Array::new(&[1], vec![f64::from(0.5f32.next_down())]);
    let params = QuantizationParametersPrimitive {
        scales: floats(&Array::new(&[1], vec![1.0]), FloatDType::F32, 0),
        global: None,
    };
    let q = Flex::quantize(floats(&x, FloatDType::F32, 0), &scheme, params);
    assert_eq!(q.values().to_vec::<i8>().unwrap(), [0]);
}

#[test]
fn moves() {
    let a = Array::random(&[4, 8], -3.0, 3.0, 1);
    let f = FloatDType::F32;
    let number = |q: FlexQTensor| array(Flex::dequantize(q, FloatDType::F32));
    for scheme in schemes() {
        println!("{scheme:?}");
        let q = || Flex::quantize_dynamic(floats(&a, f, 0), &scheme);
        let x = number(q());
        let turned = Array::of(&[8, 4], |at| x.at(&[at[1], at[0]]));
        assert_eq!(number(Flex::q_swap_dims(q(), 0, 1)), turned);
        assert_eq!(number(Flex::q_permute(q(), &[1, 0])), turned);
        assert_eq!(number(Flex::q_transpose(q())), turned);
        let mirrored = Array::of(&[4, 8], |at| x.at(&[at[0], 7 - at[1]]));
        assert_eq!(number(Flex::q_flip(q(), &[1])), mirrored);
        // blocks do not follow these: they are quantised again
        let step = f64::from(
            q().scales().iter().fold(0f32, |a, b| a.max(*b)) * q().global_scale().unwrap_or(1.0),
        );
        let close = |got: Array, want: &Array| {
            assert_eq!(got.shape, want.shape);
            for (g, w) in got.values.iter().zip(&want.values) {
                assert!((g - w).abs() <= 2.1 * step, "{g}, not {w}");
            }
        };
        close(
            number(Flex::q_reshape(q(), shape(&[2, 16]))),
            &Array::new(&[2, 16], x.values.clone()),
        );
        let half = Array::of(&[2, 8], |at| x.at(&[at[0] + 2, at[1]]));
        close(number(Flex::q_slice(q(), &[Slice::new(2, None, 1)])), &half);
        let rows = Array::new(&[2], vec![3.0, 1.0]);
        let picked = Array::of(&[2, 8], |at| x.at(&[rows.values[at[0]] as usize, at[1]]));
        close(
            number(Flex::q_select(q(), 0, ints(&rows, IntDType::I32, 0))),
            &picked,
        );
        let i = Array::integers(&[4, 8], 0, 4, 3);
        let gathered = Array::of(&[4, 8], |at| x.at(&[i.at(at) as usize, at[1]]));
        close(
            number(Flex::q_gather(0, q(), ints(&i, IntDType::I64, 0))),
            &gathered,
        );
        let tiled = Array::of(&[8, 8], |at| x.at(&[at[0] % 4, at[1]]));
        close(number(Flex::q_repeat_dim(q(), 0, 2)), &tiled);
        let wide = Array::of(&[2, 4, 8], |at| x.at(&at[1..]));
        if scheme.block_size().is_none() {
            close(number(Flex::q_expand(q(), shape(&[2, 4, 8]))), &wide);
        }
        for dim in 0..2 {
            let first = |l: &[f64], better: fn(&f64, &f64) -> bool| {
                let best = l
                    .iter()
                    .copied()
                    .reduce(|a, b| if better(&b, &a) { b } else { a });
                l.iter().position(|x| Some(*x) == best).unwrap() as f64
            };
            let out = IntDType::I32;
            equal(
                Flex::q_argmax(q(), dim, out),
                &x.fold(dim, |l| first(l, f64::gt)),
                out,
            );
            equal(
                Flex::q_argmin(q(), dim, out),
                &x.fold(dim, |l| first(l, f64::lt)),
                out,
            );
        }
    }
}

#[test]
fn products() {
    let [a, b] = [(1, [4, 8]), (2, [8, 4])].map(|(s, n)| Array::random(&n, -3.0, 3.0, s));
    for scheme in schemes() {
        let q = |a: &Array| Flex::quantize_dynamic(floats(a, FloatDType::F32, 0), &scheme);
        let (x, y) = (q(&a), q(&b));
        let [u, v] = [&x, &y].map(|q| array(Flex::dequantize(q.clone(), FloatDType::F32)));
        let want = Array::of(&[4, 4], |at| {
            (0..8).map(|k| u.at(&[at[0], k]) * v.at(&[k, at[1]])).sum()
        });
        let got = Flex::q_matmul(TensorPrimitive::QFloat(x), TensorPrimitive::QFloat(y));
        let TensorPrimitive::Float(got) = got else {
            panic!("quantised")
        };
        close(got, &want, FloatDType::F32, 32.0, 10.0);
    }
}

/// Of two tensors with one scale each, the sums are those of the integers.
#[test]
fn products_of_integers() {
    let (m, k, n) = (3, 2000, 5);
    let [a, b] = [(1, [m, k]), (2, [n, k])].map(|(s, n)| Array::random(&n, 1.0, 3.0, s));
    let scheme = schemes().into_iter().find(|s| s.block_size().is_none());
    let scheme = scheme.unwrap().with_value(QuantValue::Q8S);
    let q = |a: &Array| Flex::quantize_dynamic(floats(a, FloatDType::F32, 0), &scheme);
    let (x, y) = (q(&a), Flex::q_swap_dims(q(&b), 0, 1));
    let integers = |q: &flex_burn::FlexQTensor| q.values().to_vec::<i8>().unwrap();
    let (u, v) = (integers(&x), integers(&y));
    let scale = f64::from(x.scales()[0]) * f64::from(y.scales()[0]);
    let want = Array::of(&[m, n], |at| {
        let of = |i: usize| i64::from(u[at[0] * k + i]) * i64::from(v[i * n + at[1]]);
        scale * (0..k).map(of).sum::<i64>() as f64
    });
    let both = [x.clone(), y].map(TensorPrimitive::QFloat);
    let [left, right] = both;
    let TensorPrimitive::Float(got) = Flex::q_matmul(left, right) else {
        panic!("quantised")
    };
    close(got, &want, FloatDType::F32, 4.0, 0.0);
    // with numbers, in their dtype
    let c = Array::random(&[k, n], -1.0, 1.0, 3);
    let right = TensorPrimitive::Float(floats(&c, FloatDType::F64, 0));
    let u = array(Flex::dequantize(x.clone(), FloatDType::F64));
    let want = Array::of(&[m, n], |at| {
        (0..k).map(|i| u.at(&[at[0], i]) * c.at(&[i, at[1]])).sum()
    });
    let TensorPrimitive::Float(got) = Flex::q_matmul(TensorPrimitive::QFloat(x), right) else {
        panic!("quantised")
    };
    close(got, &want, FloatDType::F64, 1e4, 10.0);
}

#[test]
fn what_is_not_supported() {
    let a = Array::random(&[4, 8], -3.0, 3.0, 1);
    let scheme = QuantScheme::default()
        .with_value(QuantValue::E4M3)
        .with_store(QuantStore::Native);
    let x = floats(&a, FloatDType::F32, 0);
    let message = panic_message(std::panic::AssertUnwindSafe(move || {
        Flex::quantize_dynamic(x, &scheme)
    }));
    assert!(message.contains("E4M3"), "{message}");
    let uneven = QuantScheme::default()
        .with_store(QuantStore::Native)
        .per_block([3], ScaleDtype::F32);
    let x = floats(&a, FloatDType::F32, 0);
    let message = panic_message(std::panic::AssertUnwindSafe(move || {
        Flex::quantize_dynamic(x, &uneven)
    }));
    assert!(message.contains("blocks"), "{message}");
    let data = data(&a, DType::F32);
    let message = panic_message(std::panic::AssertUnwindSafe(move || {
        Flex::q_from_data(data, &DEVICE)
    }));
    assert!(message.contains("not quantised"), "{message}");
}
