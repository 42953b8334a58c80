"""The main job: sentence embeddings with all-MiniLM-L6-v2, in each library's own way; tests/data has the expected vectors."""

from __future__ import annotations

from functools import cache

from .. import minilm
from ..table import Family, Known

main_job = Family("main job", 0.75)


def _row(name: str, count: int, goal: float) -> None:
    @cache
    def texts() -> list[str]:
        return minilm.texts(count)

    main_job.row(
        name,
        {"texts": Known(texts)},
        "encode(texts)",
        numpy=None,
        jax=None,
        onnxruntime="encode(texts)",
        openvino="encode(texts)",
        reference="published(texts)",
        compared="r[: len(published(texts))]",
        flops=lambda: minilm.flops(texts()),
        reads=0,
        tolerance=1e-4,
        goal=goal,
    )


def _int8_row(name: str, count: int) -> None:
    """Linear layers in int8, of those libraries that quantise a model themselves."""

    @cache
    def texts() -> list[str]:
        return minilm.texts(count)

    main_job.row(
        name,
        {"texts": Known(texts)},
        "encode_int8(texts)",
        numpy=None,
        torch=None,
        jax=None,
        onnxruntime="encode_int8(texts)",
        reference="published(texts)",
        compared="r[: len(published(texts))]",
        flops=lambda: minilm.flops(texts()),
        reads=0,
        computed_in="int8",
        tolerance=0.15,  # onnxruntime quantises a whole batch with one scale
    )


if minilm.folder():
    _row("512 texts", 512, main_job.goal)
    _row("one short text", 1, 0.6)
    _int8_row("512 texts, int8", 512)

FAMILIES = [main_job]
