//! Where each tensor stands in the file of weights.
#[path = "../embedded/places.rs"]
mod places;

fn main() {
    places::write("../embedded/digits.safetensors");
}
