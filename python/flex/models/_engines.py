"""What computes the vectors of tasks: this process, a pool of processes, or the workers of dask.distributed."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import TYPE_CHECKING, Any, Protocol

import flex
from flex._shared import EngineError

from ._vectors import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from distributed import Client

    from flex import Tensor

    from ._vectors import VectorFile
    from .sentence import SentenceEncoder

DEATHS = 3  # of a pool, without a result between them
LISTEN = 0.2  # seconds after which a wait for a result looks for signals
CONNECT = 10.0  # seconds
WAIT = 60.0  # seconds for all workers to load the model


class Engine(Protocol):
    """Computes tasks."""

    slots: int  # tasks that run at a time

    def submit(self, texts: list[str]) -> Callable[[], Tensor | int]:
        """Begins a task; the result waits for its vectors, or for the checksum of those that the engine has written to its file."""
        ...

    def close(self) -> None:
        """Gives up what is not finished."""
        ...


class Here:
    """This process, with all threads for one task."""

    slots = 1

    def __init__(self, encoder: SentenceEncoder, options: dict[str, Any]):
        self._encode = partial(encoder.encode, **options)

    def submit(self, texts: list[str]) -> Callable[[], Tensor]:
        return partial(self._encode, texts)

    def close(self) -> None:
        pass


def encode(
    encoder: Any,
    texts: list[str],
    options: dict[str, Any],
    threads: int | None = None,
    rows: Rows | None = None,
) -> Tensor | int:
    """The vectors of a task, in a process that computes others beside it: by one thread, unless `threads` or FLEX_NUM_THREADS says how
    many. `encoder` is one, or has it loaded. Where they are to be written, the result is their checksum."""
    # the tokenizer's threads would compete with those of other tasks
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if callable(encoder):
        encoder = encoder()
    if threads is None:
        threads = flex.get_num_threads() if os.environ.get("FLEX_NUM_THREADS") else 1
    with flex.threads(threads):
        vectors: Tensor = encoder.encode(texts, **options)
    if rows is None:
        return vectors
    parent = parent_process()
    if parent is not None and not parent.is_alive():
        os._exit(1)  # the file may be another run's by now
    return rows.write(vectors)


class Pool:
    """Processes of this machine, each with one thread; those that die are replaced, and their tasks repeated. They write the vectors into
    the file themselves, without one each task into a temporary file of its own: of what is longer than a pipe takes at once, a process that
    is killed may have sent a part, for whose rest Python waits forever."""

    def __init__(
        self,
        encoder: SentenceEncoder,
        options: dict[str, Any],
        processes: int,
        file: VectorFile | None = None,
    ):
        self.slots = processes
        self._file = file
        self._folder = None if file is not None else TemporaryDirectory(prefix="flex-")
        self._dimension = encoder.dimension
        self._call = partial(encode, encoder._recipe(), options=options, threads=1)
        self._tasks: list[_PoolTask] = []
        self._deaths = 0
        self._executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.slots, get_context("spawn"), _begin_process)

    def submit(self, texts: list[str]) -> Callable[[], Tensor | int]:
        task = _PoolTask(texts, self._reserve(len(texts)))
        self._tasks.append(task)
        self._begin(task)
        return partial(self._result, task)

    def _reserve(self, count: int) -> Rows:
        if self._folder is None:
            assert self._file is not None
            return self._file.reserve(count)
        handle, path = mkstemp(dir=self._folder.name)
        os.close(handle)
        return Rows(path, path, 0)

    def _begin(self, task: _PoolTask) -> None:
        try:
            with _deaf_children():
                task.future = self._executor.submit(self._call, task.texts, rows=task.rows)
        except BrokenProcessPool as error:  # found when its result is asked for
            task.future = Future()
            task.future.set_exception(error)

    def _result(self, task: _PoolTask) -> Tensor | int:
        while True:
            # a signal that another thread took, while `_deaf_children`, does not end a wait of this one
            while not wait([task.future], LISTEN).done:
                pass
            try:
                found = task.future.result()
            except BrokenProcessPool as error:
                self._deaths += 1
                if self._deaths == DEATHS:
                    raise EngineError(
                        "processes of the pool were killed, perhaps for lack of memory: --processes takes a smaller number"
                    ) from error
                self._executor.shutdown(wait=False)
                self._executor = self._start()
                for other in self._tasks:
                    if other.future.done() and isinstance(
                        other.future.exception(), BrokenProcessPool
                    ):
                        self._begin(other)
            else:
                self._deaths = 0
                self._tasks.remove(task)
                return found if self._folder is None else self._read(task)

    def _read(self, task: _PoolTask) -> Tensor:
        """The vectors of a task that is done, from its own file."""
        vectors = flex.frombuffer(Path(task.rows.path).read_bytes(), flex.float32)
        os.unlink(task.rows.path)
        return vectors.reshape(len(task.texts), self._dimension)

    def close(self) -> None:
        given_up = bool(self._tasks)
        if given_up:  # Python's exit would wait for those that run; what they have half written is in no journal
            for process in list((self._executor._processes or {}).values()):
                process.kill()
        # the thread that finds them dead must not meet Python's exit, which still writes to it
        self._executor.shutdown(wait=given_up, cancel_futures=True)
        if self._folder is not None:
            self._folder.cleanup()


class _PoolTask:
    """Texts, where their vectors go, and the future of the checksum of these."""

    future: Future[Tensor | int]

    def __init__(self, texts: list[str], rows: Rows):
        self.texts, self.rows = texts, rows


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Has processes that start meanwhile not hear SIGINT, which a terminal sends to all processes, before `_begin_process` ignores it.
    It comes to this process later."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_process() -> None:
    """A process of the pool: it ends when its parent says so, or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


class Cluster:
    """The workers of a scheduler of dask.distributed, of which each task takes one thread."""

    def __init__(self, client: Client, encoder: SentenceEncoder, options: dict[str, Any]):
        self._client = client
        # a model without files is sent, once to each worker
        recipe = encoder._recipe()
        self._model = client.scatter(encoder, broadcast=True) if recipe is encoder else recipe
        self._options = options
        self.slots = sum(self._prepare(encoder).values())

    def _prepare(self, encoder: SentenceEncoder) -> dict[str, int]:
        """Has every worker load the model; the number of threads of each. EngineError says which cannot, and why."""
        threads: dict[str, int] = self._client.nthreads()
        if not threads:
            raise EngineError(
                f"{self._address}: the scheduler has no workers: start some by `dask worker {self._address}`"
            )
        self._check_versions()
        loaded = {
            worker: self._client.submit(
                encode, self._model, [], self._options, workers=[worker], pure=False
            )
            for worker in threads
        }
        troubles, deadline = [], time.monotonic() + WAIT
        for worker, future in loaded.items():
            try:
                error = future.exception(timeout=max(deadline - time.monotonic(), 0.1))
            except TimeoutError:
                troubles.append(f"{worker}: has not loaded the model within {WAIT:.0f} s")
            else:
                if error is not None:
                    troubles.append(f"{worker}: {_said(error)}")
        if troubles:
            raise EngineError("\n".join(("some workers cannot compute:", *troubles)))
        return threads

    def _check_versions(self) -> None:
        """A worker that lacks flex would not survive a task that needs it, so it is asked by what needs nothing."""
        found = self._client.run(eval, "__import__('flex').__version__", on_error="return")
        troubles = [
            f"{worker}: {_said(version) if isinstance(version, Exception) else f'has flex {version}'}"
            for worker, version in found.items()
            if version != flex.__version__
        ]
        if troubles:
            raise EngineError(
                "\n".join((f"every worker needs flex {flex.__version__}, as here:", *troubles))
            )

    @property
    def _address(self) -> str:
        return str(self._client.scheduler.address)

    def submit(self, texts: list[str]) -> Callable[[], Tensor]:
        future = self._client.submit(encode, self._model, texts, self._options, pure=False)
        return partial(self._result, future)

    def _result(self, future: Any) -> Tensor:
        from distributed import KilledWorker

        try:
            vectors: Tensor = future.result()
        except KilledWorker as error:
            raise EngineError(
                f"workers were killed while they computed one task, perhaps for lack of memory: {error}"
            ) from error
        except CancelledError as error:
            raise EngineError(f"{self._address}: the scheduler has gone: {error}") from error
        return vectors

    def close(self) -> None:
        pass


def current_client() -> Client:
    """The client that this process made last."""
    distributed = _distributed()
    try:
        client: Client = distributed.get_client()
    except ValueError as error:
        raise ValueError(
            "encode_distributed: there is no client: pass one, or make one by distributed.Client(address)"
        ) from error
    return client


def connect(address: str) -> Client:
    """A client of the scheduler. EngineError if none answers."""
    distributed = _distributed()
    try:
        # a client of an address that is none would wait for it when it is dropped
        distributed.comm.get_address_host_port(address, strict=True)
    except ValueError as error:
        raise EngineError(f"{address} is no address of a scheduler: {error}") from error
    try:
        client: Client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise EngineError(
            f"{address}: no scheduler answers ({error}); `dask scheduler` starts one and shows its address"
        ) from error
    return client


def _distributed() -> ModuleType:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            'schedulers need the package distributed: pip install "distributed>=2026.1"'
        ) from error
    return distributed


def _said(error: BaseException) -> str:
    """What a worker's exception means to its user."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error}: install flex-cpu[distributed] there"
    return f"{type(error).__name__}: {error}"
