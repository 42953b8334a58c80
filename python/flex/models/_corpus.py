"""Texts in tasks of about equal work, computed by an engine (`_engines.py`) and given back in order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ._engines import Engine

T = TypeVar("T")

BATCH = (
    32  # texts: `encode`'s default. A task has whole batches, so its vectors are those of `encode`.
)
TOKENS = 8192  # of a task: seconds of work for one thread, beside which milliseconds of an engine are nothing
BYTES = 1 << 20  # from which a task ends, whatever its tokens are
BYTES_PER_TOKEN = 4  # of UTF-8, about, in any language: texts are tokenised by the workers
SPECIAL = 2  # tokens at the ends of a text
AHEAD = 3  # tasks for each that runs: none waits for the next, and memory is bounded


def tasks(
    items: Iterable[T], text: Callable[[T], str], max_seq_length: int, batch_size: int = BATCH
) -> Iterator[list[T]]:
    """Consecutive items whose texts have about `TOKENS` tokens. The cuts depend on the texts alone."""
    task: list[T] = []
    tokens = size = 0
    for item in items:
        task.append(item)
        length = len(text(item).encode())
        tokens += min(SPECIAL + length // BYTES_PER_TOKEN, max_seq_length)
        size += length
        if (tokens >= TOKENS and len(task) % batch_size == 0) or size >= BYTES:
            yield task
            task, tokens, size = [], 0, 0
    if task:
        yield task


def encoded(
    engine: Engine, tasks: Iterable[list[T]], text: Callable[[T], str]
) -> Iterator[tuple[list[T], Any]]:
    """Each task with what the engine makes of it, its vectors or their checksum, in order, while the engine works on the next ones."""
    waiting: deque[tuple[list[T], Callable[[], Any]]] = deque()
    for task in tasks:
        waiting.append((task, engine.submit([text(item) for item in task])))
        if len(waiting) >= AHEAD * engine.slots:
            first, result = waiting.popleft()
            yield first, result()
    while waiting:
        first, result = waiting.popleft()
        yield first, result()
