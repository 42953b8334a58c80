"""A model's folder in the layout of Hugging Face and sentence-transformers: the settings in its JSON files, and the tokenizer.

Settings that affect vectors are honoured, or rejected with a ValueError that names the file; others are ignored.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._architectures import require
from ._pooling import Pooling
from ._similarity import SIMILARITIES

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from tokenizers import Tokenizer

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
# Where exporters put ONNX models, in the order in which they are looked for.
ONNX_MODELS = ("model.onnx", "onnx/model.onnx")
# The supported pipelines: the last part of each module's type in modules.json.
PIPELINES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
# The Transformer module's own file, whose name depends on the version of sentence-transformers and
# the architecture.
MODULE_FILES = [
    f"sentence_{name}_config.json" for name in ("bert", "roberta", "distilbert", "xlm-roberta")
]
# Entries of that file and of tokenizer_config.json that must have this value if present.
MODULE_ENTRIES = {
    "transformer_task": "feature-extraction",
    "module_output_name": "token_embeddings",
    "processing_kwargs": {},
    **{f"{part}_args": {} for part in ("model", "tokenizer", "config")},
    **{f"{part}_kwargs": {} for part in ("model", "processor", "config")},
}
TOKENIZER_ENTRIES = {"truncation_side": "right", "split_special_tokens": False}
# tokenizer_config.json's names, and those of the tokenizer's BertNormalizer.
NORMALIZER_ENTRIES = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
# The errors that malformed content raises; deep nesting raises RecursionError, in the parser or
# when a message shows the value.
MALFORMED = (ValueError, RecursionError)


@contextmanager
def naming(
    path: Path, caught: type[Exception] | tuple[type[Exception], ...] = MALFORMED
) -> Iterator[None]:
    """Prefixes the message of an error raised by reading a file with its name."""
    try:
        yield
    except caught as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"{path}: {error}") from error


def read_json(path: Path, kind: type = dict) -> Any:
    """The content of a JSON file, of type `kind`."""
    with naming(path):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, kind):
            raise ValueError(f"a JSON {kind.__name__} is needed")
    return content


def read_if_there(path: Path) -> dict[str, Any]:
    """The content of a JSON file, or an empty dict if there is no such file."""
    return read_json(path) if path.is_file() else {}


@dataclass(frozen=True)
class Pipeline:
    """The pipeline that modules.json describes."""

    transformer: Path  # the folder of the network
    pooling: Pooling
    normalize: bool

    @classmethod
    def read(cls, folder: Path) -> Pipeline:
        """A folder without modules.json is a plain network: its vectors are normalised means, unless 1_Pooling says otherwise."""
        modules = folder / "modules.json"
        if not modules.is_file():
            return cls(folder, _pooling(folder / "1_Pooling" / "config.json"), normalize=True)
        with naming(modules):
            entries = read_json(modules, list)
            kinds = [
                str(entry.get("type")).rpartition(".")[2]
                if isinstance(entry, dict)
                else repr(entry)
                for entry in entries
            ]
            if kinds not in PIPELINES:
                supported = " and ".join(", ".join(pipeline) for pipeline in PIPELINES)
                raise ValueError(f"unsupported pipeline {', '.join(kinds)}: {supported} are")
            places = [entry.get("path", "") for entry in entries]
            if any(
                not isinstance(place, str) or Path(place).is_absolute() or ".." in Path(place).parts
                for place in places
            ):
                raise ValueError("the path of a module is no folder below")
        return cls(
            folder / places[0],
            _pooling(folder / places[1] / "config.json"),
            normalize="Normalize" in kinds,
        )


def _pooling(path: Path) -> Pooling:
    with naming(path):
        return Pooling.from_json(read_if_there(path))


@dataclass(frozen=True)
class Usage:
    """The prompts and the similarity function in config_sentence_transformers.json."""

    prompts: dict[str, str] = field(default_factory=lambda: {"query": "", "document": ""})
    default_prompt_name: str | None = None
    similarity_fn_name: str = "cosine"

    @classmethod
    def read(cls, folder: Path) -> Usage:
        path = folder / "config_sentence_transformers.json"
        entries = read_if_there(path)
        usage = cls(
            default_prompt_name=entries.get("default_prompt_name"),
            similarity_fn_name=entries.get("similarity_fn_name") or "cosine",
        )
        prompts = entries.get("prompts") or {}
        with naming(path):
            if not isinstance(prompts, dict) or any(
                not isinstance(prompt, str) for prompt in prompts.values()
            ):
                raise ValueError(f"prompts is {prompts!r}, not texts by name")
            usage.prompts.update(prompts)
            if (
                usage.default_prompt_name is not None
                and usage.default_prompt_name not in usage.prompts
            ):
                raise ValueError(
                    f"default_prompt_name {usage.default_prompt_name!r} is none of {', '.join(usage.prompts)}"
                )
            if usage.similarity_fn_name not in SIMILARITIES:
                raise ValueError(
                    f"unsupported similarity_fn_name {usage.similarity_fn_name!r}: {', '.join(SIMILARITIES)} are"
                )
        return usage


def weights_file(folder: Path, name: str | os.PathLike[str] | None) -> Path:
    """The file of the network: the one that is named, or by default that of weights, or else an ONNX model."""
    if name is None:
        names = (WEIGHTS, *ONNX_MODELS)
        return next((folder / n for n in names if (folder / n).is_file()), folder / WEIGHTS)
    if Path(name).suffix not in (".safetensors", ".onnx"):
        raise ValueError(f"file is {name!r}, no .safetensors or .onnx")
    return folder / name


def read_tokenizer(folder: Path, vocab_size: int | None) -> tuple[Tokenizer, int | None]:
    """The tokenizer, without padding and truncation, and the greatest number of tokens per text in the folder's files.

    ValueError if it has more tokens than `vocab_size`, where that is known.
    """
    module_path = next(
        (folder / name for name in MODULE_FILES if (folder / name).is_file()),
        folder / MODULE_FILES[0],
    )
    settings_path = folder / "tokenizer_config.json"
    module, settings = read_if_there(module_path), read_if_there(settings_path)
    for path, entries, fixed in (
        (module_path, module, MODULE_ENTRIES),
        (settings_path, settings, TOKENIZER_ENTRIES),
    ):
        with naming(path):
            require(entries, fixed)
    tokenizer_type = _tokenizer_type()
    with naming(folder / TOKENIZER, Exception):  # the package raises nothing more specific
        tokenizer = tokenizer_type.from_file(str(folder / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if vocab_size is not None:
            _check_vocabulary(tokenizer, vocab_size)
    with naming(settings_path, (*MALFORMED, TypeError)):
        _set_normalizer(tokenizer, settings)
        _set_prefix_space(tokenizer, settings)
        limit = settings.get("model_max_length")
        if limit is not None and (
            not isinstance(limit, (int, float)) or isinstance(limit, bool) or not limit >= 1
        ):
            raise ValueError(f"model_max_length is {limit!r}")
    with naming(module_path):
        if _flag(module, "do_lower_case"):
            _lower(tokenizer)
        if (tokens := module.get("max_seq_length")) is not None:
            if (
                not isinstance(tokens, int)
                or isinstance(tokens, bool)
                or tokens <= tokenizer.num_special_tokens_to_add(False)
            ):
                raise ValueError(f"max_seq_length is {tokens!r}")
            limit = tokens
    return tokenizer, limit if limit is None else int(min(limit, 1 << 40))  # 1e30 means no limit


def _tokenizer_type() -> type[Tokenizer]:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            'SentenceEncoder needs the package tokenizers: pip install "tokenizers>=0.21"'
        ) from error
    return Tokenizer


def _check_vocabulary(tokenizer: Tokenizer, size: int) -> None:
    """ValueError if a token ID is not a row of the word embeddings."""
    # The IDs of special tokens are in the post-processor, separate from the vocabulary; encoding an
    # empty text yields them.
    largest = max([*tokenizer.get_vocab().values(), *tokenizer.encode("").ids], default=0)
    if largest >= size:
        raise ValueError(
            f"a token has the number {largest}, but vocab_size in config.json is {size}"
        )


def _flag(entries: Mapping[str, Any], name: str) -> bool | None:
    value = entries.get(name)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, not true or false")
    return value


def _set_normalizer(tokenizer: Tokenizer, settings: Mapping[str, Any]) -> None:
    """tokenizer_config.json overrides tokenizer.json, as in transformers, where only BERT-like tokenizers have these settings."""
    from tokenizers import normalizers

    normalizer = tokenizer.normalizer
    if isinstance(normalizer, normalizers.BertNormalizer):
        for name, attribute in NORMALIZER_ENTRIES.items():
            if (value := _flag(settings, name)) is not None:
                setattr(normalizer, attribute, value)
        tokenizer.normalizer = normalizer


def _set_prefix_space(tokenizer: Tokenizer, settings: Mapping[str, Any]) -> None:
    """Whether the first word of a text is one after a space: RoBERTa's tokenizers can do either, others must agree with the setting."""
    from tokenizers import pre_tokenizers

    value = _flag(settings, "add_prefix_space")
    if value is None:
        return
    whole: Any = tokenizer.pre_tokenizer
    steps = list(whole) if hasattr(whole, "__getitem__") else [whole]  # of a Sequence
    levels = [step for step in steps if isinstance(step, pre_tokenizers.ByteLevel)]
    for step in levels:
        step.add_prefix_space = value
    if levels:
        tokenizer.pre_tokenizer = whole
        return
    has_space = any(
        isinstance(step, pre_tokenizers.Metaspace) and step.prepend_scheme != "never"
        for step in steps
    )
    if value != has_space:
        raise ValueError(
            f"add_prefix_space is {value!r}, but tokenizer.json puts {'a' if has_space else 'no'} space before a text"
        )


def _lower(tokenizer: Tokenizer) -> None:
    """Makes the tokenizer lowercase texts before any other step."""
    from tokenizers import normalizers

    steps = [
        normalizers.Lowercase(),
        *([] if tokenizer.normalizer is None else [tokenizer.normalizer]),
    ]
    tokenizer.normalizer = normalizers.Sequence(steps)
