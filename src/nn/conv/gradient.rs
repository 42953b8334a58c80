//! Gradients of convolutions. A convolution and the transposed one are each other's gradient with
//! respect to the image; the gradient of the weight is a sum over all positions of all images.

use super::call::ConvCall;
use super::phase::ConvAxis;
use super::plan::has_lanes;
use super::run::ConvOperands;
use super::sums::WeightSums;
use super::transpose::{Transposed, transposed};
use super::{Conv, ConvTranspose};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::try_chunks;
use crate::kernel::conv::{AddRows, Geometry, ImageRows, PlaneWalk, channel_fits, columns};
use crate::kernel::gemm::{MatElement, Packed, cost};
use crate::layout::Shape;
use crate::ops::linalg::Matrices;
use crate::par::{self, Cost};
use crate::tensor::Tensor;

/// A convolution from an `image`, `[batch, channels, ..]` or without the batch, to a `result`; its
/// gradients have their sizes.
pub(in crate::nn) struct Mirror {
    op: &'static str,
    dtype: DType,
    call: ConvCall,
    precise: bool,
}
impl Mirror {
    /// The convolution of `x`, for gradients of a float dtype.
    ///
    /// Errors if shapes or options don't match, or if there is an activation or a residual, which
    /// are not differentiated.
    pub fn of_conv(
        op: &'static str,
        rank: usize,
        [x, weight]: [&Tensor; 2],
        options: &Conv,
        dtype: DType,
    ) -> Result<Mirror> {
        let extra = [
            ("activation", options.activation.is_some()),
            ("residual", options.residual.is_some()),
        ];
        if let Some((name, _)) = extra.iter().find(|(_, given)| *given) {
            let message = message!("{name} is given, which is not differentiated");
            return Err(Error::value(op, message));
        }
        let operands = [x, weight].map(|t| (t.shape(), t.dtype()));
        let [x, weight] = operands;
        let operands = [("x", x.0, x.1), ("weight", weight.0, weight.1)];
        Ok(Mirror {
            op,
            dtype,
            call: ConvCall::new(op, rank, &operands, options)?,
            precise: options.precise,
        })
    }
    /// The convolution of which `x` is the result, for the transposed convolution of `x`.
    ///
    /// Errors if shapes or options don't match.
    pub fn of_transposed(
        op: &'static str,
        rank: usize,
        [x, weight]: [&Tensor; 2],
        options: &ConvTranspose,
        dtype: DType,
    ) -> Result<Mirror> {
        let whole = transposed(op, rank, x, weight, options)?;
        let call = whole.call;
        Ok(Mirror {
            op,
            dtype,
            call: ConvCall {
                in_channels: call.out_channels,
                out_channels: call.in_channels,
                image: whole.axes.map(|axis| axis.output_size),
                geometry: whole.mirrored(),
                ..call
            },
            precise: options.precise,
        })
    }
    /// The shape of the result.
    pub fn result(&self) -> Shape {
        self.call.shape()
    }
    /// The shape of the image.
    pub fn image(&self) -> Shape {
        let call = &self.call;
        let geometry = Geometry {
            output_size: call.image,
            ..call.geometry
        };
        ConvCall {
            out_channels: call.in_channels,
            geometry,
            ..*call
        }
        .shape()
    }
    /// With a batch axis, in the dtype.
    fn whole(&self, x: &Tensor) -> Result<Tensor> {
        self.call.with_batch(x)?.astype(self.dtype)
    }
    /// The convolution of an image.
    pub fn convolve(&self, image: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let call = self.call;
        let operands = ConvOperands {
            call,
            x: call.aligned(self.whole(image)?)?,
            weight: weight.astype(self.dtype)?.reshape((
                call.out_channels,
                call.in_channels_per_group() * call.geometry.kernel_len(),
            ))?,
            bias: None,
            residual: None,
        };
        let mut y = Tensor::empty(call.shape(), self.dtype)?;
        operands.write(self.op, &Conv::default(), &mut y, None)?;
        Ok(y)
    }
    /// The transposed convolution of a result, of the image's sizes.
    pub fn transpose(&self, result: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let (call, g) = (&self.call, self.call.geometry);
        let few = (1..=FEW).contains(&call.in_channels_per_group());
        if few && g.stride == [1; 3] && call.out_channels_per_group() >= MANY {
            return self.scatter(result, weight);
        }
        let [kz, ky, kx] = g.kernel;
        Transposed {
            op: self.op,
            rank: call.rank,
            result: self.dtype,
            dtype: self.dtype,
            axes: [0, 1, 2].map(|k| ConvAxis {
                kernel: g.kernel[k],
                stride: g.stride[k],
                dilation: g.dilation[k],
                padding: g.padding[k] as usize, // the padding option is never negative
                output_size: call.image[k],
            }),
            call: ConvCall {
                in_channels: call.out_channels,
                out_channels: call.in_channels,
                image: g.output_size,
                ..*call
            },
            x: self.whole(result)?,
            weight: weight
                .astype(self.dtype)?
                .reshape((
                    call.groups,
                    call.out_channels_per_group(),
                    call.in_channels_per_group(),
                    kz,
                    ky,
                    kx,
                ))?
                .permute([0, 2, 1, 3, 4, 5])?,
            bias: None,
            precise: self.precise,
        }
        .run()
    }
    /// The same for images of few channels: the transposed convolution would sum each of them over all
    /// channels of the result, tap by tap.
    fn scatter(&self, result: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let (call, wide) = (self.call, self.dtype.wide());
        let result = self.whole(result)?.astype(wide)?;
        let taps = call.in_channels_per_group() * call.geometry.kernel_len();
        let operands = [
            result.reshape((call.batch, call.out_channels, call.geometry.len()))?,
            weight
                .astype(self.dtype)?
                .astype(wide)?
                .reshape((call.out_channels, taps))?,
        ];
        let mut image = Tensor::zeros(self.image(), wide)?;
        let unsupported = || Err(Error::unsupported(self.op, self.dtype));
        dispatch!(float wide, |F| self.add_to::<F>(&operands, &mut image), else unsupported())?;
        image.into_dtype(self.dtype)
    }
    fn add_to<F>(&self, [result, weight]: &[Tensor; 2], image: &mut Tensor) -> Result<()>
    where
        F: Element + MatElement<Acc = F> + Packed,
    {
        let (call, g) = (self.call, self.call.geometry);
        let (size, row) = (call.image.iter().product::<usize>(), g.output_size[2]);
        let (weight, result) = (
            Matrices::<F>::new(weight).get(0),
            Matrices::<F>::new(result),
        );
        // Channels per task, by the sizes alone: the order in which contributions are added to an
        // element depends on the blocks of positions, and those on the taps.
        let tasks = call.batch.saturating_mul(call.groups).max(1);
        let channels = call
            .in_channels_per_group()
            .div_ceil(
                TASKS
                    .div_ceil(tasks)
                    .min(call.in_channels_per_group())
                    .max(1),
            )
            .max(1);
        let parts = call.in_channels_per_group().div_ceil(channels);
        let out = par::Out::new(image.as_mut_slice::<F>()?);
        let cost = Cost {
            bytes: size.saturating_mul(2 * channels * size_of::<F>()),
            flops: (channels * g.kernel_len())
                .saturating_mul(g.len())
                .saturating_mul(call.out_channels_per_group() + ADD)
                .saturating_add(cost::CALL),
        };
        try_chunks(call.batch * call.groups * parts, cost, |task| {
            let (n, group) = (task / parts / call.groups, task / parts % call.groups);
            let in_channels = task % parts * channels
                ..call
                    .in_channels_per_group()
                    .min((task % parts + 1) * channels);
            let first = (n * call.groups + group) * call.in_channels_per_group();
            // SAFETY: OUT1: each task has its own channels.
            let d = unsafe {
                out.part((first + in_channels.start) * size..(first + in_channels.end) * size)
            };
            let out_channels =
                group * call.out_channels_per_group()..(group + 1) * call.out_channels_per_group();
            let taps = in_channels.start * g.kernel_len()..in_channels.end * g.kernel_len();
            let weight = weight.block(out_channels.clone(), taps).t();
            let result = result.get(n).block(out_channels, 0..g.len());
            columns(weight, result, row, |positions, from| {
                let (geometry, sizes) = (&g, call.image);
                let rows = positions.start / row..positions.end / row;
                AddRows {
                    geometry,
                    rows,
                    from,
                    sizes,
                    d: &mut *d,
                }
                .add()
            })
        })
    }
    /// The gradient with respect to the weight, `[outputs, channels / groups, ..]`: for each
    /// position, the sum over all positions of `result` times what the tap reads of `image`.
    pub fn weight(&self, image: &Tensor, result: &Tensor) -> Result<Tensor> {
        let (call, wide) = (self.call, self.dtype.wide());
        let image = self.whole(image)?.astype(wide)?;
        let result = self.whole(result)?.astype(wide)?;
        let result = result.reshape((call.batch, call.out_channels, call.geometry.len()))?;
        let (image, sums) = (call.aligned(image)?, WeightSums::new(call, result));
        let unsupported = || Err(Error::unsupported(self.op, self.dtype));
        let sums =
            dispatch!(float wide, |F| weight::<F>(&call, &image, &sums), else unsupported())?;
        let g = call.geometry.kernel;
        let lead = [call.out_channels, call.in_channels_per_group()];
        let shape: Shape = lead.iter().chain(&g[3 - call.rank..]).copied().collect();
        sums.reshape(shape)?.into_dtype(self.dtype)
    }
}

/// Outputs of a group from which on a channel's gradient is a product: enough to fill most of a
/// vector.
const PRODUCT: usize = 8;

/// The gradient of the image is scattered if it has at most `FEW` channels, the result at least `MANY`,
/// and the stride is one. This is 1.1 (3 to 16 channels of 32x32), 1.9 (1 to 32 of 28x28) and 5 times
/// (3 to 64, a volume) as fast as the transposed convolution, on AVX2; with more channels, or a
/// stride, that is up to 1.4 times as fast.
const FEW: usize = 4;
const MANY: usize = 16;
/// The fewest tasks of that, if there are enough channels.
const TASKS: usize = 16;
/// The cost of adding a tap's contribution to the image, in multiply-adds of a product.
const ADD: usize = 16;

/// The gradient of the weight, `[outputs, channels / groups * positions]`.
fn weight<F>(call: &ConvCall, image: &Tensor, sums: &WeightSums) -> Result<Tensor>
where
    F: Element + MatElement<Acc = F> + Packed,
{
    let g = call.geometry;
    if call.out_channels_per_group() < PRODUCT
        && has_lanes(call, F::DTYPE)
        && let Some(walk) = PlaneWalk::convolution(&g, call.image, size_of::<F>())?
    {
        return sums.depthwise::<F>(image, &walk);
    }
    if call.in_channels_per_group() == 1
        && call.out_channels_per_group() < PRODUCT
        && channel_fits(&g, size_of::<F>())
    {
        return sums.channels::<F>(image);
    }
    sums.products::<F, _>(|part, group| ImageRows::new(call.images_of::<F>(image, part, group), g))
}
