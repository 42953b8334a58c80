//! Quantised tensors: small integers with scales and zero points.
//!
//! An integer `q` stands for `scale * (q - zero)`. A scale and zero point are shared by a whole
//! tensor, by all elements with the same index along an axis (a channel), or by blocks of
//! neighbours along an axis; see [`Per`]. Quantisation without zero points is symmetric (Jacob et
//! al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
//! Inference", 2018; ONNX's `QuantizeLinear`).
//!
//! ```
//! use flex::{Tensor, quant};
//! let x = Tensor::from([[1.0f32, -2.0], [0.0, 0.0]]);
//! let per_row = quant::Quantization { per: quant::Per::Channel(0), ..Default::default() };
//! let q = quant::quantize(&x, per_row)?;
//! assert_eq!(q.values().to_vec::<i8>()?, [64, -127, 0, 0]); // 1 / (2 / 127) is 63.5: ties to even
//! assert_eq!(q.scales().to_vec::<f32>()?, [2.0 / 127.0, 1.0]);
//! # Ok::<(), flex::Error>(())
//! ```
//!
//! [`linear`] and [`conv2d`] multiply by quantised weights directly: in integers if the activations
//! are quantised too, or else the weights are dequantised while they are packed.

mod arithmetic;
mod conv;
mod dequantize;
#[cfg(feature = "io")]
mod file;
mod groups;
mod integers;
mod linear;
mod order;
mod output;
mod qtensor;
mod quantize;
mod scheme;
#[cfg(feature = "onnx")]
mod sum;
mod views;
mod weights;

pub use crate::kernel::quant::{Calibration, Levels};
#[cfg(feature = "onnx")]
pub(crate) use conv::conv2d_of_bytes;
pub use conv::{conv2d, conv2d_to};
#[cfg(feature = "io")]
pub use file::{from_tensors, to_tensors};
#[cfg(feature = "i32")]
pub use integers::matmul_integer;
#[cfg(feature = "onnx")]
pub(crate) use linear::linear_of_bytes;
pub use linear::{Inputs, QLinear, linear, linear_to};
pub use order::concat;
pub use output::Output;
pub use qtensor::QTensor;
pub use quantize::{quantize, quantize_by};
pub use scheme::{Per, Quantization};
#[cfg(feature = "onnx")]
pub(crate) use sum::sum_of_bytes;
