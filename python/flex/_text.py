"""Tensors as text: `flex.io.loadtxt` and `savetxt`, imported when first used."""

from __future__ import annotations

import os
from array import array
from contextlib import nullcontext
from io import TextIOBase
from itertools import islice
from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import IO

    from flex._flex import DType, Tensor, _DType, _Nested

    _Text = str | os.PathLike[str] | Iterable[str] | Iterable[bytes]


class _Numbers:
    """The numbers of rows of text, of a dtype."""

    def __init__(self, dtype: DType):
        self.dtype = dtype
        self.low, self.high = -fx.inf, fx.inf
        self._parse: Any = float
        self._read = fx.float64
        if fx.isdtype(dtype, "complex floating"):
            self._parse, self._read = complex, fx.complex128
        elif not fx.isdtype(dtype, "real floating"):
            self._parse, self._read = int, fx.uint64 if dtype == fx.uint64 else fx.int64
            info = fx.iinfo(self._read if dtype == fx.bool else dtype)
            self.low, self.high = info.min, info.max
        self._found: Any = array("d" if self._parse is not int else "qQ"[dtype == fx.uint64])

    def _values(self, fields: list[str]) -> list[Any]:
        """ValueError if a field is no number of the dtype."""
        text = "".join(fields)
        if "_" in text or not text.isascii():  # Python has numbers of these
            raise ValueError
        values = list(map(self._parse, fields))
        if self._parse is int and not all(self.low <= value <= self.high for value in values):
            raise ValueError
        return values

    def append(self, line: int, fields: list[str]) -> None:
        try:
            values = self._values(fields)
        except ValueError:
            for field in fields:
                try:
                    self._values([field])
                except ValueError:
                    message = f"line {line}: {field.strip()!r} is no number of {self.dtype}"
                    raise ValueError(f"loadtxt: {message}") from None
            raise
        if self._parse is complex:
            values = [part for value in values for part in (value.real, value.imag)]
        self._found.extend(values)

    def tensor(self) -> Tensor:
        if not self._found:
            return fx.empty(0, dtype=self.dtype)
        return fx.frombuffer(self._found, dtype=self._read).astype(self.dtype, copy=True)


def _opened(fname: Any, encoding: str) -> AbstractContextManager[Any]:
    if isinstance(fname, (str, os.PathLike)):
        return open(fname, encoding=encoding)
    if isinstance(fname, (bytes, bytearray)) or not hasattr(fname, "__iter__"):
        kind = type(fname).__name__
        raise TypeError(f"loadtxt: fname is a path, a file or lines of text, not {kind}")
    return nullcontext(fname)


def _rows(
    lines: Iterator[str], comments: tuple[str, ...], delimiter: str | None
) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that has some, with its number, from 1 on."""
    for number, line in enumerate(lines, 1):
        for mark in comments:
            line = line.partition(mark)[0]
        line = line.strip(None if delimiter is None else "\r\n")
        if line.strip():
            yield number, line.split(delimiter)


def loadtxt(
    fname: _Text,
    dtype: _DType | None = None,
    comments: str | Sequence[str] | None = "#",
    delimiter: str | None = None,
    *,
    skiprows: int = 0,
    usecols: int | Sequence[int] | None = None,
    unpack: bool = False,
    ndmin: int = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
) -> Tensor:
    """The numbers in a text, one row a line: numpy.loadtxt for numbers alone, with its arguments.

    fname: a path, a file open for reading, or lines. dtype: float32 by default; integers must be written as such. comments: what begins a
    comment, which ends with its line, or several of those, or None. delimiter: between numbers, by default any whitespace. skiprows:
    lines to leave out first. usecols: the columns to read, negative ones from the last. max_rows: how many rows at most. encoding: utf-8
    by default. The result has two dimensions, of which those of size 1 are dropped down to ndmin, 0 to 2; a text without numbers gives no
    elements. unpack: transposed, one row a column of the text.
    ValueError, with the number of the line, for what is no number of the dtype, out of its range, and for rows of different lengths;
    OSError if the file cannot be read.

    >>> flex.io.loadtxt(["# time  value", "0.5  1", "1.5  2"]).tolist()
    [[0.5, 1.0], [1.5, 2.0]]
    >>> flex.io.loadtxt(["a,b", "1,2", "3,4"], dtype="int64", delimiter=",", skiprows=1, usecols=1).tolist()
    [2, 4]
    """
    dtype = fx.empty(0, dtype=fx.get_default_dtype() if dtype is None else dtype).dtype
    if ndmin not in (0, 1, 2):
        raise ValueError(f"loadtxt: ndmin is {ndmin}; it is 0, 1 or 2")
    if delimiter == "":
        raise ValueError("loadtxt: the delimiter is empty; None stands for whitespace")
    marks = (comments,) if isinstance(comments, str) else tuple(comments or ())
    columns = None if usecols is None else [usecols] if isinstance(usecols, int) else list(usecols)
    numbers, rows, width = _Numbers(dtype), 0, 0
    encoding = encoding or "utf-8"
    with _opened(fname, encoding) as file:
        lines = (x.decode(encoding) if isinstance(x, bytes) else x for x in file)
        skipped = sum(1 for _ in islice(lines, skiprows))
        for number, fields in islice(_rows(lines, marks, delimiter), max_rows):
            line = number + skipped
            if columns is not None:
                try:
                    fields = [fields[k] for k in columns]
                except IndexError:
                    found = f"{len(fields)} columns, and usecols={usecols}"
                    raise ValueError(f"loadtxt: line {line} has {found}") from None
            if rows and len(fields) != width:
                counts = f"{len(fields)} columns, those before {width}"
                raise ValueError(f"loadtxt: line {line} has {counts}; usecols chooses some of them")
            rows, width = rows + 1, len(fields)
            numbers.append(line, fields)
    return _shaped(numbers.tensor(), rows, width, unpack, ndmin)


def _shaped(x: Tensor, rows: int, width: int, unpack: bool, ndmin: int) -> Tensor:
    """As NumPy has it: two dimensions, of which those of size 1 are dropped down to `ndmin`."""
    x = fx.reshape(x, (rows, width) if rows else (0, 1) if ndmin == 2 else (0,))
    if ndmin < 2 and 1 in x.shape:
        kept = tuple(n for n in x.shape if n != 1)
        return fx.reshape(x, kept or (1,) * ndmin)
    return x.T.copy() if unpack and x.ndim == 2 else x


def savetxt(
    fname: str | os.PathLike[str] | IO[Any],
    X: _Nested,
    fmt: str | Sequence[str] = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
    encoding: str | None = None,
) -> None:
    """Writes numbers as text, one row a line: numpy.savetxt, with its arguments.

    fname: a path, whose file is replaced as a whole, or a file open for writing text or bytes. X: one dimension, a number a line, or two
    (ShapeError). fmt: the format of a number as of Python's `%`, one for each column, or that of a line with all columns; a single one
    for complex numbers is that of both parts. header, footer: lines to put around, each after `comments`. encoding: utf-8 by default.
    ValueError if fmt does not have as many formats as there are columns; OSError if the file cannot be written.

    >>> import io
    >>> file = io.StringIO()
    >>> flex.io.savetxt(file, [[1, 2], [3, 4]], "%d", ",", header="a,b", comments="")
    >>> file.getvalue()
    'a,b\\n1,2\\n3,4\\n'
    """
    x = tensor(X)
    if x.ndim not in (1, 2):
        raise fx.ShapeError(f"savetxt: X has one or two dimensions, got shape {list(x.shape)}")
    rows = fx.reshape(x, (-1, 1)) if x.ndim == 1 else x
    parts = fx.isdtype(x.dtype, "complex floating")
    line = _line(fmt, delimiter, rows.shape[1], parts)

    def text() -> Iterator[str]:
        if header:
            yield comments + header.replace("\n", "\n" + comments) + newline
        for row in (rows[k] for k in range(rows.shape[0])):
            values = row.tolist()
            if parts:
                values = [part for value in values for part in (value.real, value.imag)]
            yield (line % tuple(values)).replace("+-", "-" if parts else "+-") + newline
        if footer:
            yield comments + footer.replace("\n", "\n" + comments) + newline

    encoding = encoding or "utf-8"
    if hasattr(fname, "write"):
        write: Any = fname.write
        is_text = isinstance(fname, TextIOBase) or hasattr(fname, "encoding")
        for part in text():
            write(part if is_text else part.encode(encoding))
        return
    with fx._io.Replacement(os.fspath(fname)) as replacement:
        for part in text():
            replacement.write(part.encode(encoding))


def _line(fmt: str | Sequence[str], delimiter: str, columns: int, parts: bool) -> str:
    """The format of a line."""
    numbers = columns * (1 + parts)
    if not isinstance(fmt, str):
        if len(fmt) != columns:
            raise ValueError(f"savetxt: fmt has {len(fmt)} formats, and X {columns} columns")
        return delimiter.join(fmt)
    count = fmt.replace("%%", "").count("%")
    if count == 1 and parts:
        return delimiter.join([f" ({fmt}+{fmt}j)"] * columns)
    if count == 1:
        return delimiter.join([fmt] * columns)
    if count != numbers:
        raise ValueError(f"savetxt: fmt {fmt!r} has {count} formats, and a row {numbers} numbers")
    return fmt
