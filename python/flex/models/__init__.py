"""Models that run on flex, with weights from Hugging Face folders.

>>> encoder = flex.models.SentenceEncoder.load(folder)  # of all-MiniLM-L6-v2
>>> encoder.encode(["A cat sits on the mat.", "A kitten rests on a rug."]).shape
(2, 384)
"""

from .sentence import SentenceEncoder

__all__ = ["SentenceEncoder"]
