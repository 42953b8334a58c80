"""Texts from files, folders and standard input, for the command `flex-cpu`: lines, paragraphs or whole files."""

from __future__ import annotations

import json
import os
import sys
import time
from io import BufferedReader, FileIO
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

STDIN = "-"
BUFFER = 1 << 20  # bytes
WAIT, INTERVAL = 0.3, 0.1  # seconds before reading is reported, and between reports


class Line(NamedTuple):
    """A text, and its location: the number of its first line."""

    source: str
    number: int
    text: str

    def as_json(self, **more: object) -> str:
        """A JSON object on one line."""
        return json.dumps({"file": self.source, "line": self.number, "text": self.text, **more})


def _each(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    return ((number, line.removesuffix("\n")) for number, line in lines)


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Runs of lines between blank ones."""
    run: list[str] = []
    number = 0
    for number, line in lines:
        if line.strip():
            run.append(line)
        elif run:
            yield number - len(run), "".join(run).removesuffix("\n")
            run = []
    if run:
        yield number + 1 - len(run), "".join(run).removesuffix("\n")


def _file(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """All lines."""
    yield 1, "".join(line for _, line in lines)


# What is one text of a file: a function from its numbered lines to texts and the numbers of their first lines.
UNITS: dict[str, Callable[[Iterable[tuple[int, str]]], Iterator[tuple[int, str]]]] = {
    "line": _each,
    "paragraph": _paragraphs,
    "file": _file,
}


class Reading:
    """Shows on standard error, if that is a terminal, how much has been read, when it takes long. It is erased at the end."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown and sys.stderr.isatty()
        self._next = time.monotonic() + WAIT
        self._files = self._bytes = 0
        self._width = 0

    def begin(self) -> None:
        """Records a file."""
        self._files += 1

    def add(self, size: int) -> None:
        """Records that `size` bytes of it were read."""
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
    sources: Iterable[str],
    warn: Callable[[str], None],
    unit: str = "line",
    binary: list[str] | None = None,
    *,
    shown: bool = True,
) -> Iterator[Line]:
    """The texts of files, of all text files below folders, in the order of their names, and of standard input, which is `-`. Files are read
    line by line as the texts are taken; with `shown`, what has been read is.

    What cannot be read is reported to `warn` and skipped. Bytes that are not UTF-8 are reported too and decoded as U+FFFD, so that no line
    of a readable file is missing. Files in folders whose first megabyte has a NUL are skipped, and added to `binary`.
    """
    reading = Reading(shown=shown)
    try:
        for name, file in _opened(sources, warn, [] if binary is None else binary):
            reading.begin()
            try:
                for number, text in UNITS[unit](_lines(name, file, warn, reading)):
                    yield Line(name, number, text)
            except OSError as error:
                warn(f"{name}: {error.strerror}")
    finally:
        reading.end()


def _opened(
    sources: Iterable[str], warn: Callable[[str], None], binary: list[str]
) -> Iterator[tuple[str, BinaryIO]]:
    for source in sources:
        if source == STDIN:
            yield "standard input", sys.stdin.buffer
            continue
        listed = os.path.isdir(source)
        for name in _files_below(source, warn) if listed else [source]:
            try:
                file = BufferedReader(FileIO(name), BUFFER)
            except OSError as error:
                warn(reason(error))
                continue
            with file:
                try:
                    if listed and b"\0" in file.peek(BUFFER):
                        binary.append(name)
                        continue
                except OSError as error:
                    warn(f"{name}: {error.strerror}")
                    continue
                yield name, file


def _lines(
    name: str, file: BinaryIO, warn: Callable[[str], None], reading: Reading
) -> Iterator[tuple[int, str]]:
    """The lines of a file, numbered, each with its end, as a newline. Nothing else ends one: str.splitlines would also take form feeds and
    Unicode's separators."""
    encoding, bad = "utf-8-sig", False
    for number, data in enumerate(file, 1):
        reading.add(len(data))
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            text = data.decode(encoding, errors="replace")
            if not bad:
                bad = True
                warn(
                    f"{name}: line {number} is not UTF-8 text; what cannot be read of this file stands as U+FFFD"
                )
        encoding = "utf-8"
        yield number, f"{text[:-2]}\n" if text.endswith("\r\n") else text


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
