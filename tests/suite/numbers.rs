//! Numbers beside tensors: a number is what a tensor filled with it is, and comparisons of integers
//! with numbers are exact, in range or not.

use crate::common::*;
use core::cmp::Ordering;
use flex::op::{Op, Rule};
#[cfg(feature = "std")]
use flex::stream::{Argument, Graph, Operand, Rounding, Stream};
use flex::{DType, Scalar, Tensor, ops, ops::Arg, ops::Side};

fn apply(op: Op, args: &[Arg]) -> flex::Result<Tensor> {
    match args {
        [a, b] => ops::apply(op.row(), [a.clone(), b.clone()]),
        [a, b, c] => ops::apply(op.row(), [a.clone(), b.clone(), c.clone()]),
        _ => unreachable!(),
    }
}
/// The elements, where every NaN is the same and zeros of both signs differ.
fn seen(x: &flex::Result<Tensor>) -> String {
    match x {
        Ok(x) => format!("{} {:?} {:?}", x.dtype(), x.shape(), values(x)),
        Err(e) => e.to_string(),
    }
}
fn available(dtypes: impl Fn(DType) -> bool) -> impl Iterator<Item = DType> {
    let all = DType::ALL.into_iter();
    all.filter(move |d| d.is_available() && !d.is_storage() && dtypes(*d))
}

#[test]
fn a_number_is_a_tensor_filled_with_it() {
    let mut rng = Rng(31);
    let operations = || Op::ALL.iter().copied().filter(|op| op.arity() > 1);
    for dtype in available(|d| d.is_float() || d.is_complex()) {
        for op in operations().filter(|op| (op.row().lookup)(dtype).is_some()) {
            let n = 19;
            let mut given: Vec<Tensor> = (0..3).map(|_| random(&mut rng, &[n], dtype)).collect();
            let first = (op.rule() == Rule::Select) as usize;
            if first == 1 {
                given[0] = random(&mut rng, &[n], DType::Bool);
            }
            // neither 16-bit floats nor float32 have these; 257 is one more than bfloat16 has
            for c in [0.1, 1.0 / 3.0, 257.0, -0.7, 1e-3, 6.02e23] {
                for at in first..op.arity() {
                    let whole = ops::full([n], c, dtype).unwrap();
                    let operand = |k: usize, c: Arg<'static>| match k == at {
                        true => c,
                        false => Arg::Own(given[k].clone()),
                    };
                    let with = |c: Arg<'static>| -> Vec<Arg<'static>> {
                        (0..op.arity()).map(|k| operand(k, c.clone())).collect()
                    };
                    let (numbers, tensors) = (with(Arg::from(c)), with(Arg::Own(whole)));
                    let expected = seen(&apply(op, &tensors));
                    let borrowed: Vec<Arg> = numbers
                        .iter()
                        .map(|a| match a {
                            Arg::Own(t) => Arg::Ref(t),
                            other => other.clone(),
                        })
                        .collect();
                    let what = format!("{op:?} {dtype} {c} at {at}");
                    assert_eq!(seen(&apply(op, &borrowed)), expected, "{what}");
                    assert_eq!(seen(&apply(op, &numbers)), expected, "{what}, by value");
                    #[cfg(feature = "std")]
                    deferred(op, &numbers, &tensors, &expected, &what);
                }
            }
        }
    }
}

/// Checks the operation on a stream and in a graph, with its number as a constant and as a
/// parameter.
#[cfg(feature = "std")]
fn deferred(op: Op, numbers: &[Arg], tensors: &[Arg], expected: &str, what: &str) {
    let stream = Stream::new();
    let arguments: Vec<Argument> = numbers
        .iter()
        .map(|a| match a {
            Arg::Own(t) => t.into(),
            Arg::Ref(t) => (*t).into(),
            Arg::Scalar(s) => (*s).into(),
        })
        .collect();
    let queued = stream.apply(op, &arguments).and_then(|y| y.get());
    assert_eq!(seen(&queued), expected, "{what}, queued");
    for rounding in [Rounding::Each, Rounding::Once] {
        let compiled = |args: &[Arg], parameter: bool| -> flex::Result<Tensor> {
            let (mut g, mut inputs, mut others) = (Graph::new(), Vec::new(), Vec::new());
            let mut operands: Vec<Operand> = Vec::new();
            for a in args {
                operands.push(match a {
                    Arg::Scalar(s) if parameter => {
                        others.push(*s);
                        g.number(0.625).into()
                    }
                    Arg::Scalar(s) => (*s).into(),
                    Arg::Own(t) => {
                        inputs.push(t.clone());
                        g.input(t.shape(), t.dtype()).into()
                    }
                    Arg::Ref(_) => unreachable!(),
                });
            }
            let y = g.apply(op, &operands)?;
            let program = g.compile(&[y], rounding)?.with_numbers(&others)?;
            Ok(program.run(&inputs)?.remove(0))
        };
        let (number, parameter) = (compiled(numbers, false), compiled(numbers, true));
        assert_eq!(
            seen(&number),
            seen(&compiled(tensors, false)),
            "{what}, {rounding:?}"
        );
        // an exponent that may change is no square
        assert_eq!(
            seen(&parameter),
            seen(&number),
            "{what}, {rounding:?}, changed"
        );
    }
}

#[cfg(feature = "half")]
#[test]
fn operators_and_methods_take_numbers_of_the_dtype() {
    use flex::dtype::{bf16, f16};
    for dtype in [DType::F16, DType::BF16] {
        let x = ops::full([3], 0.1, dtype).unwrap();
        for zero in [&x - 0.1, 0.1 - &x, &x % 0.1, x.subtract(0.1).unwrap()] {
            assert!(
                values(&zero).iter().all(|v| *v == Value::Float(0.0)),
                "{zero}"
            );
        }
        let mut y = x.clone();
        y -= 0.1;
        y += 0.1;
        assert!(
            ops::all(&y.equal(0.1).unwrap(), ())
                .unwrap()
                .item::<bool>()
                .unwrap()
        );
        let between = x.clip(0.1, 0.1).unwrap();
        assert_eq!(values(&between), values(&x));
    }
    // figures by hand
    let x = Tensor::from([bf16::from_f32(256.0)]);
    assert!(x.equal(257).unwrap().item::<bool>().unwrap());
    let x = Tensor::from([f16::from_f32(1.0)]);
    assert_eq!((&x * 0.1).item::<f16>().unwrap().to_bits(), 0x2e66);
}

const COMPARISONS: [Op; 6] = [
    Op::Equal,
    Op::NotEqual,
    Op::Less,
    Op::LessEqual,
    Op::Greater,
    Op::GreaterEqual,
];

/// An integer compared with a number, exactly; `None` for NaN.
fn order(n: i128, x: Scalar) -> Option<Ordering> {
    let x = match x {
        Scalar::Bool(x) => return Some(n.cmp(&(x as i128))),
        Scalar::Int(x) => return Some(n.cmp(&x)),
        Scalar::Float(x) | Scalar::Complex(x, _) => x,
    };
    if x.is_nan() {
        return None;
    }
    if x.abs() >= 2f64.powi(100) {
        return Some(if x > 0.0 {
            Ordering::Less
        } else {
            Ordering::Greater
        });
    }
    let rest = 0.0f64.partial_cmp(&x.fract())?;
    Some(n.cmp(&(x.trunc() as i128)).then(rest))
}
fn holds(op: Op, order: Option<Ordering>) -> bool {
    let Some(order) = order else {
        return op == Op::NotEqual;
    };
    match op {
        Op::Equal => order.is_eq(),
        Op::NotEqual => order.is_ne(),
        Op::Less => order.is_lt(),
        Op::LessEqual => order.is_le(),
        Op::Greater => order.is_gt(),
        _ => order.is_ge(),
    }
}
/// Elements of an integer dtype or bool, ascending, and numbers next to them and beyond.
fn cases(dtype: DType) -> (Tensor, Vec<i128>, Vec<Scalar>) {
    let bits = 8 * dtype.size() as u32;
    let (low, high): (i128, i128) = match dtype {
        DType::Bool => (0, 1),
        d if d.is_signed() => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => (0, (1 << bits) - 1),
    };
    let some = [
        low,
        low + 1,
        0,
        1,
        5,
        100,
        1_700_000_000,
        (1 << 24) + 1,
        (1 << 53) + 1,
        high,
    ];
    let mut held: Vec<i128> = some
        .into_iter()
        .filter(|n| (low..=high).contains(n))
        .collect();
    held.sort_unstable();
    held.dedup();
    let t = match dtype {
        DType::Bool => Tensor::from([false, true]),
        DType::U64 => {
            let all: Vec<u64> = held.iter().map(|n| *n as u64).collect();
            Tensor::from_slice(&all, [all.len()]).unwrap()
        }
        _ => {
            let all: Vec<i64> = held.iter().map(|n| *n as i64).collect();
            Tensor::from_slice(&all, [all.len()])
                .unwrap()
                .astype(dtype)
                .unwrap()
        }
    };
    let ends = [
        low,
        high,
        0,
        5,
        1 << 24,
        1 << 53,
        1 << 63,
        1 << 64,
        300,
        -(1 << 63),
        1 << 100,
    ];
    let near = |n: i128| (-1..2).map(move |d| Scalar::Int(n + d));
    let mut numbers: Vec<Scalar> = ends.into_iter().flat_map(near).collect();
    for n in [low, high, high + 1, 0, 5, 1_700_000_000, 1 << 64] {
        for d in [-0.5, 0.0, 0.5] {
            numbers.push(Scalar::Float(n as f64 + d));
        }
    }
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    numbers.extend([1e300, -1e300, 5e-324, -0.0, inf, -inf, nan].map(Scalar::Float));
    (t, held, numbers)
}

#[test]
fn integers_and_numbers_compare_exactly() {
    for dtype in available(|d| d.is_bool() || d.is_integer()) {
        let (t, held, numbers) = cases(dtype);
        for x in numbers {
            for op in COMPARISONS {
                let expected: Vec<bool> = held.iter().map(|n| holds(op, order(*n, x))).collect();
                let reversed = |n: &i128| holds(op, order(*n, x).map(Ordering::reverse));
                let mirrored: Vec<bool> = held.iter().map(reversed).collect();
                let of = |x: flex::Result<Tensor>| x.unwrap().to_vec::<bool>().unwrap();
                let what = format!("{op:?} {dtype} {x}");
                let (a, s) = (Arg::Ref(&t), Arg::Scalar(x));
                assert_eq!(of(apply(op, &[a.clone(), s.clone()])), expected, "{what}");
                assert_eq!(of(apply(op, &[s, a])), mirrored, "{what}, mirrored");
                #[cfg(feature = "std")]
                {
                    let stream = Stream::new();
                    let queued = |a: &[Argument]| stream.apply(op, a).and_then(|y| y.get());
                    assert_eq!(of(queued(&[(&t).into(), x.into()])), expected, "{what}");
                    assert_eq!(of(queued(&[x.into(), (&t).into()])), mirrored, "{what}");
                    let mut g = Graph::new();
                    let input = g.input(t.shape(), dtype);
                    let (y, z) = (
                        g.apply(op, &[input.into(), x.into()]).unwrap(),
                        g.apply(op, &[x.into(), input.into()]).unwrap(),
                    );
                    let program = g.compile(&[y, z], Rounding::Each).unwrap();
                    let both = program.run(core::slice::from_ref(&t)).unwrap();
                    assert_eq!(of(Ok(both[0].clone())), expected, "{what}");
                    assert_eq!(of(Ok(both[1].clone())), mirrored, "{what}");
                }
            }
        }
    }
}

#[cfg(feature = "std")]
#[test]
fn a_parameter_beside_integers_is_compared_exactly() {
    for dtype in available(|d| d.is_bool() || d.is_integer()) {
        let (t, held, numbers) = cases(dtype);
        for op in COMPARISONS {
            let mut g = Graph::new();
            let (input, p) = (g.input(t.shape(), dtype), g.number(0.5));
            let y = g.apply(op, &[input.into(), p.into()]).unwrap();
            let z = g.apply(op, &[p.into(), input.into()]).unwrap();
            let program = g.compile(&[y, z], Rounding::Each).unwrap();
            for x in numbers.iter().filter(|x| matches!(x, Scalar::Float(_))) {
                let program = program.with_numbers(&[*x]).unwrap();
                let both = program.run(core::slice::from_ref(&t)).unwrap();
                let of = |k: usize| both[k].to_vec::<bool>().unwrap();
                let expected: Vec<bool> = held.iter().map(|n| holds(op, order(*n, *x))).collect();
                let reversed = |n: &i128| holds(op, order(*n, *x).map(Ordering::reverse));
                let mirrored: Vec<bool> = held.iter().map(reversed).collect();
                assert_eq!((of(0), of(1)), (expected, mirrored), "{op:?} {dtype} {x}");
            }
        }
    }
}

#[test]
fn results_have_the_layout_of_results() {
    if !DType::U8.is_available() {
        return;
    }
    let mut rng = Rng(3);
    let x = random(&mut rng, &[3, 5], DType::U8)
        .transpose(0, 1)
        .unwrap();
    let never = x.equal(300).unwrap();
    assert_eq!(never.strides(), x.equal(3).unwrap().strides());
    assert_eq!(never.to_vec::<bool>().unwrap(), [false; 15]);
    assert!(
        x.add(300)
            .unwrap_err()
            .to_string()
            .contains("300 is out of range for uint8")
    );
}

#[test]
fn integers_are_searched_by_floats_exactly() {
    for dtype in available(|d| d.is_integer()) {
        let (t, held, numbers) = cases(dtype);
        for float in available(|d| d.is_float()) {
            for x in &numbers {
                let one = Tensor::scalar(x.to_f64(), float).unwrap();
                let Value::Float(rounded) = values(&one)[0] else {
                    unreachable!()
                };
                let x = Scalar::Float(rounded);
                let count = |op: Op| held.iter().filter(|n| holds(op, order(**n, x))).count();
                let ends = match rounded.is_nan() {
                    true => [held.len(); 2],
                    false => [count(Op::Less), count(Op::LessEqual)],
                };
                for (side, end) in [Side::Left, Side::Right].into_iter().zip(ends) {
                    let place = t.searchsorted(&one, side, None).unwrap();
                    assert_eq!(
                        place.item::<i64>().unwrap(),
                        end as i64,
                        "{dtype} {side:?} {x}"
                    );
                }
                let found: Vec<bool> = held
                    .iter()
                    .map(|n| holds(Op::Equal, order(*n, x)))
                    .collect();
                assert_eq!(
                    t.isin(&one).unwrap().to_vec::<bool>().unwrap(),
                    found,
                    "{x}"
                );
                let inside = one.isin(&t).unwrap().item::<bool>().unwrap();
                assert_eq!(inside, found.contains(&true), "{dtype} {x}");
            }
        }
    }
}
