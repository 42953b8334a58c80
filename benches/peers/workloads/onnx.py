"""ONNX models, as files that flex and onnxruntime read and run."""

from __future__ import annotations

from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from .. import networks
from ..table import Family, Known

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..networks import Case

onnx_models = Family("ONNX models", 0.9)


def _row(
    name: str,
    make: Callable[[], Case],
    goal: float = onnx_models.goal,
    tolerance: float = 1e-4,
    call: str = "run",
) -> None:
    onnx_models.row(
        name,
        {"model": Known(cache(make))},
        f"{call}(model)",
        numpy=None,
        torch=None,
        jax=None,
        onnxruntime=f"{call}(model)",
        reference="by_onnxruntime(model)",
        reads=0,
        goal=goal,
        tolerance=tolerance,
    )


minilm = cache(partial(networks.bert, 6, 384, 12, 1, 32))
_row("MiniLM, 1x32 tokens", minilm, 0.85)
_row("MiniLM, 8x128 tokens", partial(networks.bert, 6, 384, 12, 8, 128), 0.85)
_row("MiniLM, 1x32 tokens, int8", lambda: networks.in_int8(minilm()), tolerance=0.05)
_row("MiniLM: load and first result", minilm, 0.3, call="load_and_run")
_row("ResNet-50", networks.resnet50)
_row("ResNet-50, int8", lambda: networks.in_qdq(networks.resnet50()), tolerance=0.05)
_row("MobileNetV3", networks.mobilenet)
_row("MobileNetV3: load and first result", networks.mobilenet, 0.3, call="load_and_run")
_row("EfficientNet-B0", networks.efficientnet)
_row("U-Net, 256x256", networks.unet)
_row("GPT-2, a token after 128", partial(networks.gpt2, 6, 512, 8, 128), 0.6)
_row("LSTM, 50 steps of 4x256", partial(networks.lstm, 50, 4, 256))
if find_spec("silero_vad"):
    _row("Silero VAD, a frame", networks.silero, 1.0)
    _row("Silero VAD: load and first result", networks.silero, 0.3, call="load_and_run")

FAMILIES = [onnx_models]
