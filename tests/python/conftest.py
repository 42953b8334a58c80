"""Fixtures and settings of the Python tests."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings
from support import FEWER, LAYOUTS

import flex

# No example has a time limit, since other stages run beside these tests. In continuous integration
# the examples are the same in every run; elsewhere hypothesis draws new ones.
settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=100 // FEWER,
)
settings.register_profile("ci", settings.get_profile("untimed"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "untimed")

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


def pytest_collection_finish():
    """What collection has made, some millions of objects, lives to the end: tests that collect garbage need not visit it each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _settings():
    """Tests that call every function set these, too."""
    yield
    flex.set_default_dtype(flex.float32)
    flex.set_printoptions(precision=8, threshold=1000, edgeitems=3, linewidth=75, suppress=False)


@pytest.fixture(params=DTYPES, ids=str)
def dtype(request):
    """Each dtype."""
    return request.param


@pytest.fixture
def in_use():
    """A function that collects garbage and returns the bytes that live tensors use."""

    def measure():
        gc.collect()
        return flex.memory_stats()["in_use"]

    return measure


@pytest.fixture(params=LAYOUTS)
def layout(request):
    """Each layout, as a function from an array to a view of it."""
    return LAYOUTS[request.param]
