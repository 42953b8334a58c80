//! Random numbers: the published vectors of Philox, distributions against their moments and their
//! cumulative functions at fixed seeds, and that numbers depend on the seed and position alone.

mod distributions;
mod floats;
mod integers;
mod order;
mod philox;
mod statistics;

use flex::random::{Choice, Generator, default_rng};
use flex::{DType, Error, Tensor};

/// Each method that draws numbers of a shape.
const METHODS: [(&str, fn(&mut Generator, &[usize]) -> flex::Result<Tensor>); 18] = [
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
    ("integers of bounds", |g, n| {
        let low = Tensor::from([-3]).broadcast_to(n)?;
        g.integers(&low, 1i64 << 62, n, DType::I64)
    }),
    ("exponential", |g, n| g.exponential(2, n, DType::F32)),
    ("gumbel", |g, n| g.gumbel(0, 1, n, DType::F64)),
    ("gamma", |g, n| g.gamma(0.7, 1, n, DType::F32)),
    ("beta", |g, n| g.beta(2, 3, n, DType::F64)),
    ("poisson", |g, n| g.poisson(12, n)),
    ("binomial", |g, n| g.binomial(50, 0.4, n)),
    ("choice", |g, n| g.choice(7, n, Choice::default())),
    ("lognormal", |g, n| g.lognormal(0.5, 1, n, DType::F32)),
    ("multinomial", |g, n| {
        g.multinomial(9, &Tensor::from([0.25f32, 0.75]), n)
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

/// What a release makes of a seed, every other does too, on any machine: sums of the first numbers'
/// bytes (FNV-1a), of each method.
#[test]
fn numbers_are_those_of_every_machine() {
    let sums = METHODS.map(|(_, draw)| {
        let all = bytes(&draw(&mut default_rng(3), &[3000]).unwrap());
        all.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, x| {
            (sum ^ *x as u64).wrapping_mul(0x100_0000_01b3)
        })
    });
    let want = [
        0x2867_ffa5_0a16_edfd,
        0xd153_28b0_4da0_1c5a,
        0x7039_0855_0a41_9746,
        0x11ca_11fe_87cd_a9e5,
        0x6720_a267_8d4e_2a25,
        0x5db0_3615_5b28_ca89,
        0xee05_6407_1c4f_6f04,
        0x9726_bd2f_527d_60d5,
        0xf403_5b86_ebf9_5a0a,
        0xad74_790e_e56a_b3ab,
        0xd1d1_fa7f_69f2_ea11,
        0x1e05_aa2c_6452_46f1,
        0x6392_8790_17cb_9241,
        0xcdff_2a16_0908_6f5f,
        0x8f11_c3b2_1308_f325,
        0xc722_c2a4_c5f2_17a7,
        0x7314_193a_2311_4ff3,
        0x2486_e537_f831_8ec1,
    ];
    assert_eq!(sums, want);
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
fn seeds_may_have_several_words() {
    assert_eq!(Generator::from_words(&[7]), default_rng(7));
    let seeds: [&[u64]; 4] = [&[7], &[7, 0], &[0, 7], &[7, 1]];
    let firsts =
        seeds.map(|words| bytes(&Generator::from_words(words).random(4, DType::F64).unwrap()));
    for i in 0..4 {
        assert!((0..i).all(|j| firsts[i] != firsts[j]));
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
        g.uniform(Tensor::from([0.0f32, 3.0]), 1.0, 2, DType::F32),
        g.normal(0.0, -1.0, 3, DType::F32),
        g.normal(0.0, f64::NAN, 3, DType::F32),
        g.normal(Tensor::from([0.0f32; 2]), 1.0, 3, DType::F32),
        g.normal(0.0, 1.0, usize::MAX / 64, DType::F64),
        g.integers(3, 3, 3, DType::I32),
        g.integers(0, 257, 3, DType::U8),
        g.integers(-1, 5, 3, DType::U64),
        g.integers(0, 1i128 << 100, 3, DType::U64),
        g.integers(0, 2.5, 3, DType::I32),
        g.integers(0, 5, 3, DType::F32),
        g.integers(Tensor::from([0, 7]), 5, 2, DType::I32),
        g.integers(Tensor::from([0, 7]), 9, 3, DType::I32),
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
