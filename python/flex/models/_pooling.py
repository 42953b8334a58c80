"""Pooling: combines the vectors of a text's tokens into one. The modes are those of sentence-transformers' module of that name."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import flex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flex import Tensor


def _weighted_mean(tokens: Tensor, first: int) -> Tensor:
    """The mean weighted by the position in the text, counted from 1 (Muennighoff, 2022)."""
    count = tokens.shape[0]
    weights = flex.astype(flex.arange(first + 1, first + count + 1), tokens.dtype)
    return (weights @ tokens) / flex.sum(weights)


# The modes, as functions of a text's [tokens, hidden_size] and the position `first` of its first
# token. Vectors of several modes are concatenated in this order.
MODES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "cls": lambda tokens, _: tokens[0],
    "max": lambda tokens, _: flex.max(tokens, axis=0),
    "mean": lambda tokens, _: flex.mean(tokens, axis=0),
    "mean_sqrt_len_tokens": lambda tokens, _: flex.sum(tokens, axis=0) / tokens.shape[0] ** 0.5,
    "weightedmean": _weighted_mean,
    "lasttoken": lambda tokens, _: tokens[-1],
}
# Before version 6 of sentence-transformers each mode had its own entry.
FLAGS = {
    f"pooling_mode_{name}": mode
    for name, mode in [
        ("cls_token", "cls"),
        ("max_tokens", "max"),
        ("mean_tokens", "mean"),
        ("mean_sqrt_len_tokens", "mean_sqrt_len_tokens"),
        ("weightedmean_tokens", "weightedmean"),
        ("lasttoken", "lasttoken"),
    ]
}


class Pooling:
    """One vector per text, by one mode or as the concatenation of several."""

    def __init__(self, modes: Sequence[str] = ("mean",), include_prompt: bool = True):
        self.modes = tuple(modes)
        self.include_prompt = include_prompt

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> Pooling:
        """Reads the config.json of a pooling module. ValueError if it is not supported."""
        modes = entries.get("pooling_mode")
        if modes is None:
            unknown = [
                name
                for name, on in entries.items()
                if name.startswith("pooling_mode_") and name not in FLAGS and on
            ]
            modes = [
                *unknown,
                *(mode for name, mode in FLAGS.items() if entries.get(name) is True),
            ] or ["mean"]
        elif isinstance(modes, str):
            modes = [modes]
        if (
            not isinstance(modes, list)
            or not modes
            or any(not isinstance(mode, str) or mode not in MODES for mode in modes)
        ):
            raise ValueError(f"unsupported pooling_mode {modes!r}: {', '.join(MODES)} are")
        include_prompt = entries.get("include_prompt", True)
        if not isinstance(include_prompt, bool):
            raise ValueError(f"include_prompt is {include_prompt!r}, not true or false")
        return cls(modes, include_prompt)

    def __call__(self, hidden: Tensor, offsets: Sequence[int], prompt: int = 0) -> Tensor:
        """[len(offsets) - 1, len(modes) * hidden_size] for `hidden` [tokens, hidden_size] of texts `hidden[offsets[i]:offsets[i + 1]]`.

        The first `prompt` tokens of each text are excluded if `include_prompt` is false. A text without remaining tokens has zeros.
        """
        first = 0 if self.include_prompt else prompt
        nothing = flex.zeros((len(self.modes) * hidden.shape[1],), dtype=hidden.dtype)
        vectors = []
        for start, end in pairwise(offsets):
            if end - start <= first:
                vectors.append(nothing)
                continue
            parts = [MODES[mode](hidden[start + first : end], first) for mode in self.modes]
            vectors.append(flex.concat(parts) if len(parts) > 1 else parts[0])
        return flex.stack(vectors)

    def __repr__(self) -> str:
        return "+".join(self.modes)
