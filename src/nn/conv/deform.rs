//! Deformable convolutions.

use super::call::ConvCall;
use super::sums::WeightSums;
use super::{Conv, Padding};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::try_chunks;
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{
    DeformFloat, Deformed, DeformedGradient, DeformedRows, Image, LANES, Patches, columns,
};
use crate::kernel::gemm::{Epilogue, EpilogueOp, Strided, cost};
use crate::layout::Shape;
use crate::nn::spatial::PerAxis;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{Cost, Out};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The options of deformable convolutions.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, weight) = (Tensor::from([[[2.0f32]]]), Tensor::from([3.0f32]).reshape((1, 1, 1, 1))?);
/// let (offset, mask) = (Tensor::from([[[0.0f32]], [[0.0]]]), Tensor::from([[[0.5f32]]]));
/// let masked = nn::DeformConv { mask: Some(&mask), ..Default::default() };
/// let y = nn::deform_conv2d(&x, &offset, &weight, masked)?;
/// assert_eq!(y.to_vec::<f32>()?, [3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeformConv<'a> {
    /// `[out]`, added to each channel of the result.
    pub bias: Option<&'a Tensor>,
    /// From one position of the kernel to the next. Default: 1.
    pub stride: PerAxis,
    /// Zeros around the image. Default: none.
    pub padding: Padding,
    /// The distance between adjacent elements of the kernel, in the image. Default: 1.
    pub dilation: PerAxis,
    /// `[batch, offset groups * kernel height * kernel width, out height, out width]`: a factor for
    /// what each tap reads at each position.
    pub mask: Option<&'a Tensor>,
}
impl Default for DeformConv<'_> {
    fn default() -> Self {
        DeformConv {
            bias: None,
            stride: 1.into(),
            padding: 0.into(),
            dilation: 1.into(),
            mask: None,
        }
    }
}
/// Deformable convolution: each position reads the image at positions that are displaced by offsets
/// of its own (Dai et al., "Deformable Convolutional Networks", 2017; with a mask, Zhu et al.,
/// "Deformable ConvNets v2", 2019). As torchvision's `deform_conv2d`.
///
/// `x` has the shape `[batch, channels, height, width]`, or the same without the batch; the weight
/// `[out, channels / groups, height, width]`, which gives the number of groups; and `offset`
/// `[batch, offset groups * 2 * kernel height * kernel width, out height, out width]`, which gives
/// the number of offset groups. Any strides. An offset is two values, down and across, that are
/// added to the position at which a tap of a position reads the image. Between elements the image
/// is interpolated bilinearly from the four around, and outside it is zero. The channels of an
/// offset group are consecutive and share their offsets. The result has the common dtype of all
/// operands, a float, and the sizes of [`conv2d`](super::conv2d); 16-bit floats are computed in
/// float32 and rounded once.
///
/// Errors as [`conv2d`](super::conv2d) does, if `offset` or `mask` don't match, and if there is no
/// common float dtype.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 2, 2])?;
/// let weight = Tensor::from_slice(&[10.0f32], [1, 1, 1, 1])?;
/// // half a row down from each element
/// let down = [0.5f32; 4].into_iter().chain([0.0; 4]).collect::<Vec<_>>();
/// let offset = Tensor::from_slice(&down, [1, 2, 2, 2])?;
/// let y = nn::deform_conv2d(&x, &offset, &weight, ())?;
/// assert_eq!(y.to_vec::<f32>()?, [20.0, 30.0, 15.0, 20.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn deform_conv2d<'a>(
    x: &Tensor,
    offset: &Tensor,
    weight: &Tensor,
    options: impl Into<DeformConv<'a>>,
) -> Result<Tensor> {
    let options = options.into();
    Deform::new("deform_conv2d", [x, offset, weight], &options, None)?.run(options.bias)
}

/// Operands of one dtype, the one that is computed in.
pub(in crate::nn) struct Deform {
    op: &'static str,
    /// Of the result.
    dtype: DType,
    call: ConvCall,
    /// The number of offset groups.
    groups: usize,
    /// `[batch, channels, height, width]`, with contiguous channels if they fill lanes.
    x: Tensor,
    /// `[batch, offset groups * kernel_len * 2, positions]`
    offset: Tensor,
    /// `[batch, offset groups * kernel_len, positions]`
    mask: Option<Tensor>,
    /// `[outputs, taps]`
    weight: Tensor,
}
impl Deform {
    /// For results of the common dtype, or of a given one, a float. Errors if operands or options
    /// don't match.
    pub fn new(
        op: &'static str,
        [x, offset, weight]: [&Tensor; 3],
        options: &DeformConv,
        given: Option<DType>,
    ) -> Result<Deform> {
        let operands = [("x", x), ("offset", offset), ("weight", weight)];
        let operands = operands.map(|(name, t)| (name, t.shape(), t.dtype()));
        let bad = |message| Err(Error::shape_of(op, message, &operands));
        let channels = x.rank().checked_sub(3).map_or(0, |axis| x.shape()[axis]);
        let in_channels = weight.shape().get(1).copied().unwrap_or(0);
        let of_conv = Conv {
            stride: options.stride.clone(),
            padding: options.padding.clone(),
            dilation: options.dilation.clone(),
            groups: channels.checked_div(in_channels).unwrap_or(1).max(1),
            ..Default::default()
        };
        let call = ConvCall::new(op, 2, &[operands[0], operands[2]], &of_conv)?;
        let (g, kernel_len) = (call.geometry, call.geometry.kernel_len());
        let lead = if call.batched { &[call.batch][..] } else { &[] };
        let shape = |rows: usize| -> Shape {
            let [_, down, across] = g.output_size;
            lead.iter().copied().chain([rows, down, across]).collect()
        };
        let rows = offset.shape().get(lead.len()).copied().unwrap_or(0);
        let groups = rows.div_ceil(2 * kernel_len).max(1);
        let expected = shape(groups * 2 * kernel_len);
        if offset.shape() != &expected[..] || !channels.is_multiple_of(groups) {
            return bad(message!(
                "offset must have the shape {:?}, or a multiple of its {} rows that divides the channels, {channels}",
                shape(2 * kernel_len).as_slice(),
                2 * kernel_len
            ));
        }
        let mut dtype = x.dtype().promote(offset.dtype(), op)?;
        dtype = dtype.promote(weight.dtype(), op)?;
        for (name, t, expected) in [
            ("mask", options.mask, shape(groups * kernel_len)),
            (
                "bias",
                options.bias,
                [call.out_channels].into_iter().collect(),
            ),
        ] {
            let Some(t) = t else { continue };
            dtype = dtype.promote(t.dtype(), op)?;
            if t.shape() != &expected[..] {
                let message = message!("{name} must have the shape {:?}", expected.as_slice());
                let [x, offset, weight] = operands;
                let all = [x, offset, weight, (name, t.shape(), t.dtype())];
                return Err(Error::shape_of(op, message, &all));
            }
        }
        let dtype = given.unwrap_or(dtype);
        if !dtype.is_float() || !dtype.wide().is_available() {
            return Err(Error::unsupported(op, dtype));
        }
        let wide = |t: &Tensor| t.astype(dtype)?.astype(dtype.wide());
        let flat = |t: &Tensor, rows| wide(t)?.reshape((call.batch, rows, g.len()));
        let rows = groups * kernel_len;
        let mut x = wide(&call.with_batch(x)?)?;
        if call.in_channels_per_group().min(channels / groups) >= LANES && x.strides()[1] != 1 {
            x = x.moveaxis(1, -1)?.contiguous()?.moveaxis(-1, 1)?;
        }
        Ok(Deform {
            op,
            dtype,
            call,
            groups,
            x,
            offset: flat(offset, 2 * rows)?,
            mask: options.mask.map(|mask| flat(mask, rows)).transpose()?,
            weight: wide(weight)?
                .reshape((call.out_channels, call.in_channels_per_group() * kernel_len))?,
        })
    }
    fn unsupported<T>(&self) -> Result<T> {
        Err(Error::unsupported(self.op, self.dtype))
    }
    /// The shape of the result.
    pub fn result(&self) -> Shape {
        self.call.shape()
    }
    /// The patches of image `n` for a group.
    fn source<F: Element>(&self, n: usize, group: usize) -> Deformed<'_, F> {
        Deformed {
            image: self.call.image_of(&self.x, n, group),
            geometry: self.call.geometry,
            offset: Matrices::new(&self.offset).get(n),
            mask: self.mask.as_ref().map(|mask| Matrices::new(mask).get(n)),
            first: group * self.call.in_channels_per_group(),
            per_group: self.call.in_channels / self.groups,
        }
    }
    /// The patches of all images, group by group.
    fn sources<F: Element>(&self) -> Result<Vec<Deformed<'_, F>>> {
        let batch = self.call.batch;
        let count = batch.saturating_mul(self.call.groups);
        let mut images = fallible::with_capacity(count)?;
        images.extend((0..count).map(|i| self.source(i % batch, i / batch)));
        Ok(images)
    }
    /// What taps read of some of them.
    fn rows<'a, F: DeformFloat>(&self, images: &'a [Deformed<'a, F>]) -> DeformedRows<'a, F> {
        let g = &self.call.geometry;
        let taps = self.call.in_channels_per_group() * g.kernel_len();
        DeformedRows::new(images, taps, g.len())
    }
    /// The convolution.
    fn run(&self, bias: Option<&Tensor>) -> Result<Tensor> {
        let wide = self.dtype.wide();
        let bias = bias
            .map(|b| b.astype(self.dtype)?.astype(wide)?.contiguous())
            .transpose()?;
        let mut y = Tensor::empty(self.call.shape(), wide)?;
        dispatch!(float wide, |F| self.multiply::<F>(bias.as_ref(), &mut y), else self.unsupported())?;
        y.into_dtype(self.dtype)
    }
    fn multiply<F: Element + DeformFloat>(
        &self,
        bias: Option<&Tensor>,
        y: &mut Tensor,
    ) -> Result<()> {
        let (call, positions) = (&self.call, self.call.geometry.len());
        let bias = bias.map(|b| b.as_slice::<F>()).transpose()?;
        let bias = bias.map(EpilogueOp::RowBias);
        let epilogue = Epilogue::new(bias.as_slice(), call.out_channels, positions);
        let y = ResultMatrices::<F>::new(y, call.out_channels_per_group(), positions)?;
        let weight = Matrices::<F>::new(&self.weight).get(0);
        let images = self.sources::<F>()?;
        // SAFETY: each matrix of a fresh tensor is one group of one image.
        unsafe {
            products_of_sources(call.batch * call.groups, |i| {
                let (n, group) = (i / call.groups, i % call.groups);
                let rows = group * call.out_channels_per_group()
                    ..(group + 1) * call.out_channels_per_group();
                (
                    Strided::rows(weight.block(rows.clone(), 0..weight.cols())),
                    Patches::right(self.rows(&images[group * call.batch + n..][..1])),
                    y.get(i),
                    epilogue.at(rows.start, 0),
                )
            })
        }
    }
    /// The gradients with respect to `x`, offset, weight and mask, from that of the result, which
    /// has its shape. Without a mask, its gradient is that of a mask of ones.
    pub fn gradients(&self, grad: &Tensor) -> Result<[Tensor; 4]> {
        let (call, wide) = (&self.call, self.dtype.wide());
        let grad = call.with_batch(grad)?.astype(self.dtype)?.astype(wide)?;
        let grad = grad.reshape((call.batch, call.out_channels, call.geometry.len()))?;
        let sums = WeightSums::new(*call, grad);
        let mut taps = [
            Tensor::zeros(self.x.shape(), wide)?,
            Tensor::zeros(self.offset.shape(), wide)?,
            Tensor::zeros(
                (call.batch, self.offset.shape()[1] / 2, call.geometry.len()),
                wide,
            )?,
        ];
        let weight = dispatch!(float wide, |F| {
            self.scatter::<F>(sums.result(), &mut taps)?;
            self.sums::<F>(&sums)
        }, else self.unsupported())?;
        let [x, offset, mask] = taps;
        let lead = if call.batched { &[call.batch][..] } else { &[] };
        let shape = |rest: &[usize]| -> Shape { lead.iter().chain(rest).copied().collect() };
        let ([_, ky, kx], [_, down, across]) = (call.geometry.kernel, call.geometry.output_size);
        let [_, height, width] = call.image;
        let (offsets, masks) = (offset.shape()[1], mask.shape()[1]);
        Ok([
            x.reshape(shape(&[call.in_channels, height, width]))?
                .into_dtype(self.dtype)?,
            offset
                .reshape(shape(&[offsets, down, across]))?
                .into_dtype(self.dtype)?,
            weight
                .reshape((call.out_channels, call.in_channels_per_group(), ky, kx))?
                .into_dtype(self.dtype)?,
            mask.reshape(shape(&[masks, down, across]))?
                .into_dtype(self.dtype)?,
        ])
    }
    /// The gradient with respect to the weight.
    fn sums<F: Element + DeformFloat>(&self, sums: &WeightSums) -> Result<Tensor> {
        let (batch, images) = (self.call.batch, self.sources::<F>()?);
        sums.products::<F, _>(|part, group| {
            self.rows(&images[group * batch + part.start..group * batch + part.end])
        })
    }
    /// Adds to the gradients of `x`, offset and mask; an offset group of an image is a task.
    fn scatter<F: Element + DeformFloat>(
        &self,
        grad: &Tensor,
        taps: &mut [Tensor; 3],
    ) -> Result<()> {
        let (call, positions) = (&self.call, self.call.geometry.len());
        let (per, area) = (
            call.in_channels / self.groups,
            call.image[1] * call.image[2],
        );
        let rows = call.geometry.kernel_len() * positions;
        let x = self.x.contiguous()?;
        let weight = Matrices::<F>::new(&self.weight).get(0);
        let grad = Matrices::<F>::new(grad);
        let [image, offset, mask] = taps;
        let image = Out::new(image.as_mut_slice::<F>()?);
        let offset = Out::new(offset.as_mut_slice::<F>()?);
        let mask = Out::new(mask.as_mut_slice::<F>()?);
        let each = (per * call.geometry.kernel_len()).saturating_mul(positions);
        let cost = Cost {
            bytes: each.saturating_mul(size_of::<F>()),
            flops: each
                .saturating_mul(call.out_channels_per_group() + TAP)
                .saturating_add(cost::CALL),
        };
        try_chunks(call.batch * self.groups, cost, |task| {
            let (n, group) = (task / self.groups, task % self.groups);
            let channels = group * per..(group + 1) * per;
            let of = |size: usize| task * size..(task + 1) * size;
            // SAFETY: OUT1: each task has its own offset group of an image, in all three.
            let (image, offset, mask) = unsafe {
                (
                    image.part(of(per * area)),
                    offset.part(of(2 * rows)),
                    mask.part(of(rows)),
                )
            };
            let whole = Deformed::<F> {
                first: 0,
                ..self.source(n, 0)
            };
            // SAFETY: IMAGE1: an image of the contiguous `x` (TENSOR1, TENSOR2), initialised
            // (STORAGE1).
            let all = unsafe {
                let at = (x.as_ptr() as *const F).wrapping_add(n * call.in_channels * area);
                let strides = [area, call.image[2], 1].map(|n| n as isize);
                Image::new(at, (call.in_channels, area as isize), call.image, strides)
            };
            for of_weight in 0..call.groups {
                let in_channels = of_weight * call.in_channels_per_group()
                    ..(of_weight + 1) * call.in_channels_per_group();
                let both = channels.start.max(in_channels.start)..channels.end.min(in_channels.end);
                if both.is_empty() {
                    continue;
                }
                let kernel_len = call.geometry.kernel_len();
                let cols = (both.start - in_channels.start) * kernel_len
                    ..(both.end - in_channels.start) * kernel_len;
                let out_channels = of_weight * call.out_channels_per_group()
                    ..(of_weight + 1) * call.out_channels_per_group();
                let right = grad.get(n).block(out_channels.clone(), 0..positions);
                let left = weight.block(out_channels, cols).t();
                let d = (both.start - channels.start) * area..(both.end - channels.start) * area;
                columns(left, right, UNIT, |positions, columns| {
                    DeformedGradient {
                        from: Deformed {
                            image: all.channels_of(both.clone()),
                            first: both.start,
                            ..whole
                        },
                        positions,
                        columns,
                        image: &mut image[d.clone()],
                        offset: &mut *offset,
                        mask: &mut *mask,
                    }
                    .add()
                })?;
            }
            Ok(())
        })
    }
}

/// Positions per block of the taps' gradients, or a multiple of that.
const UNIT: usize = 32;
/// The cost of the gradients of a tap of a position, in multiply-adds of a product.
const TAP: usize = 64;
