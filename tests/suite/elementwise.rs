//! Every operation of the list x every dtype against a naive oracle.

use crate::common::*;
use flex::op::{Op, Rule};
use flex::ops::{self, Arg};
use flex::{DType, Error, Tensor};

fn apply(op: Op, args: &[&Tensor]) -> flex::Result<Tensor> {
    let row = op.row();
    match *args {
        [a] => ops::apply(row, [Arg::Ref(a)]),
        [a, b] => ops::apply(row, [Arg::Ref(a), Arg::Ref(b)]),
        [a, b, c] => ops::apply(row, [Arg::Ref(a), Arg::Ref(b), Arg::Ref(c)]),
        _ => unreachable!(),
    }
}

/// The dtypes that an operation refuses: the documented errors.
fn undefined(op: Op, d: DType) -> bool {
    use Op::*;
    let ordered_only = op.is_in_nn()
        || matches!(
            op,
            Maximum
                | Minimum
                | Clip
                | Less
                | LessEqual
                | Greater
                | GreaterEqual
                | FloorDivide
                | Remainder
                | Fmod
                | Floor
                | Ceil
                | Trunc
                | Signbit
                | Copysign
                | Nextafter
                | Hypot
                | Atan2
                | Logaddexp
                | Erf
                | Erfc
                | Sigmoid
                | Relu
                | Gelu
                | GeluTanh
                | Silu
                | Rsqrt
        );
    let bits = matches!(op, BitwiseAnd | BitwiseOr | BitwiseXor | BitwiseInvert);
    let shifts = matches!(op, BitwiseLeftShift | BitwiseRightShift);
    let on_bool = op.rule() == Rule::Float
        || bits
        || op.rule() == Rule::Select
        || matches!(
            op,
            Maximum
                | Minimum
                | Equal
                | NotEqual
                | Less
                | LessEqual
                | Greater
                | GreaterEqual
                | Isfinite
                | Isinf
                | Isnan
                | LogicalAnd
                | LogicalOr
                | LogicalXor
                | LogicalNot
        );
    (!d.is_available() || d.is_storage()) && op.rule() != Rule::Select
        || d.is_complex() && (ordered_only || bits || shifts)
        || d.is_float() && (bits || shifts)
        || d.is_bool() && !on_bool
}

#[test]
fn every_operation_computes_or_refuses_every_dtype() {
    for op in Op::ALL.iter().copied() {
        for d in DType::ALL {
            if !d.is_available() {
                let Err(Error::DType { message, .. }) =
                    Tensor::zeros([3], d).and_then(|x| apply(op, &vec![&x; op.arity()]))
                else {
                    if op.rule() == Rule::Select {
                        continue;
                    }
                    panic!("{} {d}", op.name())
                };
                assert!(
                    message.contains("feature") || op.rule() == Rule::Select,
                    "{message}"
                );
                continue;
            }
            let x = Tensor::scalar(
                if d.is_bool() {
                    flex::Scalar::Bool(true)
                } else {
                    flex::Scalar::Int(1)
                },
                d,
            )
            .unwrap()
            .broadcast_to([5])
            .unwrap();
            let c = Tensor::from_slice(&[true, false, true, false, true], [5]).unwrap();
            let mut args = vec![&x; op.arity()];
            if op.rule() == Rule::Select {
                args[0] = &c;
            }
            match apply(op, &args) {
                Ok(y) => {
                    assert!(!undefined(op, d), "{} computes {d}", op.name());
                    let common = if op.rule() == Rule::Float {
                        d.inexact()
                    } else {
                        d
                    };
                    let want = match op.rule() {
                        Rule::Bool => DType::Bool,
                        Rule::Real => common.real(),
                        _ => common,
                    };
                    assert_eq!(
                        (y.dtype(), y.shape()),
                        (want, &[5][..]),
                        "{} {d}",
                        op.name()
                    );
                }
                Err(Error::DType { op: name, message }) => {
                    assert!(undefined(op, d), "{} refuses {d}: {message}", op.name());
                    assert_eq!(name, op.name());
                    assert!(message.contains(d.name()), "{message}");
                }
                Err(e) => panic!("{} {d}: {e}", op.name()),
            }
        }
    }
}

/// The result of a binary operation on integers; `None` if the oracle doesn't define it.
fn integer(op: Op, a: i128, b: i128, d: DType) -> Option<i128> {
    use Op::*;
    let width = 8 * d.size() as i128;
    Some(match op {
        Add => wrap(a + b, d),
        Subtract => wrap(a - b, d),
        Multiply => wrap(a.wrapping_mul(b), d),
        FloorDivide => wrap(a.div_euclid(b) - (b < 0 && a.rem_euclid(b) != 0) as i128, d),
        Remainder => {
            let r = a % b;
            if r != 0 && (r < 0) != (b < 0) {
                r + b
            } else {
                r
            }
        }
        Fmod => a % b,
        Pow => {
            let mut y = 1i128;
            for _ in 0..b.min(300) {
                y = wrap(y.wrapping_mul(a), d)
            }
            if b > 300 {
                return None;
            }
            y
        }
        Maximum => a.max(b),
        Minimum => a.min(b),
        BitwiseAnd => a & b,
        BitwiseOr => a | b,
        BitwiseXor => a ^ b,
        BitwiseLeftShift => {
            if (0..width).contains(&b) {
                wrap(a << b, d)
            } else {
                0
            }
        }
        BitwiseRightShift => {
            if (0..width).contains(&b) {
                a >> b
            } else if a < 0 {
                -1
            } else {
                0
            }
        }
        Equal => (a == b) as i128,
        NotEqual => (a != b) as i128,
        Less => (a < b) as i128,
        LessEqual => (a <= b) as i128,
        Greater => (a > b) as i128,
        GreaterEqual => (a >= b) as i128,
        LogicalAnd => (a != 0 && b != 0) as i128,
        LogicalOr => (a != 0 || b != 0) as i128,
        LogicalXor => ((a != 0) != (b != 0)) as i128,
        _ => return None,
    })
}
fn integer_unary(op: Op, a: i128, d: DType) -> Option<i128> {
    use Op::*;
    Some(match op {
        Negative => wrap(-a, d),
        Abs => wrap(a.abs(), d),
        Sign => a.signum(),
        Square => wrap(a.wrapping_mul(a), d),
        Positive | Floor | Ceil | Trunc | Round | Conj | RealPart => a,
        ImagPart | Isnan | Isinf => 0,
        Isfinite => 1,
        Relu => a.max(0),
        BitwiseInvert => wrap(!a, d),
        Signbit => (a < 0) as i128,
        LogicalNot => (a == 0) as i128,
        _ => return None,
    })
}
fn float_unary(op: Op, x: f64) -> Option<f64> {
    use Op::*;
    let flag = |b: bool| b as u8 as f64;
    Some(match op {
        Negative => -x,
        Abs => x.abs(),
        Sign if x == 0.0 => 0.0,
        Sign => x.signum() * if x.is_nan() { f64::NAN } else { 1.0 },
        Square => x * x,
        Positive | Conj | RealPart => x,
        Reciprocal => 1.0 / x,
        Sqrt => x.sqrt(),
        Rsqrt => 1.0 / x.sqrt(),
        Signbit => flag(x.is_sign_negative()),
        Floor => x.floor(),
        Ceil => x.ceil(),
        Trunc => x.trunc(),
        Round => x.round_ties_even(),
        Exp => x.exp(),
        Exp2 => x.exp2(),
        Expm1 => x.exp_m1(),
        Log => x.ln(),
        Log1p => x.ln_1p(),
        Log2 => x.log2(),
        Log10 => x.log10(),
        Sin => x.sin(),
        Cos => x.cos(),
        Tan => x.tan(),
        Asin => x.asin(),
        Acos => x.acos(),
        Atan => x.atan(),
        Sinh => x.sinh(),
        Cosh => x.cosh(),
        Tanh => x.tanh(),
        Asinh => libm::asinh(x),
        Acosh => libm::acosh(x),
        Atanh => libm::atanh(x),
        Erf => libm::erf(x),
        Erfc => libm::erfc(x),
        Sigmoid => {
            if x >= 0.0 {
                1.0 / (1.0 + (-x).exp())
            } else {
                x.exp() / (1.0 + x.exp())
            }
        }
        Relu => {
            if x.is_nan() || x > 0.0 {
                x
            } else {
                0.0
            }
        }
        Isfinite => flag(x.is_finite()),
        Isinf => flag(x.is_infinite()),
        Isnan => flag(x.is_nan()),
        LogicalNot => flag(x == 0.0),
        _ => return None,
    })
}
fn float_binary(op: Op, a: f64, b: f64) -> Option<f64> {
    use Op::*;
    let flag = |b: bool| b as u8 as f64;
    let nan = a.is_nan() || b.is_nan();
    Some(match op {
        Add => a + b,
        Subtract => a - b,
        Multiply => a * b,
        Divide => a / b,
        Fmod => libm::fmod(a, b),
        Maximum => {
            if nan {
                f64::NAN
            } else {
                a.max(b)
            }
        }
        Minimum => {
            if nan {
                f64::NAN
            } else {
                a.min(b)
            }
        }
        Copysign => a.copysign(b),
        Hypot => libm::hypot(a, b),
        Atan2 => a.atan2(b),
        Pow => libm::pow(a, b),
        Equal => flag(a == b),
        NotEqual => flag(a != b),
        Less => flag(a < b),
        LessEqual => flag(a <= b),
        Greater => flag(a > b),
        GreaterEqual => flag(a >= b),
        LogicalAnd => flag(a != 0.0 && b != 0.0),
        LogicalOr => flag(a != 0.0 || b != 0.0),
        LogicalXor => flag((a != 0.0) != (b != 0.0)),
        _ => return None,
    })
}

/// Every pair of special values, as two tensors.
fn pairs(d: DType) -> (Tensor, Tensor, usize) {
    let s = special(d);
    let n = s.len();
    let a: Vec<_> = (0..n * n).map(|i| s[i / n]).collect();
    let b: Vec<_> = (0..n * n).map(|i| s[i % n]).collect();
    (tensor(&a, &[n, n], d), tensor(&b, &[n, n], d), n * n)
}

#[test]
fn integers_and_bools_agree_with_the_oracle() {
    for d in DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && (d.is_integer() || d.is_bool()))
    {
        let (a, b, n) = pairs(d);
        let (av, bv) = (values(&a), values(&b));
        for op in Op::ALL.iter().copied().filter(|o| o.rule() != Rule::Float) {
            let (want, got): (Vec<_>, _) = if op.arity() == 1 {
                (
                    av.iter().map(|x| integer_unary(op, x.int(), d)).collect(),
                    apply(op, &[&a]),
                )
            } else if op.arity() == 2 {
                // zero divisors and negative exponents are errors of their own
                let fit = |x: &Value| match op {
                    Op::FloorDivide | Op::Remainder | Op::Fmod => x.int() != 0,
                    Op::Pow => x.int() >= 0,
                    _ => true,
                };
                let safe: Vec<flex::Scalar> = bv
                    .iter()
                    .map(|x| if fit(x) { x.int() } else { 1 })
                    .map(|x| {
                        if d.is_bool() {
                            flex::Scalar::Bool(x != 0)
                        } else {
                            flex::Scalar::Int(x)
                        }
                    })
                    .collect();
                let b = tensor(&safe, b.shape(), d);
                (
                    av.iter()
                        .zip(values(&b))
                        .map(|(x, y)| integer(op, x.int(), y.int(), d))
                        .collect(),
                    apply(op, &[&a, &b]),
                )
            } else {
                continue;
            };
            let Ok(got) = got else { continue };
            let bool_bits = d.is_bool() && op == Op::BitwiseInvert;
            for (i, (w, g)) in want.iter().zip(values(&got)).enumerate() {
                if let (Some(w), false) = (w, bool_bits) {
                    assert_eq!(g.int(), *w, "{} {d} of {:?} {:?}", op.name(), av[i], bv[i]);
                }
            }
            assert_eq!(got.len(), n);
        }
    }
    let x = Tensor::from_slice(&[true, false], [2]).unwrap();
    assert_eq!(
        ops::bitwise_invert(&x).unwrap().to_vec::<bool>().unwrap(),
        [false, true]
    );
}

#[test]
fn floats_agree_with_the_oracle() {
    for d in DType::ALL
        .into_iter()
        .filter(|d| d.is_available() && d.is_float() && !d.is_storage())
    {
        let (a, b, _) = pairs(d);
        let (av, bv) = (floats(&a), floats(&b));
        for op in Op::ALL.iter().copied().filter(|o| o.arity() < 3) {
            let want: Vec<_> = if op.arity() == 1 {
                av.iter().map(|x| float_unary(op, *x)).collect()
            } else {
                av.iter()
                    .zip(&bv)
                    .map(|(x, y)| float_binary(op, *x, *y))
                    .collect()
            };
            if want[0].is_none() {
                continue;
            }
            let got = if op.arity() == 1 {
                apply(op, &[&a])
            } else {
                apply(op, &[&a, &b])
            }
            .unwrap();
            // the oracle's result, rounded to the dtype
            let rounded = |x: f64| match d {
                DType::F16 => half::f16::from_f64(x).to_f64(),
                DType::BF16 => half::bf16::from_f64(x).to_f64(),
                DType::F32 => x as f32 as f64,
                _ => x,
            };
            let tiny = match d {
                DType::F16 => 2f64.powi(-24),
                DType::BF16 | DType::F32 => 1e-44,
                _ => 1e-323,
            };
            for (i, (w, g)) in want.iter().zip(floats(&got)).enumerate() {
                let w = rounded(w.unwrap());
                // which of two zeros is the larger is unspecified
                let signed = op.rule() != Rule::Bool && !matches!(op, Op::Maximum | Op::Minimum);
                assert!(
                    close(g, w, 4.0 * epsilon(d), tiny)
                        && (w != 0.0 || !signed || g.is_sign_negative() == w.is_sign_negative()),
                    "{} {d} of {:?} {:?}: {g:?}, not {w:?}",
                    op.name(),
                    av[i],
                    bv[i]
                );
            }
        }
    }
}
