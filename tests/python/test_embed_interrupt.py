"""The processes of `flex-cpu embed --processes N` when SIGINT comes: from a terminal to all of them, or to the command alone."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

BERT = Path(__file__).resolve().parent.parent / "data" / "models" / "bert"
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "far", "away"]
LONG = 100  # seconds, for what takes one on an idle machine
# a shell starts what runs in the background with the signal ignored
MAIN = "signal.signal(signal.SIGINT, signal.default_int_handler)\nsys.exit(flex.cli.main())"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture
def corpus(tmp_path):
    """Of many tasks."""
    rng = np.random.default_rng(0)
    path = tmp_path / "corpus.txt"
    lines = (" ".join(rng.choice(WORDS, rng.integers(1, 13))) for _ in range(9000))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "flex", "embed", *map(str, arguments), "--model", str(BERT)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG,
    )


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["parent", "group"])
def test_an_interrupted_pool_ends_at_once(corpus, tmp_path, send):
    """Its processes are stopped once a task is written, as if the others took for ever."""
    code = (
        "import multiprocessing, os, signal, sys, flex.cli\n"
        "from flex.models._vectors import VectorFile\n"
        "append = VectorFile.append\n"
        "def appended(*arguments):\n"
        "    append(*arguments)\n"
        "    for process in multiprocessing.active_children():\n"
        "        os.kill(process.pid, signal.SIGSTOP)\n"
        "    print('stopped', flush=True)\n"
        "VectorFile.append = appended\n"
        f"{MAIN}"
    )
    out = tmp_path / "out.npy"
    arguments = ["embed", corpus, "-o", out, "--model", BERT, "--processes", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # and so a group of its own
    )
    try:
        assert process.stdout.readline() == "stopped\n"
        send(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=LONG)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, said
    started, ended = said.splitlines()
    assert "2 processes" in started
    assert "the same command continues after them" in ended
    assert not out.exists()
    process = command(corpus, "-o", out, "--processes", 1)
    assert "vectors are there from a run that stopped" in process.stderr
    again = tmp_path / "again.npy"
    assert command(corpus, "-o", again).returncode == 0
    assert out.read_bytes() == again.read_bytes()


def test_an_interrupt_while_the_pool_starts(corpus, tmp_path):
    """It comes between the starts of the two processes, which have not yet their own handler."""
    code = (
        "import os, signal, sys, flex.cli\n"
        "from multiprocessing import popen_spawn_posix\n"
        "launch = popen_spawn_posix.Popen._launch\n"
        "def launched(*arguments):\n"
        "    launch(*arguments)\n"
        "    os.killpg(0, signal.SIGINT)\n"
        "popen_spawn_posix.Popen._launch = launched\n"
        f"{MAIN}"
    )
    arguments = ["embed", corpus, "-o", tmp_path / "out.npy", "--model", BERT]
    process = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments), "--processes", "2"],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG,
        start_new_session=True,
    )
    assert process.returncode == 130, process.stderr
    assert process.stderr.splitlines()[1:] == ["flex-cpu: interrupted before a vector was written"]
