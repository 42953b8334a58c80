use alloc::vec::Vec;
use flex::{nn, ops};
use wasm_bindgen::prelude::*;

/// A float32 tensor. Its memory belongs to the module until `free` is called.
#[wasm_bindgen]
pub struct Tensor(flex::Tensor);

#[wasm_bindgen]
impl Tensor {
    #[wasm_bindgen(constructor)]
    pub fn new(values: &[f32], shape: &[usize]) -> Result<Tensor, JsError> {
        Ok(Tensor(flex::Tensor::from_slice(values, shape)?))
    }
    pub fn values(&self) -> Result<Vec<f32>, JsError> {
        Ok(self.0.to_vec()?)
    }
    pub fn add(&self, other: &Tensor) -> Result<Tensor, JsError> {
        Ok(Tensor(ops::add(&self.0, &other.0)?))
    }
    pub fn matmul(&self, other: &Tensor) -> Result<Tensor, JsError> {
        Ok(Tensor(ops::matmul(&self.0, &other.0)?))
    }
    pub fn softmax(&self, axis: isize) -> Result<Tensor, JsError> {
        Ok(Tensor(nn::softmax(&self.0, axis)?))
    }
}
