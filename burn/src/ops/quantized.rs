//! Quantised tensors. What moves values moves them as they are; what blocks cannot follow, and
//! arithmetic, is done with numbers.

use crate::convert::{done, float, indices, int};
use crate::data::singles;
use crate::qtensor::Blocks;
use crate::{Flex, FlexDevice, FlexQTensor, FlexTensor};
use alloc::vec::Vec;
use burn_backend::ops::{FloatTensorOps, QTensorOps};
use burn_backend::quantization::{
    QuantPropagation, QuantScheme, QuantStore, QuantizationParametersPrimitive, QuantizedBytes,
    ScaleDtype, global_scale_dtype, scale_to_dtype,
};
use burn_backend::{
    DType, ExecutionError, FloatDType, IntDType, Slice, TensorData, TensorMetadata,
    TensorPrimitive, get_or_init_device_settings,
};
use burn_std::Shape;
use flex::{Result, Tensor, ops};

impl QTensorOps<Flex> for Flex {
    fn q_from_data(data: TensorData, _: &FlexDevice) -> FlexQTensor {
        let (bytes, shape, dtype) = data.into_parts();
        let DType::QFloat(scheme) = dtype else {
            panic!("data of {dtype:?} is not quantised");
        };
        let stored = QuantizedBytes {
            bytes,
            scheme,
            shape: shape.clone(),
        };
        let (values, scales) = stored.into_vec_i8();
        let values = done(Tensor::from_vec(values, shape.as_slice()));
        FlexQTensor::new(values, native(&scheme), scales.block, scales.global)
    }
    async fn q_into_data(tensor: FlexQTensor) -> core::result::Result<TensorData, ExecutionError> {
        let values = done(tensor.values().to_vec::<i8>());
        let (scheme, global) = (tensor.quant_scheme(), tensor.global_scale());
        let (shape, scales) = (tensor.shape(), tensor.scales());
        Ok(TensorData::quantized(values, shape, scheme, scales, global))
    }
    fn q_to_device(tensor: FlexQTensor, _: &FlexDevice) -> FlexQTensor {
        tensor
    }

    fn quantize(
        tensor: FlexTensor,
        scheme: &QuantScheme,
        qparams: QuantizationParametersPrimitive<Flex>,
    ) -> FlexQTensor {
        let rounded = |x: &f32| usable(*x, scheme.scale_dtype());
        let scales = singles(qparams.scales.tensor());
        let scales = scales.iter().map(rounded).collect();
        let global = qparams.global.map(|global| {
            let dtype = global_scale_dtype(scheme).expect("a scheme of two levels");
            usable(singles(global.tensor())[0], dtype)
        });
        done(quantized(tensor.tensor(), scheme, scales, global))
    }
    fn quantize_dynamic(tensor: FlexTensor, scheme: &QuantScheme) -> FlexQTensor {
        done(dynamic(tensor.tensor(), scheme))
    }
    fn dequantize(tensor: FlexQTensor, dtype: FloatDType) -> FlexTensor {
        done(tensor.dequantized().and_then(|x| x.astype(float(dtype)))).into()
    }

    fn q_swap_dims(tensor: FlexQTensor, dim1: usize, dim2: usize) -> FlexQTensor {
        let mut scheme = tensor.quant_scheme();
        scheme.swap_block_dims(tensor.rank(), dim1, dim2);
        tensor.rearranged(scheme, |x| x.transpose(dim1, dim2))
    }
    fn q_permute(tensor: FlexQTensor, axes: &[usize]) -> FlexQTensor {
        let mut scheme = tensor.quant_scheme();
        scheme.permute_block_dims(tensor.rank(), axes);
        tensor.rearranged(scheme, |x| x.permute(axes))
    }
    fn q_flip(tensor: FlexQTensor, axes: &[usize]) -> FlexQTensor {
        let scheme = tensor.quant_scheme();
        tensor.rearranged(scheme, |x| x.flip(axes))
    }
    fn q_reshape(tensor: FlexQTensor, shape: Shape) -> FlexQTensor {
        moved(tensor, |x| x.reshape(shape.as_slice()))
    }
    fn q_expand(tensor: FlexQTensor, shape: Shape) -> FlexQTensor {
        moved(tensor, |x| x.broadcast_to(shape.as_slice()))
    }
    fn q_slice(tensor: FlexQTensor, slices: &[Slice]) -> FlexQTensor {
        moved(tensor, |x| x.slice(indices(slices, x.shape())))
    }
    fn q_select(tensor: FlexQTensor, dim: usize, indices: FlexTensor) -> FlexQTensor {
        moved(tensor, |x| x.take(indices.tensor(), dim))
    }
    fn q_gather(dim: usize, tensor: FlexQTensor, indices: FlexTensor) -> FlexQTensor {
        moved(tensor, |x| x.take_along_axis(indices.tensor(), dim))
    }
    fn q_repeat_dim(tensor: FlexQTensor, dim: usize, times: usize) -> FlexQTensor {
        moved(tensor, |x| {
            let mut counts = alloc::vec![1; x.rank()];
            counts[dim] = times;
            x.tile(counts)
        })
    }
    fn q_matmul(lhs: TensorPrimitive<Flex>, rhs: TensorPrimitive<Flex>) -> TensorPrimitive<Flex> {
        let settings = get_or_init_device_settings::<Flex>(&FlexDevice);
        let (mut dtype, mut scheme) = (settings.float_dtype, None);
        for x in [&lhs, &rhs] {
            match x {
                TensorPrimitive::Float(x) => dtype = x.dtype().into(),
                TensorPrimitive::QFloat(x) => scheme = Some(x.quant_scheme()),
            }
        }
        let product = match (lhs, rhs) {
            (TensorPrimitive::QFloat(x), TensorPrimitive::QFloat(y)) if sums_fit(&x, &y) => {
                done(product(&x, &y).and_then(|x| x.astype(float(dtype)))).into()
            }
            (x, y) => {
                let [x, y] = [x, y].map(|x| match x {
                    TensorPrimitive::Float(x) => x,
                    TensorPrimitive::QFloat(x) => Flex::dequantize(x, dtype),
                });
                Flex::float_matmul(x, y)
            }
        };
        match (settings.quantization.propagation, scheme) {
            (QuantPropagation::Propagate, Some(scheme)) => {
                TensorPrimitive::QFloat(Flex::quantize_dynamic(product, &scheme))
            }
            _ => TensorPrimitive::Float(product),
        }
    }
    fn q_argmax(tensor: FlexQTensor, dim: usize, out_dtype: IntDType) -> FlexTensor {
        let along = crate::convert::along(dim);
        done(ordered(&tensor).and_then(|x| x.argmax(along)?.astype(int(out_dtype)))).into()
    }
    fn q_argmin(tensor: FlexQTensor, dim: usize, out_dtype: IntDType) -> FlexTensor {
        let along = crate::convert::along(dim);
        done(ordered(&tensor).and_then(|x| x.argmin(along)?.astype(int(out_dtype)))).into()
    }
}

/// Values are unpacked, whatever they were stored as.
fn native(scheme: &QuantScheme) -> QuantScheme {
    scheme.with_store(QuantStore::Native)
}

/// Values moved; as numbers if they are in blocks, which need not follow.
#[track_caller]
fn moved(tensor: FlexQTensor, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> FlexQTensor {
    if tensor.has_one_scale() {
        return tensor.map(f);
    }
    let scheme = tensor.quant_scheme();
    done(tensor.dequantized().and_then(|x| dynamic(&f(&x)?, &scheme)))
}

/// Numbers in the order of the tensor's: its integers if they have one scale, which is positive.
fn ordered(tensor: &FlexQTensor) -> Result<Tensor> {
    match tensor.has_one_scale() {
        true => Ok(tensor.values().clone()),
        false => tensor.dequantized(),
    }
}

/// Whether the integers of a product have one scale, and no sum of theirs wraps.
fn sums_fit(x: &FlexQTensor, y: &FlexQTensor) -> bool {
    const LONGEST: usize = i32::MAX as usize >> 14;
    let n = x.values().shape().last();
    x.has_one_scale() && y.has_one_scale() && n.is_some_and(|n| *n <= LONGEST)
}
/// A product of integers, scaled.
fn product(x: &FlexQTensor, y: &FlexQTensor) -> Result<Tensor> {
    let scale = x.scales()[0] * y.scales()[0];
    let sums = ops::matmul_as(x.values(), y.values(), flex::DType::I32)?;
    ops::ewise(&sums, move |sum: i32| scale * sum as f32)
}

/// A scale as its dtype holds it, positive and finite.
fn usable(scale: f32, dtype: ScaleDtype) -> f32 {
    let rounded = scale_to_dtype(scale, dtype);
    match rounded > 0.0 && rounded.is_finite() {
        true => rounded,
        false => scale_to_dtype(f32::MIN_POSITIVE, dtype),
    }
}

fn quantized(
    x: &Tensor,
    scheme: &QuantScheme,
    scales: Vec<f32>,
    global: Option<f32>,
) -> Result<FlexQTensor> {
    let x = x.astype(flex::DType::F32)?;
    FlexQTensor::quantized(&x, native(scheme), scales, global)
}

/// With scales by which the largest magnitude of all values, or of a block, is the largest integer.
fn dynamic(x: &Tensor, scheme: &QuantScheme) -> Result<FlexQTensor> {
    let (low, high) = scheme.value.range();
    let magnitudes = ops::abs(x)?;
    let peaks = match Blocks::new(x.shape(), scheme) {
        None => magnitudes.max(())?,
        Some(blocks) => magnitudes.reshape(blocks.split())?.max(blocks.inner())?,
    };
    let scales: Vec<f32> = singles(&peaks)
        .iter()
        .map(|peak| 2.0 * peak / (high - low))
        .collect();
    let dtype = scheme.scale_dtype();
    let global = global_scale_dtype(scheme).map(|of| {
        let largest = scales.iter().copied().fold(0.0, f32::max);
        usable(largest / dtype.max_representable(), of)
    });
    let relative = |scale: &f32| usable(scale / global.unwrap_or(1.0), dtype);
    let scales = scales.iter().map(relative).collect();
    quantized(x, scheme, scales, global)
}
