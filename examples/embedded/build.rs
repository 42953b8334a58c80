//! Writes the position of each tensor in the file of weights, and tells the linker where memory.x
//! is.
mod places;

fn main() {
    places::write("digits.safetensors");
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rustc-link-search={}", std::env::var("CARGO_MANIFEST_DIR").unwrap());
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rustc-link-arg-bins=--nmagic");
}
