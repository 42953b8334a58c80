//! Names conditions that the source asks in many places.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(x86_dispatch, x86_avx512, x86_bf16)");
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    // Instruction sets of x86-64 chosen at run time; the standard library asks the CPU.
    if has("STD")
        && has("AVX2")
        && env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64")
    {
        println!("cargo::rustc-cfg=x86_dispatch");
        if has("AVX512") {
            println!("cargo::rustc-cfg=x86_avx512");
            // products of bfloat16 by instructions for them
            if has("HALF") {
                println!("cargo::rustc-cfg=x86_bf16");
            }
        }
    }
}
