//! The memory of the boards that QEMU emulates, and how much of it is heap; the rest of the RAM is
//! stack.
use std::{env, fs, path::PathBuf};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let target = env::var("TARGET").unwrap();
    let (flash, ram, heap) = match target.as_str() {
        "thumbv6m-none-eabi" => (256, 16, 8),         // microbit
        "thumbv7m-none-eabi" => (256, 64, 32),        // lm3s6965evb
        "thumbv7em-none-eabihf" => (4096, 4096, 256), // mps2-an386
        _ => (0, 0, 1024),
    };
    println!("cargo:rustc-env=HEAP_KIB={heap}");
    println!("cargo:rerun-if-changed=build.rs");
    if flash > 0 {
        let memory = format!("MEMORY {{\nFLASH : ORIGIN = 0x00000000, LENGTH = {flash}K\nRAM : ORIGIN = 0x20000000, LENGTH = {ram}K\n}}\n");
        fs::write(out.join("memory.x"), memory).unwrap();
        println!("cargo:rustc-link-search={}", out.display());
        println!("cargo:rustc-link-arg-bins=-Tlink.x");
        println!("cargo:rustc-link-arg-bins=--nmagic");
    }
}
