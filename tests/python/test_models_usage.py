"""SentenceEncoder as users of sentence-transformers call it: options of encode, settings, progress."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_bert import CONFIG, TEXTS, write_model

import flex
from flex.models import SentenceEncoder
from flex.models._progress import ProgressBar

MODELS = Path(__file__).resolve().parent.parent / "data" / "models"
PROSE = "the cat sat on the mat, far away. " * 500
LONG_TEXTS = {
    "prose": PROSE,
    "white space": PROSE.replace("a", "  a\u3000").replace(" o", "\r\n\t o"),
    "marks": "e\u0301 \u0301 ﬁ " * 5000,
    "no white space": "the,cat" * 3000,
    "words of no token": ("x" * 4000 + " ") * 20 + PROSE,
    "one word": "x" * 50_000,
    "blank": " " * 50_000 + PROSE,
}


@pytest.fixture
def small(tmp_path):
    return SentenceEncoder.load(write_model(tmp_path))


class TestLength:
    LONG = "the cat sat on the mat far away"

    @pytest.mark.parametrize("name", ["max_tokens", "max_seq_length"])
    def test_setting_the_limit(self, small, name):
        before = small.encode([self.LONG])
        setattr(small, name, 5)
        assert (small.max_tokens, small.max_seq_length) == (5, 5)
        assert small.tokenize([self.LONG])["input_ids"].shape == (1, 5)
        assert small.encode([self.LONG]).tolist() == small.encode(["the cat sat"]).tolist()
        setattr(small, name, CONFIG["max_position_embeddings"])
        assert small.encode([self.LONG]).tolist() == before.tolist()

    @pytest.mark.parametrize("tokens", [0, -3, 2, 17, 1 << 70])
    def test_limits_out_of_range(self, small, tokens):
        with pytest.raises(
            ValueError, match=rf"max_seq_length is {tokens}, but this model takes 3 to 16 tokens"
        ):
            small.max_tokens = tokens
        assert small.max_tokens == 16

    @pytest.mark.parametrize("tokens", [None, 8.0, True, "8"])
    def test_wrong_type(self, small, tokens):
        with pytest.raises(TypeError, match="not int"):
            small.max_seq_length = tokens


class TestLongTexts:
    """The tokenizer gets their beginnings."""

    @pytest.mark.parametrize("text", LONG_TEXTS)
    @pytest.mark.parametrize("model", sorted(p.name for p in MODELS.iterdir() if p.is_dir()))
    def test_tokens_of_the_whole(self, model, text):
        encoder = SentenceEncoder.load(MODELS / model)
        wanted = encoder._tokenizer.encode(LONG_TEXTS[text]).ids
        for more in ([], ["a cat"]):
            found = encoder.tokenize([LONG_TEXTS[text], *more])
            length = flex.sum(found["attention_mask"][0]).item()
            assert found["input_ids"][0, :length].tolist() == wanted

    def test_no_further(self, small):
        class Counting:
            def encode(self, text):
                lengths.append(len(text))
                return tokenizer.encode(text)

        tokenizer, lengths = small._tokenizer, []
        small._tokenizer = Counting()
        small.encode("the cat sat " * 100_000)
        assert len(lengths) == 1
        assert lengths[0] < 100 * small.max_seq_length


class TestEncode:
    def test_one_text_alone(self, small):
        vector = small.encode(TEXTS[0])
        assert vector.shape == (12,)
        assert vector.tolist() == small.encode(TEXTS[:1])[0].tolist()

    def test_numpy(self, small):
        vectors = small.encode(TEXTS, convert_to_numpy=True)
        assert type(vectors) is np.ndarray
        assert vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors, small.encode(TEXTS))
        vectors *= 2  # writable
        assert small.encode(TEXTS[0], convert_to_numpy=True).shape == (12,)
        assert small.encode([], convert_to_numpy=True).shape == (0, 12)

    def test_arguments_with_one_value(self, small):
        given = {"output_value": "sentence_embedding", "precision": "float32", "device": "cpu"}
        assert small.encode(TEXTS, **given).tolist() == small.encode(TEXTS).tolist()
        for name, value in (
            ("output_value", "token_embeddings"),
            ("precision", "binary"),
            ("device", "cuda"),
        ):
            with pytest.raises(ValueError, match=f"{name} is '{value}', only '{given[name]}'"):
                small.encode(TEXTS, **{name: value})

    def test_tensor(self, small):
        for numpy in (False, True):  # as in sentence-transformers, the tensor has priority
            vectors = small.encode(TEXTS, convert_to_tensor=True, convert_to_numpy=numpy)
            assert isinstance(vectors, flex.Tensor)

    @pytest.mark.parametrize("texts", [None, 3, b"text", {"text": 1}])
    def test_no_texts(self, small, texts):
        with pytest.raises(TypeError, match=r"encode: texts is of type .*, a list of texts"):
            small.encode(texts)

    def test_array_of_texts(self, small):
        assert small.encode(np.array(TEXTS)).tolist() == small.encode(TEXTS).tolist()

    @pytest.mark.parametrize("count", [1, 5, 12, 99])
    def test_truncated_vectors(self, small, tmp_path, count):
        whole = np.asarray(small.encode(TEXTS))
        np.testing.assert_array_equal(small.encode(TEXTS, truncate_dim=count), whole[:, :count])
        np.testing.assert_array_equal(small.encode([], truncate_dim=count), whole[:0, :count])
        encoder = SentenceEncoder.load(tmp_path, truncate_dim=count)
        assert encoder.dimension == encoder.get_sentence_embedding_dimension() == min(count, 12)
        np.testing.assert_array_equal(encoder.encode(TEXTS), whole[:, :count])

    def test_truncated_and_normalised_vectors(self, small):
        vectors = np.asarray(small.encode(TEXTS, truncate_dim=5, normalize_embeddings=True))
        whole = np.asarray(small.encode(TEXTS))[:, :5]
        np.testing.assert_allclose(
            vectors, whole / np.linalg.norm(whole, axis=1, keepdims=True), rtol=0, atol=1e-6
        )

    @pytest.mark.parametrize("count", [0, -1, 2.0, True])
    def test_invalid_truncate_dim(self, small, tmp_path, count):
        with pytest.raises(
            ValueError, match=f"truncate_dim is {count}, a whole number from 1 on is needed"
        ):
            small.encode(TEXTS, truncate_dim=count)
        with pytest.raises(ValueError, match="truncate_dim"):
            SentenceEncoder.load(tmp_path, truncate_dim=count)
        small.truncate_dim = count
        with pytest.raises(ValueError, match="truncate_dim"):
            small.encode(TEXTS)


class TestTokenize:
    def test_padding(self, small):
        tokens = small.tokenize(["the cat", "", "a dog ran far"])
        assert tokens["input_ids"].tolist() == [
            [2, 4, 6, 3, 0, 0],
            [2, 3, 0, 0, 0, 0],
            [2, 5, 7, 9, 12, 3],
        ]
        assert tokens["attention_mask"].tolist() == [
            [1, 1, 1, 1, 0, 0],
            [1, 1, 0, 0, 0, 0],
            [1, 1, 1, 1, 1, 1],
        ]
        assert tokens["input_ids"].dtype == flex.int64

    def test_no_texts(self, small):
        assert small.tokenize([])["input_ids"].shape == (0, 0)

    def test_one_text_alone(self, small):
        with pytest.raises(
            TypeError, match="tokenize: texts is of type str, a list of texts is needed"
        ):
            small.tokenize("the cat")


class TestSimilarity:
    @pytest.mark.parametrize(
        ("name", "function"),
        [
            (
                "cosine",
                lambda a, b: (
                    (a / np.linalg.norm(a, axis=1, keepdims=True))
                    @ (b / np.linalg.norm(b, axis=1, keepdims=True)).T
                ),
            ),
            ("dot", lambda a, b: a @ b.T),
            ("euclidean", lambda a, b: -np.linalg.norm(a[:, None] - b, axis=2)),
            ("manhattan", lambda a, b: -np.abs(a[:, None] - b).sum(axis=2)),
        ],
    )
    def test_functions(self, small, name, function):
        rng = np.random.default_rng(3)
        a, b = rng.normal(size=(5, 12)), rng.normal(size=(7, 12))
        small.similarity_fn_name = name
        np.testing.assert_allclose(small.similarity(a, b), function(a, b), rtol=0, atol=1e-5)
        pairs = np.diagonal(function(a, b[:5]))
        np.testing.assert_allclose(small.similarity_pairwise(a, b[:5]), pairs, rtol=0, atol=1e-5)
        np.testing.assert_allclose(small.similarity_pairwise(a[0], b[0]), pairs[:1], atol=1e-5)
        assert small.similarity_pairwise(a[:0], b[:0]).shape == (0,)
        with pytest.raises(ValueError, match="similarity_pairwise: a has 5 rows, b 7"):
            small.similarity_pairwise(a, b)
        assert small.similarity(a[:0], b).shape == (0, 7)
        assert small.similarity(a, b[:0]).shape == (5, 0)

    def test_unknown_function(self, small):
        with pytest.raises(
            ValueError,
            match="similarity_fn_name is 'cos', none of cosine, dot, euclidean, manhattan",
        ):
            small.similarity_fn_name = "cos"

    def test_shapes_that_do_not_fit(self, small):
        with pytest.raises(
            ValueError, match=r"similarity: the dimensions of a \[1, 12\] and b \[3, 11\] differ"
        ):
            small.similarity(np.zeros(12), np.zeros((3, 11)))
        with pytest.raises(ValueError, match=r"similarity: b has shape \[1, 3, 12\]"):
            small.similarity(np.zeros(12), np.zeros((1, 3, 12)))


def test_repr(small):
    assert (
        repr(small)
        == "SentenceEncoder(bert, 2 layers, pooling=mean, normalize=True, dimension=12, max_seq_length=16)"
    )


class TestProgress:
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def test_on_a_terminal(self):
        stream = self.Terminal()
        with ProgressBar(4, "working", stream) as bar:
            for _ in range(4):
                bar.advance(1)
        assert "working [" in stream.getvalue()
        assert "] 4/4 " in stream.getvalue()
        assert stream.getvalue().endswith("\n")

    def test_without_a_terminal(self):
        stream = io.StringIO()
        with ProgressBar(4, "working", stream) as bar:
            bar.advance(4)
        assert stream.getvalue() == ""

    # a module with the part of tqdm's class that is used
    TQDM = (
        "class tqdm:\n"
        "    def __init__(self, total, desc): self.total, self.label, self.n = total, desc, 0\n"
        "    def __enter__(self): return self\n"
        "    def __exit__(self, *_): print(f'{self.label}: {100 * self.n // self.total}% {self.n}/{self.total}', file=sys.stderr)\n"
        "    def update(self, n): self.n += n\n"
        "sys.modules['tqdm'] = sys.modules['tqdm.auto'] = types.SimpleNamespace(tqdm=tqdm)"
    )

    @pytest.mark.parametrize("prelude", [TQDM, "sys.modules['tqdm.auto'] = None"])
    @pytest.mark.parametrize("shown", [True, False])
    def test_encode(self, tmp_path, prelude, shown):
        program = (
            f"import sys, types\n{prelude}\n"
            "from flex.models import SentenceEncoder\n"
            "sys.stderr.isatty = lambda: True\n"
            f"SentenceEncoder.load(sys.argv[1]).encode(['the cat', 'a dog'], show_progress_bar={shown})"
        )
        error = subprocess.run(
            [sys.executable, "-c", program, write_model(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        assert ("embedding" in error and "2/2" in error) == shown
        assert ("100%" in error) == (shown and prelude == self.TQDM)
