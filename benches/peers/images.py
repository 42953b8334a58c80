"""Resampling by its definition, as a reference for the results: a weight matrix along each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


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
        weights = {
            "bilinear": np.maximum(1 - np.abs(distance), 0),
            "bicubic": _cubic(distance, -0.5),
            "lanczos3": np.where(
                np.abs(distance) < 3, np.sinc(distance) * np.sinc(distance / 3), 0
            ),
        }[mode]
        return weights / weights.sum(axis=1, keepdims=True)
    weights = np.zeros((places, size))
    rows = np.arange(places)
    at = {"nearest": step * rows, "nearest-exact": centre[:, 0]}.get(mode, centre[:, 0] - 0.5)
    below = np.floor(at).astype(int)
    for tap in {"bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}.get(mode, (0,)):
        distance = at - (below + tap)
        kernel = {
            "bilinear": 1 - np.abs(distance),
            "bicubic": _cubic(distance, -0.75),
        }.get(mode, np.ones(places))
        np.add.at(weights, (rows, np.clip(below + tap, 0, size - 1)), kernel)
    return weights


def _along(a: np.ndarray, axis: int, weights: np.ndarray) -> np.ndarray:
    return np.moveaxis(np.moveaxis(a, axis, -1) @ weights.T, -1, axis)


def resized(
    a: np.ndarray, size: tuple[int, ...], mode: str, antialias: bool = False, back: bool = False
) -> np.ndarray:
    """torch's interpolate without align_corners, of images, signals or volumes; or `back`, its gradient from a gradient of its result.
    "bilinear" stands for linear in any dimension.
    """
    for axis, places in enumerate(size, 2):
        sizes = (places, a.shape[axis]) if back else (a.shape[axis], places)
        weights = _weights(*sizes, mode, antialias)
        a = _along(a, axis, weights.T if back else weights)
    return a


def aligned(a: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """torch's linear interpolate with align_corners."""
    for axis, places in enumerate(size, 2):
        at = np.linspace(0, a.shape[axis] - 1, places)[:, None]
        a = _along(a, axis, np.maximum(1 - np.abs(at - np.arange(a.shape[axis])), 0))
    return a


def pooled(a: np.ndarray, size: tuple[int, int], reduce: Callable) -> np.ndarray:
    """torch's adaptive pools: `reduce` over windows."""
    spans = [
        [slice(k * n // m, -(-(k + 1) * n // m)) for k in range(m)]
        for n, m in zip(a.shape[2:], size, strict=True)
    ]
    rows = [[reduce(a[:, :, y, x], axis=(2, 3)) for x in spans[1]] for y in spans[0]]
    return np.moveaxis(np.array(rows), (0, 1), (2, 3))


def places(shape: tuple[int, ...], kernel: int) -> np.ndarray:
    """Indices as a max pool of images of this shape returns them, of random elements of windows that don't overlap."""
    rows, columns = (np.arange(0, n, kernel) for n in shape[2:])
    drawn = np.random.default_rng(7).integers(0, kernel, (2, *shape[:2], len(rows), len(columns)))
    return (rows[:, None] + drawn[0]) * shape[3] + columns + drawn[1]


def sampled(a: np.ndarray, grid: np.ndarray, order: int = 1) -> np.ndarray:
    """torch's grid_sample without align_corners, bilinear or (order 0) of the nearest, with zero padding."""
    from scipy import ndimage

    sizes = np.array(a.shape[:1:-1])
    x, y = np.moveaxis(((grid + 1) * sizes - 1) / 2, -1, 0)
    if not order:
        x, y = np.rint(x), np.rint(y)
    return np.stack(
        [
            [
                ndimage.map_coordinates(plane, [y[n], x[n]], order=1, mode="grid-constant")
                for plane in image
            ]
            for n, image in enumerate(a)
        ]
    )


def sampled_cubic(a: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """torch's grid_sample without align_corners, bicubic, with borders repeated."""
    sizes = np.array(a.shape[:1:-1])
    at = ((grid + 1) * sizes - 1) / 2
    below = np.floor(at).astype(int)
    total = np.zeros((*a.shape[:2], *grid.shape[1:3]))
    for taps in np.ndindex(4, 4):
        near = below + np.array(taps) - 1
        factor = _cubic(at - near, -0.75).prod(-1)
        x, y = np.moveaxis(np.clip(near, 0, sizes - 1), -1, 0)
        total += factor[:, None] * np.stack([image[:, y[n], x[n]] for n, image in enumerate(a)])
    return total
