//! Loads a transformer from a safetensors file of torch's names, and embeds a sentence with it.
//!
//! ```sh
//! cargo run --release --manifest-path burn/Cargo.toml -p flex-burn-examples --bin inference
//! ```
//!
//! The model is the tiny BERT of tests/data, whose weights are random: what it computes means nothing, but is what
//! sentence-transformers computed in float64. The exit status is 1 if it isn't.

use burn::module::Module;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_core as burn;
use burn_nn::transformer::{TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput};
use burn_nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig};
use burn_store::{
    FloatCastAdapter, ModuleAdapter, ModuleSnapshot, PyTorchToBurnAdapter, SafetensorsStore,
};
use std::process::ExitCode;

/// As in the model's config.json.
const VOCABULARY: usize = 24;
const HIDDEN: usize = 24;
const INNER: usize = 40;
const HEADS: usize = 3;
const LAYERS: usize = 2;
const POSITIONS: usize = 40;
const EPSILON: f64 = 1e-12;

/// "the cat sat on the mat." between `[CLS]` and `[SEP]`, by the model's tokenizer.json.
const SENTENCE: [i32; 9] = [2, 5, 7, 9, 11, 5, 12, 21, 3];

/// The first token's part of the sentence's embedding in expected.npz.
const EXPECTED: [f32; HIDDEN] = [
    0.324951, -2.035628, 0.755869, 2.325721, -0.908383, -0.039155, -0.529175, -0.101573, 0.481551,
    3.426598, 0.950671, -1.985983, 1.657114, -0.421087, -1.813855, -0.26055, -0.056542, 0.317871,
    0.180159, 1.393213, 0.687245, 0.927837, 1.212177, -1.634155,
];

/// The file's names as patterns, and what Burn's modules call them.
const NAMES: [(&str, &str); 11] = [
    (r"^embeddings\.(word|position|token_type)_embeddings", "$1"),
    (r"^embeddings\.LayerNorm", "norm"),
    (r"^encoder\.layer\.", "encoder.layers."),
    (r"attention\.self\.", "mha."),
    (r"attention\.output\.dense", "mha.output"),
    (r"attention\.output\.LayerNorm", "norm_1"),
    (r"intermediate\.dense", "pwff.linear_inner"),
    (r"output\.dense", "pwff.linear_outer"),
    (r"output\.LayerNorm", "norm_2"),
    (r"(norm(_\d)?)\.weight$", "$1.gamma"),
    (r"(norm(_\d)?)\.bias$", "$1.beta"),
];

#[derive(Module, Debug)]
struct Bert {
    word: Embedding,
    position: Embedding,
    token_type: Embedding,
    norm: LayerNorm,
    encoder: TransformerEncoder,
}

impl Bert {
    fn new(device: &Device) -> Bert {
        let table = |entries| EmbeddingConfig::new(entries, HIDDEN).init(device);
        Bert {
            word: table(VOCABULARY),
            position: table(POSITIONS),
            token_type: table(2),
            norm: LayerNormConfig::new(HIDDEN)
                .with_epsilon(EPSILON)
                .init(device),
            encoder: TransformerEncoderConfig::new(HIDDEN, INNER, HEADS, LAYERS)
                .with_layer_norm_eps(EPSILON)
                .init(device),
        }
    }
    /// `[sentences, tokens, 24]` hidden states of `[sentences, tokens]`.
    fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [_, n] = tokens.dims();
        let places = Tensor::<1, Int>::arange(0..n as i64, &tokens.device()).unsqueeze();
        let types = self.token_type.forward(tokens.zeros_like());
        let sum = self.word.forward(tokens) + self.position.forward(places) + types;
        let input = TransformerEncoderInput::new(self.norm.forward(sum));
        self.encoder.forward(input)
    }
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let device = Device::default();
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/models/bert/model.safetensors"
    );
    let store = SafetensorsStore::from_file(file)
        .with_from_adapter(PyTorchToBurnAdapter.chain(FloatCastAdapter::to(DType::F32)));
    let mut store = NAMES.into_iter().fold(store, |store, (from, to)| {
        store.with_key_remapping(from, to)
    });
    let mut model = Bert::new(&device);
    let loaded = model.load_from(&mut store)?;
    println!("{} tensors loaded", loaded.applied.len());

    let tokens = Tensor::<2, Int>::from_data(TensorData::from([SENTENCE]), &device);
    let states = model.forward(tokens);
    let first = states
        .narrow(1, 0, 1)
        .into_data()
        .try_to_vec::<f32>()
        .map_err(|e| format!("{e:?}"))?;
    let error = first
        .iter()
        .zip(EXPECTED)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f32::max);
    println!(
        "the cat sat on the mat.: {:.4?}, within {error:.1e}",
        &first[..4]
    );
    Ok(match error < 1e-4 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
