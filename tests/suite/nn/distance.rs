//! Distances, embeddings and dropout against loops in float64.

use super::*;
use crate::common::floats;

fn length(d: impl Iterator<Item = f64>, p: f64) -> f64 {
    let d = d.map(f64::abs);
    match p {
        0.0 => d.filter(|d| *d != 0.0).count() as f64,
        f64::INFINITY => d.fold(0.0, f64::max),
        _ => d.map(|d| d.powf(p)).sum::<f64>().powf(1.0 / p),
    }
}

#[test]
fn distances_match_the_definition() {
    for width in [1, 63, 64, 200] {
        let (a, b) = (tensor(&[7, width], 1), tensor(&[5, width], 2));
        let (x, y) = (floats(&a), floats(&b));
        let row = |x: &[f64], i: usize| x[i * width..][..width].to_vec();
        for p in [0.0, 1.0, 2.0, 2.5, f64::INFINITY] {
            let of = |x: Vec<f64>, y: Vec<f64>, eps: f64| {
                length(x.into_iter().zip(y).map(|(x, y)| x - y + eps), p)
            };
            let want: Vec<f64> = (0..35)
                .map(|k| of(row(&x, k / 5), row(&y, k % 5), 0.0))
                .collect();
            let direct = nn::Cdist {
                p,
                product: Some(false),
            };
            close(&nn::cdist(&a, &b, direct).unwrap(), &want, 3e-6);
            let turned = a
                .transpose(0, 1)
                .unwrap()
                .copy()
                .unwrap()
                .transpose(0, 1)
                .unwrap();
            close(&nn::cdist(&turned, &b, direct).unwrap(), &want, 3e-6);
            if p == 2.0 {
                let product = nn::Cdist {
                    p,
                    product: Some(true),
                };
                close(&nn::cdist(&a, &b, product).unwrap(), &want, 3e-6);
            }
            let pairs: Vec<f64> = (0..7)
                .flat_map(|i| (i + 1..7).map(move |j| (i, j)))
                .map(|(i, j)| of(row(&x, i), row(&x, j), 0.0))
                .collect();
            close(&nn::pdist(&a, p).unwrap(), &pairs, 3e-6);
            let one = b.narrow(0, 2, 1).unwrap();
            let near = nn::PairwiseDistance {
                p,
                eps: 0.125,
                keepdims: false,
            };
            let want: Vec<f64> = (0..7).map(|i| of(row(&x, i), row(&y, 2), 0.125)).collect();
            close(&nn::pairwise_distance(&a, &one, near).unwrap(), &want, 3e-6);
        }
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let want: Vec<f64> = (0..7)
            .map(|i| {
                let (x, y) = (row(&x, i), row(&y, 3));
                dot(&x, &y) / (dot(&x, &x).sqrt() * dot(&y, &y).sqrt())
            })
            .collect();
        let one = b.narrow(0, 3, 1).unwrap();
        close(&nn::cosine_similarity(&a, &one, ()).unwrap(), &want, 1e-6);
        let columns = nn::CosineSimilarity {
            axis: 0,
            ..Default::default()
        };
        let (a, one) = (a.transpose(0, 1).unwrap(), one.transpose(0, 1).unwrap());
        close(
            &nn::cosine_similarity(&a, &one, columns).unwrap(),
            &want,
            1e-6,
        );
    }
    let empty = Tensor::zeros([0, 3], DType::F32).unwrap();
    assert_eq!(nn::pdist(&empty, 2.0).unwrap().shape(), [0]);
    assert_eq!(
        nn::cdist(&empty, &tensor(&[4, 3], 1), ()).unwrap().shape(),
        [0, 4]
    );
    let error = nn::cdist(&empty, &tensor(&[4, 2], 1), ()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cdist: the shapes must be [.., m, width]")
    );
}

/// Rows in groups of any size, and longer than what is summed in sequence.
#[test]
fn distances_of_many_rows() {
    for (m, n, width) in [(3, 40, 5), (2, 17, 33), (1, 19, 1025), (2, 3, 9000)] {
        let (a, b) = (tensor(&[m, width], 1), tensor(&[n, width], 2));
        let (x, y) = (floats(&a), floats(&b));
        for p in [0.0, 1.0, 2.0, 3.0, 2.5, f64::INFINITY] {
            let pair = |i: usize, j: usize| {
                let (x, y) = (&x[i * width..][..width], &y[j * width..][..width]);
                length(x.iter().zip(y).map(|(x, y)| x - y), p)
            };
            let want: Vec<f64> = (0..m * n).map(|k| pair(k / n, k % n)).collect();
            close(&nn::cdist(&a, &b, direct(p)).unwrap(), &want, 3e-6);
        }
    }
    let mut values = vec![0.0f32; 40];
    values[27] = f32::NAN;
    let b = Tensor::from_slice(&values, [20, 2]).unwrap();
    for p in [1.0, 2.0, f64::INFINITY] {
        let y = nn::cdist(&Tensor::from([[1.0f32, 0.0]]), &b, direct(p)).unwrap();
        let nan: Vec<bool> = floats(&y).iter().map(|y| y.is_nan()).collect();
        assert!(nan.iter().enumerate().all(|(k, nan)| *nan == (k == 13)));
    }
}

fn direct(p: f64) -> nn::Cdist {
    nn::Cdist {
        p,
        product: Some(false),
    }
}

/// Leading dimensions that broadcast, by the product as well as directly.
#[test]
fn distances_of_batches() {
    for (lead_a, lead_b) in [
        (&[2, 1][..], &[3][..]),
        (&[], &[4]),
        (&[2], &[2]),
        (&[0], &[1]),
    ] {
        let shape = |lead: &[usize], rows: usize| [lead, &[rows, 6]].concat();
        let (a, b) = (tensor(&shape(lead_a, 30), 1), tensor(&shape(lead_b, 28), 2));
        let want = nn::cdist(&a, &b, direct(2.0)).unwrap();
        let y = nn::cdist(&a, &b, ()).unwrap();
        assert_eq!(y.shape(), want.shape());
        close(&y, &floats(&want), 1e-6);
    }
    let (a, b) = (tensor(&[2, 30, 6], 1), tensor(&[3, 28, 6], 2));
    let error = nn::cdist(&a, &b, ()).unwrap_err().to_string();
    assert!(
        error.starts_with("cdist: the dimensions before the last two"),
        "{error}"
    );
}

/// Widths of one vector, of several, with remainders, and beyond what is summed at a time.
#[test]
fn embedding_bag_matches_the_rows() {
    for width in [9, 16, 64, 100, 1111] {
        embedding_bag_matches_rows_of(width);
    }
}
fn embedding_bag_matches_rows_of(width: usize) {
    use nn::BagMode;
    let w = tensor(&[6, width], 3);
    let (values, given) = (floats(&w), [5i64, 0, 0, 3, 2, 5, 1]);
    let indices = Tensor::from_slice(&given, [7]).unwrap();
    let offsets = Tensor::from([0i64, 3, 3, 5]);
    let factors = tensor(&[7], 4);
    let f = floats(&factors);
    for (mode, padding_idx, weighted) in [
        (BagMode::Sum, None, false),
        (BagMode::Sum, Some(5), true),
        (BagMode::Mean, None, false),
        (BagMode::Mean, Some(0), false),
        (BagMode::Max, Some(5), false),
    ] {
        let mut want = vec![];
        for bag in [0..3, 3..3, 3..5, 5..7] {
            let used: Vec<usize> = bag
                .filter(|k| Some(given[*k] as usize) != padding_idx)
                .collect();
            for j in 0..width {
                let of = |k: &usize| {
                    values[given[*k] as usize * width + j] * if weighted { f[*k] } else { 1.0 }
                };
                let sum: f64 = used.iter().map(of).sum();
                want.push(match mode {
                    BagMode::Sum => sum,
                    BagMode::Mean => sum / used.len().max(1) as f64,
                    BagMode::Max if used.is_empty() => 0.0,
                    BagMode::Max => used.iter().map(of).fold(f64::NEG_INFINITY, f64::max),
                });
            }
        }
        let options = nn::EmbeddingBag {
            offsets: Some(&offsets),
            mode,
            per_sample_weights: weighted.then_some(&factors),
            padding_idx,
            ..Default::default()
        };
        close(
            &nn::embedding_bag(&indices, &w, options).unwrap(),
            &want,
            1e-6,
        );
    }
}

#[test]
fn embedding_bag_refuses_indices_and_offsets_out_of_range() {
    let w = tensor(&[6, 9], 3);
    let indices = Tensor::from_slice(&[5i64, 0, 0, 3, 2, 5, 1], [7]).unwrap();
    let message = |indices: &Tensor, options| {
        nn::embedding_bag(indices, &w, options)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(&Tensor::from([[0i64, 6]]), nn::EmbeddingBag::default()),
        "embedding_bag: indices has 6 at row-major position 1; it must be from 0 to below 6"
    );
    let falling = Tensor::from([0i64, 5, 3]);
    let options = nn::EmbeddingBag {
        offsets: Some(&falling),
        ..Default::default()
    };
    assert!(message(&indices, options).contains("offsets must be a vector that ascends from 0"));
    assert_eq!(
        nn::one_hot(&Tensor::from([-1i64]), Some(3))
            .unwrap_err()
            .to_string(),
        "one_hot: x has -1 at row-major position 0; it must be from 0 to below 3"
    );
    assert_eq!(
        nn::one_hot(&Tensor::from([[2i64], [0]]), None)
            .unwrap()
            .shape(),
        [2, 1, 3]
    );
}

#[test]
fn dropout_drops_the_given_share() {
    let x = tensor(&[100, 1001], 5);
    for p in [0.0, 0.1, 0.5, 0.9, 1.0] {
        let y = nn::dropout(&x, p, 11).unwrap();
        let (x, y) = (x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap());
        let scale = if p < 1.0 {
            (1.0 / (1.0 - p)) as f32
        } else {
            0.0
        };
        assert!(x.iter().zip(&y).all(|(x, y)| *y == 0.0 || *y == x * scale));
        let dropped = x
            .iter()
            .zip(&y)
            .filter(|(x, y)| **y == 0.0 && **x != 0.0)
            .count();
        assert!(
            (dropped as f64 / 100_100.0 - p).abs() < 0.005,
            "{dropped} of {p}"
        );
    }
    // the mask depends on the seed, not on strides
    let bits = |t: &Tensor, seed| nn::dropout(t, 0.5, seed).unwrap().to_vec::<f32>().unwrap();
    let turned = x
        .transpose(0, 1)
        .unwrap()
        .copy()
        .unwrap()
        .transpose(0, 1)
        .unwrap();
    assert!(bits(&x, 1) == bits(&turned, 1) && bits(&x, 1) != bits(&x, 2));
    #[cfg(feature = "std")]
    for threads in [2, 7] {
        assert!(flex::par::with_threads(threads, || bits(&x, 1)) == bits(&x, 1));
    }
    // masks of neighbouring seeds and positions are independent
    let ones = flex::ops::ones([1 << 16], DType::F32).unwrap();
    let (a, b) = (bits(&ones, 1), bits(&ones, 2));
    let both = a
        .iter()
        .zip(&b)
        .filter(|(a, b)| **a > 0.0 && **b > 0.0)
        .count();
    let next = a.windows(2).filter(|a| a[0] > 0.0 && a[1] > 0.0).count();
    assert!(
        [both, next].iter().all(|n| n.abs_diff(1 << 14) < 600),
        "{both}, {next}"
    );
    let error = nn::dropout(&ones, 1.5, 0).unwrap_err().to_string();
    assert_eq!(error, "dropout: p is 1.5; it must be from 0 to 1");
}

/// What is dropped doesn't depend on what it was: the result for NaN, infinity and zero differs only
/// where elements are kept, as `factor * x + shift`.
#[test]
#[cfg(feature = "f64")]
fn dropped_elements_are_forgotten() {
    type Drop = fn(&Tensor, f64, u64) -> flex::Result<Tensor>;
    let of_channels = |x: f64| vec![x; 4 * 6 * 5];
    for (drop, alpha) in [
        (nn::dropout as Drop, false),
        (nn::feature_dropout, false),
        (nn::alpha_dropout, true),
        (nn::feature_alpha_dropout, true),
    ] {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            if !dtype.is_available() {
                continue;
            }
            for p in [0.5, 1.0] {
                let of = |x: f64| {
                    let x = Tensor::from_slice(&of_channels(x), [4, 6, 5]).unwrap();
                    let y = drop(&x.astype(dtype).unwrap(), p, 9).unwrap();
                    y.astype(DType::F64).unwrap().to_vec::<f64>().unwrap()
                };
                // the definition of alpha dropout, of which `least` is selu's limit
                let least = -1.758_099_340_847_376_6f64;
                let a = 1.0 / (0.5 * (1.0 + 0.5 * least * least)).sqrt();
                let dropped = match (alpha, p == 1.0) {
                    (false, _) | (true, true) => 0.0,
                    (true, false) => a * least - a * least * 0.5,
                };
                let (zeros, ones) = (of(0.0), of(1.0));
                let gone: Vec<bool> = zeros.iter().zip(&ones).map(|(x, y)| x == y).collect();
                let count = gone.iter().filter(|gone| **gone).count();
                assert!(if p == 1.0 {
                    count == 120
                } else {
                    (10..110).contains(&count)
                });
                for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    for (y, gone) in of(special).iter().zip(&gone) {
                        if *gone {
                            assert!((y - dropped).abs() <= 4e-3 * dropped.abs(), "{y} {dropped}");
                        } else {
                            assert!(y.is_nan() == special.is_nan() && !y.is_finite(), "{y}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn channels_are_dropped_whole_and_alpha_keeps_the_moments() {
    let x = flex::ops::ones([20, 30, 7], DType::F32).unwrap();
    let y = nn::feature_dropout(&x, 0.25, 3)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!(y.chunks(7).all(|c| c.iter().all(|v| *v == c[0])));
    let dropped = y.chunks(7).filter(|c| c[0] == 0.0).count();
    assert!(dropped.abs_diff(150) < 50, "{dropped}");
    // sums of twelve uniform numbers are nearly normal
    let parts = (0..12).map(|k| tensor(&[200_000], 50 + k));
    let sum = parts.fold(Tensor::zeros([200_000], DType::F32).unwrap(), |s, x| {
        flex::ops::add(s, &x).unwrap()
    });
    let normal = flex::ops::divide(sum, 4.0).unwrap();
    for y in [
        nn::alpha_dropout(&normal, 0.2, 5).unwrap(),
        nn::feature_alpha_dropout(&normal.reshape([400, 500]).unwrap(), 0.2, 5).unwrap(),
    ] {
        let mean = flex::ops::mean(&y, ()).unwrap().item::<f32>().unwrap();
        let var = flex::ops::var(&y, (), 0.0).unwrap().item::<f32>().unwrap();
        assert!(
            mean.abs() < 0.02 && (var - 1.0).abs() < 0.02,
            "{mean} {var}"
        );
    }
}
