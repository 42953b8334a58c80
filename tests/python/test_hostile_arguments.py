"""Hostile arguments: whatever they are, a call gives a result or an ordinary exception, soon. No panic, no abort, and no more memory
than there is."""

import pathlib
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from itertools import repeat

import pytest

import flex

PROGRAM = pathlib.Path(__file__).with_name("hostile.py")
GROUPS = [
    *("flex", "flex.nn", "flex.nn.grad", "flex.quant", "flex.fft", "flex.signal", "flex.linalg"),
    *("flex.io", "methods", "classes", "models"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limit of the address space")
@pytest.mark.parametrize("group", GROUPS)
def test_hostile_arguments(group):
    run = subprocess.run(
        [sys.executable, PROGRAM, group],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = run.stdout.splitlines()
    assert run.returncode == 0, f"{lines[-1:]} ended with {run.returncode}:\n{run.stderr[-2000:]}"
    assert lines[-1].startswith("done"), lines[-1]
    assert "Exception ignored" not in run.stderr


class Sized(Sequence):
    """A sequence of `items` that says it has `length`."""

    def __init__(self, items, length):
        self.items, self.length = items, length

    def __len__(self):
        return self.length

    def __getitem__(self, k):
        return self.items[k]


def test_iterables_are_read():
    assert flex.zeros(iter((2, 3))).shape == (2, 3)
    assert flex.zeros(range(1, 4)).shape == (1, 2, 3)
    x = flex.asarray([1.0, 2.0])
    assert flex.concat(x for _ in range(3)).tolist() == [1, 2] * 3
    assert flex.stack(Sized([x, x], 2**18)).tolist() == [[1, 2], [1, 2]]
    assert flex.asarray(range(5)).tolist() == [0, 1, 2, 3, 4]
    assert flex.asarray([range(2), deque([5, 0.5])]).tolist() == [[0, 1], [5, 0.5]]
    assert flex.asarray(Sized([True, 2], 2)).tolist() == [1, 2]
    assert (x + range(2)).tolist() == [1, 3]
    x[...] = range(2)
    assert x.tolist() == [0, 1]
    q = flex.quant.quantize(flex.asarray([[1.0, 2.0]]), axis=0)
    assert flex.quant.concat(q for _ in range(3)).shape == (3, 2)


@pytest.mark.parametrize(
    "endless", [repeat(1), range(2**40), Sized([1], 2**62)], ids=["repeat", "range", "sized"]
)
def test_endless_iterables_are_refused(endless):
    x = flex.ones((2, 2))
    for call in (
        lambda: flex.zeros(endless),
        lambda: flex.sum(x, axis=endless),
        lambda: flex.permute_dims(x, endless),
        lambda: flex.concat(endless),
        lambda: flex.pad(x, endless),
        lambda: flex.nn.lstm(x, None, endless),
        lambda: flex.nn.interpolate(x, scale_factor=endless),
        lambda: flex.fuse(flex.sin, donate=endless),
    ):
        with pytest.raises(ValueError, match="more than 262144 items"):
            call()
    with pytest.raises((ValueError, TypeError)):
        flex.quant.concat(endless)


def test_lengths_that_lie():
    with pytest.raises(MemoryError):
        flex.asarray(range(2**40))
    with pytest.raises(MemoryError):
        flex.asarray([[1], Sized([1], 2**62)])
    for length in (1, 3):
        with pytest.raises(RuntimeError, match="length"):
            flex.asarray(Sized([1, 2], length))
