"""A million queued and fused operations leave memory as it was."""

import os
import sys
from pathlib import Path

import pytest

import flex

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="resident memory as Linux reports it"
)

OPERATIONS = 1_000_000
# 4 bytes for each operation
GROWTH = 4 << 20


def resident():
    flex.empty_cache()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def assert_bounded(work, first, calls, in_use):
    """The first calls fill caches and the pool."""
    for _ in range(first):
        work()
    before = in_use(), resident()
    for _ in range(calls):
        work()
    assert in_use() <= before[0]
    assert resident() - before[1] < GROWTH


def test_queued_operations(in_use):
    """With other sizes and numbers in each turn, values that are never read, and errors."""
    stream, x = flex.Stream(), flex.ones((2, 8))
    inputs = [flex.ones((2, n)) for n in range(3, 8)]
    turn = 0

    def work():
        nonlocal turn
        turn += 1
        with stream:
            y = inputs[turn % 5]
            for k in range(23):
                y = y * (turn + k) + 0.5
                y += 1
                if k % 8 == 0:
                    y = (y - flex.max(y, axis=1)[:, None]).T.T
            flex.matmul(x.T, x) + turn
            if turn % 3 == 0:
                with pytest.raises(flex.ShapeError):
                    y + x
        return y

    work()
    each = stream.stats()["operations"]
    assert_bounded(work, 1000, OPERATIONS // each, in_use)


def test_fused_operations(in_use):
    @flex.fuse
    def f(x, scale):
        for _ in range(24):
            x = x * scale + 0.5
        return x, flex.sum(x)

    inputs = [flex.ones((2, n)) for n in range(3, 8)]
    turn = 0

    def work():
        nonlocal turn
        turn += 1
        return f(inputs[turn % 5], 1.0 / turn)

    assert_bounded(work, 1000, OPERATIONS // 49, in_use)


def test_traces(in_use):
    """Of functions that are dropped, and of one that is traced for each value of an argument."""

    def f(x, n):
        return flex.sum(x * 2 + n)

    kept, x = flex.fuse(f), flex.ones(3)
    turn = 0

    def work():
        nonlocal turn
        turn += 1
        return kept(x, turn), flex.fuse(f)(x, turn)

    assert_bounded(work, 500, 2000, in_use)
