#!/usr/bin/env bash
# The Python side: the wheel on its own, the stubs against the module, then the tests on each instruction set of this machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts/model.sh
scripts/check-wheel.sh

step "stubs"
"$python" -m mypy.stubtest flex

# shellcheck disable=SC2046
scripts/pytest.sh $(isas)
