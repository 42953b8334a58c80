//! Bodies for ordinary arguments only, and bfloat16 loops made from float32 bodies: their bits
//! match the full ones.

use crate::common::*;
use flex::op::Op;
use flex::ops::{self, Arg};
use flex::{DType, Scalar, Tensor};

fn apply(op: Op, args: &[&Tensor]) -> flex::Result<Tensor> {
    match *args {
        [a] => ops::apply(op.row(), [Arg::Ref(a)]),
        [a, b] => ops::apply(op.row(), [Arg::Ref(a), Arg::Ref(b)]),
        _ => unreachable!(),
    }
}

/// The bytes of an operation's result.
fn bytes(op: Op, args: &[&Tensor]) -> Vec<u8> {
    let y = apply(op, args).unwrap();
    values(&y)
        .iter()
        .flat_map(|v| {
            if v.float().is_nan() {
                f64::NAN.to_bits().to_le_bytes()
            } else {
                v.float().to_bits().to_le_bytes()
            }
        })
        .collect()
}

#[test]
fn elements_do_not_depend_on_their_neighbours() {
    use Op::*;
    // Many loops recompute blocks with rare arguments: each element must be the same as alone.
    let rare = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        -2.5,
        1e-40,
        89.5,
        -103.5,
        720.0,
        -745.0,
        3e20,
        -3e20,
        1e-30,
        1e300,
    ];
    for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16]
        .into_iter()
        .filter(|d| d.is_available())
    {
        for n in [1, 17, 511, 512, 513, 1025] {
            let mut rng = Rng(n as u64);
            let mut numbers = |places: usize| -> Tensor {
                let mut x: Vec<Scalar> = (0..n)
                    .map(|_| (4.0 * rng.unit().abs() + 0.01).into())
                    .collect();
                for _ in 0..places {
                    x[rng.between(0, n - 1)] = rare[rng.between(0, rare.len() - 1)].into();
                }
                tensor(&x, &[n], dtype)
            };
            for places in [0, 1, 20] {
                let (a, b) = (numbers(places), numbers(places));
                let one = |t: &Tensor, k: usize| t.narrow(0, k, 1).unwrap();
                for op in [
                    Exp,
                    Log,
                    Sigmoid,
                    Silu,
                    Sin,
                    Pow,
                    Fmod,
                    Remainder,
                    FloorDivide,
                ] {
                    let args: &[&Tensor] = if op.arity() == 1 { &[&a] } else { &[&a, &b] };
                    let all = bytes(op, args);
                    for k in (0..n).filter(|k| n < 20 || k % 7 == 0) {
                        let (a, b) = (one(&a, k), one(&b, k));
                        let args: &[&Tensor] = if op.arity() == 1 { &[&a] } else { &[&a, &b] };
                        assert_eq!(
                            all[8 * k..8 * k + 8],
                            bytes(op, args),
                            "{op:?} of {dtype}, {n} elements, number {k}"
                        );
                    }
                }
            }
        }
    }
}

#[cfg(feature = "half")]
#[test]
fn bfloat16_is_float32_rounded_once() {
    use Op::*;
    use flex::op::Rule;
    let mut rng = Rng(7);
    let bits: Vec<u16> = (0..3000).map(|_| rng.next() as u16).collect();
    let make = |shift: usize| {
        let x: Vec<half::bf16> = (0..bits.len())
            .map(|k| half::bf16::from_bits(bits[(k + shift) % bits.len()]))
            .collect();
        Tensor::from_slice(&x, [x.len()]).unwrap()
    };
    let (a, b) = (make(0), make(1));
    let wide = |t: &Tensor| t.astype(DType::F32).unwrap();
    for op in [
        Add,
        Subtract,
        Multiply,
        Divide,
        Maximum,
        Minimum,
        Equal,
        NotEqual,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        Abs,
        Square,
        Relu,
        Negative,
    ] {
        let (narrow, wide): (Vec<&Tensor>, Vec<Tensor>) = match op.arity() {
            1 => (vec![&a], vec![wide(&a)]),
            _ => (vec![&a, &b], vec![wide(&a), wide(&b)]),
        };
        let y = apply(op, &wide.iter().collect::<Vec<_>>()).unwrap();
        let y = if op.rule() == Rule::Bool {
            y
        } else {
            y.astype(DType::BF16).unwrap()
        };
        let x = apply(op, &narrow).unwrap();
        assert_eq!(x.dtype(), y.dtype());
        for (k, (x, y)) in values(&x).iter().zip(values(&y)).enumerate() {
            assert!(
                *x == y || x.float().is_nan() && y.float().is_nan(),
                "{op:?}, element {k}: {x:?}, not {y:?}"
            );
        }
    }
    // A scalar operand is rounded to bfloat16 first.
    let x = ops::multiply(&a, 0.1).unwrap();
    let y = ops::multiply(wide(&a), half::bf16::from_f32(0.1).to_f32())
        .unwrap()
        .astype(DType::BF16)
        .unwrap();
    assert!(
        floats(&x)
            .iter()
            .zip(floats(&y))
            .all(|(x, y)| *x == y || x.is_nan() && y.is_nan())
    );
}

#[cfg(feature = "i64")]
#[test]
fn integers_of_64_bits_divide_exactly() {
    // around the magnitudes up to which floats divide, and at the ends; alone among small ones, and
    // everywhere
    let edges = [
        1i64 << 51,
        1 << 52,
        1 << 53,
        (1 << 53) + 1,
        i64::MAX,
        94_906_267 * 94_906_265,
        (1 << 51) - 3,
    ];
    let mut large: Vec<i64> = edges
        .iter()
        .flat_map(|e| [e - 2, e - 1, *e, -*e, 1 - *e])
        .collect();
    large.extend([i64::MIN, i64::MIN + 1]);
    let mut rng = Rng(51);
    for share in [0, 1, 50, 100] {
        for n in [1usize, 3, 511, 1030] {
            let mut numbers = |small: i64| -> Vec<i64> {
                (0..n)
                    .map(|_| match rng.between(0, 99) < share {
                        true => large[rng.between(0, large.len() - 1)],
                        false => rng.next() as i64 % small,
                    })
                    .map(|v| if v == 0 { 1 } else { v })
                    .collect()
            };
            let (a, b) = (numbers(1 << 51), numbers(1 << 20));
            let floor =
                |a: i128, b: i128| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
            let (x, y) = (
                Tensor::from_slice(&a, [n]).unwrap(),
                Tensor::from_slice(&b, [n]).unwrap(),
            );
            let results = |op, x: &Tensor, y: &Tensor| apply(op, &[x, y]).unwrap();
            for (op, expected) in [
                (
                    Op::FloorDivide,
                    (|_, _, q| q) as fn(i128, i128, i128) -> i128,
                ),
                (Op::Remainder, |a, b, q| a - b * q),
                (Op::Fmod, |a, b, _| a % b),
            ] {
                let what = |k: usize| format!("{op:?}({}, {}), {n} elements", a[k], b[k]);
                for (k, z) in results(op, &x, &y)
                    .to_vec::<i64>()
                    .unwrap()
                    .into_iter()
                    .enumerate()
                {
                    let (a, b) = (a[k] as i128, b[k] as i128);
                    assert_eq!(z, expected(a, b, floor(a, b)) as i64, "{}", what(k));
                }
                // by a scalar
                for k in [0, n / 2] {
                    let d = Tensor::from_slice(&[b[k]], [1]).unwrap();
                    for (i, z) in results(op, &x, &d)
                        .to_vec::<i64>()
                        .unwrap()
                        .into_iter()
                        .enumerate()
                    {
                        let (a, b) = (a[i] as i128, b[k] as i128);
                        assert_eq!(z, expected(a, b, floor(a, b)) as i64, "{op:?}({a}, {b})");
                    }
                }
                #[cfg(feature = "ints")]
                {
                    let bits = |v: &[i64]| v.iter().map(|v| *v as u64).collect::<Vec<_>>();
                    let (p, q) = (bits(&a), bits(&b));
                    let (x, y) = (
                        Tensor::from_slice(&p, [n]).unwrap(),
                        Tensor::from_slice(&q, [n]).unwrap(),
                    );
                    for (k, z) in results(op, &x, &y)
                        .to_vec::<u64>()
                        .unwrap()
                        .into_iter()
                        .enumerate()
                    {
                        let (a, b) = (p[k] as i128, q[k] as i128);
                        assert_eq!(z, expected(a, b, a / b) as u64, "{op:?}({a}, {b})");
                    }
                }
            }
        }
    }
}
