//! Convolutions against the sum over all taps.

use super::*;
use crate::common::indices;
use flex::nn::{Conv, Padding, PerAxis};
use flex::ops;

/// A convolution of some shapes, its numbers for each spatial axis.
struct Case {
    batch: usize,
    channels: usize,
    image: Vec<usize>,
    outputs: usize,
    kernel: Vec<usize>,
    stride: Vec<usize>,
    padding: Vec<(usize, usize)>,
    dilation: Vec<usize>,
    groups: usize,
}

/// Small integers, which every dtype holds, in a layout of their own.
fn integers(shape: &[usize], dtype: DType, seed: u64, layout: usize) -> Tensor {
    let mut random = Rng(seed);
    let n: usize = shape.iter().product();
    let values: Vec<f32> = (0..n).map(|_| random.below(5) as f32 - 2.0).collect();
    let t = Tensor::from_slice(&values, shape)
        .unwrap()
        .astype(dtype)
        .unwrap();
    match layout {
        // channels last in memory
        1 => {
            let last = t.moveaxis(1, -1).unwrap().contiguous().unwrap();
            last.moveaxis(-1, 1).unwrap()
        }
        // backwards in memory
        2 => {
            let flipped = t.flip(-1).unwrap().contiguous().unwrap();
            flipped.flip(-1).unwrap()
        }
        // with other elements between
        3 => {
            let twice = t.expand_dims(-1).unwrap();
            let both = ops::concat(&[&twice, &twice], -1).unwrap();
            both.select(-1, 0).unwrap()
        }
        _ => t,
    }
}

/// Its elements, which float32 holds.
fn exact(t: &Tensor) -> Vec<f64> {
    doubles(&t.astype(DType::F32).unwrap())
}

/// The sum over taps, of whole numbers.
fn oracle(c: &Case, x: &[f64], w: &[f64], b: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let rank = c.image.len();
    let places: Vec<usize> = (0..rank)
        .map(|k| {
            let seen = c.dilation[k] * (c.kernel[k] - 1) + 1;
            (c.image[k] + c.padding[k].0 + c.padding[k].1 - seen) / c.stride[k] + 1
        })
        .collect();
    let shape = [&[c.batch, c.outputs], &places[..]].concat();
    let per_group = c.channels / c.groups;
    let mut y = Vec::new();
    for at in indices(&shape) {
        let group = at[1] / (c.outputs / c.groups);
        let mut sum = b[at[1]];
        for tap in indices(&[&[per_group], &c.kernel[..]].concat()) {
            let mut from = at[0] * c.channels + group * per_group + tap[0];
            let mut weight = at[1] * per_group + tap[0];
            let mut inside = true;
            for k in 0..rank {
                let p = at[k + 2] * c.stride[k] + tap[k + 1] * c.dilation[k];
                inside &= p >= c.padding[k].0 && p - c.padding[k].0 < c.image[k];
                from = from * c.image[k] + p.saturating_sub(c.padding[k].0).min(c.image[k] - 1);
                weight = weight * c.kernel[k] + tap[k + 1];
            }
            sum += if inside { x[from] * w[weight] } else { 0.0 };
        }
        y.push(sum);
    }
    (shape, y)
}

fn run(x: &Tensor, w: &Tensor, options: Conv) -> flex::Result<Tensor> {
    match w.rank() {
        3 => nn::conv1d(x, w, options),
        4 => nn::conv2d(x, w, options),
        _ => nn::conv3d(x, w, options),
    }
}

fn check(c: &Case, dtype: DType, layout: usize) {
    let x = integers(
        &[&[c.batch, c.channels], &c.image[..]].concat(),
        dtype,
        1,
        layout,
    );
    let shape = [&[c.outputs, c.channels / c.groups], &c.kernel[..]].concat();
    let w = integers(&shape, dtype, 2, layout % 2);
    let b = integers(&[c.outputs], dtype, 3, 0);
    let options = Conv {
        bias: Some(&b),
        stride: PerAxis::from(&c.stride[..]),
        padding: Padding::Pairs(c.padding.iter().copied().collect()),
        dilation: PerAxis::from(&c.dilation[..]),
        groups: c.groups,
        ..Default::default()
    };
    let y = run(&x, &w, options).unwrap();
    let (shape, want) = oracle(c, &exact(&x), &exact(&w), &exact(&b));
    assert_eq!((y.shape(), y.dtype()), (&shape[..], dtype));
    // sums of 16-bit floats are exact in float32, and rounded as these are; integers wrap
    let want = match dtype {
        d if d.is_integer() => {
            let whole: Vec<i32> = want.iter().map(|x| *x as i32).collect();
            Tensor::from_slice(&whole, &shape[..])
        }
        _ => {
            let sums: Vec<f32> = want.iter().map(|x| *x as f32).collect();
            Tensor::from_slice(&sums, &shape[..])
        }
    };
    let want = want.unwrap().astype(dtype).unwrap();
    assert!(
        exact(&y) == exact(&want),
        "{dtype} layout {layout}: {:?} {:?}",
        c.image,
        c.kernel
    );
}

/// Cases of a rank: pointwise, padded on one side, strides longer than kernels, groups of one
/// channel, places that panels don't divide.
fn cases(rank: usize) -> Vec<Case> {
    let mut random = Rng(rank as u64);
    let mut all = Vec::new();
    for round in 0..24 {
        let groups = [1, 1, 2, 3][round % 4];
        let size = [0, 60, 17, 7][rank];
        let axes = |f: &mut dyn FnMut() -> usize| (0..rank).map(|_| f()).collect::<Vec<_>>();
        let kernel = if round % 6 == 0 {
            vec![1; rank]
        } else {
            axes(&mut || random.between(1, 5))
        };
        let dilation = axes(&mut || random.between(1, 3));
        let image: Vec<usize> = (0..rank)
            .map(|k| dilation[k] * (kernel[k] - 1) + random.between(1, size))
            .collect();
        let pointwise = round % 12 == 0;
        let mut pad = || {
            if pointwise { 0 } else { random.below(4) }
        };
        let padding = (0..rank).map(|_| (pad(), pad())).collect();
        let stride = if pointwise {
            vec![1; rank]
        } else {
            axes(&mut || random.between(1, 4))
        };
        all.push(Case {
            batch: random.between(1, 3),
            channels: groups * random.between(1, 5),
            image,
            outputs: groups * random.between(1, if round % 5 == 0 { 70 } else { 9 }),
            kernel,
            stride,
            padding,
            dilation,
            groups,
        });
    }
    all
}

#[test]
fn convolutions_match_the_sum_over_taps() {
    for rank in 1..=3 {
        for (round, case) in cases(rank).iter().enumerate() {
            check(case, DType::F32, round % 4);
            let other = [DType::F64, DType::F16, DType::BF16, DType::I32, DType::I8];
            let other = other[round % 5];
            if other.is_available() {
                check(case, other, (round + 1) % 4);
            }
        }
    }
}

#[test]
fn same_padding_keeps_the_size() {
    for (k, dilation) in [(1, 1), (2, 1), (4, 1), (3, 2), (4, 3)] {
        let (x, w) = (tensor(&[2, 3, 11, 9], 1), tensor(&[4, 3, k, k], 2));
        let of = |padding: Padding| Conv {
            padding,
            dilation: dilation.into(),
            ..Default::default()
        };
        let y = nn::conv2d(&x, &w, of(Padding::Same)).unwrap();
        assert_eq!(y.shape(), [2, 4, 11, 9]);
        let total = dilation * (k - 1);
        let pair = (total / 2, total - total / 2);
        let pairs = nn::conv2d(
            &x,
            &w,
            of(Padding::Pairs([pair, pair].into_iter().collect())),
        );
        assert_eq!(
            y.to_vec::<f32>().unwrap(),
            pairs.unwrap().to_vec::<f32>().unwrap()
        );
    }
}

#[test]
fn an_image_without_a_batch_is_a_batch_of_one() {
    let (x, w) = (tensor(&[1, 3, 8, 8], 1), tensor(&[5, 3, 3, 3], 2));
    let batch = nn::conv2d(&x, &w, None).unwrap();
    let one = nn::conv2d(&x.squeeze(0).unwrap(), &w, None).unwrap();
    assert_eq!(one.shape(), [5, 6, 6]);
    assert_eq!(one.to_vec::<f32>().unwrap(), batch.to_vec::<f32>().unwrap());
    let none = nn::conv2d(&tensor(&[0, 3, 8, 8], 1), &w, None).unwrap();
    assert_eq!(none.shape(), [0, 5, 6, 6]);
}

#[cfg(feature = "std")]
#[test]
fn convolution_bits_do_not_depend_on_threads_or_layout() {
    let (x, w) = (tensor(&[2, 40, 60, 50], 1), tensor(&[210, 40, 3, 3], 2));
    let channels_last = x
        .moveaxis(1, -1)
        .unwrap()
        .contiguous()
        .unwrap()
        .moveaxis(-1, 1)
        .unwrap();
    let bits = |x: &Tensor, threads| {
        let options = Conv {
            padding: 1.into(),
            ..Default::default()
        };
        flex::with_threads(threads, || {
            nn::conv2d(x, &w, options).unwrap().to_vec::<f32>().unwrap()
        })
        .into_iter()
        .map(f32::to_bits)
        .collect::<Vec<_>>()
    };
    let one = bits(&x, 1);
    assert!(bits(&x, 2) == one && bits(&x, 7) == one && bits(&channels_last, 2) == one);
}

#[test]
fn nan_reaches_the_places_that_see_it_alone() {
    let mut values = vec![1.0f32; 25];
    values[12] = f32::NAN;
    let x = Tensor::from_slice(&values, [1, 1, 5, 5]).unwrap();
    let w = Tensor::from_slice(&[1.0f32; 9], [1, 1, 3, 3]).unwrap();
    let options = Conv {
        padding: 2.into(),
        ..Default::default()
    };
    let y = nn::conv2d(&x, &w, options)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    for (at, y) in y.iter().enumerate() {
        let (i, j) = (at / 7, at % 7);
        assert_eq!(
            y.is_nan(),
            (2..5).contains(&i) && (2..5).contains(&j),
            "{i} {j}"
        );
    }
}

#[test]
fn convolution_errors_name_the_parameter() {
    let (x, w) = (tensor(&[2, 6, 5, 5], 1), tensor(&[4, 3, 3, 3], 2));
    let error = |options: Conv| nn::conv2d(&x, &w, options).unwrap_err().to_string();
    let two = || Conv {
        groups: 2,
        ..Default::default()
    };
    assert!(nn::conv2d(&x, &w, two()).is_ok());
    for (options, expected) in [
        (
            Conv::default(),
            "weight sees 3 channels of the 6 in a group",
        ),
        (Conv { groups: 4, ..two() }, "groups is 4"),
        (Conv { groups: 0, ..two() }, "groups is 0"),
        (
            Conv {
                stride: 0.into(),
                ..two()
            },
            "stride is [0]",
        ),
        (
            Conv {
                dilation: [1, 0].into(),
                ..two()
            },
            "dilation is [1, 0]",
        ),
        (
            Conv {
                dilation: 3.into(),
                ..two()
            },
            "the kernel spans 7 elements of 5",
        ),
        (
            Conv {
                stride: [1, 2, 3].into(),
                ..two()
            },
            "stride has 3 numbers",
        ),
        (
            Conv {
                padding: usize::MAX.into(),
                ..two()
            },
            "padding or dilation is too large",
        ),
        (
            Conv {
                padding: Padding::Same,
                stride: 2.into(),
                ..two()
            },
            "needs a stride of 1",
        ),
        (
            Conv {
                bias: Some(&tensor(&[3], 1)),
                ..two()
            },
            "bias must have the shape [4]",
        ),
    ] {
        let message = error(options);
        assert!(message.contains(expected), "{message}");
    }
    let flat = nn::conv2d(&tensor(&[5, 5], 1), &w, None).unwrap_err();
    assert!(flat.to_string().contains("x has 3 dimensions"), "{flat}");
    let bools = x.astype(DType::Bool).unwrap();
    let refused = nn::conv2d(&bools, &w.astype(DType::Bool).unwrap(), two());
    assert!(refused.unwrap_err().to_string().contains("bool"));
}

/// The transposed convolution, element by element: `y[p * stride + tap * dilation - padding] += x[p] w[tap]`.
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
    for (i, at) in indices(&[&[c.batch, c.channels], &c.image[..]].concat())
        .into_iter()
        .enumerate()
    {
        let taps = indices(&[&[made], &c.kernel[..]].concat());
        for (tap_number, tap) in taps.into_iter().enumerate() {
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

#[test]
fn transposed_convolutions_name_what_is_wrong() {
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
            "-1 places along axis 2",
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
        fewer.to_string().contains("weight sees 5 channels"),
        "{fewer}"
    );
}

/// Of random numbers, the largest error of each of two calls, against float64.
#[cfg(feature = "f64")]
fn errors(x: &Tensor, w: &Tensor, precise: bool) -> f64 {
    let options = |precise| Conv {
        padding: 1.into(),
        precise,
        ..Default::default()
    };
    let y = doubles(&nn::conv2d(x, w, options(precise)).unwrap());
    let wide = |t: &Tensor| t.astype(DType::F64).unwrap();
    let want = nn::conv2d(&wide(x), &wide(w), options(true))
        .unwrap()
        .to_vec::<f64>()
        .unwrap();
    y.iter()
        .zip(&want)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

/// What the documentation promises of Winograd's algorithm.
#[cfg(feature = "f64")]
#[test]
fn errors_of_winograd_are_at_most_four_times_as_large() {
    for (seed, shape, outputs) in [
        (1, [1, 16, 30, 30], 16),
        (2, [2, 64, 17, 21], 48),
        (3, [1, 200, 14, 14], 100),
    ] {
        let (x, w) = (
            tensor(&shape, seed),
            tensor(&[outputs, shape[1], 3, 3], seed + 10),
        );
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

/// Images and kernels of any layout, sizes that tiles don't divide, images wider than a block, padding on one
/// side, groups: what `precise` gives, nearly.
#[test]
fn winograd_is_the_sum_over_taps() {
    for (shape, outputs, groups, pads, layout) in [
        ([1, 16, 13, 15], 16, 1, [(1, 1), (1, 1)], 0),
        ([3, 20, 9, 7], 50, 1, [(0, 2), (2, 0)], 1),
        ([2, 64, 5, 300], 32, 2, [(1, 1), (3, 1)], 2),
        ([7, 32, 8, 6], 100, 1, [(1, 1), (0, 0)], 3),
        ([40, 16, 4, 4], 17, 1, [(0, 0), (1, 1)], 0),
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
        // twice and again: the transformed weight is kept from the second time on
        for _ in 0..3 {
            let y = nn::conv2d(&x, &w, options(false)).unwrap();
            let (got, want) = (doubles(&y), doubles(&want));
            let far = got
                .iter()
                .zip(&want)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(far < 2e-3, "{shape:?}: {far}");
        }
    }
}

/// NaN, infinity, and sums that overflow only on the way.
#[test]
fn winograd_keeps_what_is_not_finite_where_it_is() {
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

/// A weight that is written to is transformed anew.
#[test]
fn transformed_weights_follow_their_weight() {
    let (x, mut w) = (tensor(&[1, 16, 20, 20], 1), tensor(&[16, 16, 3, 3], 2));
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

#[test]
fn activations_and_residuals_follow_the_sums() {
    let (b, options) = (tensor(&[6], 3), Conv::default());
    for (shape, weight, groups) in [
        ([2, 6, 9, 8], [6, 6, 1, 1], 1),
        ([2, 6, 9, 8], [6, 1, 3, 2], 6),
        ([2, 6, 9, 8], [6, 3, 2, 2], 2),
    ] {
        let (x, w) = (tensor(&shape, 1), tensor(&weight, 2));
        let options = || Conv {
            bias: Some(&b),
            groups,
            ..options.clone()
        };
        let plain = nn::conv2d(&x, &w, options()).unwrap();
        for r in [tensor(plain.shape(), 4), tensor(&[6, 1, 1], 5)] {
            let y = nn::conv2d(
                &x,
                &w,
                Conv {
                    activation: Some(nn::Activation::Relu),
                    residual: Some(&r),
                    ..options()
                },
            );
            let want = ops::add(&nn::relu(&plain).unwrap(), &r).unwrap();
            assert_eq!(
                y.unwrap().to_vec::<f32>().unwrap(),
                want.to_vec::<f32>().unwrap()
            );
        }
        let wrong = nn::conv2d(
            &x,
            &w,
            Conv {
                residual: Some(&tensor(&[5, 1, 1], 1)),
                ..options()
            },
        );
        assert!(
            wrong
                .unwrap_err()
                .to_string()
                .contains("residual does not broadcast")
        );
    }
}

#[test]
fn plans_follow_from_sizes() {
    let plan =
        |x: &[usize], w: &[usize], options: Conv| nn::conv_plan(x, w, options, DType::F32).unwrap();
    let name = |x: &[usize], w: &[usize], options| plan(x, w, options).algorithm.name();
    assert_eq!(
        name(&[1, 64, 56, 56], &[256, 64, 1, 1], Conv::default()),
        "pointwise"
    );
    assert_eq!(
        name(
            &[1, 64, 56, 56],
            &[64, 1, 3, 3],
            Conv {
                groups: 64,
                ..Default::default()
            }
        ),
        "depthwise"
    );
    assert_eq!(
        name(
            &[1, 3, 224, 224],
            &[64, 3, 7, 7],
            Conv {
                stride: 2.into(),
                ..Default::default()
            }
        ),
        "implicit_gemm"
    );
    assert_eq!(
        name(
            &[1, 4, 9],
            &[4, 1, 3],
            Conv {
                groups: 4,
                dilation: 4.into(),
                ..Default::default()
            }
        ),
        "depthwise"
    );
    for channels in [16, 512, 4096] {
        let plan = plan(
            &[8, channels, 56, 56],
            &[64, channels, 3, 3],
            Conv::default(),
        );
        assert!(plan.scratch <= 8 << 20, "{plan:?}");
        assert_eq!(plan.flops, 2 * 8 * 64 * channels * 9 * 54 * 54);
    }
    assert!(nn::conv_plan(&[1, 2], &[2, 2], None, DType::F32).is_err());
    assert!(nn::conv_plan(&[1, 3, 9, 9], &[2, 2, 3, 3], None, DType::F32).is_err());
    assert!(nn::conv_plan(&[1, 2, 9, 9], &[2, 2, 3, 3], None, DType::Bool).is_err());
}
