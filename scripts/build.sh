#!/usr/bin/env bash
# Builds the Python module, optimised, and installs it into .venv such that edits under python/ take effect at once.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
step "building flex"
"$VIRTUAL_ENV/bin/maturin" develop --release --quiet "$@"
