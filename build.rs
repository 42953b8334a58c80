//! Names conditions that the source asks in many places.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(x86_dispatch)");
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    // Instruction sets of x86-64 chosen at run time; the standard library asks the CPU.
    if has("STD")
        && has("SIMD")
        && env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64")
    {
        println!("cargo::rustc-cfg=x86_dispatch");
    }
}
