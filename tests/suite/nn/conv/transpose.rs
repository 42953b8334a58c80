//! Transposed convolutions against the sum over all elements.

use super::*;

/// The transposed convolution, element by element:
/// `y[p * stride + tap * dilation - padding] += x[p] w[tap]`.
fn transposed_oracle(
    c: &Case,
    after: &[usize],
    x: &[f64],
    w: &[f64],
    b: &[f64],
) -> (Vec<usize>, Vec<f64>) {
    let rank = c.image.len();
    let places: Vec<usize> = (0..rank)
        .map(|k| {
            let spans = (c.image[k] - 1) * c.stride[k] + c.dilation[k] * (c.kernel[k] - 1) + 1;
            spans + after[k] - 2 * c.padding[k].0
        })
        .collect();
    let shape = [&[c.batch, c.outputs], &places[..]].concat();
    let count: usize = places.iter().product();
    let (seen, made) = (c.channels / c.groups, c.outputs / c.groups);
    let mut y: Vec<f64> = (0..c.batch * c.outputs * count)
        .map(|i| b[i / count % c.outputs])
        .collect();
    let taps = indices(&[&[made], &c.kernel[..]].concat());
    for (i, at) in indices(&[&[c.batch, c.channels], &c.image[..]].concat())
        .into_iter()
        .enumerate()
    {
        for (tap_number, tap) in taps.iter().enumerate() {
            let output = at[1] / seen * made + tap[0];
            let mut to = at[0] * c.outputs + output;
            let mut inside = true;
            for k in 0..rank {
                let p = at[k + 2] * c.stride[k] + tap[k + 1] * c.dilation[k];
                inside &= p >= c.padding[k].0 && p - c.padding[k].0 < places[k];
                to = to * places[k] + p.saturating_sub(c.padding[k].0).min(places[k] - 1);
            }
            if inside {
                let each: usize = c.kernel.iter().product::<usize>() * made;
                y[to] += x[i] * w[at[1] * each + tap_number];
            }
        }
    }
    (shape, y)
}

#[test]
fn transposed_convolutions_match_the_sum_over_elements() {
    for rank in 1..=3 {
        let mut random = Rng(rank as u64);
        for round in 0..20 {
            let groups = [1, 2, 1, 3][round % 4];
            let size = [0, 30, 9, 5][rank];
            let axes = |f: &mut dyn FnMut() -> usize| (0..rank).map(|_| f()).collect::<Vec<_>>();
            let case = Case {
                batch: random.between(1, 3),
                channels: groups * random.between(1, 5),
                image: axes(&mut || random.between(2, size)),
                outputs: groups * random.between(1, 6),
                kernel: axes(&mut || random.between(1, 5)),
                stride: axes(&mut || random.between(1, 4)),
                padding: axes(&mut || random.below(2))
                    .into_iter()
                    .map(|p| (p, p))
                    .collect(),
                dilation: axes(&mut || random.between(1, 4)),
                groups,
            };
            let after: Vec<usize> = (0..rank)
                .map(|k| random.below(case.stride[k].max(case.dilation[k])))
                .collect();
            let spans = |k: usize| {
                (case.image[k] - 1) * case.stride[k]
                    + case.dilation[k] * (case.kernel[k] - 1)
                    + 1
                    + after[k]
            };
            if (0..rank).any(|k| spans(k) <= 2 * case.padding[k].0) {
                continue;
            }
            let other = [DType::F32, DType::F64, DType::F16, DType::I32, DType::BF16][round % 5];
            for dtype in [DType::F32, other].into_iter().filter(|d| d.is_available()) {
                let x = integers(
                    &[&[case.batch, case.channels], &case.image[..]].concat(),
                    dtype,
                    1,
                    round % 4,
                );
                let shape = [&[case.channels, case.outputs / groups], &case.kernel[..]].concat();
                let w = integers(&shape, dtype, 2, 0);
                let b = integers(&[case.outputs], dtype, 3, 0);
                let padding: Vec<usize> = case.padding.iter().map(|p| p.0).collect();
                let options = nn::ConvTranspose {
                    bias: Some(&b),
                    stride: PerAxis::from(&case.stride[..]),
                    padding: PerAxis::from(&padding[..]),
                    output_padding: PerAxis::from(&after[..]),
                    groups,
                    dilation: PerAxis::from(&case.dilation[..]),
                    precise: false,
                };
                let y = match rank {
                    1 => nn::conv_transpose1d(&x, &w, options),
                    2 => nn::conv_transpose2d(&x, &w, options),
                    _ => nn::conv_transpose3d(&x, &w, options),
                }
                .unwrap();
                let (shape, want) =
                    transposed_oracle(&case, &after, &exact(&x), &exact(&w), &exact(&b));
                assert_eq!((y.shape(), y.dtype()), (&shape[..], dtype));
                assert!(exact(&y) == want, "{dtype} round {round} of rank {rank}");
            }
        }
    }
}

/// Images so large that outputs are computed block by block, cut along width, height and depth.
#[test]
fn large_transposed_convolutions_match_the_sum_over_elements() {
    for (image, kernel, stride, padding) in [
        (vec![9000], 9, 2, 3),
        (vec![66, 70], 4, 2, 1),
        (vec![67, 40], 5, 3, 0),
        (vec![9, 20, 25], 3, 2, 1),
        (vec![70, 66], 1, 2, 0),
    ] {
        let rank = image.len();
        let case = Case {
            batch: 1,
            channels: 2,
            image,
            outputs: 2,
            kernel: vec![kernel; rank],
            stride: vec![stride; rank],
            padding: vec![(padding, padding); rank],
            dilation: vec![1; rank],
            groups: 1,
        };
        let x = integers(&[&[1, 2], &case.image[..]].concat(), DType::F32, 1, 0);
        let w = integers(&[&[2, 2], &case.kernel[..]].concat(), DType::F32, 2, 0);
        let b = integers(&[2], DType::F32, 3, 0);
        let options = || nn::ConvTranspose {
            bias: Some(&b),
            stride: stride.into(),
            padding: padding.into(),
            ..Default::default()
        };
        let run = |x: &Tensor| match rank {
            1 => nn::conv_transpose1d(x, &w, options()).unwrap(),
            2 => nn::conv_transpose2d(x, &w, options()).unwrap(),
            _ => nn::conv_transpose3d(x, &w, options()).unwrap(),
        };
        let after = vec![0; rank];
        let (shape, want) = transposed_oracle(&case, &after, &exact(&x), &exact(&w), &exact(&b));
        let y = run(&x);
        assert!(y.shape() == shape && exact(&y) == want, "{:?}", case.image);
        // again, with cached weights
        assert!(exact(&run(&x)) == want, "{:?}", case.image);
    }
}

#[cfg(feature = "std")]
#[test]
fn bits_of_transposed_convolutions_do_not_depend_on_threads_or_layout() {
    let (x, w) = (tensor(&[2, 24, 33, 40], 1), tensor(&[24, 40, 4, 4], 2));
    let last = channels_last(&x);
    let bits = |x: &Tensor, threads| {
        let options = nn::ConvTranspose {
            stride: 2.into(),
            padding: 1.into(),
            ..Default::default()
        };
        let y = flex::with_threads(threads, || nn::conv_transpose2d(x, &w, options).unwrap());
        let y = y.to_vec::<f32>().unwrap();
        y.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let one = bits(&x, 1);
    assert!(bits(&x, 2) == one && bits(&x, 7) == one && bits(&last, 2) == one);
}

/// Inside the image a non-finite weight gives the plain sum; in the border, outputs that it does
/// not touch may become NaN.
#[test]
fn non_finite_weights_may_only_turn_border_outputs_into_nan() {
    let x = Tensor::from_slice(&[1.0f32; 6], [1, 1, 6]).unwrap();
    let weight = Tensor::from_slice(&[f32::INFINITY, 1.0, 1.0], [1, 1, 3]).unwrap();
    for stride in [1, 2, 3] {
        let options = nn::ConvTranspose {
            stride: stride.into(),
            ..Default::default()
        };
        let y = nn::conv_transpose1d(&x, &weight, options).unwrap();
        let y = y.to_vec::<f32>().unwrap();
        let (inside, border) = y.split_at(5 * stride + 1);
        for (place, y) in inside.iter().enumerate() {
            let want = if place % stride == 0 {
                f32::INFINITY
            } else {
                1.0
            };
            assert_eq!(*y, want, "{place}");
        }
        assert!(border.iter().all(|y| y.is_nan() || [1.0, 2.0].contains(y)));
    }
}

/// As many places cropped as there are leaves an empty result, as in torch; more is an error.
#[test]
fn cropping_all_places_leaves_an_empty_result() {
    let x = tensor(&[2, 32, 1, 5], 1);
    for (groups, outputs) in [(1, 32), (32, 1)] {
        let w = tensor(&[32, outputs, 2, 2], 2);
        for stride in [1, 2] {
            let options = |padding: usize| nn::ConvTranspose {
                groups,
                stride: stride.into(),
                padding: [padding, 0].into(),
                ..Default::default()
            };
            let y = nn::conv_transpose2d(&x, &w, options(1)).unwrap();
            assert_eq!(y.shape(), [2, 32, 0, 4 * stride + 2]);
            let [dx, dw, db] = nn::grad::conv_transpose2d(&y, &x, &w, options(1)).unwrap();
            for (d, shape) in [(dx, x.shape()), (dw, w.shape()), (db, &[32][..])] {
                assert_eq!(d.shape(), shape);
                assert!(doubles(&d).iter().all(|d| *d == 0.0));
            }
            assert!(nn::conv_transpose2d(&x, &w, options(2)).is_err());
        }
    }
}

#[test]
fn transposed_convolution_errors_name_the_parameter() {
    let (x, w) = (tensor(&[2, 6, 5, 5], 1), tensor(&[6, 2, 3, 3], 2));
    let error = |options: nn::ConvTranspose| {
        nn::conv_transpose2d(&x, &w, options)
            .unwrap_err()
            .to_string()
    };
    let given = nn::ConvTranspose::default;
    for (options, expected) in [
        (
            nn::ConvTranspose {
                stride: 0.into(),
                ..given()
            },
            "stride is [0]",
        ),
        (
            nn::ConvTranspose {
                groups: 4,
                ..given()
            },
            "groups is 4",
        ),
        (
            nn::ConvTranspose {
                output_padding: 1.into(),
                ..given()
            },
            "output_padding is 1",
        ),
        (
            nn::ConvTranspose {
                padding: 4.into(),
                ..given()
            },
            "the output size would be -1 along axis 2",
        ),
        (
            nn::ConvTranspose {
                padding: usize::MAX.into(),
                ..given()
            },
            "too large",
        ),
        (
            nn::ConvTranspose {
                stride: usize::MAX.into(),
                ..given()
            },
            "too large",
        ),
        (
            nn::ConvTranspose {
                bias: Some(&tensor(&[3], 1)),
                ..given()
            },
            "bias must have the shape [2]",
        ),
    ] {
        let message = error(options);
        assert!(message.contains(expected), "{message}");
    }
    let fewer = nn::conv_transpose2d(&x, &tensor(&[5, 2, 3, 3], 2), None).unwrap_err();
    assert!(
        fewer
            .to_string()
            .contains("weight.shape[0] is 5, expected in_channels = "),
        "{fewer}"
    );
}
