#!/usr/bin/env bash
# The library on other machines: the Rust tests on Linux of other CPUs (qemu-user), and the checks of tests/bare without an operating
# system, on Cortex-M boards (qemu-system-arm) and as WebAssembly (wasmtime).
#   test-cross.sh [TARGET...]    default: all of cross.sh
# A target is left out where its tools can't be installed, and only then.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cross.sh"
[ $# -gt 0 ] || set -- "${hosted[@]}" "${bare[@]}"
everything=messages,ints,f64,half,float8,complex,simd
parts=(elementwise tensors reductions norms products orders gathers signals) # a program each where flash is small
left_out=()
named="-C symbol-mangling-version=v0" # functions by their paths and types

checks() { cross run --manifest-path tests/bare/Cargo.toml --target-dir "target/bare${variant:-}" "$@"; }
# A classifier of examples/embedded, which asserts what it may take. What it doesn't call is not linked: no sorts, gathers, files, other
# activations, arithmetic of float64, formatting; reductions only by pools.
digits() {
  local map=$PWD/target/embedded/$target.map absent='4sort|6gather|7scatter|4scan|2io|4gelu|4silu|6double|4core3fmt'
  [[ $* == *convolutional* ]] || absent+='|6reduce'
  local RUSTFLAGS="$named -C link-arg=-Map=$map ${RUSTFLAGS:-}"
  cross run --manifest-path examples/embedded/Cargo.toml --target-dir target/embedded --release "$@"
  grep -q '4flex' "$map" || die "$map names no function of flex"
  ! grep -oE "_R[0-9A-Za-z_]*($absent)[0-9A-Za-z_]*" "$map" | sort -u | head -20 | grep . || die "$target: linked, but never called"
}
checks_in_parts() { for part in "${parts[@]}"; do checks --release --no-default-features --features "$part,$1"; done; }
# The parts of tests/suite in which a CPU can make a difference, emulated in a minute: vectors and fused multiply-adds, sizes of 32 bits,
# the order of bytes.
suite() { cross test --profile cross --test suite -- "$@"; }
# Whether the kernels of the library as it is for aarch64 are vectorised.
neon() {
  RUSTFLAGS="$named ${RUSTFLAGS:-}" cross build --no-default-features --features std --release --target-dir target/neon
  "$python" scripts/check_vectors.py target/neon/"$target"/release/libflex.rlib
}

for target; do
  step "$target"
  prepare "$target" || { left_out+=("$target"); continue; }
  started=$SECONDS
  case $target in
    # vectorised, for the vectors of NEON are what is new
    aarch64-*) suite bodies:: driver:: elementwise:: nn:: complex:: digits::; neon ;;
    i686-*) CARGO_PROFILE_CROSS_OPT_LEVEL=1 suite driver:: elementwise:: gather:: index:: io:: set:: shape:: sort:: ;;
    # but for gradients and attention, whose bytes are those of layers and products, and a test of large layers
    s390x-*) CARGO_PROFILE_CROSS_OPT_LEVEL=1 suite driver:: gather:: index:: io:: nn:: set:: shape:: sort:: \
      --skip nn::grad --skip nn::attention --skip errors_of_winograd ;;
    thumbv6m-*) digits --features critical-section; digits --features critical-section,quantized; digits --features critical-section,convolutional; checks_in_parts critical-section ;;
    thumbv7m-*) digits; digits --features quantized; digits --features convolutional; checks_in_parts '' ;;
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

[ ${#left_out[@]} -eq 0 ] || printf '\n!! NOT TESTED, for want of tools: %s\n' "${left_out[*]}" >&2
