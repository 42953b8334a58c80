//! Convolutions and their gradients: Burn's options as flex's.

use crate::FlexTensor;
use burn_backend::ops::{ConvOptions, ConvTransposeOptions, DeformConvOptions};
use flex::nn::{Conv, ConvTranspose, DeformConv, Padding};
use flex::{Result, Tensor};

pub(super) fn options<'a, const N: usize>(
    options: &ConvOptions<N>,
    bias: Option<&'a Tensor>,
) -> Conv<'a> {
    Conv {
        bias,
        stride: options.stride.into(),
        padding: Padding::Pairs(options.padding.into_iter().collect()),
        dilation: options.dilation.into(),
        groups: options.groups,
        ..Default::default()
    }
}

pub(super) fn transposed<'a, const N: usize>(
    options: &ConvTransposeOptions<N>,
    bias: Option<&'a Tensor>,
) -> ConvTranspose<'a> {
    ConvTranspose {
        bias,
        stride: options.stride.into(),
        padding: options.padding.into(),
        output_padding: options.padding_out.into(),
        dilation: options.dilation.into(),
        groups: options.groups,
        ..Default::default()
    }
}

/// The convolution that is the gradient of a transposed one.
pub(super) fn mirrored<const N: usize>(options: &ConvTransposeOptions<N>) -> Conv<'static> {
    Conv {
        stride: options.stride.into(),
        padding: options.padding.into(),
        dilation: options.dilation.into(),
        groups: options.groups,
        ..Default::default()
    }
}

pub(super) fn deformed<'a>(
    options: &DeformConvOptions<2>,
    mask: Option<&'a Tensor>,
    bias: Option<&'a Tensor>,
) -> DeformConv<'a> {
    DeformConv {
        bias,
        stride: options.stride.into(),
        padding: options.padding.into(),
        dilation: options.dilation.into(),
        mask,
    }
}

/// The gradient of a bias: the sum over all axes but the channels.
pub(super) fn bias(grad: &Tensor) -> Result<Tensor> {
    let rest = (0..grad.rank()).filter(|k| *k != 1);
    grad.sum(&rest.collect::<alloc::vec::Vec<_>>()[..])
}

/// The tensor of an option.
pub(super) fn tensor(x: &Option<FlexTensor>) -> Option<&Tensor> {
    x.as_ref().map(FlexTensor::tensor)
}

/// `convolutions! { N conv .. }`: the methods of the convolutions along `N` axes.
macro_rules! convolutions {
    ($($N:literal $conv:ident $x:ident $weight:ident $bias:ident $input:ident $of_weight:ident
       $transpose:ident $transpose_x:ident $transpose_weight:ident $transpose_bias:ident $of_transpose_weight:ident;)*) => { $(
        fn $conv(x: FlexTensor, weight: FlexTensor, bias: Option<FlexTensor>, options: ConvOptions<$N>) -> FlexTensor {
            x.view(|x| nn::$conv(x, weight.tensor(), conv::options(&options, conv::tensor(&bias))))
        }
        fn $x(x: FlexTensor, weight: FlexTensor, output_grad: FlexTensor, options: ConvOptions<$N>) -> FlexTensor {
            output_grad.view(|grad| nn::grad::$input(grad, x.tensor(), weight.tensor(), conv::options(&options, None)))
        }
        fn $weight(x: FlexTensor, weight: FlexTensor, output_grad: FlexTensor, options: ConvOptions<$N>) -> FlexTensor {
            output_grad.view(|grad| nn::grad::$of_weight(grad, x.tensor(), weight.tensor(), conv::options(&options, None)))
        }
        fn $bias(_: FlexTensor, _: FlexTensor, output_grad: FlexTensor) -> FlexTensor {
            output_grad.view(conv::bias)
        }
        fn $transpose(x: FlexTensor, weight: FlexTensor, bias: Option<FlexTensor>, options: ConvTransposeOptions<$N>) -> FlexTensor {
            x.view(|x| nn::$transpose(x, weight.tensor(), conv::transposed(&options, conv::tensor(&bias))))
        }
        fn $transpose_x(weight: FlexTensor, output_grad: FlexTensor, options: ConvTransposeOptions<$N>) -> FlexTensor {
            output_grad.view(|grad| nn::$conv(grad, weight.tensor(), conv::mirrored(&options)))
        }
        fn $transpose_weight(x: FlexTensor, weight: FlexTensor, output_grad: FlexTensor, options: ConvTransposeOptions<$N>) -> FlexTensor {
            output_grad.view(|grad| {
                nn::grad::$of_transpose_weight(grad, x.tensor(), weight.tensor(), conv::transposed(&options, None))
            })
        }
        fn $transpose_bias(_: FlexTensor, _: FlexTensor, output_grad: FlexTensor) -> FlexTensor {
            output_grad.view(conv::bias)
        }
    )* };
}
pub(super) use convolutions;
