//! Numbers as elements of a dtype, and operators with them.

#[cfg(any(feature = "half", feature = "float8", feature = "complex"))]
use flex::DType;
use flex::{Scalar, Tensor};
use std::ops::SubAssign;

#[test]
fn numbers_of_all_types() {
    let x = Tensor::from([6.0f32, 9.0, 3.0]);
    assert_eq!((&x / x.len()).to_vec::<f32>().unwrap(), [2.0, 3.0, 1.0]);
    assert_eq!((&x - -1isize).to_vec::<f32>().unwrap(), [7.0, 10.0, 4.0]);
    assert_eq!(Scalar::from(usize::MAX), Scalar::Int(usize::MAX as i128));
    assert_eq!(Scalar::from(i128::MIN), Scalar::Int(i128::MIN));
    // a Scalar on the left is any number
    let k = 0.5f32;
    assert_eq!(
        (Scalar::from(k) * &x).to_vec::<f32>().unwrap(),
        [3.0, 4.5, 1.5]
    );
    assert_eq!(
        (Scalar::from(1u8) - x).to_vec::<f32>().unwrap(),
        [-5.0, -8.0, -2.0]
    );
}

/// Operators take the type of a literal from no annotation, also where a method follows.
#[test]
fn literals_on_the_left() {
    let x = Tensor::from([0.0f32]);
    assert_eq!((2.0 * &x).exp().unwrap().item::<f32>().unwrap(), 1.0);
    assert_eq!((2 + &x).exp2().unwrap().item::<f32>().unwrap(), 4.0);
    let k = 2.0;
    let y = k - &x;
    assert_eq!(y.square().unwrap().item::<f32>().unwrap(), 4.0);
}

#[cfg(feature = "half")]
#[test]
fn numbers_of_16_bits() {
    use flex::dtype::{bf16, f16};
    let x = Tensor::from([1.0f32, 2.0]);
    assert_eq!(
        (&x * f16::from_f32(0.5)).to_vec::<f32>().unwrap(),
        [0.5, 1.0]
    );
    assert_eq!(
        (&x + bf16::from_f32(256.0)).to_vec::<f32>().unwrap(),
        [257.0, 258.0]
    );
    assert_eq!(
        Scalar::from(f16::from_bits(1)),
        Scalar::Float(2f64.powi(-24))
    );
}

#[cfg(feature = "complex")]
#[test]
fn complex_numbers() {
    use flex::dtype::{Complex64, Complex128};
    let x = Tensor::from([1.0f32, 2.0]);
    let y = &x * Complex64::new(0.0, 1.0);
    assert_eq!(y.imag().unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!((&x + Complex128::new(1.0, 1.0)).dtype(), DType::Complex64);
}

/// A failed operator names the line of whoever used it.
#[test]
fn operators_panic_at_the_caller() {
    let (x, y) = (Tensor::from([1.0f32, 2.0]), Tensor::from([1.0f32; 3]));
    static LINE: std::sync::Mutex<(String, u32)> = std::sync::Mutex::new((String::new(), 0));
    let (me, others) = (std::thread::current().id(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| match info.location() {
        Some(l) if std::thread::current().id() == me => {
            *LINE.lock().unwrap() = (l.file().into(), l.line());
        }
        _ => others(info),
    }));
    type Case<'a> = &'a dyn Fn();
    let cases: [(u32, Case); 6] = [
        (line!(), &|| _ = &x + &y),
        (line!(), &|| _ = x.clone() * &y),
        (line!(), &|| _ = 1 % &Tensor::from([0])),
        (line!(), &|| x.clone().sub_assign(&y)),
        (line!(), &|| _ = -Tensor::from([true])),
        (line!(), &|| _ = !&x),
    ];
    for (line, f) in cases {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_err();
        let found = std::mem::take(&mut *LINE.lock().unwrap());
        assert_eq!(found, (file!().to_string(), line));
    }
    drop(std::panic::take_hook());
}

#[cfg(feature = "half")]
#[test]
fn numbers_round_once() {
    use flex::dtype::{bf16, f16};
    let half = |x: f64| {
        Scalar::Float(x)
            .value(DType::F16, "t")
            .unwrap()
            .get::<f16>()
            .unwrap()
            .to_bits()
    };
    assert_eq!(half(1.0 + 2f64.powi(-11) + 2f64.powi(-40)), 0x3c01);
    assert_eq!(half(1.0 + 2f64.powi(-11)), 0x3c00);
    assert_eq!(half(1.0 + 2f64.powi(-11) - 2f64.powi(-40)), 0x3c00);
    assert_eq!(half(-(1.0 + 2f64.powi(-11) + 2f64.powi(-40))), 0xbc01);
    assert_eq!((half(1e300), half(-0.0), half(1e-300)), (0x7c00, 0x8000, 0));
    let single = |x: i128| {
        Scalar::Int(x)
            .value(DType::F32, "t")
            .unwrap()
            .get::<f32>()
            .unwrap()
    };
    assert_eq!(
        single((1 << 60) + (1 << 36) + 1),
        2f32.powi(60) + 2f32.powi(37)
    );
    let bfloat16 = |x: i128| {
        Scalar::Int(x)
            .value(DType::BF16, "t")
            .unwrap()
            .get::<bf16>()
            .unwrap()
            .to_f64()
    };
    assert_eq!(
        bfloat16((1 << 60) + (1 << 52) + 1),
        2f64.powi(60) + 2f64.powi(53)
    );
    assert_eq!(bfloat16((1 << 60) + (1 << 52)), 2f64.powi(60));
}

#[cfg(feature = "float8")]
#[test]
fn numbers_round_once_and_go_beyond() {
    use flex::dtype::{F8E4M3, F8E5M2};
    let four = |s: Scalar| {
        s.value(DType::F8E4M3, "t")
            .unwrap()
            .get::<F8E4M3>()
            .unwrap()
            .to_bits()
    };
    let five = |s: Scalar| {
        s.value(DType::F8E5M2, "t")
            .unwrap()
            .get::<F8E5M2>()
            .unwrap()
            .to_bits()
    };
    let tie = 1.0 + 2f64.powi(-4);
    assert_eq!(
        [tie, tie + 2f64.powi(-40), -tie - 2f64.powi(-40)].map(|x| four(x.into())),
        [0x38, 0x39, 0xb9]
    );
    assert_eq!(
        [464.0, 464.0 + 2f64.powi(-30), -1e300, 1e-300].map(|x| four(x.into())),
        [0x7e, 0x7f, 0xff, 0]
    );
    assert_eq!(
        [61440.0 - 2f64.powi(-30), 61440.0, -1e300].map(|x| five(x.into())),
        [0x7b, 0x7c, 0xfc]
    );
    assert_eq!(
        [17, 1 << 20, -(1 << 40)].map(|x| four(Scalar::Int(x))),
        [0x58, 0x7f, 0xff]
    );
    assert!(Scalar::Complex(1.0, 2.0).value(DType::F8E4M3, "t").is_err());
    assert_eq!(
        [Scalar::Bool(true), Scalar::Int(3), 2.5.into()].map(|s| s.promote(DType::F8E5M2)),
        [DType::F8E5M2; 3]
    );
}
