"""Convolutions in NumPy, in the dtype of the operands, as references for the results."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator


def _taps(
    x: np.ndarray, kernel: tuple[int, ...], places: tuple[int, ...], stride: int
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each position of the kernel, and the elements of `x` that outputs see through it."""
    for tap in product(*map(range, kernel)):
        spans = zip(tap, places, strict=True)
        yield tap, tuple(slice(t, t + (n - 1) * stride + 1, stride) for t, n in spans)


def conv(
    x: np.ndarray, w: np.ndarray, b: np.ndarray, stride: int, padding: int, groups: int
) -> np.ndarray:
    """The convolution of images with `w`."""
    x, w, b = (a.astype(np.float64) for a in (x, w, b))
    rank = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * rank])
    places = tuple((n - k) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:], strict=True))
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    w = w.reshape(groups, -1, *w.shape[1:])
    y = np.zeros((x.shape[0], groups, w.shape[1], *places))
    for tap, seen in _taps(x, w.shape[3:], places, stride):
        part = x[(..., *seen)].reshape(*x.shape[:3], -1)
        y += (w[(..., *tap)] @ part).reshape(y.shape)
    return y.reshape(x.shape[0], -1, *places) + b.reshape(-1, *[1] * rank)


def conv_transpose(
    x: np.ndarray, w: np.ndarray, b: np.ndarray, stride: int, padding: int
) -> np.ndarray:
    """The transposed convolution of images with `w`."""
    x, w, b = (a.astype(np.float64) for a in (x, w, b))
    rank = w.ndim - 2
    sizes = [(n - 1) * stride + k for n, k in zip(x.shape[2:], w.shape[2:], strict=True)]
    y = np.zeros((x.shape[0], w.shape[1], *sizes))
    for tap, places in _taps(y, w.shape[2:], x.shape[2:], stride):
        part = w[(..., *tap)].T @ x.reshape(*x.shape[:2], -1)
        y[(..., *places)] += part.reshape(x.shape[0], -1, *x.shape[2:])
    inner = slice(padding, -padding or None)
    return y[(..., *[inner] * rank)] + b.reshape(-1, *[1] * rank)


def weight_gradient(
    g: np.ndarray, x: np.ndarray, kernel: tuple[int, ...], stride: int, padding: int, groups: int
) -> np.ndarray:
    """The gradient of a convolution's weight, for the gradient `g` of its result."""
    g, x = (a.astype(np.float64) for a in (g, x))
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * len(kernel)])
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    places = g.shape[2:]
    g = g.reshape(g.shape[0], groups, -1, np.prod(places))
    w = np.zeros((groups, g.shape[2], x.shape[2], *kernel))
    for tap, seen in _taps(x, kernel, places, stride):
        part = x[(..., *seen)].reshape(*x.shape[:3], -1)
        w[(..., *tap)] = (g @ part.swapaxes(-1, -2)).sum(0)
    return w.reshape(-1, x.shape[2], *kernel)


def folded(x: np.ndarray, size: tuple[int, int], kernel: int, padding: int) -> np.ndarray:
    """torch's fold with stride 1."""
    places = [n + 2 * padding - kernel + 1 for n in size]
    x = x.reshape(x.shape[0], -1, kernel * kernel, *places)
    y = np.zeros((*x.shape[:2], *(n + 2 * padding for n in size)))
    for k, (_, seen) in enumerate(_taps(y, (kernel, kernel), places, 1)):
        y[(..., *seen)] += x[:, :, k]
    return y[:, :, padding : padding + size[0], padding : padding + size[1]]


def deform_conv(x: np.ndarray, offset: np.ndarray, w: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The deformable convolution of images with `w` (Zhu et al., 2019), with one offset group and zero padding that keeps the size."""
    from scipy import ndimage

    kernel, places = w.shape[2:], x.shape[2:]
    y = np.zeros((x.shape[0], w.shape[0], *places))
    for k, tap in enumerate(product(*map(range, kernel))):
        for n, image in enumerate(x):
            start = np.array(tap)[:, None, None] - np.array(kernel)[:, None, None] // 2
            at = np.indices(places) + start + offset[n, 2 * k : 2 * k + 2]
            seen = [ndimage.map_coordinates(c, at, order=1, mode="grid-constant") for c in image]
            y[n] += np.tensordot(w[(..., *tap)], np.stack(seen) * mask[n, k], 1)
    return y
