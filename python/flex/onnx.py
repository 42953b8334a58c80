"""ONNX models, run by flex's functions.

>>> model = flex.onnx.load(flex.onnx.example())
>>> model.inputs
(Value(name='x', dtype=flex.float32, shape=('n',)),)
>>> model([-1.0, 2.0]).tolist()
[0.0, 2.0]

A model is planned once, when it is loaded; sizes are found as it runs, so it serves all batches and lengths. Threads may share one. The
package `onnx` is not needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from flex import _flex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    from flex import DType, Tensor

    from ._shared import Source

__all__ = ["Backend", "Model", "Step", "Value", "load", "operators"]


class Value(NamedTuple):
    """An input or output of a model. `dtype` and `shape` are None if the model doesn't state them. A size is a number, a name, which stands
    for the same number wherever it occurs in a call, or None.

    >>> flex.onnx.load(flex.onnx.example()).outputs[0].name
    'y'
    """

    name: str
    dtype: DType | None
    shape: tuple[int | str | None, ...] | None


class Step(NamedTuple):
    """A step of `Model.profile`: the operator, the node, and the seconds that it took.

    >>> [step.operator for step in flex.onnx.load(flex.onnx.example()).profile([1.0])]
    ['Relu']
    """

    operator: str
    node: str
    seconds: float


class Model:
    """A model, made by `load`.

    >>> model = flex.onnx.load(flex.onnx.example())
    >>> model(x=[-1.0, 2.0]).tolist()
    [0.0, 2.0]
    >>> [y.tolist() for y in model.run(["y"], {"x": [3.0]})]
    [[3.0]]
    """

    __slots__ = ("_about", "_model", "_source", "inputs", "outputs")

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    def __init__(self, model: Any, source: Source | None = None) -> None:
        self._model = model
        self._source = source
        self._about: dict[str, Any] = model.about
        self.inputs = tuple(Value(*value) for value in model.inputs)
        self.outputs = tuple(Value(*value) for value in model.outputs)

    @property
    def opsets(self) -> dict[str, int]:
        """The version of each domain's operator set; ONNX's own has an empty name.

        >>> flex.onnx.load(flex.onnx.example()).opsets
        {'': 13}
        """
        return dict(self._about["opsets"])

    @property
    def metadata(self) -> dict[str, str]:
        """Names and values that the producer added.

        >>> flex.onnx.load(flex.onnx.example()).metadata
        {}
        """
        return dict(self._about["metadata"])

    @property
    def operators(self) -> dict[str, int]:
        """How many nodes there are of each operator.

        >>> flex.onnx.load(flex.onnx.example()).operators
        {'Relu': 1}
        """
        return dict(self._about["operators"])

    @property
    def parameters(self) -> int:
        """The number of elements of the weights.

        >>> flex.onnx.load(flex.onnx.example()).parameters
        0
        """
        return int(self._about["parameters"])

    @property
    def producer(self) -> str:
        """Who wrote the file.

        >>> flex.onnx.load(flex.onnx.example()).producer
        ''
        """
        return str(self._about["producer"])

    def __repr__(self) -> str:
        def shown(values: tuple[Value, ...]) -> str:
            return ", ".join(value.name for value in values)

        return f"<flex.onnx.Model ({shown(self.inputs)}) -> ({shown(self.outputs)})>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles a model that was loaded from a path as that path: where it is unpickled the file must be too, and is mapped and planned
        once a process. TypeError for a model of bytes."""
        if self._source is None:
            raise TypeError("a model of bytes can't be pickled: load it from a path")
        return self._source.model, ()

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    def _ordered(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The inputs in order. TypeError if one is missing, given twice, or unknown."""
        names = [value.name for value in self.inputs]
        if len(args) > len(names):
            raise TypeError(f"{len(args)} inputs given, but the model takes {len(names)}: {names}")
        given = dict(zip(names, args, strict=False))
        for name in named:
            if name in self._about["overridable"] and name not in names:
                raise TypeError(
                    f"{name!r} is a weight of the model: load it with overridable=[{name!r}] to give it other values"
                )
            if name not in names:
                raise TypeError(f"the model has no input {name!r}: it has {names}")
            if name in given:
                raise TypeError(f"input {name!r} is given twice")
        given.update(named)
        for k, name in enumerate(names):
            if name not in given and (default := self._model.default_of(k)) is not None:
                given[name] = default
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"the model's inputs {missing} are missing")
        return [_operand(given[value.name], value.dtype) for value in self.inputs]

    def __call__(self, /, *args: Any, **named: Any) -> Tensor | tuple[Tensor, ...]:
        """The output for these inputs, by position or by name: a tensor, or a tuple of them if there are several.

        Inputs are tensors, or what `flex.asarray` takes. TypeError if one is missing or unknown; ShapeError and DTypeError if one doesn't
        fit what the model says, or an operation's operands don't fit, with the node's name.

        >>> flex.onnx.load(flex.onnx.example())(flex.asarray([-2.0, 1.0])).tolist()
        [0.0, 1.0]
        """
        if len(args) == 1 and isinstance(args[0], dict):
            raise TypeError(
                "inputs by name are keywords: model(**inputs), or model.run(None, inputs)"
            )
        outputs: tuple[Tensor, ...] = self._model.run(self._ordered(args, named))
        return outputs[0] if len(outputs) == 1 else outputs

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any]
    ) -> list[Tensor]:
        """The outputs of these names, or all for None, like the method of onnxruntime's InferenceSession. TypeError for unknown names, and
        for names or inputs that are no list and no dict; other errors as those of a call.

        >>> flex.onnx.load(flex.onnx.example()).run(None, {"x": [1.0]})[0].tolist()
        [1.0]
        """
        if isinstance(output_names, str):
            raise TypeError(f"output_names is {output_names!r}: a list of names is needed, or None")
        if not isinstance(input_feed, Mapping):
            raise TypeError(
                f"input_feed is of type {type(input_feed).__name__}: a dict by name is needed; by position, call the model: model(x)"
            )
        names = [value.name for value in self.outputs]
        unknown = [name for name in output_names or () if name not in names]
        if unknown:
            raise TypeError(f"the model has no outputs {unknown}: it has {names}")
        outputs = self._model.run(self._ordered((), input_feed))
        found = dict(zip(names, outputs, strict=True))
        return [found[name] for name in output_names or names]

    def profile(self, /, *args: Any, **named: Any) -> list[Step]:
        """The steps of a call and the time of each, in the order in which they ran. Errors as those of a call.

        >>> len(flex.onnx.load(flex.onnx.example()).profile([1.0]))
        1
        """
        return [Step(*step) for step in self._model.profile(self._ordered(args, named))]


def _operand(x: Any, dtype: DType | None) -> Any:
    """An input: Python's numbers and lists take the dtype that the model states, NumPy's scalars keep their own."""
    own = getattr(x, "dtype", None)
    if own is not None:
        return x if getattr(x, "shape", None) else _flex.asarray(x, dtype=own)
    return _flex.asarray(x, dtype=dtype) if isinstance(x, (list, tuple, int, float)) else x


def load(
    file: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO,
    *,
    mmap: bool = False,
    overridable: Sequence[str] = (),
) -> Model:
    """The model of a file: of a path, of bytes, or of a file object open in binary mode.

    Weights in other files ("external data") are read from the model's folder, if it is loaded by its path. With `mmap` the file is mapped
    instead of read, and aligned weights stay in it: nobody may write to it while the model is in use.

    `overridable` are the names of initializers that calls may override, which become the last inputs of the model: a call that leaves one
    out takes the file's value. What follows from them is computed by each call, and not when the model is loaded.

    ValueError if the file is damaged, if it has operators that flex lacks (all of them are named), a node's attributes or inputs are wrong,
    or it has no initializer of a name in `overridable`; DTypeError for element types that flex lacks; TypeError for a file that is open in
    text mode, and for a string as `overridable`; OSError if the file can't be read.

    >>> flex.onnx.load(flex.onnx.example())
    <flex.onnx.Model (x) -> (y)>
    """
    if hasattr(file, "read"):
        file = file.read()
        if not isinstance(file, bytes):
            raise TypeError(
                f"load: the file object gives {type(file).__name__}, not bytes: open it in binary mode, 'rb'"
            )
    if isinstance(file, (bytearray, memoryview)):
        file = bytes(file)
    if not isinstance(file, (bytes, str, os.PathLike)):
        remedy = ": load(model.SerializeToString())" if hasattr(file, "SerializeToString") else ""
        raise TypeError(
            f"load: file is of type {type(file).__name__}; a path, bytes or a binary file is needed{remedy}"
        )
    if isinstance(overridable, str):
        raise TypeError(f"load: overridable is {overridable!r}: a list of names is needed")
    names = list(overridable)
    return Model(_flex._onnx._load_onnx(file, mmap, names), _source(file, names))


def _source(file: str | os.PathLike[str] | bytes, overridable: Sequence[str]) -> Source | None:
    """What other processes load the model from."""
    if isinstance(file, bytes):
        return None
    from ._shared import Source

    path = os.fspath(file)
    if not isinstance(path, str):
        return None
    return Source.of(load, path, [path], mmap=True, overridable=tuple(overridable))


def operators() -> list[tuple[str, str, int]]:
    """The operators that models may use, sorted: domain, name, and the version of the operator set from which each form holds.

    >>> ("", "Softmax", 13) in flex.onnx.operators()
    True
    """
    return sorted(_flex._onnx._onnx_operators())


def example() -> bytes:
    """A model of `y = relu(x)`."""
    sizes = b"\x0a\x09\x08\x01\x12\x05\x0a\x03\x12\x01n"
    node = b"\x0a\x10\x0a\x01x\x12\x01y\x1a\x00\x22\x04Relu\x3a\x00"
    graph = node + b"\x5a\x10\x0a\x01x\x12\x0b" + sizes + b"\x62\x10\x0a\x01y\x12\x0b" + sizes
    return b"\x08\x08\x3a" + bytes([len(graph)]) + graph + b"\x42\x02\x10\x0d"


class Backend:
    """The interface of `onnx.backend.base.Backend`, for ONNX's own tests and tools.

    >>> flex.onnx.Backend.supports_device("CPU"), flex.onnx.Backend.supports_device("CUDA")
    (True, False)
    """

    class Prepared:
        """A model that is ready to run.

        >>> isinstance(flex.onnx.Backend.Prepared, type)
        True
        """

        def __init__(self, model: Model) -> None:
            self.model = model

        def run(self, inputs: Any, **_options: Any) -> tuple[Any, ...]:
            """The outputs as NumPy arrays; inputs are a list, a dict, or one array.

            >>> flex.onnx.Backend.Prepared(flex.onnx.load(flex.onnx.example())).run([[2.0]])
            (array([2.], dtype=float32),)
            """
            if isinstance(inputs, dict):
                outputs = self.model.run(None, inputs)
            else:
                several = isinstance(inputs, (list, tuple))
                args = inputs if several else [inputs]
                outputs = list(self.model._model.run(self.model._ordered(args, {})))
            return tuple(output.numpy() for output in outputs)

    @classmethod
    def is_compatible(cls, _model: Any, device: str = "CPU", **_options: Any) -> bool:
        """Whether models can run on the device.

        >>> flex.onnx.Backend.is_compatible(None)
        True
        """
        return cls.supports_device(device)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether the device is a CPU.

        >>> flex.onnx.Backend.supports_device("CPU:0")
        True
        """
        return device.split(":")[0] == "CPU"

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **_options: Any) -> Prepared:
        """The model of a `ModelProto`. ValueError for other devices; other errors as those of `load`.

        >>> flex.onnx.Backend.prepare.__name__
        'prepare'
        """
        if not cls.supports_device(device):
            raise ValueError(f"device {device!r}: flex runs models on the CPU")
        return cls.Prepared(load(model.SerializeToString()))

    @classmethod
    def run_model(
        cls, model: Any, inputs: Any, device: str = "CPU", **options: Any
    ) -> tuple[Any, ...]:
        """The outputs of a `ModelProto`.

        >>> flex.onnx.Backend.run_model.__name__
        'run_model'
        """
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: Any,
        inputs: Any,
        device: str = "CPU",
        _outputs_info: Any = None,
        *,
        opset_version: int | None = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """The outputs of a `NodeProto`, in the newest operator set of the package `onnx`, or another one. Inputs are those of the node in
        order, as a list, or by name.

        >>> flex.onnx.Backend.run_node.__name__
        'run_node'
        """
        from onnx import ValueInfoProto, defs, helper

        present = [name for name in node.input if name]
        given = inputs if isinstance(inputs, dict) else dict(zip(present, inputs, strict=True))
        tensors = {name: _flex.asarray(given[name]) for name in dict.fromkeys(present)}
        values = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(x.numpy().dtype), x.shape
            )
            for name, x in tensors.items()
        ]
        outputs = [ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], "node", values, outputs)
        version = defs.onnx_opset_version() if opset_version is None else opset_version
        opsets = [helper.make_opsetid("", version)]
        if node.domain:
            opsets.append(helper.make_opsetid(node.domain, 1))
        model = helper.make_model(graph, opset_imports=opsets)
        return cls.run_model(model, tensors, device, **options)
