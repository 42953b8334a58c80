//! Convolutions against the sum over all taps.

pub mod case;
mod deform;
mod depthwise;
mod direct;
mod few;
mod pairs;
mod plan;
mod strides;
mod transpose;
mod winograd;
#[cfg(feature = "f64")]
mod winograd_range;
mod winograd_transposed;

use super::*;
use crate::common::indices;
use case::{Case, integers};
use flex::nn::{Conv, Padding, PerAxis};
use flex::ops;

/// The sum over all taps, exact for small integers.
fn oracle(c: &Case, x: &[f64], w: &[f64], b: &[f64]) -> Vec<f64> {
    let rank = c.image.len();
    let per_group = c.channels / c.groups;
    let taps = indices(&[&[per_group], &c.kernel[..]].concat());
    let mut y = Vec::new();
    for at in indices(&c.result_shape()) {
        let group = at[1] / (c.outputs / c.groups);
        let mut sum = b[at[1]];
        for tap in &taps {
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
    y
}

fn run(x: &Tensor, w: &Tensor, options: Conv) -> flex::Result<Tensor> {
    match w.rank() {
        3 => nn::conv1d(x, w, options),
        4 => nn::conv2d(x, w, options),
        _ => nn::conv3d(x, w, options),
    }
}

fn check(c: &Case, dtype: DType, layout: usize) {
    let x = integers(&c.image_shape(), dtype, 1, layout);
    let w = integers(&c.weight_shape(), dtype, 2, layout % 2);
    let b = integers(&[c.outputs], dtype, 3, 0);
    let options = Conv {
        bias: Some(&b),
        ..c.options()
    };
    let y = run(&x, &w, options).unwrap();
    let (shape, want) = (
        c.result_shape(),
        oracle(c, &exact(&x), &exact(&w), &exact(&b)),
    );
    assert_eq!((y.shape(), y.dtype()), (&shape[..], dtype));
    // sums of 16-bit floats are exact in float32 and rounded once; integers wrap
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

/// Cases of a rank: pointwise, asymmetric padding, strides longer than kernels, groups of one
/// channel, output sizes that panels don't divide.
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
fn an_unbatched_image_is_a_batch_of_one() {
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
    let last = channels_last(&x);
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
    assert!(bits(&x, 2) == one && bits(&x, 7) == one && bits(&last, 2) == one);
}

#[test]
fn nan_reaches_only_the_outputs_that_see_it() {
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
            "weight.shape[1] is 3, expected in_channels / groups = 6",
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
            "stride has 3 values",
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

#[test]
fn activations_and_residuals_are_applied() {
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
            let want = ops::add(nn::relu(&plain).unwrap(), &r).unwrap();
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
