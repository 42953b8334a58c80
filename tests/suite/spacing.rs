//! Evenly spaced numbers.

use crate::common::{Value, close, epsilon, floats, values};
use flex::ops::{self, Linspace};
use flex::{DType, Scalar, Tensor};

#[test]
fn ranges_are_exact_and_rounded_once() {
    for dtype in DType::ALL.into_iter().filter(|d| d.is_integer()) {
        let y = ops::arange(3, 100, 7, dtype).unwrap();
        assert_eq!(
            values(&y),
            (3..100).step_by(7).map(Value::Int).collect::<Vec<_>>(),
            "{dtype}"
        );
    }
    let top = u64::MAX as i128;
    let y = ops::arange(Scalar::Int(top - 5), Scalar::Int(top + 1), 2, DType::U64).unwrap();
    assert_eq!(
        y.to_vec::<u64>().unwrap(),
        [u64::MAX - 5, u64::MAX - 3, u64::MAX - 1]
    );
    let y = ops::arange(5, -6, -5, DType::I8).unwrap();
    assert_eq!(y.to_vec::<i8>().unwrap(), [5, 0, -5]);
    assert_eq!(ops::arange(5, 0, 1, None).unwrap().shape(), [0]);
    // integers beyond int64, as floats
    let y = ops::arange(
        Scalar::Int(1 << 63),
        Scalar::Int(1 << 65),
        Scalar::Int(1 << 63),
        DType::F32,
    )
    .unwrap();
    assert_eq!(
        y.to_vec::<f32>().unwrap(),
        [2f32.powi(63), 2f32.powi(64), 3.0 * 2f32.powi(63)]
    );
    let y = ops::arange(
        Scalar::Int(0),
        Scalar::Int(-1 << 70),
        Scalar::Int(-(1 << 69)),
        DType::F32,
    )
    .unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [0.0, -2f32.powi(69)]);
    assert_eq!(
        ops::arange(0, 3, 1, DType::F16).unwrap().dtype(),
        DType::F16
    );
    let y = ops::arange(0.1, 1000.0, 0.1, DType::F32)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!(
        y.iter()
            .enumerate()
            .all(|(i, x)| *x == (0.1 + i as f64 * 0.1) as f32)
    );

    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let y = ops::linspace(
            -1,
            2,
            Linspace {
                dtype: Some(dtype),
                ..31.into()
            },
        )
        .unwrap();
        assert_eq!(
            (y.len(), floats(&y)[0], floats(&y)[30]),
            (31, -1.0, 2.0),
            "{dtype}"
        );
        assert!(
            floats(&y).iter().enumerate().all(|(i, x)| close(
                *x,
                (i as f64 - 10.0) / 10.0,
                epsilon(dtype),
                1e-16
            )),
            "{dtype}"
        );
    }
    let y = ops::linspace(Scalar::Complex(0.0, 1.0), 1, 2).unwrap();
    assert_eq!(
        values(&y),
        [Value::Complex(0.0, 1.0), Value::Complex(1.0, 0.0)]
    );
    assert_eq!(
        ops::linspace(3, 4, 1).unwrap().to_vec::<f32>().unwrap(),
        [3.0]
    );
    assert_eq!(
        ops::linspace(
            3,
            4,
            Linspace {
                endpoint: false,
                ..0.into()
            }
        )
        .unwrap()
        .shape(),
        [0]
    );
}

#[test]
#[cfg(all(feature = "half", feature = "f64"))]
fn linspace_rounds_once() {
    // just above the middle of 1 and the next float16, which float32 doesn't tell from the middle
    let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    for dtype in [DType::F16, DType::BF16] {
        let options = Linspace {
            dtype: Some(dtype),
            ..1.into()
        };
        let x = ops::linspace(above, 2.0, options).unwrap();
        let cast = Tensor::from_slice(&[above], [1]).unwrap();
        let values = |t: &Tensor| t.astype(DType::F64).unwrap().to_vec::<f64>().unwrap();
        assert_eq!(values(&x), values(&cast.astype(dtype).unwrap()));
    }
}

#[test]
#[cfg(all(feature = "complex", feature = "f64"))]
fn linspace_spans_the_range_and_rounds_once() {
    let f64s = |a: f64, b: f64, count: usize| {
        let how = ops::Linspace {
            count,
            dtype: Some(DType::F64),
            ..Default::default()
        };
        ops::linspace(a, b, how).unwrap().to_vec::<f64>().unwrap()
    };
    assert_eq!(f64s(-1e308, 1e308, 3), [-1e308, 0.0, 1e308]);
    assert_eq!(
        f64s(f64::MIN, f64::MAX, 5)[1..4],
        [f64::MIN / 2.0, 0.0, f64::MAX / 2.0]
    );
    let how = ops::Linspace {
        count: 3,
        dtype: Some(DType::Complex128),
        ..Default::default()
    };
    let (a, b) = (
        Scalar::Complex(-1e308, 1e308),
        Scalar::Complex(1e308, -1e308),
    );
    let y = ops::linspace(a, b, how).unwrap();
    assert_eq!(
        ops::real(&y).unwrap().to_vec::<f64>().unwrap(),
        [-1e308, 0.0, 1e308]
    );
    assert_eq!(
        ops::imag(&y).unwrap().to_vec::<f64>().unwrap(),
        [1e308, 0.0, -1e308]
    );
    // integers of 128 bits: what is nearest to i / n, and to (3 i - n) / n, by comparing remainders
    for n in [3u32, 7, 10, 49, 93, 1000, 99_999] {
        for (a, b) in [(0i128, 1i128), (-1, 2), (5, -7)] {
            let y = f64s(a as f64, b as f64, n as usize + 1);
            for (i, y) in y.into_iter().enumerate() {
                let top = a * (i128::from(n) - i as i128) + b * i as i128;
                // both are exact in float64, so that their quotient is rounded once
                assert_eq!(y, top as f64 / n as f64, "{a}, {b}, {i} of {n}");
            }
        }
    }
    // tenths are no binary fractions: 0.1 (1 - 2 i / n) is 0 in the middle, and odd around it
    let y = f64s(-0.1, 0.1, 1001);
    assert_eq!(y[500], 0.0);
    assert!((0..500).all(|i| y[i] == -y[1000 - i]));
    let y = ops::arange(-1e308, 1e308, 1e307, DType::F64).unwrap();
    let y = y.to_vec::<f64>().unwrap();
    assert_eq!((y.len(), y[0], y[10].abs() < 1e293), (20, -1e308, true));
    assert!((y[19] - 9e307).abs() < 1e293);
}

#[test]
fn steps_of_linspace() {
    let step = |a: f64, b: f64, count: usize, endpoint| {
        let how = Linspace {
            endpoint,
            ..count.into()
        };
        how.step(a, b, DType::F64).unwrap().item::<f64>().unwrap()
    };
    assert_eq!(step(0.0, 1.0, 5, true), 0.25);
    assert_eq!(step(0.0, 1.0, 5, false), 0.2);
    assert_eq!(step(-1.7e308, 1.7e308, 3, true), 1.7e308);
    assert!(step(0.0, 1.0, 1, true).is_nan() && step(0.0, 1.0, 0, false).is_nan());
    assert_eq!(step(2.0, 5.0, 1, false), 3.0);
}
