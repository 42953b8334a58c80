#!/usr/bin/env bash
# Builds the page of examples/web with flex as WebAssembly, with and without SIMD, into target/web: files for any web server.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cross.sh"
site=target/web
package=(--manifest-path examples/web/Cargo.toml)

prepare wasm32-unknown-unknown || die "the standard library for $target can't be had"
mkdir -p "$site"
cp examples/web/page/* "$site"
cargo build -q "${package[@]}" --target-dir target/bindgen -p bindgen
# Kernels are always inlined. A lower inlining threshold than rustc's for the rest makes the modules an eighth smaller and no slower.
lean="-C llvm-args=-inline-threshold=30"
build() {
  local folder=target/web-$1
  RUSTFLAGS="$lean ${2:-}" cross build "${package[@]}" --target-dir "$folder" --release
  target/bindgen/debug/bindgen "$folder/$target/release/flex_web.wasm" "$site/$1"
}
build scalar &
build simd128 "-C target-feature=+simd128"
wait $!
