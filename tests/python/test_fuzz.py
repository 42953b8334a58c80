"""Short runs of the fuzzers with fixed seeds. `make fuzz` runs them with new seeds, for any length of time."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import graphs
import pytest

HERE = Path(__file__).parent
GUARDED = pytest.mark.skipif(os.name != "posix", reason="needs mprotect for guard pages")


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        pytest.param("programs", 150, marks=GUARDED),
        ("files", 300),
        ("graphs", 60),
        ("onnx_files", 400),
    ],
)
def test_random_cases(kind, count):
    command = [sys.executable, HERE / "fuzz.py", kind, "--count", str(count)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout[-6000:]


@pytest.mark.parametrize("kind", dict.fromkeys(graphs.KINDS), ids=lambda kind: kind.__name__)
def test_each_kind_of_node_is_compared(kind):
    assert sum(graphs.run(seed, [kind]) for seed in range(5)) > 0


@GUARDED
@pytest.mark.parametrize(("at_end", "index"), [(True, 5), (False, -1)])
def test_access_out_of_bounds_crashes(at_end, index):
    program = f"""if True:
        import ctypes, guarded
        memory = guarded.guarded(5, {at_end})
        memory[:] = 7
        print(memory.sum(), flush=True)
        ctypes.c_uint8.from_address(memory.ctypes.data + {index}).value
    """
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=HERE
    )
    assert result.returncode in (-signal.SIGSEGV, -signal.SIGBUS), result.stderr
    assert result.stdout == "35\n"
