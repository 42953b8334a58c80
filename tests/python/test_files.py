"""Files and the operating system: its errors, the replacement of files, and file objects."""

import errno
import io
import json
import os
import pickle
import re
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import zipfile

import numpy as np
import pytest

import flex

FORMATS = ["npy", "npz", "safetensors"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


def example(suffix, value=0.0):
    """A tensor or a dict of tensors, as the format holds it."""
    return flex.asarray([value]) if suffix == "npy" else {"x": flex.asarray([value])}


def value(loaded):
    return (loaded if isinstance(loaded, flex.Tensor) else loaded["x"]).item()


# ---- errors


@pytest.mark.parametrize("kind", [str, os.fsencode, lambda path: path])
@pytest.mark.parametrize("suffix", FORMATS)
def test_errors_match_open(tmp_path, suffix, kind):
    missing, folder, below = (
        tmp_path / f"none.{suffix}",
        tmp_path / f"folder.{suffix}",
        tmp_path / f"no/x.{suffix}",
    )
    folder.mkdir()
    calls = [
        (FileNotFoundError, errno.ENOENT, missing, flex.io.load),
        (IsADirectoryError, errno.EISDIR, folder, flex.io.load),
        (IsADirectoryError, errno.EISDIR, folder, lambda path: flex.io.save(path, example(suffix))),
        (FileNotFoundError, errno.ENOENT, below, lambda path: flex.io.save(path, example(suffix))),
    ]
    if suffix == "safetensors":
        calls.append((FileNotFoundError, errno.ENOENT, missing, flex.io.metadata))
    for error, code, path, call in calls:
        with pytest.raises(error) as caught:
            call(kind(path))
        assert (caught.value.errno, caught.value.strerror, caught.value.filename) == (
            code,
            os.strerror(code),
            str(path),
        )
    assert sorted(os.listdir(tmp_path)) == [folder.name]


@pytest.mark.parametrize("suffix", ["", ".gguf", ".d", *(f".{format}" for format in FORMATS)])
def test_a_folder_is_a_directory_error(tmp_path, suffix):
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    known = suffix[1:] in FORMATS
    calls = [flex.io.load, lambda path: flex.io.save(path, example(suffix[1:])), flex.quant.load]
    calls += [lambda path: flex.quant.save(path, {"x": flex.zeros(1)})]
    calls += [lambda path, f=f: flex.io.load(path, format=f) for f in FORMATS]
    calls += [lambda path, f=f: flex.io.save(path, example(f), format=f) for f in FORMATS]
    if suffix in ("", ".gguf", ".d", ".safetensors"):
        calls.append(flex.io.metadata)
    if not known:
        calls.append(flex.quant.load_gguf)
    for call in calls:
        with pytest.raises(IsADirectoryError) as caught:
            call(folder)
        assert (caught.value.errno, caught.value.filename) == (errno.EISDIR, str(folder))
    assert os.listdir(tmp_path) == [folder.name]


@pytest.mark.parametrize(
    ("suffix", "reader"),
    [
        (".gguf", "flex.quant.load_gguf"),
        (".GGUF", "flex.quant.load_gguf"),
        (".bin", "torch.load"),
        (".pt", "torch.load"),
        (".pth", "torch.load"),
        (".csv", "flex.io.loadtxt"),
        (".onnx", "onnx.load"),
        (".txet", "rename it, or pass format="),
    ],
)
def test_a_suffix_of_others_names_what_reads_it(tmp_path, suffix, reader):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"content")
    for call in (flex.io.load, flex.io.metadata):
        with pytest.raises(ValueError, match=re.escape(reader)):
            call(path)
    with pytest.raises(ValueError, match=r"npy") as caught:
        flex.io.save(path, {"x": flex.zeros(1)})
    assert "torch.load" not in str(caught.value)
    assert "load_gguf" not in str(caught.value)


def test_content_of_others_names_what_reads_it(tmp_path):
    with pytest.raises(ValueError, match=r"flex\.quant\.load_gguf"):
        flex.io.load(io.BytesIO(b"GGUF" + bytes(20)))
    checkpoint, archive = tmp_path / "x.npz", io.BytesIO()
    for file in (checkpoint, archive):
        with zipfile.ZipFile(file, "w") as written:
            written.writestr("archive/data.pkl", b"")
        if file is archive:
            file.seek(0)
        with pytest.raises(ValueError, match=r"no \.npy in the archive; .*torch\.load"):
            flex.io.load(file)
    np.savez(checkpoint)
    assert flex.io.load(checkpoint) == {}


# Root may read and write all, so it gives that up; what is imported later could lie where only root may read.
DENIED = """
import os, pathlib, sys, bz2, lzma, zipfile
import flex

folder, suffix = pathlib.Path(sys.argv[1]), sys.argv[2]
if os.geteuid() == 0:
    os.chown(folder, 65534, 65534)
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
path, x = folder / f"x.{suffix}", flex.zeros(1)
what = x if suffix == "npy" else {"x": x}
flex.io.save(path, what)

def denied(call):
    try:
        call()
    except PermissionError as error:
        assert error.filename == str(path), error.filename
    else:
        raise AssertionError("permitted")

path.chmod(0)
denied(lambda: flex.io.load(path))
denied(lambda: flex.io.load(path, mmap=False))
denied(lambda: flex.io.metadata(path, format="safetensors"))
denied(lambda: flex.quant.load_gguf(path))
folder.chmod(0o500)
denied(lambda: flex.io.save(path, what))
folder.chmod(0o700)
assert os.listdir(folder) == [path.name]
print("denied")
"""


@POSIX
@pytest.mark.parametrize("suffix", FORMATS)
def test_permission_errors(suffix):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, "-c", DENIED, folder, suffix],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (run.returncode, run.stdout) == (0, "denied\n"), run.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
@pytest.mark.parametrize("suffix", FORMATS)
def test_failed_writes_are_errors(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match=suffix) as caught:
        flex.io.save(path, example(suffix))
    assert caught.value.errno == errno.ENOSPC


@POSIX
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_failed_save_leaves_the_old_file(tmp_path, suffix):
    import resource

    path = tmp_path / f"x.{suffix}"
    flex.io.save(path, example(suffix, 7.0))
    tensors = flex.zeros(1 << 20) if suffix == "npy" else {"x": flex.zeros(1 << 20)}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(OSError, match=suffix) as caught:
            flex.io.save(path, tensors)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.errno == errno.EFBIG
    assert value(flex.io.load(path)) == 7.0
    assert os.listdir(tmp_path) == [path.name]


# ---- replacing


@POSIX
@pytest.mark.parametrize("suffix", FORMATS)
def test_links_are_followed_even_dangling(tmp_path, suffix):
    (tmp_path / "there").mkdir()
    target, link, first = tmp_path / "there" / "target", tmp_path / "link", tmp_path / f"x.{suffix}"
    link.symlink_to("there/target")
    first.symlink_to(link)
    for number in (1.0, 2.0):  # the target does not exist, then does
        flex.io.save(first, example(suffix, number))
        assert first.is_symlink()
        assert link.is_symlink()
        assert not target.is_symlink()
        assert value(flex.io.load(first)) == number
    assert os.listdir(tmp_path / "there") == ["target"]
    circle = tmp_path / f"circle.{suffix}"
    circle.symlink_to(circle)
    with pytest.raises(OSError, match="circle") as caught:
        flex.io.save(circle, example(suffix))
    assert caught.value.errno == errno.ELOOP


@POSIX
@pytest.mark.parametrize("mode", [0o600, None])
@pytest.mark.parametrize("suffix", FORMATS)
def test_temporaries_are_private(tmp_path, suffix, mode):
    path = tmp_path / f"x.{suffix}"
    if mode is not None:
        path.touch(mode)
    seen, stop = set(), threading.Event()

    def watch():
        while not stop.is_set():
            for entry in os.scandir(tmp_path):
                try:
                    about = entry.stat()
                except FileNotFoundError:
                    continue
                if entry.name != path.name and about.st_size > 0:
                    seen.add(stat.S_IMODE(about.st_mode))

    tensors = flex.ones(1 << 22) if suffix == "npy" else {"x": flex.ones(1 << 22)}
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for _ in range(50):
            flex.io.save(path, tensors)
            if seen:
                break
    finally:
        stop.set()
        watcher.join()
    assert seen <= {0o600, stat.S_IMODE(path.stat().st_mode)}  # the final mode once it is complete
    if mode is not None:
        assert stat.S_IMODE(path.stat().st_mode) == mode


KILLED = """
import os, sys, flex
path = sys.argv[1]
tensors = flex.zeros(20_000_000)
os.fork() or os.execvp("sh", ["sh", "-c", "sleep 0.03; kill -9 $PPID"])
while True:
    flex.io.save(path, tensors if path.endswith("npy") else {"x": tensors})
"""


@POSIX
@pytest.mark.parametrize("suffix", FORMATS)
def test_leftovers_of_a_killed_process_do_not_interfere(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    for number in range(30):  # names that a process with this id may have used
        (tmp_path / f".x.{suffix}.{os.getpid()}.{number}.part").touch()
    flex.io.save(path, example(suffix, 1.0))
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert value_or_zeros(flex.io.load(path)) in (0.0, 1.0)  # complete: the old file or a new one
    flex.io.save(path, example(suffix, 2.0))
    assert value(flex.io.load(path)) == 2.0


def value_or_zeros(loaded):
    return (loaded if isinstance(loaded, flex.Tensor) else loaded["x"])[0].item()


# ---- objects


@pytest.mark.parametrize("suffix", FORMATS)
def test_objects_in_memory(suffix):
    file = io.BytesIO(b"before")
    file.seek(6)
    flex.io.save(file, example(suffix, 3.0), format=suffix)
    if suffix != "npz":
        file.write(b"" if suffix == "safetensors" else b"after")
    file.seek(6)
    assert value(flex.io.load(file)) == 3.0
    if suffix == "npy":
        assert file.read() == b"after"


@pytest.mark.parametrize("suffix", FORMATS)
def test_open_files(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    with open(path, "wb", buffering=0) as file:
        flex.io.save(file, example(suffix, 4.0))  # the format by the name
    assert value(flex.io.load(path)) == 4.0
    for buffering in (0, -1):
        with open(path, "rb", buffering=buffering) as file:
            assert value(flex.io.load(file)) == 4.0
    anonymous = tmp_path / "anonymous"
    path.rename(anonymous)
    with open(anonymous, "rb") as file:
        assert value(flex.io.load(file)) == 4.0  # the format by the content
    assert value(flex.io.load(anonymous, format=suffix)) == 4.0
    with pytest.raises(ValueError, match=r"ends in none of .*pass format="):
        flex.io.load(anonymous)


def test_consecutive_npy_files_in_one_stream():
    file = io.BytesIO()
    np.save(file, np.arange(3))
    flex.io.save(file, [[1.5]])
    file.seek(0)
    assert (flex.io.load(file).tolist(), np.load(file).tolist()) == ([0, 1, 2], [[1.5]])


def test_large_objects(tmp_path):
    a = np.random.default_rng(0).standard_normal(1_000_003)
    for suffix in FORMATS:
        file = io.BytesIO()
        flex.io.save(file, a if suffix == "npy" else {"x": a}, format=suffix)
        (tmp_path / f"x.{suffix}").write_bytes(file.getvalue())
        loaded = flex.io.load(tmp_path / f"x.{suffix}")
        np.testing.assert_array_equal((loaded if suffix == "npy" else loaded["x"]).numpy(), a)
        file.seek(0)
        loaded = flex.io.load(file)
        np.testing.assert_array_equal((loaded if suffix == "npy" else loaded["x"]).numpy(), a)


class Odd(io.RawIOBase):
    """Raises, or returns an invalid value."""

    def __init__(self, gives):
        self.gives = gives

    def read(self, size=-1):
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives

    write = read


def test_objects_that_misbehave():
    for format in ("npy", "safetensors"):
        for gives, error in [
            ("text", TypeError),
            (None, TypeError),
            (b"x" * (2 << 20), ValueError),
            (KeyError("k"), KeyError),
            (b"", ValueError),
        ]:
            with pytest.raises(error):
                flex.io.load(Odd(gives), format=format)
        with pytest.raises(KeyError):
            flex.io.save(Odd(KeyError("k")), example(format), format=format)
    with pytest.raises(TypeError, match="binary"):
        flex.io.load(io.StringIO("abc"), format="npy")
    with pytest.raises(ValueError, match="pass format="):
        flex.io.load(Odd(b""))
    with pytest.raises(ValueError, match='format="safetensors" or format="npz"'):
        flex.io.save(io.BytesIO(), {"x": flex.zeros(1)})
    with pytest.raises(ValueError, match="none of"):
        flex.io.load(io.BytesIO(), format="hdf5")


@POSIX
@pytest.mark.parametrize("suffix", ["npy", "safetensors"])
def test_pipes_are_read_sequentially(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    a = np.arange(100_000.0)
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: flex.io.save(path, a if suffix == "npy" else {"x": a}))
    writer.start()
    loaded = flex.io.load(path)
    writer.join()
    np.testing.assert_array_equal((loaded if suffix == "npy" else loaded["x"]).numpy(), a)


# ---- unsupported dtypes


def test_an_unknown_dtype_leaves_other_tensors_readable(tmp_path):
    path = tmp_path / "x.safetensors"
    header = {
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "b": {"dtype": "F8_E8M0", "shape": [2, 2], "data_offsets": [8, 12]},
        "c": {"dtype": "F8_E8M0", "shape": [0], "data_offsets": [12, 12]},
    }
    raw = json.dumps(header).encode()
    path.write_bytes(
        struct.pack("<Q", len(raw)) + raw + np.array([1, 2], "<f4").tobytes() + bytes([1, 2, 3, 4])
    )
    for mmap in (True, False):
        tensors = flex.io.load(path, mmap=mmap)
        assert isinstance(tensors, dict)
        assert (list(tensors), tensors["a"].tolist()) == (["a"], [1.0, 2.0])
        with pytest.raises(flex.DTypeError, match=r"'b' is F8_E8M0.*others\['b'\]\.bytes"):
            tensors["b"]
        with pytest.raises(KeyError):
            tensors["d"]
        assert (tensors.get("b"), "b" in tensors) == (None, False)
        other = tensors.others["b"]
        assert (other.dtype, other.shape, other.bytes.tolist(), other.bytes.dtype) == (
            "F8_E8M0",
            (2, 2),
            [1, 2, 3, 4],
            flex.uint8,
        )
        assert tensors.others["c"].shape == (0,)
        again = pickle.loads(pickle.dumps(tensors))
        assert again.others["b"].bytes.tolist() == [1, 2, 3, 4]
