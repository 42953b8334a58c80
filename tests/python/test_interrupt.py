"""Signals during one long operation: their handlers run between pieces of the work, and what they raise ends it."""

import pathlib
import subprocess
import sys

import pytest
from interrupted import OPERATIONS

PROGRAM = pathlib.Path(__file__).with_name("interrupted.py")


@pytest.mark.skipif(sys.platform == "win32", reason="sends itself a signal")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", OPERATIONS)
def test_signals_are_handled(name, threads):
    run = subprocess.run(
        [sys.executable, PROGRAM, name, str(threads)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
