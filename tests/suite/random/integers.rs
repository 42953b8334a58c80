//! Integers of a range.

use super::statistics::pearson;
use flex::random::default_rng;
use flex::{DType, Tensor};

const DTYPES: [DType; 8] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
];

fn counted(x: &Tensor, low: i64, count: usize) -> Vec<u64> {
    let mut counts = vec![0; count];
    for x in x.astype(DType::I64).unwrap().to_vec::<i64>().unwrap() {
        counts[(x - low) as usize] += 1;
    }
    counts
}

#[test]
fn every_integer_is_as_likely() {
    for dtype in DTYPES {
        let low = if dtype.is_signed() { -50 } else { 0 };
        for count in [1, 2, 3, 10, 100] {
            let mut g = default_rng(count as u64);
            let x = g.integers(low, low + count as i64, 100_000, dtype).unwrap();
            assert_eq!(x.dtype(), dtype);
            let counts = counted(&x, low, count);
            assert!(counts.iter().all(|n| *n > 0));
            if count > 1 {
                let z = pearson(&counts, |_| 1e5 / count as f64);
                assert!(z < 5.0, "{dtype} {count}: {z}");
            }
        }
    }
}

/// Counts in equal parts of ranges that reject many draws, and of all integers.
#[test]
fn wide_ranges_are_even() {
    for (low, high, dtype) in [
        (0i128, 3 << 30, DType::I64),
        (0, 3 << 22, DType::I32),
        (-(1 << 31), (1 << 31) - 1, DType::I32),
        (0, (1 << 32) - 1, DType::U32),
        (0, 3 << 62, DType::U64),
        (-(3 << 61), 3 << 61, DType::I64),
        (-(1 << 63), (1 << 63) - 1, DType::I64),
        (0, (1 << 64) - 1, DType::U64),
        (-128, 127, DType::I8),
        (0, 65535, DType::U16),
    ] {
        let mut g = default_rng(11);
        let x = g.integers_inclusive(low, high, 60_000, dtype).unwrap();
        let mut counts = vec![0u64; 8];
        let values: Vec<i128> = match dtype {
            DType::U64 => x
                .to_vec::<u64>()
                .unwrap()
                .iter()
                .map(|x| *x as i128)
                .collect(),
            _ => {
                let x = x.astype(DType::I64).unwrap();
                x.to_vec::<i64>()
                    .unwrap()
                    .iter()
                    .map(|x| *x as i128)
                    .collect()
            }
        };
        for x in values {
            assert!((low..=high).contains(&x));
            counts[((x - low) * 8 / (high - low + 1)) as usize] += 1;
        }
        let z = pearson(&counts, |_| 7500.0);
        assert!(z < 5.0, "{dtype} {low}..={high}: {z}");
    }
}

#[test]
fn bounds_are_exact() {
    let mut g = default_rng(1);
    for dtype in DTYPES {
        let [low, high] = dtype.integers();
        let x = g.integers_inclusive(high, high, 5, dtype).unwrap();
        assert_eq!(
            x.astype(DType::U64).unwrap().to_vec::<u64>().unwrap(),
            [high as u64; 5]
        );
        let x = g.integers(low, low + 1, 5, dtype).unwrap();
        assert_eq!(
            x.astype(DType::I64).unwrap().to_vec::<i64>().unwrap(),
            [low as i64; 5]
        );
        assert!(g.integers(low - 1, high, 5, dtype).is_err());
        assert!(g.integers_inclusive(low, high + 1, 5, dtype).is_err());
    }
    let coins = g.integers(0, 2, 1000, DType::Bool).unwrap();
    let heads = coins
        .to_vec::<bool>()
        .unwrap()
        .iter()
        .filter(|x| **x)
        .count();
    assert!((400..600).contains(&heads));
    assert!(g.integers(0, 3, 5, DType::Bool).is_err());
}

#[test]
fn the_dtype_does_not_change_the_integers() {
    let of = |dtype| {
        let x = default_rng(2).integers(3, 90, 1000, dtype).unwrap();
        x.astype(DType::I64).unwrap().to_vec::<i64>().unwrap()
    };
    for dtype in DTYPES {
        assert_eq!(of(dtype), of(DType::I64));
    }
}

#[test]
fn bounds_may_be_tensors() {
    let low = Tensor::from([[0i64], [-5], [100]]);
    let high = Tensor::from([10i32, 1, 200]).reshape((3, 1)).unwrap();
    let x = default_rng(3)
        .integers(&low, &high, (3, 6000), DType::I16)
        .unwrap();
    let x = x.astype(DType::I64).unwrap();
    for (row, low, count) in [(0, 0, 10), (1, -5, 6), (2, 100, 100)] {
        let counts = counted(&x.select(0, row).unwrap(), low, count);
        assert!(pearson(&counts, |_| 6000.0 / count as f64) < 5.0);
    }
    // a range of all integers beside one of a single one
    let low = Tensor::from([i64::MIN, 7]);
    let high = Tensor::from([i64::MAX, 7]);
    let x = default_rng(3)
        .integers_inclusive(&low, &high, (500, 2), DType::I64)
        .unwrap();
    let x = x.to_vec::<i64>().unwrap();
    assert!(x.iter().skip(1).step_by(2).all(|x| *x == 7));
    let negative = x.iter().step_by(2).filter(|x| **x < 0).count();
    assert!((200..300).contains(&negative));
}
