//! Where LLD links: folds functions of the same machine code, such as the wrapping sums of signed
//! and unsigned integers, and lays functions that resemble each other side by side, by which a
//! wheel is packed to 5 % less.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name| env::var(name).unwrap_or_default();
    // what scripts/wheels.sh names takes options as they are; a compiler that links passes them on
    let prefix = if of("CARGO_ENCODED_RUSTFLAGS").contains("linker-flavor=ld.lld") {
        ""
    } else if of("TARGET") == "x86_64-unknown-linux-gnu" {
        "-Wl," // rustc's own linker there, since 1.90; another one may not know the options
    } else {
        return;
    };
    for option in ["--icf=all", "--bp-compression-sort=both"] {
        println!("cargo::rustc-link-arg-cdylib={prefix}{option}");
    }
}
