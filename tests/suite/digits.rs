//! The classifier of examples/embedded on this machine: the probabilities that a microcontroller
//! must give.

use flex::io::safetensors;

#[path = "../../examples/embedded/src/model.rs"]
mod model;

#[test]
fn held_out_digits_match_numpy() {
    let mut weights =
        safetensors::parse(include_bytes!("../../examples/embedded/digits.safetensors")).unwrap();
    let layers = [0, 2].map(|k| {
        let mut of = |name: &str| weights.remove(&format!("{k}.{name}")).unwrap();
        model::Layer {
            weight: of("weight"),
            bias: of("bias"),
        }
    });
    let mut classifier = model::Classifier::new(layers).unwrap();
    let (records, rest) = include_bytes!("../../examples/embedded/held_out.bin").as_chunks();
    assert!(rest.is_empty());
    let mut right = 0;
    for record in records.iter().map(model::Record::parse) {
        let probabilities = classifier.probabilities(&record.pixels).unwrap();
        assert!(
            record.agrees(probabilities),
            "{probabilities:?}, not {:?}",
            record.probabilities
        );
        right += (model::most_likely(probabilities) == record.digit) as usize;
    }
    assert!(
        right * 100 >= 95 * records.len(),
        "{right} of {}",
        records.len()
    );
}
