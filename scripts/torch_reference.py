#!/usr/bin/env python3
"""Writes tests/data/reference: torch's float64 results for the cases of tests/python/reference, and torch's version.
Needs torch, which the tests don't.

    python scripts/torch_reference.py [FAMILY ...]
"""

import importlib
import pkgutil
import sys
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))
import reference  # noqa: E402, after its folder


def results(case):
    inputs = {
        name: torch.from_numpy(array).requires_grad_(array.dtype == np.float64)
        for name, array in case.arrays().items()
    }
    names = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn.functional, **inputs}
    result = eval(case.torch or case.call, names)
    many = result if isinstance(result, (tuple, list)) else (result,)
    kept = {f"{case.name}/{i}": r.detach().numpy() for i, r in enumerate(many)}
    if case.magnitude:
        kept[f"{case.name}/magnitude"] = eval(case.magnitude, names).detach().numpy()
    return kept


def main():
    for family in sys.argv[1:] or sorted(m.name for m in pkgutil.iter_modules(reference.__path__)):
        stored = {"torch": np.array(torch.__version__)}
        for case in importlib.import_module(f"reference.{family}").CASES:
            stored |= results(case)
        target = ROOT / "tests" / "data" / "reference" / f"{family}.npz"
        np.savez_compressed(target, **stored)
        print(
            f"{target.relative_to(ROOT)}: {len(stored) - 1} results, {target.stat().st_size} bytes"
        )


main()
