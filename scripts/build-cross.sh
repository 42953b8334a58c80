#!/usr/bin/env bash
# Builds the core for targets without an operating system: no std, an allocator only.
#   build-cross.sh [TARGET...]    default: thumbv7m-none-eabi
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -gt 0 ] || set -- thumbv7m-none-eabi

status=0
scripts/setup-cross.sh "$@" || status=$?
case $status in
  0) build=(cargo build) ;;
  10) build=(env RUSTC_BOOTSTRAP=1 cargo build -Zbuild-std=core,alloc) ;;
  *) die "no standard library for $*: see above" ;;
esac
for target; do
  step "cross build: $target"
  "${build[@]}" -q --no-default-features --target "$target"
done
