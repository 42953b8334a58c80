"""The part of the command `flex-cpu` that turns texts into vectors: while they are read, in this process or by others."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing, contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import flex

from ._lines import STDIN, Line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Iterable, Iterator

    from flex import Tensor
    from flex.models import SentenceEncoder
    from flex.models._engines import Engine
    from flex.models._vectors import VectorFile

# Tasks for each process from which a pool is worth its start: each process loads and packs the model.
WORTH_A_POOL = 8


def note(message: str) -> None:
    """Says what is done, which is no failure."""
    print(f"flex-cpu: {message}", file=sys.stderr)


def text_of(line: Line) -> str:
    """The text alone."""
    return line.text


class Texts:
    """Lines that are taken one by one, counted."""

    def __init__(self, lines: Iterable[Line]):
        self._lines, self.count = iter(lines), 0

    def __iter__(self) -> Iterator[Line]:
        for line in self._lines:
            self.count += 1
            yield line


def embed(encoder: SentenceEncoder, lines: Texts, arguments: argparse.Namespace) -> None:
    """Writes a vector per text, to an npy file or as numbers on standard output."""
    from flex.models._corpus import tasks

    options = {"prompt": encoder._document_prompt(arguments.prompt_name) or ""}
    cut = tasks(lines, text_of, encoder.max_seq_length)
    if arguments.output is None:
        with closing(_vectors(encoder, options, cut, arguments, None, shown=False)) as found:
            for task, vectors in found:
                _print(task, vectors, as_json=arguments.json)
        return
    from flex.models._vectors import VectorFile

    about = {"model": encoder._digest, **options}
    file = VectorFile(arguments.output, encoder.dimension, about)
    try:
        remaining = file.remaining(cut, text_of)
        head = list(islice(remaining, 1))
        if file.rows:
            note(f"{file.rows} vectors are there from a run that stopped: continuing")
        shown = sys.stderr.isatty()
        rest = chain(head, remaining)
        with closing(_vectors(encoder, options, rest, arguments, file, shown=shown)) as found:
            for task, vectors in found:
                file.append([line.text for line in task], vectors)
        if lines.count or arguments.files == [STDIN]:
            file.finish()
    except BaseException as error:
        if file.rows:
            note(f"{file.rows} vectors are in {file.part}: the same command continues after them")
        elif isinstance(error, KeyboardInterrupt):
            note("interrupted before a vector was written")
        raise
    finally:
        file.close()


def _vectors(
    encoder: SentenceEncoder,
    options: dict[str, Any],
    cut: Iterator[list[Line]],
    arguments: argparse.Namespace,
    file: VectorFile | None,
    *,
    shown: bool,
) -> Generator[tuple[list[Line], Any]]:
    """Each task with its vectors, or the checksum of those that are in the file."""
    from flex.models._corpus import encoded
    from flex.models._progress import progress_bar

    processes = arguments.processes or flex.get_num_threads()
    head = list(islice(cut, WORTH_A_POOL * processes if arguments.processes is None else 1))
    if not head:
        return
    many = arguments.processes is not None or len(head) == WORTH_A_POOL * processes
    with (
        _engine(encoder, options, arguments.scheduler, processes if many else 1, file) as engine,
        progress_bar(None, "embedding", shown=shown and (many or len(head) > 1)) as advance,
    ):
        for task, vectors in encoded(engine, chain(head, cut), text_of):
            yield task, vectors
            advance(len(task))


@contextmanager
def _engine(
    encoder: SentenceEncoder,
    options: dict[str, Any],
    scheduler: str | None,
    processes: int,
    file: VectorFile | None,
) -> Iterator[Engine]:
    """What computes: the workers of a scheduler, a pool of processes, or this process."""
    from flex.models._engines import Cluster, Here, Pool, connect

    engine: Engine
    with ExitStack() as stack:
        if scheduler is not None:
            engine = Cluster(stack.enter_context(connect(scheduler)), encoder, options)
            note(f"{engine.slots} threads of workers of {scheduler}")
        elif processes > 1:
            engine = Pool(encoder, options, processes, file)
            note(f"{processes} processes of one thread each (--processes 1: this one alone)")
        else:
            engine = Here(encoder, options)
        stack.callback(engine.close)
        yield engine


def _print(task: Iterable[Line], vectors: Tensor, *, as_json: bool) -> None:
    for line, vector in zip(task, vectors.tolist(), strict=True):
        numbers = [f"{value:.9g}" for value in vector]
        print(line.as_json(vector=list(map(float, numbers))) if as_json else " ".join(numbers))
