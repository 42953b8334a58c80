"""Streams whose values memory doesn't hold: only these are lost, and whoever asks for one gets a MemoryError."""

import subprocess
import sys

import pytest

import flex


@pytest.mark.parametrize("read", [True, False])
def test_a_reshape_that_memory_does_not_hold(read):
    """Raises at its line, as without a stream, and nothing else is lost."""
    x = flex.ones(3)
    with flex.stream():
        y = x + 1
        wide = flex.broadcast_to(y, (1 << 40, 3))
        with pytest.raises(MemoryError):
            flex.reshape(wide.T, (-1,))
        parts = flex.reshape(wide, (1 << 39, 2, 3))  # needs no copy
        z = y * 2
        if read:
            assert y.tolist() == [2.0] * 3
    assert (y.tolist(), z.tolist()) == ([2.0] * 3, [4.0] * 3)
    assert parts[5, 1].tolist() == [2.0] * 3


PROGRAM = """
import copy, pickle, resource, sys
import numpy as np
import flex

flex.set_num_threads(1)
n = 4000
one, column = flex.ones(3), flex.ones((n, 1))
kept = []

def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

def refused(f):
    try:
        f()
    except MemoryError:
        return
    raise AssertionError(f)

def work():
    with flex.stream():
        kept.append(one + 1)
        kept.append(column * column.T)  # 64 MB
        kept.append(flex.sum(column @ column.T))  # of 64 MB
        kept.append(kept[2].astype("int32"))
        kept.append(kept[0] * 2)

flex.sum(one + 1).tolist()  # what is made once for all is there
flex.empty_cache()
resource.setrlimit(resource.RLIMIT_AS, (address_space() + (32 << 20), resource.RLIM_INFINITY))
refused(work)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
few, many, total, count, after = kept
assert (few.tolist(), after.tolist()) == ([2.0] * 3, [4.0] * 3)
assert (many.shape, total.dtype, len(many)) == ((n, n), flex.float32, n)

def changed(f):
    def call():
        x = kept[1]
        f(x)
    return call

def subtract(x):
    x -= x

def multiply(x):
    x @= x

def add_number(x):
    x += 1

def assign(x):
    x[0] = 1

def in_stream(f):
    def call(x):
        with flex.stream():
            f(x)
    return call

READ = [
    lambda x: x.tolist(), lambda x: x.numpy(), np.asarray, np.array, memoryview, np.exp, bytes,
    lambda x: x.tobytes(), lambda x: x.__array_interface__, lambda x: x.__dlpack__(), np.from_dlpack, flex.from_dlpack,
    repr, str, format, iter, list, reversed, lambda x: x[0], lambda x: x[1:], lambda x: x[[0, 1]], lambda x: x[x],
    lambda x: x[..., None], lambda x: flex.ones(3)[x], lambda x: 1 in x, assign, subtract, multiply, add_number, copy.copy,
    copy.deepcopy, lambda x: x.copy(), lambda x: x.contiguous(), lambda x: x.T, lambda x: x.mT, flex.flip, flex.unstack,
    lambda x: flex.split(x, 1), lambda x: flex.chunk(x, 2), lambda x: x.reshape(-1), lambda x: x.view("int32"),
    lambda x: flex.reshape(x, (n * n,), copy=True), lambda x: x @ x, lambda x: x.T @ few, lambda x: flex.matmul(x, x),
    lambda x: x + 1, lambda x: [1] * x, lambda x: few / x, lambda x: -x, lambda x: flex.where(x > 1, x, 0), flex.sum, flex.exp,
    flex.sort, lambda x: divmod(x, 2), lambda x: divmod(2, x), lambda x: round(x, 1), lambda x: x.astype("float64"),
    lambda x: flex.asarray(x, copy=True), lambda x: flex.nn.linear(x, x), lambda x: flex.repeat(few, x), flex.fuse(lambda x: x + 1),
    lambda x: flex.fuse(lambda y: x + y)(few), lambda x: flex.concat([x, x]),
    lambda x: flex.clip(x, 0, 1), lambda x: x.strides, lambda x: x.is_contiguous(), lambda x: pickle.dumps(x),
    lambda x: pickle.dumps(x, protocol=5), lambda x: x.to_device("cpu", copy=True),
]
for f in READ:
    for call in (f, in_stream(f)):
        refused(lambda: call(many))
for f in (bool, int, float, complex, lambda x: x.item(), lambda x: f"{x:.3f}", lambda x: flex.linspace(0, x, 3)):
    refused(lambda: f(total))
    refused(lambda: in_stream(f)(total))
for f in (range, hex, lambda x: [1, 2][x], lambda x: one[x], lambda x: x.__index__()):
    refused(lambda: f(count))
with flex.stream():
    again = few + 1
assert again.tolist() == [3.0] * 3
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space as Linux has them")
def test_values_that_can_not_be_computed():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "done\n"
