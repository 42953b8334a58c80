"""Semantic search over sentences.txt with all-MiniLM-L6-v2, and a check of the vectors against published ones.

    make demo

The exit status is 1 if a vector differs by more than 1e-5 from the reference, which was computed in float64.
"""

import json
import sys
import time
from pathlib import Path

import flex
from flex.cli import NO_MODEL, default_model
from flex.models import SentenceEncoder

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "tests" / "data"
QUERIES = [
    "my pet is taking a nap",
    "how do I cook Italian food?",
    "why did I lose money on my investments?",
    "bugs in concurrent programs",
]
TOLERANCE = 1e-5


def check(encoder: SentenceEncoder) -> float:
    """The largest difference between a vector and the reference."""
    sentences = json.loads((DATA / "minilm_sentences.json").read_text(encoding="utf-8"))
    reference = flex.io.load(DATA / "minilm_embeddings.npy")
    return float(flex.max(flex.abs(encoder.encode(sentences) - reference)))


def main() -> int:
    """Runs the demo; returns the exit status."""
    folder = default_model()
    if folder is None:
        print(NO_MODEL, file=sys.stderr)
        return 1
    start = time.perf_counter()
    encoder = SentenceEncoder.load(folder)
    print(f"loaded {folder} in {(time.perf_counter() - start) * 1e3:.0f} ms")

    sentences = (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines()
    encoder.encode(sentences[:2])  # the first call faults in the weights' pages
    start = time.perf_counter()
    vectors = encoder.encode(sentences, show_progress_bar=sys.stderr.isatty())
    seconds = time.perf_counter() - start
    print(
        f"{len(sentences)} sentences in {seconds * 1e3:.0f} ms: {len(sentences) / seconds:.0f} sentences per second"
    )

    for query, scores in zip(QUERIES, encoder.encode(QUERIES) @ vectors.T, strict=True):
        print(f"\n{query}")
        for k in flex.argsort(scores, descending=True)[:3].tolist():
            print(f"  {float(scores[k]):.3f}  {sentences[k]}")

    difference = check(encoder)
    right = difference <= TOLERANCE
    print(
        f"\nlargest difference from the reference: {difference:.1e} ({'right' if right else f'more than {TOLERANCE:.0e}'})"
    )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
