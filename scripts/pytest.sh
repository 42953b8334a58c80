#!/usr/bin/env bash
# The Python tests, two at a time: those that compute, on each named instruction set; the others with them, on the last one.
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
same=("${same[@]/#/--ignore=tests/python/test_}")
same=("${same[@]/%/.py}")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=
while [ $# -gt 0 ]; do
  isa=$1 left=("${same[@]}") fewer=4 # hypothesis draws a quarter of the examples on all but the last set
  shift
  [ $# -gt 0 ] || left=() fewer=${FLEX_TEST_FEWER:-1}
  step "pytest, FLEX_ISA=$isa"
  FLEX_TEST_FEWER=$fewer FLEX_ISA=$isa "$python" -m pytest -q -p no:cacheprovider -n 2 --dist worksteal "${left[@]}" | tee -a "$log" || failed=1
done
# The names of what failed come last: of a failed stage only the end is repeated.
[ -z "$failed" ] || { grep -E '^(FAILED|ERROR) ' "$log"; exit 1; }
