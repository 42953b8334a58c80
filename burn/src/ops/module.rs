//! Layers and their gradients.

use super::conv::convolutions;
use super::pool::pools;
use super::{conv, pool, resample};
use crate::convert::{done, int};
use crate::{Flex, FlexTensor};
use burn_backend::IntDType;
use burn_backend::ops::{
    AttentionModuleOptions, BatchNormTrain, BatchNormTrainBackward, ConvOptions,
    ConvTransposeOptions, DeformConv2dBackward, DeformConvOptions, InterpolateOptions,
    MaxPool1dBackward, MaxPool1dWithIndices, MaxPool2dBackward, MaxPool2dWithIndices, ModuleOps,
    UnfoldOptions,
};
use flex::nn::{self, Align, Attention, ChannelNorm, LayerNorm, Unfold};
use flex::{DType, Result, Tensor, ops};

impl ModuleOps<Flex> for Flex {
    convolutions! {
        1 conv1d conv1d_x_backward conv1d_weight_backward conv1d_bias_backward conv1d_input conv1d_weight
          conv_transpose1d conv_transpose1d_x_backward conv_transpose1d_weight_backward conv_transpose1d_bias_backward
          conv_transpose1d_weight;
        2 conv2d conv2d_x_backward conv2d_weight_backward conv2d_bias_backward conv2d_input conv2d_weight
          conv_transpose2d conv_transpose2d_x_backward conv_transpose2d_weight_backward conv_transpose2d_bias_backward
          conv_transpose2d_weight;
        3 conv3d conv3d_x_backward conv3d_weight_backward conv3d_bias_backward conv3d_input conv3d_weight
          conv_transpose3d conv_transpose3d_x_backward conv_transpose3d_weight_backward conv_transpose3d_bias_backward
          conv_transpose3d_weight;
    }
    pools! {
        usize, MaxPool1dWithIndices MaxPool1dBackward avg_pool1d avg_pool1d_backward adaptive_avg_pool1d
          adaptive_avg_pool1d_backward max_pool1d max_pool1d_with_indices max_pool1d_with_indices_backward;
        [usize; 2], MaxPool2dWithIndices MaxPool2dBackward avg_pool2d avg_pool2d_backward adaptive_avg_pool2d
          adaptive_avg_pool2d_backward max_pool2d max_pool2d_with_indices max_pool2d_with_indices_backward;
    }

    fn deform_conv2d(
        x: FlexTensor,
        offset: FlexTensor,
        weight: FlexTensor,
        mask: Option<FlexTensor>,
        bias: Option<FlexTensor>,
        options: DeformConvOptions<2>,
    ) -> FlexTensor {
        let options = conv::deformed(&options, conv::tensor(&mask), conv::tensor(&bias));
        x.view(|x| nn::deform_conv2d(x, offset.tensor(), weight.tensor(), options))
    }
    fn deform_conv2d_backward(
        x: FlexTensor,
        offset: FlexTensor,
        weight: FlexTensor,
        mask: Option<FlexTensor>,
        bias: Option<FlexTensor>,
        output_grad: FlexTensor,
        options: DeformConvOptions<2>,
    ) -> DeformConv2dBackward<Flex> {
        let options = conv::deformed(&options, conv::tensor(&mask), conv::tensor(&bias));
        let [grad, x, offset, weight] =
            [output_grad, x, offset, weight].map(FlexTensor::into_tensor);
        let [x, offset, weight, of_bias, of_mask] = done(nn::grad::deform_conv2d(
            &grad, &x, &offset, &weight, options,
        ))
        .map(FlexTensor::from);
        let (of_mask, of_bias) = (mask.map(|_| of_mask), bias.map(|_| of_bias));
        DeformConv2dBackward::new(x, offset, weight, of_mask, of_bias)
    }

    fn adaptive_avg_pool3d(x: FlexTensor, output_size: [usize; 3]) -> FlexTensor {
        x.view(|x| nn::adaptive_avg_pool3d(x, output_size))
    }
    fn adaptive_avg_pool3d_backward(x: FlexTensor, grad: FlexTensor) -> FlexTensor {
        grad.view(|grad| nn::grad::adaptive_avg_pool3d(grad, x.tensor().shape()))
    }
    fn unfold4d(x: FlexTensor, kernel_size: [usize; 2], options: UnfoldOptions) -> FlexTensor {
        x.view(|x| nn::unfold(x, kernel_size, unfold(&options)))
    }
    fn fold4d(
        x: FlexTensor,
        output_size: [usize; 2],
        kernel_size: [usize; 2],
        options: UnfoldOptions,
    ) -> FlexTensor {
        x.view(|x| nn::fold(x, output_size, kernel_size, unfold(&options)))
    }

    fn interpolate(
        x: FlexTensor,
        output_size: [usize; 2],
        options: InterpolateOptions,
    ) -> FlexTensor {
        x.view(|x| resample::interpolate(x, output_size, &options))
    }
    fn interpolate_backward(
        x: FlexTensor,
        grad: FlexTensor,
        output_size: [usize; 2],
        options: InterpolateOptions,
    ) -> FlexTensor {
        grad.view(|grad| resample::interpolate_backward(x.tensor(), grad, output_size, &options))
    }

    fn attention(
        query: FlexTensor,
        key: FlexTensor,
        value: FlexTensor,
        mask: Option<FlexTensor>,
        attn_bias: Option<FlexTensor>,
        options: AttentionModuleOptions,
    ) -> FlexTensor {
        let mask = done(visible(mask, attn_bias));
        let options = Attention {
            mask: mask.as_ref(),
            causal: options.is_causal,
            align: options.is_causal.then_some(Align::LowerRight),
            softcap: options.softcap,
            scale: options.scale,
            ..Default::default()
        };
        query.view(|query| {
            nn::scaled_dot_product_attention(query, key.tensor(), value.tensor(), options)
        })
    }

    fn embedding(weights: FlexTensor, indices: FlexTensor) -> FlexTensor {
        weights.view(|weights| nn::embedding(indices.tensor(), weights))
    }
    fn embedding_backward(
        weights: FlexTensor,
        output_grad: FlexTensor,
        indices: FlexTensor,
    ) -> FlexTensor {
        let entries = weights.tensor().shape()[0];
        output_grad.view(|grad| nn::grad::embedding(grad, indices.tensor(), entries))
    }

    // Burn's weight is [in, out], flex's [out, in]: the other's transpose
    fn linear(x: FlexTensor, weight: FlexTensor, bias: Option<FlexTensor>) -> FlexTensor {
        x.view(|x| nn::linear(x, &weight.tensor().transpose(-2, -1)?, conv::tensor(&bias)))
    }
    fn linear_x_backward(weight: FlexTensor, output_grad: FlexTensor) -> FlexTensor {
        output_grad.view(|grad| nn::linear(grad, weight.tensor(), None))
    }
    fn linear_weight_backward(x: FlexTensor, output_grad: FlexTensor) -> FlexTensor {
        output_grad.view(|grad| rows(x.tensor())?.transpose(0, 1)?.matmul(&rows(grad)?))
    }
    fn linear_bias_backward(output_grad: FlexTensor) -> FlexTensor {
        output_grad.view(|grad| rows(grad)?.sum(0))
    }

    fn layer_norm(
        tensor: FlexTensor,
        gamma: FlexTensor,
        beta: Option<FlexTensor>,
        epsilon: f64,
    ) -> FlexTensor {
        let options = LayerNorm {
            weight: Some(gamma.tensor()),
            bias: conv::tensor(&beta),
            eps: epsilon,
        };
        tensor.view(|x| nn::layer_norm(x, x.shape()[x.rank() - 1], options))
    }
    fn batch_norm(
        x: FlexTensor,
        gamma: FlexTensor,
        beta: FlexTensor,
        mean: FlexTensor,
        variance: FlexTensor,
        epsilon: f64,
    ) -> FlexTensor {
        let options = ChannelNorm {
            weight: Some(gamma.tensor()),
            bias: Some(beta.tensor()),
            eps: epsilon,
        };
        x.view(|x| nn::batch_norm(x, Some((mean.tensor(), variance.tensor())), options))
    }
    fn batch_norm_train(
        x: FlexTensor,
        gamma: FlexTensor,
        beta: FlexTensor,
        epsilon: f64,
    ) -> BatchNormTrain<Flex> {
        let [mean, variance] = done(statistics(x.tensor())).map(FlexTensor::from);
        let (m, v) = (mean.clone(), variance.clone());
        BatchNormTrain::new(
            Flex::batch_norm(x, gamma, beta, m, v, epsilon),
            mean,
            variance,
        )
    }
    fn batch_norm_train_backward(
        x: FlexTensor,
        gamma: FlexTensor,
        mean: FlexTensor,
        variance: FlexTensor,
        epsilon: f64,
        output_grad: FlexTensor,
    ) -> BatchNormTrainBackward<Flex> {
        let options = ChannelNorm {
            weight: Some(gamma.tensor()),
            bias: None,
            eps: epsilon,
        };
        let (x, grad) = (x.tensor(), output_grad.tensor());
        let of_all = match samples(x) {
            // the result is the bias, whatever the one value of a channel is
            0 | 1 => {
                nn::grad::batch_norm(grad, x, Some((mean.tensor(), variance.tensor())), options)
                    .and_then(|[_, gamma, beta]| {
                        Ok([Tensor::zeros(x.shape(), x.dtype())?, gamma, beta])
                    })
            }
            _ => nn::grad::batch_norm(grad, x, None, options),
        };
        let [x, gamma, beta] = done(of_all).map(FlexTensor::from);
        BatchNormTrainBackward::new(x, gamma, beta)
    }
}

/// The mask of flex: true for what takes part, or what is added to scores. Burn's is true for what
/// is hidden.
fn visible(hidden: Option<FlexTensor>, bias: Option<FlexTensor>) -> Result<Option<Tensor>> {
    Ok(match (hidden, bias) {
        (None, None) => None,
        (Some(hidden), None) => Some(ops::logical_not(hidden.into_tensor())?),
        (None, Some(bias)) => Some(bias.into_tensor()),
        (Some(hidden), Some(bias)) => {
            let (hidden, bias) = (hidden.into_tensor(), bias.into_tensor());
            Some(ops::where_(hidden, f64::NEG_INFINITY, bias)?)
        }
    })
}

/// As a matrix of the last axis' rows.
fn rows(x: &Tensor) -> Result<Tensor> {
    x.reshape((-1, x.shape()[x.rank() - 1] as isize))
}

/// How many values a channel has.
fn samples(x: &Tensor) -> usize {
    x.len() / x.shape()[1].max(1)
}

/// Mean and variance of each channel, in the dtype of `x`.
fn statistics(x: &Tensor) -> Result<[Tensor; 2]> {
    let dtype = x.dtype();
    if samples(x) == 1 {
        let mean = x.reshape(x.shape()[1])?;
        return Ok([mean.clone(), Tensor::zeros(mean.shape(), dtype)?]);
    }
    let (mean, variance) = nn::batch_norm_stats(x, 0.0)?;
    Ok([mean.astype(dtype)?, variance.astype(dtype)?])
}

fn unfold(options: &UnfoldOptions) -> Unfold {
    Unfold {
        dilation: options.dilation.into(),
        padding: options.padding.into(),
        stride: options.stride.into(),
    }
}
