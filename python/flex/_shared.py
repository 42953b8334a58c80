"""Models in other processes: what is sent is where a model's files lie, and each process loads them once."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

KEPT = 4  # models of a process; what has not been used for longest is dropped
SAMPLES, SAMPLE = 16, 4096  # of a file: as many pieces, of as many bytes

_models: OrderedDict[Hashable, Any] = OrderedDict()
_loading = threading.RLock()


class EngineError(RuntimeError):
    """What computes elsewhere failed, not the work."""


def once(key: Hashable, load: Callable[[], Any]) -> Any:
    """`load()`, by the first call in this process that has `key`. Threads wait for it; an error is not kept."""
    with _loading:
        if key not in _models:
            _models[key] = load()
        _models.move_to_end(key)
        while len(_models) > KEPT:
            _models.popitem(last=False)
        return _models[key]


def fingerprint(files: Sequence[str]) -> str:
    """A digest of the sizes of files and of pieces from all over them, which tells models apart without reading them whole."""
    import hashlib

    digest = hashlib.sha256()
    for path in files:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest.update(f"{os.path.basename(path)} {size} ".encode())
            last = max(size - SAMPLE, 0)
            for place in sorted({last * k // (SAMPLES - 1) for k in range(SAMPLES)}):
                file.seek(place)
                digest.update(file.read(SAMPLE))
    return digest.hexdigest()[:32]


class Source(NamedTuple):
    """The files of a model, what they held, and the function that loads it from them: all that another process needs."""

    load: Callable[..., Any]  # of a module or a class: it is pickled by name
    path: str  # its first argument
    options: tuple[tuple[str, Any], ...]
    files: tuple[str, ...]
    digest: str

    @classmethod
    def of(
        cls, load: Callable[..., Any], path: str, files: Sequence[str], **options: Any
    ) -> Source:
        """The source of files that are there."""
        absolute = tuple(map(os.path.abspath, files))
        return cls(
            load, os.path.abspath(path), tuple(options.items()), absolute, fingerprint(absolute)
        )

    def model(self) -> Any:
        """The model, which this process loads from its own files once, and again when they have changed. FileNotFoundError if one is
        missing, ValueError if they are not those of the process that sent this."""
        try:
            states = tuple((s.st_size, s.st_mtime_ns, s.st_ino) for s in map(os.stat, self.files))
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{error.filename} is missing here: a model is sent as the path of its files, which must exist wherever it is used"
            ) from None
        return once((self, states), self._load)

    def _load(self) -> Any:
        if fingerprint(self.files) != self.digest:
            raise ValueError(
                f"the model's files here differ from the sender's: {', '.join(self.files)}: copy them anew"
            )
        return self.load(self.path, **dict(self.options))
