#!/usr/bin/env bash
# Checks that the crate compiles with the oldest Rust that Cargo.toml promises (rust-version): with default features, without the standard
# library, and as the Python module. Only that exact release proves it; if it is not installed, nothing is checked, and a warning says so.
# If it is the one in use, every other stage proves it.
# `rustup toolchain install` gets it; scripts/setup.sh requires the same version of users.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
want=$(sed -nE 's/^rust-version = "(.*)"/\1/p' Cargo.toml)
step "Rust $want"

of_release() { case $1 in "$want" | "$want".* | "$want"-*) ;; *) return 1 ;; esac; }

if of_release "$(rustc --version | awk '{print $2}')"; then
  say "in use: all that compiles here compiles with it"
  exit 0
fi
toolchain=
while read -r name _; do
  ! of_release "$name" || { toolchain=$name; break; }
done < <(rustup toolchain list 2>/dev/null || true)
if [ -z "$toolchain" ]; then
  not_tested "whether the crate compiles with Rust $want" "that release (rustup toolchain install $want)"
  exit 0
fi

export RUSTUP_TOOLCHAIN=$toolchain
rustc --version
for features in "" --no-default-features "-p flex-python"; do
  # shellcheck disable=SC2086
  cargo check -q --locked --target-dir target/msrv $features
done
