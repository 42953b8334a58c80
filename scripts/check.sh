#!/usr/bin/env bash
# The fast half of `make test`: lints, and at the same time the Rust and the Python tests on the best instruction set of this machine. The
# library is compiled once, for tests; the module is that build, too. Left out: doc examples, other instruction sets and features, other
# targets, the wheel, the types of the stubs, and three quarters of the examples that hypothesis draws.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export CARGO_INCREMENTAL=0 # its bookkeeping takes a third of the time of a whole build
export FLEX_TEST_FEWER=4
begin_stages

# Both packages are named, so that features are the same and the library is compiled once.
tests() { cargo test -q --tests -p flex-cpu -p flex-python --features flex-cpu/bindings "$@"; }
build() { scripts/build.sh --profile dev && tests --no-run; }
rust() { step "Rust tests" && tests; }

stage lint scripts/lint.sh &
scripts/model.sh
if stage build build; then
  stage rust rust &
  stage python scripts/pytest.sh || true
fi
wait
say "$(stage_times)"
failed_stages
left=$(left_out)
say "$SECONDS s; make test has the rest${left:+; NOT TESTED: $left}"
