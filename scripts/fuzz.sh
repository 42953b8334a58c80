#!/usr/bin/env bash
# Random cases for some time: sequences of operations on memory next to guard pages, compared with NumPy; damaged files; ONNX graphs,
# compared with onnxruntime; damaged ONNX models; and coverage-guided fuzzing of the file readers under AddressSanitizer.
#   fuzz.sh [SECONDS]    a fifth for each; default 60
# SEED=n sets the first seed of all but the last; the default depends on the day. Findings of the readers' fuzzer stay in target/fuzz.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
seconds=$((${1:-60} / 5)) seed=${SEED:-$(($(date +%s) % 1000000000))} failed=()

for kind in programs files graphs onnx_files; do
  step "$kind from seed $seed, $seconds s"
  "$python" tests/python/fuzz.py "$kind" --first "$seed" --seconds "$seconds" || failed+=("$kind")
done

# libFuzzer comes as C++ in a crate; the compiler's part is flags that exist in the stable compiler but are not exposed.
if command -v c++ >/dev/null; then
  step "the readers, $seconds s"
  host=$(rustc -vV | sed -nE 's/^host: //p') folder=target/fuzz
  coverage=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares)
  RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address --cfg fuzzing --cfg flex_exact ${coverage[*]}" \
    cargo build -q --release --target "$host" --manifest-path tests/fuzz/Cargo.toml --target-dir $folder
  "$python" tests/fuzz/seeds.py $folder
  (cd $folder && "$host/release/readers" corpus -dict=words -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    -max_len=4096 -print_final_stats=1 2>&1 | tail -30; exit "${PIPESTATUS[0]}") || failed+=(readers)
else
  printf '\n!! NOT RUN: the fuzzer of the readers, for want of a C++ compiler\n' >&2
fi
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
