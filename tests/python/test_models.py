"""SentenceEncoder: against published vectors with the real weights, and against a NumPy model with small random ones."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import erf
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import flex
from flex.cli import default_model
from flex.models import SentenceEncoder
from flex.models._progress import ProgressBar

DATA = Path(__file__).resolve().parent.parent / "data"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "far", "away"]]
CONFIG = {
    "model_type": "bert",
    "vocab_size": len(WORDS),
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 16,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
    "pad_token_id": 0,
}
TEXTS = ["the cat sat on the mat", "a dog ran far far away", "the dog", "", "the cat sat on the mat on the mat far away", "zebra"]


def random_weights():
    """The tensors of CONFIG by name, as NumPy arrays."""
    rng = np.random.default_rng(7)
    hidden, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (CONFIG["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": (CONFIG["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (CONFIG["type_vocab_size"], hidden),
    }
    linear, norm = {}, ["embeddings.LayerNorm"]
    for k in range(CONFIG["num_hidden_layers"]):
        layer = f"encoder.layer.{k}"
        linear |= {f"{layer}.attention.self.{part}": (hidden, hidden) for part in ("query", "key", "value")}
        linear |= {f"{layer}.attention.output.dense": (hidden, hidden)}
        linear |= {f"{layer}.intermediate.dense": (inner, hidden), f"{layer}.output.dense": (hidden, inner)}
        norm += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name, shape in linear.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norm:
        shapes |= {f"{name}.weight": (hidden,), f"{name}.bias": (hidden,)}
    return {name: rng.normal(0, 0.7, shape).astype(np.float32) for name, shape in shapes.items()}


def word_tokenizer(words=WORDS, separator=3):
    """[CLS] words [SEP], the last of which has the number `separator`."""
    tokenizer = bare_tokenizer(words)
    special = [("[CLS]", 2), ("[SEP]", separator)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    return tokenizer


def bare_tokenizer(words=WORDS):
    """Words, without special tokens."""
    tokenizer = Tokenizer(models.WordLevel({word: k for k, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def write_model(folder, *, config=None, weights=None, prefix="", dtype=flex.float32):
    """A model folder; `config` entries replace those of CONFIG, None takes one out."""
    entries = {key: value for key, value in {**CONFIG, **(config or {})}.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(entries), encoding="utf-8")
    word_tokenizer().save(str(folder / "tokenizer.json"))
    weights = random_weights() if weights is None else weights
    flex.io.save(folder / "model.safetensors", {prefix + name: flex.asarray(w, copy=True).astype(dtype) for name, w in weights.items()})
    return folder


def numpy_vector(weights, tokens, activation):
    """What the model gives for one list of tokens, in float64."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}

    def linear(name, x):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(name, x):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + CONFIG["layer_norm_eps"]) * w[f"{name}.weight"] + w[f"{name}.bias"]

    words, positions, types = (w[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type"))
    x = norm("embeddings.LayerNorm", words[tokens] + positions[: len(tokens)] + types[0])
    heads = CONFIG["num_attention_heads"]
    width = CONFIG["hidden_size"] // heads
    for k in range(CONFIG["num_hidden_layers"]):
        layer = f"encoder.layer.{k}"
        q, key, v = (linear(f"{layer}.attention.self.{part}", x) for part in ("query", "key", "value"))
        mixed = []
        for h in range(heads):
            part = slice(h * width, (h + 1) * width)
            scores = np.exp(q[:, part] @ key[:, part].T / np.sqrt(width))
            mixed.append(scores / scores.sum(-1, keepdims=True) @ v[:, part])
        x = norm(f"{layer}.attention.output.LayerNorm", x + linear(f"{layer}.attention.output.dense", np.concatenate(mixed, axis=-1)))
        x = norm(f"{layer}.output.LayerNorm", x + linear(f"{layer}.output.dense", activation(linear(f"{layer}.intermediate.dense", x))))
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def numpy_gelu(x):
    return x * 0.5 * (1 + erf(x / np.sqrt(2)))


def numpy_vectors(texts, activation=numpy_gelu, weights=None):
    weights = random_weights() if weights is None else weights
    return np.stack(
        [
            numpy_vector(weights, encoding.ids[: CONFIG["max_position_embeddings"]], activation)
            for encoding in word_tokenizer().encode_batch(texts)
        ]
    )


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
        np.testing.assert_allclose(np.asarray(vectors), np.load(DATA / "minilm_embeddings.npy"), rtol=0, atol=1e-5)

    def test_neighbours_in_meaning_are_neighbours(self, real):
        a, b, c = real.encode(["A cat sits on the mat.", "A kitten rests on a rug.", "Shares dropped this afternoon."])
        assert float(a @ b) > 0.5 > float(a @ c)

    def test_weights_stay_where_they_lie(self):
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

    @pytest.mark.parametrize("prefix", ["bert.", "0.auto_model."])
    def test_prefixes_of_weights(self, tmp_path, prefix):
        encoder = SentenceEncoder.load(write_model(tmp_path, prefix=prefix))
        np.testing.assert_allclose(np.asarray(encoder.encode(TEXTS)), numpy_vectors(TEXTS), rtol=0, atol=2e-6)

    @pytest.mark.parametrize(
        ("name", "activation"),
        [
            ("gelu_new", lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
            ("relu", lambda x: np.maximum(x, 0)),
            ("silu", lambda x: x / (1 + np.exp(-x))),
        ],
    )
    def test_activations(self, tmp_path, name, activation):
        encoder = SentenceEncoder.load(write_model(tmp_path, config={"hidden_act": name}))
        np.testing.assert_allclose(np.asarray(encoder.encode(TEXTS)), numpy_vectors(TEXTS, activation), rtol=0, atol=2e-6)

    def test_half_precision_weights(self, tmp_path):
        encoder = SentenceEncoder.load(write_model(tmp_path, dtype=flex.float16))
        weights = {name: value.astype(np.float16) for name, value in random_weights().items()}
        vectors = encoder.encode(TEXTS)
        assert vectors.dtype == flex.float32
        np.testing.assert_allclose(np.asarray(vectors), numpy_vectors(TEXTS, weights=weights), rtol=0, atol=2e-6)

    def test_defaults_of_config(self, tmp_path):
        optional = dict.fromkeys(("type_vocab_size", "layer_norm_eps", "hidden_act", "pad_token_id"))
        encoder = SentenceEncoder.load(write_model(tmp_path, config=optional))
        np.testing.assert_allclose(np.asarray(encoder.encode(TEXTS)), numpy_vectors(TEXTS), rtol=0, atol=2e-6)

    def test_truncation(self, tmp_path):
        write_model(tmp_path)
        long = " ".join(["cat dog"] * 50)
        assert SentenceEncoder.load(tmp_path).max_tokens == CONFIG["max_position_embeddings"]
        (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 5}', encoding="utf-8")
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
        np.testing.assert_allclose(np.asarray(encoder.encode(TEXTS)), numpy_vectors(TEXTS), rtol=0, atol=2e-6)

    @pytest.mark.parametrize("batch_size", [1, 2, 32])
    def test_texts_without_tokens(self, tmp_path, batch_size):
        write_model(tmp_path)
        bare_tokenizer().save(str(tmp_path / "tokenizer.json"))
        encoder = SentenceEncoder.load(tmp_path)
        vectors = np.asarray(encoder.encode(["", "the cat", " ", "", "dog"], batch_size=batch_size))
        tokens = [[WORDS.index(word) for word in text.split()] for text in ("the cat", "dog")]
        np.testing.assert_allclose(vectors[[1, 4]], [numpy_vector(random_weights(), row, numpy_gelu) for row in tokens], rtol=0, atol=2e-6)
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


class TestBadInput:
    def test_one_text_alone(self, small):
        with pytest.raises(TypeError, match=r"encode\(\[text\]\)"):
            small.encode("the cat")

    @pytest.mark.parametrize("wrong", [None, 3, b"cat", ["the", "cat"]])
    def test_no_text(self, small, wrong):
        with pytest.raises(TypeError, match=r"texts\[1\] is of type"):
            small.encode(["the cat", wrong])

    @pytest.mark.parametrize("text", ["\ud800", "the cat \udcff", "\ud83d\ude00"])
    def test_no_unicode(self, small, text):
        with pytest.raises(ValueError, match=r"^encode: texts\[1\] is no valid Unicode$"):
            small.encode(["the \U0001f600", text])

    @pytest.mark.parametrize("batch_size", [0, -1])
    def test_batch_size(self, small, batch_size):
        with pytest.raises(ValueError, match="batch_size"):
            small.encode(TEXTS, batch_size=batch_size)

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
    def test_missing_file(self, tmp_path, name):
        write_model(tmp_path)
        (tmp_path / name).unlink()
        with pytest.raises(FileNotFoundError, match=f"{name} is missing"):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", "sentence_bert_config.json", "modules.json"])
    @pytest.mark.parametrize("content", [b"", b"[1, 2", b"\xff\xfe\x00", b"7", b"[" * 100_000])
    def test_damaged_file(self, tmp_path, name, content):
        write_model(tmp_path)
        (tmp_path / name).write_bytes(content)
        with pytest.raises((ValueError, OSError), match=name):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        ("entry", "value", "message"),
        [
            ("model_type", "gpt2", "unsupported model_type 'gpt2'"),
            ("model_type", None, "unsupported model_type None"),
            ("position_embedding_type", "relative_key", "unsupported position_embedding_type"),
            ("hidden_act", "mish", "unsupported hidden_act 'mish'"),
            ("hidden_size", None, "missing entries: hidden_size"),
            ("hidden_size", "12", "hidden_size is '12'"),
            ("hidden_size", True, "hidden_size is True"),
            ("num_hidden_layers", 0, "num_hidden_layers is 0"),
            pytest.param("layer_norm_eps", 10**400, "layer_norm_eps is 10000", id="layer_norm_eps-huge"),
            ("layer_norm_eps", float("nan"), "layer_norm_eps is nan"),
            ("layer_norm_eps", float("inf"), "layer_norm_eps is inf"),
            ("layer_norm_eps", -1e-12, "layer_norm_eps is -1e-12, not a finite number from 0 on"),
            ("pad_token_id", -1, "pad_token_id is -1"),
            ("pad_token_id", len(WORDS), "pad_token_id is 14, but vocab_size is 14"),
            ("pad_token_id", 10**30, "pad_token_id is 1000"),
            ("num_attention_heads", 5, "no multiple of num_attention_heads 5"),
            ("intermediate_size", 21, r"has shape \[20, 12\], but config.json asks for \[21, 12\]"),
            ("num_hidden_layers", 3, r"'encoder.layer.2.attention.self.query.weight' is missing"),
        ],
    )
    def test_config(self, tmp_path, entry, value, message):
        write_model(tmp_path, config={entry: value})
        with pytest.raises(ValueError, match=message):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        ("tokenizer", "largest"), [(word_tokenizer([*WORDS, "zebra"]), 14), (word_tokenizer(separator=99), 99), (bare_tokenizer(), None)]
    )
    def test_tokens_beyond_the_vocabulary(self, tmp_path, tokenizer, largest):
        write_model(tmp_path)
        tokenizer.enable_padding(pad_id=1000, length=12)  # padding is not the tokenizer's
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        if largest is None:
            SentenceEncoder.load(tmp_path)
            return
        with pytest.raises(ValueError, match=rf"tokenizer\.json: a token has the number {largest}, but vocab_size in config.json is 14"):
            SentenceEncoder.load(tmp_path)

    def test_other_pooling(self, tmp_path):
        write_model(tmp_path)
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")
        with pytest.raises(ValueError, match="only mean pooling"):
            SentenceEncoder.load(tmp_path)

    def test_other_stage(self, tmp_path):
        write_model(tmp_path)
        (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense"}]', encoding="utf-8")
        with pytest.raises(ValueError, match="unsupported stage 'Dense'"):
            SentenceEncoder.load(tmp_path)

    def test_without_tokenizers(self, tmp_path):
        write_model(tmp_path)
        program = (
            "import sys; sys.modules['tokenizers'] = None\n"
            "from flex.models import SentenceEncoder\n"
            "try: SentenceEncoder.load(sys.argv[1])\n"
            "except ImportError as error: print(error)"
        )
        out = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True).stdout
        assert 'pip install "flex-cpu[models]"' in out


class TestProgressBar:
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

    def test_elsewhere(self):
        stream = io.StringIO()
        with ProgressBar(4, "working", stream) as bar:
            bar.advance(4)
        assert stream.getvalue() == ""


def test_the_namespace_brings_models_when_asked():
    program = "import sys, flex; assert 'flex.models' not in sys.modules; flex.models.SentenceEncoder"
    subprocess.run([sys.executable, "-c", program], check=True)
