//! Convolutions.

use super::spatial::{PerAxis, option, three};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::products::products_of_sources;
use crate::kernel::conv::{Geometry, Patches, Three};
use crate::kernel::gemm::{Epilogue, EpilogueOp, MatElement, Strided};
use crate::layout::Shape;
use crate::ops::linalg::{Matrices, Results};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Zeros around an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padding {
    /// As many on both sides.
    Both(PerAxis),
    /// Before and after, for each spatial axis.
    Pairs(SmallVec<[(usize, usize); 3]>),
    /// As many as give a result of the image's size, the odd one after it; for a stride of 1.
    Same,
    /// None.
    Valid,
}
impl<P: Into<PerAxis>> From<P> for Padding {
    fn from(n: P) -> Padding {
        Padding::Both(n.into())
    }
}

/// Options of convolutions.
#[derive(Clone, Debug)]
pub struct Conv<'a> {
    /// `[out]`, added to each channel of the result.
    pub bias: Option<&'a Tensor>,
    /// From a place of the kernel to the next; 1.
    pub stride: PerAxis,
    /// Zeros around the image; none.
    pub padding: Padding,
    /// From an element of the kernel to the next, on the image; 1.
    pub dilation: PerAxis,
    /// Groups of channels, each convolved by itself; 1.
    pub groups: usize,
}
impl Default for Conv<'_> {
    fn default() -> Self {
        Conv {
            bias: None,
            stride: 1.into(),
            padding: 0.into(),
            dilation: 1.into(),
            groups: 1,
        }
    }
}
impl<'a> From<Option<&'a Tensor>> for Conv<'a> {
    fn from(bias: Option<&'a Tensor>) -> Self {
        Conv {
            bias,
            ..Default::default()
        }
    }
}

macro_rules! convolutions {
    ($($(#[doc = $doc:literal])* $name:ident $rank:literal $op:literal;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// The kernel is not flipped: a cross-correlation, as in torch. Shapes are
        /// `[batch, channels, ..]`, or `[channels, ..]` without a batch, of `x` and of the result, and
        /// `[out, channels / groups, ..]` of the weight; any strides. The result has the common
        /// dtype of all operands, and along each axis
        /// `(size + padding - dilation * (kernel - 1) - 1) / stride + 1` places. 16-bit floats are
        /// added up in float32 and rounded once.
        ///
        /// Errors where shapes or groups don't fit, a stride, dilation or size of the kernel is zero, the
        /// kernel is larger than the padded image, and for bool.
        pub fn $name<'a>(x: &Tensor, weight: &Tensor, options: impl Into<Conv<'a>>) -> Result<Tensor> {
            convolve($op, $rank, x, weight, &options.into())
        }
    )* };
}
convolutions! {
    /// The convolution of a signal, `[batch, channels, length]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 4])?;
    /// let weight = Tensor::from_slice(&[1.0f32, 0.0, -1.0], [1, 1, 3])?;
    /// let y = nn::conv1d(&x, &weight, nn::Conv { padding: 1.into(), ..Default::default() })?;
    /// assert_eq!(y.to_vec::<f32>()?, [-2.0, -2.0, -2.0, 3.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv1d 1 "conv1d";
    /// The convolution of an image, `[batch, channels, height, width]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 2, 2])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 4], [1, 1, 2, 2])?;
    /// assert_eq!(nn::conv2d(&x, &weight, None)?.to_vec::<f32>()?, [10.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv2d 2 "conv2d";
    /// The convolution of a volume, `[batch, channels, depth, height, width]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32; 8], [1, 2, 2, 2])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 8], [1, 1, 2, 2, 2])?;
    /// assert_eq!(nn::conv3d(&x, &weight, None)?.shape(), [1, 1, 1, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv3d 3 "conv3d";
}

fn convolve(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    weight: &Tensor,
    options: &Conv,
) -> Result<Tensor> {
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
    let whole = if batched {
        x.clone()
    } else {
        x.expand_dims(0)?
    };
    let (batch, channels, outputs) = (whole.shape()[0], whole.shape()[1], weight.shape()[0]);
    let groups = options.groups;
    if groups == 0 || !channels.is_multiple_of(groups) || !outputs.is_multiple_of(groups) {
        return bad(message!(
            "groups is {groups}, which does not divide {channels} channels into {outputs}"
        ));
    }
    if weight.shape()[1] != channels / groups {
        return bad(message!(
            "weight sees {} channels of the {} in a group",
            weight.shape()[1],
            channels / groups
        ));
    }
    let image = three(&whole.shape()[2..], rank, 1);
    let kernel = three(&weight.shape()[2..], rank, 1);
    if kernel.contains(&0) {
        return bad(message!("a kernel of size 0"));
    }
    let stride = option(op, "stride", &options.stride, rank, 1)?;
    let dilation = option(op, "dilation", &options.dilation, rank, 1)?;
    let (before, after) = padding(op, rank, kernel, stride, dilation, &options.padding)?;
    let mut places = [0; 3];
    for k in 0..3 {
        let seen = (kernel[k] - 1)
            .checked_mul(dilation[k])
            .and_then(|n| n.checked_add(1));
        let padded = image[k]
            .checked_add(before[k])
            .and_then(|n| n.checked_add(after[k]));
        let (Some(seen), Some(padded)) = (seen, padded) else {
            return bad(message!("padding or dilation is too large"));
        };
        if seen > padded {
            return bad(message!(
                "the kernel spans {seen} elements of {padded}, padding included, along axis {}",
                x.rank() + k - 3
            ));
        }
        places[k] = (padded - seen) / stride[k] + 1;
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
    let lead: &[usize] = if batched {
        &[batch, outputs]
    } else {
        &[outputs]
    };
    let shape: Shape = lead.iter().chain(&places[3 - rank..]).copied().collect();
    let geometry = Geometry {
        channels: channels / groups,
        image,
        kernel,
        stride,
        dilation,
        padding: before,
        places,
    };
    let (x, weight) = (whole.astype(dtype)?, weight.astype(dtype)?);
    let weight = weight.reshape((outputs, geometry.taps()))?;
    let bias = options.bias.map(|b| b.astype(dtype)?.contiguous());
    let bias = bias.transpose()?;
    let mut y = Tensor::empty(&shape, dtype)?;
    dispatch!(number dtype, |T| run::<T>(&x, &weight, bias.as_ref(), groups, geometry, &mut y), else Err(Error::unsupported(op, dtype)))?;
    Ok(y)
}

/// Zeros before and after each axis.
fn padding(
    op: &'static str,
    rank: usize,
    kernel: Three,
    stride: Three,
    dilation: Three,
    padding: &Padding,
) -> Result<(Three, Three)> {
    match padding {
        Padding::Valid => Ok(([0; 3], [0; 3])),
        Padding::Both(n) => {
            let n = option(op, "padding", n, rank, 0)?;
            Ok((n, n))
        }
        Padding::Pairs(n) => {
            if n.len() != rank {
                let message = message!("padding has {} pairs: give {rank}", n.len());
                return Err(Error::value(op, message));
            }
            let of = |f: fn(&(usize, usize)) -> usize| {
                three(&n.iter().map(f).collect::<SmallVec<[usize; 3]>>(), rank, 0)
            };
            // with one axis, `three` takes the number for it
            Ok((of(|p| p.0), of(|p| p.1)))
        }
        Padding::Same => {
            if stride != [1; 3] {
                let message = message!("padding \"same\" needs a stride of 1, not {stride:?}");
                return Err(Error::value(op, message));
            }
            let total = |k: usize| (kernel[k] - 1).saturating_mul(dilation[k]);
            let before = [0, 1, 2].map(|k| total(k) / 2);
            Ok((before, [0, 1, 2].map(|k| total(k) - before[k])))
        }
    }
}

/// All images and groups, into the fresh tensor `y`.
fn run<T: Element + MatElement>(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    groups: usize,
    geometry: Geometry,
    y: &mut Tensor,
) -> Result<()> {
    let (batch, outputs) = (x.shape()[0], weight.shape()[0] / groups);
    let places = geometry.places.iter().product();
    let weight = Matrices::<T>::new(weight);
    let mut ops: SmallVec<[EpilogueOp<T>; 1]> = SmallVec::new();
    if let Some(bias) = bias.filter(|_| outputs > 0) {
        ops.extend(
            bias.as_slice::<T>()?
                .chunks(outputs)
                .map(EpilogueOp::RowBias),
        );
    }
    let strides = {
        let s = x.strides();
        let mut all = [0; 3];
        all[5 - s.len()..].copy_from_slice(&s[2..]);
        all
    };
    let y = Results::<T>::new(y, outputs, places)?;
    let operands = |i: usize| {
        let (n, group) = (i / groups, i % groups);
        let rows = group * outputs..(group + 1) * outputs;
        let a = weight.get(0).block(rows, 0..geometry.taps());
        let first =
            n as isize * x.strides()[0] + (group * geometry.channels) as isize * x.strides()[1];
        let image = (x.as_ptr() as *const T).wrapping_offset(first);
        // SAFETY: PATCH1: the channels of a group of an image of `x` (TENSOR1, TENSOR2),
        // initialised (STORAGE1).
        let b = unsafe { Patches::new(image, x.strides()[1], strides, geometry) };
        let epilogue = match ops.get(group..group + 1) {
            Some(op) => Epilogue::new(op, outputs, places),
            None => Epilogue::NONE,
        };
        // SAFETY: each matrix of a fresh tensor is one group of one image.
        (Strided::rows(a), b, unsafe { y.get(i) }, epilogue)
    };
    // SAFETY: matrices of `y` don't overlap.
    unsafe { products_of_sources(batch * groups, operands) }
}
