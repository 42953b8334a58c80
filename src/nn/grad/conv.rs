//! Gradients of convolutions.

use super::{common_float, expect_shape};
use crate::error::Result;
use crate::nn::conv::{Conv, ConvTranspose, Mirror};
use crate::ops;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The gradient of a bias: the sum over all axes but the channels.
pub(super) fn bias(rank: usize, grad: &Tensor) -> Result<Tensor> {
    let channels = (grad.rank() - rank - 1) as isize;
    let rest = (0..grad.rank() as isize).filter(|axis| *axis != channels);
    ops::sum(grad, &rest.collect::<SmallVec<[isize; 4]>>()[..])
}

macro_rules! convolutions {
    ($($(#[doc = $doc:literal])* $name:ident $rank:literal $op:literal;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// The gradient of `x` is the transposed convolution of `grad` with the weight. That of a
        /// weight's element is the sum, over all positions of all images, of `grad` times the
        /// element of `x` seen there; that of the bias is the sum of `grad` over all axes but the
        /// channels. Shapes and `options` are those of the convolution, whose result has the shape
        /// of `grad`; any strides. A bias in `options` is ignored. A residual (whose gradient is
        /// `grad` itself) and an activation (a function of its own) are refused. A weight that is
        /// not finite may turn the gradients of elements within a kernel of the border into NaN:
        /// the fast path multiplies it by zeros beyond `grad`.
        ///
        /// Errors like the convolution, if `grad` doesn't have the shape of its result, and if
        /// there is no common float dtype.
        pub fn $name<'a>(
            grad: &Tensor,
            x: &Tensor,
            weight: &Tensor,
            options: impl Into<Conv<'a>>,
        ) -> Result<[Tensor; 3]> {
            let dtype = common_float($op, &[grad, x, weight])?;
            let mirror = Mirror::of_conv($op, $rank, [x, weight], &options.into(), dtype)?;
            expect_shape($op, grad, &mirror.result(), ("x", x))?;
            let grad = grad.astype(dtype)?;
            Ok([
                mirror.transpose(&grad, weight)?,
                mirror.weight(x, &grad)?,
                bias($rank, &grad)?,
            ])
        }
    )* };
}
convolutions! {
    /// The gradients of `x`, weight and bias of [`conv1d`](crate::nn::conv1d).
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0], [1, 3])?;
    /// let weight = Tensor::from_slice(&[4.0f32, 5.0], [1, 1, 2])?;
    /// let grad = Tensor::from_slice(&[1.0f32, 10.0], [1, 2])?;
    /// let [x, weight, bias] = nn::grad::conv1d(&grad, &x, &weight, ())?;
    /// assert_eq!(x.to_vec::<f32>()?, [4.0, 45.0, 50.0]);
    /// assert_eq!(weight.to_vec::<f32>()?, [21.0, 32.0]);
    /// assert_eq!(bias.to_vec::<f32>()?, [11.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv1d 1 "grad.conv1d";
    /// The gradients of `x`, weight and bias of [`conv2d`](crate::nn::conv2d).
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 2, 2])?;
    /// let weight = Tensor::from_slice(&[5.0f32], [1, 1, 1, 1])?;
    /// let grad = Tensor::from_slice(&[10.0f32], [1, 1, 1])?;
    /// let options = nn::Conv { stride: 2.into(), ..Default::default() };
    /// let [x, weight, _] = nn::grad::conv2d(&grad, &x, &weight, options)?;
    /// assert_eq!(x.to_vec::<f32>()?, [50.0, 0.0, 0.0, 0.0]);
    /// assert_eq!(weight.to_vec::<f32>()?, [10.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv2d 2 "grad.conv2d";
    /// The gradients of `x`, weight and bias of [`conv3d`](crate::nn::conv3d).
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32; 8], [1, 2, 2, 2])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 8], [1, 1, 2, 2, 2])?;
    /// let grad = Tensor::from_slice(&[3.0f32], [1, 1, 1, 1])?;
    /// let [_, weight, _] = nn::grad::conv3d(&grad, &x, &weight, ())?;
    /// assert_eq!(weight.to_vec::<f32>()?, [3.0; 8]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv3d 3 "grad.conv3d";
}

macro_rules! transposed {
    ($($(#[doc = $doc:literal])* $name:ident $rank:literal $op:literal;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// The gradient of `x` is the convolution of `grad` with the weight. That of a weight's
        /// element is the sum, over all elements of `x`, of their product with the element of
        /// `grad` that they contributed to; that of the bias is the sum of `grad` over all axes but
        /// the channels. Shapes and `options` are those of the transposed convolution, whose result
        /// has the shape of `grad`; any strides. A bias in `options` is ignored. Positions that
        /// `padding` cuts off count as zeros, which give NaN where a weight or an element of `x` is
        /// not finite.
        ///
        /// Errors like the transposed convolution, if `grad` doesn't have the shape of its result,
        /// and if there is no common float dtype.
        pub fn $name<'a>(
            grad: &Tensor,
            x: &Tensor,
            weight: &Tensor,
            options: impl Into<ConvTranspose<'a>>,
        ) -> Result<[Tensor; 3]> {
            let dtype = common_float($op, &[grad, x, weight])?;
            let mirror = Mirror::of_transposed($op, $rank, [x, weight], &options.into(), dtype)?;
            expect_shape($op, grad, &mirror.image(), ("x", x))?;
            let grad = grad.astype(dtype)?;
            Ok([
                mirror.convolve(&grad, weight)?,
                mirror.weight(&grad, x)?,
                bias($rank, &grad)?,
            ])
        }
    )* };
}
transposed! {
    /// The gradients of `x`, weight and bias of [`conv_transpose1d`](crate::nn::conv_transpose1d).
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
    /// let weight = Tensor::from_slice(&[3.0f32, 4.0], [1, 1, 2])?;
    /// let grad = Tensor::from_slice(&[1.0f32, 10.0, 100.0], [1, 3])?;
    /// let [x, weight, _] = nn::grad::conv_transpose1d(&grad, &x, &weight, ())?;
    /// assert_eq!(x.to_vec::<f32>()?, [43.0, 430.0]);
    /// assert_eq!(weight.to_vec::<f32>()?, [21.0, 210.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv_transpose1d 1 "grad.conv_transpose1d";
    /// The gradients of `x`, weight and bias of [`conv_transpose2d`](crate::nn::conv_transpose2d).
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[2.0f32], [1, 1, 1])?;
    /// let weight = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 2, 2])?;
    /// let grad = Tensor::from_slice(&[1.0f32; 4], [1, 2, 2])?;
    /// let [x, _, bias] = nn::grad::conv_transpose2d(&grad, &x, &weight, ())?;
    /// assert_eq!(x.to_vec::<f32>()?, [10.0]);
    /// assert_eq!(bias.to_vec::<f32>()?, [4.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv_transpose2d 2 "grad.conv_transpose2d";
    /// The gradients of `x`, weight and bias of [`conv_transpose3d`](crate::nn::conv_transpose3d).
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[2.0f32], [1, 1, 1, 1])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 8], [1, 1, 2, 2, 2])?;
    /// let grad = Tensor::from_slice(&[1.0f32; 8], [1, 2, 2, 2])?;
    /// let [_, weight, _] = nn::grad::conv_transpose3d(&grad, &x, &weight, ())?;
    /// assert_eq!(weight.to_vec::<f32>()?, [2.0; 8]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv_transpose3d 3 "grad.conv_transpose3d";
}

/// Gradients one by one, for programs that ask for each by itself.
macro_rules! single {
    ($($(#[doc = $doc:literal])* $name:ident $rank:literal $Options:ident $of:ident $shape:ident |$mirror:ident, $x:ident, $weight:ident, $grad:ident| $gradient:expr;)*) => { $(
        $(#[doc = $doc])*
        pub fn $name<'a>(
            grad: &Tensor,
            x: &Tensor,
            weight: &Tensor,
            options: impl Into<$Options<'a>>,
        ) -> Result<Tensor> {
            const OP: &str = concat!("grad.", stringify!($name));
            let dtype = common_float(OP, &[grad, x, weight])?;
            let $mirror = Mirror::$of(OP, $rank, [x, weight], &options.into(), dtype)?;
            expect_shape(OP, grad, &$mirror.$shape(), ("x", x))?;
            let ($x, $weight, $grad) = (x, weight, &grad.astype(dtype)?);
            $gradient
        }
    )* };
}
single! {
    /// The first of the gradients that [`conv1d`] gives, alone, with its errors.
    ///
    /// ```
    /// use flex::{Tensor, nn::grad};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0], [1, 3])?;
    /// let weight = Tensor::from_slice(&[4.0f32, 5.0], [1, 1, 2])?;
    /// let grad = Tensor::from_slice(&[1.0f32, 10.0], [1, 2])?;
    /// assert_eq!(grad::conv1d_input(&grad, &x, &weight, ())?.to_vec::<f32>()?, [4.0, 45.0, 50.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv1d_input 1 Conv of_conv result |mirror, _x, weight, grad| mirror.transpose(grad, weight);
    /// The first of the gradients that [`conv2d`] gives, alone, with its errors.
    ///
    /// Example: [`conv1d_input`].
    conv2d_input 2 Conv of_conv result |mirror, _x, weight, grad| mirror.transpose(grad, weight);
    /// The first of the gradients that [`conv3d`] gives, alone, with its errors.
    ///
    /// Example: [`conv1d_input`].
    conv3d_input 3 Conv of_conv result |mirror, _x, weight, grad| mirror.transpose(grad, weight);
    /// The second of the gradients that [`conv1d`] gives, alone, with its errors.
    ///
    /// ```
    /// use flex::{Tensor, nn::grad};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0], [1, 3])?;
    /// let weight = Tensor::from_slice(&[4.0f32, 5.0], [1, 1, 2])?;
    /// let grad = Tensor::from_slice(&[1.0f32, 10.0], [1, 2])?;
    /// assert_eq!(grad::conv1d_weight(&grad, &x, &weight, ())?.to_vec::<f32>()?, [21.0, 32.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv1d_weight 1 Conv of_conv result |mirror, x, _weight, grad| mirror.weight(x, grad);
    /// The second of the gradients that [`conv2d`] gives, alone, with its errors.
    ///
    /// Example: [`conv1d_weight`].
    conv2d_weight 2 Conv of_conv result |mirror, x, _weight, grad| mirror.weight(x, grad);
    /// The second of the gradients that [`conv3d`] gives, alone, with its errors.
    ///
    /// Example: [`conv1d_weight`].
    conv3d_weight 3 Conv of_conv result |mirror, x, _weight, grad| mirror.weight(x, grad);
    /// The second of the gradients that [`conv_transpose1d`] gives, alone, with its errors. The
    /// first is the convolution of `grad` with the weight.
    ///
    /// ```
    /// use flex::{Tensor, nn::grad};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0], [1, 2])?;
    /// let weight = Tensor::from_slice(&[3.0f32, 4.0], [1, 1, 2])?;
    /// let grad = Tensor::from_slice(&[1.0f32, 10.0, 100.0], [1, 3])?;
    /// let of_weight = grad::conv_transpose1d_weight(&grad, &x, &weight, ())?;
    /// assert_eq!(of_weight.to_vec::<f32>()?, [21.0, 210.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv_transpose1d_weight 1 ConvTranspose of_transposed image |mirror, x, _weight, grad| mirror.weight(grad, x);
    /// The second of the gradients that [`conv_transpose2d`] gives, alone, with its errors.
    ///
    /// Example: [`conv_transpose1d_weight`].
    conv_transpose2d_weight 2 ConvTranspose of_transposed image |mirror, x, _weight, grad| mirror.weight(grad, x);
    /// The second of the gradients that [`conv_transpose3d`] gives, alone, with its errors.
    ///
    /// Example: [`conv_transpose1d_weight`].
    conv_transpose3d_weight 3 ConvTranspose of_transposed image |mirror, x, _weight, grad| mirror.weight(grad, x);
}
