#!/usr/bin/env bash
# The fast half of `make test`: lints, then the Rust and the Python tests on the best instruction set of this machine, the Python module in
# a quick build. What it leaves out: doc examples, other instruction sets and features, other targets, the wheel, the stubs' types.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/lint.sh

step "Rust tests"
cargo test -q --lib --tests

scripts/build.sh --profile quick
scripts/model.sh
scripts/pytest.sh
say "$SECONDS s; make test has the rest"
