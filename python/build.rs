//! Folds functions of the same machine code, such as the wrapping sums of signed and unsigned
//! integers, where rustc links by LLD.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // rustc's own linker there, since 1.90; another one may not know the option
    if env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--icf=all");
    }
}
