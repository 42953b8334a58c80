//! `flex.quant`: quantised tensors, functions that make them, and products with them.

mod functions;
mod gguf;
mod operators;
mod order;
mod output;
mod tensor;
mod views;

pub use tensor::PyQTensor;
