#!/usr/bin/env bash
# The Python tests: those that compute, on each named instruction set; at the same time the others, on the last one.
#   pytest.sh [ISA...]    default: the best one of this machine
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -gt 0 ] || set -- "$(isas | tail -1)"

# Tests that don't depend on the instruction set: names, texts, files, processes, memory.
same=(api changing_memory cli compare config dlpack doctests errors files fuzz hints hostile_files interop io lent memory models_refused
  models_usage readme stalls stubs threads)
same=("${same[@]/#/tests/python/test_}")
same=("${same[@]/%/.py}")

compute() {
  for isa; do
    step "pytest, FLEX_ISA=$isa, tests that compute"
    FLEX_ISA=$isa "$python" -m pytest -q -p no:cacheprovider tests/python "${same[@]/#/--ignore=}"
  done
}

# Both use one thread most of the time.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
compute "$@" >"$log" 2>&1 &
computing=$!
failed=
step "pytest, FLEX_ISA=${*: -1}, the other tests"
FLEX_ISA=${*: -1} "$python" -m pytest -q -p no:cacheprovider "${same[@]}" || failed=1
wait "$computing" || failed=1
cat "$log"
[ -z "$failed" ]
