"""Tensors in files: safetensors, npy and npz, chosen by the suffix."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flex import _flex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, BinaryIO

    from flex import Tensor

__all__ = ["load", "metadata", "save"]

_FORMATS = (".safetensors", ".npy", ".npz")


def load(path: str | os.PathLike[str], mmap: bool = True) -> Any:
    """The tensors of a file: a dict of them by name (.safetensors, .npz), or one (.npy).

    With `mmap`, the tensors of .safetensors and .npy lie in the mapped file, and are read when they are used. Whoever cuts such a file
    short meanwhile ends the process at the next read (replacing it, as `save` does, is safe): use `mmap=False` where that may happen.
    ValueError where the file is not what its format says, or has another suffix; OSError where it can't be read.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     flex.io.save(pathlib.Path(folder) / "x.npy", flex.asarray([1, 2]))
    ...     flex.io.load(pathlib.Path(folder) / "x.npy").tolist()
    [1, 2]
    """
    path, suffix = _format("load", path)
    os.stat(path)  # FileNotFoundError, where that is the case
    if suffix == ".safetensors":
        return _flex._io.load_safetensors(path, mmap)
    if suffix == ".npy":
        return _flex._io.load_npy(path, mmap)
    return _load_npz(path)


def save(path: str | os.PathLike[str], tensors: Any, metadata: Mapping[str, str] | None = None) -> None:
    """Writes tensors to a file: a mapping of them by name (.safetensors, .npz), or one (.npy). Arrays and lists are taken too.

    A file that is there is replaced as a whole, so it may be mapped, even by these very tensors; it keeps its permissions, and a link to it
    stays one. `metadata` is text for .safetensors.
    TypeError where the format wants a mapping and gets none; DTypeError where it hasn't the dtype; ValueError for another suffix; OSError
    where the file can't be written.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     flex.io.save(pathlib.Path(folder) / "model.safetensors", {"w": flex.asarray([1.0, 2.0])})
    ...     flex.io.load(pathlib.Path(folder) / "model.safetensors")["w"].tolist()
    [1.0, 2.0]
    """
    path, suffix = _format("save", path)
    if metadata is not None and suffix != ".safetensors":
        raise ValueError(f"save: a {suffix} file has no metadata; a .safetensors file has")
    if suffix == ".npy":
        _flex._io.save_npy(path, _flex.asarray(tensors))
        return
    if not hasattr(tensors, "items"):
        raise TypeError(f"save: a {suffix} file holds tensors by name: a dict is wanted, not {type(tensors).__name__}")
    if suffix == ".safetensors":
        _flex._io.save_safetensors(path, dict(tensors), dict(metadata or {}))
    else:
        _save_npz(path, tensors)


def metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The text that goes with the tensors of a .safetensors file. ValueError and OSError as `load`.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     flex.io.save(pathlib.Path(folder) / "model.safetensors", {}, {"format": "pt"})
    ...     flex.io.metadata(pathlib.Path(folder) / "model.safetensors")
    {'format': 'pt'}
    """
    path, suffix = _format("metadata", path)
    if suffix != ".safetensors":
        raise ValueError(f"metadata: a {suffix} file has none; a .safetensors file has")
    os.stat(path)
    return _flex._io.safetensors_metadata(path)


def _format(function: str, path: str | os.PathLike[str]) -> tuple[str, str]:
    path = os.fspath(path)
    if not isinstance(path, str):
        path = os.fsdecode(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in _FORMATS:
        raise ValueError(f"{function}: {path!r} ends in none of {', '.join(_FORMATS)}")
    return path, suffix


def _load_npz(path: str) -> dict[str, Tensor]:
    import zipfile

    try:
        with zipfile.ZipFile(path) as file:
            names = [name for name in file.namelist() if name.endswith(".npy")]
            return {name.removesuffix(".npy"): _flex._io.npy_from_bytes(file.read(name)) for name in names}
    except _zip_errors() as error:
        raise ValueError(f"{path}: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"{path}: {error}") from error  # bz2 has no error of its own for data that is damaged


def _zip_errors() -> tuple[type[Exception], ...]:
    """What zipfile and the decompressors raise for damaged data, and for what they can't read."""
    import zipfile
    import zlib

    errors = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
    try:
        from lzma import LZMAError
    except ImportError:  # a Python built without it: zipfile raises RuntimeError for such data
        return errors
    return (*errors, LZMAError)


def _save_npz(path: str, tensors: Mapping[str, Any]) -> None:
    import zipfile

    with _replacing(path) as beside, zipfile.ZipFile(beside, "w") as file:
        for key, value in tensors.items():
            if not isinstance(key, str):
                raise TypeError(f"save: the name {key!r} is no string")
            with file.open(f"{key}.npy", "w", force_zip64=True) as member:
                member.write(_flex._io.npy_bytes(_flex.asarray(value)))


@contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path`, and its permissions, once it is written: nobody ever sees a half of it.

    Devices and pipes are written themselves.
    """
    import stat

    target = os.path.realpath(path)  # a link stays, what it points to is replaced
    folder, name = os.path.split(target)
    try:
        about = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    else:
        mode = stat.S_IMODE(about)
        if not stat.S_ISREG(about):
            with open(target, "wb") as file:
                yield file
            return
    beside = os.path.join(folder, f".{name}.{os.urandom(8).hex()}")
    # Never more open than the target, not even before the umask's part is put back.
    created = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666 if mode is None else mode)
    try:
        with os.fdopen(created, "wb") as file:
            yield file
        if mode is not None:
            os.chmod(beside, mode)
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise
