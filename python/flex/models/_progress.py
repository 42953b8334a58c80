"""A progress bar: tqdm's if it is installed, else our own."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

WIDTH = 30  # characters of the bar
INTERVAL = 0.1  # seconds between updates


@contextmanager
def progress_bar(
    total: int | None, label: str, *, shown: bool
) -> Iterator[Callable[[int], object]]:
    """Yields a function that is called with the number of further items done, of `total`, or of a number that is not known.

    with progress_bar(len(items), "embedding", shown=True) as advance:
        for item in items:
            work(item)
            advance(1)
    """
    if not shown:
        yield lambda count: None
        return
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        with ProgressBar(total, label) as bar:
            yield bar.advance
    else:
        with tqdm(total=total, desc=label) as bar:
            yield bar.update


class ProgressBar:
    """Shows how much of `total` is done on standard error, only if that is a terminal.

    with ProgressBar(len(items), "embedding") as bar:
        for item in items:
            work(item)
            bar.advance(1)
    """

    def __init__(self, total: int | None, label: str, stream: TextIO | None = None):
        self._total, self._label, self._done = total, label, 0
        self._stream = sys.stderr if stream is None else stream
        self._shown = total != 0 and self._stream.isatty()
        self._start, self._next = time.monotonic(), 0.0

    def advance(self, count: int) -> None:
        """Records that `count` more are done."""
        self._done += count
        now = time.monotonic()
        if self._shown and (now >= self._next or self._done == self._total):
            self._next = now + INTERVAL
            rate = self._done / max(now - self._start, 1e-9)
            self._stream.write(f"\r{self._label} {self._count()} {rate:.0f}/s ")
            self._stream.flush()

    def _count(self) -> str:
        if self._total is None:
            return str(self._done)
        filled = WIDTH * self._done // self._total
        bar = "#" * filled + "-" * (WIDTH - filled)
        return f"[{bar}] {self._done}/{self._total}"

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._stream.write("\n")
            self._stream.flush()
