//! Winograd's algorithm: its errors, non-finite values, cached weights.

use super::*;

/// The largest error against float64.
#[cfg(feature = "f64")]
fn errors(x: &Tensor, w: &Tensor, precise: bool) -> f64 {
    let options = |precise| Conv {
        padding: 1.into(),
        precise,
        ..Default::default()
    };
    let conv = |x: &Tensor, w: &Tensor, precise| match w.rank() {
        3 => nn::conv1d(x, w, options(precise)).unwrap(),
        4 => nn::conv2d(x, w, options(precise)).unwrap(),
        _ => nn::conv3d(x, w, options(precise)).unwrap(),
    };
    let y = doubles(&conv(x, w, precise));
    let wide = |t: &Tensor| t.astype(DType::F64).unwrap();
    let want = conv(&wide(x), &wide(w), true).to_vec::<f64>().unwrap();
    y.iter()
        .zip(&want)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

/// The documented bound.
#[cfg(feature = "f64")]
#[test]
fn errors_of_winograd_are_at_most_four_times_as_large() {
    for (seed, shape, outputs, kernel) in [
        (1, &[1, 16, 30, 30][..], 16, &[3, 3][..]),
        (2, &[2, 64, 17, 25], 48, &[3, 3]),
        (3, &[1, 200, 14, 22], 100, &[3, 3]),
        (4, &[1, 32, 5, 9, 14], 24, &[3, 3, 3]),
        (5, &[1, 64, 500], 48, &[3]),
        (6, &[2, 16, 400], 32, &[5]),
        (7, &[1, 300, 250], 64, &[5]),
    ] {
        let weight: Vec<usize> = [&[outputs, shape[1]], kernel].concat();
        let (x, w) = (tensor(shape, seed), tensor(&weight, seed + 10));
        let plan = nn::conv_plan(
            x.shape(),
            w.shape(),
            Conv {
                padding: 1.into(),
                ..Default::default()
            },
            DType::F32,
        );
        assert_eq!(plan.unwrap().algorithm, nn::ConvAlgorithm::Winograd);
        let (fast, precise) = (errors(&x, &w, false), errors(&x, &w, true));
        assert!(fast <= 4.0 * precise, "{fast:e} {precise:e}");
    }
}

/// Images and kernels of any layout, sizes that tiles don't divide, images wider than a block,
/// asymmetric padding and groups give nearly what `precise` gives.
#[test]
fn winograd_matches_the_sum_over_taps() {
    for (shape, outputs, groups, pads, layout) in [
        ([1, 16, 13, 25], 16, 1, [(1, 1), (1, 1)], 0),
        ([3, 20, 9, 27], 50, 1, [(0, 2), (2, 0)], 1),
        ([2, 64, 5, 300], 32, 2, [(1, 1), (3, 1)], 2),
        ([7, 32, 8, 30], 100, 1, [(1, 1), (0, 0)], 3),
        ([40, 16, 4, 24], 17, 1, [(0, 0), (1, 1)], 0),
    ] {
        let x = integers(&shape, DType::F32, 1, layout);
        let w = integers(
            &[outputs, shape[1] / groups, 3, 3],
            DType::F32,
            2,
            layout % 2,
        );
        let (b, r) = (tensor(&[outputs], 3), tensor(&[1, outputs, 1, 1], 4));
        let options = |precise| Conv {
            bias: Some(&b),
            padding: Padding::Pairs(pads.into_iter().collect()),
            groups,
            activation: Some(nn::Activation::Relu),
            residual: Some(&r),
            precise,
            ..Default::default()
        };
        let plan = nn::conv_plan(&shape, w.shape(), options(false), DType::F32).unwrap();
        assert_eq!(plan.algorithm, nn::ConvAlgorithm::Winograd, "{shape:?}");
        assert!(plan.scratch <= 8 << 20);
        let want = nn::conv2d(&x, &w, options(true)).unwrap();
        // three times: the transformed weight is cached from the second call on
        for _ in 0..3 {
            let y = nn::conv2d(&x, &w, options(false)).unwrap();
            let (got, want) = (doubles(&y), doubles(&want));
            let far = got
                .iter()
                .zip(&want)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(far < 1e-3, "{shape:?}: {far}");
        }
    }
}

/// Volumes: kernels with depth that overlap padding planes, flat kernels with a stride along depth,
/// and views with gaps between rows.
#[test]
fn winograd_of_volumes_matches_the_sum_over_taps() {
    for (shape, weight, pads, stride, layout) in [
        ([2, 16, 6, 13, 9], [20, 16, 3, 3, 3], [1, 1, 1], 1, 0),
        ([1, 24, 9, 10, 14], [16, 24, 2, 3, 3], [3, 0, 1], 1, 1),
        ([3, 16, 5, 8, 21], [33, 16, 1, 3, 3], [0, 1, 2], 2, 2),
        ([1, 16, 24, 7, 6], [16, 16, 5, 3, 3], [2, 1, 1], 1, 3),
    ] {
        let mut wide = shape;
        wide[4] += 3;
        let x = integers(&wide, DType::F32, 1, layout);
        let x = x
            .slice_axis(-1, Some(2), Some(2 + shape[4] as i64), 1)
            .unwrap();
        let w = integers(&weight, DType::F32, 2, layout % 2);
        let b = tensor(&[weight[0]], 3);
        let options = |precise| Conv {
            bias: Some(&b),
            padding: Padding::Pairs(pads.iter().map(|n| (*n, *n)).collect()),
            stride: [stride, 1, 1][..].into(),
            activation: Some(nn::Activation::Relu),
            precise,
            ..Default::default()
        };
        let plan = nn::conv_plan(&shape, &weight, options(false), DType::F32).unwrap();
        assert_eq!(plan.algorithm, nn::ConvAlgorithm::Winograd, "{shape:?}");
        assert!(plan.scratch <= 8 << 20);
        let want = doubles(&nn::conv3d(&x, &w, options(true)).unwrap());
        let got = doubles(&nn::conv3d(&x, &w, options(false)).unwrap());
        let far = (got.iter().zip(&want)).map(|(a, b)| (a - b).abs());
        let far = far.fold(0.0, f64::max);
        assert!(far < 1e-3, "{shape:?}: {far}");
    }
}

/// Signals, and kernels along the last axis alone.
#[test]
fn winograd_along_one_axis_matches_the_sum_over_taps() {
    for (shape, weight, groups, pad, layout) in [
        (&[1, 16, 130][..], &[16, 16, 3][..], 1, 1, 0),
        (&[3, 40, 61], &[70, 20, 5], 2, 2, 1),
        (&[2, 64, 300], &[33, 64, 5], 1, 0, 2),
        (&[5, 32, 17], &[32, 32, 3], 1, 3, 3),
        (&[2, 20, 7, 33], &[24, 20, 1, 3], 1, 1, 0),
        (&[1, 16, 5, 6, 21], &[16, 16, 3, 1, 5], 1, 2, 1),
    ] {
        let (x, w) = (
            integers(shape, DType::F32, 1, layout),
            integers(weight, DType::F32, 2, 0),
        );
        let b = tensor(&[weight[0]], 3);
        let options = |precise| Conv {
            bias: Some(&b),
            padding: pad.into(),
            groups,
            activation: Some(nn::Activation::Relu),
            precise,
            ..Default::default()
        };
        let plan = nn::conv_plan(shape, weight, options(false), DType::F32).unwrap();
        assert_eq!(plan.algorithm, nn::ConvAlgorithm::Winograd, "{shape:?}");
        assert!(plan.scratch <= 8 << 20);
        let conv = |precise| match shape.len() {
            3 => nn::conv1d(&x, &w, options(precise)),
            4 => nn::conv2d(&x, &w, options(precise)),
            _ => nn::conv3d(&x, &w, options(precise)),
        };
        let want = doubles(&conv(true).unwrap());
        for _ in 0..3 {
            let got = doubles(&conv(false).unwrap());
            let far = (got.iter().zip(&want)).map(|(a, b)| (a - b).abs());
            let far = far.fold(0.0, f64::max);
            assert!(far < 1e-3, "{shape:?}: {far}");
        }
    }
}

/// Images of one column, whose stride is arbitrary, and of none, all padding.
#[test]
fn winograd_of_images_with_one_or_no_column() {
    for (shape, pads) in [
        ([1, 16, 100, 1], [(1, 1), (4, 4)]),
        ([1, 16, 8, 0], [(1, 1), (24, 24)]),
    ] {
        let turned = tensor(&[shape[0], shape[1], shape[3], shape[2]], 1);
        let x = turned.transpose(2, 3).unwrap();
        let w = tensor(&[16, 16, 3, 3], 2);
        let options = |precise| Conv {
            padding: Padding::Pairs(pads.into_iter().collect()),
            precise,
            ..Default::default()
        };
        let plan = nn::conv_plan(&shape, w.shape(), options(false), DType::F32).unwrap();
        assert_eq!(plan.algorithm, nn::ConvAlgorithm::Winograd, "{shape:?}");
        let want = doubles(&nn::conv2d(&x, &w, options(true)).unwrap());
        let got = doubles(&nn::conv2d(&x, &w, options(false)).unwrap());
        assert!((got.iter().zip(&want)).all(|(a, b)| (a - b).abs() < 1e-4));
    }
}

/// NaN, infinity, and intermediate overflow.
#[test]
fn winograd_confines_non_finite_values() {
    let shape = [1, 16, 24, 24];
    let mut values = tensor(&shape, 1).to_vec::<f32>().unwrap();
    (values[5 * 576 + 30], values[9 * 576 + 400], values[77]) = (f32::NAN, f32::INFINITY, 3e38);
    let x = Tensor::from_slice(&values, shape).unwrap();
    let w = tensor(&[24, 16, 3, 3], 2);
    let options = |precise| Conv {
        padding: 1.into(),
        precise,
        ..Default::default()
    };
    let (y, want) = (
        doubles(&nn::conv2d(&x, &w, options(false)).unwrap()),
        doubles(&nn::conv2d(&x, &w, options(true)).unwrap()),
    );
    for (a, b) in y.iter().zip(&want) {
        let same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-4 * b.abs().max(1.0);
        assert!(same, "{a} for {b}");
    }
}

#[cfg(feature = "std")]
#[test]
fn bits_of_each_algorithm_do_not_depend_on_threads() {
    let base = || Conv {
        padding: 1.into(),
        ..Default::default()
    };
    for (shape, weight, options) in [
        ([2, 32, 30, 33], [100, 32, 3, 3], base()),
        ([1, 40, 14, 15], [70, 40, 3, 3], base()),
        ([8, 64, 7, 7], [64, 64, 3, 3], base()),
        ([1, 256, 9, 9], [256, 256, 3, 3], base()),
        (
            [3, 64, 40, 40],
            [64, 1, 3, 3],
            Conv {
                groups: 64,
                ..base()
            },
        ),
        ([1, 64, 7, 7], [512, 64, 1, 1], Conv::default()),
        (
            [2, 64, 14, 14],
            [300, 64, 3, 3],
            Conv {
                stride: 2.into(),
                ..base()
            },
        ),
    ] {
        let (x, w) = (tensor(&shape, 1), tensor(&weight, 2));
        let bits = |threads| {
            flex::with_threads(threads, || {
                nn::conv2d(&x, &w, options.clone())
                    .unwrap()
                    .to_vec::<f32>()
                    .unwrap()
            })
            .into_iter()
            .map(f32::to_bits)
            .collect::<Vec<_>>()
        };
        let one = bits(1);
        assert!(bits(2) == one && bits(7) == one, "{shape:?}");
    }
}

/// A weight that was written to is transformed again.
#[test]
fn cached_transforms_follow_writes_to_the_weight() {
    let (x, mut w) = (tensor(&[1, 16, 24, 24], 1), tensor(&[16, 16, 3, 3], 2));
    let options = || Conv {
        padding: 1.into(),
        ..Default::default()
    };
    let before = nn::conv2d(&x, &w, options()).unwrap();
    for _ in 0..2 {
        let again = nn::conv2d(&x, &w, options()).unwrap();
        assert_eq!(
            again.to_vec::<f32>().unwrap(),
            before.to_vec::<f32>().unwrap()
        );
    }
    let doubled = ops::multiply(&w, 2.0).unwrap();
    w.copy_from(&doubled).unwrap();
    let after = nn::conv2d(&x, &w, options()).unwrap();
    let twice = ops::multiply(&before, 2.0).unwrap();
    assert_eq!(
        after.to_vec::<f32>().unwrap(),
        twice.to_vec::<f32>().unwrap()
    );
}
