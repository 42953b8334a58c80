//! Layers of networks of images and signals.

use super::rows;
use crate::data::{floats, weights};
use burn_backend::IntDType;
use burn_backend::ops::{ConvOptions, ConvTransposeOptions, InterpolateMode, InterpolateOptions};

/// Neighbours at a distance of one, padded to the same size.
fn same<const N: usize>() -> ConvOptions<N> {
    ConvOptions::new([1; N], [1; N], [1; N], 1)
}
fn by(mode: InterpolateMode) -> InterpolateOptions {
    InterpolateOptions::new(mode).with_align_corners(false)
}

rows! { B;
    "convolution" {
        "conv1d 8 x 64 x 1024, 3" => {
            let (x, w) = (floats::<B>(&[8, 64, 1024], 1), weights::<B>(&[64, 64, 3], 2));
            move || B::conv1d(x.clone(), w.clone(), None, same())
        };
        "conv2d 8 x 64 x 28 x 28, 3 x 3" => {
            let (x, w, b) = (floats::<B>(&[8, 64, 28, 28], 1), weights::<B>(&[64, 64, 3, 3], 2), weights::<B>(&[64], 3));
            move || B::conv2d(x.clone(), w.clone(), Some(b.clone()), same())
        };
        "conv2d 1 x 3 x 112 x 112, 7 x 7, stride 2" => {
            let (x, w) = (floats::<B>(&[1, 3, 112, 112], 1), weights::<B>(&[32, 3, 7, 7], 2));
            move || B::conv2d(x.clone(), w.clone(), None, ConvOptions::new([2, 2], [3, 3], [1, 1], 1))
        };
        "conv2d 4 x 128 x 28 x 28, 1 x 1" => {
            let (x, w) = (floats::<B>(&[4, 128, 28, 28], 1), weights::<B>(&[128, 128, 1, 1], 2));
            move || B::conv2d(x.clone(), w.clone(), None, ConvOptions::new([1, 1], [0, 0], [1, 1], 1))
        };
        "conv2d 4 x 128 x 28 x 28, depthwise" => {
            let (x, w) = (floats::<B>(&[4, 128, 28, 28], 1), weights::<B>(&[128, 1, 3, 3], 2));
            move || B::conv2d(x.clone(), w.clone(), None, ConvOptions::new([1, 1], [1, 1], [1, 1], 128))
        };
        "conv3d 1 x 16 x 16 x 32 x 32, 3 x 3 x 3" => {
            let (x, w) = (floats::<B>(&[1, 16, 16, 32, 32], 1), weights::<B>(&[16, 16, 3, 3, 3], 2));
            move || B::conv3d(x.clone(), w.clone(), None, same())
        };
        "conv_transpose2d 4 x 32 x 28 x 28, stride 2" => {
            let (x, w) = (floats::<B>(&[4, 32, 28, 28], 1), weights::<B>(&[32, 32, 3, 3], 2));
            move || B::conv_transpose2d(x.clone(), w.clone(), None, ConvTransposeOptions::new([2, 2], [1, 1], [1, 1], [1, 1], 1))
        };
        "conv2d_x_backward 8 x 32 x 28 x 28" => {
            let [x, g] = [1, 2].map(|seed| floats::<B>(&[8, 32, 28, 28], seed));
            let w = weights::<B>(&[32, 32, 3, 3], 3);
            move || B::conv2d_x_backward(x.clone(), w.clone(), g.clone(), same())
        };
        "conv2d_weight_backward 8 x 32 x 28 x 28" => {
            let [x, g] = [1, 2].map(|seed| floats::<B>(&[8, 32, 28, 28], seed));
            let w = weights::<B>(&[32, 32, 3, 3], 3);
            move || B::conv2d_weight_backward(x.clone(), w.clone(), g.clone(), same())
        };
    }
    "pool" {
        "max_pool2d 8 x 64 x 56 x 56, 2" => { let x = floats::<B>(&[8, 64, 56, 56], 1); move || B::max_pool2d(x.clone(), [2, 2], [2, 2], [0, 0], [1, 1], false) };
        "max_pool2d, 3, stride 2, padded" => { let x = floats::<B>(&[8, 64, 56, 56], 1); move || B::max_pool2d(x.clone(), [3, 3], [2, 2], [1, 1], [1, 1], false) };
        "max_pool2d_with_indices, 2" => {
            let x = floats::<B>(&[8, 64, 56, 56], 1);
            move || {
                let y = B::max_pool2d_with_indices(x.clone(), [2, 2], [2, 2], [0, 0], [1, 1], false, IntDType::I32);
                (y.output, y.indices)
            }
        };
        "max_pool2d backward, 2" => {
            let (x, g) = (floats::<B>(&[8, 64, 56, 56], 1), floats::<B>(&[8, 64, 28, 28], 2));
            let at = B::max_pool2d_with_indices(x.clone(), [2, 2], [2, 2], [0, 0], [1, 1], false, IntDType::I32).indices;
            move || B::max_pool2d_with_indices_backward(x.clone(), [2, 2], [2, 2], [0, 0], [1, 1], false, g.clone(), at.clone()).x_grad
        };
        "avg_pool2d 8 x 64 x 56 x 56, 2" => { let x = floats::<B>(&[8, 64, 56, 56], 1); move || B::avg_pool2d(x.clone(), [2, 2], [2, 2], [0, 0], true, false) };
        "adaptive_avg_pool2d to 1 x 1" => { let x = floats::<B>(&[8, 64, 56, 56], 1); move || B::adaptive_avg_pool2d(x.clone(), [1, 1]) };
    }
    "interpolate" {
        "nearest to twice" => { let x = floats::<B>(&[4, 16, 64, 64], 1); move || B::interpolate(x.clone(), [128, 128], by(InterpolateMode::Nearest)) };
        "bilinear to twice" => { let x = floats::<B>(&[4, 16, 64, 64], 1); move || B::interpolate(x.clone(), [128, 128], by(InterpolateMode::Bilinear)) };
        "bicubic to twice" => { let x = floats::<B>(&[4, 16, 64, 64], 1); move || B::interpolate(x.clone(), [128, 128], by(InterpolateMode::Bicubic)) };
        "bilinear backward" => {
            let (x, g) = (floats::<B>(&[4, 16, 64, 64], 1), floats::<B>(&[4, 16, 128, 128], 2));
            move || B::interpolate_backward(x.clone(), g.clone(), [128, 128], by(InterpolateMode::Bilinear))
        };
    }
    "norm" {
        "layer_norm 512 x 768" => {
            let (x, g, b) = (floats::<B>(&[512, 768], 1), weights::<B>(&[768], 2), weights::<B>(&[768], 3));
            move || B::layer_norm(x.clone(), g.clone(), Some(b.clone()), 1e-5)
        };
        "batch_norm 8 x 64 x 28 x 28" => {
            let x = floats::<B>(&[8, 64, 28, 28], 1);
            let [g, b, mean] = [2, 3, 4].map(|seed| weights::<B>(&[64], seed));
            let variance = B::float_abs(weights::<B>(&[64], 5));
            move || B::batch_norm(x.clone(), g.clone(), b.clone(), mean.clone(), variance.clone(), 1e-5)
        };
        "batch_norm_train 8 x 64 x 28 x 28" => {
            let x = floats::<B>(&[8, 64, 28, 28], 1);
            let [g, b] = [2, 3].map(|seed| weights::<B>(&[64], seed));
            move || { let y = B::batch_norm_train(x.clone(), g.clone(), b.clone(), 1e-5); (y.output, y.mean) }
        };
    }
}
