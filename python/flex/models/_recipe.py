"""What another process makes an encoder of."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flex._shared import once

if TYPE_CHECKING:
    from flex._shared import Source

    from .sentence import SentenceEncoder


@dataclass(frozen=True)
class Recipe:
    """Makes an encoder of the files of another process, with the settings that it had there."""

    source: Source
    settings: tuple[Any, ...]

    def __call__(self) -> SentenceEncoder:
        loaded = self.source.model()
        encoder: SentenceEncoder = once((self, loaded), lambda: self._of(loaded))
        return copy.copy(encoder)

    def _of(self, loaded: SentenceEncoder) -> SentenceEncoder:
        encoder = copy.copy(loaded)
        length, truncate_dim, prompts, default_prompt_name, similarity_fn_name = self.settings
        if encoder.max_seq_length != length:
            encoder.max_seq_length = length
        encoder.truncate_dim = truncate_dim
        encoder.prompts = dict(prompts)
        encoder.default_prompt_name = default_prompt_name
        encoder.similarity_fn_name = similarity_fn_name
        return encoder
