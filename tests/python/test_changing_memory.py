"""Borrowed memory may change at any time: an operation then gives an error or a result for some state, and never accesses out of bounds."""

import subprocess
import sys
from multiprocessing import shared_memory

import numpy as np
import pytest

# Flips the middle element between two values until it is killed.
WRITER = """
import sys
from multiprocessing import resource_tracker, shared_memory
import numpy as np

memory = shared_memory.SharedMemory(sys.argv[1], track=False) if sys.version_info >= (3, 13) else shared_memory.SharedMemory(sys.argv[1])
if sys.version_info < (3, 13):
    resource_tracker.unregister(memory._name, "shared_memory")
a = np.ndarray((int(sys.argv[3]),), sys.argv[2], memory.buf)
low, high, k = (*(a.dtype.type(v) for v in sys.argv[4:6]), len(a) // 2)
print("ready", flush=True)
while True:
    a[k] = high
    a[k] = low
"""

# Evaluates each expression on the memory repeatedly: for seconds of its own processor time, since on a busy machine it may hardly run.
READER = """
import sys, time
from multiprocessing import resource_tracker, shared_memory
import numpy as np
import flex

memory = shared_memory.SharedMemory(sys.argv[1], track=False) if sys.version_info >= (3, 13) else shared_memory.SharedMemory(sys.argv[1])
if sys.version_info < (3, 13):
    resource_tracker.unregister(memory._name, "shared_memory")
n = int(sys.argv[3])
i = flex.asarray(np.ndarray((n,), sys.argv[2], memory.buf), copy=False)
line, table = flex.arange(1000.0), flex.reshape(flex.arange(4000.0), (1000, 4))
values = flex.ones(n)

def put(x, key, value):
    x = flex.asarray(x, copy=True)
    x[key] = value

pairs = flex.zeros((n, 2))

def put_view(key, value):
    x = pairs[:, 0]  # shared, and takes another layout when it is written to
    x[key] = value

for expression in sys.argv[4:]:
    run = eval("lambda: " + expression)
    end, rounds, refused = time.process_time() + 0.15, 0, 0
    while time.process_time() < end:
        rounds += 1
        try:
            run()
        except (IndexError, ValueError, MemoryError):
            refused += 1
    print(rounds, refused, flush=True)
import os
os._exit(0)
"""

N = 20000
FAR = 1 << 44
POSITIONS = {
    "take": "flex.take(line, i)",
    "take rows": "flex.take(table, i, axis=0)",
    "t[i]": "line[i]",
    "t[i] of rows": "table[i]",
    "t[i, j]": "table[i, i]",
    "t[i] = v": "put(line, i, 1.0)",
    "take_along_axis": "flex.take_along_axis(line, i, axis=0)",
    "scatter": "flex.scatter(line, i, values, axis=0)",
    "scatter_add": "flex.scatter_add(line, i, values, axis=0)",
    "index_add": "flex.index_add(line, i, values)",
    "embedding": "flex.nn.embedding(i, table)",
    "embedding_bag": "flex.nn.embedding_bag(flex.reshape(i, (-1, 4)), table)",
    "nll_loss": "flex.nn.nll_loss(flex.broadcast_to(line, (n, 1000)), i)",
    "max_unpool1d": "flex.nn.max_unpool1d(flex.reshape(values, (1, 1, n)), flex.reshape(i, (1, 1, n)), 1)",
    "searchsorted": "flex.searchsorted(line, line, sorter=i[9500:10500])",
}
MASKS = {
    "t[m]": "values[i]",
    "t[m] = v": "put(values, i, 2.0)",
    "t[m] = values": "put(values, i, flex.ones(n // 2))",
    "t.T[m] = values": "put_view(i, flex.ones(n // 2))",
    "masked_select": "flex.masked_select(values, i)",
    "masked_fill": "flex.masked_fill(values, i, 0.0)",
    "nonzero": "flex.nonzero(i)",
    "argwhere": "flex.argwhere(i)",
}


def beside_a_writer(dtype, start, low, high, *expressions):
    """Evaluates the expressions in one process, one after the other, while another flips an element of their operand between `low` and
    `high`."""
    start = np.asarray(start, dtype)
    memory = shared_memory.SharedMemory(create=True, size=start.nbytes)
    try:
        np.ndarray(start.shape, dtype, memory.buf)[:] = start
        arguments = [memory.name, dtype, str(len(start))]
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, *arguments, str(low), str(high)], stdout=subprocess.PIPE
        )
        try:
            assert writer.stdout.readline() == b"ready\n"
            reader = subprocess.run(
                [sys.executable, "-c", READER, *arguments, *expressions],
                capture_output=True,
                text=True,
                timeout=300,
            )
        finally:
            writer.kill()
            writer.communicate()
        counts = [[int(n) for n in line.split()] for line in reader.stdout.splitlines()]
        assert reader.returncode == 0, (
            expressions[len(counts)],
            reader.stderr or f"ended by signal {-reader.returncode}",
        )
        assert len(counts) == len(expressions)
        assert all(rounds >= refused for rounds, refused in counts)
    finally:
        memory.close()
        memory.unlink()


def test_positions_changing_concurrently():
    two = [e for e in POSITIONS.values() if "i, i]" in e]
    one = [e for e in POSITIONS.values() if "i, i]" not in e]
    beside_a_writer("int64", np.arange(N) % 4, 1, FAR, *two)
    beside_a_writer("int64", np.arange(N) % 1000, 1, FAR, *one)


def test_masks_changing_concurrently():
    beside_a_writer("bool", np.arange(N) % 2 == 0, 0, 1, *MASKS.values())


def test_counts_changing_concurrently():
    beside_a_writer("int64", np.arange(N) % 3, 1, 30000, "flex.repeat(values, i)")
    beside_a_writer("int64", np.arange(N) % 3, -1, FAR, "flex.repeat(values, i)")


@pytest.mark.parametrize("dtype", ["int64", "float32", "uint8"])
def test_keys_changing_concurrently(dtype):
    # many keys that differ only in their last bits, which argsort reads a second time
    start = (
        (np.arange(N) % 97 + (1 << 62)).astype("int64") if dtype == "int64" else np.arange(N) % 97
    )
    start[0] = start[0] * 0 - 3 if dtype != "uint8" else 0
    low, high = (1 << 62, (1 << 62) + 50) if dtype == "int64" else (1, 90)
    expressions = (
        "flex.argsort(i)",
        "flex.sort(i)",
        "flex.topk(i, 50)",
        "flex.unique_all(i)",
        "flex.isin(line, i)",
    )
    beside_a_writer(dtype, start, low, high, *expressions)


def test_divisors_and_exponents_changing_concurrently():
    beside_a_writer("int64", np.ones(N), 0, 1, "flex.floor_divide(i, i)", "flex.remainder(i, i)")
    beside_a_writer("int64", np.ones(N), -1, 1, "flex.pow(i, i)")
