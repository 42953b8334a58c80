"""Networks as ONNX models with random weights, in the form that exporters write, and how flex and onnxruntime run a file."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

OPSET, IR = 17, 8


@dataclass(frozen=True, eq=False)
class Case:
    """A model's file and its inputs."""

    path: Path
    inputs: dict[str, np.ndarray]


class Builder:
    """Collects nodes and weights; each method gives the name of its result."""

    def __init__(self) -> None:
        self._nodes, self._weights, self._rng = [], [], np.random.default_rng(20)

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """A node; a list of names if it has several outputs."""
        from onnx import helper

        name = f"{kind}_{len(self._nodes)}"
        results = [f"{name}_{k}" for k in range(outputs)]
        self._nodes.append(helper.make_node(kind, inputs, results, name, **attributes))
        return results if outputs > 1 else results[0]

    def constant(self, values: Any) -> str:
        """A tensor of the file: floats of float32, whole numbers of int64."""
        from onnx import numpy_helper

        array = np.asarray(values)
        array = array.astype(np.float32 if array.dtype.kind == "f" else np.int64)
        self._weights.append(numpy_helper.from_array(array, f"weight_{len(self._weights)}"))
        return self._weights[-1].name

    def weight(self, *shape: int) -> str:
        """Random numbers, small enough that values keep their size through a layer."""
        scale = math.prod(shape[1:]) ** -0.5 if len(shape) > 1 else 0.1
        return self.constant(self._rng.standard_normal(shape) * scale)

    def model(
        self, name: str, inputs: dict[str, np.ndarray], *outputs: str, symbols: Any = ()
    ) -> Case:
        """The model in a file; `symbols` gives the shapes of inputs with sizes that it leaves open."""
        from onnx import helper, save_model

        info = [
            helper.make_tensor_value_info(
                key, helper.np_dtype_to_tensor_dtype(x.dtype), dict(symbols).get(key, x.shape)
            )
            for key, x in inputs.items()
        ]
        results = [helper.make_tensor_value_info(output, 1, None) for output in outputs]
        graph = helper.make_graph(self._nodes, name, info, results, self._weights)
        opsets = [helper.make_opsetid("", OPSET)]
        path = _folder() / f"{name}.onnx"
        save_model(helper.make_model(graph, opset_imports=opsets, ir_version=IR), path)
        return Case(path, inputs)

    def convolution(
        self,
        x: str,
        inner: int,
        outer: int,
        size: int,
        stride: int = 1,
        groups: int = 1,
        activation: str = "",
    ) -> str:
        """A convolution, whose normalisation exporters fold into it, and an activation."""
        weight = self.weight(outer, inner // groups, size, size)
        pads = [size // 2] * 4
        y = self.node(
            "Conv", x, weight, self.weight(outer), strides=[stride] * 2, pads=pads, group=groups
        )
        return self.activated(y, activation)

    def activated(self, x: str, activation: str) -> str:
        """The activation of this name; SiLU is two nodes."""
        if activation == "Silu":
            return self.node("Mul", x, self.node("Sigmoid", x))
        return self.node(activation, x) if activation else x

    def linear(self, x: str, inner: int, outer: int) -> str:
        """A product and a bias."""
        weight = self.constant(self._rng.standard_normal((inner, outer)) * inner**-0.5)
        return self.node("Add", self.node("MatMul", x, weight), self.weight(outer))

    def norm(self, x: str, size: int) -> str:
        """A layer norm."""
        return self.node(
            "LayerNormalization", x, self.constant(np.ones(size)), self.weight(size), axis=-1
        )

    def pooled(self, x: str, inner: int, outer: int) -> str:
        """The classifier of an image."""
        x = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.node("Gemm", x, self.weight(outer, inner), self.weight(outer), transB=1)


@cache
def _temporary() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="flex-networks-")


def _folder() -> Path:
    return Path(_temporary().name)


def _image(*shape: int) -> dict[str, np.ndarray]:
    return {"image": np.random.default_rng(7).random(shape, np.float32)}


def resnet50() -> Case:
    """ResNet-50 (He et al., 2015)."""
    b = Builder()
    x = b.convolution("image", 3, 64, 7, 2, activation="Relu")
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        inner = 64 << stage
        for k in range(blocks):
            stride = 2 if k == 0 and stage else 1
            y = b.convolution(x, channels, inner, 1, activation="Relu")
            y = b.convolution(y, inner, inner, 3, stride, activation="Relu")
            y = b.convolution(y, inner, 4 * inner, 1)
            if k == 0:
                x = b.convolution(x, channels, 4 * inner, 1, stride)
            channels = 4 * inner
            x = b.node("Relu", b.node("Add", x, y))
    return b.model("resnet50", _image(1, 3, 224, 224), b.pooled(x, channels, 1000))


# Kernel, wide, outer, whether it has an excitation, activation, stride.
MOBILENET = [
    (3, 16, 16, False, "Relu", 1),
    (3, 64, 24, False, "Relu", 2),
    (3, 72, 24, False, "Relu", 1),
    (5, 72, 40, True, "Relu", 2),
    (5, 120, 40, True, "Relu", 1),
    (5, 120, 40, True, "Relu", 1),
    (3, 240, 80, False, "HardSwish", 2),
    (3, 200, 80, False, "HardSwish", 1),
    (3, 184, 80, False, "HardSwish", 1),
    (3, 184, 80, False, "HardSwish", 1),
    (3, 480, 112, True, "HardSwish", 1),
    (3, 672, 112, True, "HardSwish", 1),
    (5, 672, 160, True, "HardSwish", 2),
    (5, 960, 160, True, "HardSwish", 1),
    (5, 960, 160, True, "HardSwish", 1),
]
EFFICIENTNET = [  # kernel, expansion, outer, repeats, stride
    (3, 1, 16, 1, 1),
    (3, 6, 24, 2, 2),
    (5, 6, 40, 2, 2),
    (3, 6, 80, 3, 2),
    (5, 6, 112, 3, 1),
    (5, 6, 192, 4, 2),
    (3, 6, 320, 1, 1),
]


def _excited(b: Builder, x: str, channels: int, inner: int, activation: str, gate: str) -> str:
    y = b.node("GlobalAveragePool", x)
    y = b.convolution(y, channels, inner, 1, activation=activation)
    return b.node("Mul", x, b.node(gate, b.convolution(y, inner, channels, 1)))


def _inverted(
    b: Builder,
    x: str,
    channels: tuple[int, int, int],
    kernel: tuple[int, int],
    activation: str,
    excitation: tuple[int, str, str] | None,
) -> str:
    """An inverted residual: of channels in, within and out, a depthwise kernel's size and stride, what squeezes and excites."""
    (inner, wide, outer), (size, stride) = channels, kernel
    y = b.convolution(x, inner, wide, 1, activation=activation) if wide != inner else x
    y = b.convolution(y, wide, wide, size, stride, wide, activation)
    if excitation:
        y = _excited(b, y, wide, *excitation)
    y = b.convolution(y, wide, outer, 1)
    return b.node("Add", x, y) if stride == 1 and outer == inner else y


def mobilenet() -> Case:
    """MobileNetV3-Large (Howard et al., 2019)."""
    b, channels = Builder(), 16
    x = b.convolution("image", 3, channels, 3, 2, activation="HardSwish")
    for size, wide, outer, excited, activation, stride in MOBILENET:
        excitation = (wide // 4, "Relu", "HardSigmoid") if excited else None
        x = _inverted(b, x, (channels, wide, outer), (size, stride), activation, excitation)
        channels = outer
    x = b.convolution(x, channels, 960, 1, activation="HardSwish")
    return b.model("mobilenet", _image(1, 3, 224, 224), b.pooled(x, 960, 1000))


def efficientnet() -> Case:
    """EfficientNet-B0 (Tan and Le, 2019)."""
    b, channels = Builder(), 32
    x = b.convolution("image", 3, channels, 3, 2, activation="Silu")
    for size, expansion, outer, repeats, first in EFFICIENTNET:
        for k in range(repeats):
            sizes = (channels, channels * expansion, outer)
            excitation = (channels // 4, "Silu", "Sigmoid")
            x = _inverted(b, x, sizes, (size, first if k == 0 else 1), "Silu", excitation)
            channels = outer
    x = b.convolution(x, channels, 1280, 1, activation="Silu")
    return b.model("efficientnet", _image(1, 3, 224, 224), b.pooled(x, 1280, 1000))


def unet() -> Case:
    """A U-Net of four levels (Ronneberger et al., 2015), from 16 channels."""
    b, channels, kept = Builder(), 3, []
    x, width = "image", 16
    for level in range(4):
        for _ in range(2):
            x, channels = (
                b.convolution(x, channels, width << level, 3, activation="Relu"),
                width << level,
            )
        kept.append(x)
        x = b.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, channels = b.convolution(x, channels, 2 * channels, 3, activation="Relu"), 2 * channels
    for level in reversed(range(4)):
        outer = width << level
        up = b.weight(channels, outer, 2, 2)
        x = b.node("ConvTranspose", x, up, b.weight(outer), strides=[2, 2], kernel_shape=[2, 2])
        x = b.node("Concat", x, kept[level], axis=1)
        for inner in (2 * outer, outer):
            x = b.convolution(x, inner, outer, 3, activation="Relu")
        channels = outer
    return b.model("unet", _image(1, 3, 256, 256), b.convolution(x, channels, 2, 1))


def _heads(b: Builder, x: str, heads: int, size: int, perm: tuple[int, ...] = (0, 2, 1, 3)) -> str:
    split = b.constant([0, 0, heads, size // heads])
    return b.node("Transpose", b.node("Reshape", x, split), perm=list(perm))


def _gelu(b: Builder, x: str) -> str:
    e = b.node("Erf", b.node("Div", x, b.constant(math.sqrt(2))))
    y = b.node("Mul", x, b.node("Add", e, b.constant(1.0)))
    return b.node("Mul", y, b.constant(0.5))


def _joined(b: Builder, x: str, size: int) -> str:
    return b.node("Reshape", b.node("Transpose", x, perm=[0, 2, 1, 3]), b.constant([0, 0, size]))


def bert(layers: int, size: int, heads: int, count: int, length: int) -> Case:
    """BERT's encoder (Devlin et al., 2019), such as MiniLM's, of 8192 words."""
    b, words = Builder(), 8192
    ids = np.random.default_rng(7).integers(words, size=(count, length))
    x = b.node("Gather", b.weight(words, size), "input_ids")
    zero, one = b.constant([0]), b.constant([1])
    tokens = b.node("Slice", b.node("Shape", "input_ids"), one, b.constant([2]))
    x = b.norm(b.node("Add", x, b.node("Slice", b.weight(512, size), zero, tokens, zero)), size)
    mask = b.node("Unsqueeze", b.node("Cast", "attention_mask", to=1), b.constant([1, 2]))
    mask = b.node("Mul", b.node("Sub", b.constant(1.0), mask), b.constant(-10000.0))
    scale = b.constant(math.sqrt(size // heads))
    for _ in range(layers):
        q, k, v = (b.linear(x, size, size) for _ in range(3))
        q, v = (_heads(b, part, heads, size) for part in (q, v))
        k = _heads(b, k, heads, size, (0, 2, 3, 1))
        scores = b.node("Add", b.node("Div", b.node("MatMul", q, k), scale), mask)
        mixed = b.node("MatMul", b.node("Softmax", scores, axis=-1), v)
        x = b.norm(b.node("Add", b.linear(_joined(b, mixed, size), size, size), x), size)
        inner = _gelu(b, b.linear(x, size, 4 * size))
        x = b.norm(b.node("Add", b.linear(inner, 4 * size, size), x), size)
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    symbols = {name: ["batch", "length"] for name in inputs}
    return b.model(f"bert-{layers}-{count}-{length}", inputs, x, symbols=symbols)


def gpt2(layers: int, size: int, heads: int, past: int) -> Case:
    """A step of GPT-2 (Radford et al., 2019) after `past` tokens, whose keys and values are inputs, of 8192 words."""
    b, words, rng = Builder(), 8192, np.random.default_rng(7)
    inputs: dict[str, np.ndarray] = {
        "input_ids": np.array([[5]]),
        "position_ids": np.array([[past]]),
    }
    symbols, outputs = {}, []
    table = b.weight(words, size)
    x = b.node(
        "Add",
        b.node("Gather", table, "input_ids"),
        b.node("Gather", b.weight(1024, size), "position_ids"),
    )
    for k in range(layers):
        parts = b.linear(b.norm(x, size), size, 3 * size)
        qkv = b.node("Split", parts, b.constant([size] * 3), outputs=3, axis=2)
        q, *pair = (_heads(b, part, heads, size) for part in qkv)
        for n, kind in enumerate(("key", "value")):
            name = f"past_{k}_{kind}"
            inputs[name] = rng.standard_normal((1, heads, past, size // heads), np.float32)
            symbols[name] = [1, heads, "past", size // heads]
            pair[n] = b.node("Concat", name, pair[n], axis=2)
        outputs += pair
        scores = b.node("MatMul", q, b.node("Transpose", pair[0], perm=[0, 1, 3, 2]))
        scores = b.node("Div", scores, b.constant(math.sqrt(size // heads)))
        mixed = b.node("MatMul", b.node("Softmax", scores, axis=-1), pair[1])
        x = b.node("Add", x, b.linear(_joined(b, mixed, size), size, size))
        x = b.node(
            "Add", x, b.linear(_gelu(b, b.linear(b.norm(x, size), size, 4 * size)), 4 * size, size)
        )
    logits = b.node("MatMul", b.norm(x, size), b.node("Transpose", table, perm=[1, 0]))
    return b.model("gpt2", inputs, logits, *outputs, symbols=symbols)


def lstm(steps: int, batch: int, size: int) -> Case:
    """Two bidirectional layers of LSTM."""
    b = Builder()
    x, inner = "x", size
    for _ in range(2):
        weights = (b.weight(2, 4 * size, inner), b.weight(2, 4 * size, size), b.weight(2, 8 * size))
        y, *_ = b.node("LSTM", x, *weights, outputs=3, hidden_size=size, direction="bidirectional")
        y = b.node("Transpose", y, perm=[0, 2, 1, 3])
        x, inner = b.node("Reshape", y, b.constant([0, 0, 2 * size])), 2 * size
    given = np.random.default_rng(7).standard_normal((steps, batch, size), np.float32)
    return b.model("lstm", {"x": given}, x, symbols={"x": ["steps", "batch", size]})


def silero() -> Case:
    """A frame of the voice activity detector in PyPI's silero-vad."""
    sound = np.sin(np.arange(576, dtype=np.float32) / 5)[None]
    state = np.zeros((2, 1, 128), np.float32)
    folder = Path(find_spec("silero_vad").origin).parent
    inputs = {"input": sound, "state": state, "sr": np.array(16000)}
    return Case(folder / "data" / "silero_vad.onnx", inputs)


def in_int8(case: Case) -> Case:
    """The model with products of integers, whose weights are constants, of 7 bits so that onnxruntime's sums don't saturate on CPUs without
    VNNI, and whose inputs are quantised at run time."""
    import logging

    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.disable(logging.WARNING)  # that the graph might be optimised first
    path = case.path.with_suffix(".int8.onnx")
    quantize_dynamic(
        case.path, path, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
    )
    return Case(path, case.inputs)


def in_qdq(case: Case) -> Case:
    """The model with convolutions of integers between QuantizeLinear and DequantizeLinear, their ranges those of its inputs, weights of 7
    bits likewise."""
    import logging

    from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

    class Inputs(CalibrationDataReader):
        def __init__(self) -> None:
            self._left = [case.inputs]

        def get_next(self) -> dict[str, np.ndarray] | None:
            return self._left.pop() if self._left else None

    logging.disable(logging.WARNING)  # that the graph might be optimised first
    path = case.path.with_suffix(".qdq.onnx")
    types = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
    quantize_static(case.path, path, Inputs(), per_channel=True, reduce_range=True, **types)
    return Case(path, case.inputs)


def flex_session(case: Case) -> Callable[[], Any]:
    """A function that runs the model with flex and gives its first output."""
    import flex

    model = flex.onnx.load(case.path)
    inputs = {name: flex.asarray(x, copy=True) for name, x in case.inputs.items()}
    names = [value.name for value in model.outputs]
    return lambda: model.run(names, inputs)[0]


def onnxruntime_session(case: Case, threads: int) -> Callable[[], Any]:
    """The same with onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        str(case.path), options, providers=["CPUExecutionProvider"]
    )
    return lambda: session.run(None, case.inputs)[0]


def by_onnxruntime(model: Case) -> np.ndarray:
    """The result that others are compared with."""
    return onnxruntime_session(model, 1)()
