//! Norms over channels, `normalize`, and norms with a residual, against loops in float64.

use super::*;
use crate::common::{floats, indices};

/// Layouts of a 4-dimensional tensor: row-major, channels last, reversed, every second element of a
/// larger one.
fn layouts(x: &Tensor) -> Vec<Tensor> {
    let last = x
        .permute([0, 2, 3, 1])
        .unwrap()
        .copy()
        .unwrap()
        .permute([0, 3, 1, 2])
        .unwrap();
    let backwards = x
        .flip([1, 3])
        .unwrap()
        .copy()
        .unwrap()
        .flip([1, 3])
        .unwrap();
    let twice = flex::ops::repeat(x, 2, 3).unwrap();
    let every = twice.slice_axis(3, None, None, 2).unwrap();
    vec![x.clone(), last, backwards, every]
}

/// `(x - mean) / sqrt(var + eps) * weight + bias`, with the mean and variance of each group.
fn reference(
    x: &[f64],
    shape: &[usize],
    group: impl Fn(&[usize]) -> usize,
    weight: &[f64],
    bias: &[f64],
    eps: f64,
) -> Vec<f64> {
    let all = indices(shape);
    let groups = all.iter().map(|i| group(i)).max().map_or(0, |g| g + 1);
    let (mut n, mut mean, mut var) = (vec![0.0; groups], vec![0.0; groups], vec![0.0; groups]);
    for (i, x) in all.iter().zip(x) {
        n[group(i)] += 1.0;
        mean[group(i)] += x;
    }
    (0..groups).for_each(|g| mean[g] /= n[g]);
    for (i, x) in all.iter().zip(x) {
        var[group(i)] += (x - mean[group(i)]).powi(2) / n[group(i)];
    }
    all.iter()
        .zip(x)
        .map(|(i, x)| {
            let g = group(i);
            (x - mean[g]) / (var[g] + eps).sqrt() * weight[i[1]] + bias[i[1]]
        })
        .collect()
}

fn dtypes() -> impl Iterator<Item = (DType, f64)> {
    [
        (DType::F32, 3e-6),
        (DType::F64, 1e-12),
        (DType::F16, 4e-3),
        (DType::BF16, 3e-2),
    ]
    .into_iter()
    .filter(|(d, _)| d.is_available())
}

fn near(got: &Tensor, want: &[f64], tolerance: f64) {
    let got = floats(got);
    assert_eq!(got.len(), want.len());
    for (k, (x, y)) in got.iter().zip(want).enumerate() {
        assert!(
            (x - y).abs() <= tolerance * y.abs().max(1.0) || x.is_nan() && y.is_nan(),
            "[{k}]: {x} for {y}"
        );
    }
}

#[test]
fn rows_of_any_length_and_number() {
    for n in (1..=40).chain([63, 64, 100, 257]) {
        for count in [1, 2, 15, 16, 17, 33, 65, 130] {
            let shape = [count, n];
            let (x, w, b) = (tensor(&shape, 1), tensor(&[n], 2), tensor(&[n], 3));
            let (values, weight, bias) = (floats(&x), floats(&w), floats(&b));
            let (ones, zeros) = (vec![1.0; n], vec![0.0; n]);
            for (weight, factors) in [(None, &ones), (Some(&w), &weight)] {
                for (bias, added) in [(None, &zeros), (Some(&b), &bias)] {
                    let eps = 1e-2;
                    let options = nn::LayerNorm { weight, bias, eps };
                    let y = nn::layer_norm(&x, n, options).unwrap();
                    let want = reference(&values, &shape, |i| i[0], factors, added, eps);
                    near(&y, &want, 2e-5);
                }
                let eps = Some(1e-2);
                let y = nn::rms_norm(&x, n, nn::RmsNorm { weight, eps }).unwrap();
                let mut want = Vec::new();
                for row in values.chunks(n) {
                    let squares = row.iter().map(|x| x * x).sum::<f64>() / n as f64;
                    let scaled = row.iter().map(|x| x / (squares + 1e-2).sqrt());
                    want.extend(scaled.zip(factors).map(|(x, w)| x * w));
                }
                near(&y, &want, 2e-5);
            }
        }
    }
}

#[test]
fn channels_are_normalised_over_their_groups() {
    let shape = [3, 6, 5, 7];
    let (x, w, b) = (tensor(&shape, 1), tensor(&[6], 2), tensor(&[6], 3));
    for (dtype, tolerance) in dtypes() {
        let of = |t: &Tensor| t.astype(dtype).unwrap();
        let (x, w, b) = (of(&x), of(&w), of(&b));
        let (values, weight, bias) = (floats(&x), floats(&w), floats(&b));
        let options = nn::ChannelNorm {
            weight: Some(&w),
            bias: Some(&b),
            eps: 1e-3,
        };
        let want = |group: &dyn Fn(&[usize]) -> usize| {
            reference(&values, &shape, group, &weight, &bias, 1e-3)
        };
        for x in layouts(&x) {
            let y = nn::batch_norm(&x, None, options).unwrap();
            assert_eq!((y.dtype(), y.shape()), (dtype, &shape[..]));
            near(&y, &want(&|i| i[1]), tolerance);
            let y = nn::instance_norm(&x, None, options).unwrap();
            near(&y, &want(&|i| i[0] * 6 + i[1]), tolerance);
            for groups in [1, 2, 3, 6] {
                let y = nn::group_norm(&x, groups, options).unwrap();
                let group = |i: &[usize]| i[0] * groups + i[1] / (6 / groups);
                near(&y, &want(&group), tolerance);
            }
        }
    }
}

#[test]
fn batch_norm_stats_match_the_default_statistics() {
    let x = tensor(&[4, 3, 5, 2], 4);
    let (mean, var) = nn::batch_norm_stats(&x, 0.0).unwrap();
    let values = floats(&x);
    for c in 0..3 {
        let of = |k: &usize| k / 10 % 3 == c;
        let mine: Vec<f64> = (0..120).filter(of).map(|k| values[k]).collect();
        let m = mine.iter().sum::<f64>() / 40.0;
        let v = mine.iter().map(|x| (x - m).powi(2)).sum::<f64>() / 40.0;
        assert!((floats(&mean)[c] - m).abs() < 1e-6 && (floats(&var)[c] - v).abs() < 1e-6);
    }
    let bits = |t: Tensor| t.to_vec::<f32>().unwrap();
    let options = nn::ChannelNorm::default();
    let by_hand = bits(nn::batch_norm(&x, Some((&mean, &var)), options).unwrap());
    assert_eq!(by_hand, bits(nn::batch_norm(&x, None, options).unwrap()));
    assert_eq!(
        by_hand,
        bits(nn::instance_norm(&x, Some((&mean, &var)), options).unwrap())
    );
    let (_, sample) = nn::batch_norm_stats(&x, 1.0).unwrap();
    near(
        &sample,
        &floats(&var)
            .iter()
            .map(|v| v * 40.0 / 39.0)
            .collect::<Vec<_>>(),
        1e-6,
    );
}

#[test]
fn empty_batches_single_elements_and_nan() {
    let options = nn::ChannelNorm::default();
    let empty = Tensor::zeros([0, 4, 3], DType::F32).unwrap();
    assert_eq!(
        nn::batch_norm(&empty, None, options).unwrap().shape(),
        [0, 4, 3]
    );
    assert_eq!(
        nn::group_norm(&empty, 2, options).unwrap().shape(),
        [0, 4, 3]
    );
    let none = Tensor::zeros([2, 0, 3], DType::F32).unwrap();
    assert_eq!(
        nn::instance_norm(&none, None, options).unwrap().shape(),
        [2, 0, 3]
    );
    let one = Tensor::from([[5.0f32, f32::NAN]]);
    for y in [
        nn::batch_norm(&one, None, options),
        nn::instance_norm(&one, None, options),
    ] {
        let error = y.unwrap_err().to_string();
        assert!(error.contains("a single value") && error.ends_with("(x: [1, 2] float32)"));
    }
    let y = nn::group_norm(&one, 2, options)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!(y[0] == 0.0 && y[1].is_nan());
    assert!(
        floats(&nn::normalize(&Tensor::from([[f32::NAN, 1.0]]), nn::Length::default()).unwrap())
            .iter()
            .all(|x| x.is_nan())
    );
}

#[test]
fn normalize_divides_by_the_norm() {
    let x = tensor(&[3, 70, 5], 6);
    let values = floats(&x);
    for p in [0.0, 0.5, 1.0, 2.0, 3.0, f64::INFINITY] {
        for axis in 0..3usize {
            let length = |i: &[usize]| {
                let line = (0..x.shape()[axis]).map(|k| {
                    let mut j = i.to_vec();
                    j[axis] = k;
                    values[(j[0] * 70 + j[1]) * 5 + j[2]].abs()
                });
                match p {
                    0.0 => line.filter(|x| *x != 0.0).count() as f64,
                    f64::INFINITY => line.fold(0.0, f64::max),
                    _ => line.map(|x| x.powf(p)).sum::<f64>().powf(1.0 / p),
                }
            };
            let want: Vec<f64> = indices(&[3, 70, 5])
                .iter()
                .zip(&values)
                .map(|(i, x)| x / length(i).max(1e-12))
                .collect();
            let options = nn::Length {
                p,
                axis: axis as isize,
                ..Default::default()
            };
            close(&nn::normalize(&x, options).unwrap(), &want, 2e-6);
            let turned = x.permute([2, 0, 1]).unwrap().copy().unwrap();
            let y = nn::normalize(&turned.permute([1, 2, 0]).unwrap(), options).unwrap();
            close(&y, &want, 2e-6);
        }
    }
    // a row longer than a chunk
    let long = tensor(&[1, 9000], 7);
    let all = floats(&long);
    let length = all.iter().map(|x| x * x).sum::<f64>().sqrt();
    let want: Vec<f64> = all.iter().map(|x| x / length).collect();
    close(
        &nn::normalize(&long, nn::Length::default()).unwrap(),
        &want,
        1e-7,
    );
    let error = nn::normalize(
        &x,
        nn::Length {
            p: -1.0,
            ..Default::default()
        },
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "normalize: p is -1.0; it must be 0 or more"
    );
}

#[test]
fn eps_is_finite_and_not_negative() {
    let x = tensor(&[2, 3, 4], 1);
    for eps in [f64::NAN, f64::INFINITY, -1e-5] {
        let options = nn::ChannelNorm {
            eps,
            ..Default::default()
        };
        let length = nn::Length {
            eps,
            ..Default::default()
        };
        for (op, y) in [
            (
                "layer_norm",
                nn::layer_norm(
                    &x,
                    4,
                    nn::LayerNorm {
                        eps,
                        ..Default::default()
                    },
                ),
            ),
            (
                "rms_norm",
                nn::rms_norm(
                    &x,
                    4,
                    nn::RmsNorm {
                        eps: Some(eps),
                        ..Default::default()
                    },
                ),
            ),
            ("batch_norm", nn::batch_norm(&x, None, options)),
            ("group_norm", nn::group_norm(&x, 3, options)),
            ("instance_norm", nn::instance_norm(&x, None, options)),
            ("normalize", nn::normalize(&x, length)),
        ] {
            assert_eq!(
                y.unwrap_err().to_string(),
                format!("{op}: eps is {eps:?}; it must be finite and not negative")
            );
        }
    }
}

#[test]
fn local_response_norm_matches_the_definition() {
    for (places, beta) in [(3, 0.75), (3, 1.5), (1100, 0.75), (1, 0.5)] {
        let x = tensor(&[2, 5, places], 8);
        let values = floats(&x);
        for size in [1usize, 2, 3, 5, 8, 1000] {
            let of = nn::LocalResponse {
                alpha: 0.5,
                beta,
                k: 2.0,
            };
            let want: Vec<f64> = indices(&[2, 5, places])
                .iter()
                .zip(&values)
                .map(|(i, x)| {
                    let first = i[1] as isize - (size / 2) as isize;
                    let sum: f64 = (first..first + size as isize)
                        .filter(|c| (0..5).contains(c))
                        .map(|c| values[(i[0] * 5 + c as usize) * places + i[2]].powi(2))
                        .sum();
                    x / (2.0 + 0.5 * sum / size as f64).powf(beta)
                })
                .collect();
            let y = nn::local_response_norm(&x, size, of).unwrap();
            close(&y, &want, 1e-6);
            // channels last
            let last = x.moveaxis(1, -1).unwrap().copy().unwrap();
            let last = nn::local_response_norm(&last.moveaxis(-1, 1).unwrap(), size, of).unwrap();
            assert_eq!(last.strides()[1], 1);
            assert_eq!(floats(&last), floats(&y));
        }
    }
    let none = tensor(&[2, 0, 3], 8);
    let y = nn::local_response_norm(&none, 3, ()).unwrap();
    assert_eq!(y.shape(), [2, 0, 3]);
}

#[test]
fn a_residual_is_added_first() {
    for (dtype, _) in dtypes() {
        for shape in [[33, 50], [1, 9000], [0, 4]] {
            let (x, r) = (tensor(&shape, 9), tensor(&shape, 10));
            let (x, r) = (x.astype(dtype).unwrap(), r.astype(dtype).unwrap());
            let w = tensor(&[shape[1]], 11).astype(dtype).unwrap();
            let layer = nn::LayerNorm {
                weight: Some(&w),
                ..Default::default()
            };
            let rms = nn::RmsNorm {
                weight: Some(&w),
                ..Default::default()
            };
            let sum = flex::ops::add(&x, &r).unwrap();
            let want = nn::layer_norm(&sum, shape[1], layer).unwrap();
            let transposed = r.transpose(0, 1).unwrap().copy().unwrap();
            for r in [r.clone(), transposed.transpose(0, 1).unwrap()] {
                let (y, s) = nn::add_layer_norm(&x, &r, shape[1], layer).unwrap();
                assert_eq!((floats(&y), floats(&s)), (floats(&want), floats(&sum)));
                let (y, s) = nn::add_rms_norm(&x, &r, shape[1], rms).unwrap();
                let want = nn::rms_norm(&sum, shape[1], rms).unwrap();
                assert_eq!((floats(&y), floats(&s)), (floats(&want), floats(&sum)));
            }
        }
    }
    let (x, r) = (tensor(&[2, 3], 1), tensor(&[3], 2));
    let error = nn::add_layer_norm(
        &x,
        &r,
        3,
        nn::LayerNorm {
            eps: 0.0,
            ..Default::default()
        },
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("layer_norm: residual must have the shape and dtype of x")
    );
}

#[test]
fn norm_errors_name_the_parameter() {
    let (x, w) = (tensor(&[2, 4, 3], 1), tensor(&[3], 2));
    let options = nn::ChannelNorm {
        weight: Some(&w),
        ..Default::default()
    };
    let message = |r: flex::Result<Tensor>| r.unwrap_err().to_string();
    assert_eq!(
        message(nn::batch_norm(&x, None, options)),
        "batch_norm: weight must have the shape [4], one number a channel (x: [2, 4, 3] float32, weight: [3] float32)"
    );
    assert!(
        message(nn::group_norm(&x, 3, ()))
            .starts_with("group_norm: num_groups is 3, which does not divide 4 channels")
    );
    assert!(
        message(nn::instance_norm(&w, None, ()))
            .starts_with("instance_norm: x must have the shape [batch, channels, ..]")
    );
    assert_eq!(
        message(nn::local_response_norm(&x, 0, ())),
        "local_response_norm: size is 0; it must be at least 1"
    );
}

#[cfg(feature = "std")]
#[test]
fn bits_do_not_depend_on_threads() {
    use flex::par::with_threads;
    let x = tensor(&[8, 32, 40, 40], 12);
    let all = |x: &Tensor| {
        let n = nn::ChannelNorm::default();
        [
            nn::batch_norm(x, None, n).unwrap(),
            nn::group_norm(x, 4, n).unwrap(),
            nn::instance_norm(x, None, n).unwrap(),
            nn::normalize(x, nn::Length::default()).unwrap(),
            nn::local_response_norm(x, 5, ()).unwrap(),
        ]
        .map(|t| t.to_vec::<f32>().unwrap())
    };
    let want = with_threads(1, || all(&x));
    for threads in [2, 7] {
        assert!(with_threads(threads, || all(&x)) == want);
    }
}
