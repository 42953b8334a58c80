//! Images resampled to other sizes and at other places.

use alloc::vec::Vec;
use burn_backend::ops::{
    GridSampleOptions, GridSamplePaddingMode, InterpolateMode, InterpolateOptions,
};
use flex::nn::{self, GridSample, GridSampleMode, Interpolate, PaddingMode};
use flex::{DType, Error, Result, Tensor};

/// The options for a size; none for Lanczos, which flex has in another form.
fn options(size: [usize; 2], options: &InterpolateOptions) -> Option<Interpolate> {
    let mode = match options.mode {
        InterpolateMode::Nearest => nn::InterpolateMode::Nearest,
        InterpolateMode::NearestExact => nn::InterpolateMode::NearestExact,
        InterpolateMode::Bilinear => nn::InterpolateMode::Bilinear,
        InterpolateMode::Bicubic => nn::InterpolateMode::Bicubic,
        InterpolateMode::Lanczos3 => return None,
    };
    let nearest = matches!(
        options.mode,
        InterpolateMode::Nearest | InterpolateMode::NearestExact
    );
    Some(Interpolate {
        size: Some(size.into()),
        mode,
        // Burn sets it for all modes
        align_corners: options.align_corners && !nearest,
        ..Default::default()
    })
}

pub(super) fn interpolate(
    x: &Tensor,
    size: [usize; 2],
    how: &InterpolateOptions,
) -> Result<Tensor> {
    match options(size, how) {
        Some(options) => nn::interpolate(x, options),
        None => lanczos(x, size, how.align_corners),
    }
}

pub(super) fn interpolate_backward(
    x: &Tensor,
    grad: &Tensor,
    size: [usize; 2],
    how: &InterpolateOptions,
) -> Result<Tensor> {
    match options(size, how) {
        Some(options) => nn::grad::interpolate(grad, x.shape(), options),
        None => {
            let weights = weights(x, size, how.align_corners)?;
            between(
                [&weights[0].transpose(0, 1)?, &weights[1].transpose(0, 1)?],
                grad,
            )
        }
    }
}

/// Burn's Lanczos filter: six taps at the scale of the image, whatever the result's. Taps beyond the
/// image are left out, and the rest adds up to 1.
fn lanczos(x: &Tensor, size: [usize; 2], align_corners: bool) -> Result<Tensor> {
    let weights = weights(x, size, align_corners)?;
    between([&weights[0], &weights[1]], x)
}

/// `[rows] x [columns]^T` for each image.
fn between([rows, columns]: [&Tensor; 2], x: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    let wide = x.astype(rows.dtype())?;
    let y = rows.matmul(&wide.matmul(&columns.transpose(0, 1)?)?)?;
    y.astype(dtype)
}

/// The weights of the elements of an image, `[N, C, H, W]`, for those of a result, along both axes.
fn weights(x: &Tensor, size: [usize; 2], align_corners: bool) -> Result<[Tensor; 2]> {
    let [_, _, height, width] = *x.shape() else {
        return Err(Error::shape("interpolate", "an image has four dimensions"));
    };
    let dtype = match x.dtype() {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let axis = |from, to| filter(from, to, align_corners)?.astype(dtype);
    Ok([axis(height, size[0])?, axis(width, size[1])?])
}

fn filter(from: usize, to: usize, align_corners: bool) -> Result<Tensor> {
    let mut all: Vec<f64> = Vec::new();
    for place in 0..to {
        let at = match align_corners {
            true => place as f64 * (from - 1) as f64 / (to.max(2) - 1) as f64,
            false => (place as f64 + 0.5) * from as f64 / to as f64 - 0.5,
        };
        let base = libm::floor(at) as isize;
        let taps = base - 2..=base + 3;
        let weight = |i: usize| match taps.contains(&(i as isize)) {
            true => sinc(at - i as f64) * sinc((at - i as f64) / 3.0),
            false => 0.0,
        };
        let sum: f64 = (0..from).map(weight).sum();
        let scale = if sum == 0.0 { 1.0 } else { 1.0 / sum };
        all.extend((0..from).map(|i| weight(i) * scale));
    }
    Tensor::from_vec(all, [to, from])
}

/// `sin(pi x) / (pi x)` for `|x| < 3`, the filter's support before it is stretched.
fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    let x = core::f64::consts::PI * x;
    libm::sin(x) / x
}

pub(super) fn grid_sample(
    x: &Tensor,
    grid: &Tensor,
    options: &GridSampleOptions,
) -> Result<Tensor> {
    let mode = match options.mode {
        InterpolateMode::Bilinear => GridSampleMode::Bilinear,
        InterpolateMode::Nearest => GridSampleMode::Nearest,
        InterpolateMode::Bicubic => GridSampleMode::Bicubic,
        ref other => {
            let message = alloc::format!("the mode {other:?} is not one of grid_sample");
            return Err(Error::value("grid_sample", message));
        }
    };
    let padding_mode = match options.padding_mode {
        GridSamplePaddingMode::Zeros => PaddingMode::Zeros,
        GridSamplePaddingMode::Border => PaddingMode::Border,
        GridSamplePaddingMode::Reflection => PaddingMode::Reflection,
    };
    let align_corners = options.align_corners;
    nn::grid_sample(
        x,
        grid,
        GridSample {
            mode,
            padding_mode,
            align_corners,
        },
    )
}
