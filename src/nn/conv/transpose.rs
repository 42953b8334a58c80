//! Transposed convolutions, as gathers: by products with the whole kernel ([`super::col2im`]), or
//! phase by phase. The results of a phase, which are `stride` apart, read neighbouring elements
//! with the same taps, so each phase is a convolution of stride 1 with some of the weights. No
//! element of a result is written twice.

use super::Conv;
use super::call::ConvCall;
use super::phase::{ConvAxis, Phase};
use super::run::ConvOperands;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::conv::{Geometry, Three};
use crate::nn::spatial::{PerAxis, option, three};
use crate::ops::linalg::{bias_in, product_dtype};
use crate::tensor::Tensor;
use alloc::borrow::Cow;

/// The options of transposed convolutions.
///
/// Example: [`conv_transpose1d`].
#[derive(Clone, Debug)]
pub struct ConvTranspose<'a> {
    /// `[out]`, added to each channel of the result.
    pub bias: Option<&'a Tensor>,
    /// The distance, in the result, between the positions that adjacent elements of the image add
    /// to. Default: 1.
    pub stride: PerAxis,
    /// Elements cropped on both sides of the result. Default: none.
    pub padding: PerAxis,
    /// Elements added after the result, fewer than `stride` or `dilation`. Default: none.
    pub output_padding: PerAxis,
    /// Groups of channels, each convolved by itself. Default: 1.
    pub groups: usize,
    /// The distance between adjacent elements of the kernel, in the result. Default: 1.
    pub dilation: PerAxis,
    /// Whether each result must be a plain sum of products of elements and weights, as in
    /// [`Conv::precise`]; otherwise kernels of a few taps for each phase of the stride may use
    /// Winograd's algorithm. Default: false.
    pub precise: bool,
}
impl Default for ConvTranspose<'_> {
    fn default() -> Self {
        ConvTranspose {
            bias: None,
            stride: 1.into(),
            padding: 0.into(),
            output_padding: 0.into(),
            groups: 1,
            dilation: 1.into(),
            precise: false,
        }
    }
}
macro_rules! transposed {
    ($($(#[doc = $doc:literal])* $name:ident $rank:literal $op:literal;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// Each element of `x` adds the kernel, scaled by it, to the result: the gradient of a
        /// convolution of the same options with respect to its image. `x` and the result have the
        /// shape `[batch, channels, ..]`, or `[channels, ..]` without a batch; the weight
        /// `[channels, out / groups, ..]`. Any strides. The result has the common dtype of all
        /// operands, and along each axis `(size - 1) * stride - 2 * padding + dilation * (kernel -
        /// 1) + output_padding + 1` positions. 16-bit floats are summed in float32 and rounded
        /// once. A weight that is not finite may give NaN in positions within a kernel of the
        /// border: if that is faster, it is multiplied by zeros beyond `x`.
        ///
        /// Errors if shapes or groups don't match, a stride, dilation or size of the kernel is
        /// zero, `output_padding` is not below `stride` or `dilation`, the result would have fewer
        /// than 0 elements along an axis, and for bool.
        pub fn $name<'a>(
            x: &Tensor,
            weight: &Tensor,
            options: impl Into<ConvTranspose<'a>>,
        ) -> Result<Tensor> {
            let call = transposed($op, $rank, x, weight, &options.into())?;
            call.run()?.into_dtype(call.result)
        }
    )* };
}
transposed! {
    /// The transposed convolution of a signal, `[batch, channels, length]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
    /// let weight = Tensor::from_slice(&[1.0f32, 10.0, 100.0], [1, 1, 3])?;
    /// let stride = nn::ConvTranspose { stride: 2.into(), ..Default::default() };
    /// let y = nn::conv_transpose1d(&x, &weight, stride)?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.0, 10.0, 102.0, 20.0, 200.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv_transpose1d 1 "conv_transpose1d";
    /// The transposed convolution of an image, `[batch, channels, height, width]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 1, 2])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 4], [1, 1, 2, 2])?;
    /// let y = nn::conv_transpose2d(&x, &weight, ())?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.0, 3.0, 2.0, 1.0, 3.0, 2.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv_transpose2d 2 "conv_transpose2d";
    /// The transposed convolution of a volume, `[batch, channels, depth, height, width]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32], [1, 1, 1, 1])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 8], [1, 1, 2, 2, 2])?;
    /// assert_eq!(nn::conv_transpose3d(&x, &weight, ())?.shape(), [1, 2, 2, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv_transpose3d 3 "conv_transpose3d";
}

/// Checks the operands and options. Errors if they don't match.
pub(super) fn transposed(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    weight: &Tensor,
    options: &ConvTranspose,
) -> Result<Transposed> {
    let operands = [
        ("x", x.shape(), x.dtype()),
        ("weight", weight.shape(), weight.dtype()),
    ];
    let bad = |message| Err(Error::shape_of(op, message, &operands));
    if weight.rank() != rank + 2 || ![rank + 1, rank + 2].contains(&x.rank()) {
        return bad(message!(
            "x has {} dimensions or a batch of those, and weight {}",
            rank + 1,
            rank + 2
        ));
    }
    let batched = x.rank() == rank + 2;
    let (batch, channels) = match batched {
        true => (x.shape()[0], x.shape()[1]),
        false => (1, x.shape()[0]),
    };
    let groups = options.groups;
    if weight.shape()[0] != channels {
        return bad(message!(
            "weight.shape[0] is {}, expected in_channels = {channels}",
            weight.shape()[0]
        ));
    }
    if groups == 0 || !channels.is_multiple_of(groups) {
        return bad(message!(
            "groups is {groups}, which does not divide {channels} channels"
        ));
    }
    let Some(outputs) = weight.shape()[1].checked_mul(groups) else {
        return bad(message!("groups is {groups}, too large"));
    };
    let image = three(&x.shape()[x.rank() - rank..], rank, 1);
    let kernel = three(&weight.shape()[2..], rank, 1);
    if kernel.contains(&0) {
        return bad(message!("a kernel of size 0"));
    }
    let stride = option(op, "stride", &options.stride, rank, 1)?;
    let dilation = option(op, "dilation", &options.dilation, rank, 1)?;
    let padding = option(op, "padding", &options.padding, rank, 0)?;
    let after = option(op, "output_padding", &options.output_padding, rank, 0)?;
    let mut axes = [None; 3];
    for k in 0..3 {
        if after[k] > 0 && after[k] >= stride[k].max(dilation[k]) {
            let (a, s, d) = (after[k], stride[k], dilation[k]);
            let message =
                message!("output_padding is {a}, not below the stride {s} or the dilation {d}");
            return Err(Error::value(op, message));
        }
        let of = |n: usize| i128::try_from(n).unwrap_or(i128::MAX);
        let grown = (of(image[k]) - 1).checked_mul(of(stride[k]));
        let spans = (of(kernel[k]) - 1).checked_mul(of(dilation[k]));
        let padded = grown
            .zip(spans)
            .and_then(|(a, b)| a.checked_add(b))
            .and_then(|n| n.checked_add(of(after[k]) + 1))
            .filter(|n| *n <= isize::MAX as i128 / 2 && padding[k] <= isize::MAX as usize / 2);
        let Some(padded) = padded else {
            return bad(message!("stride, padding or dilation is too large"));
        };
        let output_size = padded - 2 * of(padding[k]);
        if output_size < 0 || image[k] == 0 {
            return bad(message!(
                "the output size would be {output_size} along axis {}",
                x.rank() + k - 3
            ));
        }
        axes[k] = Some(ConvAxis {
            kernel: kernel[k],
            stride: stride[k],
            dilation: dilation[k],
            padding: padding[k],
            output_size: output_size as usize,
        });
    }
    let mut dtype = x.dtype().promote(weight.dtype(), op)?;
    if let Some(b) = options.bias {
        dtype = dtype.promote(b.dtype(), op)?;
        if b.shape() != [outputs] {
            let message = message!("bias must have the shape [{outputs}]");
            let all = [operands[0], operands[1], ("bias", b.shape(), b.dtype())];
            return Err(Error::shape_of(op, message, &all));
        }
    }
    if dtype.is_bool() || !dtype.is_available() {
        return Err(Error::unsupported(op, dtype));
    }
    let (result, dtype) = (dtype, product_dtype(dtype));
    let whole = if batched {
        x.clone()
    } else {
        x.expand_dims(0)?
    };
    let out_channels = weight.shape()[1];
    let [kz, ky, kx] = kernel;
    Ok(Transposed {
        op,
        rank,
        result,
        dtype,
        axes: axes.map(|axis| axis.unwrap_or_else(|| unreachable!("set for all axes"))),
        call: ConvCall {
            rank,
            batched,
            batch,
            in_channels: channels,
            out_channels: outputs,
            groups,
            image,
            geometry: Geometry {
                kernel,
                stride: [1; 3],
                dilation: [1; 3],
                padding: [0; 3],
                output_size: [0; 3],
            },
        },
        x: whole.astype(dtype)?,
        weight: weight
            .astype(dtype)?
            .reshape((groups, channels / groups, out_channels, kz, ky, kx))?
            .permute([0, 2, 1, 3, 4, 5])?,
        bias: (options.bias)
            .map(|b| bias_in(b, dtype).map(Cow::into_owned))
            .transpose()?,
        precise: options.precise,
    })
}

/// Operands of the dtype in which they are multiplied.
pub(super) struct Transposed {
    pub op: &'static str,
    pub rank: usize,
    pub result: DType,
    pub dtype: DType,
    pub axes: [ConvAxis; 3],
    /// The sizes, without a geometry yet.
    pub call: ConvCall,
    pub x: Tensor,
    /// `[groups, out, channels, depth, height, width]`
    pub weight: Tensor,
    pub bias: Option<Tensor>,
    /// As in [`Conv`].
    pub precise: bool,
}
impl Transposed {
    pub fn run(&self) -> Result<Tensor> {
        let phases = self.axes.map(|axis| axis.stride.min(axis.output_size));
        if phases.contains(&0) {
            return Tensor::empty(self.whole().shape(), self.dtype);
        }
        if let Some(y) = self.depthwise()? {
            return Ok(y);
        }
        if phases == [1; 3] {
            return self.phase([0; 3]).map(|(y, _)| y);
        }
        if let Some(y) = self.winograd()? {
            return Ok(y);
        }
        if let Some(how) = self.col2im() {
            return self.col2im_to(&how);
        }
        let mut y = Tensor::empty(self.whole().shape(), self.dtype)?;
        let lead = y.rank() - self.rank;
        for i in 0..phases.iter().product() {
            let at = [
                i / phases[2] / phases[1],
                i / phases[2] % phases[1],
                i % phases[2],
            ];
            let (part, phase) = self.phase(at)?;
            let mut layout = y.layout().clone();
            for k in 0..self.rank {
                let (phase, axis) = (phase[3 - self.rank + k], self.axes[3 - self.rank + k]);
                let step = axis.stride as isize;
                layout = layout.slice(lead + k, phase.first, step, phase.output_size);
            }
            y.write(&layout, &part)?;
        }
        Ok(y)
    }
    /// The convolution of which this is the transposed one: from the result to `x`.
    pub(super) fn mirrored(&self) -> Geometry {
        Geometry {
            kernel: self.axes.map(|axis| axis.kernel),
            stride: self.axes.map(|axis| axis.stride),
            dilation: self.axes.map(|axis| axis.dilation),
            padding: self.axes.map(|axis| axis.padding as isize),
            output_size: self.call.image,
        }
    }
    /// The sizes of the whole result.
    pub(super) fn whole(&self) -> ConvCall {
        self.call_of(self.axes.map(|axis| axis.output_size))
    }
    /// The sizes of a result of these positions.
    pub(super) fn call_of(&self, output_size: Three) -> ConvCall {
        let geometry = Geometry {
            output_size,
            ..self.call.geometry
        };
        ConvCall {
            geometry,
            ..self.call
        }
    }
    /// The results of a phase: the positions from `first` on, `stride` apart.
    fn phase(&self, first: Three) -> Result<(Tensor, [Phase; 3])> {
        let phases = [0, 1, 2].map(|k| self.axes[k].phase(first[k]));
        let of = |f: fn(&Phase) -> usize| phases.each_ref().map(f);
        let mut call = ConvCall {
            geometry: Geometry {
                kernel: of(|p| p.taps),
                stride: [1; 3],
                dilation: of(|p| p.dilation),
                padding: phases.each_ref().map(|p| p.padding),
                output_size: of(|p| p.output_size),
            },
            ..self.call
        };
        let (mut x, mut weight) = (self.x.clone(), self.weight.clone());
        if call.geometry.kernel.contains(&0) {
            // positions that read nothing
            call.in_channels = 0;
            (call.geometry.kernel, call.geometry.dilation) = ([1; 3], [1; 3]);
            x = x.narrow(1, 0, 0)?;
            weight = weight.narrow(2, 0, 0)?;
        } else {
            for (k, p) in phases.iter().enumerate() {
                let last = (p.tap + (p.taps - 1) * p.step) as i64;
                weight = weight.slice_axis(3 + k as isize, Some(last), None, -(p.step as i64))?;
            }
        }
        let taps = call.in_channels_per_group() * call.geometry.kernel_len();
        let operands = ConvOperands {
            x: call.aligned(x)?,
            weight: weight.reshape((call.out_channels, taps))?,
            bias: self.bias.clone(),
            residual: None,
            call,
        };
        let mut y = Tensor::empty(call.shape(), self.dtype)?;
        let options = Conv {
            precise: self.precise,
            ..Default::default()
        };
        operands.write(self.op, &options, &mut y, None)?;
        Ok((y, phases))
    }
}
