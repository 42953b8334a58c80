//! The classifiers of examples/embedded on this machine, against the probabilities that a
//! microcontroller must give.

use flex::io::safetensors;

#[path = "../../examples/embedded/src/convolutional.rs"]
mod convolutional;
#[path = "../../examples/embedded/src/linear.rs"]
mod linear;
#[path = "../../examples/embedded/src/model.rs"]
mod model;
#[cfg(feature = "i8")]
#[path = "../../examples/embedded/src/quantized.rs"]
mod quantized;

fn layers<const N: usize>(file: &[u8], numbers: [u8; N]) -> [model::Layer; N] {
    let mut weights = safetensors::parse(file).unwrap();
    numbers.map(|k| {
        let mut of = |name: &str| weights.remove(&format!("{k}.{name}")).unwrap();
        model::Layer {
            weight: of("weight"),
            bias: of("bias"),
            scales: weights.remove(&format!("{k}.weight.scales")),
        }
    })
}

/// At least `in_a_hundred` percent of the digits are recognised, and all of them have the stored
/// probabilities.
#[track_caller]
fn recognises(
    held_out: &[u8],
    in_a_hundred: usize,
    mut probabilities: impl FnMut(&model::Pixels) -> Vec<f32>,
) {
    let (records, rest) = held_out.as_chunks();
    assert!(rest.is_empty() && records.len() == 297);
    let mut right = 0;
    for record in records.iter().map(model::Record::parse) {
        let found = probabilities(&record.pixels);
        let stored = record.probabilities;
        assert!(record.agrees(&found), "{found:?}, not {stored:?}");
        right += (model::most_likely(&found) == record.digit) as usize;
    }
    assert!(right * 100 >= in_a_hundred * records.len(), "{right}");
}

#[test]
fn linear_layers_recognise_held_out_digits() {
    let weights = include_bytes!("../../examples/embedded/digits.safetensors");
    let mut classifier = linear::Classifier::new(layers(weights, [0, 2])).unwrap();
    recognises(
        include_bytes!("../../examples/embedded/held_out.bin"),
        95,
        |pixels| classifier.probabilities(pixels).unwrap().to_vec(),
    );
}

#[test]
fn convolutions_recognise_held_out_digits() {
    let weights = include_bytes!("../../examples/embedded/convolutional.safetensors");
    let mut classifier = convolutional::Classifier::new(layers(weights, [0, 3, 7])).unwrap();
    recognises(
        include_bytes!("../../examples/embedded/convolutional.bin"),
        98,
        |pixels| classifier.probabilities(pixels).unwrap().to_vec(),
    );
}

/// At least 99 in a hundred predictions are those of float32 weights.
#[cfg(feature = "i8")]
#[test]
fn weights_of_int8_recognise_the_same_digits() {
    let weights = include_bytes!("../../examples/embedded/quantized.safetensors");
    let exact = include_bytes!("../../examples/embedded/digits.safetensors");
    let exact = safetensors::parse(exact).unwrap();
    let per_row = flex::quant::Quantization {
        per: flex::quant::Per::Channel(0),
        ..Default::default()
    };
    for name in ["0.weight", "2.weight"] {
        let kept = flex::quant::from_tensors(&safetensors::parse(weights).unwrap(), name).unwrap();
        let expected = flex::quant::quantize(&exact[name], per_row).unwrap();
        assert!(kept.equal(&expected).unwrap(), "{name}");
    }
    let mut classifier = quantized::Classifier::new(layers(weights, [0, 2])).unwrap();
    let (records, _) = include_bytes!("../../examples/embedded/held_out.bin").as_chunks();
    let (mut same, mut right) = (0, 0);
    for record in records.iter().map(model::Record::parse) {
        let found = classifier.probabilities(&record.pixels).unwrap();
        same += record.is_predicted(found) as usize;
        right += (model::most_likely(found) == record.digit) as usize;
    }
    assert!(
        100 * same >= 99 * records.len() && 100 * right >= 95 * records.len(),
        "{same} {right}"
    );
}
