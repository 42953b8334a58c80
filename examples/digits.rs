//! A classifier of handwritten digits: two layers whose weights are in a safetensors file.
//!
//! ```sh
//! cargo run --release --example digits
//! ```

use flex::io::safetensors;
use flex::nn::{Activation, Linear};
use flex::prelude::*;
use std::path::Path;

/// A digit of held_out.bin: 64 pixels of 0 to 16, ten probabilities, the label, padding.
const RECORD: usize = 108;
const LABEL: usize = 104;

struct Classifier {
    weights: [Tensor; 2],
    biases: [Tensor; 2],
}

impl Classifier {
    fn load(path: &Path) -> flex::Result<Classifier> {
        // SAFETY: nobody writes to the file while the program runs. The weights are read in place.
        let file = unsafe { safetensors::map(path)? };
        let tensor = |name: &str| file.tensor(name).cloned();
        Ok(Classifier {
            weights: [tensor("0.weight")?, tensor("2.weight")?],
            biases: [tensor("0.bias")?, tensor("2.bias")?],
        })
    }
    /// `[digits, 10]` probabilities of `[digits, 64]` pixels.
    fn probabilities(&self, pixels: &Tensor) -> flex::Result<Tensor> {
        let relu = Linear {
            bias: Some(&self.biases[0]),
            activation: Some(Activation::Relu),
            ..Default::default()
        };
        let hidden = nn::linear(pixels, &self.weights[0], relu)?;
        nn::linear(&hidden, &self.weights[1], Some(&self.biases[1]))?.softmax(-1)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/embedded");
    let classifier = Classifier::load(&folder.join("digits.safetensors"))?;

    let bytes = std::fs::read(folder.join("held_out.bin"))?;
    let records = Tensor::from_vec(bytes, [297, RECORD])?;
    let pixels = records.slice(s![.., ..64])?.astype(DType::F32)? / 16.0;
    let labels = records.slice(s![.., LABEL])?;

    let probabilities = classifier.probabilities(&pixels)?;
    let predicted = probabilities.argmax(-1)?;
    let right = predicted.equal(&labels)?;
    println!(
        "first ten: {}\npredicted: {}",
        labels.slice(s![..10])?,
        predicted.slice(s![..10])?
    );
    let accuracy = right.mean(())?.item::<f32>()?;
    println!(
        "{} of {} right",
        right.count_nonzero(())?.item::<i64>()?,
        right.len()
    );
    assert!(accuracy > 0.95, "{accuracy}");

    // the expected probabilities, as float32 in the file's bytes
    let expected: Tensor = (0..records.len() / RECORD)
        .flat_map(|k| (0..10).map(move |j| k * RECORD + 64 + 4 * j))
        .map(|at| {
            records
                .as_slice::<u8>()
                .map(|b| f32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]))
        })
        .collect::<flex::Result<Vec<f32>>>()?
        .into();
    let apart = (probabilities - expected.reshape((-1, 10))?)
        .abs()?
        .max(())?
        .item::<f32>()?;
    assert!(apart < 1e-5, "{apart}");
    Ok(())
}
