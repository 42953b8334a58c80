#!/usr/bin/env bash
# Builds the wheels for Linux, all on this machine: x86-64 and AArch64, glibc from 2.17 on (2014: nearly every system in use) and musl from
# 1.2 on (Alpine). rustc's own LLD links them, against libraries that libc_stubs.py makes, so that no compiler for C is needed.
#   wheels.sh [TARGET...]    default: all four; PROFILE=dev builds them in less time
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -gt 0 ] || set -- {x86_64,aarch64}-unknown-linux-{gnu,musl}
scripts/setup.sh wheels
mkdir -p dist
# the same source gives the same bytes
export SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
remap="--remap-path-prefix=$PWD=flex --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"

for target; do
  step "$target"
  rustup target list --installed | grep -qx "$target" || rustup target add "$target"
  stubs=$PWD/target/stubs/$target
  [ -e "$stubs/.ready" ] || { "$python" scripts/libc_stubs.py "$target" "$stubs" && touch "$stubs/.ready"; }
  flags="-C linker=rust-lld -C linker-flavor=ld.lld -L native=$stubs $remap"
  case $target in
    *-gnu) platform=manylinux_2_17 ;;
    *-musl) platform=musllinux_1_2 flags+=" -C target-feature=-crt-static" ;;
  esac
  name=CARGO_TARGET_${target^^}_RUSTFLAGS
  env "${name//-/_}=$flags" "$VIRTUAL_ENV/bin/maturin" build --quiet --profile "${PROFILE:-release}" \
    --target "$target" --compatibility "$platform" --out dist

  wheel=$(ls -t dist/*.whl | head -1)
  "$python" scripts/pack_wheel.py "$wheel"
  "$VIRTUAL_ENV/bin/twine" check --strict "$wheel"
  "$VIRTUAL_ENV/bin/abi3audit" --strict --summary "$wheel"
  audit=$("$VIRTUAL_ENV/bin/auditwheel" show --ldpaths "$stubs" "$wheel" | tr '\n' ' ')
  grep -q "platform tag: \"${platform}_${target%%-*}\"" <<<"$audit" || die "$audit"
  [ "${PROFILE:-}" ] || check_size "$wheel"
done
