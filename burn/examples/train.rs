//! Trains a classifier of handwritten digits on flex by Burn's modules and autodiff, with a loop of its own.
//!
//! ```sh
//! cargo run --release --manifest-path burn/Cargo.toml -p flex-burn-examples --bin train
//! ```
//!
//! It learns the 1500 digits of scikit-learn that the classifiers of examples/embedded learn, and is tested with the 297 others:
//! the exit status is 1 if it recognises fewer than 95 % of them.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData};
use burn_core as burn;
use burn_nn::conv::{Conv2d, Conv2dConfig};
use burn_nn::loss::CrossEntropyLossConfig;
use burn_nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn_nn::{Linear, LinearConfig, PaddingConfig2d};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
const CHANNELS: usize = 8;
const EPOCHS: usize = 8;
const BATCH: usize = 20;
const RATE: f32 = 0.3;

#[derive(Module, Debug)]
struct Classifier {
    strokes: Conv2d,
    halved: MaxPool2d,
    scores: Linear,
}

impl Classifier {
    fn new(device: &Device) -> Self {
        Classifier {
            strokes: Conv2dConfig::new([1, CHANNELS], [3, 3])
                .with_padding(PaddingConfig2d::Same)
                .init(device),
            halved: MaxPool2dConfig::new([2, 2]).init(),
            scores: LinearConfig::new(CHANNELS * PIXELS / 4, 10).init(device),
        }
    }
    /// `[digits, 10]` scores of `[digits, 64]` pixels.
    fn forward(&self, pixels: Tensor<2>) -> Tensor<2> {
        let [n, _] = pixels.dims();
        let image = pixels.reshape([n, 1, SIDE, SIDE]);
        let strokes = self.halved.forward(relu(self.strokes.forward(image)));
        self.scores.forward(strokes.flatten(1, 3))
    }
}

/// A step of gradient descent.
struct Descent<'a> {
    gradients: &'a mut Gradients,
    rate: f32,
}

impl ModuleMapper for Descent<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, value, mapper) = parameter.consume();
        let value = match value.grad_remove(self.gradients) {
            Some(gradient) => (value.inner() - gradient * self.rate)
                .autodiff()
                .require_grad(),
            None => value,
        };
        Param::from_mapped_value(id, value, mapper)
    }
}

/// Digits and their labels.
struct Digits {
    pixels: Tensor<2>,
    labels: Tensor<1, Int>,
}

impl Digits {
    /// Of records of a file: 64 pixels of 0 to 16, and the label somewhere behind them.
    fn read(name: &str, record: usize, label: usize, device: &Device) -> std::io::Result<Digits> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/embedded/");
        let records = std::fs::read(format!("{folder}{name}"))?;
        let records = records.chunks_exact(record);
        let pixels: Vec<f32> = records
            .clone()
            .flat_map(|r| r[..PIXELS].iter().map(|x| f32::from(*x) / 16.0))
            .collect();
        let labels: Vec<i32> = records.map(|r| i32::from(r[label])).collect();
        let n = labels.len();
        Ok(Digits {
            pixels: Tensor::from_data(TensorData::new(pixels, [n, PIXELS]), device),
            labels: Tensor::from_data(TensorData::new(labels, [n]), device),
        })
    }
    fn len(&self) -> usize {
        self.labels.dims()[0]
    }
    /// The digits at some places.
    fn select(&self, places: Vec<i32>, device: &Device) -> Digits {
        let n = places.len();
        let places = Tensor::<1, Int>::from_data(TensorData::new(places, [n]), device);
        Digits {
            pixels: self.pixels.clone().select(0, places.clone()),
            labels: self.labels.clone().select(0, places),
        }
    }
}

fn progress(done: usize, of: usize, loss: f32) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        let width = 30 * done / of;
        let bar = format!("{}{}", "#".repeat(width), ".".repeat(30 - width));
        let epoch = (done * EPOCHS).div_ceil(of);
        let _ = write!(
            terminal,
            "\r[{bar}] epoch {epoch} of {EPOCHS}, loss {loss:.3} "
        );
    }
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let device = Device::default();
    device.seed(1);
    let learnt = Digits::read("learnt.bin", PIXELS + 1, PIXELS, &device)?;
    let training = device.clone().autodiff();
    let mut classifier = Classifier::new(&training);
    let cost = CrossEntropyLossConfig::new().init(&training);

    let batches = learnt.len() / BATCH;
    let mut mean = 0.0;
    for step in 0..EPOCHS * batches {
        // digits from all over the set, others in each epoch
        let first = (step % batches + step / batches) % batches;
        let of = |k: usize| ((first + k * batches) % learnt.len()) as i32;
        let batch = learnt.select((0..BATCH).map(of).collect(), &device);
        let scores = classifier.forward(batch.pixels.autodiff());
        let loss = cost.forward(scores, batch.labels.autodiff());
        let mut gradients = loss.backward();
        classifier = classifier.map(&mut Descent {
            gradients: &mut gradients,
            rate: RATE,
        });
        let loss = loss.into_scalar::<f32>();
        mean = if step == 0 {
            loss
        } else {
            0.98 * mean + 0.02 * loss
        };
        progress(step + 1, EPOCHS * batches, mean);
    }
    eprintln!();

    let held_out = Digits::read("held_out.bin", 108, 104, &device)?;
    let count = held_out.len();
    let scores = classifier.forward(held_out.pixels.autodiff()).inner();
    let predicted = scores.argmax(1).squeeze_dim::<1>(1);
    let right = predicted
        .equal(held_out.labels)
        .int()
        .sum()
        .into_scalar::<i32>() as usize;
    let share = 100.0 * right as f32 / count as f32;
    println!("{right} of {count} held-out digits recognised ({share:.1} %), loss {mean:.3}");
    Ok(match right * 100 >= count * 95 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
