//! Permutations, choices, bytes and related generators.

use super::statistics::{kolmogorov, pearson};
use flex::random::{Choice, default_rng};
use flex::{DType, Tensor};

fn integers(x: flex::Result<Tensor>) -> Vec<i64> {
    x.unwrap().to_vec().unwrap()
}
const ONCE: Choice = Choice {
    replace: false,
    p: None,
};

#[test]
fn permutations_are_as_likely() {
    let mut g = default_rng(1);
    let mut counts = vec![0; 256];
    for _ in 0..24_000 {
        let order = integers(g.permutation(4));
        counts[order.iter().fold(0, |k, x| 4 * k + *x as usize)] += 1;
    }
    let counts: Vec<u64> = counts.into_iter().filter(|n| *n > 0).collect();
    assert_eq!(counts.len(), 24);
    assert!(pearson(&counts, |_| 1000.0) < 5.0);
    for n in [0, 1, 2, 511, 513, 100_000] {
        let mut order = integers(g.permutation(n));
        if n > 500 {
            let steps: Vec<f64> = order.iter().map(|x| *x as f64 / n as f64).collect();
            assert!(kolmogorov(&steps[..n / 10], |x| x) < 2.0);
        }
        order.sort();
        assert!(order.into_iter().eq(0..n as i64));
    }
}

#[test]
fn shuffles_move_whole_parts() {
    let x = Tensor::arange(0, 60, 1, DType::I64)
        .unwrap()
        .reshape((20, 3))
        .unwrap();
    let mut g = default_rng(2);
    let y = g.shuffled(&x, 0).unwrap();
    let mut rows = integers(y.select(1, 0));
    assert_ne!(rows, integers(x.select(1, 0)));
    assert!(
        rows.iter().eq(integers(y.select(1, 2))
            .iter()
            .map(|x| x - 2)
            .collect::<Vec<_>>()
            .iter())
    );
    rows.sort();
    assert_eq!(rows, integers(x.select(1, 0)));
    let mut z = x.clone();
    default_rng(2).shuffle(&mut z, 0).unwrap();
    assert_eq!(integers(Ok(z)), integers(Ok(y)));
    let y = g.permuted(&x, 0).unwrap();
    let columns: Vec<Vec<i64>> = (0..3).map(|k| integers(y.select(1, k))).collect();
    for (k, column) in columns.iter().enumerate() {
        let mut sorted = column.clone();
        sorted.sort();
        assert_eq!(sorted, integers(x.select(1, k as i64)));
    }
    assert_ne!(
        columns[0],
        columns[1].iter().map(|x| x - 1).collect::<Vec<_>>()
    );
    let before = g.clone();
    assert!(g.shuffled(&x, 2).is_err() && g.permuted(&x, -3).is_err());
    assert!(
        g.shuffle(&mut Tensor::zeros((), DType::F32).unwrap(), 0)
            .is_err()
    );
    assert_eq!(g, before);
}

#[test]
fn choices() {
    let mut g = default_rng(3);
    let x = integers(g.choice(5, (100, 100), Choice::default()));
    let mut counts = vec![0; 5];
    x.iter().for_each(|x| counts[*x as usize] += 1);
    assert!(pearson(&counts, |_| 2000.0) < 5.0);
    // each pair without replacement
    for n in [5usize, 40] {
        let mut counts = vec![0; n * n];
        for _ in 0..100 * n * (n - 1) {
            let x = integers(g.choice(n, 2, ONCE));
            counts[x[0] as usize * n + x[1] as usize] += 1;
        }
        assert!((0..n).all(|k| counts[k * n + k] == 0));
        counts.retain(|k| *k > 0);
        assert_eq!(counts.len(), n * (n - 1));
        assert!(pearson(&counts, |_| 100.0) < 5.0);
    }
    // few of many, and the same way of choosing
    let mut few = integers(g.choice(1 << 40, 1000, ONCE));
    assert!(
        kolmogorov(
            &few.iter()
                .map(|x| *x as f64 / 2f64.powi(40))
                .collect::<Vec<_>>(),
            |x| x
        ) < 2.0
    );
    few.sort();
    few.dedup();
    assert_eq!(few.len(), 1000);
    let all = integers(default_rng(9).choice(1000, 1000, ONCE));
    assert_eq!(integers(default_rng(9).choice(1000, 100, ONCE)), all[..100]);
    assert_eq!(integers(default_rng(9).permutation(1000)), all);
}

#[test]
fn weighted_choices() {
    let mut g = default_rng(4);
    let p = Tensor::from([0.0f64, 0.1, 0.0, 0.6, 0.3, 0.0]);
    let how = Choice {
        p: Some(&p),
        ..Default::default()
    };
    let mut counts = [0; 6];
    integers(g.choice(6, 50_000, how))
        .iter()
        .for_each(|x| counts[*x as usize] += 1);
    assert_eq!((counts[0], counts[2], counts[5]), (0, 0, 0));
    let seen = [counts[1], counts[3], counts[4]];
    assert!(pearson(&seen, |k| [5e3, 3e4, 1.5e4][k]) < 5.0);
    // one after the other from those that are left
    let once = Choice {
        replace: false,
        ..how
    };
    let mut counts = [0; 36];
    for _ in 0..20_000 {
        let x = integers(g.choice(6, 2, once));
        counts[(x[0] * 6 + x[1]) as usize] += 1;
    }
    let weights = [0.0, 0.1, 0.0, 0.6, 0.3, 0.0];
    for i in 0..6 {
        for j in 0..6 {
            let p = if i == j {
                0.0
            } else {
                weights[i] * weights[j] / (1.0 - weights[i])
            };
            let z = (counts[6 * i + j] as f64 - 2e4 * p) / (2e4 * p * (1.0 - p)).sqrt().max(1e-9);
            assert!(z.abs() < 4.5, "{i} {j}: {z}");
        }
    }
    let before = g.clone();
    let wrong = [
        g.choice(6, 4, once),
        g.choice(5, 4, how),
        g.choice(3, 4, ONCE),
        g.choice(0, 1, Choice::default()),
        g.choice(
            2,
            1,
            Choice {
                p: Some(&Tensor::from([0.5f32, 0.4])),
                replace: true,
            },
        ),
        g.choice(
            2,
            1,
            Choice {
                p: Some(&Tensor::from([1.5f32, -0.5])),
                replace: true,
            },
        ),
        g.choice(
            2,
            1,
            Choice {
                p: Some(&Tensor::from([f32::NAN, 0.5])),
                replace: true,
            },
        ),
    ];
    for (k, e) in wrong.into_iter().enumerate() {
        assert!(e.is_err(), "{k}");
    }
    assert_eq!(g, before);
}

#[test]
fn bytes_are_even() {
    let x = default_rng(5).bytes(256_000).unwrap();
    let mut counts = vec![0; 256];
    x.iter().for_each(|x| counts[*x as usize] += 1);
    assert!(pearson(&counts, |_| 1000.0) < 5.0);
    assert_eq!(default_rng(5).bytes(77).unwrap(), x[..77]);
}

#[test]
fn related_generators_are_independent() {
    let mut g = default_rng(6);
    let mut all = g.spawn(3).unwrap();
    all.extend(g.spawn(2).unwrap());
    let grandchildren = all[0].spawn(2).unwrap();
    all.extend(grandchildren);
    all.extend([g.clone(), g.jumped(1), g.jumped(2)]);
    let numbers: Vec<Vec<f64>> = all
        .iter_mut()
        .map(|g| g.random(20_000, DType::F64).unwrap().to_vec().unwrap())
        .collect();
    for i in 0..numbers.len() {
        assert!(kolmogorov(&numbers[i], |x| x) < 2.1);
        for j in 0..i {
            let pairs = numbers[i].iter().zip(&numbers[j]);
            let sum: f64 = pairs.map(|(x, y)| (x - 0.5) * (y - 0.5)).sum();
            assert!((12.0 * sum / 20_000f64.sqrt()).abs() < 4.5, "{i} {j}");
        }
    }
    assert_eq!(
        default_rng(6).spawn(2).unwrap(),
        default_rng(6).spawn(3).unwrap()[..2]
    );
}
