"""SentenceEncoder with networks in ONNX files: against sentence-transformers' results, and against onnxruntime."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import by_onnxruntime, made
from onnxruntime.quantization import quantize_dynamic
from small_bert import WORDS, bare_tokenizer, word_tokenizer

import flex
from flex.models import SentenceEncoder

MODELS = Path(__file__).resolve().parent.parent / "data" / "models"
TEXTS = json.loads((MODELS / "texts.json").read_text(encoding="utf-8"))


def copied(folder, name, *, place="onnx/model.onnx"):
    """A copy of a model's folder that has no weights but an ONNX model in this place."""
    shutil.copytree(MODELS / name, folder, dirs_exist_ok=True)
    (folder / "model.safetensors").unlink()
    (folder / "onnx" / "model.onnx").rename(folder / place)
    return folder


def embedding(
    inputs=("input_ids", "attention_mask"),
    kind=TensorProto.INT32,
    output="tokens",
    shape=("n", "t"),
):
    """A model that only looks words up, and also gives their mean."""
    rows = np.random.default_rng(3).standard_normal((len(WORDS), 4)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["rows", inputs[0]], [output]),
        helper.make_node("ReduceMean", [output], ["mean"], axes=[1], keepdims=0),
    ]
    values = [(name, kind, shape) for name in inputs]
    outputs = [("mean", TensorProto.FLOAT, [None, 4]), (output, TensorProto.FLOAT, [None, None, 4])]
    return made(nodes, values, outputs, {"rows": rows}), rows


def written(folder, model):
    """A folder of a model and a tokenizer, without settings."""
    onnx.save(model, folder / "model.onnx")
    word_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


class TestArchitectures:
    @pytest.mark.parametrize("name", ["albert", "bert"])
    @pytest.mark.parametrize("batch_size", [1, 3, 32])
    def test_vectors(self, tmp_path, name, batch_size):
        encoder = SentenceEncoder.load(copied(tmp_path, name))
        calls = json.loads((MODELS / name / "calls.json").read_text(encoding="utf-8"))
        for call, options in calls.items():
            found = np.asarray(encoder.encode(TEXTS, batch_size=batch_size, **options))
            wanted = np.load(MODELS / name / "expected.npz")[call]
            atol = 1e-5 * max(1, np.abs(wanted).max())
            np.testing.assert_allclose(found, wanted, rtol=0, atol=atol)

    @pytest.mark.parametrize("name", ["albert", "bert"])
    def test_settings(self, tmp_path, name):
        """All but the network is that of the folder with weights."""
        mine, other = (
            SentenceEncoder.load(copied(tmp_path, name)),
            SentenceEncoder.load(MODELS / name),
        )
        for attribute in ("dimension", "max_seq_length", "prompts", "default_prompt_name"):
            assert getattr(mine, attribute) == getattr(other, attribute)
        for found, wanted in zip(
            mine.tokenize(TEXTS).values(), other.tokenize(TEXTS).values(), strict=True
        ):
            assert found.tolist() == wanted.tolist()
        assert repr(mine).startswith("SentenceEncoder(ONNX, ")
        assert mine.encode([]).shape == (0, mine.dimension)

    def test_weights_come_first(self):
        folder = MODELS / "bert"
        assert "2 layers" in repr(SentenceEncoder.load(folder))
        assert "ONNX" in repr(SentenceEncoder.load(folder, file="onnx/model.onnx"))
        elsewhere = folder / "onnx" / "model.onnx"
        assert "ONNX" in repr(SentenceEncoder.load(folder, file=elsewhere, truncate_dim=5))

    @pytest.mark.parametrize("threads", [1, 2, 3])
    def test_threads_do_not_change_bits(self, tmp_path, threads):
        encoder = SentenceEncoder.load(copied(tmp_path, "bert"))
        with flex.threads(threads):
            vectors = encoder.encode(TEXTS)
        with flex.threads(1):
            assert vectors.tolist() == encoder.encode(TEXTS).tolist()


def test_quantised(tmp_path):
    """Of int8, as onnxruntime's tool makes them, one text at a time as its scales are those of all tokens. Weights are of 7 bits, since
    onnxruntime's sums saturate on CPUs without VNNI."""
    copied(tmp_path, "albert")
    path = tmp_path / "onnx" / "model_quantized.onnx"
    quantize_dynamic(tmp_path / "onnx" / "model.onnx", path, reduce_range=True)
    encoder = SentenceEncoder.load(tmp_path, file="onnx/model_quantized.onnx")
    vectors = np.asarray(encoder.encode(TEXTS, batch_size=1))
    for text, found in zip(TEXTS, vectors, strict=True):
        ids = np.asarray(encoder.tokenize([text])["input_ids"])
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": 0 * ids}
        (hidden,) = by_onnxruntime(path.read_bytes(), inputs)
        mean = hidden[0].mean(axis=0)
        np.testing.assert_allclose(found, mean / np.linalg.norm(mean), rtol=0, atol=1e-5)
    whole = np.load(MODELS / "albert" / "expected.npz")["encode"]
    assert (vectors * whole).sum(axis=1).min() > 0.95


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
def test_places(tmp_path, place):
    encoder = SentenceEncoder.load(copied(tmp_path, "bert", place=place))
    assert encoder.encode("the cat").shape == (encoder.dimension,)


def test_command(tmp_path):
    """`flex-cpu embed --model`, with vectors of unit length as without sentence-transformers' settings."""
    (model := tmp_path / "model").mkdir()
    written(model, embedding()[0])
    (tmp_path / "texts.txt").write_text("the cat sat\na dog\n", encoding="utf-8")
    arguments = ["embed", "--model", model, "-o", tmp_path / "out.npy", tmp_path / "texts.txt"]
    subprocess.run([sys.executable, "-m", "flex", *arguments], check=True)
    expected = SentenceEncoder.load(model).encode(["the cat sat", "a dog"])
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.asarray(expected))


class TestOtherModels:
    def test_without_settings(self, tmp_path):
        """Means of unit length, and at most 512 tokens."""
        model, rows = embedding()
        encoder = SentenceEncoder.load(written(tmp_path, model))
        assert (encoder.dimension, encoder.max_seq_length) == (4, 512)
        assert repr(encoder) == (
            "SentenceEncoder(ONNX, 2 nodes, pooling=mean, normalize=True, dimension=4, max_seq_length=512)"
        )
        mean = rows[[2, WORDS.index("cat"), WORDS.index("dog"), 3]].mean(axis=0)
        vectors = encoder.encode(["dog", "cat dog", "the cat", "zebra"])
        np.testing.assert_allclose(np.asarray(vectors)[1], mean / np.linalg.norm(mean), rtol=1e-5)

    def test_texts_without_tokens(self, tmp_path):
        model, rows = embedding()
        written(tmp_path, model)
        bare_tokenizer().save(str(tmp_path / "tokenizer.json"))
        encoder = SentenceEncoder.load(tmp_path)
        vectors = np.asarray(encoder.encode(["", "cat", " ", "dog cat"]))
        cat = rows[WORDS.index("cat")]
        np.testing.assert_allclose(vectors[1], cat / np.linalg.norm(cat), rtol=1e-5)
        np.testing.assert_array_equal(vectors[[0, 2]], 0)
        np.testing.assert_array_equal(np.asarray(encoder.encode([""])), np.zeros((1, 4)))

    def test_unknown_sizes(self, tmp_path):
        """The length of vectors is that of a token's, if the model doesn't state it."""
        model, _ = embedding()
        for value in model.graph.output:
            value.type.tensor_type.ClearField("shape")
        del model.graph.output[0]
        assert SentenceEncoder.load(written(tmp_path, model)).dimension == 4

    @pytest.mark.parametrize("shape", [(1, "t"), (3, "t"), ("n", 16), (2, 16)])
    def test_fixed_sizes(self, tmp_path, shape):
        copied(tmp_path, "bert", place="model.onnx")
        model = onnx.load(tmp_path / "model.onnx")
        for value in model.graph.input:
            for size, dim in zip(shape, value.type.tensor_type.shape.dim, strict=True):
                if isinstance(size, int):
                    dim.dim_value = size
        onnx.save(model, tmp_path / "model.onnx")
        encoder = SentenceEncoder.load(tmp_path)
        assert encoder.max_seq_length == (32 if shape[1] == "t" else 16)
        texts = [text for text in TEXTS if encoder.tokenize([text])["input_ids"].shape[1] < 16]
        assert len(texts) > 4
        wanted = np.load(MODELS / "bert" / "expected.npz")["encode"]
        wanted = wanted[[TEXTS.index(text) for text in texts]]
        atol = 1e-5 * np.abs(wanted).max()
        np.testing.assert_allclose(np.asarray(encoder.encode(texts)), wanted, rtol=0, atol=atol)

    def test_names_of_outputs(self, tmp_path):
        model, _ = embedding(output="last_hidden_state")
        other = helper.make_node("Add", ["last_hidden_state"] * 2, ["twice"])
        model.graph.node.append(other)
        model.graph.output.insert(0, helper.make_tensor_value_info("twice", 1, [None, None, 4]))
        encoder = SentenceEncoder.load(written(tmp_path, model))
        assert encoder._encoder._output.name == "last_hidden_state"

    @pytest.mark.parametrize("fixed", [False, True])
    def test_vectors_of_texts(self, tmp_path, fixed):
        """A model that pools itself, by the mask, and says nothing of tokens."""
        model, rows = embedding()
        del model.graph.node[1]
        del model.graph.output[:]
        name = "sentence_embedding"
        model.graph.node.extend(
            [
                helper.make_node("Cast", ["attention_mask"], ["floats"], to=1),
                helper.make_node("Unsqueeze", ["floats", "last"], ["mask"]),
                helper.make_node("Mul", ["tokens", "mask"], ["seen"]),
                helper.make_node("ReduceSum", ["seen", "first"], [name], keepdims=0),
            ]
        )
        axes = {"last": np.array([2]), "first": np.array([1])}
        model.graph.initializer.extend(onnx.numpy_helper.from_array(a, n) for n, a in axes.items())
        model.graph.output.append(helper.make_tensor_value_info(name, 1, ["n", 4]))
        for value in model.graph.input if fixed else ():
            for dim, size in zip(value.type.tensor_type.shape.dim, (2, 8), strict=True):
                dim.dim_value = size
        written(tmp_path, model)
        bare_tokenizer().save(str(tmp_path / "tokenizer.json"))
        encoder = SentenceEncoder.load(tmp_path)
        assert "pooling=the model's" in repr(encoder)
        vectors = np.asarray(encoder.encode(["dog", "", "cat dog", "the cat", "cat"]))
        assert vectors.shape == (5, encoder.dimension)
        both = rows[[WORDS.index("cat"), WORDS.index("dog")]].sum(axis=0)
        np.testing.assert_allclose(vectors[2], both / np.linalg.norm(both), rtol=1e-5)
        np.testing.assert_array_equal(vectors[1], 0)

        pooling = {"pooling_mode_mean_tokens": True, "include_prompt": False}
        modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
        entries = [
            {"idx": k, "name": str(k), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for k, (path, kind) in enumerate(modules)
        ]
        (tmp_path / "modules.json").write_text(json.dumps(entries))
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        with pytest.raises(ValueError, match="vectors of whole texts, but the settings"):
            SentenceEncoder.load(tmp_path)

    def test_positions_after_padding(self, tmp_path):
        model, _ = embedding()
        written(tmp_path, model)
        config = {"model_type": "roberta", "max_position_embeddings": 20, "pad_token_id": 1}
        (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
        assert SentenceEncoder.load(tmp_path).max_seq_length == 18


class TestRefused:
    def test_inputs(self, tmp_path):
        model, _ = embedding(inputs=("input_ids", "pixels"))
        message = (
            r"model\.onnx: the model's inputs are input_ids, pixels, not input_ids and some of"
        )
        with pytest.raises(ValueError, match=message):
            SentenceEncoder.load(written(tmp_path, model))

    def test_outputs(self, tmp_path):
        model, _ = embedding()
        del model.graph.output[1]
        with pytest.raises(ValueError, match=r"no output has a vector for each token: .* mean"):
            SentenceEncoder.load(written(tmp_path, model))

    def test_shape_of_the_output(self, tmp_path):
        model, _ = embedding()
        del model.graph.output[1]
        model.graph.output[0].type.tensor_type.ClearField("shape")
        with pytest.raises(ValueError, match=r"output mean has shape \[1, 4\], not a vector for"):
            SentenceEncoder.load(written(tmp_path, model))

    def test_quantising(self, tmp_path):
        copied(tmp_path, "bert")
        with pytest.raises(ValueError, match=r"model\.onnx is an ONNX model: name a quantised one"):
            SentenceEncoder.load(tmp_path, quantize="int8")

    def test_files(self, tmp_path):
        copied(tmp_path, "bert")
        with pytest.raises(
            FileNotFoundError, match=r"model_int8\.onnx is missing: a model is a local"
        ):
            SentenceEncoder.load(tmp_path, file="onnx/model_int8.onnx")
        with pytest.raises(ValueError, match=r"file is 'model\.bin', no \.safetensors or \.onnx"):
            SentenceEncoder.load(tmp_path, file="model.bin")
        (tmp_path / "adapter_config.json").write_text("{}")
        with pytest.raises(ValueError, match="adapters are not supported"):
            SentenceEncoder.load(tmp_path)

    def test_damaged(self, tmp_path):
        copied(tmp_path, "bert", place="model.onnx")
        (tmp_path / "model.onnx").write_bytes(b"no model")
        with pytest.raises(ValueError, match=r"model\.onnx: "):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        ("entry", "value"),
        [("vocab_size", 0), ("max_position_embeddings", "40"), ("pad_token_id", True)],
    )
    def test_entries(self, tmp_path, entry, value):
        copied(tmp_path, "bert")
        config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
        (tmp_path / "config.json").write_text(json.dumps({**config, entry: value}))
        with pytest.raises(ValueError, match=rf"config\.json: {entry} is {value!r}"):
            SentenceEncoder.load(tmp_path)

    def test_vocabulary(self, tmp_path):
        copied(tmp_path, "bert")
        config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
        (tmp_path / "config.json").write_text(json.dumps({**config, "vocab_size": 5}))
        with pytest.raises(ValueError, match=r"tokenizer\.json: a token has the number"):
            SentenceEncoder.load(tmp_path)
