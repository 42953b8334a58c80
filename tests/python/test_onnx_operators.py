"""Operators of ONNX where implementations differ: sizes, dtypes and values on which onnxruntime and the specification agree."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import by_onnxruntime, made

import flex

TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.int32): TensorProto.INT32,
}
TYPES |= {np.dtype(np.int64): TensorProto.INT64, np.dtype(bool): TensorProto.BOOL}


def model(op, inputs, opset=21, out=None, weights=(), **attributes):
    """A model of one node; `inputs` are arrays by name, `weights` likewise, which follow them."""
    names = [*inputs, *dict(weights)]
    kinds = {name: TYPES[np.asarray(x).dtype] for name, x in inputs.items()}
    infos = [(name, kinds[name], list(x.shape)) for name, x in inputs.items()]
    node = helper.make_node(op, names, ["y"], **attributes)
    return made(
        [node], infos, [("y", out or next(iter(kinds.values())), None)], weights, opset
    ).SerializeToString()


def same(op, inputs, **options):
    """Whether flex gives onnxruntime's values, dtype and shape."""
    file = model(op, inputs, **options)
    (want,) = by_onnxruntime(file, inputs)
    (got,) = flex.onnx.load(file).run(None, inputs)
    assert (got.shape, str(got.dtype)) == (want.shape, str(want.dtype))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)
    return True


@pytest.mark.parametrize(
    ("op", "opset"), [("Upsample", 9), ("Resize", 10), ("Resize", 13), ("Resize", 19)]
)
@pytest.mark.parametrize("scale", [0.3, 0.6, 0.7, 0.9, 1.3, 1.4, 2.3, 3.0])
def test_sizes_and_elements_of_scales(op, opset, scale):
    if op == "Upsample":
        scale += 1
    for n in (5, 10, 15, 20, 31):
        x = np.arange(n, dtype=np.float32).reshape(1, 1, n)
        scales = np.float32([1, 1, scale])
        if op == "Resize" and opset > 10:
            weights = {"roi": np.float32([]), "scales": scales}
            # where a place lies halfway, rounding errors of the scale decide
            attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        else:
            weights, attributes = {"scales": scales}, {}
        assert same(op, {"x": x}, opset=opset, weights=weights, mode="nearest", **attributes)


def test_nearest_before_operator_set_11():
    # resize_downsample_nearest of ONNX 1.5's own tests
    x = np.float32([[[[1, 2, 3, 4], [5, 6, 7, 8]]]])
    file = model(
        "Resize",
        {"x": x},
        opset=10,
        weights={"scales": np.float32([1, 1, 0.6, 0.6])},
        mode="nearest",
    )
    (y,) = flex.onnx.load(file).run(None, {"x": x})
    assert y.tolist() == [[[[1, 3]]]]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_shrink_keeps_integers(dtype):
    x = np.array([-7, -2, -1, 0, 1, 2, 7], dtype)
    assert same("Shrink", {"x": x}, bias=1.0, lambd=1.5)


@pytest.mark.parametrize("bias", [(4,), (2, 1, 4), None])
def test_layer_normalization_with_a_scale_of_each_example(bias):
    rng = np.random.default_rng(1)
    inputs = {"x": rng.standard_normal((2, 3, 4)), "scale": rng.standard_normal((2, 3, 4))}
    if bias:
        inputs["b"] = rng.standard_normal(bias)
    inputs = {name: x.astype(np.float32) for name, x in inputs.items()}
    x = inputs["x"].astype(np.float64)
    want = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * inputs[
        "scale"
    ] + inputs.get("b", 0)
    (y,) = flex.onnx.load(model("LayerNormalization", inputs, axis=-1)).run(None, inputs)
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-5, atol=1e-5)


def test_bools():
    x, updates = np.array([True, False, False, True]), np.array([True, False, True])
    at = np.array([0, 0, 2])
    inputs = {"x": x, "at": at, "updates": updates}
    for reduction, want in (
        ("add", [1, 0, 1, 1]),
        ("mul", [0, 0, 0, 1]),
        ("max", [1, 0, 1, 1]),
        ("min", [0, 0, 0, 1]),
    ):
        (y,) = flex.onnx.load(model("ScatterElements", inputs, opset=18, reduction=reduction)).run(
            None, inputs
        )
        assert y.dtype == flex.bool
        assert y.tolist() == [bool(v) for v in want]
    shape = np.array([6])
    (y,) = flex.onnx.load(model("CenterCropPad", {"x": x}, weights={"shape": shape})).run(
        None, {"x": x}
    )
    assert y.tolist() == [False, True, False, False, True, False]


def test_special_arguments():
    assert same("Hardmax", {"x": np.empty((3, 0), np.float32)})
    assert same("ThresholdedRelu", {"x": np.float32([np.nan, -1, 0.5, 1, 2])}, alpha=0.5)


@pytest.mark.parametrize("shape", [5, 7, 8, 9, 10])
def test_transposed_convolutions_of_a_given_size(shape):
    inputs = {"x": np.float32([[[1, 2, 3]]]), "w": np.float32([[[1, 10]]])}
    assert same("ConvTranspose", inputs, strides=[3], output_shape=[shape])
