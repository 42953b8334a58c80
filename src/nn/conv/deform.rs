//! Deformable convolutions.

use super::call::ConvCall;
use super::sums::WeightSums;
use super::{Conv, Padding};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::Failure;
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{
    DeformFloat, Deformed, DeformedGradient, DeformedPatches, DeformedTaps, Image, LANES, columns,
};
use crate::kernel::gemm::{Epilogue, EpilogueOp, Strided, cost};
use crate::layout::Shape;
use crate::nn::spatial::PerAxis;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost, Out};
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
    /// From one place of the kernel to the next. Default: 1.
    pub stride: PerAxis,
    /// Zeros around the image. Default: none.
    pub padding: Padding,
    /// The distance between adjacent elements of the kernel, in the image. Default: 1.
    pub dilation: PerAxis,
    /// `[batch, offset groups * kernel height * kernel width, out height, out width]`: a factor for
    /// what each tap reads at each place.
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
impl<'a> From<Option<&'a Tensor>> for DeformConv<'a> {
    fn from(bias: Option<&'a Tensor>) -> Self {
        DeformConv {
            bias,
            ..Default::default()
        }
    }
}

/// Deformable convolution: each place reads the image at positions that are displaced by offsets of
/// its own (Dai et al., "Deformable Convolutional Networks", 2017; with a mask, Zhu et al.,
/// "Deformable ConvNets v2", 2019). As torchvision's `deform_conv2d`.
///
/// `x` has the shape `[batch, channels, height, width]`, or the same without the batch; the weight
/// `[out, channels / groups, height, width]`, which gives the number of groups; and `offset`
/// `[batch, offset groups * 2 * kernel height * kernel width, out height, out width]`, which gives
/// the number of offset groups. Any strides. An offset is two numbers, down and across, that are
/// added to the position at which a tap of a place reads the image. Between elements the image is
/// interpolated bilinearly from the four around, and outside it is zero. The channels of an offset
/// group are consecutive and share their offsets. The result has the common dtype of all operands,
/// a float, and the sizes of [`conv2d`](super::conv2d); 16-bit floats are computed in float32 and
/// rounded once.
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
/// let y = nn::deform_conv2d(&x, &offset, &weight, None)?;
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
    /// `[batch, offset groups * positions * 2, places]`
    offset: Tensor,
    /// `[batch, offset groups * positions, places]`
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
        let seen = weight.shape().get(1).copied().unwrap_or(0);
        let of_conv = Conv {
            stride: options.stride.clone(),
            padding: options.padding.clone(),
            dilation: options.dilation.clone(),
            groups: channels.checked_div(seen).unwrap_or(1).max(1),
            ..Default::default()
        };
        let call = ConvCall::new(op, 2, &[operands[0], operands[2]], &of_conv)?;
        let (g, positions) = (call.geometry, call.geometry.positions());
        let lead = if call.batched { &[call.batch][..] } else { &[] };
        let shape = |rows: usize| -> Shape {
            let [_, down, across] = g.places;
            lead.iter().copied().chain([rows, down, across]).collect()
        };
        let rows = offset.shape().get(lead.len()).copied().unwrap_or(0);
        let groups = rows.div_ceil(2 * positions).max(1);
        let expected = shape(groups * 2 * positions);
        if offset.shape() != &expected[..] || !channels.is_multiple_of(groups) {
            return bad(message!(
                "offset must have the shape {:?}, or a multiple of its {} rows that divides the channels, {channels}",
                shape(2 * positions).as_slice(),
                2 * positions
            ));
        }
        let mut dtype = x.dtype().promote(offset.dtype(), op)?;
        dtype = dtype.promote(weight.dtype(), op)?;
        for (name, t, expected) in [
            ("mask", options.mask, shape(groups * positions)),
            ("bias", options.bias, [call.outputs].into_iter().collect()),
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
        let rows = groups * positions;
        let mut x = wide(&call.with_batch(x)?)?;
        if call.seen().min(channels / groups) >= LANES && x.strides()[1] != 1 {
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
            weight: wide(weight)?.reshape((call.outputs, call.seen() * positions))?,
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
            first: group * self.call.seen(),
            per_group: self.call.channels / self.groups,
        }
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
        let (call, places) = (&self.call, self.call.geometry.len());
        let bias = bias.map(|b| b.as_slice::<F>()).transpose()?;
        let bias = bias.map(EpilogueOp::RowBias);
        let epilogue = Epilogue::new(bias.as_slice(), call.outputs, places);
        let y = ResultMatrices::<F>::new(y, call.made(), places)?;
        let weight = Matrices::<F>::new(&self.weight).get(0);
        // SAFETY: each matrix of a fresh tensor is one group of one image.
        unsafe {
            products_of_sources(call.batch * call.groups, |i| {
                let (n, group) = (i / call.groups, i % call.groups);
                let rows = group * call.made()..(group + 1) * call.made();
                (
                    Strided::rows(weight.block(rows.clone(), 0..weight.cols())),
                    DeformedPatches::new(self.source::<F>(n, group)),
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
        let grad = grad.reshape((call.batch, call.outputs, call.geometry.len()))?;
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
        let ([_, ky, kx], [_, down, across]) = (call.geometry.kernel, call.geometry.places);
        let [_, height, width] = call.image;
        let (offsets, masks) = (offset.shape()[1], mask.shape()[1]);
        Ok([
            x.reshape(shape(&[call.channels, height, width]))?
                .into_dtype(self.dtype)?,
            offset
                .reshape(shape(&[offsets, down, across]))?
                .into_dtype(self.dtype)?,
            weight
                .reshape((call.outputs, call.seen(), ky, kx))?
                .into_dtype(self.dtype)?,
            mask.reshape(shape(&[masks, down, across]))?
                .into_dtype(self.dtype)?,
        ])
    }
    /// The gradient with respect to the weight.
    fn sums<F: Element + DeformFloat>(&self, sums: &WeightSums) -> Result<Tensor> {
        let (call, places) = (&self.call, self.call.geometry.len());
        let taps = call.seen() * call.geometry.positions();
        let count = call.batch.saturating_mul(call.groups);
        let mut images: Vec<Deformed<F>> = fallible::with_capacity(count)?;
        images.extend((0..count).map(|i| self.source(i % call.batch, i / call.batch)));
        sums.products::<F, _>(|part, group| {
            let of = group * call.batch + part.start..group * call.batch + part.end;
            DeformedTaps::new(&images[of], taps, places)
        })
    }
    /// Adds to the gradients of `x`, offset and mask; an offset group of an image is a task.
    fn scatter<F: Element + DeformFloat>(
        &self,
        grad: &Tensor,
        taps: &mut [Tensor; 3],
    ) -> Result<()> {
        let (call, places) = (&self.call, self.call.geometry.len());
        let (per, area) = (call.channels / self.groups, call.image[1] * call.image[2]);
        let rows = call.geometry.positions() * places;
        let x = self.x.contiguous()?;
        let weight = Matrices::<F>::new(&self.weight).get(0);
        let grad = Matrices::<F>::new(grad);
        let [image, offset, mask] = taps;
        let image = Out::new(image.as_mut_slice::<F>()?);
        let offset = Out::new(offset.as_mut_slice::<F>()?);
        let mask = Out::new(mask.as_mut_slice::<F>()?);
        let each = (per * call.geometry.positions()).saturating_mul(places);
        let cost = Cost {
            bytes: each.saturating_mul(size_of::<F>()),
            flops: each
                .saturating_mul(call.made() + TAP)
                .saturating_add(cost::CALL),
        };
        let failure = Failure::default();
        par::chunks(call.batch * self.groups, cost, |task| {
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
                let at = (x.as_ptr() as *const F).wrapping_add(n * call.channels * area);
                let strides = [area, call.image[2], 1].map(|n| n as isize);
                Image::new(at, (call.channels, area as isize), call.image, strides)
            };
            for of_weight in 0..call.groups {
                let seen = of_weight * call.seen()..(of_weight + 1) * call.seen();
                let both = channels.start.max(seen.start)..channels.end.min(seen.end);
                if both.is_empty() {
                    continue;
                }
                let positions = call.geometry.positions();
                let cols =
                    (both.start - seen.start) * positions..(both.end - seen.start) * positions;
                let made = of_weight * call.made()..(of_weight + 1) * call.made();
                let right = grad.get(n).block(made.clone(), 0..places);
                let left = weight.block(made, cols).t();
                let d = (both.start - channels.start) * area..(both.end - channels.start) * area;
                failure.note(columns(left, right, UNIT, |places, columns| {
                    DeformedGradient {
                        from: Deformed {
                            image: all.channels_of(both.clone()),
                            first: both.start,
                            ..whole
                        },
                        places,
                        columns,
                        image: &mut image[d.clone()],
                        offset: &mut *offset,
                        mask: &mut *mask,
                    }
                    .add()
                }));
            }
        });
        failure.result()
    }
}

/// Places per block of the taps' gradients, or a multiple of that.
const UNIT: usize = 32;
/// The cost of the gradients of a tap of a place, in multiply-adds of a product.
const TAP: usize = 64;
