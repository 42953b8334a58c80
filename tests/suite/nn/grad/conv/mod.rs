//! Gradients of convolutions against sums over all pairs of an output and a tap.

mod limits;

use super::*;
use crate::common::{Rng, indices};
use crate::nn::conv::case::{Case, integers};
use flex::nn::{Conv, ConvTranspose, Padding, PerAxis};

/// Sums over all pairs of an output and a tap: the convolution of the image, the transposed
/// convolution of the result, and the gradient of the weight.
fn oracle(c: &Case, image: &[f64], result: &[f64], w: &[f64]) -> [Vec<f64>; 3] {
    let seen = c.channels / c.groups;
    let mut sums = [result, image, w].map(|all| vec![0.0; all.len()]);
    let taps = indices(&[&[seen], &c.kernel[..]].concat());
    for (r, at) in indices(&c.result_shape()).iter().enumerate() {
        let group = at[1] / (c.outputs / c.groups);
        for tap in &taps {
            let mut i = at[0] * c.channels + group * seen + tap[0];
            let mut k = at[1] * seen + tap[0];
            let mut inside = true;
            for axis in 0..c.image.len() {
                let (size, before) = (c.image[axis], c.padding[axis].0);
                let p = at[axis + 2] * c.stride[axis] + tap[axis + 1] * c.dilation[axis];
                inside &= p >= before && p - before < size;
                i = i * size + p.saturating_sub(before).min(size.saturating_sub(1));
                k = k * c.kernel[axis] + tap[axis + 1];
            }
            if inside {
                sums[0][r] += image[i] * w[k];
                sums[1][i] += result[r] * w[k];
                sums[2][k] += result[r] * image[i];
            }
        }
    }
    sums
}

/// All gradients; those of the image and the weight alone are the same.
fn of_conv(rank: usize, g: &Tensor, x: &Tensor, w: &Tensor, o: Conv) -> flex::Result<[Tensor; 3]> {
    let (all, single) = match rank {
        1 => (
            grad::conv1d(g, x, w, o.clone())?,
            [
                grad::conv1d_input(g, x, w, o.clone())?,
                grad::conv1d_weight(g, x, w, o)?,
            ],
        ),
        2 => (
            grad::conv2d(g, x, w, o.clone())?,
            [
                grad::conv2d_input(g, x, w, o.clone())?,
                grad::conv2d_weight(g, x, w, o)?,
            ],
        ),
        _ => (
            grad::conv3d(g, x, w, o.clone())?,
            [
                grad::conv3d_input(g, x, w, o.clone())?,
                grad::conv3d_weight(g, x, w, o)?,
            ],
        ),
    };
    for (a, b) in all.iter().zip(&single) {
        assert!(flex::ops::array_equal(a, b, true)?);
    }
    Ok(all)
}

/// The values, rounded to the dtype.
fn rounded(values: &[f64], dtype: DType) -> Vec<f64> {
    let values: Vec<f32> = values.iter().map(|x| *x as f32).collect();
    let t = Tensor::from_slice(&values, values.len()).unwrap();
    exact(&t.astype(dtype).unwrap())
}

/// The sums over all but the channels.
fn by_channel(values: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0; shape[1]];
    for (at, x) in indices(shape).iter().zip(values) {
        sums[at[1]] += x;
    }
    sums
}

#[track_caller]
fn same(got: &[Tensor; 3], want: [&[f64]; 3], shapes: [&[usize]; 3], dtype: DType) {
    for ((got, want), shape) in got.iter().zip(want).zip(shapes) {
        assert_eq!((got.shape(), got.dtype()), (shape, dtype));
        assert_eq!(exact(got), rounded(want, dtype));
    }
}

fn check(c: &Case, dtype: DType, layout: usize) {
    let (xs, gs, ws) = (c.image_shape(), c.result_shape(), c.weight_shape());
    let image = integers(&xs, dtype, 1, layout);
    let result = integers(&gs, dtype, 2, (layout + 1) % 3);
    let weight = integers(&ws, dtype, 3, layout % 2);
    let [gathered, scattered, sums] = oracle(c, &exact(&image), &exact(&result), &exact(&weight));
    let rank = c.image.len();
    let got = of_conv(rank, &result, &image, &weight, c.options()).unwrap();
    let bias = by_channel(&exact(&result), &gs);
    same(
        &got,
        [&scattered, &sums, &bias],
        [&xs, &ws, &[c.outputs]],
        dtype,
    );

    // the transposed convolution, if one has these sizes
    let both = c.padding.iter().all(|(a, b)| a == b);
    let after: Option<Vec<usize>> = (0..rank)
        .map(|k| {
            let spans = c.dilation[k] * (c.kernel[k] - 1) + 1;
            let least = (c.places(k) - 1) * c.stride[k] + spans;
            let after = (c.image[k] + 2 * c.padding[k].0).checked_sub(least)?;
            (after == 0 || after < c.stride[k].max(c.dilation[k])).then_some(after)
        })
        .collect();
    let Some(after) = after.filter(|_| both && c.batch > 0) else {
        return;
    };
    let padding: Vec<usize> = c.padding.iter().map(|p| p.0).collect();
    let options = ConvTranspose {
        stride: PerAxis::from(&c.stride[..]),
        padding: PerAxis::from(&padding[..]),
        output_padding: PerAxis::from(&after[..]),
        dilation: PerAxis::from(&c.dilation[..]),
        groups: c.groups,
        ..Default::default()
    };
    let all = options.clone();
    let (got, alone) = match rank {
        1 => (
            grad::conv_transpose1d(&image, &result, &weight, all),
            grad::conv_transpose1d_weight(&image, &result, &weight, options),
        ),
        2 => (
            grad::conv_transpose2d(&image, &result, &weight, all),
            grad::conv_transpose2d_weight(&image, &result, &weight, options),
        ),
        _ => (
            grad::conv_transpose3d(&image, &result, &weight, all),
            grad::conv_transpose3d_weight(&image, &result, &weight, options),
        ),
    };
    let got = got.unwrap();
    assert!(flex::ops::array_equal(&got[1], &alone.unwrap(), true).unwrap());
    let bias = by_channel(&exact(&image), &xs);
    same(
        &got,
        [&gathered, &sums, &bias],
        [&gs, &ws, &[c.channels]],
        dtype,
    );
}

/// Pointwise, asymmetric padding, strides longer than kernels, groups of one channel.
fn cases(rank: usize) -> Vec<Case> {
    let mut random = Rng(7 + rank as u64);
    let mut all = Vec::new();
    for round in 0..24 {
        let groups = [1, 1, 2, 5][round % 4];
        let size = [0, 60, 17, 6][rank];
        let axes = |f: &mut dyn FnMut() -> usize| (0..rank).map(|_| f()).collect::<Vec<_>>();
        let kernel = axes(&mut || {
            if round % 6 == 0 {
                1
            } else {
                random.between(1, 5)
            }
        });
        let dilation = axes(&mut || random.between(1, 3));
        let image = (0..rank).map(|k| dilation[k] * (kernel[k] - 1) + random.between(1, size));
        let image: Vec<usize> = image.collect();
        let one_side = round % 3 == 0;
        let padding = (0..rank).map(|_| {
            let n = random.below(4);
            (n, if one_side { random.below(4) } else { n })
        });
        let padding: Vec<(usize, usize)> = padding.collect();
        let stride = axes(&mut || {
            if round % 12 == 0 {
                1
            } else {
                random.between(1, 4)
            }
        });
        let single = round % 4 == 3;
        let case = Case {
            batch: random.between(1, 4),
            channels: groups * if single { 1 } else { random.between(1, 5) },
            image,
            outputs: groups * random.between(1, if round % 5 == 0 { 40 } else { 6 }),
            kernel,
            stride,
            padding,
            dilation,
            groups,
        };
        all.push(case);
    }
    all
}

#[test]
fn gradients_match_sums_over_pairs() {
    for rank in 1..=3 {
        for (round, case) in cases(rank).iter().enumerate() {
            check(case, DType::F32, round % 3);
            let other = [DType::F64, DType::F16, DType::BF16][round % 3];
            if other.is_available() {
                check(case, other, (round + 1) % 3);
            }
        }
    }
}

/// Kernels that read each element many times: images are sorted by phases of the stride.
#[test]
fn gradients_of_large_strided_kernels_match_sums_over_pairs() {
    for (batch, groups, stride) in [(3, 1, [2, 2]), (2, 2, [1, 3]), (0, 2, [2, 2])] {
        let case = Case {
            batch,
            channels: 3 * groups,
            image: vec![21, 40],
            outputs: 9 * groups,
            kernel: vec![7, 7],
            stride: stride.to_vec(),
            padding: vec![(3, 3), (2, 4)],
            dilation: vec![1, 1],
            groups,
        };
        for (k, dtype) in [DType::F32, DType::F64, DType::F16].into_iter().enumerate() {
            if dtype.is_available() {
                check(&case, dtype, k);
            }
        }
    }
}

/// Depthwise, with enough channels to fill lanes, in one or several bands of rows.
#[test]
fn depthwise_gradients_match_sums_over_pairs() {
    let mut random = Rng(12);
    for round in 0..18 {
        let rank = 1 + (round % 4 > 0) as usize;
        let groups = [16, 19, 34][round % 3];
        let axes = |f: &mut dyn FnMut() -> usize| (0..rank).map(|_| f()).collect::<Vec<_>>();
        let kernel = axes(&mut || random.between(1, 5));
        let dilation = axes(&mut || random.between(1, 3));
        let most = [20, 20, 9, 44][round % 4];
        let image = (0..rank).map(|k| dilation[k] * (kernel[k] - 1) + random.between(1, most));
        let image: Vec<usize> = image.collect();
        let padding = (0..rank).map(|_| (random.below(4), random.below(4)));
        let padding: Vec<_> = match round % 2 {
            0 => padding.collect(),
            _ => padding.map(|(n, _)| (n, n)).collect(),
        };
        let case = Case {
            batch: random.between(1, 3),
            channels: groups,
            image,
            outputs: groups * [1, 1, 1, 2][random.below(4)],
            kernel,
            stride: axes(&mut || random.between(1, 4)),
            padding,
            dilation,
            groups,
        };
        check(&case, DType::F32, round % 3);
        let other = [DType::F64, DType::F16, DType::BF16][round % 3];
        if other.is_available() {
            check(&case, other, (round + 1) % 3);
        }
    }
}

fn plane(batch: usize, channels: usize, size: usize, outputs: usize, kernel: usize) -> Case {
    Case {
        batch,
        channels,
        image: vec![size; 2],
        outputs,
        kernel: vec![kernel; 2],
        stride: vec![1; 2],
        padding: vec![(kernel / 2, kernel / 2); 2],
        dilation: vec![1; 2],
        groups: 1,
    }
}

/// The sizes of layers: several blocks of a sum, several parts of a batch, and Winograd's algorithm
/// for the gradient of the image.
#[test]
fn gradients_of_layers_are_close_and_do_not_depend_on_threads() {
    let mut depthwise = plane(5, 6, 60, 6, 3);
    depthwise.groups = 6;
    let mut halved = plane(3, 3, 48, 10, 7);
    halved.stride = vec![2; 2];
    let mut lanes = plane(5, 18, 58, 18, 3);
    lanes.groups = 18;
    let mut halves = lanes.clone();
    halves.stride = vec![2; 2];
    for case in [
        plane(3, 17, 24, 18, 3),
        plane(2, 40, 95, 9, 1),
        depthwise,
        halved,
        lanes,
        halves,
    ] {
        let x = tensor(&case.image_shape(), 1);
        let g = tensor(&case.result_shape(), 2);
        let w = tensor(&case.weight_shape(), 3);
        let [_, dx, dw] = oracle(&case, &doubles(&x), &doubles(&g), &doubles(&w));
        let run = || grad::conv2d(&g, &x, &w, case.options()).unwrap();
        let got = run();
        close(&got[0], &dx, 2e-6);
        close(&got[1], &dw, 1e-5);
        let bits = |all: &[Tensor; 3]| {
            let bits = all.iter().flat_map(|t| t.to_vec::<f32>().unwrap());
            bits.map(f32::to_bits).collect::<Vec<_>>()
        };
        let again = grad::conv2d(&g, &channels_last(&x), &w, case.options()).unwrap();
        assert_eq!(bits(&got), bits(&again));
        #[cfg(feature = "std")]
        for threads in [1, 2, 7] {
            assert_eq!(bits(&got), bits(&flex::with_threads(threads, run)));
        }
    }
}

#[test]
fn unbatched_images_and_empty_batches() {
    let mut case = plane(1, 4, 9, 6, 3);
    let (x, g) = (
        tensor(&case.image_shape(), 1),
        tensor(&case.result_shape(), 2),
    );
    let w = tensor(&case.weight_shape(), 3);
    let whole = grad::conv2d(&g, &x, &w, case.options()).unwrap();
    let one = |t: &Tensor| t.select(0, 0).unwrap();
    let single = grad::conv2d(&one(&g), &one(&x), &w, case.options()).unwrap();
    assert_eq!(single[0].shape(), [4, 9, 9]);
    for (a, b) in whole.iter().zip(&single) {
        assert_eq!(doubles(a), doubles(b));
    }
    case.batch = 0;
    check(&case, DType::F32, 0);
    case.groups = 2;
    check(&case, DType::F32, 0);
    let mut depthwise = plane(0, 4, 9, 4, 3);
    depthwise.groups = 4;
    check(&depthwise, DType::F32, 0);
    // padding by name
    for padding in [Padding::Same, Padding::Valid] {
        let options = || Conv {
            padding: padding.clone(),
            ..Default::default()
        };
        let g = nn::conv2d(&x, &w, options()).unwrap();
        let [dx, ..] = grad::conv2d(&g, &x, &w, options()).unwrap();
        assert_eq!(dx.shape(), x.shape());
    }
}
