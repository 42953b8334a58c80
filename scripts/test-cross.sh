#!/usr/bin/env bash
# The library on other machines: the Rust tests on Linux for other CPUs (qemu-user), and the checks of tests/bare without an operating
# system, on Cortex-M boards (qemu-system-arm) and as WebAssembly (wasmtime).
#   test-cross.sh [TARGET...]    default: all of cross.sh
# A target is skipped only if its tools can't be installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cross.sh"
[ $# -gt 0 ] || set -- "${hosted[@]}" "${bare[@]}"
tested=grad,quant,random,io # families, with what they need, whose tests run on other CPUs
dtypes=messages,ints,f64,half,float8,complex,simd
everything=$dtypes,$tested,linalg,signal # without std there is no stream
parts=(elementwise tensors reductions moments norms products orders gathers signals) # separate programs where flash is small
named="-C symbol-mangling-version=v0" # symbols contain paths and types

checks() { cross run --manifest-path tests/bare/Cargo.toml --target-dir "target/bare${variant:-}" "$@"; }
# A classifier of examples/embedded, which asserts its own limits. Functions that it doesn't call must not be linked: no sorts, gathers,
# files, other activations, float64 arithmetic or formatting; reductions only for pools.
digits() {
  local map=$PWD/target/embedded/$target.map absent='4sort|6gather|7scatter|4scan|2io|4gelu|4silu|6double|4core3fmt'
  [[ $* == *convolutional* ]] || absent+='|6reduce'
  local RUSTFLAGS="$named -C link-arg=-Map=$map ${RUSTFLAGS:-}"
  cross run --manifest-path examples/embedded/Cargo.toml --target-dir target/embedded --release "$@"
  grep -q '4flex' "$map" || die "$map names no function of flex"
  ! grep -oE "_R[0-9A-Za-z_]*($absent)[0-9A-Za-z_]*" "$map" | sort -u | head -20 | grep . || die "$target: linked, but never called"
}
checks_in_parts() { for part in "${parts[@]}"; do checks --release --no-default-features --features "$part,$1"; done; }
# The parts of tests/suite that can depend on the CPU, emulated in a minute: vectors and fused multiply-adds, 32-bit sizes, byte order. Not
# those that compare numbers of threads, compute gradients from differences, or need large layers: long, and the same on every CPU.
suite() { filtered cross test --profile cross ${features:-} --test suite -- --skip do_not_depend_on_threads --skip match_differences --skip large_ "$@"; }
# The same, whose library must have vectorised kernels.
vectorised_suite() {
  RUSTFLAGS="$named ${RUSTFLAGS:-}" suite "$@"
  "$python" scripts/check_vectors.py "$(ls -t target/"$target"/cross/deps/libflex-*.rlib | head -1)"
}

# Says that a target is left out: its programs are missing, or its standard library, of which only setup-cross.sh knows where it is.
without() {
  local program
  describe "$1"
  for program in "${programs[@]}"; do
    command -v "$program" >/dev/null || { not_tested "$1" "$program" "${packages[@]}"; return; }
  done
  not_tested "$1" "its standard library or a sound emulator"
}

for target; do
  step "$target"
  prepare "$target" || { without "$target"; continue; }
  started=$SECONDS
  case $target in
    # optimised, since NEON vectors are what differs; compiled are the families whose tests run
    aarch64-*) features="--no-default-features --features std,simd,ints,f64,half,complex,grad,random" vectorised_suite bodies:: driver:: elementwise:: nn:: complex:: random::numbers_are ;;
    # with few dtypes, which nothing else runs; tests of gathers, orders and shapes are of all dtypes
    i686-*) features="--no-default-features --features std,simd,rayon,i8,i32,i64,stream,$tested" CARGO_PROFILE_CROSS_OPT_LEVEL=1 suite driver:: elementwise:: io:: --skip kernel:: ;;
    # without the standard library; of layers those that move elements as words, but not a test of accuracy, nor plain sums, which take long
    s390x-*) features="--no-default-features --features $dtypes,$tested" CARGO_PROFILE_CROSS_OPT_LEVEL=1 suite driver:: gather:: index:: io:: nn::conv nn::linear nn::pool nn::resample random::numbers_are random::philox set:: shape:: sort:: \
      --skip kernel:: --skip nn::grad --skip errors_of --skip convolutions_match --skip channels_as_lanes \
      --skip few_positions --skip winograd_range --skip interpolation_matches --skip nearest_modes ;;
    thumbv6m-*) digits --features critical-section; digits --features critical-section,quantized; digits --features critical-section,convolutional; checks_in_parts critical-section ;;
    # of tests/bare nothing: the M0 has the same arithmetic, the M4F the same instructions and atomics
    thumbv7m-*) digits; digits --features quantized; digits --features convolutional ;;
    thumbv7em-*) checks --release --features full ;;
    wasm32-*)
      checks --profile fast --features full
      variant=-simd128 RUSTFLAGS="$named -C target-feature=+simd128" checks --profile fast
      "$python" scripts/check_vectors.py target/bare-simd128/"$target"/fast/bare.wasm
      ;;
  esac
  case $target in
    thumbv6m-*) cross check --profile cross --no-default-features --features $everything,critical-section ;;
    thumbv7m-*) cross check --profile cross --no-default-features --features $everything ;;
    thumbv7em-* | wasm32-*) cross check --profile cross --no-default-features ;;
  esac
  say "$target: $((SECONDS - started)) s"
done
