//! Special values, layouts, threads, errors.

use super::*;

#[test]
fn pools_propagate_nan_and_infinity() {
    let mut values: Vec<f32> = (0..36).map(|i| i as f32).collect();
    (values[8], values[15], values[3]) = (f32::NAN, f32::NAN, f32::NEG_INFINITY);
    for layout in 0..2 {
        let x = Tensor::from_slice(&[&values[..], &values[..]].concat(), [1, 2, 6, 6]).unwrap();
        let x = if layout == 0 { x } else { channels_last(&x) };
        let options = MaxPool {
            stride: Some(1.into()),
            padding: 1.into(),
            ..Default::default()
        };
        let (y, at) = nn::max_pool2d_with_indices(&x, 3, options.clone()).unwrap();
        let alone = nn::max_pool2d(&x, 3, options).unwrap();
        let (y, at) = (y.to_vec::<f32>().unwrap(), at.to_vec::<i64>().unwrap());
        let alone = alone.to_vec::<f32>().unwrap();
        for place in 0..36 {
            let (r, c) = (place / 6, place % 6);
            let sees = |i: usize| (i / 6).abs_diff(r) <= 1 && (i % 6).abs_diff(c) <= 1;
            let nan = [15, 8].into_iter().find(|i| sees(*i));
            assert_eq!(
                (y[place].is_nan(), alone[place].is_nan()),
                (nan.is_some(), nan.is_some())
            );
            if let Some(last) = nan {
                assert_eq!(at[place], last as i64);
            }
        }
    }
    let low = Tensor::from_slice(&[f32::NEG_INFINITY; 9], [1, 3, 3]).unwrap();
    let (y, at) = nn::max_pool2d_with_indices(
        &low,
        2,
        MaxPool {
            padding: 1.into(),
            ..Default::default()
        },
    )
    .unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [f32::NEG_INFINITY; 4]);
    assert_eq!(at.to_vec::<i64>().unwrap(), [0, 1, 3, 4]);
}

#[cfg(feature = "std")]
#[test]
fn pool_bits_do_not_depend_on_threads_or_layout() {
    let x = tensor(&[2, 40, 60, 50], 1);
    let last = channels_last(&x);
    let bits = |x: &Tensor, threads| {
        flex::with_threads(threads, || {
            let options = AvgPool {
                stride: Some(2.into()),
                padding: 1.into(),
                ..Default::default()
            };
            [
                nn::avg_pool2d(x, 3, options).unwrap(),
                nn::adaptive_avg_pool2d(x, [7, 7]).unwrap(),
                nn::max_pool2d(x, 3, None).unwrap(),
                nn::adaptive_avg_pool2d(x, 1).unwrap(),
            ]
            .map(|y| {
                y.to_vec::<f32>()
                    .unwrap()
                    .into_iter()
                    .map(f32::to_bits)
                    .collect::<Vec<_>>()
            })
        })
    };
    let one = bits(&x, 1);
    assert!(bits(&x, 2) == one && bits(&x, 7) == one);
    // the mean of a whole plane is a reduction, in memory order
    let of_last = bits(&last, 1);
    assert!(bits(&last, 2) == of_last && of_last[..3] == one[..3]);
}

/// Windows that pass the padded image by up to a stride less one, with figures worked out by hand
/// from torch's definition.
#[test]
fn ceil_windows_may_pass_the_padded_image() {
    let x = Tensor::from_slice(&[0.0f32, 1.0, 2.0, 3.0], [1, 1, 2, 2]).unwrap();
    let max = MaxPool {
        stride: Some(2.into()),
        ceil_mode: true,
        ..Default::default()
    };
    let (y, at) = nn::max_pool2d_with_indices(&x, 3, max.clone()).unwrap();
    assert_eq!(
        (y.to_vec::<f32>().unwrap(), y.shape()),
        (vec![3.0], &[1, 1, 1, 1][..])
    );
    assert_eq!(at.to_vec::<i64>().unwrap(), [3]);
    let average = AvgPool {
        stride: Some(2.into()),
        ceil_mode: true,
        ..Default::default()
    };
    let y = nn::avg_pool2d(&x, 3, average.clone()).unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [1.5]);
    let norm = nn::LpPool {
        stride: Some(2.into()),
        ceil_mode: true,
    };
    // nine times the mean of the four squares
    let y = nn::lp_pool2d(&x, 2.0, 3, norm).unwrap();
    assert!((doubles(&y)[0] - 31.5f64.sqrt()).abs() < 1e-6);
    // one place: -1..3 of an image of 1 with padding 1, three of whose elements are padded image
    let one = Tensor::from([[6.0f32]]);
    let padded = AvgPool {
        padding: 1.into(),
        ..average
    };
    let y = nn::avg_pool1d(&one, 4, padded.clone()).unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [2.0]);
    let inside = AvgPool {
        count_include_pad: false,
        ..padded
    };
    assert_eq!(
        nn::avg_pool1d(&one, 4, inside)
            .unwrap()
            .to_vec::<f32>()
            .unwrap(),
        [6.0]
    );
    // by a stride is too far
    let error = nn::max_pool2d(&x, 4, max).unwrap_err().to_string();
    assert!(
        error.contains("the kernel spans 4 elements of 2"),
        "{error}"
    );
}

/// Work and memory follow the image, however large the kernel.
#[test]
fn kernels_far_larger_than_the_image() {
    let x = Tensor::from([[1.0f32, -4.0, 2.0, 5.0, 3.0]]);
    for kernel in [
        1 << 20,
        1 << (usize::BITS - 24),
        1usize << (usize::BITS - 2),
    ] {
        let options = AvgPool {
            stride: Some(kernel.into()),
            padding: (kernel / 2).into(),
            count_include_pad: false,
            ..Default::default()
        };
        let y = nn::avg_pool1d(&x, kernel, options.clone()).unwrap();
        assert!((doubles(&y)[0] - 1.4).abs() < 1e-6);
        let whole = AvgPool {
            count_include_pad: true,
            ..options
        };
        let y = nn::avg_pool1d(&x, kernel, whole).unwrap();
        assert!((doubles(&y)[0] * kernel as f64 - 7.0).abs() < 1e-5);
        // the second window begins in the image, which both see
        let two = MaxPool {
            stride: Some((kernel / 2).into()),
            padding: (kernel / 2).into(),
            ceil_mode: true,
            ..Default::default()
        };
        let (y, at) = nn::max_pool1d_with_indices(&x, kernel, two).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), [5.0; 2]);
        assert_eq!(at.to_vec::<i64>().unwrap(), [3; 2]);
        // every second element, even ones and odd ones in turn
        let dilated = MaxPool {
            stride: Some(1.into()),
            padding: (kernel / 2 - 2).into(),
            dilation: 2.into(),
            ..Default::default()
        };
        let (y, at) = nn::max_pool1d_with_indices(&x, kernel / 2, dilated.clone()).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), [3.0, 5.0, 3.0]);
        assert_eq!(at.to_vec::<i64>().unwrap(), [4, 3, 4]);
        let alone = nn::max_pool1d(&x, kernel / 2, dilated).unwrap();
        assert_eq!(alone.to_vec::<f32>().unwrap(), [3.0, 5.0, 3.0]);
        // two taps, which see at most one element of the image
        let apart = MaxPool {
            stride: Some(1.into()),
            padding: 2.into(),
            dilation: (kernel / 2).into(),
            ceil_mode: true,
        };
        assert!(nn::max_pool1d(&x, 2, apart).is_err());
    }
    // channels last, and taps so far apart that a window sees one element or none
    let x = channels_last(&tensor(&[1, 3, 2, 2], 1));
    let apart = MaxPool {
        stride: Some(1.into()),
        padding: (1 << (usize::BITS - 4)).into(),
        dilation: (1 << (usize::BITS - 3)).into(),
        ..Default::default()
    };
    let y = nn::max_pool2d(&x, 2, apart.clone()).unwrap();
    let (same, _) = nn::max_pool2d_with_indices(&x, 2, apart).unwrap();
    assert_eq!((y.shape(), doubles(&y)), (same.shape(), doubles(&same)));
    assert!(doubles(&y).iter().all(|y| *y == f64::NEG_INFINITY));
}

#[test]
fn channels_last_is_preserved() {
    let x = tensor(&[2, 6, 8, 5], 1).permute([0, 3, 1, 2]).unwrap();
    let y = nn::max_pool2d(&x, 2, None).unwrap();
    assert_eq!((y.shape(), y.strides()[1]), (&[2, 5, 3, 4][..], 1));
}

#[test]
fn pool_errors_name_the_parameter() {
    let x = tensor(&[2, 3, 5, 5], 1);
    let max = |kernel: usize, options: MaxPool| {
        nn::max_pool2d(&x, kernel, options).unwrap_err().to_string()
    };
    let o = MaxPool::default;
    for (message, expected) in [
        (max(0, o()), "kernel_size is [0]; it must be at least 1"),
        (
            max(
                2,
                MaxPool {
                    stride: Some(0.into()),
                    ..o()
                },
            ),
            "stride is [0]",
        ),
        (
            max(
                2,
                MaxPool {
                    padding: 2.into(),
                    ..o()
                },
            ),
            "padding is 2, more than half of the 2",
        ),
        (
            max(
                2,
                MaxPool {
                    dilation: 0.into(),
                    ..o()
                },
            ),
            "dilation is [0]",
        ),
        (max(6, o()), "the kernel spans 6 elements of 5"),
        (
            max(
                usize::MAX,
                MaxPool {
                    dilation: 3.into(),
                    ..o()
                },
            ),
            "too large",
        ),
        (
            max(
                2,
                MaxPool {
                    stride: Some([1, 2, 3].into()),
                    ..o()
                },
            ),
            "stride has 3 values",
        ),
        (
            nn::avg_pool2d(
                &x,
                2,
                AvgPool {
                    divisor_override: Some(0),
                    ..Default::default()
                },
            )
            .unwrap_err()
            .to_string(),
            "divisor_override is 0",
        ),
        (
            nn::max_pool1d(&x, 2, None).unwrap_err().to_string(),
            "x has 4 dimensions",
        ),
        (
            nn::max_pool2d(&tensor(&[1, 0, 5], 1), 2, None)
                .unwrap_err()
                .to_string(),
            "size 0",
        ),
        (
            nn::max_pool2d(&x.astype(DType::Bool).unwrap(), 2, None)
                .unwrap_err()
                .to_string(),
            "bool",
        ),
        (
            nn::adaptive_avg_pool2d(&x, [1, 2, 3])
                .unwrap_err()
                .to_string(),
            "output_size has 3 values",
        ),
    ] {
        assert!(message.contains(expected), "{message}");
    }
    let y = tensor(&[1, 1, 2, 2], 1);
    let at = |values: [i64; 4]| Tensor::from_slice(&values, [1, 1, 2, 2]).unwrap();
    for (values, expected) in [([0, 1, 2, 16], "has 16 at"), ([0, -1, 2, 3], "has -1 at")] {
        let message = nn::max_unpool2d(&y, &at(values), 2, None)
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with("max_unpool2d") && message.contains(expected),
            "{message}"
        );
    }
    let options = nn::MaxUnpool {
        output_size: Some([6, 4].into()),
        ..Default::default()
    };
    let message = nn::max_unpool2d(&y, &at([0; 4]), 2, options)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("output_size is 6 along axis 2"),
        "{message}"
    );
    assert_eq!(
        nn::adaptive_max_pool2d(&x, 0).unwrap().shape(),
        [2, 3, 0, 0]
    );
}
