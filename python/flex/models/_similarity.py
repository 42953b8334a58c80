"""Similarity of vectors: sentence-transformers' functions, of which larger values always mean more similar."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def _each_row(distance: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The negated distance of each pair of rows. Subtracting one row of `a` at a time bounds memory and avoids cancellation."""

    def similarity(a: Tensor, b: Tensor) -> Tensor:
        rows = [-distance(b - a[k]) for k in range(a.shape[0])]
        return flex.stack(rows) if rows else flex.zeros((0, b.shape[0]), dtype=b.dtype)

    return similarity


# By similarity_fn_name: functions of [n, dimension] and [m, dimension] to [n, m].
SIMILARITIES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": lambda a, b: normalize(a) @ normalize(b).T,
    "dot": lambda a, b: a @ b.T,
    "euclidean": _each_row(
        lambda differences: flex.sqrt(flex.sum(flex.square(differences), axis=1))
    ),
    "manhattan": _each_row(lambda differences: flex.sum(flex.abs(differences), axis=1)),
}
