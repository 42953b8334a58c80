"""Similarity of vectors: sentence-transformers' functions, of which larger values always mean more similar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import flex

if TYPE_CHECKING:
    from collections.abc import Callable

    from flex import Tensor

LEAST_LENGTH = 1e-12  # shorter vectors are divided by this, as in torch.nn.functional.normalize


def normalize(vectors: Tensor) -> Tensor:
    """Rows of unit length; rows of zeros remain zeros."""
    return vectors / flex.maximum(
        flex.sqrt(flex.sum(flex.square(vectors), axis=-1, keepdims=True)), LEAST_LENGTH
    )


def rows_of(function: str, a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Vectors as rows of float32, of the same dimension; a vector is one row. ValueError for others."""
    rows = []
    for name, vectors in (("a", a), ("b", b)):
        tensor = flex.astype(flex.asarray(vectors), flex.float32, copy=False)
        if tensor.ndim not in (1, 2):
            raise ValueError(
                f"{function}: {name} has shape {list(tensor.shape)}, [dimension] or [texts, dimension] is needed"
            )
        rows.append(tensor if tensor.ndim == 2 else flex.expand_dims(tensor, axis=0))
    if rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(
            f"{function}: the dimensions of a {list(rows[0].shape)} and b {list(rows[1].shape)} differ"
        )
    return rows[0], rows[1]


def _each_row(pairs: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The similarity of each row of `a` and each of `b`. Subtracting one row of `a` at a time bounds memory and avoids cancellation."""

    def similarity(a: Tensor, b: Tensor) -> Tensor:
        rows = [pairs(a[k], b) for k in range(a.shape[0])]
        return flex.stack(rows) if rows else flex.zeros((0, b.shape[0]), dtype=b.dtype)

    return similarity


def _euclidean(a: Tensor, b: Tensor) -> Tensor:
    return -flex.sqrt(flex.sum(flex.square(b - a), axis=-1))


def _manhattan(a: Tensor, b: Tensor) -> Tensor:
    return -flex.sum(flex.abs(b - a), axis=-1)


# By similarity_fn_name: functions of [n, dimension] and [m, dimension] to [n, m].
SIMILARITIES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": lambda a, b: normalize(a) @ normalize(b).T,
    "dot": lambda a, b: a @ b.T,
    "euclidean": _each_row(_euclidean),
    "manhattan": _each_row(_manhattan),
}

# Functions of [n, dimension] and [n, dimension] to [n].
PAIRWISE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": lambda a, b: flex.sum(normalize(a) * normalize(b), axis=-1),
    "dot": lambda a, b: flex.sum(a * b, axis=-1),
    "euclidean": _euclidean,
    "manhattan": _manhattan,
}
