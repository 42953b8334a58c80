"""Texts from files, folders and standard input, for the command `flex-cpu`: lines, paragraphs or whole files."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STDIN = "-"
WAIT, INTERVAL = 0.3, 0.1  # seconds before reading is reported, and between reports


class Line(NamedTuple):
    """A text, and its location: the number of its first line."""

    source: str
    number: int
    text: str


def _lines(content: str) -> Iterator[tuple[int, str]]:
    # Only line ends end a line: str.splitlines would also take form feeds and Unicode's separators.
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return enumerate(lines, 1)


def _paragraphs(content: str) -> Iterator[tuple[int, str]]:
    """Runs of lines between blank ones."""
    run: list[str] = []
    number = 0
    for number, line in enumerate([*content.split("\n"), ""], 1):
        if line.strip():
            run.append(line)
        elif run:
            yield number - len(run), "\n".join(run)
            run = []


# What is one text of a file: a function from the content to texts and the numbers of their first lines.
UNITS: dict[str, Callable[[str], Iterator[tuple[int, str]]]] = {
    "line": _lines,
    "paragraph": _paragraphs,
    "file": lambda content: iter([(1, content)]),
}


class Reading:
    """Shows on standard error, if that is a terminal, how much has been read, when it takes long. It is erased at the end."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._next = time.monotonic() + WAIT
        self._files = self._bytes = 0
        self._width = 0

    def add(self, size: int) -> None:
        """Records a file of `size` bytes."""
        self._files += 1
        self._bytes += size
        if self._shown and time.monotonic() >= self._next:
            self._write(f"reading: {self._files} files, {self._bytes / 1e6:.1f} MB")
            self._next = time.monotonic() + INTERVAL

    def end(self) -> None:
        """Erases what is shown."""
        if self._width:
            self._write(" " * self._width + "\r")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text)
        sys.stderr.flush()
        self._width = len(text)  # it only grows


def read_texts(
    sources: Iterable[str], warn: Callable[[str], None], unit: str = "line"
) -> Iterator[Line]:
    """The texts of files, of all text files below folders, in the order of their names, and of standard input, which is `-`.

    What cannot be read is reported to `warn` and skipped. Bytes that are not UTF-8 are reported too and decoded as U+FFFD, so that no line
    of a readable file is missing.
    """
    reading = Reading()
    try:
        for name, data in _contents(sources, warn):
            reading.add(len(data))
            content = _decoded(name, data, warn).replace("\r\n", "\n")
            for number, text in UNITS[unit](content):
                yield Line(name, number, text)
    finally:
        reading.end()


def _contents(sources: Iterable[str], warn: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    for source in sources:
        if source == STDIN:
            yield "standard input", sys.stdin.buffer.read()
            continue
        listed = os.path.isdir(source)
        for name in _files_below(source, warn) if listed else [source]:
            try:
                data = Path(name).read_bytes()
            except OSError as error:
                warn(reason(error))
                continue
            if not (listed and b"\0" in data):  # in folders, binary files are skipped
                yield name, data


def reason(error: OSError) -> str:
    """The file and its error."""
    return (
        f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
    )


def _files_below(folder: str, warn: Callable[[str], None]) -> Iterator[str]:
    """The paths of regular files that are not hidden, in an order that depends only on names."""
    for place, folders, files in os.walk(folder, onerror=lambda error: warn(reason(error))):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(place, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield path


def _decoded(name: str, data: bytes, warn: Callable[[str], None]) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        first = data.count(b"\n", 0, error.start) + 1
        warn(
            f"{name}: line {first} is not UTF-8 text; what cannot be read of this file stands as U+FFFD"
        )
        return data.decode("utf-8-sig", errors="replace")
