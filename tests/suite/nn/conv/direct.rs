//! Direct convolutions of few channels: widths and heights around the block sizes, and
//! channels-last images.

use super::*;

/// A convolution with few channels in each group.
pub fn few(groups: usize, seen: usize, made: usize, image: [usize; 2], random: &mut Rng) -> Case {
    let kernel = [1, 2, 3, 3, 5, 7][random.below(6)];
    let both = |f: &mut dyn FnMut() -> usize| vec![f(), f()];
    Case {
        batch: 2,
        channels: groups * seen,
        image: image.to_vec(),
        outputs: groups * made,
        kernel: vec![kernel, [kernel, 3][random.below(2)]],
        stride: both(&mut || [1, 1, 2, 3][random.below(4)]),
        padding: both(&mut || 3 + random.below(3))
            .into_iter()
            .map(|p| (p, p - 2))
            .collect(),
        dilation: both(&mut || [1, 1, 2][random.below(3)]),
        groups,
    }
}

#[test]
fn few_channels_match_the_sum_over_taps() {
    let mut random = Rng(5);
    for (round, (rows, cols)) in [
        (1, 40),
        (3, 16),
        (4, 17),
        (5, 14),
        (7, 7),
        (8, 15),
        (9, 31),
        (14, 14),
        (2, 66),
        (21, 8),
    ]
    .into_iter()
    .enumerate()
    {
        let image = [rows + 8, cols + 8];
        for case in [
            few(3, 1, 1, image, &mut random),
            few(2, 1, 3, image, &mut random),
            few(2, 3, 4, image, &mut random),
            few(1, 5, 2, image, &mut random),
        ] {
            check(&case, DType::F32, round % 4);
            let other = [DType::F64, DType::F16, DType::I32, DType::BF16][round % 4];
            if other.is_available() {
                check(&case, other, (round + 1) % 4);
            }
        }
    }
}

#[test]
fn channels_last_depthwise_matches_the_sum_over_taps() {
    let mut random = Rng(6);
    for (channels, image) in [
        (16, [9, 9]),
        (17, [12, 20]),
        (40, [10, 8]),
        (70, [9, 14]),
        (130, [8, 8]),
    ] {
        for dtype in [DType::F32, DType::F64, DType::BF16] {
            if dtype.is_available() {
                check(&few(channels, 1, 1, image, &mut random), dtype, 1);
            }
        }
    }
    let volume = Case {
        batch: 1,
        channels: 18,
        image: vec![4, 6, 11],
        outputs: 18,
        kernel: vec![2, 3, 3],
        stride: vec![1, 2, 1],
        padding: vec![(1, 0), (1, 1), (0, 2)],
        dilation: vec![1, 1, 2],
        groups: 18,
    };
    check(&volume, DType::F32, 1);
    let signal = Case {
        batch: 2,
        channels: 33,
        image: vec![50],
        outputs: 33,
        kernel: vec![4],
        stride: vec![1],
        padding: vec![(0, 3)],
        dilation: vec![2],
        groups: 33,
    };
    check(&signal, DType::F32, 1);
}

/// Read in place: rows shorter and longer than vectors, and paddings wider than kernels.
#[test]
fn single_channels_match_the_sum_over_taps() {
    for (height, width, stride) in [
        (3, 3, 1),
        (5, 1, 1),
        (7, 7, 1),
        (3, 9, 1),
        (3, 3, 2),
        (5, 4, 2),
        (5, 5, 2),
    ] {
        for (rows, cols) in [(4, 1), (9, 7), (5, 16), (6, 17), (13, 33), (4, 70)] {
            for (dilation, left, right) in [(1, 1, 1), (2, 3, 0), (1, 0, 20), (1, 20, 2)] {
                let case = Case {
                    batch: 1,
                    channels: 2,
                    image: vec![rows, cols + (width - 1) * dilation],
                    outputs: 2,
                    kernel: vec![height, width],
                    stride: vec![stride, stride],
                    padding: vec![(height - 1, height), (left, right)],
                    dilation: vec![1, dilation],
                    groups: 2,
                };
                check(&case, DType::F32, 0);
            }
        }
    }
    // a part of a larger image, whose elements outside would make every sum NaN
    let inner = tensor(&[1, 1, 8, 30], 2);
    let x = nn::pad(
        &inner,
        &[5, 5, 2, 2],
        nn::PadMode::Constant(f64::NAN.into()),
    )
    .unwrap();
    let part = x.narrow(2, 2, 8).unwrap().narrow(3, 5, 30).unwrap();
    let w = tensor(&[1, 1, 3, 3], 3);
    let of = |x: &Tensor| {
        let options = Conv {
            padding: 1.into(),
            ..Default::default()
        };
        nn::conv2d(x, &w, options).unwrap().to_vec::<f32>().unwrap()
    };
    assert_eq!(of(&part), of(&inner));
}

#[cfg(feature = "std")]
#[test]
fn bits_of_few_channels_do_not_depend_on_threads_or_layout() {
    for (seen, made, stride) in [(1, 1, 1), (1, 1, 2), (4, 4, 1)] {
        let x = tensor(&[2, 48, 45, 37], 1);
        let w = tensor(&[48 / seen * made, seen, 3, 3], 2);
        let (b, residual) = (tensor(&[48 / seen * made], 3), tensor(&[1, 1, 1, 1], 4));
        let last = channels_last(&x);
        let backwards = last.flip(-1).unwrap().contiguous().unwrap();
        let bits = |x: &Tensor, threads| {
            let options = Conv {
                bias: Some(&b),
                padding: 1.into(),
                stride: stride.into(),
                groups: 48 / seen,
                activation: Some(nn::Activation::Relu),
                residual: Some(&residual),
                ..Default::default()
            };
            let y = flex::with_threads(threads, || nn::conv2d(x, &w, options).unwrap());
            let y = y.to_vec::<f32>().unwrap();
            y.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let one = bits(&x, 1);
        assert!(bits(&x, 2) == one && bits(&x, 7) == one);
        assert!(bits(&last, 1) == one && bits(&last, 7) == one);
        // pixels reversed in memory, with contiguous channels
        let turned = last.flip(-1).unwrap();
        assert!(bits(&turned, 2) == bits(&backwards, 1));
    }
}

#[test]
fn non_finite_weights_affect_both_layouts_alike() {
    let x = tensor(&[1, 16, 6, 7], 1);
    let mut weights = vec![1.0f32; 16 * 9];
    (weights[3], weights[40]) = (f32::INFINITY, f32::NAN);
    let w = Tensor::from_slice(&weights, [16, 1, 3, 3]).unwrap();
    let [a, b] = [&x, &channels_last(&x)].map(|x| {
        let options = Conv {
            padding: 1.into(),
            groups: 16,
            ..Default::default()
        };
        let y = nn::conv2d(x, &w, options).unwrap();
        let y = y.to_vec::<f32>().unwrap();
        y.into_iter()
            .map(|y| (y.is_nan(), y.is_infinite()))
            .collect::<Vec<_>>()
    });
    assert!(a == b && a.iter().any(|y| y.0));
}
