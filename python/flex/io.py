"""Tensors in files: safetensors, npy and npz, chosen by suffix or `format`; numbers as text by `loadtxt` and `savetxt`. Files are paths or
file objects open in binary mode.

`save` writes a temporary file next to the target, accessible to its owner only; once complete and synced to disk, it replaces the target
and takes its permissions. Whoever reads the old file, or has it mapped, never sees a part of the new one, and if saving fails the old file
stays and nothing else is left. Symbolic links are followed, also to targets that do not exist yet. Devices, pipes and file objects are
written directly.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from flex import _flex, _missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import BinaryIO, TypeAlias

    from flex import Tensor
    from flex._text import loadtxt as loadtxt
    from flex._text import savetxt as savetxt

    _File: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes] | BinaryIO

__all__ = ["Opaque", "Tensors", "load", "loadtxt", "metadata", "save", "savetxt"]

_FORMATS = ("safetensors", "npy", "npz")
_TORCH = "it may be a checkpoint of torch: torch.load reads it, and safetensors.torch.save_file writes what flex reads"
# Suffixes of files that flex.io does not read, and what does.
_READERS = {
    ".gguf": "flex.quant.load_gguf reads GGUF",
    **dict.fromkeys((".bin", ".ckpt", ".pt", ".pth"), _TORCH),
    **dict.fromkeys((".csv", ".tsv", ".txt"), "flex.io.loadtxt reads numbers as text"),
    **dict.fromkeys((".h5", ".hdf5"), "flex.asarray takes what h5py reads"),
    ".onnx": "flex.onnx.load reads ONNX models",
}


if not TYPE_CHECKING:  # for mypy a module with this function has every name

    def __getattr__(name: str) -> Any:
        if name not in ("loadtxt", "savetxt"):
            _missing.of_module(__name__)(name)
        from flex import _text

        return getattr(_text, name)


class Opaque(NamedTuple):
    """A tensor of a dtype that flex lacks, such as F8_E8M0: the format's name for the dtype, the shape, and the bytes as a uint8 tensor.

    >>> flex.io.Opaque("F8_E8M0", (2,), flex.asarray([56, 64], dtype="uint8")).dtype
    'F8_E8M0'
    """

    dtype: str
    shape: tuple[int, ...]
    bytes: Tensor


class Tensors(dict[str, Any]):
    """The tensors of a file by name. `others` holds those whose dtype flex lacks, as `Opaque`; looking one up here raises DTypeError.

    >>> tensors = flex.io.Tensors({"x": flex.zeros(2)})
    >>> list(tensors), tensors.others
    (['x'], {})
    """

    others: dict[str, Opaque]

    def __init__(
        self,
        tensors: Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] = (),
        others: Mapping[str, Opaque] | None = None,
    ) -> None:
        super().__init__(tensors)
        self.others = dict(others or {})

    def __missing__(self, name: str) -> Tensor:
        other = self.others.get(name)
        if other is None:
            raise KeyError(name)
        message = f"load: tensor {name!r} is {other.dtype}, for which flex has no dtype: others[{name!r}].bytes has its bytes as uint8"
        raise _flex.DTypeError(message)


def load(
    file: _File, mmap: bool = True, *, format: str | None = None, max_bytes: int | None = None
) -> Any:
    """The tensors of a file: `Tensors`, a dict by name (.safetensors, .npz), or a single tensor (.npy).

    The format is `format` ("safetensors", "npy" or "npz"); by default it follows from the suffix, or from an object's content.
    With `mmap`, the tensors of .safetensors and .npy files are views of the mapped file, whose pages are read on first use. Nobody may
    write to such a file in place meanwhile, and truncating it kills the process at the next read (replacing it, as `save` does, is safe):
    use `mmap=False` if that may happen.
    Objects are read from their current position, .npy to the end of the array, .safetensors to the end of the file.
    max_bytes: the limit on the unpacked size of an .npz, which may be compressed a thousandfold; by default the machine's memory. It is
    checked before anything is unpacked, and each array against its header.
    ValueError if the file does not conform to its format, or the format is unknown; OSError, with errno and the file's name, if it
    cannot be read, such as IsADirectoryError; MemoryError if an .npz would unpack to more than the machine's memory.

    >>> import io
    >>> file = io.BytesIO()
    >>> flex.io.save(file, flex.asarray([1, 2]))
    >>> _ = file.seek(0)
    >>> flex.io.load(file).tolist()
    [1, 2]
    """
    source, format = _opened("load", file, format, "read")
    if format is None:
        format = _content("load", source)
    if format == "safetensors":
        tensors, others = _flex._io.load_safetensors(source, mmap)
        return Tensors(tensors, {name: Opaque(*other) for name, other in others.items()})
    if format == "npy":
        return _flex._io.load_npy(source, mmap)
    return _load_npz(source, max_bytes)


def save(
    file: _File,
    tensors: Any,
    metadata: Mapping[str, str] | None = None,
    *,
    format: str | None = None,
) -> None:
    """Writes tensors to a file: a mapping by name (.safetensors, .npz), or a single tensor (.npy). Arrays and lists are accepted too.

    The format is `format` ("safetensors", "npy" or "npz"); by default it follows from the suffix. To an object without a name, a single
    tensor is written as npy.
    An existing file is replaced as a whole, so it may be mapped, even by these very tensors; it keeps its permissions, and a symbolic link
    to it stays a link. `metadata` is text for .safetensors.
    TypeError if the format needs a mapping and gets none; DTypeError if it lacks the dtype; ValueError if the format is unknown;
    OSError, with errno and the file's name, if the file cannot be written.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     flex.io.save(pathlib.Path(folder) / "model.safetensors", {"w": flex.asarray([1.0, 2.0])})
    ...     flex.io.load(pathlib.Path(folder) / "model.safetensors")["w"].tolist()
    [1.0, 2.0]
    """
    target, format = _opened("save", file, format, "write")
    if format is None:
        if hasattr(tensors, "items"):
            raise ValueError(
                'save: several tensors, and no suffix that names a format: pass format="safetensors" or format="npz"'
            )
        format = "npy"
    if metadata is not None and format != "safetensors":
        raise ValueError(f"save: a .{format} file has no metadata; a .safetensors file has")
    if format == "npy":
        _flex._io.save_npy(target, _flex.asarray(tensors))
        return
    if not hasattr(tensors, "items"):
        raise TypeError(
            f"save: a .{format} file holds tensors by name: expected a dict, got {type(tensors).__name__}"
        )
    if format == "safetensors":
        _flex._io.save_safetensors(target, dict(tensors), dict(metadata or {}))
    elif isinstance(target, str):
        with _flex._io.Replacement(target) as replacement:
            _save_npz(replacement, tensors)
    else:
        _save_npz(target, tensors)


def metadata(file: _File, *, format: str | None = None) -> dict[str, str]:
    """The text metadata of a .safetensors file. ValueError and OSError as for `load`.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     flex.io.save(pathlib.Path(folder) / "model.safetensors", {}, {"format": "pt"})
    ...     flex.io.metadata(pathlib.Path(folder) / "model.safetensors")
    {'format': 'pt'}
    """
    file, format = _opened("metadata", file, format, "read")
    if format not in ("safetensors", None):
        raise ValueError(f"metadata: a .{format} file has none; a .safetensors file has")
    return _flex._io.safetensors_metadata(file)


def _opened(function: str, file: Any, format: str | None, method: str) -> tuple[Any, str | None]:
    """A path as text, or an object with that method; and the format, if the caller or the suffix gives it."""
    if format is not None and format not in _FORMATS:
        raise ValueError(f"{function}: format {format!r} is none of {', '.join(_FORMATS)}")
    is_object = hasattr(file, method)
    path: Any = getattr(file, "name", None) if is_object else os.fsdecode(file)
    suffix = os.path.splitext(path)[1].lower() if isinstance(path, str) else ""
    if format is None and suffix[1:] in _FORMATS:
        format = suffix[1:]
    if format is None and not is_object:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        suffixes = ", ".join(f".{f}" for f in _FORMATS)
        reader = other_reader(path) if method == "read" else None
        raise ValueError(
            f"{function}: {path!r} ends in none of {suffixes}: {reader or 'rename it, or pass format='}"
        )
    return file if is_object else path, format


def other_reader(path: Any) -> str | None:
    """What reads a file of this suffix, if flex.io does not."""
    return _READERS.get(os.path.splitext(os.fsdecode(path))[1].lower())


def _content(function: str, file: BinaryIO) -> str:
    """The format of the data that an object is about to read."""
    if not file.seekable():
        raise ValueError(
            f"{function}: the format of what {type(file).__name__} reads can't be looked up: pass format="
        )
    start = file.tell()
    head = file.read(6)
    file.seek(start)
    if head == b"\x93NUMPY":
        return "npy"
    if head[:4] == b"GGUF":
        raise ValueError(f"{function}: it begins as GGUF does: {_READERS['.gguf']}")
    return "npz" if head[:4] in (b"PK\x03\x04", b"PK\x05\x06") else "safetensors"


def _load_npz(file: Any, max_bytes: int | None) -> Tensors:
    import zipfile

    name = file if isinstance(file, str) else getattr(file, "name", "npz")
    try:
        with zipfile.ZipFile(file) as archive:
            return Tensors(_members(archive, name, max_bytes))
    except _zip_errors() as error:
        raise ValueError(f"{name}: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(
            f"{name}: {error}"
        ) from error  # bz2 raises a plain OSError for damaged data


def _members(archive: Any, name: str, max_bytes: int | None) -> Iterator[tuple[str, Tensor]]:
    """The arrays of an archive: their total size is checked first, and none unpacks to more than its stated size."""
    listed = archive.infolist()
    members = [member for member in listed if member.filename.endswith(".npy")]
    if listed and not members:
        pickled = any(member.filename.endswith("data.pkl") for member in listed)
        raise ValueError(f"{name}: no .npy in the archive" + (f"; {_TORCH}" if pickled else ""))
    if len({member.filename for member in members}) != len(members):
        raise ValueError(f"{name}: two arrays have one name")
    total = sum(member.file_size for member in members)
    if max_bytes is not None and total > max_bytes:
        raise ValueError(f"{name}: it unpacks to {total} bytes, more than max_bytes={max_bytes}")
    limit = _flex.memory_stats()["limit"]  # None where unknown
    if limit is not None and total > limit:
        raise MemoryError(f"{name}: it unpacks to {total} bytes, the machine has {limit}")
    for member in members:
        with archive.open(member) as content:
            tensor = _flex._io.read_npy_member(
                content, f"{name}: {member.filename}", member.file_size
            )
        yield member.filename.removesuffix(".npy"), tensor


def _zip_errors() -> tuple[type[Exception], ...]:
    """The errors that zipfile and the decompressors raise for damaged or unsupported data."""
    import zipfile
    import zlib

    errors: list[type[Exception]] = [
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ]
    # without these modules, zipfile raises a RuntimeError or NotImplementedError for such data
    try:
        from lzma import LZMAError
    except ImportError:
        pass
    else:
        errors.append(LZMAError)
    try:
        from compression.zstd import ZstdError  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        pass
    else:
        errors.append(ZstdError)
    return tuple(errors)


def _save_npz(file: Any, tensors: Mapping[str, Any]) -> None:
    import zipfile

    with zipfile.ZipFile(file, "w") as archive:
        for key, value in tensors.items():
            if not isinstance(key, str):
                raise TypeError(f"save: the name {key!r} is not a string")
            tensor = _flex.asarray(value)
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                _flex._io.save_npy(member, tensor)
