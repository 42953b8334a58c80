"""Losses in NumPy, by their definitions, as references for the results."""

from __future__ import annotations

import numpy as np


def ctc_loss(a: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The loss of each sequence of log-probabilities, all of whose steps and labels are used; the blank is 0."""
    batch, labels = targets.shape
    path = np.zeros((batch, 2 * labels + 1), dtype=int)
    path[:, 1::2] = targets
    skips = np.zeros(path.shape, dtype=bool)  # places that are reached over a blank
    skips[:, 2:] = (path[:, 2:] != 0) & (path[:, 2:] != path[:, :-2])
    seen = np.take_along_axis(a, path[None].repeat(len(a), 0), axis=2)
    alpha = np.full(path.shape, -np.inf)
    alpha[:, :2] = seen[0, :, :2]
    for step in seen[1:]:
        one, two = (
            np.pad(alpha, ((0, 0), (k, 0)), constant_values=-np.inf)[:, :-k] for k in (1, 2)
        )
        alpha = np.logaddexp(np.logaddexp(alpha, one), np.where(skips, two, -np.inf)) + step
    return -np.logaddexp(alpha[:, -1], alpha[:, -2])
