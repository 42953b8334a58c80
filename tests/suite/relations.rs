//! Relations that functions keep between arguments: order, symmetry, bounds. Through the operations,
//! so by their loops, fast paths and conversions, on the chosen instruction set.

use crate::common::{Rng, floats};
use flex::op::Op;
use flex::ops::{self, Arg};
use flex::{DType, Tensor, nn};

fn apply(op: Op, x: &Tensor) -> Tensor {
    ops::apply(op.row(), [Arg::Ref(x)]).unwrap()
}

/// Runs of neighbouring floats from random places on, sorted, and the same negated.
fn neighbours(dtype: DType, rng: &mut Rng) -> Tensor {
    let starts = (0..600).map(|k| match k % 3 {
        0 => rng.uniform(0.0, 1.0),
        1 => rng.uniform(0.0, 10.0),
        _ => (rng.uniform(-30.0, 4.6)).exp(),
    });
    let mut x: Vec<f64> = Vec::new();
    for start in starts {
        if dtype == DType::F64 {
            x.extend((0..32).map(|k| f64::from_bits(start.to_bits() + k)));
        } else {
            x.extend((0..32).map(|k| f32::from_bits((start as f32).to_bits() + k) as f64));
        }
    }
    // around the places where bodies change
    for edge in [
        0.25, 0.4375, 0.5, 0.55, 0.84375, 1.0, 1.25, 2.0, 10.0, 20.0, 87.0, 88.0, 104.0,
    ] {
        x.extend((-32..32).map(|k| edge * (1.0 + k as f64 * 6e-8)));
    }
    let minus: Vec<f64> = x.iter().map(|x| -x).collect();
    x.extend(minus);
    x.sort_by(f64::total_cmp);
    Tensor::from_slice(&x, [x.len()])
        .unwrap()
        .astype(dtype)
        .unwrap()
}

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// Functions that never decrease, not even by a rounding.
const INCREASING: &[Op] = &[
    Op::Exp,
    Op::Exp2,
    Op::Expm1,
    Op::Tanh,
    Op::Sinh,
    Op::Asinh,
    Op::Sigmoid,
    Op::Relu,
    Op::Relu6,
    Op::Selu,
    Op::Hardsigmoid,
    Op::Floor,
    Op::Ceil,
    Op::Trunc,
    Op::Round,
];

#[test]
fn increasing_functions_never_step_back() {
    let mut rng = Rng(31);
    for dtype in FLOATS.into_iter().filter(|d| d.is_available()) {
        let x = neighbours(dtype, &mut rng);
        let x64 = floats(&x);
        // float64 bodies of these are ratios or logarithms of rounded sums
        let wide = |op: &&Op| dtype != DType::F64 || !matches!(op, Op::Asinh | Op::Sinh);
        for op in INCREASING.iter().filter(wide) {
            let y = floats(&apply(*op, &x));
            for k in 1..y.len() {
                assert!(
                    y[k] >= y[k - 1],
                    "{op:?} {dtype}: {:e} at {:e}, {:e} at {:e}",
                    y[k - 1],
                    x64[k - 1],
                    y[k],
                    x64[k]
                );
            }
        }
    }
}

#[test]
fn odd_functions_are_odd_and_even_ones_even() {
    let odd = [
        Op::Tanh,
        Op::Sinh,
        Op::Asinh,
        Op::Sin,
        Op::Tan,
        Op::Atan,
        Op::Erf,
        Op::Tanhshrink,
        Op::Softsign,
        Op::Round,
        Op::Trunc,
    ];
    let even = [Op::Cos, Op::Cosh, Op::Abs, Op::Square];
    let mut rng = Rng(32);
    for dtype in FLOATS.into_iter().filter(|d| d.is_available()) {
        let x = neighbours(dtype, &mut rng);
        let minus = ops::negative(&x).unwrap();
        for (functions, sign) in [(&odd[..], -1.0), (&even[..], 1.0)] {
            for op in functions {
                let (y, z) = (floats(&apply(*op, &x)), floats(&apply(*op, &minus)));
                let same = y
                    .iter()
                    .zip(&z)
                    .all(|(y, z)| y.to_bits() == (sign * z).to_bits());
                assert!(same, "{op:?} {dtype}");
            }
        }
    }
}

#[test]
fn tanh_is_at_most_its_argument_and_tanhshrink_keeps_the_sign() {
    let mut rng = Rng(33);
    for dtype in FLOATS.into_iter().filter(|d| d.is_available()) {
        let x = neighbours(dtype, &mut rng);
        let (y, rest) = (
            floats(&apply(Op::Tanh, &x)),
            floats(&apply(Op::Tanhshrink, &x)),
        );
        for ((x, y), rest) in floats(&x).iter().zip(y).zip(rest) {
            assert!(
                y.abs() <= x.abs() && y.abs() <= 1.0,
                "tanh({x:e}) = {y:e} in {dtype}"
            );
            assert!(rest * x >= 0.0, "tanhshrink({x:e}) = {rest:e} in {dtype}");
        }
    }
}

#[test]
fn logits_and_targets_may_be_mirrored() {
    let mut rng = Rng(34);
    let none = nn::WithLogits {
        reduction: nn::Reduction::None,
        ..Default::default()
    };
    let mut z: Vec<f64> = (0..2000).map(|_| rng.uniform(-100.0, 100.0)).collect();
    z.extend([
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-30,
        88.0,
        -88.0,
        1e30,
    ]);
    // 1 - t is exact
    let t: Vec<f64> = (0..z.len()).map(|k| (k % 9) as f64 / 8.0).collect();
    for dtype in FLOATS.into_iter().filter(|d| d.is_available()) {
        let of = |x: &[f64]| {
            Tensor::from_slice(x, [x.len()])
                .unwrap()
                .astype(dtype)
                .unwrap()
        };
        let (z, t) = (of(&z), of(&t));
        let loss = |z: &Tensor, t: &Tensor| {
            floats(&nn::binary_cross_entropy_with_logits(z, t, none).unwrap())
        };
        let one = loss(&z, &t);
        let other = loss(
            &ops::negative(&z).unwrap(),
            &ops::subtract(1.0, &t).unwrap(),
        );
        let same = one
            .iter()
            .zip(&other)
            .all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{dtype}");
        // and they are the sum of two terms that don't cancel, in float64
        let digits = match dtype {
            DType::F16 => 1e-3,
            DType::BF16 => 8e-3,
            DType::F32 => 5e-7,
            _ => 1e-15,
        };
        for ((z, t), y) in floats(&z).iter().zip(floats(&t)).zip(one) {
            let soft = |x: f64| x.max(0.0) + libm::log1p(libm::exp(-x.abs()));
            let term = |p: f64, x: f64| if p == 0.0 { 0.0 } else { p * soft(x) };
            let want = term(1.0 - t, *z) + term(t, -z);
            let (least, most) = match dtype {
                DType::F16 => (1e-4, 6e4),
                DType::F64 => (1e-300, 1e300),
                _ => (1e-37, 3e38),
            };
            let close = (y - want).abs() <= digits * want;
            assert!(
                y == want || close || want < least || want > most,
                "({z:e}, {t}) = {y:e}, not {want:e} in {dtype}"
            );
        }
    }
}
