//! Activations and losses with few callers, by loops in float64 over their definitions.

use super::{Rng, tensor, values};
use flex::{Tensor, nn};
use nn::Reduction;

/// Within a few units in the last place of float32, relative to the larger of 1 and the value.
fn close(y: &Tensor, want: &[f64]) {
    let y = y.to_vec::<f32>().unwrap();
    assert_eq!(y.len(), want.len());
    for (i, (y, want)) in y.iter().zip(want).enumerate() {
        let bound = 1e-6 * want.abs().max(1.0);
        let y = f64::from(*y);
        assert!(y == *want || (y - want).abs() <= bound, "{i}: {y} {want}");
    }
}
fn each(x: &[f32], f: impl Fn(f64) -> f64) -> Vec<f64> {
    x.iter().map(|x| f(f64::from(*x))).collect()
}

#[test]
fn activations_with_a_parameter() {
    let mut x = values(300, 1);
    x.extend([0.0, -0.0, 0.5, -0.5, 30.0, -30.0, f32::INFINITY]);
    let t = Tensor::from(&x[..]);
    for alpha in [0.25, 1.0, 3.0] {
        let want = each(&x, |x| x.max(0.0) + (alpha * (x / alpha).exp_m1()).min(0.0));
        close(&nn::celu(&t, alpha).unwrap(), &want);
    }
    assert!(nn::celu(&t, 0).is_err());
    for lambd in [0.0f32, 0.5, 1.25] {
        let hard = x.iter().map(|x| if x.abs() > lambd { *x } else { 0.0 });
        let y = nn::hardshrink(&t, lambd).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), hard.collect::<Vec<_>>());
        let soft = x.iter().map(|x| match x.abs() > lambd {
            true => x - lambd.copysign(*x),
            false => 0.0,
        });
        let y = nn::softshrink(&t, lambd).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), soft.collect::<Vec<_>>());
        let above = x.iter().map(|x| if *x > lambd { *x } else { -7.0 });
        let y = nn::threshold(&t, lambd, -7.0).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), above.collect::<Vec<_>>());
    }
    assert!(nn::softshrink(&t, -0.5).is_err());
    let whole = nn::threshold(Tensor::from([1, 5, -3]), 1, 20).unwrap();
    assert_eq!(whole.to_vec::<i32>().unwrap(), [20, 5, 20]);
}

#[test]
fn softmin_is_the_softmax_of_the_opposite() {
    let x = tensor(&[7, 13], 2);
    let rows = x.to_vec::<f32>().unwrap();
    let want = rows.chunks(13).flat_map(|row| {
        let all = each(row, |x| (-x).exp());
        let sum: f64 = all.iter().sum();
        all.into_iter().map(move |e| e / sum)
    });
    let want: Vec<f64> = want.collect();
    close(&nn::softmin(&x, -1).unwrap(), &want);
    close(&nn::softmin(&x, 1usize).unwrap(), &want);
    let integers = nn::softmin(&Tensor::from([0, 0]), 0).unwrap();
    assert_eq!(integers.to_vec::<f32>().unwrap(), [0.5, 0.5]);
}

/// Checks a loss of terms: each of them, their sum and their mean, which is the default.
fn reduced(terms: &[f64], loss: impl Fn(Option<Reduction>) -> Tensor) {
    let sum: f64 = terms.iter().sum();
    close(&loss(Some(Reduction::None)), terms);
    let y = loss(Some(Reduction::Sum)).item::<f32>().unwrap();
    assert!((f64::from(y) - sum).abs() <= 1e-6 * terms.iter().map(|t| t.abs()).sum::<f64>());
    for mean in [loss(Some(Reduction::Mean)), loss(None)] {
        close(&mean, &[sum / terms.len() as f64]);
    }
}
fn signs(n: usize, seed: u64) -> Vec<f32> {
    let mut rng = Rng(seed);
    (0..n).map(|_| [1.0, -1.0][rng.below(2)]).collect()
}

#[test]
fn losses_of_margins() {
    let (a, b, signs) = (values(60, 3), values(60, 4), signs(60, 5));
    let [x1, x2, t] = [&a, &b, &signs].map(|v| Tensor::from(&v[..]));
    let terms: Vec<f64> = (0..60)
        .map(|i| {
            let [a, b, t] = [a[i], b[i], signs[i]].map(f64::from);
            (0.75 - t * (a - b)).max(0.0)
        })
        .collect();
    reduced(&terms, |reduction| {
        let mut options = nn::MarginRankingLoss {
            margin: 0.75,
            ..().into()
        };
        options.reduction = reduction.unwrap_or(options.reduction);
        nn::margin_ranking_loss(&x1, &x2, &t, options).unwrap()
    });
    let y = nn::margin_ranking_loss(&x1, &x2, &t, ()).unwrap(); // a margin of 0
    let terms =
        (0..60).map(|i| (f64::from(-signs[i]) * (f64::from(a[i]) - f64::from(b[i]))).max(0.0));
    close(&y, &[terms.sum::<f64>() / 60.0]);

    let rows = |v: &[f32]| v.chunks(6).map(|r| each(r, |x| x)).collect::<Vec<_>>();
    let (p, q) = (rows(&a), rows(&b));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let terms: Vec<f64> = (0..10)
        .map(|i| {
            let cos = dot(&p[i], &q[i]) / (dot(&p[i], &p[i]) * dot(&q[i], &q[i])).sqrt();
            if signs[i] > 0.0 {
                1.0 - cos
            } else {
                (cos - 0.25).max(0.0)
            }
        })
        .collect();
    let [m1, m2] = [&x1, &x2].map(|x| x.reshape((10, 6)).unwrap());
    let t = t.narrow(0, 0, 10).unwrap();
    reduced(&terms, |reduction| {
        let mut options = nn::CosineEmbeddingLoss {
            margin: 0.25,
            ..().into()
        };
        options.reduction = reduction.unwrap_or(options.reduction);
        nn::cosine_embedding_loss(&m1, &m2, &t, options).unwrap()
    });

    let c = values(60, 6);
    let r = rows(&c);
    let distance = |a: &[f64], b: &[f64]| {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b + 1e-6).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let m3 = Tensor::from_slice(&c, (10, 6)).unwrap();
    for swap in [false, true] {
        let terms: Vec<f64> = (0..10)
            .map(|i| {
                let mut far = distance(&p[i], &r[i]);
                if swap {
                    far = far.min(distance(&q[i], &r[i]));
                }
                (1.0 + distance(&p[i], &q[i]) - far).max(0.0)
            })
            .collect();
        reduced(&terms, |reduction| {
            let mut options = nn::TripletMarginLoss { swap, ..().into() };
            options.reduction = reduction.unwrap_or(options.reduction);
            nn::triplet_margin_loss(&m1, &m2, &m3, options).unwrap()
        });
    }
}

#[test]
fn loss_of_a_gaussian() {
    let (x, t) = (values(50, 7), values(50, 8));
    let var: Vec<f32> = values(50, 9).iter().map(|v| v * v).chain([]).collect();
    let [a, b, v] = [&x, &t, &var].map(|v| Tensor::from(&v[..]));
    for full in [false, true] {
        let terms: Vec<f64> = (0..50)
            .map(|i| {
                let var = f64::from(var[i]).max(0.125);
                let square = (f64::from(x[i]) - f64::from(t[i])).powi(2);
                let constant = if full {
                    std::f64::consts::TAU.ln()
                } else {
                    0.0
                };
                (var.ln() + square / var + constant) / 2.0
            })
            .collect();
        reduced(&terms, |reduction| {
            let mut options = nn::GaussianNllLoss {
                full,
                eps: 0.125,
                ..().into()
            };
            options.reduction = reduction.unwrap_or(options.reduction);
            nn::gaussian_nll_loss(&a, &b, &v, options).unwrap()
        });
    }
}

#[test]
fn options_by_name() {
    assert_eq!(Reduction::from_name("sum"), Some(Reduction::Sum));
    assert_eq!(Reduction::from_name("Sum"), None);
    let nearest = nn::InterpolateMode::from_name("nearest");
    assert_eq!(nearest, Some(nn::InterpolateMode::Nearest));
    assert_eq!(nn::InterpolateMode::from_name("nothing"), None);
}

/// The defaults by `()`, a bias as it is, and a pool's stride.
#[test]
fn short_options() {
    let (x, weight, bias) = (tensor(&[4, 3], 1), tensor(&[2, 3], 2), tensor(&[2], 3));
    let with = nn::Linear {
        bias: Some(&bias),
        ..Default::default()
    };
    let y = nn::linear(&x, &weight, with).unwrap();
    assert_eq!(nn::linear(&x, &weight, &bias).unwrap(), y);
    assert_ne!(nn::linear(&x, &weight, ()).unwrap(), y);
    let (image, kernel) = (tensor(&[1, 3, 6, 6], 4), tensor(&[2, 3, 2, 2], 5));
    let with = nn::Conv {
        bias: Some(&bias),
        ..Default::default()
    };
    let y = nn::conv2d(&image, &kernel, with).unwrap();
    assert_eq!(nn::conv2d(&image, &kernel, &bias).unwrap(), y);
    let strided = |stride: nn::PerAxis| nn::MaxPool {
        stride: Some(stride),
        ..Default::default()
    };
    let y = nn::max_pool2d(&image, 3, strided(2.into())).unwrap();
    assert_eq!(nn::max_pool2d(&image, 3, 2).unwrap(), y);
    assert_eq!(nn::max_pool2d(&image, 3, [2, 2]).unwrap(), y);
    let y = nn::max_pool2d(&image, 3, strided(3.into())).unwrap();
    assert_eq!(nn::max_pool2d(&image, 3, ()).unwrap(), y);
}
