"""Pooling: how the vectors of a text's tokens become its own. The modes are those of sentence-transformers' module of that name."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import flex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flex import Tensor


def _weighted_mean(tokens: Tensor, first: int) -> Tensor:
    """Later tokens weigh more (Muennighoff, 2022): as much as their place in the text, from 1 on."""
    count = tokens.shape[0]
    weights = flex.astype(flex.arange(first + 1, first + count + 1), tokens.dtype)
    return (weights @ tokens) / flex.sum(weights)


# What a mode makes of a text's [tokens, hidden_size], the first of which has the place `first` in
# the text: vectors of a mode lie in the result in this order.
MODES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "cls": lambda tokens, _: tokens[0],
    "max": lambda tokens, _: flex.max(tokens, axis=0),
    "mean": lambda tokens, _: flex.mean(tokens, axis=0),
    "mean_sqrt_len_tokens": lambda tokens, _: flex.sum(tokens, axis=0) / tokens.shape[0] ** 0.5,
    "weightedmean": _weighted_mean,
    "lasttoken": lambda tokens, _: tokens[-1],
}
# Before version 6 of sentence-transformers each mode had an entry of its own.
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
    """One vector a text, by one mode or by several whose vectors lie one after the other."""

    def __init__(self, modes: Sequence[str] = ("mean",), include_prompt: bool = True):
        self.modes = tuple(modes)
        self.include_prompt = include_prompt

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> Pooling:
        """Reads the config.json of a pooling module. ValueError where it asks for something else."""
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
        """[len(offsets) - 1, len(modes) * hidden_size] of `hidden` [tokens, hidden_size] and the texts `hidden[offsets[i]:offsets[i + 1]]`.

        `prompt` tokens begin each text; where `include_prompt` is false they don't take part. A text of which nothing is left has zeros.
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
