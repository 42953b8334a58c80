#!/usr/bin/env bash
# The Python tests: those that compute, on each named instruction set; at the same time the others, on the last one.
#   pytest.sh [ISA...]    default: the best one of this machine
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ $# -gt 0 ] || set -- "$(isas | tail -1)"

# Tests that don't depend on the instruction set: names, texts, arguments, files, processes, memory, what is traced.
same=(api arrow bytes called changing_memory cli compare composed composed_names config creation defaults digits distributed dlpack
  doctests dtype embed_interrupt errors files filters fuse_lifetime fuse_methods fuse_outside fuse_tracing fuzz hints hostile_arguments
  hostile_files huge_arguments interop interrupt io keywords leaks lent libraries memory models_refused models_usage names nn_errors
  numpy_calls numpy_functions onnx onnx_operators onnx_overridden onnx_damaged onnx_suite peaks quant_bits quant_errors quant_files
  readme set shape stalls stream_loans stream_memory stream_views stubs subscripts tensor threads torch_names typing values)
same=("${same[@]/#/tests/python/test_}")
same=("${same[@]/%/.py}")

# Hypothesis draws a quarter of the examples on all but the last set.
compute() {
  local status=0
  for isa; do
    step "pytest, FLEX_ISA=$isa, tests that compute"
    fewer=4
    [ "$isa" != "${*: -1}" ] || fewer=${FLEX_TEST_FEWER:-1}
    FLEX_TEST_FEWER=$fewer FLEX_ISA=$isa "$python" -m pytest -q -p no:cacheprovider tests/python "${same[@]/#/--ignore=}" || status=1
  done
  return "$status"
}

# Both use one thread most of the time. The names of what failed come last: of a failed stage only the end is repeated.
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
compute "$@" >"$log/compute" 2>&1 &
computing=$!
failed=
step "pytest, FLEX_ISA=${*: -1}, the other tests"
FLEX_ISA=${*: -1} "$python" -m pytest -q -p no:cacheprovider "${same[@]}" | tee "$log/others" || failed=1
wait "$computing" || failed=1
cat "$log/compute"
[ -z "$failed" ] || { grep -hE '^(FAILED|ERROR) ' "$log"/*; exit 1; }
