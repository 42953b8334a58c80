"""One library in its own process: checks and times the requested workloads."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import sys
import timeit
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

from . import convolutions, graph, images, losses, minilm, networks, recurrent
from .table import Known
from .workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    import numpy as np

    from .table import Input, Workload

LIBRARIES = ("flex", "numpy", "scipy", "torch", "jax", "numexpr", "onnxruntime", "openvino")
# Functions for the reference results, by name.
REFERENCES = {
    name: value
    for module in (convolutions, losses, recurrent)
    for name, value in vars(module).items()
    if callable(value)
}
SAMPLE = 0.03  # seconds of one measurement, or of one call if that takes longer
LONG = 0.2  # seconds from which on a call needs no warm-up
SEED = 20


def installed() -> list[str]:
    """The installed libraries."""
    return [library for library in LIBRARIES if importlib.util.find_spec(library)]


def limit_threads(threads: int) -> None:
    """Limits the threads of every library that is loaded from now on."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON"):
        os.environ[f"{name}_NUM_THREADS"] = str(threads)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def end_with_parent() -> None:
    """Asks Linux to kill this process with its parent: a stopped process would otherwise stay forever."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Library(Protocol):
    """How a library gets its arrays and evaluates an expression."""

    def array(self, values: np.ndarray) -> Any:
        """A NumPy array as the library's own array."""

    def names(self) -> dict[str, Any]:
        """The namespace of expressions."""

    def statement(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The statement to time, and the names that it needs in addition to the inputs."""

    def fused(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The same for a workload that is compiled if the library can."""

    def numpy(self, result: Any) -> np.ndarray:
        """A result as a NumPy array."""


class _Eager:
    """Evaluates an expression as it is."""

    def statement(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return expression, {}

    def fused(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self.statement(expression, inputs)

    def _call(
        self, compile: Callable[[Callable], Callable], expression: str, inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """A call of the expression, compiled as a function of the array inputs; it sees other inputs by name."""
        arrays = ", ".join(name for name, given in inputs.items() if not callable(given))
        function = eval(f"lambda {arrays}: {expression}", {**self.names(), **inputs})
        return f"compiled({arrays})", {"compiled": compile(function)}

    def numpy(self, result: Any) -> np.ndarray:
        import numpy as np

        return np.asarray(result)


class Flex(_Eager):
    def __init__(self, threads: int):
        import flex
        import flex.models

        self.xp = flex
        flex.set_num_threads(threads)

    def array(self, values: np.ndarray) -> Any:
        return self.xp.asarray(values, copy=True)

    def names(self) -> dict[str, Any]:
        return {
            "xp": self.xp,
            "nn": self.xp.nn,
            "encode": lambda texts: self._encoder.encode(texts),
            "encode_int8": lambda texts: self._int8.encode(texts),
            "run": lambda model: self._sessions(model)(),
            "load_and_run": lambda model: networks.flex_session(model)(),
        }

    def fused(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._call(self.xp.fuse, expression, inputs)

    @cached_property
    def _encoder(self) -> Any:
        return self.xp.models.SentenceEncoder.load(minilm.folder())

    @cached_property
    def _int8(self) -> Any:
        return self.xp.models.SentenceEncoder.load(minilm.folder(), quantize="int8")

    @cached_property
    def _sessions(self) -> Callable[[networks.Case], Callable[[], Any]]:
        return lru_cache(1)(networks.flex_session)

    def memory(self, call: Callable[[], Any]) -> dict[str, int]:
        """The peak bytes that a call allocates in addition to its inputs, and the blocks that a repeated call requests from the system."""
        stats = self.xp.memory_stats
        call()
        before = stats()
        filler = self.xp.empty(
            (before["peak"] - before["in_use"],), dtype=self.xp.uint8
        )  # from here on every allocated byte raises the peak
        start = stats()
        result = call()
        held = stats()["peak"] - start["in_use"]
        del filler, result
        call()
        start = stats()["misses"]
        call()
        return {"held": max(held, 0), "fresh": stats()["misses"] - start}


class Numpy(_Eager):
    def __init__(self, threads: int):
        import numpy

        self.xp = numpy

    def array(self, values: np.ndarray) -> Any:
        return values

    def names(self) -> dict[str, Any]:
        import ml_dtypes
        from scipy import special

        return {
            "xp": self.xp,
            "special": special,
            "bfloat16": ml_dtypes.bfloat16,
            "images": images,
            "published": minilm.published,
            "by_onnxruntime": networks.by_onnxruntime,
            **REFERENCES,
        }


class Scipy(_Eager):
    def __init__(self, threads: int):
        import scipy.fft

        self.xp = scipy
        # by default each transform takes one thread
        self._workers = scipy.fft.set_workers(threads)
        self._workers.__enter__()

    def array(self, values: np.ndarray) -> Any:
        return values

    def names(self) -> dict[str, Any]:
        return {"xp": self.xp}


class Torch(_Eager):
    def __init__(self, threads: int):
        import torch

        self.xp = torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def array(self, values: np.ndarray) -> Any:
        if values.dtype.name == "bfloat16":  # torch doesn't know ml_dtypes' bfloat16
            return self.xp.from_numpy(values.astype("float32")).to(self.xp.bfloat16)
        return self.xp.from_numpy(values)

    def names(self) -> dict[str, Any]:
        return {
            "xp": self.xp,
            "nn": self.xp.nn.functional,
            "encode": lambda texts: self._encoder(texts),
        }

    @cached_property
    def _encoder(self) -> Callable[[list[str]], np.ndarray]:
        return minilm.with_torch()

    def numpy(self, result: Any) -> np.ndarray:
        if not isinstance(result, self.xp.Tensor):
            return result
        return (result.float() if result.dtype == self.xp.bfloat16 else result).numpy()


class Jax(_Eager):
    """Compiled with `jit`, as it is normally used; the call waits for the result."""

    def __init__(self, threads: int):
        os.environ["JAX_ENABLE_X64"] = "1"
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        import jax.numpy

        self.jax, self.xp = jax, jax.numpy

    def array(self, values: np.ndarray) -> Any:
        return self.xp.asarray(values)

    def names(self) -> dict[str, Any]:
        import jax.scipy.special

        return {"xp": self.xp, "nn": self.jax.nn, "jax": self.jax, "special": jax.scipy.special}

    def statement(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        call, names = self._call(self.jax.jit, expression, inputs)
        return f"wait({call})", {**names, "wait": self.jax.block_until_ready}


class Numexpr(_Eager):
    def __init__(self, threads: int):
        import numexpr

        self.xp = numexpr
        numexpr.set_num_threads(threads)

    def array(self, values: np.ndarray) -> Any:
        return values

    def names(self) -> dict[str, Any]:
        return {"evaluate": self.xp.evaluate}

    def statement(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        # a literal would be float64 and promote everything computed from it
        import numpy as np

        arrays = {name: given for name, given in inputs.items() if not callable(given)}
        dtype = np.result_type(np.float32, *arrays.values())
        literals = sorted(set(re.findall(r"\b\d+\.\d+(?:e-?\d+)?", expression)), key=len)
        for literal in reversed(literals):
            arrays[f"constant{len(arrays)}"] = dtype.type(literal)
            expression = expression.replace(literal, f"constant{len(arrays) - 1}")
        return f"evaluate({expression!r}, inputs)", {"inputs": arrays}


class _Runtime(_Eager):
    """A library that only runs models: expressions of arrays are turned into one."""

    with_model: Callable[[int], Callable[[list[str]], np.ndarray]]
    with_graph: Callable[[graph.Graph, int], Callable[[], Any]]

    def __init__(self, threads: int):
        self._threads = threads

    def array(self, values: np.ndarray) -> Any:
        return values

    @cached_property
    def _encoder(self) -> Callable[[list[str]], np.ndarray]:
        return type(self).with_model(self._threads)

    def names(self) -> dict[str, Any]:
        return {"encode": lambda texts: self._encoder(texts)}

    def statement(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if {"texts", "model"} & inputs.keys():  # a whole model is not an expression
            return expression, {}
        run = type(self).with_graph(graph.Graph(inputs, expression), self._threads)
        return "run()", {"run": run}


class Onnxruntime(_Runtime):
    with_model = staticmethod(minilm.with_onnxruntime)
    with_graph = staticmethod(graph.with_onnxruntime)

    @cached_property
    def _int8(self) -> Callable[[list[str]], np.ndarray]:
        return minilm.with_onnxruntime(self._threads, quantized=True)

    def names(self) -> dict[str, Any]:
        return {
            **super().names(),
            "encode_int8": lambda texts: self._int8(texts),
            "run": lambda model: self._sessions(model)(),
            "load_and_run": lambda model: networks.onnxruntime_session(model, self._threads)(),
        }

    @cached_property
    def _sessions(self) -> Callable[[networks.Case], Callable[[], Any]]:
        return lru_cache(1)(partial(networks.onnxruntime_session, threads=self._threads))

    def numpy(self, result: Any) -> np.ndarray:
        return result.numpy() if hasattr(result, "numpy") else result


class Openvino(_Runtime):
    with_model = staticmethod(minilm.with_openvino)
    with_graph = staticmethod(graph.with_openvino)


CLASSES: dict[str, Callable[[int], Library]] = dict(
    zip(LIBRARIES, (Flex, Numpy, Scipy, Torch, Jax, Numexpr, Onnxruntime, Openvino), strict=True)
)


def _difference(result: np.ndarray, reference: np.ndarray) -> float:
    """The largest difference, relative to the largest value; infinite if the shapes differ."""
    import numpy as np

    if result.shape != reference.shape:
        return float("inf")
    if reference.size == 0:
        return 0.0
    difference = np.abs(result.astype(np.float64) - reference.astype(np.float64))
    return float(difference.max() / max(np.abs(reference.astype(np.float64)).max(), 1e-30))


def _compared(workload: Workload, values: dict[str, Any], result: np.ndarray) -> float:
    """The difference between the result and NumPy's in float64."""
    import numpy as np

    wide = {
        name: v.astype(np.float64) if isinstance(v, np.ndarray) and v.dtype.kind in "fV" else v
        for name, v in values.items()
    }
    names = Numpy(1).names() | wide
    return _difference(
        np.asarray(eval(workload.compared, names | {"r": result})),
        np.asarray(eval(workload.reference, names)),
    )


@lru_cache(3)  # neighbouring rows share inputs
def _values(given: Input | Known, seed: int) -> Any:
    import numpy as np

    return given.value() if isinstance(given, Known) else given.values(np.random.default_rng(seed))


class Prepared:
    """A workload with a verified result, ready to be timed."""

    def __init__(self, library: Library, name: str, workload: Workload):
        import numpy as np

        values = {
            key: _values(given, SEED + k) for k, (key, given) in enumerate(workload.inputs.items())
        }
        inputs = {
            key: library.array(v) if isinstance(v, np.ndarray) else v for key, v in values.items()
        }
        prepare = library.fused if workload.fused else library.statement
        statement, extra = prepare(workload.expression(name), inputs)
        names = {**library.names(), **inputs, **extra}
        result = eval(statement, names)
        several = isinstance(result, tuple) and workload.fused
        result = (
            np.stack([library.numpy(part) for part in result]) if several else library.numpy(result)
        )
        difference = _compared(workload, values, result)
        if not difference <= workload.tolerance:
            raise ArithmeticError(
                f"differs from NumPy by {difference:.1e}, more than {workload.tolerance:.0e}"
            )
        self._timer = timeit.Timer(statement, globals=names)
        self._calls = 0  # not yet determined
        # facts about the work other than its time
        read = (
            sum(v.nbytes for v in values.values() if isinstance(v, np.ndarray))
            if workload.reads is None
            else workload.reads
        )
        self.facts = {"read": read, "written": result.nbytes}
        if isinstance(library, Flex):
            self.facts |= library.memory(lambda: eval(statement, names))

    def seconds(self) -> float:
        """One measurement of one call."""
        if not self._calls:
            self._calls = 1
            while (seconds := self._timer.timeit(self._calls)) < SAMPLE / 4:
                self._calls *= 4
            self._warm = 0 if seconds > LONG else max(1, round(self._calls * SAMPLE / seconds / 4))
            self._calls = max(1, round(self._calls * SAMPLE / seconds))
        self._timer.timeit(self._warm)  # threads, caches and pages as in steady state
        return self._timer.timeit(self._calls) / self._calls


def serve(connection: Connection, name: str, threads: int) -> None:
    """Answers ("prepare", workload) with its facts or an error, and ("time", _) with seconds, until it receives None."""
    limit_threads(threads)
    end_with_parent()
    library = CLASSES[name](threads)
    prepared = None
    while (request := connection.recv()) is not None:
        what, number = request
        if what == "time":
            connection.send(prepared.seconds())
            continue
        prepared = None  # frees its arrays before the next ones are made
        try:
            prepared = Prepared(library, name, WORKLOADS[number])
            connection.send(prepared.facts)
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}".splitlines()[0])
