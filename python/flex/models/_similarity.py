"""How alike two vectors are: sentence-transformers' functions, of which larger values always mean more alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import flex

if TYPE_CHECKING:
    from collections.abc import Callable

    from flex import Tensor

LEAST_LENGTH = (
    1e-12  # as torch.nn.functional.normalize: what is divided by where a vector is shorter
)


def normalize(vectors: Tensor) -> Tensor:
    """Rows of length 1; rows of zeros stay so."""
    return vectors / flex.maximum(
        flex.sqrt(flex.sum(flex.square(vectors), axis=-1, keepdims=True)), LEAST_LENGTH
    )


def _each_row(distance: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The negated distance of every two rows: the differences from one row of `a` at a time are held, and nothing cancels."""

    def similarity(a: Tensor, b: Tensor) -> Tensor:
        rows = [-distance(b - a[k]) for k in range(a.shape[0])]
        return flex.stack(rows) if rows else flex.zeros((0, b.shape[0]), dtype=b.dtype)

    return similarity


# similarity_fn_name: [n, dimension] and [m, dimension] give [n, m].
SIMILARITIES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": lambda a, b: normalize(a) @ normalize(b).T,
    "dot": lambda a, b: a @ b.T,
    "euclidean": _each_row(
        lambda differences: flex.sqrt(flex.sum(flex.square(differences), axis=1))
    ),
    "manhattan": _each_row(lambda differences: flex.sum(flex.abs(differences), axis=1)),
}
