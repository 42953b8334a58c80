#!/usr/bin/env bash
# Every Rust test: the default features on each instruction set of this machine, then each combination of features, then a build for a
# microcontroller. The instruction sets share one build, since FLEX_ISA is read when the program runs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
combinations=(none simd ints,f64,half,complex std std,simd std,rayon)
dtype_rows=(ints f64 half complex)

features() { if [ "$1" = none ]; then echo --no-default-features; else echo "--no-default-features --features $1"; fi; }

step "default features, best instruction set, doc examples"
cargo test -q
for isa in $(isas); do
  step "default features, FLEX_ISA=$isa"
  FLEX_ISA=$isa cargo test -q --lib --tests
done

for combination in "${combinations[@]}"; do
  step "features: $combination"
  # shellcheck disable=SC2046
  cargo test -q --lib --tests $(features "$combination")
done

step "rows of the dtype table, without std: ${dtype_rows[*]}"
for rows in "${dtype_rows[@]}"; do
  # shellcheck disable=SC2046
  cargo check -q $(features "$rows")
done

scripts/build-cross.sh
