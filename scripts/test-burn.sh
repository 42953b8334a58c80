#!/usr/bin/env bash
# The Burn backend: its lints and tests, and tests that Burn publishes with its crates, run on it. They are run in copies of the packages
# out of cargo's registry, in a temporary folder, where the package in burn/shim takes the place of burn-flex as in a user's program.
#   ARGS: the packages whose tests are run (burn-nn burn-signal); burn-linalg's take two minutes of arithmetic without optimisation
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cross.sh"
started=$SECONDS
root=$PWD
version=0.22.1
[ $# -gt 0 ] || set -- burn-nn burn-signal
tested=("$@")
# The program for microcontrollers is not optimised, so that it is compiled in a minute: it needs a board with megabytes of flash.
cortex_m3=mps2-an385
emulated=yes
prepare thumbv7m-none-eabi || emulated=
cd burn

step "formatting, clippy, documentation"
cargo fmt --all --check
cargo clippy -q --workspace --all-targets --features flex-burn/fusion -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc -q --no-deps -p flex-burn --features fusion

step "own tests, best instruction set, doc examples"
cargo test -q --workspace --features flex-burn/fusion
step "own tests, FLEX_ISA=scalar"
FLEX_ISA=scalar cargo test -q --workspace --features flex-burn/fusion --test suite
step "without the standard library"
if [ -n "$emulated" ]; then
  # a network that an emulated Cortex-M3 runs through Burn, its weights in flash
  cross run --manifest-path "$root/examples/embedded/Cargo.toml" --target-dir target --features burn
else
  not_tested "flex-burn on a Cortex-M3" "its standard library or ${programs[*]}" "${packages[@]}"
  cargo check -q --no-default-features
fi
step "the examples"
cargo run -q -p flex-burn-examples --bin inference
cargo run -q -p flex-burn-examples --bin train

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
export CARGO_TARGET_DIR=$PWD/target
for package in "${tested[@]}"; do
  step "the tests of $package $version"
  # a program that depends on the package brings it into the registry's cache, and tells where it is
  mkdir -p "$temporary/fetch/src"
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n%s = "=%s"\n' "$package" "$version" \
    >"$temporary/fetch/Cargo.toml"
  touch "$temporary/fetch/src/lib.rs"
  if ! cargo fetch -q --manifest-path "$temporary/fetch/Cargo.toml"; then
    not_tested "$package on flex-burn" "cargo's registry"
    continue
  fi
  manifest=$(cargo metadata --format-version 1 --manifest-path "$temporary/fetch/Cargo.toml" |
    grep -o '"manifest_path":"[^"]*/'"$package-$version"'/Cargo.toml"' | head -1 | cut -d '"' -f 4)
  cp -r "$(dirname "$manifest")" "$temporary/$package"
  rm -f "$temporary/$package/Cargo.lock"
  cp Cargo.lock "$temporary/$package/"
  # the backend is chosen by a feature of burn-core
  cat >>"$temporary/$package/Cargo.toml" <<END
[workspace]
[patch.crates-io]
burn-flex = { path = "$root/burn/shim" }
[profile.dev]
opt-level = 1
debug = 0
[profile.dev.package.flex-cpu]
opt-level = 0
END
  # as the workspace has them: flex and what it depends on then have the same features, and flex is compiled once
  printf '[dev-dependencies.flex-burn]\npath = "%s"\nfeatures = ["fusion"]\n' "$root/burn" >>"$temporary/$package/Cargo.toml"
  grep -q '^\[dev-dependencies.serde\]' "$temporary/$package/Cargo.toml" ||
    printf '[dev-dependencies.serde]\nversion = "1"\n' >>"$temporary/$package/Cargo.toml"
  sed -i -e '/^\[dev-dependencies.burn-core\]/,/^$/s/^features = \[/&"flex", /' "$temporary/$package/Cargo.toml"
  case $package in # those that name their backend themselves
    burn-linalg | burn-signal) features=(--no-default-features --features std,flex) ;;
    *) features=() ;;
  esac
  cargo test -q --manifest-path "$temporary/$package/Cargo.toml" "${features[@]}" --lib --tests
  cargo tree -q --manifest-path "$temporary/$package/Cargo.toml" "${features[@]}" -e normal,dev -i flex-burn | grep burn-flex >/dev/null ||
    die "$package was not tested on flex-burn"
done
say "the Burn backend: $((SECONDS - started)) s"
