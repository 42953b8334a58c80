//! The other distributions, against their cumulative functions, moments and masses.

use super::statistics::{anderson, kolmogorov, moments, normal, pearson};
use flex::random::default_rng;
use flex::{DType, Tensor};

const N: usize = 60_000;

fn doubles(x: flex::Result<Tensor>) -> Vec<f64> {
    x.unwrap().astype(DType::F64).unwrap().to_vec().unwrap()
}

#[test]
fn functions_of_uniform_numbers() {
    for dtype in [DType::F32, DType::F64] {
        let mut g = default_rng(1);
        let check = |x: Vec<f64>, cumulative: fn(f64) -> f64| {
            assert!(kolmogorov(&x, cumulative) < 2.0);
            assert!(anderson(&x, cumulative) < 6.0);
        };
        check(doubles(g.standard_exponential(N, dtype)), |x| {
            -(-x).exp_m1()
        });
        check(doubles(g.exponential(3, N, dtype)), |x| {
            -(-x / 3.0).exp_m1()
        });
        check(doubles(g.gumbel(1, 2, N, dtype)), |x| {
            (-(-(x - 1.0) / 2.0).exp()).exp()
        });
        check(doubles(g.logistic(-1, 0.5, N, dtype)), |x| {
            1.0 / (1.0 + (-(x + 1.0) * 2.0).exp())
        });
        check(doubles(g.laplace(2, 3, N, dtype)), |x| {
            let y = (x - 2.0) / 3.0;
            if y < 0.0 {
                0.5 * y.exp()
            } else {
                1.0 - 0.5 * (-y).exp()
            }
        });
        check(doubles(g.lognormal(0.5, 2, N, dtype)), |x| {
            normal((x.ln() - 0.5) / 2.0)
        });
    }
}

/// Mean, variance and fourth central moment, within four standard deviations.
fn has_moments(name: &str, x: &[f64], mean: f64, variance: f64, kurtosis: f64) {
    let (m, v) = moments(x, mean, variance, kurtosis * variance * variance);
    assert!(m.abs() < 4.0 && v.abs() < 4.5, "{name}: {m} {v}");
}

#[test]
fn gamma_beta_and_chi_square() {
    let mut g = default_rng(2);
    for a in [0.05, 0.5, 1.0, 1.5, 10.0, 1e6] {
        let x = doubles(g.standard_gamma(a, N, DType::F64));
        has_moments("gamma", &x, a, a, 3.0 + 6.0 / a);
    }
    // of integer shapes, the cumulative function is a sum of Poisson masses
    let x = doubles(g.gamma(3, 2, N, DType::F64));
    let cumulative = |x: f64| {
        let y = x / 2.0;
        1.0 - (-y).exp() * (1.0 + y + y * y / 2.0)
    };
    assert!(kolmogorov(&x, cumulative) < 2.0 && anderson(&x, cumulative) < 6.0);
    // one with a shape of one half is half the square of a normal number
    let x = doubles(g.chisquare(1, N, DType::F64));
    let cumulative = |x: f64| 2.0 * normal(x.sqrt()) - 1.0;
    assert!(kolmogorov(&x, cumulative) < 2.0 && anderson(&x, cumulative) < 6.0);
    assert_eq!(doubles(g.standard_gamma(0, 3, DType::F32)), [0.0; 3]);
    for (a, b) in [(1.0, 1.0), (1.0, 3.0)] {
        let x = doubles(g.beta(a, b, N, DType::F64));
        assert!(kolmogorov(&x, |x| 1.0 - (1.0 - x).powf(b)) < 2.0);
    }
    for (a, b) in [(0.5, 0.5), (2.0, 5.0), (0.01, 0.02), (300.0, 200.0)] {
        let x = doubles(g.beta(a, b, N, DType::F64));
        let sum: f64 = a + b;
        let variance = a * b / (sum * sum * (sum + 1.0));
        let excess = 6.0 * ((a - b).powi(2) * (sum + 1.0) - a * b * (sum + 2.0))
            / (a * b * (sum + 2.0) * (sum + 3.0));
        has_moments("beta", &x, a / sum, variance, 3.0 + excess);
    }
    let x = doubles(g.beta(1e-300, 1e-300, 1000, DType::F64));
    assert!(x.iter().all(|x| *x == 0.0 || *x == 1.0));
    assert!((400.0..600.0).contains(&x.iter().sum()));
}

/// Compares counts of integers with their masses; those that are expected less than ten times are
/// counted together.
fn has_masses(name: &str, x: &[f64], mass: impl Fn(f64) -> f64) {
    let most = x.iter().copied().fold(0.0, f64::max);
    let (mut counts, mut expected) = (vec![0u64], vec![0.0]);
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut k = 0.0;
    while k <= most {
        let n = sorted.partition_point(|x| *x <= k) - sorted.partition_point(|x| *x < k);
        *counts.last_mut().unwrap() += n as u64;
        *expected.last_mut().unwrap() += mass(k) * x.len() as f64;
        if *expected.last().unwrap() >= 10.0 {
            counts.push(0);
            expected.push(0.0);
        }
        k += 1.0;
    }
    // what is above the largest belongs to the last
    *expected.last_mut().unwrap() =
        x.len() as f64 - expected[..expected.len() - 1].iter().sum::<f64>();
    if expected.last().unwrap() < &5.0 {
        let (n, e) = (counts.pop().unwrap(), expected.pop().unwrap());
        *counts.last_mut().unwrap() += n;
        *expected.last_mut().unwrap() += e;
    }
    let z = pearson(&counts, |k| expected[k]);
    assert!(z < 5.0, "{name}: {z}");
}

#[test]
fn counts_have_their_masses() {
    let mut g = default_rng(3);
    for lam in [0.3f64, 4.0, 9.99, 10.0, 35.0, 1000.0] {
        let x = doubles(g.poisson(lam, N));
        has_masses("poisson", &x, |k| {
            (k * lam.ln() - lam - libm::lgamma(k + 1.0)).exp()
        });
        has_moments("poisson", &x, lam, lam, 3.0 + 1.0 / lam);
    }
    for (n, p) in [
        (1, 0.3f64),
        (20, 0.2),
        (20, 0.9),
        (40, 0.5),
        (1000, 0.3),
        (1000, 0.995),
    ] {
        let x = doubles(g.binomial(n, p, N));
        let n = n as f64;
        has_masses("binomial", &x, |k| {
            let choose = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
            if k > n {
                0.0
            } else {
                (choose + k * p.ln() + (n - k) * (1.0 - p).ln()).exp()
            }
        });
        let q = 1.0 - p;
        has_moments(
            "binomial",
            &x,
            n * p,
            n * p * q,
            3.0 + (1.0 - 6.0 * p * q) / (n * p * q),
        );
    }
    for p in [0.01f64, 0.5, 0.9] {
        let x = doubles(g.geometric(p, N));
        has_masses("geometric", &x, |k| {
            if k < 1.0 {
                0.0
            } else {
                p * (1.0 - p).powf(k - 1.0)
            }
        });
    }
    assert_eq!(doubles(g.geometric(1, 3)), [1.0; 3]);
    assert_eq!(doubles(g.poisson(0, 3)), [0.0; 3]);
    assert_eq!(doubles(g.binomial(7, 1, 3)), [7.0; 3]);
    assert_eq!(doubles(g.binomial(0, 0.5, 3)), [0.0; 3]);
    // ends of the domains
    let x = doubles(g.poisson(9e18, 100));
    assert!(x.iter().all(|x| (x / 9e18 - 1.0).abs() < 1e-8));
    let x = doubles(g.binomial(1i64 << 60, 0.5, 100));
    assert!(x.iter().all(|x| (x / 2f64.powi(59) - 1.0).abs() < 1e-7));
    assert!(doubles(g.geometric(1e-300, 10)).iter().all(|x| *x > 1e18));
}

#[test]
fn vectors() {
    let mut g = default_rng(4);
    let p = Tensor::from([0.2f64, 0.0, 0.5, 0.3, 0.0]);
    let x = g.multinomial(30, &p, N / 4).unwrap();
    assert!(x.sum(1).unwrap().iter::<i64>().unwrap().all(|n| n == 30));
    for (k, p) in [0.2, 0.0, 0.5, 0.3, 0.0].into_iter().enumerate() {
        let x = doubles(x.select(1, k as i64));
        if p == 0.0 {
            assert!(x.iter().all(|x| *x == 0.0));
        } else {
            let v = 30.0 * p * (1.0 - p);
            has_moments(
                "multinomial",
                &x,
                30.0 * p,
                v,
                3.0 + (1.0 - 6.0 * p * (1.0 - p)) / v,
            );
        }
    }
    // each row by its own number of trials and probabilities
    let n = Tensor::from([[3, 0], [1000, 7]]);
    let p = Tensor::from([[0.5f32, 0.5, 0.0], [0.0, 0.0, 1.0]]);
    let x = g.multinomial(&n, &p, [2, 2]).unwrap();
    assert_eq!(x.sum(2).unwrap().astype(DType::I32).unwrap(), n);
    let x = x.to_vec::<i64>().unwrap();
    assert_eq!(
        (x[2], &x[3..6], x[8], &x[9..]),
        (0, &[0, 0, 0][..], 0, &[0, 0, 7][..])
    );
    assert!((400..600).contains(&x[6]));
    let alpha = Tensor::from([0.5f64, 1.0, 2.5]);
    let x = g.dirichlet(&alpha, N / 4, DType::F64).unwrap();
    assert!(
        x.sum(1)
            .unwrap()
            .iter::<f64>()
            .unwrap()
            .all(|x| (x - 1.0).abs() < 1e-12)
    );
    let one = doubles(x.select(1, 1));
    assert!(kolmogorov(&one, |x| 1.0 - (1.0 - x).powi(3)) < 2.0);
    let x = g
        .dirichlet(&Tensor::from([1e-300f64; 3]), 300, DType::F64)
        .unwrap();
    assert!(x.iter::<f64>().unwrap().all(|x| x == 0.0 || x == 1.0));
    let mean = Tensor::from([1.0f64, -2.0, 0.5]);
    let covariance = [[2.0f64, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]];
    let x = g
        .multivariate_normal(&mean, &Tensor::from(covariance), N, DType::F64)
        .unwrap();
    let columns: Vec<Vec<f64>> = (0..3).map(|k| doubles(x.select(1, k))).collect();
    for (i, m) in [1.0, -2.0, 0.5].into_iter().enumerate() {
        let deviation = covariance[i][i].sqrt();
        assert!(kolmogorov(&columns[i], |x| normal((x - m) / deviation)) < 2.0);
        for j in 0..i {
            let n = [1.0, -2.0, 0.5][j];
            let pairs = columns[i].iter().zip(&columns[j]);
            let got = pairs.map(|(x, y)| (x - m) * (y - n)).sum::<f64>() / N as f64;
            let spread = covariance[i][i] * covariance[j][j] + covariance[i][j].powi(2);
            assert!((got - covariance[i][j]).abs() < 4.0 * (spread / N as f64).sqrt());
        }
    }
    let singular = Tensor::from([[0.0f32, 0.0], [0.0, 4.0]]);
    let x = g
        .multivariate_normal(&Tensor::from([5.0f32, 0.0]), &singular, 3, DType::F32)
        .unwrap();
    assert!(doubles(x.select(1, 0)).iter().all(|x| *x == 5.0));
}

#[test]
fn errors_leave_the_state() {
    let mut g = default_rng(1);
    g.poisson(3, 3).unwrap();
    let before = g.clone();
    let (two, p) = (Tensor::from([1.0f32, 2.0]), Tensor::from([0.5f32, 0.4]));
    let f = DType::F32;
    let errors = [
        g.exponential(-1, 3, f),
        g.standard_exponential(3, DType::I32),
        g.gumbel(0, -1, 3, f),
        g.logistic(0, -1, 3, f),
        g.laplace(0, f64::NAN, 3, f),
        g.lognormal(0, -1, 3, f),
        g.lognormal(0, 1, 3, DType::Bool),
        g.standard_gamma(-1, 3, f),
        g.standard_gamma(f64::NAN, 3, f),
        g.gamma(1, -1, 3, f),
        g.gamma(f64::INFINITY, 1, 3, f),
        g.chisquare(0, 3, f),
        g.beta(0, 1, 3, f),
        g.beta(1, 1, 3, DType::I64),
        g.poisson(-1, 3),
        g.poisson(1e19, 3),
        g.poisson(f64::NAN, 3),
        g.binomial(-1, 0.5, 3),
        g.binomial(2.5, 0.5, 3),
        g.binomial(3, 1.5, 3),
        g.binomial(3, f64::NAN, 3),
        g.geometric(0, 3),
        g.geometric(1.5, 3),
        g.poisson(&two, 3),
        g.poisson(1, usize::MAX / 64),
        g.multinomial(3, &p, 3),
        g.multinomial(3, &two, 3),
        g.multinomial(3, &Tensor::from([[1.0f32], [0.5]]), 2),
        g.multinomial(3, &Tensor::from([[1.0f32], [1.0]]), 3),
        g.multinomial(3, &Tensor::zeros([2, 0], f).unwrap(), 2),
        g.multinomial(-1, &Tensor::from([1.0f32]), 2),
        g.multinomial(2.5, &Tensor::from([1.0f32]), 2),
        g.dirichlet(&Tensor::from([0.0f32, 1.0]), 3, f),
        g.dirichlet(&two, 3, DType::I64),
        g.multivariate_normal(&two, &two, 3, f),
        g.multivariate_normal(&two, &Tensor::from([[1.0f32, 2.0], [2.0, 1.0]]), 3, f),
        g.multivariate_normal(&two, &Tensor::from([[1.0f32, 0.5], [0.0, 1.0]]), 3, f),
        g.multivariate_normal(&two, &Tensor::from([[0.0f32, 0.5], [0.5, 1.0]]), 3, f),
    ];
    for (k, e) in errors.into_iter().enumerate() {
        assert!(e.is_err(), "{k}");
        assert_eq!(g, before, "{k}");
    }
    if cfg!(feature = "messages") {
        let e = g
            .multinomial(3, &Tensor::from([0.5f64, 0.25]), 3)
            .unwrap_err();
        assert_eq!(
            e.to_string(),
            "multinomial: pvals sums to 0.75; it must sum to 1"
        );
        let e = g.binomial(1e300, 0.5, 3).unwrap_err().to_string();
        assert!(e.starts_with("binomial: n is 1e300; it must be"), "{e}");
        let e = g.poisson(-1, 3).unwrap_err().to_string();
        assert!(
            e.starts_with("poisson: lam is -1; it must be from 0 to 9.22e18"),
            "{e}"
        );
    }
}

#[test]
fn noncentral_distributions_and_angles() {
    let mut g = default_rng(31);
    for (df, nonc) in [(0.5, 3.0), (1.0, 0.0), (4.0, 0.25), (7.5, 30.0)] {
        let x = doubles(g.noncentral_chisquare(df, nonc, N, DType::F64));
        let half: f64 = df + 2.0 * nonc;
        let excess = 12.0 * (df + 4.0 * nonc) / (half * half);
        has_moments("noncentral", &x, df + nonc, 2.0 * half, 3.0 + excess);
    }
    let x = doubles(g.noncentral_f(3, 40, 2, N, DType::F64));
    let mean = x.iter().sum::<f64>() / N as f64;
    assert!((mean - 40.0 / 38.0 * 5.0 / 3.0).abs() < 0.05);
    // evenly distributed, and nearly normal
    let x = doubles(g.vonmises(1.0, 0.0, N, DType::F64));
    let turn = 2.0 * core::f64::consts::PI;
    assert!(kolmogorov(&x, |x| x / turn + 0.5) < 2.0);
    for kappa in [5e5, 1e8] {
        let x = doubles(g.vonmises(0.0, kappa, N, DType::F64));
        assert!(kolmogorov(&x, |x| normal(x * f64::sqrt(kappa))) < 2.0);
    }
    let x = doubles(g.vonmises(3.0, 2.0, N, DType::F64));
    assert!(x.iter().all(|x| x.abs() <= turn / 2.0));
    // the mean of the cosine is a ratio of Bessel functions
    let cosine = x.iter().map(|x| (x - 3.0).cos()).sum::<f64>() / N as f64;
    assert!((cosine - 0.697_774_657_964_008).abs() < 0.01);
}

#[test]
fn counts_of_failures_ranks_and_populations() {
    let mut g = default_rng(32);
    for (n, p) in [(1.0, 0.5), (0.5, 0.25), (20.0, 0.75), (300.0, 0.1)] {
        let x = doubles(g.negative_binomial(n, p, N));
        let (mean, variance) = (n * (1.0 - p) / p, n * (1.0 - p) / (p * p));
        let excess = 6.0 / n + p * p / ((1.0 - p) * n);
        has_moments("negative binomial", &x, mean, variance, 3.0 + excess);
    }
    // zeta(2) and zeta(4)
    for (a, zeta) in [(2.0, 1.644_934_066_848_226_4), (4.0, 1.082_323_233_711_138)] {
        let x = doubles(g.zipf(a, N));
        let masses: Vec<f64> = (1..=5).map(|k| f64::powf(k as f64, -a) / zeta).collect();
        for (k, mass) in masses.iter().enumerate() {
            let found = x.iter().filter(|x| **x == (k + 1) as f64).count() as f64;
            let spread = (N as f64 * mass * (1.0 - mass)).sqrt();
            assert!(
                (found - N as f64 * mass).abs() < 5.0 * spread,
                "zipf {a} {k}"
            );
        }
    }
    for (good, bad, sample) in [
        (5.0, 3.0, 4.0),
        (30.0, 70.0, 20.0),
        (70.0, 30.0, 95.0),
        (9000.0, 5000.0, 7000.0),
    ] {
        let x = doubles(g.hypergeometric(good, bad, sample, N));
        let all: f64 = good + bad;
        let (mean, p) = (sample * good / all, good / all);
        let variance = mean * (1.0 - p) * (all - sample) / (all - 1.0);
        has_moments("hypergeometric", &x, mean, variance, 3.5);
        assert!(
            x.iter()
                .all(|x| *x <= good.min(sample) && *x >= sample - bad)
        );
    }
    let x = g
        .multivariate_hypergeometric(&Tensor::from([8, 0, 4, 1]), 6, 1000)
        .unwrap();
    assert_eq!(x.sum(1).unwrap().to_vec::<i64>().unwrap(), [6; 1000]);
    assert!(g.hypergeometric(1, 2, 4, 3).is_err() && g.zipf(1.0, 3).is_err());
    assert!(
        g.negative_binomial(1e19, 0.1, 3).is_err() && g.vonmises(0, -1, 3, DType::F32).is_err()
    );
    assert!(
        g.multivariate_hypergeometric(&Tensor::from([1]), 2, 3)
            .is_err()
    );
}
