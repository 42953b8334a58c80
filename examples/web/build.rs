//! Writes the position of each tensor in the file of weights.
#[path = "../embedded/places.rs"]
mod places;

fn main() {
    places::write("../embedded/convolutional.safetensors");
}
