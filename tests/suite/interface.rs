//! Conveniences of the interface: conversions, comparisons, constructors, names.

use crate::common::Rng;
use flex::ops::{self, Allclose};
use flex::prelude::*;
use flex::quant::{self, Inputs, Levels, Output, Per, Quantization};

/// All modules at once: no type has two meanings.
mod globs {
    #[allow(unused_imports, reason = "that they are unambiguous is the test")]
    use flex::{fft::*, io::*, nn::*, ops::*, prelude::*, quant::*, signal::*, stream::*};

    #[test]
    fn types_have_one_meaning() {
        let floats = Linear::default();
        let integers = QLinear::default();
        assert!(floats.bias.is_none() && integers.bias.is_none());
        assert!(Conv::default().bias.is_none() && Reduction::Mean == Reduction::default());
        assert!(!ReductionAxes::from(0).keepdims);
    }
}

#[test]
fn tensors_from_numbers_and_nested_arrays() {
    assert_eq!(Tensor::from(2.5f32).item::<f32>().unwrap(), 2.5);
    assert_eq!(
        (Tensor::from(true).rank(), Tensor::from(7u8).dtype()),
        (0, DType::U8)
    );
    let x = Tensor::from([[[[1, 2], [3, 4]]], [[[5, 6], [7, 8]]]]);
    assert_eq!(x.shape(), [2, 1, 2, 2]);
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn constructors() {
    assert_eq!(
        Tensor::ones((1, 2), DType::F32).unwrap(),
        Tensor::from([[1.0f32, 1.0]])
    );
    assert_eq!(
        Tensor::full(2, 7, DType::I32).unwrap(),
        Tensor::from([7, 7])
    );
    assert_eq!(
        Tensor::arange(1, 8, 3, None).unwrap(),
        Tensor::from([1i64, 4, 7])
    );
    assert_eq!(
        Tensor::eye(2, 2, 0, DType::I32).unwrap(),
        Tensor::from([[1, 0], [0, 1]])
    );
    let x = Tensor::from([[1u8, 2]]);
    assert_eq!(x.zeros_like().unwrap(), Tensor::from([[0u8, 0]]));
    assert_eq!(x.ones_like().unwrap(), Tensor::from([[1u8, 1]]));
}

#[test]
fn equality_is_of_dtype_shape_and_numbers() {
    let x = Tensor::from([[1.0f32, -0.0], [3.0, 4.0]]);
    assert_eq!(x, Tensor::from([[1.0f32, 0.0], [3.0, 4.0]]));
    assert_eq!(
        x.transpose(0, 1).unwrap(),
        Tensor::from([[1.0f32, 3.0], [0.0, 4.0]])
    );
    assert_ne!(x, x.astype(DType::F64).unwrap());
    assert_ne!(x, x.reshape(4).unwrap());
    assert_ne!(x, &x + 1);
    let nan = Tensor::from([f32::NAN]);
    assert_ne!(nan, nan.clone());
    for dtype in DType::ALL {
        let x = Tensor::from([0.0f32, 1.0]).astype(dtype).unwrap();
        assert_eq!(x, x.copy().unwrap());
        assert_ne!(x, x.flip(0).unwrap());
    }
    let none = Tensor::zeros((0, 3), DType::F32).unwrap();
    assert_eq!(none, none.clone());
    assert_ne!(none, Tensor::zeros((0, 4), DType::F32).unwrap());
}

#[test]
fn allclose_by_its_definition() {
    let close = |x: f64, y: f64, within| {
        ops::allclose(&Tensor::from([x]), &Tensor::from([y]), within).unwrap()
    };
    let default = Allclose::default();
    // |x - y| <= 1e-8 + 1e-5 |y|
    assert!(close(1.000_009, 1.0, default) && !close(1.000_011, 1.0, default));
    assert!(close(9e-9, 0.0, default) && !close(1.1e-8, 0.0, default));
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    assert!(close(inf, inf, default) && !close(inf, -inf, default));
    assert!(!close(1.0, inf, default) && !close(inf, 1.0, default));
    assert!(!close(nan, nan, default));
    assert!(close(
        nan,
        nan,
        Allclose {
            equal_nan: true,
            ..default
        }
    ));
    assert!(!close(
        nan,
        1.0,
        Allclose {
            equal_nan: true,
            ..default
        }
    ));
    // float32 beside int64 of 2^53 + 1, and broadcast
    let x = Tensor::from([[1.0f32, 2.0], [1.0, 2.0]]);
    assert!(x.allclose(&Tensor::from([1i64, 2]), ()).unwrap());
    assert!(!x.allclose(&Tensor::from([1i64, 3]), ()).unwrap());
    assert!(x.allclose(&Tensor::from([1, 2, 3]), ()).is_err());
    let z = Tensor::from([flex::dtype::Complex64::new(3.0, 4.0)]);
    assert!(
        z.allclose(
            &z,
            Allclose {
                rtol: 0.0,
                atol: 0.0,
                ..default
            }
        )
        .unwrap()
    );
    let turned = Tensor::from([flex::dtype::Complex64::new(3.0, -4.0)]);
    assert!(
        !z.allclose(
            &turned,
            Allclose {
                rtol: 1.5,
                atol: 0.0,
                ..default
            }
        )
        .unwrap()
    ); // 8 > 1.5 * 5
    assert!(
        z.allclose(
            &turned,
            Allclose {
                rtol: 1.7,
                atol: 0.0,
                ..default
            }
        )
        .unwrap()
    );
}

#[test]
fn functions_as_values() {
    let chain: [fn(&Tensor) -> flex::Result<Tensor>; 4] =
        [Tensor::relu, Tensor::exp, Tensor::mish, Tensor::silu];
    let x = Tensor::from([0.0f32]);
    let want = [0.0, 1.0, 0.0, 0.0];
    for (f, want) in chain.iter().zip(want) {
        assert_eq!(f(&x).unwrap().item::<f32>().unwrap(), want);
    }
    assert_eq!(x.gelu().unwrap().item::<f32>().unwrap(), 0.0);
}

#[test]
fn tensors_cross_panics() {
    fn safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe + Send + Sync>() {}
    safe::<Tensor>();
    safe::<quant::QTensor>();
    safe::<flex::Error>();
    safe::<flex::Bytes>();
    let x = Tensor::from([1, 2]);
    assert!(std::panic::catch_unwind(|| x.len()).is_ok());
}

#[test]
fn lists_and_axes_of_any_integer() {
    let list: flex::layout::SmallVec<[usize; 6]> = Axes::from([-1, 0]).resolve("t", 2).unwrap();
    assert_eq!(list.as_slice(), [1, 0]);
    let x = Tensor::from([[1.0f32, 2.0], [3.0, 5.0]]);
    let last = x.softmax(-1).unwrap();
    assert_eq!(x.softmax(1usize).unwrap(), last);
    assert_eq!(x.softmax(1u8).unwrap(), last);
    assert_eq!(x.sort(1u64).unwrap(), x.sort(()).unwrap());
    assert_eq!(x.select(0i16, 1).unwrap(), x.slice(s![1u32]).unwrap());
    assert_eq!(x.slice(s![Ellipsis, NewAxis]).unwrap().shape(), [2, 2, 1]);
}

#[test]
fn vectors_lent_to_tensors_and_back() {
    let long: Vec<f32> = (0..40_000).map(|i| i as f32).collect();
    let place = long.as_ptr();
    let mut x = Tensor::from_vec(long, (200, 200)).unwrap();
    // written to in place, while nobody shares it
    x += 1;
    x.set_at([0, 0], -1.0f32).unwrap();
    assert_eq!(x.as_ptr(), place.cast());
    let shared = x.clone();
    x *= 0;
    assert_ne!(x.as_ptr(), place.cast());
    assert_eq!(shared.at::<f32>([199, 199]).unwrap(), 40_000.0);
    // back without a copy; a view of the first rows is shorter
    let first = shared.narrow(0, 0, 2).unwrap();
    drop(shared);
    let back = first.into_vec::<f32>().unwrap();
    assert_eq!(
        (back.as_ptr(), back.len(), back[0], back[399]),
        (place, 400, -1.0, 400.0)
    );
    // copies: of shared, strided, short and other memory
    let x = Tensor::from(vec![1i64; 10_000]);
    let other = x.clone();
    let copy = x.into_vec::<i64>().unwrap();
    assert_ne!(copy.as_ptr(), other.as_ptr().cast());
    assert_eq!(
        other.flip(0).unwrap().into_vec::<i64>().unwrap(),
        vec![1; 10_000]
    );
    assert_eq!(Tensor::from([1, 2]).into_vec::<i32>().unwrap(), [1, 2]);
    assert!(Tensor::from([1, 2]).into_vec::<f32>().is_err());
    // the result of an operation in place has another dtype
    let x = Tensor::from(vec![1.5f32; 20_000]);
    let y = ops::equal(x, 1.5).unwrap();
    assert!(y.into_vec::<bool>().unwrap().iter().all(|y| *y));
}

#[test]
fn sorts_downwards() {
    let mut rng = Rng(3);
    let values: Vec<i32> = (0..500).map(|_| rng.below(90) as i32).collect();
    let x = Tensor::from(&values[..]);
    let mut want = values.clone();
    want.sort_by(|a, b| b.cmp(a));
    assert_eq!(x.sort_descending(0).unwrap().to_vec::<i32>().unwrap(), want);
    let mut order: Vec<i64> = (0..500).collect();
    order.sort_by_key(|i| std::cmp::Reverse(values[*i as usize])); // stable
    assert_eq!(
        x.argsort_descending(-1).unwrap().to_vec::<i64>().unwrap(),
        order
    );
}

#[test]
fn products_in_another_dtype() {
    let x = Tensor::from([[100i8, 100, 100], [2, 3, -7]]);
    let wide = ops::prod_as(&x, 1, DType::I64).unwrap();
    assert_eq!(wide.to_vec::<i64>().unwrap(), [1_000_000, -42]);
    let wrapped = ops::prod_as(&x, 1, DType::I8).unwrap();
    assert_eq!(wrapped.to_vec::<i8>().unwrap(), [1_000_000i64 as i8, -42]);
    let floats = ops::prod_as(&x, (), DType::F64).unwrap();
    assert_eq!(floats.item::<f64>().unwrap(), -42e6);
}

#[test]
fn views_or_nothing() {
    let x = Tensor::from([[1, 2], [3, 4]]);
    assert!(
        x.view_as((4, 1))
            .unwrap()
            .is_some_and(|v| v.shares_storage(&x))
    );
    assert!(x.transpose(0, 1).unwrap().view_as(4).unwrap().is_none());
    let mut x = x;
    assert!(x.get_mut_ptr().is_some());
    let other = x.clone();
    assert!(x.get_mut_ptr().is_none() && other.len() == 4);
}

#[test]
fn files_in_memory() {
    let x = Tensor::from([[1.5f32, -2.0]]);
    let mut file = Vec::new();
    flex::io::npy::write_to(&mut file, &x).unwrap();
    // the format's own words: magic, version 1.0, a header that ends with a newline on a multiple of 64
    assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    assert!(start.is_multiple_of(64) && file[start - 1] == b'\n');
    let elements: Vec<u8> = [1.5f32, -2.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    assert_eq!(file[start..], elements);
    let mut file = Vec::new();
    flex::io::safetensors::write_to(&mut file, [("x", &x)], &Default::default()).unwrap();
    assert!(file.ends_with(&elements));
}

#[test]
fn products_of_integers() {
    let mut rng = Rng(4);
    let (m, k, n) = (5, 70, 9);
    let a: Vec<u8> = (0..m * k).map(|_| rng.next() as u8).collect();
    let b: Vec<i8> = (0..k * n).map(|_| rng.next() as i8).collect();
    let zeros: Vec<i8> = (0..n).map(|_| rng.next() as i8).collect();
    let (x, y) = (
        Tensor::from_slice(&a, (m, k)).unwrap(),
        Tensor::from_slice(&b, (k, n)).unwrap(),
    );
    let product = quant::matmul_integer(
        &x,
        &y,
        Some(&Tensor::from([131u8])),
        Some(&Tensor::from(&zeros[..])),
    );
    let mut want = vec![0i32; m * n];
    for (i, want) in want.iter_mut().enumerate() {
        let (row, column) = (i / n, i % n);
        for l in 0..k {
            let (a, b) = (i32::from(a[row * k + l]), i32::from(b[l * n + column]));
            *want += (a - 131) * (b - i32::from(zeros[column]));
        }
    }
    assert_eq!(product.unwrap().to_vec::<i32>().unwrap(), want);
}

/// Weights and inputs that int8 holds exactly, so that layers of integers are exact.
#[test]
fn layers_of_integers_with_integer_results() {
    let weight = Tensor::from([[1.0f32, 0.5], [-1.0, 0.0]]); // 127 * 1 / 127
    let q = quant::quantize(&weight, ()).unwrap();
    let w = q.dequantize().unwrap().to_vec::<f32>().unwrap();
    let x = Tensor::from([[3.0f32, 2.0], [-1.0, 8.0]]);
    let output = Output {
        levels: Levels::I8,
        step: Some((0.25, None)),
    };
    let y = quant::linear_to(&x, &q, (), output).unwrap();
    let exact = [[3.0, 2.0], [-1.0, 8.0f64]].map(|row| {
        [0, 1].map(|o| {
            let sum = row[0] * f64::from(w[2 * o]) + row[1] * f64::from(w[2 * o + 1]);
            (sum / 0.25).round_ties_even().clamp(-128.0, 127.0) as i8
        })
    });
    assert_eq!(y.values().to_vec::<i8>().unwrap(), exact.concat());
    // a convolution of one place is that layer
    let kernel = weight.reshape((2, 2, 1, 1)).unwrap();
    let q = quant::quantize(&kernel, ()).unwrap();
    let image = x.reshape((2, 2, 1, 1)).unwrap();
    let y = quant::conv2d_to(&image, &q, Inputs::Float, (), output).unwrap();
    assert_eq!(y.values().to_vec::<i8>().unwrap(), exact.concat());
}

#[test]
fn quantised_like_another() {
    let x = Tensor::from([[1.0f32, -127.0], [0.5, 63.5]]);
    let by_row = Quantization {
        per: Per::Channel(0),
        ..Default::default()
    };
    let q = quant::quantize(&x, by_row).unwrap();
    assert!(!q.shares_scale().unwrap() && q.packed_axis().is_none());
    assert_eq!(q.byte_len(), 4 + 2 * 4); // bytes and two scales of float32
    for dtype in [DType::F64, DType::BF16] {
        let y = q.dequantize_as(dtype).unwrap();
        assert_eq!(
            (y.dtype(), y.astype(DType::F32).unwrap()),
            (dtype, x.clone())
        );
    }
    assert!(q.dequantize_as(DType::I32).is_err());
    // its own scales, from the largest of each row: 254 and 2540, of 127 steps
    let like = q
        .requantize(&Tensor::from([[254.0f32, 2.0], [20.0, -2540.0]]))
        .unwrap();
    assert_eq!(like.scales().to_vec::<f32>().unwrap(), [2.0, 20.0]);
    assert_eq!(like.values().to_vec::<i8>().unwrap(), [127, 1, 1, -127]);
    let four = Quantization {
        levels: Levels::I4,
        ..Default::default()
    };
    let packed = quant::quantize(&x, four).unwrap();
    assert_eq!((packed.packed_axis(), packed.byte_len()), (Some(1), 2 + 4));
    assert!(packed.shares_scale().unwrap());
}

#[test]
fn errors_of_a_programs_own_functions() {
    let x = Tensor::from([[1.0f32, 2.0]]);
    let error = flex::Error::shape_of("mine", "x is wide", &[("x", x.shape(), x.dtype())]);
    assert_eq!(error.to_string(), "mine: x is wide (x: [1, 2] float32)");
    let error = flex::Error::unsupported("mine", DType::Bool).to_string();
    assert!(error.starts_with("mine: not defined for bool"));
    let error = flex::Error::subscript("mine", "two items");
    assert!(matches!(error, flex::Error::Subscript { op: "mine", .. }));
    assert_eq!(error.to_string(), "mine: two items");
}

/// The codes of DLDataTypeCode in dlpack.h.
#[test]
fn codes_of_dlpack() {
    use DType::*;
    let codes = [I64, U8, F16, BF16, Complex64, Bool, F8E4M3, F8E5M2].map(DType::dlpack_code);
    assert_eq!(codes, [0, 1, 2, 4, 5, 6, 10, 12]);
}
