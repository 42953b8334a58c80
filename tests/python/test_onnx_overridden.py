"""Initializers of ONNX models that calls override."""

import pickle

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import by_onnxruntime, made

import flex


def test_values_beside_onnxruntime(tmp_path):
    model = made(
        [
            helper.make_node("Reshape", ["x", "shape"], ["rows"]),
            helper.make_node("Mul", ["rows", "w"], ["scaled"]),
            helper.make_node("Add", ["scaled", "b"], ["y"]),
        ],
        [
            ("x", TensorProto.FLOAT, [6]),
            ("w", TensorProto.FLOAT, ["n"]),
            ("shape", TensorProto.INT64, [2]),
        ],
        [("y", TensorProto.FLOAT, None)],
        {"w": np.float32([1, 2, 3]), "shape": np.int64([2, 3]), "b": np.float32([1])},
    )
    (path := tmp_path / "model.onnx").write_bytes(file := model.SerializeToString())
    x, w = np.arange(6, dtype=np.float32), np.float32([-1, 0, 5])
    plain = flex.onnx.load(file)
    assert [value.name for value in plain.inputs] == ["x"]
    with pytest.raises(TypeError, match=r"'w' is a weight .* load it with overridable=\['w'\]"):
        plain.run(None, {"x": x, "w": w})
    with pytest.raises(TypeError, match="no input 'b'"):  # no input of the file
        plain.run(None, {"x": x, "b": w})
    names = ["shape", "w", "b"]
    for source in (file, path):
        model = flex.onnx.load(source, overridable=names)
        assert [value.name for value in model.inputs] == ["x", *names]
        assert model.inputs[2] == ("w", flex.float32, (3,))
        for feed in (
            {},
            {"w": w},
            {"shape": np.int64([3, 2]), "w": w[:1], "b": w[1:]},
            {"b": np.float32([4])},
            {},  # defaults are as they were
        ):
            if feed.get("w", w).shape == w.shape:
                (wanted,) = by_onnxruntime(file, {"x": x} | {k: feed[k] for k in feed if k != "b"})
                wanted = wanted - 1 + feed.get("b", np.float32([1]))
                np.testing.assert_array_equal(model.run(None, {"x": x} | feed)[0], wanted)
            else:
                with pytest.raises(flex.ShapeError, match="does not fit input w"):
                    model.run(None, {"x": x} | feed)
    by_position = model(x, np.int64([2, 3]), w)
    np.testing.assert_array_equal(by_position, x.reshape(2, 3) * w + 1)
    again = pickle.loads(pickle.dumps(model))
    assert [value.name for value in again.inputs] == ["x", *names]
    for wrong, error, message in (
        (["none"], ValueError, "no initializer is called .*none"),
        (["w", "w"], ValueError, "twice"),
        ("w", TypeError, "a list of names"),
    ):
        with pytest.raises(error, match=message):
            flex.onnx.load(file, overridable=wrong)


def test_bodies_that_read_one():
    branch = helper.make_graph(
        [helper.make_node("Mul", ["x", "w"], ["r"])],
        "branch",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.float32([7]), "w")],
    )
    outer = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["r"])],
        "branch",
        [],
        [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
    )
    model = made(
        [helper.make_node("If", ["c"], ["y"], then_branch=outer, else_branch=branch)],
        [("x", TensorProto.FLOAT, ["n"]), ("w", TensorProto.FLOAT, [1])],
        [("y", TensorProto.FLOAT, None)],
        {"w": np.float32([2]), "c": np.array(True)},
    )
    x, file = np.float32([1, 2]), model.SerializeToString()
    for names in (["w"], ["w", "c"]):
        model = flex.onnx.load(file, overridable=names)
        assert model(x).tolist() == [3, 4]
        assert model(x, w=[5]).tolist() == [6, 7]
    # the weight of the branch is its own
    assert model(x, w=[5], c=False).tolist() == [7, 14]
