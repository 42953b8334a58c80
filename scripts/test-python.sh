#!/usr/bin/env bash
# The Python side: the wheel by itself, the stubs against the module, then every test on each instruction set of this machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/model.sh
scripts/check-wheel.sh

step "stubs"
"$python" -m mypy.stubtest flex

for isa in $(isas); do
  step "pytest, FLEX_ISA=$isa"
  FLEX_ISA=$isa "$python" -m pytest -q
done
