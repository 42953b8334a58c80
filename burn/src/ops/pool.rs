//! Pools: Burn's options as flex's.

use flex::nn::{AvgPool, MaxPool, PerAxis};

pub(super) fn average(
    stride: impl Into<PerAxis>,
    padding: impl Into<PerAxis>,
    count_include_pad: bool,
    ceil_mode: bool,
) -> AvgPool {
    AvgPool {
        stride: Some(stride.into()),
        padding: padding.into(),
        ceil_mode,
        count_include_pad,
        ..Default::default()
    }
}

pub(super) fn largest(
    stride: impl Into<PerAxis>,
    padding: impl Into<PerAxis>,
    dilation: impl Into<PerAxis>,
    ceil_mode: bool,
) -> MaxPool {
    MaxPool {
        stride: Some(stride.into()),
        padding: padding.into(),
        dilation: dilation.into(),
        ceil_mode,
    }
}

/// `pools! { Sizes avg_pool .. }`: the methods of the pools whose options are `Sizes`.
macro_rules! pools {
    ($($Sizes:ty, $WithIndices:ident $Backward:ident $avg:ident $avg_backward:ident $adaptive:ident $adaptive_backward:ident
       $max:ident $max_with:ident $max_backward:ident;)*) => { $(
        fn $avg(
            x: FlexTensor,
            kernel_size: $Sizes,
            stride: $Sizes,
            padding: $Sizes,
            count_include_pad: bool,
            ceil_mode: bool,
        ) -> FlexTensor {
            let options = pool::average(stride, padding, count_include_pad, ceil_mode);
            x.view(|x| nn::$avg(x, kernel_size, options))
        }
        fn $avg_backward(
            x: FlexTensor,
            grad: FlexTensor,
            kernel_size: $Sizes,
            stride: $Sizes,
            padding: $Sizes,
            count_include_pad: bool,
            ceil_mode: bool,
        ) -> FlexTensor {
            let options = pool::average(stride, padding, count_include_pad, ceil_mode);
            grad.view(|grad| nn::grad::$avg(grad, x.tensor().shape(), kernel_size, options))
        }
        fn $adaptive(x: FlexTensor, output_size: $Sizes) -> FlexTensor {
            x.view(|x| nn::$adaptive(x, output_size))
        }
        fn $adaptive_backward(x: FlexTensor, grad: FlexTensor) -> FlexTensor {
            grad.view(|grad| nn::grad::$adaptive(grad, x.tensor().shape()))
        }
        fn $max(
            x: FlexTensor,
            kernel_size: $Sizes,
            stride: $Sizes,
            padding: $Sizes,
            dilation: $Sizes,
            ceil_mode: bool,
        ) -> FlexTensor {
            x.view(|x| nn::$max(x, kernel_size, pool::largest(stride, padding, dilation, ceil_mode)))
        }
        fn $max_with(
            x: FlexTensor,
            kernel_size: $Sizes,
            stride: $Sizes,
            padding: $Sizes,
            dilation: $Sizes,
            ceil_mode: bool,
            indices_dtype: IntDType,
        ) -> $WithIndices<Flex> {
            let options = pool::largest(stride, padding, dilation, ceil_mode);
            let (output, indices) = done(nn::$max_with(x.tensor(), kernel_size, options));
            $WithIndices::new(output.into(), done(indices.astype(int(indices_dtype))).into())
        }
        fn $max_backward(
            x: FlexTensor,
            _: $Sizes,
            _: $Sizes,
            _: $Sizes,
            _: $Sizes,
            _: bool,
            output_grad: FlexTensor,
            indices: FlexTensor,
        ) -> $Backward<Flex> {
            $Backward::new(output_grad.view(|grad| {
                let indices = indices.tensor().astype(DType::I64)?;
                nn::grad::$max(grad, &indices, x.tensor().shape())
            }))
        }
    )* };
}
pub(super) use pools;
