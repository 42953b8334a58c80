"""Writes tests/data/models: tiny random models in the layout of sentence-transformers, and that library's float64 results for some texts.
Needs torch, transformers, sentence-transformers and onnxscript, which the tests don't.

    python scripts/model_reference.py [FOLDER]
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx as onnx_file
import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

FOLDER = Path(
    sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "tests" / "data" / "models"
)
HIDDEN, LAYERS, HEADS, INNER = 24, 2, 3, 40
WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "mat",
    "far",
    "away",
    "query",
    "passage",
    ":",
    "##s",
    "##ing",
    "walk",
    ".",
    "é",
    "e",
]
LONG = " ".join(["the cat sat on a mat .", "a dog ran far away", "walking dogs"] * 16)
TEXTS = [
    "the cat sat on the mat.",
    "A DOG ran far, far away",
    "",
    " the Cats walking ",
    "zebra é E",
    "a dog <pad> [PAD] ran",
    LONG,
]


def of_words(pad: str, unknown: str, begin: str, end: str, *, lowercase: bool) -> Tokenizer:
    """A WordPiece tokenizer like BERT's, with special tokens at both ends of a text. The padding token "<pad>" has the id 1."""
    special = [begin, pad, end, unknown] if pad == "<pad>" else [pad, unknown, begin, end, "[MASK]"]
    vocabulary = {word: k for k, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=unknown))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return finished(tokenizer, pad, unknown, begin, end)


def of_bytes() -> Tokenizer:
    """A byte-level BPE tokenizer like RoBERTa's."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [
        ("t", "h"),
        ("th", "e"),
        ("Ġ", "the"),
        ("a", "t"),
        ("c", "at"),
        ("Ġ", "a"),
        ("Ġ", "d"),
        ("o", "g"),
        ("Ġd", "og"),
    ]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *alphabet, *("".join(pair) for pair in merges)]
    tokenizer = Tokenizer(
        models.BPE({piece: k for k, piece in enumerate(pieces)}, merges, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return finished(tokenizer, "<pad>", "<unk>", "<s>", "</s>")


def of_sentence_pieces() -> Tokenizer:
    """A unigram tokenizer like XLM-RoBERTa's."""
    pieces = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        *(f"▁{word}" for word in WORDS),
        "▁",
        "s",
        "ing",
        *"adeghnoqrtuwy.:",
    ]
    tokenizer = Tokenizer(
        models.Unigram([(piece, -1.0 - k / 10) for k, piece in enumerate(pieces)], unk_id=3)
    )
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return finished(tokenizer, "<pad>", "<unk>", "<s>", "</s>")


def finished(tokenizer: Tokenizer, pad: str, unknown: str, begin: str, end: str) -> Tokenizer:
    """The tokenizer with its special tokens added."""
    tokenizer.add_special_tokens([pad, unknown, begin, end])
    special = [(token, tokenizer.token_to_id(token)) for token in (begin, end)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=f"{begin} $A {end} $B {end}", special_tokens=special
    )
    return tokenizer


def sizes(tokenizer: Tokenizer, positions: int) -> dict:
    """The entries of config.json that most architectures share."""
    return {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "max_position_embeddings": positions,
    }


def modules(*kinds: str) -> list:
    """The content of modules.json."""
    paths = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    return [
        {
            "idx": k,
            "name": str(k),
            "path": paths[kind],
            "type": f"sentence_transformers.models.{kind}",
        }
        for k, kind in enumerate(kinds)
    ]


def pooling(*on: str, **more: bool) -> dict:
    """The content of 1_Pooling/config.json."""
    names = [
        "cls_token",
        "mean_tokens",
        "max_tokens",
        "mean_sqrt_len_tokens",
        "weightedmean_tokens",
        "lasttoken",
    ]
    return {
        "word_embedding_dimension": HIDDEN,
        **{f"pooling_mode_{name}": name in on for name in names},
        **more,
    }


class Exported(torch.nn.Module):
    """A network with its inputs by position and only one result."""

    def __init__(self, network: torch.nn.Module):
        super().__init__()
        self.network = network

    def forward(
        self, tokens: torch.Tensor, mask: torch.Tensor, types: torch.Tensor
    ) -> torch.Tensor:
        return self.network(tokens, mask, token_type_ids=types).last_hidden_state


def export(network: torch.nn.Module, path: Path) -> None:
    """Writes the network as an ONNX model of texts of any number and length."""
    path.parent.mkdir(exist_ok=True)
    # one tensor each: inputs that are the same object would be taken for one
    tokens, mask, types = (torch.full((2, 5), k, dtype=torch.int64) for k in (2, 1, 0))
    torch.onnx.export(
        Exported(network).eval(),
        (tokens, mask, types),
        path,
        dynamo=True,
        external_data=False,
        input_names=["input_ids", "attention_mask", "token_type_ids"],
        output_names=["last_hidden_state"],
        dynamic_shapes=({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},) * 3,
    )
    model = onnx_file.load(path)
    for part in (model, model.graph, *model.graph.node, *model.graph.value_info):
        del part.metadata_props[:]
    onnx_file.save(model, path)


def write(
    name: str,
    network: torch.nn.Module,
    tokenizer: Tokenizer,
    *,
    calls: dict[str, dict],
    onnx: bool = False,
    **files: dict | list,
) -> None:
    """Writes a folder: the network with random weights, its tokenizer, `files`, and the library's results for each of the calls; and the
    network as an ONNX model, if asked for."""
    folder = FOLDER / name
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(len(name))
    # BERT's pooler is not part of the pipeline
    tensors = {
        key: value for key, value in network.state_dict().items() if not key.startswith("pooler.")
    }
    for key, value in tensors.items():
        if value.is_floating_point():
            drawn = 0.5 * torch.randn(value.shape, generator=generator)
            tensors[key] = (
                (drawn + 1 if "norm" in key.lower() and key.endswith("weight") else drawn)
                .half()
                .contiguous()
            )
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    network.config.to_json_file(folder / "config.json")
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    for key, content in {**files, "calls": calls}.items():
        path = folder / ("1_Pooling/config.json" if key == "pooling" else f"{key}.json")
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    model = SentenceTransformer(
        str(folder),
        device="cpu",
        model_kwargs={"dtype": torch.float64, "attn_implementation": "eager"},
    )
    assert next(model.parameters()).dtype == torch.float64
    network = model[0].model
    for key, parameter in network.named_parameters():  # no weight was newly initialised
        assert key.startswith("pooler.") or torch.equal(parameter, tensors[key].double()), key
    expected = {
        call: np.stack([model.encode(text, **options) for text in TEXTS])
        for call, options in calls.items()
    }
    expected["tokens"] = np.concatenate(
        [model.tokenize([text])["input_ids"][0].numpy() for text in TEXTS]
    )
    expected["similarity"] = model.similarity(*[expected["encode"]] * 2).numpy()
    np.savez_compressed(
        folder / "expected.npz",
        **{k: v if k == "tokens" else v.astype(np.float32) for k, v in expected.items()},
    )
    if onnx:
        export(network.float(), folder / "onnx" / "model.onnx")
    print(name, {key: value.shape for key, value in expected.items()}, file=sys.stderr)


def main() -> None:
    """Writes every folder."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "texts.json").write_text(
        json.dumps(TEXTS, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    versions = {module.__name__: module.__version__ for module in (torch, transformers, np)}
    print(versions, file=sys.stderr)

    bert = of_words("[PAD]", "[UNK]", "[CLS]", "[SEP]", lowercase=False)
    write(
        "bert",
        transformers.BertModel(transformers.BertConfig(**sizes(bert, 40))),
        bert,
        onnx=True,
        calls={"encode": {}, "none": {"prompt": ""}, "passage": {"prompt_name": "passage"}},
        modules=modules("Transformer", "Pooling"),
        pooling=pooling(
            "cls_token",
            "mean_tokens",
            "max_tokens",
            "mean_sqrt_len_tokens",
            "weightedmean_tokens",
            "lasttoken",
        ),
        sentence_bert_config={"max_seq_length": 32, "do_lower_case": False},
        tokenizer_config={
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": True,
            "model_max_length": 40,
            "pad_token": "[PAD]",
            "unk_token": "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
        },
        config_sentence_transformers={
            "prompts": {"query": "query: ", "passage": "passage: "},
            "default_prompt_name": "query",
        },
    )
    fairseq = {
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "bos_token": "<s>",
        "eos_token": "</s>",
    }
    fast = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_input_names": ["input_ids", "attention_mask"],
        **fairseq,
    }
    albert = of_sentence_pieces()
    write(
        "albert",
        transformers.AlbertModel(
            transformers.AlbertConfig(
                **{**sizes(albert, 40), "num_hidden_layers": 3},
                embedding_size=10,
                num_hidden_groups=2,
                inner_group_num=2,
                pad_token_id=1,
                hidden_act="gelu_new",
            )
        ),
        albert,
        onnx=True,
        calls={"encode": {}},
        modules=modules("Transformer", "Pooling", "Normalize"),
        pooling=pooling("mean_tokens"),
        sentence_bert_config={"max_seq_length": 32, "do_lower_case": False},
        tokenizer_config=fast,
    )
    mpnet = of_words("<pad>", "<unk>", "<s>", "</s>", lowercase=True)
    write(
        "mpnet",
        transformers.MPNetModel(transformers.MPNetConfig(**sizes(mpnet, 200))),
        mpnet,
        calls={"encode": {}, "truncated": {"truncate_dim": 10, "normalize_embeddings": True}},
        modules=modules("Transformer", "Pooling", "Normalize"),
        pooling=pooling("mean_tokens"),
        sentence_bert_config={"max_seq_length": 180, "do_lower_case": False},
        tokenizer_config=fast,
    )
    roberta = of_bytes()
    write(
        "roberta",
        transformers.RobertaModel(
            transformers.RobertaConfig(
                **{**sizes(roberta, 60), "type_vocab_size": 1, "layer_norm_eps": 1e-5}
            )
        ),
        roberta,
        calls={"encode": {}, "normalized": {"normalize_embeddings": True}},
        modules=modules("Transformer", "Pooling"),
        pooling=pooling("mean_tokens"),
        sentence_bert_config={"max_seq_length": 58, "do_lower_case": True},
        tokenizer_config=fast,
        config_sentence_transformers={"similarity_fn_name": "euclidean"},
    )
    xlm = of_sentence_pieces()
    write(
        "xlm-roberta",
        transformers.XLMRobertaModel(
            transformers.XLMRobertaConfig(
                **{
                    **sizes(xlm, 42),
                    "type_vocab_size": 1,
                    "layer_norm_eps": 1e-5,
                    "hidden_act": "relu",
                }
            )
        ),
        xlm,
        calls={"encode": {}, "query": {"prompt_name": "query"}, "passage": {"prompt": "passage: "}},
        modules=modules("Transformer", "Pooling", "Normalize"),
        pooling=pooling("mean_tokens", "weightedmean_tokens", include_prompt=False),
        sentence_bert_config={},
        tokenizer_config={**fast, "model_max_length": 30},
        config_sentence_transformers={
            "prompts": {"query": "query: "},
            "similarity_fn_name": "manhattan",
        },
    )
    distil = of_words("[PAD]", "[UNK]", "[CLS]", "[SEP]", lowercase=True)
    names = {
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
    }
    write(
        "distilbert",
        transformers.DistilBertModel(
            transformers.DistilBertConfig(
                **{names.get(k, k): v for k, v in sizes(distil, 40).items()}
            )
        ),
        distil,
        calls={"encode": {}},
        # as version 6 of sentence-transformers writes them
        modules=[
            {
                "idx": 0,
                "name": "0",
                "path": "",
                "type": "sentence_transformers.base.modules.transformer.Transformer",
            },
            {
                "idx": 1,
                "name": "1",
                "path": "1_Pooling",
                "type": "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
            },
        ],
        pooling={"embedding_dimension": HIDDEN, "pooling_mode": "cls", "include_prompt": True},
        sentence_bert_config={
            "transformer_task": "feature-extraction",
            "modality_config": {
                "text": {"method": "forward", "method_output_name": "last_hidden_state"}
            },
            "module_output_name": "token_embeddings",
        },
        tokenizer_config={
            "tokenizer_class": "DistilBertTokenizer",
            "do_lower_case": True,
            "model_max_length": 36,
            "pad_token": "[PAD]",
            "unk_token": "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
        },
        config_sentence_transformers={"similarity_fn_name": "dot"},
    )


if __name__ == "__main__":
    main()
