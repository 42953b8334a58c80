"""Allocations that the operating system refuses: a call gives its result or a MemoryError, and the process survives."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux's limit of the address space"
)

PROGRAM = """
import io, os, pickle, resource, sys, tempfile
import flex

def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

folder = tempfile.mkdtemp()
path = lambda suffix: os.path.join(folder, "x." + suffix)
n = 1_000_000
flex.set_num_threads(int(sys.argv[2]))
x, mask = flex.arange(n, dtype="float64"), flex.ones(n, dtype="bool")
matrix = flex.reshape(x, (1000, 1000))
numbers, flags = list(range(n)), [True] * n
counts = flex.full(n, 3, dtype="int64")
flex.io.save(path("npy"), x)
flex.io.save(path("npz"), {"x": x})
flex.io.save(path("safetensors"), {"x": x})
with open(path("safetensors"), "rb") as file:
    content = file.read()
with open(path("npy"), "wb") as file:
    file.write(b"\\x93NUMPY\\x02\\x00" + (1 << 31).to_bytes(4, "little"))
    file.truncate((1 << 31) + 100)

def refused_header():
    try:
        flex.io.load(path("npy"), mmap=False)
    except ValueError:
        return
    raise AssertionError

CALLS = {
    "tolist": x.tolist,
    "nested tolist": matrix.tolist,
    "asarray": lambda: flex.asarray(numbers),
    "asarray of bools, then a float": lambda: flex.asarray(flags[:200_000] + [0.5]),
    "repeat": lambda: flex.repeat(x, counts),
    "list": lambda: list(x[:200_000]),
    "unstack": lambda: flex.unstack(x),
    "bytes": lambda: bytes(x),
    "pickle": lambda: pickle.dumps(x, protocol=4),
    "pickle 5": lambda: pickle.dumps(x, protocol=5),
    "save npy": lambda: flex.io.save(path("saved.npy"), x),
    "save bools": lambda: flex.io.save(path("saved.npy"), mask),
    "save npz": lambda: flex.io.save(path("saved.npz"), {"x": x, "mask": mask}),
    "save strided npz": lambda: flex.io.save(path("saved.npz"), {"x": matrix.T}),
    "save safetensors": lambda: flex.io.save(path("saved.safetensors"), {"x": x, "mask": mask}),
    "save to memory": lambda: flex.io.save(io.BytesIO(), x),
    "load npz": lambda: flex.io.load(path("npz")),
    "load safetensors": lambda: flex.io.load(path("safetensors"), mmap=False),
    "load from memory": lambda: flex.io.load(io.BytesIO(content)),
    "a header of gigabytes": refused_header,
    "add": lambda: x + x,
    "sort": lambda: flex.sort(x),
    "nonzero": lambda: flex.nonzero(x),
    "matmul": lambda: matrix @ matrix,
}

call = CALLS[sys.argv[1]]
call()  # what is made once for all is there
flex.empty_cache()
# Objects of a fixed size have room, as ARCHITECTURE.md says of errors: the allocator asks for 132
# KiB at a time for them.
failed, room = 0, 1 << 18
while room < 1 << 30:
    flex.empty_cache()
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + room, resource.RLIM_INFINITY))
    try:
        result = call()
        done = True
    except MemoryError:
        done, failed = False, failed + 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    result = None
    if done:
        break
    room += max(room >> 3, 1 << 20)
left = [name for name in os.listdir(folder) if name.endswith(".part")]
assert not left, left
print("done" if done else "never done", failed)
"""

NAMES = [line.split('"')[1] for line in PROGRAM.splitlines() if line.startswith('    "')]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_memory_errors(name, threads):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, str(threads)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("done"), run.stdout
