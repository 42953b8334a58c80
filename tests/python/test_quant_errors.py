"""What flex.quant refuses: errors name the operation and the argument."""

import io

import numpy as np
import pytest
from quantised import F32

import flex
from flex import quant


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: quant.quantize(x, "int2", symmetric=False), ValueError, "int2"),
        (lambda x: quant.quantize(x)[2**70], OverflowError, "out of range"),
        (lambda x: quant.quantize(x, "int3"), ValueError, "int3"),
        (
            lambda x: quant.quantize(x, "uint8", symmetric=True),
            ValueError,
            "uint8 without zero points",
        ),
        (lambda x: quant.quantize(x, "int4", symmetric=False), ValueError, "int4"),
        (lambda x: quant.quantize(x, axis=2), flex.AxisError, "axis 2"),
        (
            lambda x: quant.quantize(x, block=3),
            flex.ShapeError,
            "blocks of 3 do not divide axis -?1",
        ),
        (lambda x: quant.quantize(x, block=0), flex.ShapeError, "blocks of 0"),
        (lambda x: quant.quantize(x, block=-1), ValueError, "block"),
        (lambda x: quant.quantize(flex.astype(x, flex.int32)), flex.DTypeError, "int32"),
        (lambda x: quant.quantize(x, scale_dtype=flex.float64), flex.DTypeError, "float64"),
        (lambda x: quant.quantize(x, calibration="best"), ValueError, "best"),
        (lambda x: quant.quantize(x, calibration="percentile", percentile=10.0), ValueError, "10"),
        (lambda x: quant.quantize(x, zero_point=1), TypeError, "zero_point"),
        (lambda x: quant.quantize(x, scale=-1.0), ValueError, "-1"),
        (lambda x: quant.quantize(x, scale=float("nan")), ValueError, "NaN"),
        (lambda x: quant.quantize(x, scale=flex.ones((3, 1))), flex.ShapeError, "scales"),
        (lambda x: quant.quantize(flex.asarray(1.0), "int4"), flex.ShapeError, "axis"),
        (lambda x: quant.quantize(x)[0, 0, 0], IndexError, "3 indices"),
        (lambda x: quant.quantize(x)[5], IndexError, "5"),
        (lambda x: quant.quantize(x)["a"], TypeError, "str"),
        (lambda x: quant.quantize(x).dequantize(flex.int8), flex.DTypeError, "int8"),
        (lambda x: quant.quantize(x).reshape((3, 3)), flex.ShapeError, "elements"),
        (lambda x: quant.quantize(x).reshape(-1, -1), flex.ShapeError, "more than once"),
        (lambda x: quant.quantize(x).squeeze(axis=0), flex.ShapeError, "squeeze"),
        (lambda x: quant.quantize(x).squeeze(axis=2), flex.AxisError, "squeeze"),
        (lambda x: quant.quantize(x).expand_dims(axis=4), flex.AxisError, "expand_dims"),
        (lambda x: quant.quantize(x).transpose(0, 0), flex.ShapeError, "permute"),
        (lambda x: quant.quantize(x).take_along_axis(flex.asarray([[9]]), 0), IndexError, "9"),
        (lambda x: quant.QTensor(x, flex.ones((1, 1))), flex.ShapeError, "int8"),
        (
            lambda x: quant.QTensor(flex.zeros((2, 2), dtype="int8"), flex.ones(1)),
            flex.ShapeError,
            "rank",
        ),
        (
            lambda x: quant.QTensor(flex.zeros(2, dtype="uint8"), flex.ones(1), dtype="int4"),
            TypeError,
            "shape",
        ),
        (lambda x: quant.linear(x, quant.quantize(x[:, :3])), flex.ShapeError, "weight"),
        (lambda x: quant.linear(x, x), TypeError, "weight"),
        (lambda x: quant.linear(x, quant.quantize(x), inputs="int8"), ValueError, "inputs"),
        (lambda x: quant.linear(x, quant.quantize(x), flex.ones(3)), flex.ShapeError, "bias"),
        (
            lambda x: quant.linear(x, quant.quantize(x, "int4"), inputs="dynamic"),
            ValueError,
            "int4",
        ),
        (
            lambda x: quant.linear(x, quant.quantize(x, axis=1), inputs="dynamic"),
            ValueError,
            "blocks",
        ),
        (lambda x: quant.linear(x, quant.quantize(x), inputs="static"), TypeError, "scale"),
        (
            lambda x: quant.linear(x, quant.quantize(x), inputs="static", scale=0.0),
            ValueError,
            "scale",
        ),
        (lambda x: quant.quantize(x, "uint8", scale=0.1, zero_point=300), ValueError, "300"),
        (lambda x: quant.quantize(x, scale=0.1, zero_point=-129), ValueError, "from -128 to 127"),
        (lambda x: quant.quantize(x, scale=0.1, zero_point=1.7), TypeError, "integers"),
        (lambda x: quant.quantize(x, scale=0.1, symmetric=False), TypeError, "symmetric"),
        (lambda x: quant.quantize(x, scale=0.1, calibration="bogus"), TypeError, "calibration"),
        (
            lambda x: quant.matmul_integer(x.astype("uint8"), x.astype("int8"), 256),
            ValueError,
            "a_zero_point is 256",
        ),
        (lambda x: quant.linear(x, quant.quantize(x), scale=1.0), TypeError, "static"),
        (lambda x: quant.linear(x, quant.quantize(x), activation="relu7"), ValueError, "relu7"),
        (lambda x: quant.matmul_integer(x, x), flex.DTypeError, "a must be"),
        (lambda x: quant.concat([]), ValueError, "no tensors"),
        (
            lambda x: quant.concat([quant.quantize(x), quant.quantize(x, "uint8")]),
            flex.ShapeError,
            "uint8",
        ),
        (lambda x: quant.concat([quant.quantize(x), quant.quantize(2 * x)]), ValueError, "differ"),
    ],
)
def test_errors_name_the_argument(call, error, message):
    with pytest.raises(error, match=message):
        call(flex.asarray(np.arange(16.0, dtype=F32).reshape(4, 4)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q: quant.QTensor("a", q.scales), "QTensor: values: expected a Tensor"),
        (lambda q: quant.QTensor(q.values, "a"), "QTensor: scales: expected a Tensor"),
        (
            lambda q: quant.QTensor(q.values, q.scales, "a"),
            "QTensor: zero_points: expected a Tensor",
        ),
        (lambda q: quant.QTensor(q.values, q.scales, dtype=1), "QTensor: dtype: 'int'"),
        (
            lambda q: quant.QTensor(q.values, q.scales, shape="a"),
            "QTensor: shape: expected an integer",
        ),
        (lambda q: q.dequantize("a"), "dequantize: dtype: 'a' is not a dtype"),
        (lambda q: q.take("a"), "take: indices: expected a Tensor"),
        (lambda q: q.take(flex.asarray([0]), axis="a"), "take: axis: 'str'"),
        (lambda q: q.take_along_axis(flex.asarray([[0]]), "a"), "take_along_axis: axis: 'str'"),
        (lambda q: q.topk("a"), "topk: k: 'str'"),
        (lambda q: q.topk(1, largest=1), "topk: largest: 'int'"),
        (lambda q: q.sort(axis=None), "sort: axis: 'NoneType'"),
        (lambda q: q.argsort(descending=1), "argsort: descending: 'int'"),
        (lambda q: q.max(axis="a"), "max: axis: 'str'"),
        (lambda q: q.argmin(keepdims=1), "argmin: keepdims: 'int'"),
        (lambda q: q.equal(1), "equal: other: 'int'"),
        (lambda q: q.permute_dims("a"), "permute_dims: axes: expected an integer"),
        (lambda q: q.transpose("a"), "transpose: axes: expected an integer"),
        (lambda q: q.expand_dims(axis="a"), "expand_dims: axis: expected an integer"),
        (lambda q: q.squeeze(axis="a"), "squeeze: axis: expected an integer"),
        (lambda q: q.flip(axis=1.5), "flip: axis: expected an integer"),
        (lambda q: q.reshape("a"), "reshape: shape: expected an integer"),
        (lambda q: q.broadcast_to("a"), "broadcast_to: shape: expected an integer"),
        (lambda q: quant.save(io.BytesIO(), None), "quant.save: tensors: .*got NoneType"),
        (
            lambda q: quant.save(io.BytesIO(), {"q": q}, metadata=1),
            "quant.save: metadata: .*got int",
        ),
    ],
)
def test_types_that_methods_refuse(call, message):
    with pytest.raises(TypeError, match=f"^{message}"):
        call(quant.quantize(flex.ones((2, 3))))


@pytest.mark.parametrize("percentile", [float("nan"), -1.0, 100.5])
def test_percentiles_are_checked_whatever_the_calibration(percentile):
    for how in ({}, {"calibration": "mse"}, {"scale": 1.0}):
        with pytest.raises(ValueError, match=r"^quant\.quantize: percentile is"):
            quant.quantize(flex.ones(3), percentile=percentile, **how)
