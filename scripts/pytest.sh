#!/usr/bin/env bash
# The Python tests: those that compute, on each instruction set that is named, beside those that are the same on all of them, on the last.
#   pytest.sh [ISA...]    default: the best one of this machine
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -gt 0 ] || set -- "$(isas | tail -1)"

# What is the same on every instruction set: names, texts, files, processes, memory.
same=(api changing_memory cli compare config dlpack doctests errors files fuzz hints hostile_files interop io lent memory models_refused
  models_usage readme stalls stubs threads)
same=("${same[@]/#/tests/python/test_}")
same=("${same[@]/%/.py}")

compute() {
  for isa; do
    step "pytest, FLEX_ISA=$isa, what computes"
    FLEX_ISA=$isa "$python" -m pytest -q -p no:cacheprovider tests/python "${same[@]/#/--ignore=}"
  done
}

# Both use one thread most of the time.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
compute "$@" >"$log" 2>&1 &
computing=$!
failed=
step "pytest, FLEX_ISA=${*: -1}, what is the same on every instruction set"
FLEX_ISA=${*: -1} "$python" -m pytest -q -p no:cacheprovider "${same[@]}" || failed=1
wait "$computing" || failed=1
cat "$log"
[ -z "$failed" ]
