//! Streams: what is queued gives what the operations give one by one, to the bit, whatever is dropped,
//! read or written in between; plans are found once and kept in files.
#![cfg(feature = "std")]

use crate::common::{Rng, layouts, random};
use flex::op::{Op, Rule};
use flex::stream::{Argument, Kind, Lazy, Plans, Stream};
use flex::{DType, Scalar, Tensor, ops};
use std::sync::Arc;

/// What the operations are one by one.
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
        _ => ops::where_(all[0].clone(), all[1].clone(), all[2].clone()),
    }
}
const OPS: [Op; 12] = [
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
    Op::Where,
];
const KINDS: [Kind; 4] = [Kind::Sum, Kind::Mean, Kind::Max, Kind::Any];

fn reduced(kind: Kind, x: &Tensor, over: ops::Reduction) -> flex::Result<Tensor> {
    match kind {
        Kind::Sum => ops::sum(x, over),
        Kind::Mean => ops::mean(x, over),
        Kind::Max => ops::max(x, over),
        _ => ops::any(x, over),
    }
}

/// Shape, dtype and bits; NaNs are all alike.
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
            .map(|v| v.to_bits())
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

/// A value by both ways.
struct Pair {
    lazy: Lazy,
    eager: Tensor,
}

/// One random program on a stream and one by one; values are read, dropped and written to in
/// between. What it does depends on `seed`, what it does it with on `data`.
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
        let choice = rng.next() % 16;
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
            let over = ops::Reduction {
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
                // what waits has the elements that were there
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
fn random_programs_give_the_bits_of_the_operations_one_by_one() {
    let stream = Stream::new();
    for seed in 0..300 {
        program(&stream, seed, seed + 1000, 1 + (seed as usize * 7) % 60);
    }
}
#[test]
fn plans_serve_other_elements_and_numbers() {
    let stream = Stream::new();
    for seed in 0..20 {
        program(&stream, seed, 0, 30);
    }
    let found = stream.plans().len();
    for (seed, data) in (0..20).flat_map(|seed| (1..6).map(move |data| (seed, data))) {
        program(&stream, seed, data, 30);
    }
    // numbers that happen to be equal, and shapes of layouts, make a few others
    assert!(
        stream.plans().len() < 4 * found,
        "{found}, {}",
        stream.plans().len()
    );
}
#[test]
fn programs_longer_than_a_queue() {
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
fn what_nobody_needs_is_not_computed() {
    let stream = Stream::new();
    let x = Tensor::from([1.0f32, 2.0]);
    let y = stream.apply(Op::Exp, &[(&x).into()]).unwrap();
    drop(y);
    stream.run().unwrap();
    assert_eq!(stream.stats().run, Default::default());
    assert_eq!(stream.stats().operations, 1);
}
#[test]
fn counts_of_the_known_example() {
    // x + y, * x, * y on 32 by 32 floats: one walk, which stores only the last
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
fn a_dead_operand_lends_its_memory() {
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
fn errors_are_those_of_the_operation_and_leave_the_queue() {
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
fn values_go_to_other_threads_and_streams() {
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

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("flex-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
#[test]
fn plans_are_kept_in_files() {
    let folder = folder("plans");
    let path = folder.join("plans");
    let stream = Stream::new();
    for seed in 0..30 {
        program(&stream, seed, 3, 40);
    }
    let plans = stream.plans();
    assert!(plans.is_changed());
    plans.save(&path).unwrap();
    assert!(!plans.is_changed());
    let loaded = Arc::new(Plans::default());
    assert_eq!(loaded.load(&path).unwrap(), plans.len());
    assert_eq!(loaded.len(), plans.len());
    let stream = Stream::with_plans(loaded.clone());
    for seed in 0..30 {
        program(&stream, seed, 3, 40);
    }
    assert_eq!(loaded.len(), plans.len());
    assert!(!loaded.is_changed());
    loaded.save(&path).unwrap();
    assert_eq!(loaded.load(&path).unwrap(), plans.len()); // once more
    assert_eq!(loaded.len(), plans.len());
    std::fs::remove_dir_all(folder).unwrap();
}
#[test]
fn files_that_hold_no_plans_are_refused_whole() {
    let folder = folder("no-plans");
    let path = folder.join("plans");
    let stream = Stream::new();
    for seed in 0..6 {
        program(&stream, seed, 3, 20);
    }
    stream.plans().save(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let plans = Plans::default();
        let e = plans.load(&path).unwrap_err();
        assert!(matches!(e, flex::Error::File { .. }), "{e}");
        assert!(plans.is_empty());
        e.to_string()
    };
    assert!(refused(b"").contains("not a file of plans"));
    assert!(refused(&[0xff; 100]).contains("not a file of plans"));
    assert!(
        refused(text.replacen("flex-plans 1", "flex-plans 0", 1).as_bytes()).contains("version")
    );
    // cut and changed anywhere
    for k in (0..text.len() - 1).step_by(97) {
        refused(&text.as_bytes()[..k]);
        let mut damaged = text.clone().into_bytes();
        damaged[k] ^= 1;
        refused(&damaged);
    }
    let missing = Plans::default().load(folder.join("none")).unwrap_err();
    assert!(matches!(missing, flex::Error::Io { .. }), "{missing}");
    std::fs::remove_dir_all(folder).unwrap();
}
/// Operations that no queue can have, with a checksum that is right.
#[test]
fn plans_are_checked_when_they_are_read() {
    let folder = folder("wrong-plans");
    let path = folder.join("plans");
    Stream::new().plans().save(&path).unwrap();
    let header = std::fs::read_to_string(&path).unwrap();
    let header = header.lines().next().unwrap();
    let checksum = |text: &str| {
        let step = |h: u64, b: u8| (h ^ b as u64).wrapping_mul(0x100_0000_01b3);
        text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
    };
    let load = |body: &str| {
        let text = format!("{header}\n{body}");
        std::fs::write(&path, format!("{text}end {:016x}\n", checksum(&text))).unwrap();
        Plans::default().load(&path)
    };
    assert_eq!(
        load("input float32 2\napply exp v0\nplan 2 0 0 0\n").unwrap(),
        1
    );
    assert_eq!(
        load("input float32 2 2\nmatmul v0 v0 float32\nplan 2 0 0 0\n").unwrap(),
        1
    );
    for wrong in [
        "input float32 2 3\nmatmul v0 v0\nplan 2 0 0 0\n",
        "input float32 2 2\nmatmul v0 v1\nplan 2 0 0 0\n",
        "input float32 2 2\nmatmul v0\nplan 2 0 0 0\n",
        "input float32 2 2\nmatmul v0 v0 int8\nplan 2 0 0 0\n",
        "input float32 2 2\nmatmul v0 v0 float64 v0\nplan 2 0 0 0\n",
        "input float32 3\napply exp v0\nplan 2 0 0 0\n",
        "input float32 65535\napply exp v0\nplan 2 0 0 0\n",
        "input float99 2\napply exp v0\nplan 2 0 0 0\n",
        "input float32 2\napply exp v1\nplan 2 0 0 0\n",
        "input float32 2\napply exp v0 v0\nplan 2 0 0 0\n",
        "input float32 2\napply exp\nplan 2 0 0 0\n",
        "input float32 2\napply nothing v0\nplan 2 0 0 0\n",
        "input float32 2\napply add v0 f1\nplan 2 0 0 0\n",
        "input float32 2\napply add v0 =q1\nplan 2 0 0 0\n",
        "input float32 2\nreduce sum v0 2 0\nplan 2 0 0 0\n",
        "input float32 2\nreduce total v0 1 0\nplan 2 0 0 0\n",
        "input float32 2\nastype v7 float32\nplan 2 0 0 0\n",
        "input float32 2\napply exp v0\nplan 4 0 0 0\n",
        "input float32 2\napply exp v0\nplan 2 0 0 1\n",
        "input float32 2\napply exp v0\nplan 0 0 0 0\n",
        "input float32 2\napply exp v0\nplan 2 0\n",
        "input float32 2\ninput float32 3\napply add v0 v1\nplan 4 0 0 0\n",
        "input bool 2\napply exp v0\nfoo\nplan 2 0 0 0\n",
    ] {
        assert!(load(wrong).is_err(), "{wrong}");
    }
    let sizes: Vec<String> = (2..30).map(|n| n.to_string()).collect();
    let many = format!(
        "input float32 {}\nreduce sum v0 fffffff 0\nplan 2 0 0 0\n",
        sizes.join(" ")
    );
    assert!(load(&many).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}
