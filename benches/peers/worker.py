"""One library in a process of its own: checks and times the workloads that it is told."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import sys
import timeit
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from . import convolutions, graph, images, minilm, recurrent
from .table import Known
from .workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    import numpy as np

    from .table import Input, Workload

LIBRARIES = ("flex", "numpy", "torch", "jax", "numexpr", "onnxruntime", "openvino")
SAMPLE = 0.03  # seconds that one measurement takes, or one call if that takes longer
LONG = 0.2  # seconds of a call that needs no other before it
SEED = 20


def installed() -> list[str]:
    """The libraries that can be measured here."""
    return [library for library in LIBRARIES if importlib.util.find_spec(library)]


def limit_threads(threads: int) -> None:
    """Makes every library that is loaded from now on use so many threads."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON"):
        os.environ[f"{name}_NUM_THREADS"] = str(threads)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def end_with_parent() -> None:
    """Asks Linux to kill this process when its parent is killed: it may be stopped then, and would stay so for ever."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Library(Protocol):
    """How a library gets its arrays and evaluates an expression."""

    def array(self, values: np.ndarray) -> Any:
        """The library's own array of a NumPy one."""

    def names(self) -> dict[str, Any]:
        """What expressions may use."""

    def statement(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """What is timed, and the names that it needs beside the inputs."""

    def fused(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The same of a workload that is to be compiled where the library can."""

    def numpy(self, result: Any) -> np.ndarray:
        """A result as a NumPy array."""


class _Eager:
    """Evaluates an expression as it stands."""

    def statement(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return expression, {}

    def fused(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self.statement(expression, inputs)

    def _call(
        self, compile: Callable[[Callable], Callable], expression: str, inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """A call of what `compile` makes of the expression as a function of the inputs that are arrays; it sees the others by name."""
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
        self._encoder = None
        flex.set_num_threads(threads)

    def array(self, values: np.ndarray) -> Any:
        return self.xp.asarray(values, copy=True)

    def names(self) -> dict[str, Any]:
        return {"xp": self.xp, "nn": self.xp.nn, "encode": self._encode}

    def fused(self, expression: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._call(self.xp.fuse, expression, inputs)

    def _encode(self, texts: list[str]) -> Any:
        if self._encoder is None:
            self._encoder = self.xp.models.SentenceEncoder.load(minilm.folder())
        return self._encoder.encode(texts)

    def memory(self, call: Callable[[], Any]) -> dict[str, int]:
        """Bytes that a call holds at most beside its inputs, and blocks that it gets fresh from the system when it is repeated."""
        stats = self.xp.memory_stats
        call()
        before = stats()
        filler = self.xp.empty(
            (before["peak"] - before["in_use"],), dtype=self.xp.uint8
        )  # from here on every byte raises the peak
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
            "conv": convolutions.conv,
            "conv_transpose": convolutions.conv_transpose,
            "conv_weight_gradient": convolutions.weight_gradient,
            "deform_conv": convolutions.deform_conv,
            "lstm": recurrent.lstm,
            "gru": recurrent.gru,
        }


class Torch(_Eager):
    def __init__(self, threads: int):
        import torch

        self.xp = torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def array(self, values: np.ndarray) -> Any:
        if values.dtype.name == "bfloat16":  # NumPy's bfloat16 is unknown to torch
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
    """Compiled, since that is how it is used; the call waits for the result."""

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
        # A literal would be float64, and with it all that is computed of it.
        import numpy as np

        arrays = {name: given for name, given in inputs.items() if not callable(given)}
        dtype = np.result_type(np.float32, *arrays.values())
        literals = sorted(set(re.findall(r"\b\d+\.\d+(?:e-?\d+)?", expression)), key=len)
        for literal in reversed(literals):
            arrays[f"constant{len(arrays)}"] = dtype.type(literal)
            expression = expression.replace(literal, f"constant{len(arrays) - 1}")
        return f"evaluate({expression!r}, inputs)", {"inputs": arrays}


class _Runtime(_Eager):
    """A library that runs models alone: of arrays one that is made of the expression."""

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
        if "texts" in inputs:  # whose model is no expression
            return expression, {}
        run = type(self).with_graph(graph.Graph(inputs, expression), self._threads)
        return "run()", {"run": run}


class Onnxruntime(_Runtime):
    with_model = staticmethod(minilm.with_onnxruntime)
    with_graph = staticmethod(graph.with_onnxruntime)

    def numpy(self, result: Any) -> np.ndarray:
        return result.numpy() if hasattr(result, "numpy") else result


class Openvino(_Runtime):
    with_model = staticmethod(minilm.with_openvino)
    with_graph = staticmethod(graph.with_openvino)


CLASSES: dict[str, Callable[[int], Library]] = dict(
    zip(LIBRARIES, (Flex, Numpy, Torch, Jax, Numexpr, Onnxruntime, Openvino), strict=True)
)


def _difference(result: np.ndarray, reference: np.ndarray) -> float:
    """The largest difference, relative to the largest value; infinite where shapes differ."""
    import numpy as np

    if result.shape != reference.shape:
        return float("inf")
    if reference.size == 0:
        return 0.0
    difference = np.abs(result.astype(np.float64) - reference.astype(np.float64))
    return float(difference.max() / max(np.abs(reference.astype(np.float64)).max(), 1e-30))


def _compared(workload: Workload, values: dict[str, Any], result: np.ndarray) -> float:
    """How far the result is from NumPy's of the inputs in float64."""
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


@lru_cache(3)  # neighbours in the table have inputs in common
def _values(given: Input | Known, seed: int) -> Any:
    import numpy as np

    return given.value() if isinstance(given, Known) else given.values(np.random.default_rng(seed))


class Prepared:
    """A workload whose result was found right, ready to be timed."""

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
        self._calls = 0  # not known yet
        # What is known of the work beside its time.
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
        self._timer.timeit(self._warm)  # threads, caches and pages as in a program that goes on
        return self._timer.timeit(self._calls) / self._calls


def serve(connection: Connection, name: str, threads: int) -> None:
    """Answers ("prepare", workload) with what is known of it or what went wrong, and ("time", _) with seconds, until told None."""
    limit_threads(threads)
    end_with_parent()
    library = CLASSES[name](threads)
    prepared = None
    while (request := connection.recv()) is not None:
        what, number = request
        if what == "time":
            connection.send(prepared.seconds())
            continue
        prepared = None  # its arrays go before the next ones come
        try:
            prepared = Prepared(library, name, WORKLOADS[number])
            connection.send(prepared.facts)
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}".splitlines()[0])
