//! Transforms of slices, by plans and by tables computed at compile time.

use crate::common::Rng;
use flex::fft::{ComplexPlan, ComplexTable, RealPlan, RealTable};
use flex::{Error, Result};

/// Element `k` of a complex transform, by the definition.
fn element(x: &[f32], k: usize) -> [f64; 2] {
    let n = x.len() / 2;
    let mut sum = [0.0; 2];
    for (j, z) in x.chunks_exact(2).enumerate() {
        let (s, c) = (-2.0 * std::f64::consts::PI * (j * k % n) as f64 / n as f64).sin_cos();
        let (re, im) = (z[0] as f64, z[1] as f64);
        sum[0] += re * c - im * s;
        sum[1] += re * s + im * c;
    }
    sum
}

#[track_caller]
fn assert_close(got: &[f32], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    let size = want.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    for (k, (got, want)) in got.iter().zip(want).enumerate() {
        assert!(
            (*got as f64 - want).abs() < 1e-6 * size,
            "{k}: {got}, not {want}"
        );
    }
}

fn random(n: usize) -> Vec<f32> {
    let mut rng = Rng(n as u64);
    (0..n).map(|_| rng.unit() as f32).collect()
}

type Transform<'a> = &'a dyn Fn(&[f32], &mut [f32]) -> Result<()>;

fn complex(n: usize, forward: Transform, inverse: Transform) {
    let x = random(2 * n);
    let (mut y, mut back) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
    forward(&x, &mut y).unwrap();
    let want: Vec<f64> = (0..n).flat_map(|k| element(&x, k)).collect();
    assert_close(&y, &want);
    inverse(&y, &mut back).unwrap();
    assert_close(&back, &x.iter().map(|x| *x as f64).collect::<Vec<_>>());
    assert!(matches!(forward(&x[1..], &mut y), Err(Error::Shape { .. })));
    assert!(matches!(inverse(&x, &mut y[1..]), Err(Error::Shape { .. })));
}

fn real(n: usize, forward: Transform, inverse: Transform) {
    let x = random(n);
    let pairs: Vec<f32> = x.iter().flat_map(|x| [*x, 0.0]).collect();
    let (mut y, mut back) = (vec![0.0; 2 * (n / 2 + 1)], vec![0.0; n]);
    forward(&x, &mut y).unwrap();
    let want: Vec<f64> = (0..=n / 2).flat_map(|k| element(&pairs, k)).collect();
    assert_close(&y, &want);
    inverse(&y, &mut back).unwrap();
    assert_close(&back, &x.iter().map(|x| *x as f64).collect::<Vec<_>>());
    assert!(matches!(forward(&x, &mut y[1..]), Err(Error::Shape { .. })));
    assert!(matches!(
        inverse(&y[1..], &mut back),
        Err(Error::Shape { .. })
    ));
}

#[test]
fn plans_match_the_definition() {
    for n in (1..40).chain([64, 97, 100, 256, 289, 1000]) {
        let plan = ComplexPlan::new(n).unwrap();
        complex(n, &|x, y| plan.forward(x, y), &|x, y| plan.inverse(x, y));
        let plan = RealPlan::new(n).unwrap();
        real(n, &|x, y| plan.forward(x, y), &|x, y| plan.inverse(x, y));
    }
    assert!(matches!(RealPlan::<f32>::new(0), Err(Error::Value { .. })));
    assert!(matches!(
        ComplexPlan::<f32>::new(0),
        Err(Error::Value { .. })
    ));
    assert!(matches!(
        ComplexPlan::<f32>::new(usize::MAX),
        Err(Error::Memory { .. })
    ));
}

#[test]
fn complex_tables_match_the_definition() {
    macro_rules! check {
        ($($n:literal)*) => { $({
            static TABLE: ComplexTable<$n> = ComplexTable::new();
            let work = || vec![0.0; 2 * $n];
            complex($n, &|x, y| TABLE.forward(x, y, &mut work()), &|x, y| TABLE.inverse(x, y, &mut work()));
        })* };
    }
    check!(1 2 3 4 5 7 8 11 13 16 30 45 64 143 256 360);
    static TABLE: ComplexTable<4> = ComplexTable::new();
    let short = TABLE.forward(&[0.0; 8], &mut [0.0; 8], &mut [0.0; 7]);
    assert!(matches!(short, Err(Error::Shape { .. })));
}

#[test]
fn real_tables_match_the_definition() {
    macro_rules! check {
        ($($n:literal)*) => { $({
            static TABLE: RealTable<$n> = RealTable::new();
            let work = || vec![0.0; $n];
            real($n, &|x, y| TABLE.forward(x, y, &mut work()), &|x, y| TABLE.inverse(x, y, &mut work()));
        })* };
    }
    check!(2 4 6 8 10 12 14 16 22 26 30 32 60 90 128 256 286 1024);
}
