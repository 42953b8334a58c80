#!/usr/bin/env bash
# The Python side: the wheel by itself, the stubs against the module, then every test on the best instruction set of this machine,
# and those that compute on the others.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/model.sh
scripts/check-wheel.sh

step "stubs"
"$python" -m mypy.stubtest flex

# What is the same on every instruction set: names, texts, files, processes, memory.
once=(api changing_memory cli compare config dlpack doctests errors files fuzz hints hostile_files interop io lent memory models_refused
  models_usage readme stalls stubs threads)
once=("${once[@]/#/--ignore=tests/python/test_}")
best=$(isas | tail -1)
step "pytest, FLEX_ISA=$best"
FLEX_ISA=$best "$python" -m pytest -q
for isa in $(isas | sed '$d'); do
  step "pytest, FLEX_ISA=$isa"
  FLEX_ISA=$isa "$python" -m pytest -q "${once[@]/%/.py}"
done
