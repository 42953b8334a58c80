"""What the Python tests share."""

import gc
import os

import pytest
from hypothesis import settings
from support import LAYOUTS

import flex

# Continuous integration judges a change by the same examples each time; elsewhere hypothesis looks
# further with every run.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

DTYPES = [
    flex.bool,
    flex.int8,
    flex.int16,
    flex.int32,
    flex.int64,
    flex.uint8,
    flex.uint16,
    flex.uint32,
    flex.uint64,
    flex.float8_e4m3fn,
    flex.float8_e5m2,
    flex.float16,
    flex.bfloat16,
    flex.float32,
    flex.float64,
    flex.complex64,
    flex.complex128,
]


@pytest.fixture(params=DTYPES, ids=str)
def dtype(request):
    """Each dtype."""
    return request.param


@pytest.fixture
def in_use():
    """The bytes that living tensors use now, with garbage collected before."""

    def measure():
        gc.collect()
        return flex.memory_stats()["in_use"]

    return measure


@pytest.fixture(params=LAYOUTS)
def layout(request):
    """A function from an array to a view of it."""
    return LAYOUTS[request.param]
