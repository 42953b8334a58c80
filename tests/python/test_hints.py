"""Error messages for NumPy's and torch's names, and for misspelled ones."""

import inspect
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import flex
from flex import _hints

X = flex.ones((2, 3))
V = flex.asarray([1, 2])


def message(call):
    with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
        call()
    assert not getattr(caught.value, "__notes__", []), "what a note says stands in the message"
    return str(caught.value)


@pytest.mark.parametrize(("name", "hint"), _hints.NAMES.items())
def test_names_of_other_libraries(name, hint):
    for owner, what in ((flex, "module 'flex'"), (X, "'flex.Tensor' object")):
        if not hasattr(owner, name):
            assert (
                message(lambda owner=owner: getattr(owner, name))
                == f"{what} has no attribute {name!r}: write {hint}"
            )
    assert not hasattr(flex, name) or not hasattr(X, name), "there is such a name"
    for used in re.findall(r"flex\.([\w.]+)", hint):
        value = flex
        for part in used.split("."):
            value = getattr(value, part)
    for used in re.findall(r"\bx\.(\w+)", hint):
        assert hasattr(X, used)


def test_misspelled_names():
    assert (
        message(lambda: flex.argmaxx)
        == "module 'flex' has no attribute 'argmaxx': did you mean 'argmax'?"
    )
    assert (
        message(lambda: X.argmaxx())
        == "'flex.Tensor' object has no attribute 'argmaxx': did you mean 'argmax'?"
    )
    assert (
        message(lambda: flex.nn.sotfmax)
        == "module 'flex.nn' has no attribute 'sotfmax': did you mean 'softmax'?"
    )
    assert (
        message(lambda: flex.signal.hann_window)
        == "module 'flex.signal' has no attribute 'hann_window': write flex.signal.hann(n, sym=False)"
    )
    for module in (flex.fft, flex.linalg, flex.nn.grad, flex.quant):
        assert not hasattr(module, "no_such_thing")
    assert (
        message(lambda: X.no_such_thing) == "'flex.Tensor' object has no attribute 'no_such_thing'"
    )
    with pytest.raises(AttributeError) as caught:
        X.unsqueeze  # noqa: B018
    assert caught.value.name == "unsqueeze"
    assert type(caught.value).__name__ == "AttributeError"
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is AttributeError
    assert str(copy) == str(caught.value)


MODULES = {
    "ReLU": "relu",
    "Linear": "linear",
    "Conv2d": "conv2d",
    "LayerNorm": "layer_norm",
    "BatchNorm2d": "batch_norm",
    "CrossEntropyLoss": "cross_entropy",
    "MSELoss": "mse_loss",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
}


@pytest.mark.parametrize(
    ("owner", "name", "hint"),
    [
        (flex, "shape", "x.shape, of a tensor x"),
        (flex, "conv2d", "flex.nn.conv2d(x, ...)"),
        (X, "conv2d", "flex.nn.conv2d(x, ...)"),
        (flex, "fftshift", "flex.fft.fftshift(x, ...)"),
        (flex.nn, "exp", "flex.exp(x, ...)"),
        (X, "nn", "flex.nn"),
        (X, "relu_", "x[...] = x.relu(...)"),
        (flex.nn, "relu_", "x[...] = x.relu(...)"),
        (flex.nn, "upsample", "flex.nn.interpolate(x, ...)"),
        (flex.nn, "max_pool2d_with_indices", "flex.nn.max_pool2d(x, ..., return_indices=True)"),
        (X, "dim", "x.ndim"),
        (X, "fill_", "x[...] = value"),
        (X, "fill", "x[...] = value"),
        (flex, "copy", "x.copy()"),
        (flex, "radians", "flex.deg2rad(x)"),
        (flex, "gammaln", "flex.lgamma(x)"),
        (flex, "insert", "numpy.insert, which takes tensors"),
        (flex, "gammainc", "scipy.special.gammainc, which takes tensors"),
        (flex.linalg, "sqrtm", "scipy.linalg.sqrtm, whose arrays flex takes"),
        *(
            (
                flex.nn,
                name,
                f"flex.nn.{function}(x, ...): flex.nn has functions, which take weights as arguments",
            )
            for name, function in MODULES.items()
        ),
    ],
)
def test_names_that_stand_elsewhere(owner, name, hint):
    assert message(lambda: getattr(owner, name)).endswith(f" {name!r}: write {hint}")


def test_the_hint_for_a_bilinear_layer_computes_it():
    rng = np.random.default_rng(0)
    x1, x2, weight, bias = (rng.normal(size=s) for s in ((2, 3), (2, 4), (5, 3, 4), (5,)))
    _, written = message(lambda: flex.nn.bilinear).split(": write ")
    names = {"flex": flex, "x1": x1, "x2": x2, "weight": weight, "bias": bias}
    expected = np.stack([[a @ w @ b for w in weight] for a, b in zip(x1, x2, strict=True)]) + bias
    np.testing.assert_allclose(eval(written, names), expected, rtol=1e-12)
    assert "scipy.signal.bilinear" in message(lambda: flex.signal.bilinear)


def test_names_of_modules():
    assert "flex.nn, which has the functions" in message(lambda: flex.nn.functional)
    assert "flex.nn has functions, which take weights" in message(lambda: flex.nn.Module)
    assert "numpy.linalg.tensorsolve, which takes tensors" in message(
        lambda: flex.linalg.tensorsolve
    )
    assert "write flex.linalg.inv(x, ...)" in message(lambda: flex.inv)
    assert "write flex.random.randn" in message(lambda: flex.randn)
    for name in ("random", "normal", "choice", "weibull"):
        expected = f"write flex.random.default_rng(seed).{name}(...)"
        assert expected in message(lambda name=name: getattr(flex.random, name))
    assert "write scipy.signal.iirdesign" in message(lambda: flex.signal.iirdesign)
    assert "write flex.signal.hann(n)" in message(lambda: flex.signal.windows)
    assert "write flex.column_stack([x, y])" in message(lambda: flex.c_)
    assert "write flex.fuse(f)" in message(lambda: flex.compile)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (X, "cholesky_ex"),
        (X, "meen"),
        (flex, "float128"),
        (flex, "uint"),
        (flex.nn, "TransformerEncoder"),
        (flex.nn, "inits"),
        (flex.signal, "cwt"),
        (flex.signal, "ellips"),
        (flex.fft, "hfft2"),
        (flex.fft, "fht"),
    ],
)
def test_no_hint_where_nothing_is_surely_meant(owner, name):
    assert message(lambda: getattr(owner, name)).endswith(f"has no attribute {name!r}")


def test_calls_of_other_libraries():
    cube = flex.ones((2, 3, 4))
    assert message(lambda: cube.transpose(1, 2)) == (
        "transpose: 2 axes for 3 dimensions: flex.swapaxes(x, 1, 2) swaps two"
    )
    assert message(lambda: flex.fuse(lambda x: x.transpose(0, -1))(cube)).startswith("transpose: 2")
    assert message(lambda: cube.view(-1)).endswith("write x.reshape(-1)")
    assert "write flex.asarray(obj)" in message(lambda: flex.Tensor([1.0]))


def test_a_traceback_has_one_suggestion():
    run = subprocess.run(
        [sys.executable, "-c", "import flex; flex.ones(3).argmaxx"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        run.stderr.splitlines()[-1]
        == "AttributeError: 'flex.Tensor' object has no attribute 'argmaxx': did you mean 'argmax'?"
    )


UNEXPECTED = "() got an unexpected keyword argument "
KEYWORDS = {
    "sum" + UNEXPECTED + "'dim': write axis=0": lambda: flex.sum(X, dim=0),
    "mean" + UNEXPECTED + "'dim': write axis=(0, 1)": lambda: X.mean(dim=(0, 1)),
    "sum" + UNEXPECTED + "'keepdim': write keepdims=True": lambda: flex.sum(
        X, axis=0, keepdim=True
    ),
    "std" + UNEXPECTED + "'unbiased': write correction=1": lambda: X.std(unbiased=True),
    "std" + UNEXPECTED + "'unbiased': write correction=0": lambda: X.std(unbiased=False),
    "sum" + UNEXPECTED + "'axes': write axis=0": lambda: flex.sum(X, axes=0),
    "sum" + UNEXPECTED + "'axs': did you mean axis?": lambda: flex.sum(X, axs=0),
    "tile" + UNEXPECTED + "'reps': write repetitions=2": lambda: flex.tile(X, reps=2),
    "linspace" + UNEXPECTED + "'steps': write num=5": lambda: flex.linspace(0, 1, steps=5),
    "eye" + UNEXPECTED + "'N': write n_rows=3": lambda: flex.eye(N=3),
    "split" + UNEXPECTED + "'split_size': write sizes=2": lambda: flex.split(X, split_size=2),
    "argmax" + UNEXPECTED + "'dim': write axis=1": lambda: flex.argmax(X, dim=1),
    "gelu" + UNEXPECTED + "'approx': did you mean approximate?": lambda: flex.nn.gelu(
        X, approx="tanh"
    ),
    "pad"
    + UNEXPECTED
    + "'colour': the call is flex.nn.pad(x, pad, mode='constant', value=None)": lambda: flex.nn.pad(
        X, 1, colour=1
    ),
    "linear" + UNEXPECTED + "'bais': did you mean bias?": lambda: flex.nn.linear(X, X, bais=None),
    "take" + UNEXPECTED + "'index': write indices=...": lambda: flex.take(X, index=V),
    "exp" + UNEXPECTED + "'out': assign the result, as in t[...] = ...": lambda: flex.exp(X, out=X),
    "broadcast_arrays"
    + UNEXPECTED
    + "'arrays': pass arrays by position, as in flex.broadcast_arrays(*arrays)": lambda: (
        flex.broadcast_arrays(arrays=[X])
    ),
    "stft" + UNEXPECTED + "'nperseg': write n_fft=4": lambda: flex.signal.stft(V, nperseg=4),
    "cholesky" + UNEXPECTED + "'lower': it is the lower triangle unless upper=True": lambda: (
        flex.linalg.cholesky(X, lower=True)
    ),
    "abs" + UNEXPECTED + "'b': the call is flex.abs(x, /)": lambda: flex.abs(X, b=1),
    "abs" + UNEXPECTED + "'colour': the call is flex.abs(x, /)": lambda: flex.abs(X, colour=1),
}


@pytest.mark.parametrize(("expected", "call"), KEYWORDS.items())
def test_keywords_of_other_libraries(expected, call):
    assert message(call) == expected


def test_every_keyword_of_the_table_leads_to_a_parameter():
    functions = [
        getattr(space, n)
        for space in (flex, flex.nn, flex.nn.grad, flex.signal)
        for n in space.__all__
    ]
    known = {p for f in functions if inspect.isbuiltin(f) for p in inspect.signature(f).parameters}
    for ours in _hints.KEYWORDS.values():
        assert set(ours) <= known


MISPLACED = {
    "stack: pass the tensors as one list: flex.stack([x, y])": lambda: flex.stack(X, X),
    "concat: pass the tensors as one list: flex.concat([x, y])": lambda: flex.concat(X, X),
    "meshgrid: pass the tensors one by one: flex.meshgrid(x, y)": lambda: flex.meshgrid([V, V]),
    "ones: the shape is one argument: flex.ones((2, 3))": lambda: flex.ones(2, 3),
    "zeros: the shape is one argument: flex.zeros((2, 3, 4))": lambda: flex.zeros(2, 3, 4),
    "empty: the shape is one argument: flex.empty((2, 3))": lambda: flex.empty(
        2, 3, dtype=flex.int8
    ),
    "full: the shape is one argument: flex.full((2, 3), 7)": lambda: flex.full(2, 3, 7),
    "reshape: the shape is one argument: flex.reshape(x, (3, 2))": lambda: flex.reshape(X, 3, 2),
    "permute_dims: the axes are one argument: flex.permute_dims(x, (1, 0))": lambda: X.permute_dims(
        1, 0
    ),
    "sum: several axes are one argument: flex.sum(x, (0, 1))": lambda: X.sum(0, 1),
    "tile: the repetitions are one argument: flex.tile(x, (2, 2))": lambda: flex.tile(X, 2, 2),
}


@pytest.mark.parametrize(("expected", "call"), MISPLACED.items())
def test_arguments_out_of_place(expected, call):
    assert message(call) == expected


ARGUMENTS = {
    "sum: axis: expected an integer or a tuple of integers, got str": lambda: flex.sum(
        X, axis="rows"
    ),
    "sum: x: expected a Tensor, an array or a number, got list: convert it with flex.asarray": lambda: (
        flex.sum([1])
    ),
    "concat: arrays: expected a Tensor, an array or a number, got NoneType": lambda: flex.concat(
        [X, None]
    ),
    "fft: axis: 'str' object cannot be interpreted as an integer": lambda: flex.fft.fft(
        X, axis="a"
    ),
    "fft: norm: expected text, got a string with a lone surrogate": lambda: flex.fft.fft(
        X, norm="\udc80"
    ),
    "linear: activation: expected text, got a string with a lone surrogate": lambda: flex.nn.linear(
        X, X, activation="\udc80"
    ),
    "stft: x: expected a Tensor, an array or a number, got str": lambda: flex.signal.stft("a", 4),
    "grad.gelu: x: expected a Tensor, an array or a number, got str": lambda: flex.nn.grad.gelu(
        X, "a"
    ),
    "quant.quantize: axis: 'str' object cannot be interpreted as an integer": lambda: (
        flex.quant.quantize(X, axis="a")
    ),
    "zeros: shape: expected an integer, got float": lambda: flex.zeros((2, 3.0)),
    "astype: expected a Tensor, an array or a number, got list: convert it with flex.asarray": lambda: (
        flex.astype([1], "int8")
    ),
    "max: no identity for an empty reduction: axis 0 has size 0 (x: [0] float32)": lambda: flex.max(
        flex.zeros(0)
    ),
    "sum() takes from 1 to 2 positional arguments but 3 were given: the call is "
    "sum(x, /, axis=None, *, dtype=None, keepdims=False, out=None, initial=None, where=None)": lambda: (
        flex.sum(X, 0, True)
    ),
    "pad() missing 1 required positional argument: 'pad': the call is "
    "pad(x, pad, mode='constant', value=None)": lambda: flex.nn.pad(X),
    "unfold() missing 1 required positional argument: 'kernel_size': the call is "
    "unfold(x, kernel_size, dilation=1, padding=0, stride=1)": lambda: flex.nn.unfold(X),
    "gelu() missing 1 required positional argument: 'x': the call is gelu(x, *, approximate='none')": lambda: (
        flex.nn.gelu()
    ),
    "grad.pad() missing 1 required positional argument: 'pad': the call is "
    "grad.pad(grad, input_size, pad, mode='constant')": lambda: flex.nn.grad.pad(X, 2),
    "matmul() missing 1 required positional argument: 'x2': the call is matmul(x1, x2, /, *, dtype=None)": lambda: (
        flex.matmul(X)
    ),
}


@pytest.mark.parametrize(("expected", "call"), ARGUMENTS.items())
def test_wrong_arguments_name_the_function_and_the_parameter(expected, call):
    assert message(call) == expected


def test_errors_of_the_callers_code_are_unchanged():
    def items():
        yield X
        raise TypeError("mine")

    with pytest.raises(TypeError) as caught:
        flex.concat(items())
    assert str(caught.value) == "mine"


def test_integer_division_by_zero():
    for call in (
        lambda: V // 0,
        lambda: V % 0,
        lambda: 5 // flex.asarray([0]),
        lambda: flex.fmod(V, V - V),
        lambda: divmod(V, 0),
    ):
        for kind in (ZeroDivisionError, ValueError, flex.DivisionByZeroError):
            with pytest.raises(
                kind, match="integer division by zero: convert an operand to a float dtype"
            ):
                call()
    target = flex.asarray([1, 2])
    with pytest.raises(ZeroDivisionError):
        target //= 0
    assert target.tolist() == [1, 2]


def test_numpy_and_torch_call_styles_work():
    assert flex.topk(V, k=1)[0].tolist() == [2]
    assert flex.arange(start=1, stop=4).tolist() == [1, 2, 3]
    assert flex.moveaxis(X, source=0, destination=1).shape == (3, 2)
    assert flex.swapaxes(X, axis1=0, axis2=1).shape == (3, 2)
    assert flex.tril(X, -1).tolist() == [[0, 0, 0], [1, 0, 0]]
    assert (
        flex.zeros(3, flex.int8).dtype
        == flex.full(3, 1, "int8").dtype
        == flex.ones_like(X, flex.int8).dtype
        == flex.int8
    )
    assert (
        flex.asarray([1], "int8").dtype
        == X.astype(dtype="int8").dtype
        == flex.astype(X, dtype="int8").dtype
        == flex.int8
    )
    assert flex.linspace(start=0, stop=1, num=3).tolist() == [0, 0.5, 1]
    assert (
        flex.eye(n_rows=2, n_cols=3, k=1).tolist()
        == flex.eye(2, 3, 1).tolist()
        == [[0, 1, 0], [0, 0, 1]]
    )
    assert flex.repeat(V, repeats=2).tolist() == [1, 1, 2, 2]
    assert flex.take(V, indices=flex.asarray([1])).tolist() == [2]
    assert flex.masked_fill(V, mask=V > 1, value=0).tolist() == [1, 0]
    assert flex.searchsorted(V, V, "right").tolist() == [1, 2]
    assert flex.tensordot(X, X, ((0, 1), (0, 1))).item() == 6
    assert flex.diff(flex.asarray([1, 4, 9]), 2).tolist() == [2]
    assert flex.diff(flex.asarray([1, 4, 9]), prepend=0, append=10).tolist() == [1, 3, 5, 1]
    assert flex.diff(flex.asarray([[1.0], [4.0]]), prepend=0).tolist() == [[1], [4]]


def test_ignored_settings_warn():
    def warnings(**environment):
        code = "import warnings; warnings.simplefilter('always'); import flex"
        run = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return [
            line.split("RuntimeWarning: ")[1]
            for line in run.stderr.splitlines()
            if "RuntimeWarning" in line
        ]

    assert warnings(FLEX_ISA="foo") == [
        "FLEX_ISA=foo is ignored: it takes scalar, avx2, avx512 or amx"
    ]
    for given in ("abc", "0", "-1", "1.5"):
        assert warnings(FLEX_NUM_THREADS=given) == [
            f"FLEX_NUM_THREADS={given} is ignored: it takes a number of threads, at least 1"
        ]
    assert (
        warnings(FLEX_ISA="scalar", FLEX_NUM_THREADS="2")
        == warnings(FLEX_ISA="", FLEX_NUM_THREADS="")
        == []
    )


# the class has its own version of these, or a property of that name
OWN = {"astype", "reshape"}
PROPERTIES = {"real", "imag"}


def test_every_function_that_takes_a_tensor_first_is_a_method():
    functions = {n: getattr(flex, n) for n in flex.__all__ if inspect.isbuiltin(getattr(flex, n))}
    first = {n: next(iter(inspect.signature(f).parameters), "") for n, f in functions.items()}
    expected = {
        n for n, parameter in first.items() if parameter in ("x", "x1") and n != "from_dlpack"
    }
    assert {
        "sum",
        "exp",
        "add",
        "diff",
        "cumulative_max",
        "isin",
        "unique_values",
        "zeros_like",
        "scatter_add",
    } <= expected
    for name in expected - OWN - PROPERTIES:
        assert getattr(flex.Tensor, name) is functions[name]
    assert {
        n for n in functions if getattr(flex.Tensor, n, None) is functions[n]
    } == expected - OWN - PROPERTIES
    z = flex.asarray([1 + 2j])
    assert (z.real.tolist(), z.imag.tolist(), V.real.tolist(), V.imag.tolist()) == (
        [1],
        [2],
        [1, 2],
        [0, 0],
    )


def test_dir_has_the_submodules():
    assert {"io", "linalg", "models", "nn", "sum", "Tensor"} <= set(dir(flex))
    code = "import flex, sys; dir(flex); assert 'flex.models' not in sys.modules and 'flex._hints' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
