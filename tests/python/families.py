"""Random calls of the other families on operands of a `programs.World`: transforms, signals, losses, activations, gradients, quantised
tensors, files, user-defined reductions, and whole functions fused and queued. Expected values are NumPy's or SciPy's in float64, or
eager execution's where the same bits are promised."""

import io
import math

import numpy as np
import scipy.fft
import scipy.signal
import scipy.special
from arrays import ALL, COMPLEX, EPS, random_array, sum_error
from guarded import shape_of
from networks import FLOATS, operand, softmax, unit
from quantised import naive, unpacked
from traced import function_of

import flex

SINGLE = ["float32", "float64"]


def bounded(tensor, expected, allowed):
    """A result with an error of at most `allowed`, beside rounding to its dtype."""
    return (tensor, expected, 8, allowed)


def transform(w):
    """Fourier transforms along one or two axes, of any length and norm."""
    name = w.pick(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2"])
    name = w.pick([name, "irfft2", "dct", "idct"])
    real = name in ("rfft", "ihfft", "rfft2", "dct", "idct")
    x, a = w.one(SINGLE if real else [*SINGLE, *COMPLEX], least=2)
    if not np.isfinite(a).all():
        x, a = w.operand(a.dtype.name, a.shape, special=False)
    norm = w.pick(["backward", "ortho", "forward"])
    longest = w.pick([1, 2, 3, 7, 16, 31, 37, 64, 100])
    if min(a.shape) == 0:
        return []
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    if name.endswith("2"):
        sizes = (longest, w.pick([1, 2, 5, 16])) if w.chance(0.5) else None
        if name == "irfft2" and sizes is None and a.shape[-1] < 2:
            return []
        got = getattr(flex.fft, name)(x, s=sizes, norm=norm)
        expected = getattr(np.fft, name)(wide, s=sizes, axes=(-2, -1), norm=norm)
        count = math.prod(expected.shape[-2:])
    else:
        n, axis = w.pick([None, longest]), w.axis(a)
        if n is None and name in ("irfft", "hfft") and a.shape[axis] < 2:
            return []
        options = {"n": n, "axis": axis, "norm": norm}
        if name in ("dct", "idct"):
            options["type"] = w.pick([2, 3])
        got = getattr(flex.fft, name)(x, **options)
        expected = getattr(scipy.fft, name)(wide, **options)
        count = expected.shape[axis]
    # an output is a sum over the line, and its error relative to the line's length in L2
    largest = np.abs(wide).max(initial=0) * max(count, a.size)
    return [bounded(got, expected, 4 * unit(a.dtype.name) * max(largest, 1))]


def signal(w):
    rank, dtype = w.pick([1, 1, 2]), w.pick([*SINGLE, *COMPLEX])
    mode, name = w.pick(["full", "same", "valid"]), w.pick(["convolve", "correlate", "fftconvolve"])
    sizes = [w.pick([1, 2, 7, 33, 130]) for _ in range(rank)]
    kernel = [w.pick(range(1, min(n, 17) + 1)) for n in sizes]
    x, a = w.operand(dtype, tuple(sizes), special=False)
    y, b = w.operand(dtype, tuple(kernel), special=False)
    wide = np.complex128 if dtype in COMPLEX else np.float64
    a, b = a.astype(wide), b.astype(wide)
    expected = getattr(scipy.signal, name)(a, b, mode=mode)
    total = np.abs(a).max() * np.abs(b).sum() * math.prod(sizes)
    return [bounded(getattr(flex.signal, name)(x, y, mode=mode), expected, 8 * unit(dtype) * total)]


def window(w):
    n, periodic = w.pick([1, 2, 3, 16, 33]), w.chance(0.5)
    dtype = w.pick(SINGLE)
    name, more = w.pick([("hann", ()), ("hamming", ()), ("blackman", ()), ("kaiser", (8.5,))])
    got = getattr(flex.signal, name)(n, *more, sym=not periodic, dtype=dtype)
    expected = getattr(scipy.signal.windows, name)(n, *more, sym=not periodic)
    return [bounded(got, expected, 4 * unit(dtype))]


def bce(z, t):
    return t * np.logaddexp(0, -z) + (1 - t) * np.logaddexp(0, z)


def huber(d, delta):
    return np.where(np.abs(d) <= delta, d * d / 2, delta * (np.abs(d) - delta / 2))


LOSSES = {
    "mse_loss": lambda a, b: (a - b) ** 2,
    "l1_loss": lambda a, b: np.abs(a - b),
    "huber_loss": lambda a, b: huber(a - b, 1),
    "smooth_l1_loss": lambda a, b: huber(a - b, 1),
    "binary_cross_entropy_with_logits": bce,
    "poisson_nll_loss": lambda a, b: np.exp(a) - a * b,
    "kl_div": lambda a, b: scipy.special.xlogy(b, b) - a * b,
}


def loss(w):
    """Terms of losses of two tensors, by element: relative errors, where the terms don't cancel."""
    name, dtype = w.pick(list(LOSSES)), w.pick(FLOATS)
    shape = shape_of(w.rng, 3)
    far = name != "poisson_nll_loss" and w.chance(0.4)
    x, a = operand(w, dtype, *shape, low=-60 if far else -3, high=60 if far else 4)
    y, b = operand(w, dtype, *shape, low=0, high=2)
    b = np.clip(b, 0, 1)
    y = flex.astype(flex.asarray(b), dtype)
    got = getattr(flex.nn, name)(x, y, reduction="none")
    terms = LOSSES[name](a, b)
    parts = np.abs(a * b) if name in ("kl_div", "poisson_nll_loss") else 0 * a
    parts = parts + np.abs(a) + np.abs(b) if name in ("mse_loss", "l1_loss") else parts
    allowed = 16 * unit(dtype) * float(np.max(parts, initial=0)) ** (2 if name == "mse_loss" else 1)
    results = [(got, terms, 64 if dtype in SINGLE else 8, allowed)]
    if a.size:
        total = getattr(flex.nn, name)(x, y, reduction="sum")
        size = float(np.abs(terms).sum() + parts.sum())
        results.append(
            bounded(total, terms.sum(), size * (sum_error(dtype, a.size) + 64 * unit(dtype)))
        )
    return results


def gelu(a):
    return a * scipy.special.erfc(-a / math.sqrt(2)) / 2


ACTIVATIONS = {
    "relu": lambda a: np.maximum(a, 0),
    "relu6": lambda a: np.clip(a, 0, 6),
    "gelu": gelu,
    "silu": lambda a: a * scipy.special.expit(a),
    "sigmoid": scipy.special.expit,
    "logsigmoid": lambda a: -np.logaddexp(0, -a),
    "tanh": np.tanh,
    "tanhshrink": lambda a: a - np.tanh(a),
    "softsign": lambda a: a / (1 + np.abs(a)),
    "mish": lambda a: a * np.tanh(np.logaddexp(0, a)),
    "elu": lambda a: np.where(a > 0, a, np.expm1(np.minimum(a, 0))),
    "celu": lambda a: np.where(a > 0, a, np.expm1(np.minimum(a, 0))),
    "selu": lambda a: (
        1.0507009873554805 * np.where(a > 0, a, 1.6732632423543772 * np.expm1(np.minimum(a, 0)))
    ),
    "leaky_relu": lambda a: np.where(a > 0, a, 0.01 * a),
    "hardtanh": lambda a: np.clip(a, -1, 1),
    "hardsigmoid": lambda a: np.clip(a / 6 + 0.5, 0, 1),
    "hardswish": lambda a: a * np.clip(a / 6 + 0.5, 0, 1),
    "hardshrink": lambda a: np.where(np.abs(a) > 0.5, a, 0),
    "softshrink": lambda a: np.sign(a) * np.maximum(np.abs(a) - 0.5, 0),
}


def activation(w):
    name, dtype = w.pick(list(ACTIVATIONS)), w.pick(FLOATS)
    reach = w.pick([2, 9, 90])
    x, a = operand(w, dtype, *shape_of(w.rng, 3), low=-reach, high=reach)
    got = getattr(flex.nn, name)(x)
    # near its zero a sum loses what its parts lose
    allowed = 4 * unit(dtype) if name in ("tanhshrink", "mish", "hardsigmoid", "hardswish") else 0
    return [(got, ACTIVATIONS[name](a), 32, allowed + 1e-37)]


def directional(w):
    """A gradient along a random direction is the difference quotient, in float64."""
    rows, n = w.pick([1, 3, 8]), w.pick([2, 5, 17, 64])
    x, a = w.operand("float64", (rows, n), special=False, low=-3, high=4)
    g, _ = w.operand("float64", (rows, n), special=False, low=-2, high=3)
    d, direction = w.operand("float64", (rows, n), special=False, low=-1, high=2)
    weight, _ = w.operand("float64", (n,), special=False, low=1, high=3)
    labels = flex.asarray(w.rng.integers(0, n, rows))
    nn, grad = flex.nn, flex.nn.grad
    forward, backward = w.pick(
        [
            (nn.gelu, lambda x: grad.gelu(g, x)),
            (
                lambda x: nn.gelu(x, approximate="tanh"),
                lambda x: grad.gelu(g, x, approximate="tanh"),
            ),
            (nn.silu, lambda x: grad.silu(g, x)),
            (nn.sigmoid, lambda x: grad.sigmoid(g, nn.sigmoid(x))),
            (nn.tanh, lambda x: grad.tanh(g, nn.tanh(x))),
            (lambda x: nn.softmax(x, axis=-1), lambda x: grad.softmax(g, nn.softmax(x, axis=-1))),
            (
                lambda x: nn.log_softmax(x, axis=-1),
                lambda x: grad.log_softmax(g, nn.log_softmax(x, axis=-1)),
            ),
            (
                lambda x: nn.layer_norm(x, (n,), weight, eps=0.1),
                lambda x: grad.layer_norm(g, x, (n,), weight, eps=0.1)[0],
            ),
            (
                lambda x: nn.rms_norm(x, (n,), weight, eps=0.1),
                lambda x: grad.rms_norm(g, x, (n,), weight, eps=0.1)[0],
            ),
            (
                lambda x: nn.cross_entropy(x, labels, reduction="none", label_smoothing=0.1)[
                    :, None
                ],
                lambda x: grad.cross_entropy(
                    g[:, 0], x, labels, reduction="none", label_smoothing=0.1
                ),
            ),
        ]
    )
    step = 2.0**-20
    ends = [forward(x + (d * (sign * step))) for sign in (1, -1)]
    weights = g[:, :1] if ends[0].shape[-1] == 1 and n > 1 else g
    quotient = float(flex.sum(weights * (ends[0] - ends[1])).item()) / (2 * step)
    allowed = (
        1e-8
        * (1 + float(np.abs(weights.numpy()).sum()) * np.abs(direction).max())
        * (1 + np.abs(a).max())
    )
    return [bounded(flex.sum(backward(x) * d), np.float64(quotient), allowed)]


def attended(w):
    """Attention without a mask, one head at a time."""
    dtype, n, m, depth = w.pick(FLOATS), w.pick([1, 3, 9]), w.pick([1, 4, 33]), w.pick([1, 8, 20])
    q, a = operand(w, dtype, n, depth)
    k, b = operand(w, dtype, m, depth)
    v, c = operand(w, dtype, m, depth)
    error = float((np.abs(a) @ np.abs(b).T).max()) / math.sqrt(depth)
    allowed = 100 * EPS[dtype] + 2 * error * sum_error(dtype, depth) * np.abs(c).max()
    got = flex.nn.scaled_dot_product_attention(*(t[None, None] for t in (q, k, v)))
    return [bounded(got[0, 0], softmax(a @ b.T / math.sqrt(depth)) @ c, allowed)]


def quantised(w):
    """Integers and values as the docstring of `quantize` defines them."""
    dtype = w.pick(["int8", "uint8", "int4", "int2"])
    shape = tuple(max(n, 1) for n in shape_of(w.rng, 3)) or (3,)
    x, a = w.operand("float32", shape)
    axis = w.pick([None, *range(len(shape))])
    if dtype in ("int4", "int2"):
        axis = None if axis is None else axis
    symmetric = dtype != "uint8" and (dtype in ("int4", "int2") or w.chance(0.5))
    q = flex.quant.quantize(x, dtype, axis=axis, symmetric=symmetric)
    integers, values = naive(a, dtype, axis, None, symmetric)
    return [
        (flex.asarray(unpacked(q)), integers.astype(np.int64)),
        (q.dequantize(), values),
    ]


def stored(w):
    """What is saved is loaded again, in any layout; npy files are NumPy's."""
    x, a = w.one(ALL)
    file, kind = io.BytesIO(), w.pick(["npy", "safetensors", "npz"])
    if a.dtype.name == "bfloat16" and kind != "safetensors":
        kind = "safetensors"
    if a.dtype.kind == "c" and kind == "safetensors":
        kind = "npy"
    flex.io.save(file, x if kind == "npy" else {"x": x}, format=kind)
    file.seek(0)
    loaded = flex.io.load(file, format=kind)
    results = [(loaded if kind == "npy" else loaded["x"], a)]
    if kind == "npy":
        file.seek(0)
        results.append((x, np.load(file)))
    return results


def accumulated(w):
    """A user's reductions, by definition."""
    x, a = w.one(["float64"], least=1)
    if not np.isfinite(a).all() or not a.size:
        x, a = w.operand("float64", tuple(max(n, 1) for n in a.shape), special=False)
    axis, keep = w.pick([None, w.axis(a)]), w.chance(0.5)
    got = flex.reduce(lambda s, x: s + x * x, 0.0, x, axis=axis, keepdims=keep, join=flex.add)
    total = float((a * a).sum())
    expected = (a * a).sum(axis=axis, keepdims=keep)
    return [bounded(got, expected, 4 * total * sum_error("float64", a.size))]


def bits(t):
    """The array in which all NaNs are the same."""
    a = np.array(t.numpy())
    return np.where(np.isnan(a), np.nan, a) if a.dtype.kind == "f" else a


def deferred(w):
    """A random function, fused and queued, has the bits of eager execution, on any number of threads."""
    casts = ("float32", "float64", "int32", "bool")
    program = [
        tuple(int(k) for k in w.rng.integers(0, 256, 4)) for _ in range(int(w.rng.integers(1, 30)))
    ]
    shape = tuple(w.pick([1, 3, 5, 17]) for _ in range(w.pick([0, 1, 2, 3])))
    tensors = []
    for _ in range(w.pick([1, 2, 3])):
        kept = tuple(1 if w.chance(0.2) else n for n in shape)
        tensors.append(flex.asarray(random_array(w.pick(casts), kept, w.rng, low=-3, high=4)))
    f = function_of(program, casts, w.pick([1, 2]))
    expected = f(*tensors)
    fused = flex.fuse(f)
    with flex.threads(w.pick([1, 2, 7])):
        runs = [fused(*tensors), fused(*tensors)]
        with flex.stream():
            runs.append(f(*tensors))
    for run in runs:
        for got, want in zip(run, expected, strict=True):
            a, b = bits(got), bits(want)
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            assert a.tobytes() == b.tobytes(), (got, want)
    return []


CASES = [transform, transform, signal, window, loss, loss, activation, activation, directional]
CASES += [directional, attended, quantised, stored, accumulated, deferred, deferred, deferred]


def family(w):
    """One random call, with results in the form of the steps in `programs`."""
    case = w.pick(CASES)
    try:
        return case(w)
    except Exception as error:
        error.add_note(f"in {case.__name__}")
        raise
