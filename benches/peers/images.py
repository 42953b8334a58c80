"""Resampling by its definition, as a reference for the results: a weight matrix along each axis."""

from __future__ import annotations

import numpy as np


def _cubic(x: np.ndarray, a: float) -> np.ndarray:
    x = np.abs(x)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _weights(size: int, places: int, mode: str, antialias: bool) -> np.ndarray:
    step = size / places
    centre = step * (np.arange(places)[:, None] + 0.5)
    if antialias:
        wide = max(step, 1.0)
        distance = (np.arange(size) + 0.5 - centre) / wide
        triangle = np.maximum(1 - np.abs(distance), 0)
        weights = triangle if mode == "bilinear" else _cubic(distance, -0.5)
        return weights / weights.sum(axis=1, keepdims=True)
    weights = np.zeros((places, size))
    rows = np.arange(places)
    at = centre[:, 0] - 0.5 if mode != "nearest" else step * rows
    below = np.floor(at).astype(int)
    for tap in {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}[mode]:
        distance = at - (below + tap)
        kernel = {
            "nearest": np.ones(places),
            "bilinear": 1 - np.abs(distance),
            "bicubic": _cubic(distance, -0.75),
        }[mode]
        np.add.at(weights, (rows, np.clip(below + tap, 0, size - 1)), kernel)
    return weights


def resized(a: np.ndarray, size: tuple[int, int], mode: str, antialias: bool = False) -> np.ndarray:
    """torch's interpolate without align_corners."""
    down, across = (_weights(n, m, mode, antialias) for n, m in zip(a.shape[2:], size, strict=True))
    return down @ a @ across.T


def sampled(a: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """torch's grid_sample without align_corners, bilinear, with zero padding."""
    from scipy import ndimage

    sizes = np.array(a.shape[:1:-1])
    x, y = np.moveaxis(((grid + 1) * sizes - 1) / 2, -1, 0)
    return np.stack(
        [
            [
                ndimage.map_coordinates(plane, [y[n], x[n]], order=1, mode="grid-constant")
                for plane in image
            ]
            for n, image in enumerate(a)
        ]
    )
