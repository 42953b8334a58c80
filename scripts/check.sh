#!/usr/bin/env bash
# The fast half of `make test`: lints, then the Rust tests on the best instruction set of this machine and, at the same time, the Python
# tests with a quick build of the module. Left out: doc examples, other instruction sets and features, other targets, the wheel, and the
# types of the stubs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

rust() { scripts/lint.sh && step "Rust tests" && cargo test -q --lib --tests; }
python() { scripts/build.sh --profile quick && scripts/model.sh && scripts/pytest.sh; }

rust 2>&1 | sed -u 's/^/rust: /' &
rust=$!
failed=
python 2>&1 | sed -u 's/^/python: /' || failed+=' python'
wait "$rust" || failed+=' rust'
[ -z "$failed" ] || die "failed:$failed"
say "$SECONDS s; make test has the rest"
