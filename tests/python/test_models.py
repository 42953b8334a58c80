"""SentenceEncoder: against published vectors with the real weights, and against a NumPy model with small random ones."""

import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_bert import (
    CONFIG,
    TEXTS,
    WORDS,
    bare_tokenizer,
    numpy_gelu,
    numpy_vector,
    numpy_vectors,
    random_weights,
    word_tokenizer,
    write_model,
)

import flex
from flex.cli import default_model
from flex.models import SentenceEncoder

DATA = Path(__file__).resolve().parent.parent / "data"


@pytest.fixture(scope="session")
def real():
    """all-MiniLM-L6-v2."""
    return SentenceEncoder.load(default_model())


@pytest.fixture
def small(tmp_path):
    return SentenceEncoder.load(write_model(tmp_path))


class TestRealModel:
    def test_published_vectors(self, real):
        sentences = json.loads((DATA / "minilm_sentences.json").read_text(encoding="utf-8"))
        vectors = real.encode(sentences)
        assert vectors.shape == (len(sentences), 384)
        assert vectors.dtype == flex.float32
        np.testing.assert_allclose(
            np.asarray(vectors), np.load(DATA / "minilm_embeddings.npy"), rtol=0, atol=1e-5
        )

    def test_similar_sentences_have_close_vectors(self, real):
        a, b, c = real.encode(
            ["A cat sits on the mat.", "A kitten rests on a rug.", "Shares dropped this afternoon."]
        )
        assert float(a @ b) > 0.5 > float(a @ c)

    def test_layers_of_int8(self, real):
        sentences = json.loads((DATA / "minilm_sentences.json").read_text(encoding="utf-8"))
        flex.empty_cache()
        before = flex.memory_stats()["in_use"]
        encoder = SentenceEncoder.load(default_model(), quantize="int8")
        # a byte for each weight of six layers of 384 x (4 x 384 + 2 x 1536), the scales, and the float32 rest
        assert flex.memory_stats()["in_use"] - before < 6 * 384 * 12 * 384 + (1 << 20)
        found, wanted = (np.asarray(e.encode(sentences)) for e in (encoder, real))
        cosines = (found * wanted).sum(axis=1)
        assert cosines.mean() >= 0.995
        assert cosines.min() >= 0.99

    def test_weights_stay_mapped(self):
        flex.empty_cache()
        before = flex.memory_stats()["in_use"]
        encoder = SentenceEncoder.load(default_model())
        assert flex.memory_stats()["in_use"] - before < 1 << 20
        assert encoder.dimension == 384


class TestSmallModel:
    @pytest.mark.parametrize("batch_size", [1, 2, 3, 32])
    def test_batches_do_not_matter(self, small, batch_size):
        vectors = small.encode(TEXTS, batch_size=batch_size)
        np.testing.assert_allclose(np.asarray(vectors), numpy_vectors(TEXTS), rtol=0, atol=2e-6)

    def test_layers_of_int8(self, tmp_path):
        encoder = SentenceEncoder.load(write_model(tmp_path), quantize="int8")
        vectors = np.asarray(encoder.encode(TEXTS))
        assert (vectors * numpy_vectors(TEXTS)).sum(axis=1).min() > 0.98
        with pytest.raises(ValueError, match="int4"):
            SentenceEncoder.load(tmp_path, quantize="int4")

    @pytest.mark.parametrize("prefix", ["bert.", "0.auto_model."])
    def test_prefixes_of_weights(self, tmp_path, prefix):
        encoder = SentenceEncoder.load(write_model(tmp_path, prefix=prefix))
        np.testing.assert_allclose(
            np.asarray(encoder.encode(TEXTS)), numpy_vectors(TEXTS), rtol=0, atol=2e-6
        )

    @pytest.mark.parametrize(
        ("name", "activation"),
        [
            (
                "gelu_new",
                lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
            ),
            ("relu", lambda x: np.maximum(x, 0)),
            ("silu", lambda x: x / (1 + np.exp(-x))),
        ],
    )
    def test_activations(self, tmp_path, name, activation):
        encoder = SentenceEncoder.load(write_model(tmp_path, config={"hidden_act": name}))
        np.testing.assert_allclose(
            np.asarray(encoder.encode(TEXTS)), numpy_vectors(TEXTS, activation), rtol=0, atol=2e-6
        )

    def test_half_precision_weights(self, tmp_path):
        encoder = SentenceEncoder.load(write_model(tmp_path, dtype=flex.float16))
        weights = {name: value.astype(np.float16) for name, value in random_weights().items()}
        vectors = encoder.encode(TEXTS)
        assert vectors.dtype == flex.float32
        np.testing.assert_allclose(
            np.asarray(vectors), numpy_vectors(TEXTS, weights=weights), rtol=0, atol=2e-6
        )

    def test_defaults_of_config(self, tmp_path):
        optional = dict.fromkeys(
            ("type_vocab_size", "layer_norm_eps", "hidden_act", "pad_token_id")
        )
        encoder = SentenceEncoder.load(write_model(tmp_path, config=optional))
        np.testing.assert_allclose(
            np.asarray(encoder.encode(TEXTS)), numpy_vectors(TEXTS), rtol=0, atol=2e-6
        )

    def test_truncation(self, tmp_path):
        write_model(tmp_path)
        long = " ".join(["cat dog"] * 50)
        assert SentenceEncoder.load(tmp_path).max_tokens == CONFIG["max_position_embeddings"]
        (tmp_path / "sentence_bert_config.json").write_text(
            '{"max_seq_length": 5}', encoding="utf-8"
        )
        encoder = SentenceEncoder.load(tmp_path)
        assert encoder.max_tokens == 5
        assert encoder.encode([long]).tolist() == encoder.encode(["cat dog cat"]).tolist()

    def test_settings_of_the_tokenizer_file_do_not_matter(self, tmp_path):
        write_model(tmp_path)
        tokenizer = word_tokenizer()
        tokenizer.enable_padding(length=12)
        tokenizer.enable_truncation(4)
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        encoder = SentenceEncoder.load(tmp_path)
        np.testing.assert_allclose(
            np.asarray(encoder.encode(TEXTS)), numpy_vectors(TEXTS), rtol=0, atol=2e-6
        )

    @pytest.mark.parametrize("batch_size", [1, 2, 32])
    def test_texts_without_tokens(self, tmp_path, batch_size):
        write_model(tmp_path)
        bare_tokenizer().save(str(tmp_path / "tokenizer.json"))
        encoder = SentenceEncoder.load(tmp_path)
        vectors = np.asarray(encoder.encode(["", "the cat", " ", "", "dog"], batch_size=batch_size))
        tokens = [[WORDS.index(word) for word in text.split()] for text in ("the cat", "dog")]
        np.testing.assert_allclose(
            vectors[[1, 4]],
            [numpy_vector(random_weights(), row, numpy_gelu) for row in tokens],
            rtol=0,
            atol=2e-6,
        )
        np.testing.assert_array_equal(vectors[[0, 2, 3]], 0)
        np.testing.assert_array_equal(np.asarray(encoder.encode([""])), np.zeros((1, 12)))

    def test_no_texts(self, small):
        vectors = small.encode([])
        assert vectors.shape == (0, 12)
        assert vectors.dtype == flex.float32

    def test_any_iterable(self, small):
        assert small.encode(text for text in TEXTS).tolist() == small.encode(tuple(TEXTS)).tolist()

    @pytest.mark.parametrize("threads", [1, 2, 3])
    def test_threads_do_not_change_bits(self, small, threads):
        with flex.threads(threads):
            vectors = small.encode(TEXTS)
        with flex.threads(1):
            assert vectors.tolist() == small.encode(TEXTS).tolist()


def test_models_are_imported_lazily():
    program = (
        "import sys, flex; assert 'flex.models' not in sys.modules; flex.models.SentenceEncoder"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


MEMBERS = [name for name in vars(SentenceEncoder) if not name.startswith("_")]


class TestDocstrings:
    """The examples run with all-MiniLM-L6-v2; its path is their `folder`."""

    @pytest.mark.parametrize("name", MEMBERS)
    def test_members_are_documented(self, name):
        assert inspect.getdoc(getattr(SentenceEncoder, name))

    @pytest.mark.parametrize(
        "documented",
        [flex.models, SentenceEncoder, *(getattr(SentenceEncoder, name) for name in MEMBERS)],
    )
    def test_examples(self, real, documented):
        names = {"flex": flex, "folder": default_model(), "encoder": real}
        test = doctest.DocTestParser().get_doctest(
            inspect.getdoc(documented), names, "example", None, 0
        )
        report = []
        doctest.DocTestRunner(verbose=False).run(test, out=report.append)
        assert not report, "".join(report)
