use crate::convolutional::Classifier;
use crate::model::Pixels;
use crate::weights;
use alloc::vec::Vec;
use wasm_bindgen::prelude::*;

/// Recognises handwritten digits.
#[wasm_bindgen]
pub struct Digits(Classifier);

#[wasm_bindgen]
impl Digits {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Digits, JsError> {
        Ok(Digits(Classifier::new(weights::layers()?)?))
    }
    /// The probability of each digit for eight rows of eight pixels of 0 to 16.
    pub fn probabilities(&mut self, pixels: &[u8]) -> Result<Vec<f32>, JsError> {
        let pixels: &Pixels = pixels.try_into().map_err(|_| JsError::new("a digit has 64 pixels"))?;
        Ok(self.0.probabilities(pixels)?.to_vec())
    }
}
