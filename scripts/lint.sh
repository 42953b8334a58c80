#!/usr/bin/env bash
# Formatting, clippy, rustdoc, ruff, the structure of the source, licences and sources of dependencies. Warnings are errors.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export CARGO_TARGET_DIR=target/lint # builds need not wait

step "structure"
"$python" scripts/check_layers.py

step "formatting"
cargo fmt --all --check
"$VIRTUAL_ENV/bin/ruff" format --check --quiet .
"$VIRTUAL_ENV/bin/ruff" check --quiet .

step "clippy"
cargo clippy -q --workspace --all-targets -- -D warnings
cargo clippy -q --no-default-features -- -D warnings

step "rustdoc"
RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" cargo doc -q --no-deps

scripts/check-dependencies.sh
"$python" scripts/make_licenses.py --check
