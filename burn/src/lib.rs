//! A backend for [Burn](https://burn.dev) on flex: programs that run on burn-flex run on it, and
//! the numbers agree up to rounding.
//!
//! A program that uses Burn's `Tensor` gets it by one line in its root `Cargo.toml`, which puts the
//! package `burn-flex` of this repository in the place of Burn's; code that is generic over
//! `B: Backend` names [`Flex`].
//!
//! ```
//! use burn_backend::{TensorData, TensorMetadata, ops::FloatTensorOps};
//! use flex_burn::{Flex, FlexDevice};
//!
//! let x = Flex::float_from_data(TensorData::from([[1.0f32, 2.0], [3.0, 4.0]]), &FlexDevice);
//! let y = Flex::float_matmul(x.clone(), Flex::float_transpose(x));
//! assert_eq!(y.shape().as_slice(), [2, 2]);
//! assert_eq!(y.tensor().to_vec::<f32>().unwrap(), [5.0, 11.0, 11.0, 25.0]);
//! ```
//!
//! Burn's operations return tensors, not results, so what flex reports as an error is a panic here,
//! with flex's message.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod backend;
mod convert;
mod data;
#[cfg(feature = "fusion")]
pub mod fusion;
#[doc(hidden)]
pub mod ops;
mod qtensor;
mod random;
mod tensor;

pub use backend::{Flex, FlexDevice};
#[cfg(feature = "fusion")]
pub use fusion::Fusion;
pub use qtensor::FlexQTensor;
pub use tensor::FlexTensor;

#[cfg(doctest)]
#[doc = include_str!("../../docs/burn.md")]
mod page {}
