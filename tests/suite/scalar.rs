//! Numbers as elements of a dtype.

use flex::{DType, Scalar};

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
