"""ONNX models from Python: calls, errors, files, the command line; and whole networks against onnxruntime."""

import io
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import made, matches_onnxruntime

import flex

DOCS = Path(__file__).resolve().parent.parent.parent / "docs" / "onnx.md"


def addition():
    shape = ["n", 2]
    return made(
        [
            helper.make_node("Add", ["x", "y"], ["sum"]),
            helper.make_node("Sub", ["x", "y"], ["difference"]),
        ],
        [("x", TensorProto.FLOAT, shape), ("y", TensorProto.FLOAT, shape)],
        [("sum", TensorProto.FLOAT, shape), ("difference", TensorProto.FLOAT, shape)],
    )


class TestCalls:
    model = flex.onnx.load(addition().SerializeToString())
    x, y = np.float32([[1, 2], [3, 4]]), np.float32([[10, 20], [30, 40]])

    def test_values(self):
        assert self.model.inputs[0] == ("x", flex.float32, ("n", 2))
        assert [value.name for value in self.model.outputs] == ["sum", "difference"]
        assert repr(self.model) == "<flex.onnx.Model (x, y) -> (sum, difference)>"

    def test_by_position_and_name(self):
        for total, difference in (
            self.model(self.x, self.y),
            self.model(self.x, y=self.y),
            self.model(y=self.y, x=flex.asarray(self.x)),
        ):
            np.testing.assert_array_equal(total.numpy(), self.x + self.y)
            np.testing.assert_array_equal(difference.numpy(), self.x - self.y)

    def test_run(self):
        inputs = {"x": self.x, "y": self.y}
        (difference,) = self.model.run(["difference"], inputs)
        np.testing.assert_array_equal(difference.numpy(), self.x - self.y)
        assert len(self.model.run(None, inputs)) == 2

    def test_wrong_inputs(self):
        for args, named in (
            ((self.x,), {}),
            ((self.x,) * 3, {}),
            ((self.x,), {"x": self.y}),
            ((), {"x": self.x, "z": self.y}),
        ):
            with pytest.raises(TypeError):
                self.model(*args, **named)
        with pytest.raises(TypeError, match=r"by name are keywords: model\(\*\*inputs\)"):
            self.model({"x": flex.ones(2)})
        with pytest.raises(TypeError, match="no outputs"):
            self.model.run(["product"], {"x": self.x, "y": self.y})
        with pytest.raises(flex.ShapeError, match="does not fit input y: float32"):
            self.model(self.x, self.y[:1])
        with pytest.raises(flex.DTypeError, match="float64"):
            self.model(self.x.astype(np.float64), self.y)

    def test_wrong_feeds(self):
        with pytest.raises(TypeError, match="output_names is 'sum': a list of names"):
            self.model.run("sum", {"x": self.x, "y": self.y})
        for inputs in ([self.x, self.y], None, self.x):
            with pytest.raises(TypeError, match="a dict by name is needed"):
                self.model.run(None, inputs)

    def test_inputs_of_any_name(self):
        model = flex.onnx.load(
            made(
                [helper.make_node("Sub", ["self", "args"], ["y"])],
                [("self", TensorProto.FLOAT, ["n"]), ("args", TensorProto.FLOAT, ["n"])],
                [("y", TensorProto.FLOAT, ["n"])],
            ).SerializeToString()
        )
        inputs = {"self": np.float32([3]), "args": np.float32([1])}
        assert model(**inputs).tolist() == [2]
        assert model(inputs["self"], args=inputs["args"]).tolist() == [2]
        assert len(model.profile(**inputs)) == 1

    def test_profile(self):
        steps = self.model.profile(self.x, self.y)
        assert [step.operator for step in steps] == ["Add", "Sub"]
        assert all(step.seconds >= 0 for step in steps)

    def test_inputs_are_kept(self):
        model = flex.onnx.load(
            made(
                [helper.make_node("Neg", ["x"], ["y"])],
                [("x", TensorProto.FLOAT, ["n"])],
                [("y", TensorProto.FLOAT, ["n"])],
            ).SerializeToString()
        )
        x = flex.ones(100_000)
        model(x)
        assert flex.all(x == 1)

    def test_threads(self):
        results = []

        def work():
            results.extend(self.model(self.x, self.y)[0].tolist() for _ in range(100))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [(self.x + self.y).tolist()] * 400


class TestFiles:
    def test_sources(self, tmp_path):
        file, path = addition().SerializeToString(), tmp_path / "model.onnx"
        path.write_bytes(file)
        for source in (file, bytearray(file), memoryview(file), path, str(path), io.BytesIO(file)):
            assert len(flex.onnx.load(source).inputs) == 2
        assert len(flex.onnx.load(path, mmap=True).inputs) == 2

    def test_no_sources(self, tmp_path):
        with pytest.raises(TypeError, match=r"type ModelProto; .*SerializeToString\(\)"):
            flex.onnx.load(addition())
        for file in (None, 3, np.zeros(3, np.uint8)):
            with pytest.raises(TypeError, match=r"a path, bytes or a binary file is needed$"):
                flex.onnx.load(file)
        with pytest.raises(TypeError, match="gives str, not bytes: open it in binary mode"):
            flex.onnx.load(io.StringIO("text"))

    def test_external_data(self, tmp_path):
        weight = np.random.default_rng(7).random((64, 64), np.float32)
        model = made(
            [helper.make_node("MatMul", ["x", "w"], ["y"])],
            [("x", TensorProto.FLOAT, [1, 64])],
            [("y", TensorProto.FLOAT, [1, 64])],
            {"w": weight},
        )
        path = tmp_path / "model.onnx"
        onnx.save_model(model, path, save_as_external_data=True, location="weights.bin")
        x = np.ones((1, 64), np.float32)
        for mmap in (False, True):
            y = flex.onnx.load(path, mmap=mmap)(x)
            np.testing.assert_allclose(y.numpy(), x @ weight, rtol=1e-5)
        with pytest.raises(ValueError, match="load the model by its path"):
            flex.onnx.load(path.read_bytes())

    def large(self):
        """A model whose weights are read from the file, each into its tensor."""
        rng = np.random.default_rng(5)
        shape = (130, 150)
        weights = {
            "a": rng.standard_normal(shape, np.float32),
            "b": rng.standard_normal(shape),
            "c": rng.standard_normal((300, 150)).astype(np.float16),
            "small": rng.standard_normal(150, np.float32),
            "scale": np.float32(0.5),
        }
        nibbles = rng.integers(-8, 8, (1000, 150)).astype(np.int8)
        inner = rng.standard_normal(shape, np.float32)
        kept = helper.make_tensor("typed", TensorProto.FLOAT, shape, inner.ravel())
        node = helper.make_node
        branch = helper.make_graph(
            [node("Add", ["sum", "inner"], ["r"])],
            "branch",
            [],
            [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(inner, "inner")],
        )
        model = made(
            [
                node("Constant", [], ["d"], value=numpy_helper.from_array(inner * 2)),
                node("Cast", ["b"], ["b32"], to=1),
                node("Sum", ["x", "a", "b32", "small", "d", "typed"], ["sum"]),
                node("If", ["go"], ["whole"], then_branch=branch, else_branch=branch),
                node("Cast", ["c"], ["halves"], to=1),
                node("DequantizeLinear", ["e", "scale"], ["fours"]),
                node("Concat", ["whole", "halves", "fours"], ["y"], axis=0),
            ],
            [("x", TensorProto.FLOAT, [None, 150]), ("go", TensorProto.BOOL, [])],
            [("y", TensorProto.FLOAT, None)],
            weights,
            opset=21,
        )
        fours = helper.make_tensor("e", TensorProto.INT4, nibbles.shape, nibbles.ravel())
        model.graph.initializer.extend([kept, fours])
        return model

    def test_large_weights(self, tmp_path):
        file = self.large().SerializeToString()
        (path := tmp_path / "large.onnx").write_bytes(file)
        inputs = {"x": np.ones((130, 150), np.float32), "go": np.array(True)}
        (wanted,) = flex.onnx.load(file).run(None, inputs)
        assert wanted.shape == (130 + 300 + 1000, 150)
        for mmap in (False, True):
            (found,) = flex.onnx.load(path, mmap=mmap).run(None, inputs)
            assert np.array_equal(found, wanted)
        assert matches_onnxruntime(self.large(), **inputs)

    def test_truncated_large_weights(self, tmp_path):
        file = self.large().SerializeToString()
        for end in np.random.default_rng(1).integers(0, len(file), 60).tolist():
            (path := tmp_path / "large.onnx").write_bytes(file[:end])
            try:
                flex.onnx.load(file[:end])
            except ValueError as error:
                message = str(error).removeprefix("an ONNX model: ")
                with pytest.raises(ValueError, match=re.escape(message)):
                    flex.onnx.load(path)
            else:
                flex.onnx.load(path)

    @pytest.mark.skipif(sys.platform != "linux", reason="needs the peak of a process's memory")
    def test_memory(self, tmp_path):
        """A file and its weights are not in memory at the same time."""
        weights = {f"w{k}": np.ones((1 << 10, 1 << 10), np.float32) for k in range(16)}
        node = helper.make_node("Sum", ["x", *weights], ["y"])
        value = [(name, TensorProto.FLOAT, None) for name in "xy"]
        model = made([node], value[:1], value[1:], weights)
        (path := tmp_path / "model.onnx").write_bytes(model.SerializeToString())
        script = (
            "import sys, flex\n"
            "peak = lambda: next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmHWM'))\n"
            "before = peak(); model = flex.onnx.load(sys.argv[1]); print(peak() - before)"
        )
        arguments = [sys.executable, "-c", script, str(path)]
        run = subprocess.run(arguments, check=True, capture_output=True, text=True)
        assert int(run.stdout) < 80 << 10  # KiB: 64 MiB of weights, and some room

    def test_tensors(self):
        for dtype in (np.float32, np.float64, np.int8, np.uint16, np.int64, np.bool, np.float16):
            value = np.arange(6).reshape(2, 3).astype(dtype)
            raw = numpy_helper.from_array(value)
            listed = helper.make_tensor("", raw.data_type, value.shape, value.ravel())
            for tensor in (raw, listed):
                read = flex._flex._onnx._read_onnx_tensor(tensor.SerializeToString())
                assert read.dtype == value.dtype
                np.testing.assert_array_equal(read.numpy(), value)

    def test_damaged(self):
        for file, message in (
            (b"", "no graph"),
            (b"no model", "an ONNX model: "),
            (addition().SerializeToString()[:-9], "an ONNX model: "),
        ):
            with pytest.raises(ValueError, match=message):
                flex.onnx.load(file)
        with pytest.raises(FileNotFoundError):
            flex.onnx.load("no/such/model.onnx")

    def test_missing_operators(self):
        nodes = [helper.make_node(op, ["x"], [op]) for op in ("Foo", "Relu", "Bar")]
        model = made(
            nodes, [("x", TensorProto.FLOAT, [1])], [("Bar", TensorProto.FLOAT, [1])], opset=20
        )
        with pytest.raises(ValueError, match=r"no such operators: Bar .*; Foo .*20, first as"):
            flex.onnx.load(model.SerializeToString())


class TestBackend:
    x, y = np.float32([[1, -2], [3, 4]]), np.float32([10, 20])

    def run(self, node, inputs, **options):
        """The outputs, as those of ONNX's reference implementation."""
        found = flex.onnx.Backend.run_node(node, inputs, **options)
        expected = ReferenceEvaluator(node).run(None, dict(zip(node.input, inputs, strict=True)))
        for output, want in zip(found, expected, strict=True):
            assert output.dtype == want.dtype
            np.testing.assert_array_equal(output, want)
        return found

    def test_nodes(self):
        add = helper.make_node("Add", ["x", "y"], ["z"])
        (total,) = self.run(add, [self.x, self.y])
        (named,) = flex.onnx.Backend.run_node(add, {"y": self.y, "x": self.x})
        np.testing.assert_array_equal(named, total)
        self.run(helper.make_node("Relu", ["x"], ["y"]), [self.x], device="CPU")
        self.run(helper.make_node("TopK", ["x", "k"], ["v", "i"]), [self.x, np.int64([1])])

    def test_absent_operands(self):
        node = helper.make_node("Clip", ["x", "", "high"], ["y"])
        (y,) = flex.onnx.Backend.run_node(node, [self.x, np.float32(2)])
        np.testing.assert_array_equal(y, np.minimum(self.x, 2))

    def test_operator_sets(self):
        node = helper.make_node("Squeeze", ["x"], ["y"], axes=[0])
        (y,) = flex.onnx.Backend.run_node(node, [self.x[None]], opset_version=11)
        np.testing.assert_array_equal(y, self.x)
        with pytest.raises(ValueError, match="axes"):
            flex.onnx.Backend.run_node(node, [self.x[None]])
        with pytest.raises(ValueError, match="CUDA"):
            flex.onnx.Backend.run_node(node, [self.x[None]], "CUDA", opset_version=11)


class TestNetworks:
    rng = np.random.default_rng(20)

    def weight(self, *shape, scale=0.2):
        return (scale * self.rng.standard_normal(shape)).astype(np.float32)

    def test_convolutions(self):
        node = helper.make_node
        statistics = {
            name: self.weight(8) ** 2 + 0.5 if name == "var" else self.weight(8)
            for name in ("gamma", "beta", "mean", "var")
        }
        model = made(
            [
                node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], strides=[2, 2]),
                node("BatchNormalization", ["c1", *statistics], ["n1"]),
                node("Relu", ["n1"], ["r1"]),
                node("Conv", ["r1", "w2"], ["c2"], group=8, auto_pad="SAME_UPPER"),
                node("HardSwish", ["c2"], ["h2"]),
                node("MaxPool", ["h2"], ["m2"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
                node("Resize", ["m2", "", "scales"], ["u2"], mode="linear"),
                node("GlobalAveragePool", ["u2"], ["p"]),
                node("Flatten", ["p"], ["f"]),
                node("Gemm", ["f", "w3", "b3"], ["y"], transB=1),
            ],
            [("x", TensorProto.FLOAT, ["n", 3, 33, 33])],
            [("y", TensorProto.FLOAT, ["n", 5])],
            {
                "w1": self.weight(8, 3, 3, 3),
                "b1": self.weight(8),
                **statistics,
                "w2": self.weight(8, 1, 3, 3),
                "scales": np.float32([1, 1, 2, 2]),
                "w3": self.weight(5, 8),
                "b3": self.weight(5),
            },
        )
        for batch in (1, 3):
            assert matches_onnxruntime(model, x=self.weight(batch, 3, 33, 33, scale=1))

    def test_transformer(self):
        """A block as exporters write it: shapes computed by nodes, a layer norm and gelu in parts."""
        node, heads, width = helper.make_node, 4, 32
        model = made(
            [
                node("LayerNormalization", ["x", "g", "b"], ["n"], axis=-1),
                node("MatMul", ["n", "wqkv"], ["qkv"]),
                node("Split", ["qkv", "thirds"], ["q", "k", "v"], axis=-1),
                node("Shape", ["x"], ["shape"]),
                node("Gather", ["shape", "zero"], ["batch"], axis=0),
                node("Gather", ["shape", "one"], ["tokens"], axis=0),
                node("Unsqueeze", ["batch", "zero1"], ["batch1"]),
                node("Unsqueeze", ["tokens", "zero1"], ["tokens1"]),
                node("Concat", ["batch1", "tokens1", "heads"], ["split"], axis=0),
                *[node("Reshape", [t, "split"], [f"{t}s"]) for t in "qkv"],
                node("Transpose", ["qs"], ["qt"], perm=[0, 2, 1, 3]),
                node("Transpose", ["ks"], ["kt"], perm=[0, 2, 3, 1]),
                node("Transpose", ["vs"], ["vt"], perm=[0, 2, 1, 3]),
                node("MatMul", ["qt", "kt"], ["scores"]),
                node("Div", ["scores", "root"], ["scaled"]),
                node("Softmax", ["scaled"], ["weights"], axis=-1),
                node("MatMul", ["weights", "vt"], ["mixed"]),
                node("Transpose", ["mixed"], ["joined"], perm=[0, 2, 1, 3]),
                node("Reshape", ["joined", "whole"], ["flat"]),
                node("MatMul", ["flat", "wo"], ["out"]),
                node("Add", ["x", "out"], ["h"]),
                node("MatMul", ["h", "w1"], ["up"]),
                node("Add", ["up", "b1"], ["upb"]),
                node("Div", ["upb", "sqrt2"], ["e1"]),
                node("Erf", ["e1"], ["e2"]),
                node("Add", ["e2", "float1"], ["e3"]),
                node("Mul", ["upb", "e3"], ["e4"]),
                node("Mul", ["e4", "half"], ["gelu"]),
                node("MatMul", ["gelu", "w2"], ["down"]),
                node("Add", ["h", "down"], ["y"]),
            ],
            [("x", TensorProto.FLOAT, ["batch", "tokens", width])],
            [("y", TensorProto.FLOAT, ["batch", "tokens", width])],
            {
                "g": 1 + self.weight(width),
                "b": self.weight(width),
                "wqkv": self.weight(width, 3 * width),
                "wo": self.weight(width, width),
                "w1": self.weight(width, 4 * width),
                "b1": self.weight(4 * width),
                "w2": self.weight(4 * width, width),
                "thirds": np.int64([width] * 3),
                "zero": np.int64(0),
                "one": np.int64(1),
                "zero1": np.int64([0]),
                "heads": np.int64([heads, width // heads]),
                "whole": np.int64([0, 0, width]),
                "root": np.float32((width // heads) ** 0.5),
                "sqrt2": np.float32(2**0.5),
                "float1": np.float32(1),
                "half": np.float32(0.5),
            },
        )
        for batch, tokens in ((1, 5), (2, 17)):
            assert matches_onnxruntime(model, x=self.weight(batch, tokens, width, scale=1))

    @pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
    @pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
    def test_recurrent(self, kind, direction):
        gates, size, width = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], 6, 5
        directions = 2 if direction == "bidirectional" else 1
        names = ["y", "h", "c"][: 3 if kind == "LSTM" else 2]
        shapes = [["s", directions, "n", size], *[[directions, "n", size]] * 2]
        options = {"linear_before_reset": 1} if kind == "GRU" else {}
        model = made(
            [
                helper.make_node(
                    kind,
                    ["x", "w", "r", "b", "lengths"],
                    names,
                    hidden_size=size,
                    direction=direction,
                    **options,
                )
            ],
            [("x", TensorProto.FLOAT, ["s", "n", width]), ("lengths", TensorProto.INT32, ["n"])],
            [(n, TensorProto.FLOAT, s) for n, s in zip(names, shapes, strict=False)],
            {
                "w": self.weight(directions, gates * size, width, scale=0.5),
                "r": self.weight(directions, gates * size, size, scale=0.5),
                "b": self.weight(directions, 2 * gates * size, scale=0.5),
            },
        )
        x = self.weight(7, 3, width, scale=1)
        for lengths in ([7, 7, 7], [7, 2, 4]):
            assert matches_onnxruntime(model, x=x, lengths=np.int32(lengths))

    @pytest.mark.parametrize("shape", [(2, 3, 1), (2, 3, 1, 1), (1, 3, 4)])
    def test_norms_of_single_values(self, shape):
        """A channel of one value becomes the bias."""
        model = made(
            [helper.make_node("InstanceNormalization", ["x", "g", "b"], ["y"])],
            [("x", TensorProto.FLOAT, shape)],
            [("y", TensorProto.FLOAT, shape)],
            {"g": self.weight(3), "b": self.weight(3)},
        )
        assert matches_onnxruntime(model, x=self.weight(*shape, scale=1))

    def test_quantised(self):
        """Integers with scales around a product, as exporters of quantised models write it. Weights are of 7 bits, since onnxruntime's sums
        saturate on CPUs without VNNI."""
        node = helper.make_node
        model = made(
            [
                node("DynamicQuantizeLinear", ["x"], ["xq", "xs", "xz"]),
                node("MatMulInteger", ["xq", "w", "xz"], ["sums"]),
                node("Cast", ["sums"], ["float"], to=TensorProto.FLOAT),
                node("Mul", ["xs", "ws"], ["scale"]),
                node("Mul", ["float", "scale"], ["p"]),
                node("QuantizeLinear", ["p", "s", "z"], ["q"]),
                node("DequantizeLinear", ["q", "s", "z"], ["y"]),
            ],
            [("x", TensorProto.FLOAT, ["n", 16])],
            [("y", TensorProto.FLOAT, ["n", 8])],
            {
                "w": self.rng.integers(-63, 63, (16, 8), np.int8),
                "ws": np.float32(0.01),
                "s": np.float32(0.05),
                "z": np.uint8(128),
            },
        )
        assert matches_onnxruntime(model, atol=0.051, x=self.weight(4, 16, scale=1))


class TestCommand:
    def run(self, *arguments):
        command = [sys.executable, "-m", "flex", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, check=False, env=os.environ, text=True)

    @pytest.fixture
    def files(self, tmp_path):
        (tmp_path / "model.onnx").write_bytes(addition().SerializeToString())
        for k, name in enumerate(("x", "y", "z")):
            np.save(tmp_path / f"{name}.npy", np.full((3, 2), k + 1, np.float32))
        return tmp_path

    def test_run(self, files):
        model, out = files / "model.onnx", files / "out.npz"
        inputs = ["--input", files / "x.npy", "--input", f"y={files / 'y.npy'}"]
        done = self.run("run", model, *inputs, "--output", out, "--profile")
        assert done.returncode == 0, done.stderr
        written = np.load(out)
        np.testing.assert_array_equal(written["sum"], np.full((3, 2), 3, np.float32))
        np.testing.assert_array_equal(written["difference"], np.full((3, 2), -1, np.float32))
        assert "operator" in done.stderr
        assert "Add" in done.stderr
        assert "sum: " in self.run("run", model, *inputs).stdout
        # another file of y is another call
        done = self.run("run", model, *inputs, "--input", f"y={files / 'z.npy'}", "-o", out)
        assert done.returncode == 0, done.stderr
        assert sorted(np.load(out)) == ["difference.0", "difference.1", "sum.0", "sum.1"]

    def test_errors(self, files):
        model = files / "model.onnx"
        for arguments, message in (
            (["run", model], "missing"),
            (["run", model, "--input", f"q={files / 'x.npy'}"], "the model's inputs are x, y"),
            (["run", files / "x.npy"], "x.npy"),
            (["info", files / "none.onnx"], "none.onnx"),
        ):
            done = self.run(*arguments)
            assert done.returncode == 1
            assert message in done.stderr
            assert "Traceback" not in done.stderr

    def test_info(self, files):
        done = self.run("info", files / "model.onnx")
        assert done.returncode == 0, done.stderr
        assert "x: float32 [n, 2]" in done.stdout
        assert "Add 1, Sub 1" in done.stdout
        assert '"parameters": 0' in self.run("info", "--json", files / "model.onnx").stdout


def test_documented_operators():
    """The table in the documentation is that of the rows."""
    rows = {}
    for domain, name, since in flex.onnx.operators():
        rows.setdefault((domain, name), []).append(str(since))
    table = [
        f"| `{f'{domain}.' if domain else ''}{name}` | {', '.join(since)} |"
        for (domain, name), since in rows.items()
    ]
    _, documented = DOCS.read_text("utf-8").split(
        "| operator | forms since operator set |\n|---|---|\n"
    )
    assert documented.splitlines() == table
