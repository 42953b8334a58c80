//! Streams: queued operations give the bits of eager ones, whatever is dropped, read or written in
//! between; plans are made once and saved to files.

mod normal;
mod plans;
mod programs;
mod squares;
mod views;

use crate::common::{Rng, layouts, random};
use flex::op::{Op, Rule};
use flex::stream::{Argument, Kind, Lazy, Stream};
use flex::{DType, Scalar, Tensor, nn, ops};

/// The operation, computed eagerly.
fn eager(op: Op, operands: &[Argument]) -> flex::Result<Tensor> {
    let arg = |x: &Argument| match x {
        Argument::Tensor(x) => ops::Arg::Own((*x).clone()),
        Argument::Lazy(x) => ops::Arg::Own(x.get().unwrap()),
        Argument::Number(s) => ops::Arg::Scalar(*s),
    };
    let all: Vec<ops::Arg> = operands.iter().map(arg).collect();
    match op {
        Op::Add => ops::add(all[0].clone(), all[1].clone()),
        Op::Subtract => ops::subtract(all[0].clone(), all[1].clone()),
        Op::Multiply => ops::multiply(all[0].clone(), all[1].clone()),
        Op::Divide => ops::divide(all[0].clone(), all[1].clone()),
        Op::Maximum => ops::maximum(all[0].clone(), all[1].clone()),
        Op::Less => ops::less(all[0].clone(), all[1].clone()),
        Op::Pow => ops::pow(all[0].clone(), all[1].clone()),
        Op::Exp => ops::exp(all[0].clone()),
        Op::Tanh => ops::tanh(all[0].clone()),
        Op::Abs => ops::abs(all[0].clone()),
        Op::Sqrt => ops::sqrt(all[0].clone()),
        Op::Square => ops::square(all[0].clone()),
        _ => ops::where_(all[0].clone(), all[1].clone(), all[2].clone()),
    }
}
const OPS: [Op; 13] = [
    Op::Add,
    Op::Subtract,
    Op::Multiply,
    Op::Divide,
    Op::Maximum,
    Op::Less,
    Op::Pow,
    Op::Exp,
    Op::Tanh,
    Op::Abs,
    Op::Sqrt,
    Op::Square,
    Op::Where,
];
const KINDS: [Kind; 4] = [Kind::Sum, Kind::Mean, Kind::Max, Kind::Any];

fn reduced(kind: Kind, x: &Tensor, over: ops::ReductionAxes) -> flex::Result<Tensor> {
    match kind {
        Kind::Sum => ops::sum(x, over),
        Kind::Mean => ops::mean(x, over),
        Kind::Max => ops::max(x, over),
        _ => ops::any(x, over),
    }
}

/// Shape, dtype and bits; all NaNs count as equal.
fn bits(x: &Tensor) -> (Vec<usize>, DType, Vec<u64>) {
    let values = match x.dtype() {
        DType::Bool => x
            .to_vec::<flex::Bool>()
            .unwrap()
            .iter()
            .map(|b| b.get() as u64)
            .collect(),
        #[cfg(feature = "f64")]
        DType::F64 => x
            .to_vec::<f64>()
            .unwrap()
            .iter()
            .map(|v| if v.is_nan() { 1 } else { v.to_bits() })
            .collect(),
        DType::F32 => (x.to_vec::<f32>().unwrap().iter())
            .map(|v| {
                if v.is_nan() {
                    1 << 40
                } else {
                    v.to_bits() as u64
                }
            })
            .collect(),
        dtype => {
            assert!(dtype == DType::I64);
            x.to_vec::<i64>()
                .unwrap()
                .iter()
                .map(|v| *v as u64)
                .collect()
        }
    };
    (x.shape().to_vec(), x.dtype(), values)
}

/// A value, queued and eager.
struct Pair {
    lazy: Lazy,
    eager: Tensor,
}

/// A random view of the queued value, and of the tensor.
fn viewed(
    stream: &Stream,
    lazy: &Argument,
    x: &Tensor,
    rng: &mut Rng,
) -> (flex::Result<Lazy>, flex::Result<Tensor>) {
    let (which, rank) = (rng.next() % 8, x.rank());
    let axis = rng.next() as usize % rank.max(1);
    let at = axis as isize;
    let n = x.shape().get(axis).copied().unwrap_or(1);
    let backwards: Vec<isize> = (0..rank as isize).rev().collect();
    if rank == 0 || which == 0 {
        let shape = [2].iter().chain(x.shape()).copied().collect::<Vec<usize>>();
        let view = stream.view(lazy, |x| x.broadcast_to("broadcast_to", &shape));
        return (view, x.broadcast_to(&shape));
    }
    match which {
        1 => {
            let view = stream.view(lazy, |x| x.permute("permute", &backwards));
            (view, x.permute(backwards.clone()))
        }
        2 => {
            let (start, count) = (1.min(n), n.saturating_sub(1).div_ceil(2));
            let view = stream.view(lazy, |x| Ok(x.slice(axis, start, 2, count)));
            (view, x.slice_axis(at, Some(1), None, 2))
        }
        3 => {
            let view = stream.view(lazy, |x| x.flip("flip", &[at]));
            (view, x.flip(at))
        }
        4 => {
            let view = stream.view(lazy, |x| x.index("select", axis, -1));
            (view, x.select(at, -1))
        }
        5 => {
            let view = stream.view(lazy, |x| x.expand_dims("expand_dims", &[at]));
            (view, x.expand_dims(at))
        }
        6 => {
            let view = stream.view(lazy, |x| x.narrow("narrow", at, n / 2, n - n / 2));
            (view, x.narrow(at, n / 2, n - n / 2))
        }
        _ => (stream.reshape(lazy, -1), x.reshape(-1)),
    }
}

/// Runs one random program on a stream and eagerly; values are read, dropped and written to in
/// between. The operations depend on `seed`, the elements and numbers on `data`.
fn program(stream: &Stream, seed: u64, data: u64, length: usize) {
    let (mut rng, mut data) = (Rng(seed), Rng(data));
    let shapes: [&[usize]; 5] = [&[6, 5], &[5], &[6, 1], &[], &[1, 5]];
    let dtypes = [DType::F32, DType::F32, DType::F32, DType::I64, DType::Bool];
    let mut tensors: Vec<Tensor> = (0..4)
        .map(|_| {
            let shape = shapes[rng.next() as usize % shapes.len()];
            let x = random(&mut data, shape, dtypes[rng.next() as usize % dtypes.len()]);
            let all = layouts(&x);
            all[rng.next() as usize % all.len()].1.clone()
        })
        .collect();
    let mut values: Vec<Pair> = Vec::new();
    for _ in 0..length {
        let mut some = || {
            let k = rng.next() as usize;
            match k % 3 {
                0 if !values.is_empty() => Err(k / 3 % values.len()),
                1 if !values.is_empty() => Err(values.len() - 1),
                _ => Ok(k / 3 % tensors.len()),
            }
        };
        let picked = [some(), some(), some()];
        let argument = |k: &Result<usize, usize>| match k {
            Ok(k) => Argument::Tensor(&tensors[*k]),
            Err(k) => Argument::Lazy(&values[*k].lazy),
        };
        let plain = |k: &Result<usize, usize>| match k {
            Ok(k) => Argument::Tensor(&tensors[*k]),
            Err(k) => Argument::Tensor(&values[*k].eager),
        };
        let choice = rng.next() % 21;
        let (lazy, eager) = if choice < 11 {
            let op = OPS[rng.next() as usize % OPS.len()];
            let n = op.arity();
            let mut lazies: Vec<Argument> = picked[..n].iter().map(argument).collect();
            let mut plains: Vec<Argument> = picked[..n].iter().map(plain).collect();
            if n == 2 && rng.next().is_multiple_of(2) {
                let number = Scalar::Float((data.next() % 16) as f64 * 0.25);
                let at = rng.next() as usize % 2;
                (lazies[at], plains[at]) = (number.into(), number.into());
            }
            (stream.apply(op, &lazies), eager(op, &plains))
        } else if choice < 13 {
            let dtype = dtypes[rng.next() as usize % dtypes.len()];
            let Argument::Tensor(x) = plain(&picked[0]) else {
                unreachable!()
            };
            (
                stream.convert(&argument(&picked[0]), dtype),
                x.astype(dtype),
            )
        } else if choice == 20 {
            let all = [0, 1].map(|k| plain(&picked[k]));
            let [Argument::Tensor(x), Argument::Tensor(weight)] = all else {
                unreachable!()
            };
            let activation = rng.next().is_multiple_of(2).then_some(nn::Activation::Relu);
            let activation = activation.filter(|_| x.dtype() == DType::F32);
            let options = nn::Linear {
                activation,
                ..Default::default()
            };
            let operands = [&argument(&picked[0]), &argument(&picked[1])];
            let lazy = stream.linear(operands, [None, None], options);
            (lazy, nn::linear(x, weight, options))
        } else if choice >= 16 {
            let Argument::Tensor(x) = plain(&picked[0]) else {
                unreachable!()
            };
            viewed(stream, &argument(&picked[0]), x, &mut rng)
        } else if choice < 14 {
            let [a, b] = [plain(&picked[0]), plain(&picked[1])];
            let (Argument::Tensor(a), Argument::Tensor(b)) = (a, b) else {
                unreachable!()
            };
            let lazy = stream.matmul(&argument(&picked[0]), &argument(&picked[1]), None);
            (lazy, ops::matmul(a, b))
        } else {
            let kind = KINDS[rng.next() as usize % KINDS.len()];
            let Argument::Tensor(x) = plain(&picked[0]) else {
                unreachable!()
            };
            let axes: Vec<isize> = (0..x.rank() as isize)
                .filter(|_| rng.next() % 2 == 0)
                .collect();
            let over = ops::ReductionAxes {
                axes: axes.into(),
                keepdims: rng.next() % 2 == 0,
            };
            let lazy = stream.reduce(kind, &argument(&picked[0]), over.clone());
            (lazy, reduced(kind, x, over))
        };
        match (lazy, eager) {
            (Ok(lazy), Ok(eager)) => {
                assert_eq!((lazy.shape(), lazy.dtype()), (eager.shape(), eager.dtype()));
                values.push(Pair { lazy, eager });
            }
            (Err(lazy), Err(eager)) => assert_eq!(lazy.to_string(), eager.to_string()),
            (lazy, eager) => panic!("{lazy:?}, one by one {eager:?}"),
        }
        match rng.next() % 12 {
            0 if !values.is_empty() => {
                let k = rng.next() as usize % values.len();
                drop(values.swap_remove(k));
            }
            1 if !values.is_empty() => {
                let pair = &values[rng.next() as usize % values.len()];
                assert_eq!(bits(&pair.lazy.get().unwrap()), bits(&pair.eager), "{seed}");
            }
            2 => {
                // queued operations still see the old elements
                let k = rng.next() as usize % tensors.len();
                tensors[k] = tensors[k].contiguous().unwrap();
                if tensors[k].dtype() == DType::F32 {
                    tensors[k].as_mut_slice::<f32>().unwrap().fill(0.5);
                }
            }
            _ => {}
        }
    }
    for pair in &values {
        assert_eq!(bits(&pair.lazy.get().unwrap()), bits(&pair.eager), "{seed}");
    }
}

#[test]
fn random_programs_match_eager_operations() {
    let stream = Stream::new();
    for seed in 0..300 {
        program(&stream, seed, seed + 1000, 1 + (seed as usize * 7) % 60);
    }
}
#[test]
fn plans_are_reused_for_other_elements_and_numbers() {
    let stream = Stream::new();
    for seed in 0..20 {
        program(&stream, seed, 0, 30);
    }
    let found = stream.plans().len();
    for (seed, data) in (0..20).flat_map(|seed| (1..6).map(move |data| (seed, data))) {
        program(&stream, seed, data, 30);
    }
    // numbers that happen to be equal, and other layouts, need a few more plans
    assert!(
        stream.plans().len() < 4 * found,
        "{found}, {}",
        stream.plans().len()
    );
}
#[test]
fn programs_may_be_longer_than_the_queue() {
    let stream = Stream::new();
    program(&stream, 7, 7, 1500);
    let mut x = stream
        .apply(Op::Abs, &[(&Tensor::from([1.0f32; 8])).into()])
        .unwrap();
    for _ in 0..2000 {
        x = stream
            .apply(Op::Multiply, &[(&x).into(), 0.999.into()])
            .unwrap();
    }
    let mut expected = 1.0f32;
    (0..2000).for_each(|_| expected *= 0.999);
    assert_eq!(x.get().unwrap().to_vec::<f32>().unwrap(), [expected; 8]);
}

#[test]
fn dropped_values_are_not_computed() {
    let stream = Stream::new();
    let x = Tensor::from([1.0f32, 2.0]);
    let y = stream.apply(Op::Exp, &[(&x).into()]).unwrap();
    drop(y);
    stream.run().unwrap();
    assert_eq!(stream.stats().run, Default::default());
    assert_eq!(stream.stats().operations, 1);
}
#[test]
fn stats_of_a_fused_chain() {
    // x + y, * x, * y on 32 by 32 floats: one pass, which stores only the last
    let stream = Stream::new();
    let (x, y) = (
        Tensor::zeros([32, 32], DType::F32),
        Tensor::zeros([32, 32], DType::F32),
    );
    let (x, y) = (x.unwrap(), y.unwrap());
    let z = {
        let sum = stream.apply(Op::Add, &[(&x).into(), (&y).into()]).unwrap();
        let by_x = stream
            .apply(Op::Multiply, &[(&sum).into(), (&x).into()])
            .unwrap();
        stream
            .apply(Op::Multiply, &[(&by_x).into(), (&y).into()])
            .unwrap()
    };
    z.get().unwrap();
    let stats = stream.stats();
    assert_eq!(stats.operations, 3);
    let run = (
        stats.run.kernels,
        stats.run.allocated,
        stats.run.read,
        stats.run.written,
    );
    assert_eq!(run, (1, 4096, 8192, 4096));
    let eager = (stats.eager.allocated, stats.eager.read, stats.eager.written);
    assert_eq!(eager, (12288, 24576, 12288));
}
#[test]
fn a_dropped_operand_lends_its_memory() {
    let stream = Stream::new();
    let mut x = Tensor::from([1.0f32; 1000]);
    let place = x.as_ptr();
    for _ in 0..3 {
        let y = stream.apply(Op::Add, &[(&x).into(), 1.0.into()]).unwrap();
        drop(std::mem::replace(&mut x, Tensor::from([0.0f32; 1])));
        x = y.get().unwrap();
    }
    assert_eq!(x.as_ptr(), place);
    assert_eq!(x.to_vec::<f32>().unwrap(), [4.0; 1000]);
    assert_eq!(stream.stats().run.allocated, 0);
}
#[test]
fn errors_match_eager_ones_and_leave_the_queue_intact() {
    let stream = Stream::new();
    let (x, y) = (
        Tensor::from([1.0f32, 2.0]),
        Tensor::from([1.0f32, 2.0, 3.0]),
    );
    let good = stream.apply(Op::Add, &[(&x).into(), 1.0.into()]).unwrap();
    for _ in 0..2 {
        let wrong = stream
            .apply(Op::Add, &[(&good).into(), (&y).into()])
            .unwrap_err();
        let expected = ops::add(&x, &y).unwrap_err();
        assert_eq!(wrong.to_string(), expected.to_string());
        let byte = x.astype(DType::I32).unwrap();
        for number in [1i64 << 40, 2] {
            let sum = stream.apply(Op::Add, &[(&byte).into(), number.into()]);
            assert_eq!(sum.is_ok(), number == 2, "{number}");
        }
    }
    assert_eq!(good.get().unwrap().to_vec::<f32>().unwrap(), [2.0, 3.0]);
    let whole = Tensor::from([4i64, 2]);
    let zero = stream
        .apply(Op::FloorDivide, &[(&whole).into(), 0i64.into()])
        .unwrap_err();
    assert!(zero.to_string().contains("floor_divide"), "{zero}");
    assert_eq!(Op::FloorDivide.rule(), Rule::Same);
    assert!(stream.apply(Op::Add, &[(&x).into()]).is_err());
}
#[test]
fn values_are_usable_by_other_threads_and_streams() {
    let (one, other) = (Stream::new(), Stream::new());
    let x = Tensor::from([1.0f32, 2.0]);
    let y = one.apply(Op::Add, &[(&x).into(), 1.0.into()]).unwrap();
    let z = other
        .apply(Op::Multiply, &[(&y).into(), (&y).into()])
        .unwrap();
    let waits = one.apply(Op::Add, &[(&z).into(), (&y).into()]).unwrap();
    drop((one, other));
    let got = std::thread::scope(|s| {
        let ways = [
            s.spawn(|| waits.get().unwrap()),
            s.spawn(|| waits.get().unwrap()),
        ];
        ways.map(|t| t.join().unwrap().to_vec::<f32>().unwrap())
    });
    assert_eq!(got, [[6.0, 12.0], [6.0, 12.0]]);
}

#[test]
fn operations_on_lent_memory_run_at_once() {
    let (stream, x) = (Stream::new(), Tensor::from([1.0f32, 2.0]));
    let twice = |x: &Tensor| stream.apply(Op::Multiply, &[x.into(), 2.0.into()]).unwrap();
    assert!(!twice(&x).is_computed());
    let loan = x.storage().lend();
    let part = x.narrow(0, 1, 1).unwrap();
    assert!(twice(&x).is_computed() && twice(&part).is_computed());
    let sum = stream.reduce(Kind::Sum, &(&x).into(), ()).unwrap();
    assert_eq!(sum.get().unwrap().item::<f32>().unwrap(), 3.0);
    assert!(!twice(&Tensor::from([1.0f32])).is_computed());
    drop(loan);
    assert!(!twice(&x).is_computed());
    stream.run().unwrap();
}
