"""Stored float64 results of torch for the cases of tests/python/reference."""

import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest
import reference

import flex

STORED = Path(__file__).parent.parent / "data" / "reference"
FAMILIES = sorted(m.name for m in pkgutil.iter_modules(reference.__path__))
CASES = [
    pytest.param(family, case, dtype, id=f"{family}: {case.name}, {dtype}")
    for family in FAMILIES
    for case in importlib.import_module(f"reference.{family}").CASES
    for dtype in case.dtypes
]
EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@pytest.fixture(scope="module")
def stored():
    """The stored results, by family."""
    return {family: np.load(STORED / f"{family}.npz") for family in FAMILIES}


def evaluate(case, dtype):
    inputs = {
        name: flex.asarray(array, dtype=dtype if array.dtype == np.float64 else None)
        for name, array in case.arrays().items()
    }
    result = eval(case.call, {"flex": flex, "nn": flex.nn, **inputs})
    return result if isinstance(result, (tuple, list)) else (result,)


@pytest.mark.parametrize(("family", "case", "dtype"), CASES)
def test_result_matches_torch(stored, family, case, dtype):
    for i, got in enumerate(evaluate(case, dtype)):
        want = stored[family][f"{case.name}/{i}"]
        assert got.shape == want.shape
        if want.dtype != np.float64:
            assert np.array_equal(np.asarray(got), want)
            continue
        assert got.dtype == getattr(flex, dtype)
        got = np.asarray(flex.astype(got, flex.float64))
        largest = np.abs(want[np.isfinite(want)]).max(initial=1e-300)
        scale = stored[family].get(f"{case.name}/magnitude", largest)
        wide = dtype in ("float64", "float32")
        bound = (case.loss if wide else case.halves) * EPSILON[dtype]
        if dtype == "float64":
            bound = max(bound, case.tolerance)
        np.testing.assert_allclose(got / scale, want / scale, rtol=0, atol=bound)


def test_every_stored_result_has_a_case(stored):
    for family, results in stored.items():
        names = {case.name for case in importlib.import_module(f"reference.{family}").CASES}
        assert {key.rpartition("/")[0] for key in results if key != "torch"} == names
