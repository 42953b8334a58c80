#!/usr/bin/env bash
# All Rust tests: the default features, and rayon, on each instruction set of this machine. Few dtypes, and no standard library, are tested
# by test-cross.sh, and no features at all compiled by lint.sh; other combinations are parts of tested code and only have to compile, without
# warnings: each dtype without the others, each family without those it does not need, AVX2 without AVX-512, all families without std.
# The instruction sets share one build, since FLEX_ISA is read at run time.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# Compiled once and thrown away: the bookkeeping of incremental compilation takes a third of the time.
export CARGO_INCREMENTAL=0
checked=(std,simd,f64,avx2 rayon,half,stream,avx2 messages,f64,grad i8,quant i32,float8,io i64,signal linalg,std complex,fft complex,f64,linalg random onnx i8,half,random signal,grad,quant,random,io)

step "default features, best instruction set, doc examples"
cargo test -q --features rayon
step "examples"
for example in examples/*.rs; do
  cargo run -q --features rayon --example "$(basename "$example" .rs)" >/dev/null
done
for isa in $(isas | sed '$d'); do # the last is the best one
  step "default features, FLEX_ISA=$isa"
  FLEX_TEST_FEWER=4 FLEX_ISA=$isa cargo test -q --test suite --features rayon
done
if [ "$(isas | tail -1)" = amx ]; then
  step "products without AMX"
  FLEX_ISA=avx512 filtered cargo test -q --test suite --features rayon -- gemm conv attention quant
fi

step "features that are checked: ${checked[*]}"
for combination in "${checked[@]}"; do
  cargo rustc -q --profile check --no-default-features --features "$combination" -- -D warnings
done
