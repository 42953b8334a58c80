#!/usr/bin/env bash
# Builds the Python module, optimised, and installs it into .venv such that edits under python/ take effect at once.
#   build.sh [ARGUMENTS of maturin develop]    default: --release; `--profile quick` rebuilds in less time
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
step "building flex"
# by itself maturin installs the group dev, which is setup.sh's to do
"$VIRTUAL_ENV/bin/maturin" develop --quiet --group models "${@:---release}"
