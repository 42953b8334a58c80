"""Lent memory: borrowers that write to it, and memory that comes back."""

import ctypes
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from support import address

import flex

X = flex.ones((4, 64))
LENDERS = {
    "buffer": lambda w: memoryview(w),
    "numpy": lambda w: w.numpy(),
    "asarray": np.asarray,
    "dlpack": lambda w: w.__dlpack__(max_version=(1, 1)),
    "numpy from dlpack": np.from_dlpack,
}


def weight(dtype="float32"):
    """A weight that owns its memory, with its address and size."""
    w = flex.full((64, 64), 2, dtype=dtype)
    return w, address(w), w.nbytes


@pytest.mark.parametrize("lend", LENDERS.values(), ids=LENDERS)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_writes_by_a_borrower_affect_packed_weights(lend, dtype):
    w, at, size = weight(dtype)
    x = flex.astype(X, dtype)
    for _ in range(3):
        assert flex.any(flex.nn.linear(x, w)).item()
    loan = lend(w)
    ctypes.memset(at, 0, size)  # as torch can, which ignores that memory is read-only
    for _ in range(3):
        assert not flex.any(flex.nn.linear(x, w)).item()
    ctypes.memset(at, 1, size)
    seen = flex.nn.linear(x, w)
    assert flex.any(seen).item()
    del loan
    for _ in range(3):
        assert flex.all(flex.nn.linear(x, w) == seen).item()


def test_a_weight_is_packed_again_after_a_loan(in_use):
    w, _, _ = weight()

    def packed():
        before = in_use()
        for _ in range(3):
            flex.nn.linear(X, w)
        return in_use() - before

    def drop():
        np.asarray(w)

    assert packed() > 0
    assert packed() == 0  # already cached
    drop()
    assert packed() > 0
    loan = np.asarray(w)
    assert packed() == 0
    del loan
    assert packed() > 0


def test_results_have_the_same_bits_during_a_loan():
    rng = np.random.default_rng(0)
    x, w = (
        flex.asarray(rng.standard_normal((n, 96)).astype(np.float32), copy=True) for n in (5, 80)
    )
    before = [flex.nn.linear(x, w).tolist() for _ in range(3)]
    loan = memoryview(w)
    assert [flex.nn.linear(x, w).tolist() for _ in range(3)] == before
    del loan


ROUND_TRIPS = {
    "dlpack": flex.from_dlpack,
    "asarray": lambda t: flex.asarray(np.asarray(t)),
    "memoryview": lambda t: flex.asarray(memoryview(t)),
    "numpy's dlpack": lambda t: flex.asarray(np.from_dlpack(t)),
}


@pytest.mark.parametrize("trip", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
@pytest.mark.parametrize(
    "start",
    [flex.arange(6.0), flex.asarray(np.arange(6.0, dtype="float32"))],
    ids=["owned", "borrowed"],
)
def test_returned_memory_is_recognised(trip, start):
    t = start[1:]
    back = trip(t)
    assert address(back) == address(t)
    assert back.tolist() == t.tolist()
    assert trip(flex.flip(t)).tolist() == t.tolist()[::-1]
    back[0] = 9  # copies
    assert t[0].item() == 1


def test_returned_memory_is_written_in_place_when_unshared():
    t = flex.arange(1000.0)
    at = address(t)
    t = flex.asarray(np.asarray(t))
    t += 1
    assert address(t) == at
    assert t[0].item() == 1


@pytest.mark.parametrize("start", ["flex.arange(6.0)", "flex.asarray(np.arange(6.0))"])
@pytest.mark.parametrize(
    "trip",
    [
        "flex.from_dlpack(t)",
        "flex.asarray(np.asarray(t))",
        "flex.asarray(memoryview(t))",
        "flex.from_dlpack(np.from_dlpack(t))",
    ],
)
def test_a_hundred_thousand_borrows_of_borrows(trip, start):
    program = f"""
        import flex, numpy as np
        t = {start}
        for _ in range(100_000):
            t = {trip}
        assert t.tolist() == [0, 1, 2, 3, 4, 5]
        del t
        print("done")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
