//! What gradients of convolutions are made of. A convolution and its transposed one are each other's
//! gradient by the image; the gradient of the weight is a sum over all places of all images.

use super::call::Call;
use super::run::Operands;
use super::transpose::{Axis, Transposed, transposed};
use super::{Conv, ConvTranspose};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::failure::Failure;
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{Geometry, Image, Stacked, Taps, channel_gradient};
use crate::kernel::gemm::{Epilogue, Mat, MatElement, Packed, cost};
use crate::layout::Shape;
use crate::ops::{
    self,
    linalg::{Matrices, Results},
};
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

/// A convolution from an `image`, `[batch, channels, ..]` or without the batch, to a `result`: the
/// sizes that its gradients have.
pub(in crate::nn) struct Mirror {
    op: &'static str,
    dtype: DType,
    call: Call,
    precise: bool,
}
impl Mirror {
    /// The convolution of `x`, for gradients of a dtype, a float.
    ///
    /// Errors where shapes or options don't fit, and where there is an activation or a residual, which
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
            call: Call::new(op, rank, &operands, options)?,
            precise: options.precise,
        })
    }
    /// The convolution whose transposed one `x` is the operand of, and so the result of this one.
    ///
    /// Errors where shapes or options don't fit.
    pub fn of_transposed(
        op: &'static str,
        rank: usize,
        [x, weight]: [&Tensor; 2],
        options: &ConvTranspose,
        dtype: DType,
    ) -> Result<Mirror> {
        let Transposed { axes, call, .. } = transposed(op, rank, x, weight, options)?;
        let of = |f: fn(&Axis) -> usize| axes.each_ref().map(f);
        let geometry = Geometry {
            kernel: of(|a| a.kernel),
            stride: of(|a| a.stride),
            dilation: of(|a| a.dilation),
            padding: of(|a| a.padding).map(|n| n as isize),
            places: call.image,
        };
        Ok(Mirror {
            op,
            dtype,
            call: Call {
                channels: call.outputs,
                outputs: call.channels,
                image: of(|a| a.places),
                geometry,
                ..call
            },
            precise: false,
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
            places: call.image,
            ..call.geometry
        };
        Call {
            outputs: call.channels,
            geometry,
            ..*call
        }
        .shape()
    }
    /// With a batch, of the dtype.
    fn whole(&self, x: &Tensor) -> Result<Tensor> {
        let x = if self.call.batched {
            x.clone()
        } else {
            x.expand_dims(0)?
        };
        x.astype(self.dtype)
    }
    /// The convolution of an image.
    pub fn convolve(&self, image: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let call = self.call;
        let operands = Operands {
            call,
            x: call.aligned(self.whole(image)?)?,
            weight: weight
                .astype(self.dtype)?
                .reshape((call.outputs, call.seen() * call.geometry.positions()))?,
            bias: None,
            residual: None,
        };
        let mut y = Tensor::empty(call.shape(), self.dtype)?;
        operands.write(self.op, &Conv::default(), &mut y)?;
        Ok(y)
    }
    /// The transposed convolution of a result, of the image's sizes.
    pub fn transpose(&self, result: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let (call, g) = (&self.call, self.call.geometry);
        let [kz, ky, kx] = g.kernel;
        Transposed {
            op: self.op,
            rank: call.rank,
            dtype: self.dtype,
            axes: [0, 1, 2].map(|k| Axis {
                kernel: g.kernel[k],
                stride: g.stride[k],
                dilation: g.dilation[k],
                padding: g.padding[k] as usize, // zeros of an option
                places: call.image[k],
            }),
            call: Call {
                channels: call.outputs,
                outputs: call.channels,
                image: g.places,
                ..*call
            },
            x: self.whole(result)?,
            weight: weight
                .astype(self.dtype)?
                .reshape((call.groups, call.made(), call.seen(), kz, ky, kx))?
                .permute([0, 2, 1, 3, 4, 5])?,
            bias: None,
            precise: self.precise,
        }
        .run()
    }
    /// The gradient of the weight, `[outputs, channels / groups, ..]`: of each position the sum over all
    /// places of `result` times what the tap sees of `image`.
    pub fn weight(&self, image: &Tensor, result: &Tensor) -> Result<Tensor> {
        let (call, wide) = (self.call, self.dtype.wide());
        let image = self.whole(image)?.astype(wide)?;
        let result = self.whole(result)?.astype(wide)?;
        let result = result.reshape((call.batch, call.outputs, call.geometry.len()))?;
        let sums = Sums {
            call,
            image: call.aligned(image)?,
            result,
        };
        let unsupported = || Err(Error::unsupported(self.op, self.dtype));
        let sums = dispatch!(float wide, |F| sums.compute::<F>(), else unsupported())?;
        let g = call.geometry.kernel;
        let lead = [call.outputs, call.seen()];
        let shape: Shape = lead.iter().chain(&g[3 - call.rank..]).copied().collect();
        sums.reshape(shape)?.into_dtype(self.dtype)
    }
}

/// Places that are summed up by themselves at least: enough that the sums of such parts are few beside
/// them.
const PART: usize = 1 << 13;
/// Parts at most.
const PARTS: usize = 32;
/// Outputs of a group from which on a channel's gradient is a product: as many as fill most of a
/// vector.
const PRODUCT: usize = 8;

/// The sums of a weight's gradient. The images are cut into parts by their sizes alone, which are added
/// at the end.
struct Sums {
    call: Call,
    image: Tensor,
    /// `[batch, outputs, places]`
    result: Tensor,
}
impl Sums {
    /// Images of a part, and how many parts.
    fn parts(&self) -> (usize, usize) {
        let batch = self.call.batch.max(1);
        let places = self.call.geometry.len().max(1);
        let images = PART.div_ceil(places).max(batch.div_ceil(PARTS)).min(batch);
        (images, batch.div_ceil(images))
    }
    /// `[outputs, channels / groups * positions]`
    fn compute<F>(&self) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
    {
        let call = &self.call;
        if call.seen() == 1 && call.made() < PRODUCT {
            let sums = self.channels::<F>()?;
            return ops::sum(&sums, 0);
        }
        let sums = ops::sum(&self.products::<F>()?, 0)?;
        let sums = sums.transpose(1, 2)?.contiguous()?;
        sums.reshape((call.outputs, call.seen() * call.geometry.positions()))
    }
    /// The images of part `i`.
    fn part(&self, i: usize) -> Range<usize> {
        let (images, _) = self.parts();
        (i * images).min(self.call.batch)..((i + 1) * images).min(self.call.batch)
    }
    /// `[parts, outputs, positions]`
    fn channels<F>(&self) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
    {
        let (call, g) = (&self.call, self.call.geometry);
        let (images, parts) = self.parts();
        let mut sums = Tensor::empty((parts, call.outputs, g.positions()), F::DTYPE)?;
        let result = self.result.contiguous()?;
        let (result, size) = (result.as_slice::<F>()?, g.len());
        let cost = Cost {
            bytes: images
                .saturating_mul(size)
                .saturating_mul(2 * size_of::<F>()),
            flops: (images.saturating_mul(size).saturating_mul(g.positions()))
                .saturating_add(cost::CALL),
        };
        let failure = Failure::default();
        par::split(
            sums.as_mut_slice::<F>()?,
            g.positions(),
            1,
            cost,
            |rows, d| {
                for (row, d) in rows.zip(d.chunks_exact_mut(g.positions())) {
                    let (part, o) = (row / call.outputs, row % call.outputs);
                    let planes = self.part(part).map(|n| {
                        let plane = (n * call.outputs + o) * size;
                        let image = call.image_of::<F>(&self.image, n, o / call.made());
                        (image, &result[plane..plane + size])
                    });
                    failure.note(channel_gradient(planes, &g, d));
                }
            },
        );
        failure.result()?;
        Ok(sums)
    }
    /// `[parts, groups, taps, outputs of a group]`, as
    /// `[parts, groups, channels / groups * positions, outputs / groups]`.
    fn products<F>(&self) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
    {
        let (call, g) = (&self.call, self.call.geometry);
        let (_, parts) = self.parts();
        let taps = call.seen() * g.positions();
        let mut sums = Tensor::empty((parts, call.groups, taps, call.made()), F::DTYPE)?;
        let count = call.batch.saturating_mul(call.groups);
        let (mut images, mut results): (Vec<Image<F>>, Vec<Mat<F>>) = (
            fallible::with_capacity(count)?,
            fallible::with_capacity(count)?,
        );
        let of_batch = Matrices::<F>::new(&self.result);
        for group in 0..call.groups {
            let rows = group * call.made()..(group + 1) * call.made();
            for n in 0..call.batch {
                images.push(call.image_of(&self.image, n, group));
                results.push(of_batch.get(n).block(rows.clone(), 0..g.len()).t());
            }
        }
        let d = Results::<F>::new(&mut sums, taps, call.made())?;
        // SAFETY: the matrices of a fresh tensor don't overlap.
        unsafe {
            products_of_sources(parts * call.groups, |i| {
                let (part, group) = (self.part(i / call.groups), i % call.groups);
                let of = group * call.batch + part.start..group * call.batch + part.end;
                (
                    Taps::new(&images[of.clone()], call.seen(), g),
                    Stacked::new(&results[of], g.len(), call.made()),
                    d.get(i),
                    Epilogue::NONE,
                )
            })?
        };
        Ok(sums)
    }
}
