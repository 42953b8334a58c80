#!/usr/bin/env bash
# All Rust tests: the default features on each instruction set of this machine, optimised as in the wheel, whose module is made of the same
# build; test-cross.sh checks for overflow. Few dtypes, and no standard library, are tested there, and no features at all compiled by lint.sh;
# other combinations are parts of tested code and only have to compile, without warnings: each dtype without the others, each family without
# those it does not need, AVX2 without AVX-512, all families without std.
# The instruction sets share one build, since FLEX_ISA is read at run time.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# Compiled once and thrown away: the bookkeeping of incremental compilation takes a third of the time.
export CARGO_INCREMENTAL=0
checked=(std,simd,f64,avx2 half,stream,avx2 messages,f64,grad i8,quant i32,float8,io i64,signal linalg,std complex,fft complex,f64,linalg random onnx i8,half,random signal,grad,quant,random,io)

# Both packages are named, so that features are the same and the core is compiled once.
wheel=(--release -p flex-cpu -p flex-python --features flex-cpu/bindings)
step "default features, best instruction set, doc examples"
cargo test -q "${wheel[@]}"
if [ "$(uname -m)" = x86_64 ]; then # also for instruction sets that this machine lacks
  step "tiles of products in registers"
  python3 scripts/check_vectors.py "$(ls -t "${CARGO_TARGET_DIR:-target}"/release/deps/libflex-*.rlib | head -1)"
fi
step "examples"
for example in examples/*.rs; do # built with the tests; by itself, one has other features
  "${CARGO_TARGET_DIR:-target}/release/examples/$(basename "$example" .rs)" >/dev/null
done
step "rayon's threads"
rayon=(--no-default-features --features rayon)
cargo test -q "${rayon[@]}" --test executor
filtered cargo test -q "${rayon[@]}" --doc -- Rayon
for isa in $(isas | sed '$d'); do # the last is the best one
  step "default features, FLEX_ISA=$isa"
  FLEX_TEST_FEWER=4 FLEX_ISA=$isa cargo test -q "${wheel[@]}" --test suite
done
if [ "$(isas | tail -1)" = amx ]; then
  step "products without AMX"
  FLEX_ISA=avx512 filtered cargo test -q "${wheel[@]}" --test suite -- gemm conv attention quant
fi

step "features that are checked: ${checked[*]}"
for combination in "${checked[@]}"; do
  cargo rustc -q --profile check --no-default-features --features "$combination" -- -D warnings
done
