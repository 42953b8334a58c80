//! Random numbers: the published vectors of Philox, distributions against their moments and their
//! cumulative functions at fixed seeds, and that numbers depend on the seed and position alone.

mod floats;
mod integers;
mod philox;
mod statistics;

use flex::random::{Generator, default_rng};
use flex::{DType, Error, Tensor};

/// Each method that draws numbers of a shape.
const METHODS: [(&str, fn(&mut Generator, &[usize]) -> flex::Result<Tensor>); 8] = [
    ("random", |g, n| g.random(n, DType::F32)),
    ("random, float64", |g, n| g.random(n, DType::F64)),
    ("uniform", |g, n| g.uniform(-2, 5, n, DType::F32)),
    ("standard_normal", |g, n| g.standard_normal(n, DType::F32)),
    ("normal, float64", |g, n| g.normal(1.0, 2.0, n, DType::F64)),
    ("integers", |g, n| g.integers(0, 10, n, DType::I64)),
    // a quarter of the 64-bit draws are rejected
    ("integers, wide", |g, n| {
        g.integers(0, 3i128 << 62, n, DType::U64)
    }),
    ("integers, all", |g, n| {
        g.integers_inclusive(i64::MIN, i64::MAX, n, DType::I64)
    }),
];

fn bytes(x: &Tensor) -> Vec<u8> {
    let size = x.dtype().size();
    let x = x.contiguous().unwrap();
    let words = x.reshape(-1).unwrap();
    dispatch_bytes(&words, size)
}
fn dispatch_bytes(x: &Tensor, size: usize) -> Vec<u8> {
    match size {
        1 => x.bitcast(DType::U8).unwrap().to_vec::<u8>().unwrap(),
        4 => (x
            .bitcast(DType::U32)
            .unwrap()
            .to_vec::<u32>()
            .unwrap()
            .iter())
        .flat_map(|x| x.to_le_bytes())
        .collect(),
        _ => (x
            .bitcast(DType::U64)
            .unwrap()
            .to_vec::<u64>()
            .unwrap()
            .iter())
        .flat_map(|x| x.to_le_bytes())
        .collect(),
    }
}

#[test]
fn longer_results_begin_with_shorter_ones() {
    for (name, draw) in METHODS {
        let long = bytes(&draw(&mut default_rng(3), &[5000]).unwrap());
        for n in [0, 1, 7, 16, 31, 33, 64, 1000, 1024, 1025, 4999] {
            let short = bytes(&draw(&mut default_rng(3), &[n]).unwrap());
            assert!(long.starts_with(&short), "{name}: {n}");
        }
        let square = bytes(&draw(&mut default_rng(3), &[50, 100]).unwrap());
        assert!(long == square, "{name}");
    }
}

#[cfg(feature = "std")]
#[test]
fn numbers_do_not_depend_on_threads() {
    for (name, draw) in METHODS {
        let of = |threads| {
            flex::with_threads(threads, || {
                bytes(&draw(&mut default_rng(3), &[300_001]).unwrap())
            })
        };
        let one = of(1);
        for threads in [2, 3, 7] {
            assert!(of(threads) == one, "{name}: {threads} threads");
        }
    }
}

#[test]
fn calls_and_seeds_give_different_numbers() {
    for (name, draw) in METHODS {
        let (mut a, mut b) = (default_rng(1), default_rng(2));
        let first = bytes(&draw(&mut a, &[40]).unwrap());
        let state = a.clone();
        let second = bytes(&draw(&mut a, &[40]).unwrap());
        assert!(first != second, "{name}");
        assert!(first != bytes(&draw(&mut b, &[40]).unwrap()), "{name}");
        let mut again = Generator::from_state(state.state());
        assert_eq!(again, state);
        assert!(second == bytes(&draw(&mut again, &[40]).unwrap()), "{name}");
    }
}

#[test]
fn errors_leave_the_state() {
    let mut g = default_rng(1);
    g.random(3, DType::F32).unwrap();
    let before = g.clone();
    let errors = [
        g.random(3, DType::I32),
        g.random(usize::MAX / 64, DType::F32),
        g.standard_normal(3, DType::Bool),
        g.uniform(2.0, 1.0, 3, DType::F32),
        g.uniform(f64::MIN, f64::MAX, 3, DType::F64),
        g.uniform(0.0, f64::NAN, 3, DType::F64),
        g.uniform(&Tensor::from([0.0f32, 3.0]), 1.0, 2, DType::F32),
        g.normal(0.0, -1.0, 3, DType::F32),
        g.normal(0.0, f64::NAN, 3, DType::F32),
        g.normal(&Tensor::from([0.0f32; 2]), 1.0, 3, DType::F32),
        g.normal(0.0, 1.0, usize::MAX / 64, DType::F64),
        g.integers(3, 3, 3, DType::I32),
        g.integers(0, 257, 3, DType::U8),
        g.integers(-1, 5, 3, DType::U64),
        g.integers(0, 1i128 << 100, 3, DType::U64),
        g.integers(0, 2.5, 3, DType::I32),
        g.integers(0, 5, 3, DType::F32),
        g.integers(&Tensor::from([0, 7]), 5, 2, DType::I32),
        g.integers(&Tensor::from([0, 7]), 9, 3, DType::I32),
    ];
    for (k, e) in errors.into_iter().enumerate() {
        assert!(e.is_err(), "{k}");
        assert_eq!(g, before, "{k}");
    }
    let text = |r: flex::Result<Tensor>| r.unwrap_err().to_string();
    if cfg!(feature = "messages") {
        assert_eq!(
            text(g.normal(0.0, -1.0, 3, DType::F32)),
            "normal: scale is -1; it must not be negative"
        );
        assert_eq!(
            text(g.integers(5, 5, 3, DType::I8)),
            "integers: low is 5 and high 5; low must be below high"
        );
        assert_eq!(
            text(g.uniform(2, 1, 3, DType::F32)),
            "uniform: low is 2, above high, which is 1"
        );
    }
    assert!(matches!(
        g.random(usize::MAX / 64, DType::F32),
        Err(Error::Memory { .. } | Error::Shape { .. })
    ));
}
