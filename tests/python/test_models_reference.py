"""Tiny models of each architecture against the results of sentence-transformers (tests/data/README.md)."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import flex
from flex.models import SentenceEncoder

MODELS = Path(__file__).resolve().parent.parent / "data" / "models"
ARCHITECTURES = ["albert", "bert", "distilbert", "mpnet", "roberta", "xlm-roberta"]
TEXTS = json.loads((MODELS / "texts.json").read_text(encoding="utf-8"))
CALLS = {
    name: json.loads((MODELS / name / "calls.json").read_text(encoding="utf-8"))
    for name in ARCHITECTURES
}


def expected(name, call):
    with np.load(MODELS / name / "expected.npz") as stored:
        return stored[call]


def close(found, wanted):
    """Asserts equality to 1e-5, relative to the largest value, since models without a Normalize module don't give unit vectors."""
    found = np.asarray(found)
    assert found.shape == wanted.shape
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * max(1, np.abs(wanted).max()))
    return True


def changed(folder, name, **files):
    """A copy of a model with other entries in its files."""
    shutil.copytree(MODELS / name, folder, dirs_exist_ok=True)
    for file, entries in files.items():
        path = folder / ("1_Pooling/config.json" if file == "pooling" else f"{file}.json")
        content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        path.write_text(json.dumps({**content, **entries}), encoding="utf-8")
    return SentenceEncoder.load(folder)


class TestArchitectures:
    @pytest.mark.parametrize(
        ("name", "call"), [(name, call) for name in ARCHITECTURES for call in CALLS[name]]
    )
    @pytest.mark.parametrize("batch_size", [1, 3, 32])
    def test_vectors(self, name, call, batch_size):
        encoder = SentenceEncoder.load(MODELS / name)
        assert close(
            encoder.encode(TEXTS, batch_size=batch_size, **CALLS[name][call]), expected(name, call)
        )

    @pytest.mark.parametrize("name", ARCHITECTURES)
    def test_tokens(self, name):
        encoder = SentenceEncoder.load(MODELS / name)
        tokens = [np.asarray(encoder.tokenize([text])["input_ids"])[0] for text in TEXTS]
        np.testing.assert_array_equal(np.concatenate(tokens), expected(name, "tokens"))

    @pytest.mark.parametrize("name", ARCHITECTURES)
    def test_similarity(self, name):
        encoder = SentenceEncoder.load(MODELS / name)
        vectors = encoder.encode(TEXTS)
        assert close(encoder.similarity(vectors, vectors), expected(name, "similarity"))
        assert close(
            encoder.similarity(np.asarray(vectors)[2], vectors.tolist()),
            expected(name, "similarity")[2:3],
        )

    @pytest.mark.parametrize("name", ARCHITECTURES)
    @pytest.mark.parametrize("threads", [1, 2, 3])
    def test_threads_do_not_change_bits(self, name, threads):
        encoder = SentenceEncoder.load(MODELS / name)
        with flex.threads(threads):
            vectors = encoder.encode(TEXTS)
        with flex.threads(1):
            assert vectors.tolist() == encoder.encode(TEXTS).tolist()

    @pytest.mark.parametrize("name", ARCHITECTURES)
    def test_longest_texts(self, name):
        encoder = SentenceEncoder.load(MODELS / name)
        longest = encoder.tokenize(["the cat sat " * 200])["input_ids"].shape[1]
        assert longest == encoder.max_seq_length
        assert encoder.encode("the cat sat " * 200).shape == (encoder.dimension,)

    def test_old_names_of_norms(self, tmp_path):
        encoder = changed(tmp_path, "bert")
        tensors = {
            name: np.asarray(tensor).copy()
            for name, tensor in flex.io.load(MODELS / "bert" / "model.safetensors").items()
        }
        renamed = {
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
                "LayerNorm.bias", "LayerNorm.beta"
            ): tensor
            for name, tensor in tensors.items()
        }
        assert renamed.keys() != tensors.keys()
        flex.io.save(tmp_path / "model.safetensors", renamed)
        assert (
            SentenceEncoder.load(tmp_path).encode(TEXTS).tolist() == encoder.encode(TEXTS).tolist()
        )


class TestPooling:
    """The stored BERT vectors contain all pooling modes, concatenated."""

    MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
    FLAGS = (
        "cls_token",
        "max_tokens",
        "mean_tokens",
        "mean_sqrt_len_tokens",
        "weightedmean_tokens",
        "lasttoken",
    )

    @pytest.mark.parametrize("mode", range(6))
    def test_flags(self, tmp_path, mode):
        flags = {f"pooling_mode_{flag}": k == mode for k, flag in enumerate(self.FLAGS)}
        encoder = changed(tmp_path, "bert", pooling=flags)
        assert encoder.dimension == 24
        assert close(
            encoder.encode(TEXTS), expected("bert", "encode")[:, 24 * mode : 24 * (mode + 1)]
        )

    @pytest.mark.parametrize("modes", [["lasttoken"], ["cls", "mean"], "max"])
    def test_names(self, tmp_path, modes):
        encoder = changed(tmp_path, "bert", pooling={"pooling_mode": modes})
        places = [self.MODES.index(mode) for mode in ([modes] if isinstance(modes, str) else modes)]
        vectors = expected("bert", "encode").reshape(len(TEXTS), 6, 24)[:, places]
        assert close(encoder.encode(TEXTS), vectors.reshape(len(TEXTS), -1))

    def test_without_a_mode(self, tmp_path):
        encoder = changed(
            tmp_path, "bert", pooling={f"pooling_mode_{flag}": False for flag in self.FLAGS}
        )
        assert close(encoder.encode(TEXTS), expected("bert", "encode")[:, 48:72])


class TestPrompts:
    def test_queries_and_documents(self):
        encoder = SentenceEncoder.load(MODELS / "bert")
        assert encoder.prompts == {"query": "query: ", "document": "", "passage": "passage: "}
        assert encoder.default_prompt_name == "query"
        assert close(encoder.encode_query(TEXTS, prompt=""), expected("bert", "none"))
        assert close(encoder.encode_query(TEXTS), expected("bert", "encode"))
        assert close(encoder.encode_document(TEXTS), expected("bert", "none"))
        assert close(
            encoder.encode_document(TEXTS, prompt_name="passage"), expected("bert", "passage")
        )

    def test_set_later(self):
        encoder = SentenceEncoder.load(MODELS / "bert")
        encoder.default_prompt_name = None
        assert close(encoder.encode(TEXTS), expected("bert", "none"))
        encoder.prompts["mine"] = "passage: "
        assert close(encoder.encode(TEXTS, prompt_name="mine"), expected("bert", "passage"))

    def test_prompt_overrides_prompt_name(self):
        encoder = SentenceEncoder.load(MODELS / "bert")
        assert close(
            encoder.encode(TEXTS, prompt="passage: ", prompt_name="query"),
            expected("bert", "passage"),
        )

    def test_unknown_name(self):
        encoder = SentenceEncoder.load(MODELS / "bert")
        with pytest.raises(
            ValueError,
            match=r"there is no prompt 'title'; the model's are 'query', 'document', 'passage'",
        ):
            encoder.encode(TEXTS, prompt_name="title")

    def test_wrong_type(self):
        with pytest.raises(TypeError, match="prompt is of type int, not str"):
            SentenceEncoder.load(MODELS / "bert").encode(TEXTS, prompt=3)

    def test_truncated_to_the_prompt(self, tmp_path):
        encoder = changed(tmp_path, "xlm-roberta", tokenizer_config={"model_max_length": 4})
        vectors = encoder.encode(["cat", "dog"], prompt="query: the cat sat")
        assert (
            vectors.tolist() == encoder.encode(["dog", "cat"], prompt="query: the cat sat").tolist()
        )


class TestTokenizerSettings:
    def test_case(self, tmp_path):
        """tokenizer_config.json takes precedence, as in transformers."""
        vectors = changed(tmp_path, "bert", tokenizer_config={"do_lower_case": False}).encode(
            ["A DOG", "a dog"]
        )
        assert vectors[0].tolist() != vectors[1].tolist()
        vectors = SentenceEncoder.load(MODELS / "bert").encode(["A DOG", "a dog"])
        assert vectors[0].tolist() == vectors[1].tolist()

    def test_case_of_the_module(self, tmp_path):
        vectors = changed(
            tmp_path, "roberta", sentence_bert_config={"do_lower_case": False}
        ).encode(["A DOG", "a dog"])
        assert vectors[0].tolist() != vectors[1].tolist()
        vectors = SentenceEncoder.load(MODELS / "roberta").encode(["A DOG", "a dog"])
        assert vectors[0].tolist() == vectors[1].tolist()

    def test_space_before_a_text(self, tmp_path):
        """As in transformers: without the setting tokenizer.json decides, which has none here."""
        plain = SentenceEncoder.load(MODELS / "roberta")
        spaced = changed(tmp_path, "roberta", tokenizer_config={"add_prefix_space": True})

        def tokens(encoder, text):
            return encoder.tokenize([text])["input_ids"].tolist()

        assert tokens(spaced, "the cat") == tokens(plain, " the cat") != tokens(plain, "the cat")
        assert spaced.encode("the cat").tolist() == plain.encode(" the cat").tolist()
        assert tokens(spaced, " the cat") == tokens(plain, " the cat")
        path = tmp_path / "tokenizer.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        content["pre_tokenizer"]["add_prefix_space"] = True
        steps = [{"type": "Digits", "individual_digits": False}, content["pre_tokenizer"]]
        content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
        path.write_text(json.dumps(content), encoding="utf-8")
        settings = tmp_path / "tokenizer_config.json"
        assert tokens(SentenceEncoder.load(tmp_path), "the cat") == tokens(plain, " the cat")
        settings.write_text('{"add_prefix_space": false}', encoding="utf-8")
        assert tokens(SentenceEncoder.load(tmp_path), "the cat") == tokens(plain, "the cat")

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("bert", True, "puts no space"),
            ("bert", False, None),
            ("xlm-roberta", False, "puts a space"),
            ("xlm-roberta", True, None),
            ("roberta", "yes", "not true or false"),
        ],
    )
    def test_space_that_the_tokenizer_cannot_choose(self, tmp_path, name, value, message):
        if message is None:
            changed(tmp_path, name, tokenizer_config={"add_prefix_space": value})
            return
        with pytest.raises(
            ValueError, match=rf"tokenizer_config\.json: add_prefix_space.*{message}"
        ):
            changed(tmp_path, name, tokenizer_config={"add_prefix_space": value})

    def test_norms_of_distilbert(self, tmp_path):
        """transformers has 1e-12 there, whatever config.json says."""
        wanted = SentenceEncoder.load(MODELS / "distilbert").encode(TEXTS)
        found = changed(tmp_path, "distilbert", config={"layer_norm_eps": 0.5}).encode(TEXTS)
        assert found.tolist() == wanted.tolist()
        other = changed(tmp_path / "bert", "bert", config={"layer_norm_eps": 0.5})
        assert other.encode("a dog").tolist() != expected("bert", "encode")[0].tolist()

    @pytest.mark.parametrize(("limit", "tokens"), [(12, 12), (39, 39), (1e30, 40), (None, 40)])
    def test_length_from_the_tokenizer(self, tmp_path, limit, tokens):
        encoder = changed(
            tmp_path,
            "distilbert",
            sentence_bert_config={"max_seq_length": None},
            tokenizer_config={"model_max_length": limit},
        )
        assert encoder.max_seq_length == tokens
