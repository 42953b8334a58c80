"""Lines of text from files, folders and standard input, for the command `flex-cpu`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STDIN = "-"


class Line(NamedTuple):
    """A text and its location."""

    source: str
    number: int
    text: str


def read_lines(sources: Iterable[str], warn: Callable[[str], None]) -> Iterator[Line]:
    """The lines of files, of all text files below folders, in the order of their names, and of standard input, which is `-`.

    What cannot be read is reported to `warn` and skipped. Bytes that are not UTF-8 are reported too and decoded as U+FFFD, so that no line
    of a readable file is missing.
    """
    for source in sources:
        if source == STDIN:
            yield from _lines("standard input", sys.stdin.buffer.read(), warn)
            continue
        listed = os.path.isdir(source)
        for name in _files_below(source, warn) if listed else [source]:
            try:
                data = Path(name).read_bytes()
            except OSError as error:
                warn(reason(error))
                continue
            if not (listed and b"\0" in data):  # in folders, binary files are skipped
                yield from _lines(name, data, warn)


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


def _lines(name: str, data: bytes, warn: Callable[[str], None]) -> Iterator[Line]:
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        first = data.count(b"\n", 0, error.start) + 1
        warn(
            f"{name}: line {first} is not UTF-8 text; what cannot be read of this file stands as U+FFFD"
        )
        content = data.decode("utf-8-sig", errors="replace")
    # Only line ends end a line: str.splitlines would also take form feeds and Unicode's separators.
    lines = content.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, text in enumerate(lines, 1):
        yield Line(name, number, text)
