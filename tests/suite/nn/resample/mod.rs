//! Resampling against sums over all elements of an axis.

mod grid;
mod interpolate;
mod moves;

use super::*;
use crate::common::indices;
use flex::nn::{
    GridSample, GridSampleMode, Interpolate, InterpolateMode, PadMode, PaddingMode, PerAxis, Unfold,
};
use flex::ops;

/// The tensor in one of several layouts.
fn laid_out(t: Tensor, layout: usize) -> Tensor {
    match layout {
        1 => channels_last(&t),
        // reversed in memory
        2 => t
            .flip([-1, -2])
            .unwrap()
            .contiguous()
            .unwrap()
            .flip([-1, -2])
            .unwrap(),
        // gaps between rows
        3 => ops::concat(&[&t, &t], -1)
            .unwrap()
            .narrow(-1, 0, t.shape()[t.rank() - 1])
            .unwrap(),
        _ => t,
    }
}

fn converted(shape: &[usize], dtype: DType, seed: u64, layout: usize) -> Tensor {
    laid_out(tensor(shape, seed).astype(dtype).unwrap(), layout)
}

fn cubic(x: f64, a: f64) -> f64 {
    let x = x.abs();
    match x {
        x if x <= 1.0 => (a + 2.0) * x.powi(3) - (a + 3.0) * x.powi(2) + 1.0,
        x if x < 2.0 => a * x.powi(3) - 5.0 * a * x.powi(2) + 8.0 * a * x - 4.0 * a,
        _ => 0.0,
    }
}

#[cfg(feature = "std")]
#[test]
fn resampling_bits_do_not_depend_on_threads_or_layout() {
    let x = tensor(&[2, 20, 40, 37], 1);
    let grid = tensor(&[2, 33, 50, 2], 2);
    let columns = tensor(&[2, 20 * 9, 38 * 35], 3);
    let bits = |x: &Tensor, threads| {
        flex::with_threads(threads, || {
            let of = |size: [usize; 2], mode, antialias| Interpolate {
                size: Some(size.into()),
                mode,
                antialias,
                ..Default::default()
            };
            [
                nn::interpolate(x, of([81, 90], InterpolateMode::Bilinear, false)).unwrap(),
                nn::interpolate(x, of([13, 60], InterpolateMode::Bicubic, false)).unwrap(),
                nn::interpolate(x, of([13, 11], InterpolateMode::Bicubic, true)).unwrap(),
                nn::grid_sample(x, &grid, GridSample::default()).unwrap(),
                nn::fold(&columns, [40, 37], 3, Unfold::default()).unwrap(),
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
    let last = laid_out(x.clone(), 1);
    assert!(bits(&x, 2) == one && bits(&x, 7) == one && bits(&last, 2) == one);
}

#[test]
fn non_finite_elements_stay_local() {
    let mut values = vec![1.0f32; 24];
    values[6] = f32::INFINITY;
    let x = Tensor::from_slice(&values, [1, 1, 1, 24]).unwrap();
    let options = Interpolate {
        size: Some([1, 7].into()),
        mode: InterpolateMode::Bilinear,
        antialias: true,
        ..Default::default()
    };
    let y = nn::interpolate(&x, options)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!(
        y[4..].iter().all(|v| (v - 1.0).abs() < 1e-6) && y.contains(&f32::INFINITY),
        "{y:?}"
    );
    let grid = Tensor::from_slice(&[f32::NAN, 0.0, 5.0, 5.0], [1, 1, 2, 2]).unwrap();
    let y = nn::grid_sample(&x, &grid, GridSample::default())
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!(y[0].is_nan() && y[1] == 0.0, "{y:?}");
}

#[test]
fn resampling_errors_name_the_parameter() {
    let x = tensor(&[1, 4, 5, 6], 1);
    let interpolate = |o: Interpolate| nn::interpolate(&x, o).unwrap_err().to_string();
    let o = Interpolate::default;
    let factor = |f: f64| [f].into_iter().collect();
    let mode = |mode| Interpolate {
        size: Some(4.into()),
        mode,
        ..o()
    };
    let grid = tensor(&[1, 2, 2, 2], 1);
    for (message, expected) in [
        (interpolate(o()), "give size or scale_factor"),
        (
            interpolate(Interpolate {
                size: Some(4.into()),
                scale_factor: factor(2.0),
                ..o()
            }),
            "not both",
        ),
        (
            interpolate(Interpolate {
                size: Some([1, 2, 3].into()),
                ..o()
            }),
            "size has 3 values",
        ),
        (
            interpolate(Interpolate {
                size: Some(0.into()),
                ..o()
            }),
            "size is [0]",
        ),
        (
            interpolate(Interpolate {
                scale_factor: factor(f64::NAN),
                ..o()
            }),
            "scale_factor is NaN",
        ),
        (
            interpolate(Interpolate {
                scale_factor: factor(-1.0),
                ..o()
            }),
            "scale_factor is -1",
        ),
        (
            interpolate(Interpolate {
                scale_factor: factor(0.1),
                ..o()
            }),
            "scale_factor is 0.1",
        ),
        (
            interpolate(mode(InterpolateMode::Linear)),
            "mode \"linear\" is for 3 dimensions",
        ),
        (
            interpolate(Interpolate {
                align_corners: true,
                ..mode(InterpolateMode::Nearest)
            }),
            "align_corners is not for",
        ),
        (
            interpolate(Interpolate {
                antialias: true,
                ..mode(InterpolateMode::Area)
            }),
            "antialias is for the modes",
        ),
        (
            nn::grid_sample(&x, &tensor(&[2, 2, 2, 2], 1), GridSample::default())
                .unwrap_err()
                .to_string(),
            "one batch",
        ),
        (
            nn::grid_sample(&x, &tensor(&[1, 2, 2, 3], 1), GridSample::default())
                .unwrap_err()
                .to_string(),
            "last dimension of grid",
        ),
        (
            nn::grid_sample(&x, &grid.select(0, 0).unwrap(), GridSample::default())
                .unwrap_err()
                .to_string(),
            "4 dimensions, or 5",
        ),
        (
            nn::affine_grid(&grid, &[1, 1, 2, 2], ())
                .unwrap_err()
                .to_string(),
            "size is [1, 1, 2, 2]",
        ),
        (
            nn::pixel_shuffle(&x, 3).unwrap_err().to_string(),
            "upscale_factor is 3",
        ),
        (
            nn::pixel_shuffle(&x, 0).unwrap_err().to_string(),
            "upscale_factor is 0",
        ),
        (
            nn::pixel_unshuffle(&x, 2).unwrap_err().to_string(),
            "downscale_factor is 2",
        ),
        (
            nn::channel_shuffle(&x, 3).unwrap_err().to_string(),
            "groups is 3",
        ),
        (
            nn::unfold(&x, 7, Unfold::default())
                .unwrap_err()
                .to_string(),
            "kernel_size 7",
        ),
        (
            nn::unfold(
                &x,
                2,
                Unfold {
                    stride: 0.into(),
                    ..Default::default()
                },
            )
            .unwrap_err()
            .to_string(),
            "stride is [0]",
        ),
        (
            nn::fold(&tensor(&[4, 5], 1), [3, 3], 2, Unfold::default())
                .unwrap_err()
                .to_string(),
            "5 windows",
        ),
        (
            nn::fold(&tensor(&[3, 4], 1), [3, 3], 2, Unfold::default())
                .unwrap_err()
                .to_string(),
            "kernel_size [2, 2]",
        ),
        (
            nn::pad(&x, &[1], PadMode::Reflect).unwrap_err().to_string(),
            "pad is [1]",
        ),
        (
            nn::pad(&x, &[6, 0, 0, 0], PadMode::Reflect)
                .unwrap_err()
                .to_string(),
            "pad is (6, 0) along axis 3",
        ),
        (
            nn::pad(&x, &[-4, -3], PadMode::Constant(0.into()))
                .unwrap_err()
                .to_string(),
            "pad is (-4, -3) along axis 3",
        ),
        (
            nn::pad(&x, &[1, 1, 1, 1, 1, 1, 1, 1], PadMode::Circular)
                .unwrap_err()
                .to_string(),
            "pad has 4 pairs",
        ),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}
