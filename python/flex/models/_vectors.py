"""An npy file of vectors that grows while they are computed, and continues where an earlier run stopped."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedRandom, FileIO
from itertools import chain
from typing import TYPE_CHECKING, Any

import flex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flex import Tensor

HEADER = 128  # bytes: NumPy's own length, with room for any number of rows
FORMAT = 1  # of the journal


@dataclass(frozen=True)
class Rows:
    """Where the vectors of a task go. Any process that has the file may write them: they are not there until the journal has their
    checksum."""

    path: str
    named: str  # by the user
    offset: int

    def write(self, vectors: Tensor) -> int:
        """Their checksum. By a write and not a mapping, since of a full disk that is an error and no signal."""
        data = _elements(vectors)
        checksum = zlib.crc32(data)
        with _naming(self.named), FileIO(self.path, "r+") as file:
            file.seek(self.offset)
            while data:
                data = data[file.write(data) :]
        return checksum


class VectorFile:
    """Writes `x.npy` as `.x.npy.part`, which takes its place when it is complete, with a journal beside it of the tasks whose vectors are
    written: a line for each, with its number of texts and digests of texts and vectors, after one that says what they depend on.

    Nothing is synced until the end: a part of the file that did not reach the disk has another digest, and is computed again.
    """

    def __init__(self, path: str, dimension: int, about: dict[str, Any]):
        self._path, self._target = path, os.path.realpath(path)
        if os.path.lexists(self._target) and not os.path.isfile(self._target):
            raise OSError(f"{path} is not a file that can be replaced")
        folder, name = os.path.split(self._target)
        # hidden, so that they are no part of a corpus that lies in the same folder
        self.part = os.path.join(folder, f".{name}.part")
        self._log_path = os.path.join(folder, f".{name}.journal")
        self._row = 4 * dimension
        self._dimension = dimension
        self.rows = 0
        self._reserved = 0  # beyond them
        self._finished = False
        about = {"format": FORMAT, "dimension": dimension, "flex": flex.__version__, **about}
        with _naming(self._path):
            self._rows_file = FileIO(self.part, "r+", opener=_create)
            self._journal = BufferedRandom(FileIO(self._log_path, "r+", opener=_create))
            first, *lines = self._journal.read().split(b"\n")
            if self._depends_on(first) == about:
                self._done = lines[:-1]  # the last may be a part
                self._end = len(first) + 1
            else:
                self._done, self._end = [], 0
                self._log(json.dumps(about).encode())

    @staticmethod
    def _depends_on(line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError:
            return None

    def remaining(
        self, tasks: Iterable[list[Any]], text: Callable[[Any], str]
    ) -> Iterator[list[Any]]:
        """The tasks whose vectors are not there. It must be used up to the first before any is appended."""
        tasks = iter(tasks)
        for line in self._done:
            task = next(tasks, None)
            if task is None:
                return
            if not self._holds(line, [text(item) for item in task]):
                tasks = chain([task], tasks)
                break
            self._end += len(line) + 1
            self.rows += len(task)
        yield from tasks

    def _holds(self, line: bytes, texts: Sequence[str]) -> bool:
        self._rows_file.seek(HEADER + self.rows * self._row)
        rows = self._rows_file.read(len(texts) * self._row)
        return line == _entry(texts, zlib.crc32(rows))

    def reserve(self, count: int) -> Rows:
        """The place of the next task, of so many texts, for whoever computes it."""
        first = self.rows + self._reserved
        self._reserved += count
        return Rows(self.part, self._path, HEADER + first * self._row)

    def append(self, texts: Sequence[str], vectors: Tensor | int) -> None:
        """Writes the vectors of a task; or notes the checksum of those that were written to the first place reserved."""
        if isinstance(vectors, int):
            self._reserved -= len(texts)
            checksum = vectors
        else:
            place = HEADER + self.rows * self._row
            checksum = Rows(self.part, self._path, place).write(vectors)
        self._log(_entry(texts, checksum))
        self.rows += len(texts)

    def _log(self, line: bytes) -> None:
        with _naming(self._path):
            # what an earlier run wrote from here on is not of these texts
            self._journal.truncate(self._end)
            self._journal.seek(self._end)
            self._journal.write(line + b"\n")
            self._journal.flush()
        self._end += len(line) + 1

    def finish(self) -> None:
        """Puts the file in its place."""
        entries = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({self.rows}, {self._dimension}), }}"
        header = b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little")
        with _naming(self._path):
            self._rows_file.seek(0)
            self._rows_file.write(header + entries.ljust(HEADER - 11).encode("ascii") + b"\n")
            self._rows_file.truncate(HEADER + self.rows * self._row)
            os.fsync(self._rows_file.fileno())
            self._rows_file.close()  # Windows replaces no open file
            if os.path.exists(self._target):
                shutil.copymode(self._target, self.part)
            os.replace(self.part, self._target)
        self._finished = True
        self.close()
        os.unlink(self._log_path)

    def close(self) -> None:
        """Leaves what is there to the next run; nothing, if nothing was written."""
        if self._journal.closed:
            return
        with suppress(OSError):  # of what did not fit before: that has been reported
            self._journal.close()
        self._rows_file.close()
        if not (self.rows or self._done or self._finished):
            for path in (self.part, self._log_path):
                os.unlink(path)


def _create(path: str, flags: int) -> int:
    """Opens a file to read and write, with what is there."""
    return os.open(path, flags | os.O_CREAT, 0o666)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Errors of the system are of the file that the user named."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _elements(vectors: Tensor) -> memoryview:
    elements: Any = flex.astype(vectors, flex.float32, copy=False).contiguous()
    return memoryview(elements).cast("B")


def _entry(texts: Sequence[str], checksum: int) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return f"{len(texts)} {digest.hexdigest()} {checksum:08x}".encode()
