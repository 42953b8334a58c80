#!/usr/bin/env bash
# flex-burn beside burn-flex and burn-ndarray: benches.csv in burn/benches, and the page COMPARISON-BURN.md made of it.
#   bench-burn.sh [PART]    PART of a family's or row's name: prints these rows and makes no page
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
folder=burn/benches
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/burn/target}
cargo build -q --release --manifest-path "$folder/Cargo.toml"
program=$CARGO_TARGET_DIR/release/flex-burn-benches

# rows MODE THREADS [PART]: a process of its own, since thread pools are started once
rows() {
  env FLEX_NUM_THREADS="$2" RAYON_NUM_THREADS="$2" MATMUL_NUM_THREADS="$2" "$program" "$@"
}
# freed memory goes back to the system at once, so that the next peak shows
memory() {
  env MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=65536 FLEX_NUM_THREADS=1 RAYON_NUM_THREADS=1 MATMUL_NUM_THREADS=1 "$program" memory 1
}
if [ $# -gt 0 ]; then
  rows time 1 "$1"
  exit
fi
{ rows time 1; rows time 2; memory; } >"$folder/benches.csv"
PYTHONPATH=benches python3 "$folder/report.py" "$folder/benches.csv" COMPARISON-BURN.md
say "COMPARISON-BURN.md"
