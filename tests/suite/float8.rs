//! 8-bit floats: the decoding of their bits, rounding, and the operations they refuse. The oracle
//! is `common::float8`, written from the formats' definition.
#![cfg(feature = "float8")]

use crate::common::{float8, floats};
use flex::dtype::{F8E4M3, F8E5M2};
use flex::{DType, Element, Error, Tensor, ops};

const FORMATS: [DType; 2] = [DType::F8E4M3, DType::F8E5M2];

fn bits(t: &Tensor) -> Vec<u8> {
    match t.dtype() {
        DType::F8E4M3 => t
            .to_vec::<F8E4M3>()
            .unwrap()
            .into_iter()
            .map(F8E4M3::to_bits)
            .collect(),
        _ => t
            .to_vec::<F8E5M2>()
            .unwrap()
            .into_iter()
            .map(F8E5M2::to_bits)
            .collect(),
    }
}
fn all(dtype: DType) -> Tensor {
    let codes = 0..=u8::MAX;
    match dtype {
        DType::F8E4M3 => {
            Tensor::from_slice(&codes.map(F8E4M3::from_bits).collect::<Vec<_>>(), [256])
        }
        _ => Tensor::from_slice(&codes.map(F8E5M2::from_bits).collect::<Vec<_>>(), [256]),
    }
    .unwrap()
}
/// The value of these bits.
fn value(dtype: DType, bits: u8) -> f64 {
    if dtype == DType::F8E4M3 {
        float8(bits, 3, 7, None)
    } else {
        float8(bits, 2, 15, Some(0x7c))
    }
}
/// The bits of the largest number.
fn largest(dtype: DType) -> u8 {
    if dtype == DType::F8E4M3 { 0x7e } else { 0x7b }
}
/// The value that a number rounds to, searched among all of the format: the nearest, of two the one
/// with even bits; above the largest, as if the next one existed.
fn nearest(dtype: DType, x: f64) -> u8 {
    let most = largest(dtype);
    let (sign, a) = (if x.is_sign_negative() { 0x80 } else { 0 }, x.abs());
    if a.is_nan() {
        return sign | if dtype == DType::F8E4M3 { 0x7f } else { 0x7e };
    }
    let next = 2.0 * value(dtype, most) - value(dtype, most - 1);
    let step = |code: u8| {
        if code > most {
            next
        } else {
            value(dtype, code)
        }
    };
    let code = (0..=most + 1).min_by(|p, q| {
        let (p, q) = (
            (*p & 1, (step(*p) - a).abs()),
            (*q & 1, (step(*q) - a).abs()),
        );
        p.1.total_cmp(&q.1).then(p.0.cmp(&q.0))
    });
    sign | if a >= next { most + 1 } else { code.unwrap() }
}
fn cast<T: Element>(x: &[T], dtype: DType) -> Vec<u8> {
    bits(
        &Tensor::from_slice(x, [x.len()])
            .unwrap()
            .astype(dtype)
            .unwrap(),
    )
}
/// All numbers of a format and all that lie halfway between neighbours, or above the largest, of
/// both signs.
fn boundaries(dtype: DType) -> Vec<f64> {
    let most = largest(dtype);
    let next = 2.0 * value(dtype, most) - value(dtype, most - 1);
    let numbers: Vec<f64> = (0..=most).map(|c| value(dtype, c)).chain([next]).collect();
    let middles = numbers.windows(2).map(|w| (w[0] + w[1]) / 2.0);
    numbers
        .iter()
        .copied()
        .chain(middles)
        .flat_map(|x| [x, -x])
        .collect()
}

#[test]
fn every_bit_pattern_decodes_by_the_format() {
    for dtype in FORMATS {
        let t = all(dtype);
        let want: Vec<f64> = (0..=u8::MAX).map(|b| value(dtype, b)).collect();
        let single = t.astype(DType::F32).unwrap().to_vec::<f32>().unwrap();
        for (b, (x, want)) in single.iter().zip(&want).enumerate() {
            assert!(
                *x as f64 == *want && x.is_sign_negative() == want.is_sign_negative()
                    || x.is_nan() && want.is_nan(),
                "{dtype} {b:#x}: {x}"
            );
        }
        let numbers: Vec<usize> = (0..256).filter(|b| !want[*b].is_nan()).collect();
        let again = cast(&single, dtype);
        assert!(numbers.iter().all(|b| again[*b] as usize == *b), "{dtype}");
        for other in DType::ALL
            .into_iter()
            .filter(|d| d.is_available() && d.is_float() && !d.is_storage() && *d != DType::BF16)
        {
            let wide = t.astype(other).unwrap();
            assert!(
                floats(&wide)
                    .iter()
                    .zip(&want)
                    .all(|(x, y)| x == y || x.is_nan() && y.is_nan()),
                "{dtype} to {other}"
            );
            let again = bits(&wide.astype(dtype).unwrap());
            assert!(
                numbers.iter().all(|b| again[*b] as usize == *b),
                "{other} to {dtype}"
            );
        }
        let truth = t.astype(DType::Bool).unwrap().to_vec::<bool>().unwrap();
        assert!(
            truth.iter().zip(&want).all(|(t, x)| *t == (*x != 0.0)),
            "{dtype}"
        );
    }
    let across = bits(&all(DType::F8E5M2).astype(DType::F8E4M3).unwrap());
    for (b, got) in across.iter().enumerate() {
        // the sign of a NaN is unspecified
        let (x, sign) = (value(DType::F8E5M2, b as u8), 0x80);
        let want = nearest(DType::F8E4M3, x);
        assert!(
            *got == want || x.is_nan() && *got | sign == want | sign,
            "{b:#x}: {got:#x}, not {want:#x}"
        );
    }
}

#[test]
fn floats_round_to_nearest_even() {
    for dtype in FORMATS {
        let beside = |x: f64| {
            [-1, 0, 1].map(|by| {
                f64::from_bits((x.to_bits() as i64 + if x == 0.0 { 0 } else { by }) as u64)
            })
        };
        let singles = |x: f32| {
            [-1, 0, 1].map(|by| {
                f32::from_bits((x.to_bits() as i32 + if x == 0.0 { 0 } else { by }) as u32)
            })
        };
        let tiny = |x: f64| [x * 0.75, x * 1.25, x * 1e-3, x * 1e4];
        let special = [
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
            449.0,
            464.0,
            1e9,
            -1e9,
            65504.0,
            61439.9,
            3e38,
            1e-40,
        ];
        let x: Vec<f32> = boundaries(dtype)
            .into_iter()
            .flat_map(|x| singles(x as f32))
            .chain(special.map(|x| x as f32))
            .collect();
        let want: Vec<u8> = x.iter().map(|x| nearest(dtype, *x as f64)).collect();
        assert!(cast(&x, dtype) == want, "{dtype} of float32");
        // a broadcast value, and less than a block
        assert!(
            x.iter()
                .zip(&want)
                .all(|(x, want)| cast(&[*x], dtype) == [*want]),
            "{dtype} of one"
        );
        #[cfg(feature = "f64")]
        {
            let x: Vec<f64> = boundaries(dtype)
                .into_iter()
                .flat_map(|x| beside(x).into_iter().chain(tiny(x)))
                .collect();
            let x: Vec<f64> = x
                .into_iter()
                .chain(special)
                .chain([1e300, -1e300, 5e-324, 1e-300])
                .collect();
            let want: Vec<u8> = x.iter().map(|x| nearest(dtype, *x)).collect();
            assert!(cast(&x, dtype) == want, "{dtype} of float64");
        }
        let _ = (beside, tiny);
    }
}

#[cfg(feature = "ints")]
#[test]
fn integers_round_to_nearest_even() {
    for dtype in FORMATS {
        let near = boundaries(dtype)
            .into_iter()
            .filter(|x| x.abs() >= 1.0)
            .flat_map(|x| [-1, 0, 1].map(|by| x as i64 + by));
        let large = (0..63)
            .flat_map(|k| [-1, 0, 1].map(|by| (1i64 << k) + by))
            .flat_map(|x| [x, -x]);
        let x: Vec<i64> = near
            .chain(large)
            .chain(-300..300)
            .chain([i64::MIN, i64::MAX])
            .collect();
        let want = |x: &[i64]| {
            x.iter()
                .map(|x| nearest(dtype, *x as f64))
                .collect::<Vec<_>>()
        };
        assert!(cast(&x, dtype) == want(&x), "{dtype} of int64");
        macro_rules! narrower {
            ($($T:ty)*) => { $(
                let few: Vec<$T> = x.iter().filter_map(|x| <$T>::try_from(*x).ok()).collect();
                let wide: Vec<_> = few.iter().map(|x| *x as i64).collect();
                assert!(cast(&few, dtype) == want(&wide), "{dtype} of {}", <$T as Element>::DTYPE);
            )* };
        }
        narrower! { i8 i16 i32 u8 u16 u32 u64 }
        assert_eq!(cast(&[u64::MAX], dtype), [nearest(dtype, 1e19)]);
        assert_eq!(cast(&[false, true], dtype), [0, nearest(dtype, 1.0)]);
        // and back, as from float32
        let back = all(dtype)
            .astype(DType::I64)
            .unwrap()
            .to_vec::<i64>()
            .unwrap();
        assert!(
            back.iter()
                .enumerate()
                .all(|(b, n)| *n == value(dtype, b as u8) as i64),
            "{dtype} to int64"
        );
    }
}

#[test]
fn constants_and_equality_follow_the_format() {
    assert_eq!(
        [F8E4M3::EPSILON, F8E4M3::MAX, F8E4M3::MIN_POSITIVE].map(f64::from),
        [0.125, 448.0, 2f64.powi(-6)]
    );
    assert_eq!(
        [F8E5M2::EPSILON, F8E5M2::MAX, F8E5M2::MIN_POSITIVE].map(f64::from),
        [0.25, 57344.0, 2f64.powi(-14)]
    );
    assert!(
        F8E4M3::NAN.is_nan()
            && F8E5M2::NAN.is_nan()
            && F8E4M3::NAN != F8E4M3::NAN
            && !F8E5M2::from_bits(0x7c).is_nan()
    );
    assert_eq!(
        (F8E4M3::default(), F8E4M3::from_bits(0)),
        (F8E4M3::from_bits(0x80), F8E4M3::from_f32(-0.0))
    );
    assert_eq!(
        format!("{:?} {:?}", F8E4M3::MAX, F8E5M2::from_f32(-1e9)),
        "448.0 -inf"
    );
}

#[test]
fn float8_is_moved_but_not_computed_with() {
    let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])
        .unwrap()
        .astype(DType::F8E4M3)
        .unwrap();
    let wide = |t: &Tensor| t.astype(DType::F32).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(
        wide(&ops::concat(&[&x, &x.transpose(0, 1).unwrap()], Some(0)).unwrap()),
        [1.0, 2.0, 3.0, 4.0, 1.0, 3.0, 2.0, 4.0]
    );
    let mask = Tensor::from_slice(&[true, false], [2]).unwrap();
    assert_eq!(
        wide(&ops::where_(&mask, &x, 0.0).unwrap()),
        [1.0, 0.0, 3.0, 0.0]
    );
    assert_eq!(x.to_string(), "[[1., 2.],\n [3., 4.]]");
    let refused = |r: flex::Result<Tensor>| match r {
        Err(Error::DType { message, .. }) => message.to_string(),
        other => panic!("{other:?}"),
    };
    let y = Tensor::zeros([2, 2], DType::F8E5M2).unwrap();
    for r in [
        ops::add(&x, &x),
        ops::multiply(&x, 2.0),
        ops::equal(&x, &x),
        ops::exp(&x),
        ops::pow(&x, 2),
        ops::sum(&x, ()),
        ops::max(&x, ()),
        ops::any(&x, ()),
        ops::mean(&x, ()),
        ops::round_to(&x, 1),
        ops::matmul(&x, &x),
        ops::sort(&x, 0),
        ops::cumulative_sum(&x, 0),
        flex::nn::softmax(&x, 0),
    ] {
        let message = refused(r);
        if cfg!(feature = "messages") {
            assert!(
                message.contains("float8_e4m3fn") && message.contains("convert it with astype"),
                "{message}"
            );
        }
    }
    for other in DType::ALL
        .into_iter()
        .filter(|d| *d != DType::F8E4M3 && d.is_available())
    {
        let z = if other == y.dtype() {
            y.clone()
        } else {
            Tensor::zeros([2, 2], other).unwrap()
        };
        for r in [
            ops::add(&x, &z),
            ops::matmul(&z, &x),
            ops::concat(&[&x, &z], Some(0)),
        ] {
            let message = refused(r);
            assert!(
                !cfg!(feature = "messages") || message.contains("convert one with astype"),
                "{message}"
            );
        }
    }
}
