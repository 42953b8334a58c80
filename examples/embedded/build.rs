//! Writes the position of each tensor in the file of weights, and the linker's budget: a program
//! that does not fit does not link. The boards have more flash; the Cortex-M0 board has no more RAM.
mod places;

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let has = |feature| env::var_os(feature).is_some();
    let (weights, flash, ram) = if has("CARGO_FEATURE_BURN") {
        ("convolutional.safetensors", "4M", "128K")
    } else if has("CARGO_FEATURE_CONVOLUTIONAL") {
        ("convolutional.safetensors", "160K", "16K")
    } else if has("CARGO_FEATURE_QUANTIZED") {
        ("quantized.safetensors", "128K", "16K")
    } else {
        ("digits.safetensors", "128K", "16K")
    };
    places::write(weights);
    let memory = format!(
        "MEMORY {{
  FLASH : ORIGIN = 0x00000000, LENGTH = {flash}
  RAM : ORIGIN = 0x20000000, LENGTH = {ram}
}}
"
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    fs::write(out.join("memory.x"), memory).unwrap();
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rustc-link-arg-bins=--nmagic");
}
