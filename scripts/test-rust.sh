#!/usr/bin/env bash
# All Rust tests: the default features, and rayon, on each instruction set of this machine, then the combinations of features whose code
# differs.
# The instruction sets share one build, since FLEX_ISA is read at run time.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# Compiled once and thrown away: the bookkeeping of incremental compilation takes a third of the time.
export CARGO_INCREMENTAL=0
# all dtypes without the standard library; few dtypes with it are tested by test-cross.sh, with 32 bits
combinations=(messages,ints,f64,half,float8,complex)
checked=(std,simd,rayon,i8,i32,i64 none messages,i8,i32,i64 simd std rayon i8 i32 i64 ints f64 half float8 complex) # parts of tested code: these only have to compile

features() { if [ "$1" = none ]; then echo --no-default-features; else echo "--no-default-features --features $1"; fi; }

step "default features, best instruction set, doc examples"
cargo test -q --features rayon
step "examples"
for example in examples/*.rs; do
  cargo run -q --features rayon --example "$(basename "$example" .rs)" >/dev/null
done
for isa in $(isas | sed '$d'); do # the last is the best one
  step "default features, FLEX_ISA=$isa"
  FLEX_ISA=$isa cargo test -q --tests --features rayon
done

# With little optimisation, which saves compile time, since only the set of compiled code differs.
for combination in "${combinations[@]}"; do
  step "features: $combination"
  # shellcheck disable=SC2046
  CARGO_PROFILE_DEV_OPT_LEVEL=1 cargo test -q --tests $(features "$combination")
done

step "features that are checked: ${checked[*]}"
for combination in "${checked[@]}"; do
  # shellcheck disable=SC2046
  cargo check -q $(features "$combination")
done
