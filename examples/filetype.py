"""The types of files by their content: Google's Magika (Fratantonio et al., 2025; pip install --no-deps magika).

python examples/filetype.py FILE...
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import flex

FOLDER = Path((find_spec("magika") or sys.exit(__doc__)).origin).parent / "models" / "standard_v3_3"
SETTINGS = json.loads((FOLDER / "config.min.json").read_text("utf-8"))


def features(content):
    """The first bytes and the last ones, without white space around them."""
    block, size, padding = (SETTINGS[name] for name in ("block_size", "beg_size", "padding_token"))
    first, last = content[:block].lstrip()[:size], content[-block:].rstrip()[-size:]
    filling = [padding] * (2 * size - len(first) - len(last))
    return [*first, *filling, *last]


def types(contents):
    """The most probable type of each, and its probability."""
    model = flex.onnx.load(FOLDER / "model.onnx")
    found = model(flex.asarray([features(content) for content in contents], dtype=flex.int32))
    best = flex.argmax(found, axis=1).tolist()
    labels = SETTINGS["target_labels_space"]
    return [(labels[k], float(row[k])) for k, row in zip(best, found, strict=True)]


if __name__ == "__main__":
    files = sys.argv[1:] or sys.exit(__doc__)
    found = types([Path(file).read_bytes() for file in files])
    for file, (name, sure) in zip(files, found, strict=True):
        print(f"{file}: {name} ({sure:.0%})")
