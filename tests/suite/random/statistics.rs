//! Tests of goodness of fit.

/// Kolmogorov and Smirnov's distance times the root of the number of values, which exceeds 2 with a
/// probability of 0.0007 if they have this cumulative function.
pub fn kolmogorov(x: &[f64], cumulative: impl Fn(f64) -> f64) -> f64 {
    let u = probabilities(x, cumulative);
    let n = u.len() as f64;
    let mut distance = 0.0f64;
    for (k, u) in u.iter().enumerate() {
        distance = distance.max((k as f64 + 1.0) / n - u).max(u - k as f64 / n);
    }
    distance * n.sqrt()
}

/// Anderson and Darling's statistic, which weighs the tails: it exceeds 6 with a probability of
/// 0.001.
pub fn anderson(x: &[f64], cumulative: impl Fn(f64) -> f64) -> f64 {
    let u = probabilities(x, cumulative);
    let n = u.len();
    let sum: f64 = (0..n)
        .map(|i| (2 * i + 1) as f64 * (u[i].ln() + (-u[n - 1 - i]).ln_1p()))
        .sum();
    -(n as f64) - sum / n as f64
}

fn probabilities(x: &[f64], cumulative: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut u: Vec<f64> = x.iter().map(|x| cumulative(*x)).collect();
    u.sort_by(f64::total_cmp);
    u
}

/// By how many standard deviations Pearson's statistic of these counts is above its mean, with
/// `expected` in each.
pub fn pearson(counts: &[u64], expected: impl Fn(usize) -> f64) -> f64 {
    let sum: f64 = counts
        .iter()
        .enumerate()
        .map(|(k, n)| (*n as f64 - expected(k)).powi(2) / expected(k))
        .sum();
    let freedom = (counts.len() - 1) as f64;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

/// By how many standard deviations of their estimates the mean and the variance differ from those
/// given, with the fourth central moment.
pub fn moments(x: &[f64], mean: f64, variance: f64, fourth: f64) -> (f64, f64) {
    let n = x.len() as f64;
    let got = x.iter().sum::<f64>() / n;
    let spread = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (
        (got - mean) / (variance / n).sqrt(),
        (spread - variance) / ((fourth - variance * variance) / n).sqrt(),
    )
}

/// Correlation of values `lag` apart, in standard deviations.
pub fn serial(x: &[f64], lag: usize, mean: f64, variance: f64) -> f64 {
    let n = x.len() - lag;
    let sum: f64 = (0..n).map(|i| (x[i] - mean) * (x[i + lag] - mean)).sum();
    sum / variance / (n as f64).sqrt()
}

/// The normal distribution's cumulative function.
pub fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}
