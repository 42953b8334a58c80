"""Writes tests/data/exports: networks as PyTorch's two exporters write them, small and without their weights, which tests draw anew.

    python scripts/export_reference.py [FOLDER]

Needs torch, transformers and onnxscript, which the tests don't.
"""

import gzip
import itertools
import logging
import sys
import tempfile
import warnings
from pathlib import Path

import onnx
import torch
import transformers
from onnx import TensorProto, numpy_helper
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).parent.parent
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests" / "data" / "exports"
FEW = 16  # elements up to which a tensor is part of the graph rather than a weight
LOWEST = -1e4  # no weight is less; masks are


class Residual(nn.Module):
    """ResNet's block (He et al., 2015)."""

    def __init__(self, inner, outer, stride=1):
        super().__init__()
        self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(outer) for _ in range(3))
        self.down = nn.Conv2d(inner, outer, 1, stride, bias=False) if stride > 1 else None

    def forward(self, x):
        y = torch.relu(self.norms[0](self.first(x)))
        y = self.norms[1](self.second(y))
        return torch.relu(y + (x if self.down is None else self.norms[2](self.down(x))))


def resnet():
    """A stem, blocks and a classifier."""
    stem = [nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU()]
    blocks = [nn.MaxPool2d(3, 2, 1), Residual(8, 8), Residual(8, 16, 2)]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Excitation(nn.Module):
    """Channels scaled by what the image has of them (Hu et al., 2017)."""

    def __init__(self, channels, inner, gate):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1)
        self.gate = gate

    def forward(self, x):
        y = functional.adaptive_avg_pool2d(x, 1)
        return x * self.gate(self.up(torch.relu(self.down(y))))


class Inverted(nn.Module):
    """MobileNetV3's and EfficientNet's block: wide in between, with a depthwise convolution."""

    def __init__(self, inner, outer, size, stride, activation, gate):
        super().__init__()
        wide = 2 * inner
        convolutions = [
            (nn.Conv2d(inner, wide, 1, bias=False), activation()),
            (nn.Conv2d(wide, wide, size, stride, size // 2, groups=wide, bias=False), activation()),
            (nn.Conv2d(wide, outer, 1, bias=False), nn.Identity()),
        ]
        parts = [nn.Sequential(c, nn.BatchNorm2d(c.out_channels), a) for c, a in convolutions]
        self.parts = nn.Sequential(parts[0], parts[1], Excitation(wide, 4, gate), parts[2])
        self.added = stride == 1 and inner == outer

    def forward(self, x):
        return x + self.parts(x) if self.added else self.parts(x)


def mobile(activation, gate):
    """MobileNetV3 or EfficientNet, by activation and gate."""
    stem = [nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), activation()]
    blocks = [Inverted(8, 8, 3, 1, activation, gate), Inverted(8, 12, 5, 2, activation, gate)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 16), activation()]
    return nn.Sequential(*stem, *blocks, *head, nn.Dropout(0.2), nn.Linear(16, 10))


class UNet(nn.Module):
    """Down twice, and up by a transposed convolution and by interpolation, beside what was there (Ronneberger et al., 2015)."""

    def __init__(self):
        super().__init__()
        sizes = [(3, 6), (6, 12), (12, 16), (16 + 12, 12), (8 + 6, 6)]
        self.parts = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(a, b, 3, 1, 1), nn.InstanceNorm2d(b, affine=True), nn.LeakyReLU(0.1)
            )
            for a, b in sizes
        )
        self.up, self.out = nn.ConvTranspose2d(12, 8, 2, 2), nn.Conv2d(6, 2, 1)

    def forward(self, x):
        fine = self.parts[0](x)
        middle = self.parts[1](functional.max_pool2d(fine, 2))
        coarse = self.parts[2](functional.avg_pool2d(middle, 2))
        larger = functional.interpolate(
            coarse, size=middle.shape[2:], mode="bilinear", align_corners=False
        )
        y = self.parts[3](torch.cat([larger, middle], 1))
        return torch.softmax(self.out(self.parts[4](torch.cat([self.up(y), fine], 1))), 1)


class Suppression(torch.autograd.Function):
    """NonMaxSuppression for the older exporter."""

    @staticmethod
    def forward(_, boxes, _scores):
        return torch.zeros((3, 3), dtype=torch.int64, device=boxes.device)

    @staticmethod
    def symbolic(g, boxes, scores):
        numbers = [torch.tensor([20]), torch.tensor([0.5]), torch.tensor([0.3])]
        constants = [g.op("Constant", value_t=number) for number in numbers]
        return g.op("NonMaxSuppression", boxes, scores, *constants)


class Detector(nn.Module):
    """Boxes around the cells of a grid, with scores of three classes, of which overlapping ones are dropped."""

    def __init__(self, dynamo):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.SiLU()
        )
        self.head = nn.Conv2d(16, 7, 1)
        self.dynamo = dynamo

    def forward(self, x):
        y = self.head(self.features(x))
        _, _, height, width = y.shape
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        centres = torch.stack([columns, rows], -1).reshape(1, -1, 2).to(y.dtype) * 4 + 2
        y = y.flatten(2).transpose(1, 2)
        middle = centres + (y[..., :2].sigmoid() - 0.5) * 8
        half = y[..., 2:4].clamp(-2, 2).exp() * 4
        boxes = torch.cat([middle - half, middle + half], -1)
        scores = y[..., 4:].sigmoid().transpose(1, 2)
        if self.dynamo:
            limits = [torch.tensor([20]), torch.tensor([0.5]), torch.tensor([0.3])]
            found = torch.onnx.ops.symbolic(
                "NonMaxSuppression", [boxes, scores, *limits], dtype=torch.int64, shape=[7, 3]
            )
        else:
            found = Suppression.apply(boxes, scores)
        image, kind, place = found.unbind(1)
        return boxes[image, place], scores[image, kind, place], kind


def small(kind, **more):
    """A configuration of transformers with small sizes."""
    sizes = {"vocab_size": 60, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = kind(**{**sizes, "intermediate_size": 40, "max_position_embeddings": 64, **more})
    config._attn_implementation = "sdpa"
    return config


class Encoder(nn.Module):
    """A text encoder with its inputs by position."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, input_ids, attention_mask):
        return self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


class Decoder(nn.Module):
    """A step of a decoder: tokens, and keys and values of those before, in; logits, and all keys and values, out."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, input_ids, attention_mask, *past):
        pairs = list(zip(past[::2], past[1::2], strict=True))
        cache = transformers.DynamicCache(pairs)
        done = self.network(
            input_ids=input_ids,
            attention_mask=attention_mask,
            past_key_values=cache,
            use_cache=True,
        )
        layers = done.past_key_values.layers
        return done.logits, *itertools.chain.from_iterable((x.keys, x.values) for x in layers)


class Recurrent(nn.Module):
    """An embedding, two bidirectional layers of LSTM, and a classifier of the last step."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 8)
        self.lstm = nn.LSTM(8, 12, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(24, 5)

    def forward(self, x):
        y, (h, _) = self.lstm(self.words(x))
        return self.out(y), h


class Audio(nn.Module):
    """Whisper's encoder."""

    def __init__(self):
        super().__init__()
        config = transformers.WhisperConfig(
            num_mel_bins=12,
            d_model=24,
            encoder_layers=2,
            encoder_attention_heads=4,
            encoder_ffn_dim=40,
            max_source_positions=30,
            vocab_size=60,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
        config._attn_implementation = "sdpa"
        self.encoder = transformers.WhisperModel(config).encoder

    def forward(self, mels):
        return self.encoder(mels).last_hidden_state


def cases():
    """Name, network by exporter, inputs (name, tensor, symbolic sizes), and outputs."""
    images = [("image", torch.randn(2, 3, 32, 32), {0: "batch"})]
    sized = [("image", torch.randn(2, 3, 32, 32), {0: "batch", 2: "height", 3: "width"})]
    texts = [
        ("input_ids", torch.randint(60, (2, 7)), {0: "batch", 1: "length"}),
        ("attention_mask", torch.ones(2, 7, dtype=torch.int64), {0: "batch", 1: "length"}),
    ]
    step = [
        ("input_ids", torch.randint(60, (2, 3)), {0: "batch", 1: "length"}),
        ("attention_mask", torch.ones(2, 8, dtype=torch.int64), {0: "batch", 1: "total"}),
    ]

    def past(heads):
        return [
            (f"past_{k}_{kind}", torch.randn(2, heads, 5, 6), {0: "batch", 2: "past"})
            for k in range(2)
            for kind in ("key", "value")
        ]

    def bert(kind, config, **more):
        return Encoder(kind(small(config, **more)))

    yield "resnet", lambda _: resnet(), images
    yield "mobilenet", lambda _: mobile(nn.Hardswish, nn.Hardsigmoid()), images
    yield "efficientnet", lambda _: mobile(nn.SiLU, nn.Sigmoid()), images
    yield "unet", lambda _: UNet(), sized
    yield "detector", Detector, [(images[0][0], images[0][1], {})]
    yield "bert", lambda _: bert(transformers.BertModel, transformers.BertConfig), texts
    yield (
        "albert",
        lambda _: bert(transformers.AlbertModel, transformers.AlbertConfig, embedding_size=12),
        texts,
    )
    yield (
        "gpt2",
        lambda _: Decoder(transformers.GPT2LMHeadModel(small(transformers.GPT2Config))),
        step + past(4),
    )
    yield (
        "llama",
        lambda _: Decoder(
            transformers.LlamaForCausalLM(small(transformers.LlamaConfig, num_key_value_heads=2))
        ),
        step + past(2),
    )
    yield "whisper", lambda _: Audio(), [("mels", torch.randn(2, 12, 60), {0: "batch"})]
    yield (
        "lstm",
        lambda _: Recurrent(),
        [("x", torch.randint(30, (2, 6)), {0: "batch", 1: "length"})],
    )


def exported(network, inputs, *, dynamo, symbolic):
    """The model of an exporter."""
    names = [name for name, _, _ in inputs]
    sizes = {name: axes for name, _, axes in inputs}
    tensors = tuple(tensor for _, tensor, _ in inputs)
    options = {"input_names": names}
    if symbolic and dynamo:
        shapes = [dict.fromkeys(sizes[name], torch.export.Dim.AUTO) for name in names]
        if isinstance(network, Decoder):  # its further inputs are one argument
            shapes = [*shapes[:2], tuple(shapes[2:])]
        options["dynamic_shapes"] = tuple(shapes)
    elif symbolic:
        options["dynamic_axes"] = sizes
    options |= {"external_data": False} if dynamo else {"opset_version": 17}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported.onnx"
        torch.onnx.export(network, tensors, path, dynamo=dynamo, verbose=False, **options)
        return onnx.load(path)


def weightless(model):
    """Removes the weights, and what is only said of the model."""
    for graph in [model.graph, *model.functions]:
        del graph.metadata_props[:]
        graph.doc_string = ""
        del graph.value_info[:]
        for node in graph.node:
            del node.metadata_props[:]
            node.doc_string = ""
    del model.metadata_props[:]
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        del tensor.metadata_props[:]
        tensor.doc_string = ""
        if tensor.data_type == TensorProto.FLOAT and values.size > FEW and values.min() > LOWEST:
            for field in ("raw_data", "float_data"):
                tensor.ClearField(field)
    return model


def main():
    """Writes every model."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    FOLDER.mkdir(parents=True, exist_ok=True)
    print({m.__name__: m.__version__ for m in (torch, transformers, onnx)})
    for name, network, inputs in cases():
        sized = any(axes for _, _, axes in inputs)
        for dynamo, symbolic in ((False, sized), (True, False), (True, True))[: 3 if sized else 2]:
            torch.manual_seed(7)
            form = f"{'dynamo' if dynamo else 'trace'}-{'symbolic' if symbolic else 'fixed'}"
            path = FOLDER / f"{name}-{form}.onnx.gz"
            model = exported(network(dynamo).eval(), inputs, dynamo=dynamo, symbolic=symbolic)
            file = weightless(model).SerializeToString()
            path.write_bytes(gzip.compress(file, mtime=0))
            print(path.name, len(model.graph.node), len(file), path.stat().st_size, flush=True)


if __name__ == "__main__":
    main()
