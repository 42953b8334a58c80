//! Activations against their formulas in float64.

use crate::common::ulp::ulps32;
use crate::common::{Rng, floats, indices, random};
use flex::op::Op;
use flex::ops::{self, Arg};
use flex::{DType, Scalar, Tensor, nn};

/// Ends of the range, kinks, ordinary numbers.
fn arguments() -> Vec<f32> {
    let mut rng = Rng(5);
    let ends = [
        0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 0.5, -0.5, 1e-30, -1e-30, 1e-40, -1e-40, 1e30, -1e30,
    ];
    let more = [
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN,
        88.0,
        -88.0,
        -104.0,
        20.0,
        -20.0,
    ];
    let ordinary =
        (0..60_000).map(|k| rng.uniform(-1.0, 1.0) as f32 * [0.1, 1.0, 8.0, 100.0][k % 4]);
    ends.into_iter().chain(more).chain(ordinary).collect()
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs())) + if x.is_nan() { x } else { 0.0 }
}
fn elu(x: f64, alpha: f64) -> f64 {
    if x < 0.0 { alpha * libm::expm1(x) } else { x }
}
fn gelu_slope(x: f64) -> f64 {
    let density = libm::exp(-0.5 * x * x) / (2.0 * core::f64::consts::PI).sqrt();
    0.5 * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2) + x * density
}
fn silu_slope(x: f64) -> f64 {
    let s = 1.0 / (1.0 + libm::exp(-x));
    s * (1.0 + x * (1.0 - s))
}
fn gelu_tanh_slope(x: f64) -> f64 {
    let root = (2.0 / core::f64::consts::PI).sqrt();
    let t = libm::tanh(root * (x + 0.044715 * x * x * x));
    0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * root * (1.0 + 3.0 * 0.044715 * x * x)
}
fn six(x: f64) -> f64 {
    if x.is_nan() { x } else { x.clamp(0.0, 6.0) }
}

/// The operation, its parameters, its definition, and the error bound of float32 in ulp; NaN stands
/// for a bound relative to the argument, where the formula cancels.
type Row = (Op, &'static [f64], fn(f64) -> f64, f64);
const ROWS: &[Row] = &[
    (Op::Relu6, &[], six, 0.0),
    (
        Op::LeakyRelu,
        &[0.25],
        |x| if x < 0.0 { 0.25 * x } else { x },
        0.5,
    ),
    (Op::Elu, &[1.0], |x| elu(x, 1.0), 2.5),
    (Op::Elu, &[1.5], |x| elu(x, 1.5), 3.0),
    (
        Op::Selu,
        &[],
        |x| 1.050_700_987_355_480_5 * elu(x, 1.673_263_242_354_377_3),
        4.0,
    ),
    (
        Op::Celu,
        &[2.0],
        |x| {
            if x < 0.0 {
                2.0 * libm::expm1(x / 2.0)
            } else {
                x
            }
        },
        2.5,
    ),
    (
        Op::Celu,
        &[-2.0],
        |x| {
            if x < 0.0 {
                -2.0 * libm::expm1(x / -2.0)
            } else {
                x
            }
        },
        2.5,
    ),
    (
        Op::Softplus,
        &[1.0, 20.0],
        |x| if x > 20.0 { x } else { softplus(x) },
        4.0,
    ),
    (
        Op::Softplus,
        &[2.0, 5.0],
        |x| {
            if 2.0 * x > 5.0 {
                x
            } else {
                softplus(2.0 * x) / 2.0
            }
        },
        4.0,
    ),
    (Op::LogSigmoid, &[], |x| -softplus(-x), 4.0),
    (
        Op::Mish,
        &[],
        |x| {
            let e = libm::exp(x.min(50.0));
            x * ((e * e + 2.0 * e) / (e * e + 2.0 * e + 2.0))
        },
        5.0,
    ),
    (Op::Hardsigmoid, &[], |x| six(x + 3.0) / 6.0, f64::NAN),
    (
        Op::Hardswish,
        &[],
        |x| x.max(-3.0) * six(x + 3.0) / 6.0,
        f64::NAN,
    ),
    (Op::Softsign, &[], |x| x / (1.0 + x.abs()), 1.5),
    (Op::Tanhshrink, &[], |x| x - libm::tanh(x), f64::NAN),
    (
        Op::Hardshrink,
        &[0.5],
        |x| if x.abs() <= 0.5 { 0.0 } else { x },
        0.0,
    ),
    (
        Op::Softshrink,
        &[0.5],
        |x| {
            if x.abs() <= 0.5 {
                0.0
            } else {
                x - 0.5 * x.signum()
            }
        },
        0.5,
    ),
    (
        Op::Threshold,
        &[0.5, 7.0],
        |x| if x <= 0.5 { 7.0 } else { x },
        0.0,
    ),
    (Op::Glu, &[0.0], |x| x * 0.5, 0.5),
    (
        Op::GeluGradient,
        &[-0.75],
        |x| x * gelu_slope(-0.75),
        f64::NAN,
    ),
    (
        Op::GeluTanhGradient,
        &[-0.75],
        |x| x * gelu_tanh_slope(-0.75),
        f64::NAN,
    ),
    (
        Op::SiluGradient,
        &[-0.75],
        |x| x * silu_slope(-0.75),
        f64::NAN,
    ),
    (Op::SigmoidGradient, &[0.25], |x| x * 0.1875, 0.5),
    (Op::TanhGradient, &[0.5], |x| x * 0.75, 0.5),
    (Op::ReluGradient, &[2.0], |x| x, 0.0),
    (Op::ReluGradient, &[-2.0], |_| 0.0, 0.0),
    (
        Op::LogisticCost,
        &[0.25, 0.75],
        |x| 0.25 * softplus(x) + 0.75 * softplus(-x),
        4.0,
    ),
    (
        Op::KlDivergence,
        &[0.5],
        |x| 0.5 * (libm::log(0.5) - x),
        f64::NAN,
    ),
    (Op::MultiplyAdd, &[1.5, 0.25], |x| x * 1.5 + 0.25, f64::NAN),
    (
        Op::SmoothL1,
        &[0.5, 2.0],
        |x| match (x - 0.5).abs() {
            d if d < 2.0 => d * d / 4.0,
            d => d - 1.0,
        },
        3.0,
    ),
    (
        Op::SquaredDifference,
        &[0.75],
        |x| (x - 0.75) * (x - 0.75),
        2.5,
    ),
];

fn apply(op: Op, x: &Tensor, parameters: &[f64]) -> flex::Result<Tensor> {
    let number = |k: usize| Arg::Scalar(Scalar::Float(parameters[k]));
    match parameters.len() {
        0 => ops::apply(op.row(), [Arg::Ref(x)]),
        1 => ops::apply(op.row(), [Arg::Ref(x), number(0)]),
        _ => ops::apply(op.row(), [Arg::Ref(x), number(0), number(1)]),
    }
}

#[test]
fn float32_is_within_its_bound() {
    let x = arguments();
    let t = Tensor::from_slice(&x, [x.len()]).unwrap();
    for (op, parameters, want, limit) in ROWS {
        let y = apply(*op, &t, parameters).unwrap().to_vec::<f32>().unwrap();
        for (x, y) in x.iter().zip(y) {
            let want = want(*x as f64);
            // an intermediate exponential may be subnormal, or a square may overflow
            let tiny = want.abs() < 1e-36 && (y as f64 - want).abs() <= 1e-42;
            if tiny || (*x as f64 * x.abs() as f64).abs() > 1e76 {
                continue;
            }
            let off = ulps32(y, want);
            // an intermediate sum cancels: the error is relative to the argument
            let near = limit.is_nan() && (y as f64 - want).abs() <= 4e-7 * x.abs().max(1.0) as f64;
            assert!(
                off == 0.0 || off <= *limit || near,
                "{op:?}({x:e}, {parameters:?}) = {y:e}, not {want:e}, {off} ulp"
            );
        }
    }
}

#[test]
fn other_floats_are_rounded_once() {
    let x = arguments();
    let t = Tensor::from_slice(&x, [x.len()]).unwrap();
    for dtype in [DType::F64, DType::F16, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available())
    {
        let narrow = t.astype(dtype).unwrap();
        let given = floats(&narrow);
        for (op, parameters, want, _) in ROWS {
            let y = apply(*op, &narrow, parameters).unwrap();
            assert_eq!(y.dtype(), dtype);
            let unit = match dtype {
                DType::F64 => 1e-14,
                DType::F16 => 6e-4,
                _ => 5e-3,
            };
            for (x, y) in given.iter().zip(floats(&y)) {
                let want = want(*x);
                let same = y == want || y.is_nan() && want.is_nan();
                let scale = want.abs().max(x.abs().min(1.0));
                let least = if dtype == DType::F16 { 6e-8 } else { 1e-38 };
                let beyond = dtype == DType::F16 && want.abs() > 6e4;
                assert!(
                    same || beyond || x.abs() > 1e20 || (y - want).abs() <= unit * scale + least,
                    "{op:?}({x:e}) = {y:e}, not {want:e}, {dtype}"
                );
            }
        }
    }
}

#[test]
fn parameters_may_be_tensors_and_strides_do_not_matter() {
    let mut rng = Rng(9);
    let x = random(&mut rng, &[6, 5], DType::F32);
    let slopes = Tensor::from([0.1f32, 0.2, 0.3, 0.4, 0.5]);
    let views = [
        x.clone(),
        x.flip(0).unwrap().flip(0).unwrap(),
        x.transpose(0, 1)
            .unwrap()
            .copy()
            .unwrap()
            .transpose(0, 1)
            .unwrap(),
    ];
    let by_weight = nn::prelu(&x, &slopes).unwrap().to_vec::<f32>().unwrap();
    for view in &views {
        let y = nn::leaky_relu(view, &slopes).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), by_weight);
    }
    let given = x.to_vec::<f32>().unwrap();
    for (k, i) in indices(&[6, 5]).into_iter().enumerate() {
        let slope = [0.1f32, 0.2, 0.3, 0.4, 0.5][i[1]];
        let want = if given[k] < 0.0 {
            slope * given[k]
        } else {
            given[k]
        };
        assert_eq!(by_weight[k], want);
    }
    let error = nn::prelu(&x, &Tensor::from([1.0f32, 2.0]))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("prelu: weight must have one element, or one for each of 5 channels"),
        "{error}"
    );
}

#[test]
fn glu_gates_halves() {
    let mut rng = Rng(10);
    let x = random(&mut rng, &[3, 4, 5], DType::F32);
    let (v, y) = (floats(&x), floats(&nn::glu(&x, 1).unwrap()));
    for (k, i) in indices(&[3, 2, 5]).into_iter().enumerate() {
        let at = |j: usize| v[(i[0] * 4 + j) * 5 + i[2]];
        let want = at(i[1]) / (1.0 + (-at(i[1] + 2)).exp());
        assert!((y[k] - want).abs() <= 1e-6 * want.abs().max(1e-30));
    }
    let error = nn::glu(&x, -1).unwrap_err().to_string();
    assert!(
        error.starts_with("glu: axis -1 has the odd size 5; it is cut in halves"),
        "{error}"
    );
}

#[test]
fn gumbel_softmax_samples_its_distribution() {
    let logits = Tensor::from([0.0f32, 1.0, -1.0]);
    let many = logits.broadcast_to([40_000, 3]).unwrap();
    let draw = |seed, hard| {
        let options = nn::Gumbel {
            hard,
            seed,
            ..Default::default()
        };
        nn::gumbel_softmax(&many, options).unwrap()
    };
    let hard = draw(3, true);
    assert_eq!(hard.shape(), [40_000, 3]);
    let shares = floats(&ops::mean(&hard, 0).unwrap());
    let wanted = super::softmax(&[0.0, 1.0, -1.0]);
    for (share, wanted) in shares.iter().zip(wanted) {
        assert!((share - wanted).abs() < 0.01, "{share} for {wanted}");
    }
    let soft = draw(3, false).to_vec::<f32>().unwrap();
    assert_eq!(soft, draw(3, false).to_vec::<f32>().unwrap());
    assert_ne!(soft, draw(4, false).to_vec::<f32>().unwrap());
    // the largest soft value is where the hard one is 1
    let soft = draw(3, false);
    assert_eq!(
        ops::argmax(&soft, 1).unwrap().to_vec::<i64>().unwrap(),
        ops::argmax(&hard, 1).unwrap().to_vec::<i64>().unwrap()
    );
    let bad = nn::Gumbel {
        tau: 0.0,
        ..Default::default()
    };
    let error = nn::gumbel_softmax(&many, bad).unwrap_err().to_string();
    assert_eq!(
        error,
        "gumbel_softmax: tau is 0.0; it must be positive and finite"
    );
}

#[test]
fn inverted_bounds_are_errors_and_empty_tensors_work() {
    let x = Tensor::from([1.0f32]);
    for error in [nn::hardtanh(&x, 1.0, -1.0), nn::rrelu(&x, 1.0, -1.0)] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains("must not be above"), "{error}");
    }
    let empty = Tensor::zeros([0, 4], DType::F32).unwrap();
    assert_eq!(nn::glu(&empty, 1).unwrap().shape(), [0, 2]);
    assert_eq!(nn::mish(&empty).unwrap().shape(), [0, 4]);
}

/// Tails, by mpmath: float32 within 4e-6 of their size (the square of the argument, rounded, is their
/// exponent), float64 within 1e-12.
#[test]
#[cfg(feature = "f64")]
#[expect(
    clippy::excessive_precision,
    reason = "figures to one digit more than a float has"
)]
fn tails_keep_their_relative_accuracy() {
    #[rustfmt::skip]
    let gelu = [
        (-4.5, -1.52895290612852718e-5), (-5.5, -1.04442593562382457e-7), (-8.0, -4.97676845941742730e-15),
        (-12.5, -4.66570537359714172e-35), (-30.0, -1.47201417814445611e-196), (-37.25, -1.97346357052290764e-302),
    ];
    #[rustfmt::skip]
    let slope = [
        (-4.5, -6.85291618563445746e-5), (-5.5, -5.7334723987399248e-7), (-8.0, -3.97960726108679599e-14),
        (-12.5, -5.83166855448015537e-34), (-30.0, -4.41603169070849447e-195), (-37.25, -7.35114419131640527e-301),
    ];
    #[rustfmt::skip]
    let by_tanh = [
        (-4.5, -5.13673741195864976e-6), (-5.5, -5.92764026388026203e-9), (-8.0, -3.10778293750111122e-21),
        (-9.75, -3.23204864139891897e-35), (-15.0, -1.55847699372740550e-114), (-20.5, -1.35029406016434662e-280),
    ];
    let slope_by_tanh = [
        (-5.5, -4.67655281080741526e-8),
        (-8.0, -4.71478450410684158e-20),
    ];
    let shrink = [
        (0.001953125, 2.4835230760858699e-9),
        (0.5, 0.0378828427399902415),
    ];
    let silu = [(-88.0, -5.32804966795304358e-37)];
    type Function = fn(&Tensor) -> flex::Result<Tensor>;
    let cases: [(&str, &[(f64, f64)], f64, Function); 6] = [
        ("gelu", &gelu, 4e-6, |x| ops::gelu(x)),
        ("gelu_tanh", &by_tanh, 2e-5, |x| ops::gelu_tanh(x)),
        ("grad.gelu", &slope, 5e-6, |x| {
            nn::grad::gelu(&ops::ones(x.shape(), x.dtype())?, x)
        }),
        ("grad.gelu_tanh", &slope_by_tanh, 2e-5, |x| {
            nn::grad::gelu_tanh(&ops::ones(x.shape(), x.dtype())?, x)
        }),
        ("tanhshrink", &shrink, 2e-5, |x| nn::tanhshrink(x)),
        ("silu", &silu, 4e-7, |x| ops::silu(x)),
    ];
    for (name, values, narrow, f) in cases {
        let x: Vec<f64> = values.iter().map(|(x, _)| *x).collect();
        let x = Tensor::from_slice(&x, [x.len()]).unwrap();
        for (dtype, bound) in [(DType::F32, narrow), (DType::F64, 1e-12)] {
            if !dtype.is_available() {
                continue;
            }
            let y = floats(&f(&x.astype(dtype).unwrap()).unwrap());
            for ((x, want), y) in values.iter().zip(y) {
                let none = dtype == DType::F32 && want.abs() < 1e-38;
                let close = (y - want).abs() <= bound * want.abs();
                assert!(
                    close || none && y.abs() < 1e-44,
                    "{name}({x}) = {y:e} in {dtype}, not {want:e}"
                );
            }
        }
    }
}

#[test]
fn activations_at_the_ends_of_the_range() {
    let (inf, most) = (f32::INFINITY, f32::MAX);
    let x = Tensor::from([-inf, -most, -2e38, 2e38, most, inf]);
    let cases: [(&str, Tensor, [f32; 6]); 7] = [
        (
            "hardswish",
            nn::hardswish(&x).unwrap(),
            [0.0, 0.0, 0.0, 2e38, most, inf],
        ),
        (
            "silu",
            ops::silu(&x).unwrap(),
            [0.0, 0.0, 0.0, 2e38, most, inf],
        ),
        (
            "gelu",
            ops::gelu(&x).unwrap(),
            [0.0, 0.0, 0.0, 2e38, most, inf],
        ),
        (
            "gelu_tanh",
            ops::gelu_tanh(&x).unwrap(),
            [0.0, 0.0, 0.0, 2e38, most, inf],
        ),
        (
            "mish",
            nn::mish(&x).unwrap(),
            [0.0, 0.0, 0.0, 2e38, most, inf],
        ),
        (
            "softsign",
            nn::softsign(&x).unwrap(),
            [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0],
        ),
        (
            "grad.silu",
            nn::grad::silu(&ops::ones([6], DType::F32).unwrap(), &x).unwrap(),
            [0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        ),
    ];
    for (name, y, want) in cases {
        assert_eq!(y.to_vec::<f32>().unwrap(), want, "{name}");
    }
}
