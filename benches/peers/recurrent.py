"""Recurrent layers in NumPy, step by step, as references for the results. Gates are in torch's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm(x: np.ndarray, u: np.ndarray, w: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The output `[steps, batch, hidden]` of an LSTM whose states start as zeros."""
    h = c = np.zeros((x.shape[1], w.shape[1]))
    steps = []
    for inputs in x @ u.T + a + b:
        i, f, g, o = np.split(inputs + h @ w.T, 4, axis=-1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        steps.append(h)
    return np.stack(steps)


def gru(x: np.ndarray, u: np.ndarray, w: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The output of a GRU."""
    h = np.zeros((x.shape[1], w.shape[1]))
    steps = []
    for inputs in x @ u.T + a:
        (r, z, n), (s, y, m) = (np.split(v, 3, axis=-1) for v in (inputs, h @ w.T + b))
        z = _sigmoid(z + y)
        h = (1 - z) * np.tanh(n + _sigmoid(r + s) * m) + z * h
        steps.append(h)
    return np.stack(steps)


def rnn_tanh(
    x: np.ndarray, u: np.ndarray, w: np.ndarray, a: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """The output of a plain network with tanh."""
    h = np.zeros((x.shape[1], w.shape[1]))
    steps = []
    for inputs in x @ u.T + a + b:
        h = np.tanh(inputs + h @ w.T)
        steps.append(h)
    return np.stack(steps)


def both(layer: Callable, x: np.ndarray, forwards: tuple, backwards: tuple) -> np.ndarray:
    """The output of a bidirectional layer."""
    return np.concatenate((layer(x, *forwards), layer(x[::-1], *backwards)[::-1]), -1)
