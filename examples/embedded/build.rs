//! Where each tensor stands in the file of weights; and where the linker finds memory.x.
mod places;

fn main() {
    places::write("digits.safetensors");
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rustc-link-search={}", std::env::var("CARGO_MANIFEST_DIR").unwrap());
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rustc-link-arg-bins=--nmagic");
}
