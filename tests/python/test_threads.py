"""Any number of threads gives the same bits, and forked processes continue to work."""

import os
import subprocess
import sys

import numpy as np
import pytest

import flex

RNG = np.random.default_rng(0)
LINE = flex.asarray(RNG.standard_normal(1 << 20).astype(np.float32))
TABLE = flex.asarray(RNG.standard_normal((1024, 1024)).astype(np.float32))


@pytest.mark.parametrize(
    "compute",
    [
        lambda: flex.sum(LINE),
        lambda: flex.sum(TABLE, axis=0),
        lambda: flex.mean(TABLE, axis=1),
        lambda: flex.cumulative_sum(LINE),
        lambda: TABLE @ TABLE[:, :256],
        lambda: flex.nn.softmax(TABLE, axis=-1),
        lambda: flex.nn.softmax(LINE),
        lambda: flex.sort(LINE),
        lambda: flex.argsort(TABLE, axis=0),
        lambda: flex.exp(LINE) * LINE,
    ],
    ids=[
        "sum",
        "sum of columns",
        "mean of rows",
        "running sum",
        "matmul",
        "softmax of rows",
        "softmax",
        "sort",
        "argsort",
        "elementwise",
    ],
)
def test_bits_do_not_depend_on_threads(compute):
    with flex.threads(1):
        one = compute().numpy().tobytes()
    for n in (2, 3):
        with flex.threads(n):
            assert compute().numpy().tobytes() == one


FORK = """
import os, sys, flex

def work():
    x = flex.linspace(-1, 1, 1 << 20, dtype=flex.float32)
    return [flex.sum(flex.exp(x)).item(), (flex.reshape(x, (1024, 1024)) @ x[:1024]).numpy().tobytes(), flex.sort(-x)[:9].tolist()]

with flex.threads(2):
    before = work()
    child = os.fork()
    if child == 0:
        same = work() == before
        grandchild = os.fork()  # after the child's own work
        if grandchild == 0:
            os._exit(0 if work() == before else 1)
        os._exit(0 if same and os.waitpid(grandchild, 0)[1] == 0 else 1)
    assert work() == before
    assert os.waitpid(child, 0)[1] == 0
    assert work() == before
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_fork_after_parallel_work():
    # -W: from 3.12 on Python warns of forks in processes with threads
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
