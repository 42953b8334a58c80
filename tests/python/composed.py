"""Calls of the functions of `flex` that are compositions, in the form that NumPy has: `f(t(array), ..)`."""

import numpy as np

A = np.array([[3.0, -1.5, 2.0, 0.25], [-7.0, 2.0, 9.5, 2.0], [0.5, 4.0, -1.5, 8.0]])
B = np.array([[1, 0, 2, 2], [0, 3, 1, 1], [5, 0, 0, 4]])
C = A + 1j * B
V = np.array([0.5, -2.0, 8.0])
W = np.array([2.0, 1.0, 0.5])
N = np.where(A > 8, np.nan, A)
NONE = np.full((2, 3), np.nan)
I = np.array([4, 0, 2, 2])  # noqa: E741
LONG = np.sin(np.arange(50.0)) * 7
X = np.array([0.0, 0.5, 2.0, 2.5, 7.0])
EMPTY = np.zeros((0, 3))


def call(*args, **kwargs):
    """The call with these arguments, of which arrays become tensors."""

    def convert(x, t):
        if isinstance(x, np.ndarray):
            return t(x)
        return type(x)(convert(y, t) for y in x) if type(x) in (list, tuple) else x

    return lambda f, t: f(
        *(convert(x, t) for x in args), **{k: convert(x, t) for k, x in kwargs.items()}
    )


def each(*calls):
    return list(calls)


# arguments of every mode of pad
PADS = [
    call(A, 2, mode, **keywords)
    for mode in (
        "edge",
        "linear_ramp",
        "maximum",
        "mean",
        "median",
        "minimum",
        "reflect",
        "symmetric",
        "wrap",
    )
    for keywords in [{}]
] + [
    call(B, ((1, 2), (0, 3)), mode)
    for mode in (
        "edge",
        "linear_ramp",
        "maximum",
        "minimum",
        "reflect",
        "symmetric",
        "wrap",
        "mean",
        "median",
    )
]


def changed(x, *args, **kwargs):
    """What the function makes of a copy of `x`, into which it writes."""

    def run(f, t):
        written = t(x.copy())
        found = call(*args, **kwargs)(lambda *a, **k: f(written, *a, **k), t)
        assert found is None
        return written

    return run


def fitted(result):
    """What `polyfit(full=True)` gives, with the rank and rcond as numbers."""
    found, residuals, rank, values, rcond = result
    return found, residuals, int(rank), values, float(rcond)


CALLS = {
    # writing
    "fill_diagonal": each(
        changed(A, 7),
        changed(A.T, V),
        changed(A.T, V[:2], wrap=True),
        changed(np.zeros((7, 2)), [1.0, 2.0, 3.0], True),
        changed(B, 2.75),
        changed(np.zeros((3, 3, 3)), V),
        changed(EMPTY, 1.0),
        changed(EMPTY.T, []),
    ),
    "place": each(
        changed(A, A > 2, V),
        changed(A, A > 100, V),
        changed(B, B, [9]),
        changed(A.T, A.T > 0, np.arange(40)),
        changed(B, A > 0, [2.75]),
    ),
    "put": each(
        changed(A, [0, 5, -1], V),
        changed(A.T, [0, 5, -1], 7),
        changed(B, I, [1.75, 2]),
        changed(A, np.array([[100, -100]]), V, mode="clip"),
        changed(A, np.array([[100, -100, 13]]), [1.0, 2.0], "wrap"),
        changed(A, [], []),
        changed(A, [1, 1, 1], V),
    ),
    "put_along_axis": each(
        changed(A, np.argsort(A, 1), np.arange(4.0), 1),
        changed(A, np.argmax(A, 0)[None], 99, axis=0),
        changed(A, np.array([[0, 2]]), np.array([[1.5], [2.5], [3.5]]), axis=1),
        changed(A, np.array([3, 0, -1]), V, axis=None),
        changed(B, np.array([[-1]]), 2.75, axis=-1),
    ),
    # statistics
    "average": each(
        call(A),
        call(A, 0),
        call(A, axis=1, weights=np.arange(4.0)),
        call(A, weights=np.abs(A)),
        call(A, axis=(1, 0), weights=np.abs(A).T),
        call(A, 1, np.abs(A), True),
        call(A, axis=0, keepdims=True, returned=True),
        call(C, axis=0, weights=W),
    ),
    "cov": each(
        call(A),
        call(A, rowvar=False),
        call(V),
        call(V, W),
        call(A, A[::-1].copy(), bias=True),
        call(A, ddof=0),
        call(C),
        call(A, fweights=I),
        call(A, aweights=np.arange(1.0, 5.0)),
        call(A, fweights=I, aweights=np.arange(1.0, 5.0), ddof=0),
    ),
    "corrcoef": each(call(A), call(A, rowvar=False), call(V, W), call(C), call(V)),
    "nanprod": each(call(N), call(N, 0), call(N, axis=1, keepdims=True), call(B, 0), call(NONE, 1)),
    "nanargmax": each(call(N), call(N, 0), call(N, axis=1, keepdims=True), call(B, 1)),
    "nanargmin": each(call(N), call(N, 0), call(N, axis=1, keepdims=True), call(B, 1)),
    # counts
    "digitize": each(
        call(A, np.array([-1.0, 0.0, 2.0])),
        call(A, np.array([-1.0, 0.0, 2.0]), True),
        call(A, np.array([2.0, 0.0, -1.0])),
        call(A, np.array([2.0, 0.0, -1.0]), right=True),
        call(B, np.array([1, 2])),
    ),
    "histogram": each(
        call(A),
        call(LONG, 7),
        call(LONG, bins=5, range=(-3.0, 4.5)),
        call(A, np.array([-7.0, 0.0, 1.0, 9.5])),
        call(A, 4, density=True),
        call(A, 4, weights=np.abs(A)),
        call(A, 4, weights=B, density=True),
        call(B, 3),
        call(EMPTY, 3),
        call(LONG, "auto"),
        call(np.full(4, 2.5), 3),
        call(N, 4, (-8.0, 8.0)),
    ),
    "histogram_bin_edges": each(
        *(call(LONG, b) for b in ("auto", "doane", "fd", "rice", "scott", "sqrt", "sturges")),
        call(B, "rice"),
        call(LONG, "fd", (-2.0, 5.0)),
        call(A, 4),
        call(EMPTY, "auto"),
    ),
    "histogram2d": each(
        call(LONG, LONG[::-1].copy()),
        call(V, W, 3),
        call(V, W, [2, 4]),
        call(V, W, [np.array([-2.0, 0.0, 8.0]), 2]),
        call(V, W, 2, [[-3.0, 9.0], [0.0, 2.0]], weights=W),
        call(LONG, LONG[::-1].copy(), 3, density=True),
    ),
    "histogramdd": each(
        call(A.T, 2),
        call([V, W], (2, 3)),
        call(A.T, [2, 1, 3], density=True),
        call(A[:2].T, 3, weights=np.arange(4.0)),
    ),
    # elementwise
    "isposinf": each(call(np.array([np.inf, -np.inf, np.nan, 0.0]))),
    "isneginf": each(call(np.array([np.inf, -np.inf, np.nan, 0.0]))),
    "sinc": each(call(A), call(np.array([0.0, -0.0, 1e-200, 5e-324])), call(C)),
    # shapes and positions
    "diagflat": each(call(V), call(A[:2, :2], 1), call(V, k=-2)),
    "diagonal": each(
        call(A), call(A, 1), call(A[None], offset=-1, axis1=2, axis2=1), call(A[None], 0, 1, 2)
    ),
    "trace": each(call(A), call(B, 1), call(A[None], offset=-1, axis1=2, axis2=1)),
    "tri": [],
    "tril_indices": [],
    "triu_indices": [],
    "indices": [],
    "unravel_index": each(call(B, (2, 3)), call(np.array([5, 1]), shape=(3, 4))),
    "ravel_multi_index": each(
        call((np.array([1, 0]), np.array([2, 1])), (3, 4)),
        call((np.array([4, -1]), np.array([2, 9])), (3, 4), "clip"),
        call((np.array([4, -1]), np.array([2, 9])), (3, 4), mode=("wrap", "clip")),
    ),
    "vander": each(call(V), call(V, 2), call(I, increasing=True), call(I, 0), call(V, 5)),
    "logspace": each(
        call(W, W + 1, 4), call(W, 3.0, num=5, base=2.0, axis=1), call(W, W + 2, 3, False)
    ),
    "geomspace": each(
        call(W, W * 8, 4), call(-W, -W * 8, num=5, axis=-1), call(W, W * 2, 3, False)
    ),
    "sliding_window_view": each(
        call(V, 2),
        call(A, (2, 3)),
        call(A, 2, axis=1),
        call(A, (2, 2), axis=(1, 1)),
        call(A, (1,), (0,)),
    ),
    # choices
    "select": each(
        call([A > 2, A > 0], [A, -A]), call([A > 2, A > 0], [A, -A], 7.5), call([A > 2], [B], -1)
    ),
    "piecewise": each(
        call(V, [V < 0, V > 1], [1.5, -2.5]),
        lambda f, t: f(t(A), [t(A < 0), t(A >= 0)], [lambda x: -x, lambda x: x * 2]),
        lambda f, t: f(t(A), [t(A < 0)], [lambda x, k: x * k, 3.0], 5.0),
        call(V, V < 0, [1.5, -2.5]),
    ),
    "choose": each(
        call(np.array([0, 1, 1]), [V, W]),
        call(np.array([[0], [1]]), (V, W)),
        call(np.array([3, -1, 0]), [V, W], mode="wrap"),
        call(np.array([3, -1, 0]), [V, W], mode="clip"),
    ),
    "compress": each(
        call(np.array([True, False, True]), A, 0),
        call(V > 0, V),
        call(np.array([0, 1]), A, axis=1),
        call(np.array([True]), A),
    ),
    "extract": each(call(A > 0, A), call(B, A)),
    # orders and sets
    "argpartition": each(lambda f, t: f(t(V), [0, 1, 2])),
    "lexsort": each(
        call((B[0], A[0])), call((A, B)), call(B), call((A, B), axis=0), call((I, -I, I))
    ),
    "unique": each(
        call(B),
        call(B, True, True, True),
        call(N, return_index=True, return_inverse=True, return_counts=True),
        call(NONE, return_counts=True),
        call(NONE, equal_nan=False),
        call(np.array([[1, 2], [0, 5], [1, 2]]), axis=0),
        call(B, True, True, True, axis=1),
        call(np.stack([B, B]), axis=0, return_inverse=True),
        call(EMPTY),
        call(B, axis=0, return_counts=True),
    ),
    "union1d": each(call(B, I), call(V, W), call(N, NONE)),
    "intersect1d": each(
        call(B, I), call(V, W), call(B, I, return_indices=True), call(I[:3], np.array([2, 7]), True)
    ),
    "setdiff1d": each(call(B, I), call(V, W), call(np.array([5, 1, 3]), I, True)),
    "setxor1d": each(call(B, I), call(V, W), call(np.array([5, 1, 3]), np.array([1, 4]), True)),
    # calculus
    "ediff1d": each(call(A), call(V, to_begin=W), call(I, np.array([1, 2]), 7), call(np.array([]))),
    "interp": each(
        call(A, X, np.sin(X)),
        call(V, X, np.cos(X), -9.0, 9.0),
        call(A, np.array([1.0]), np.array([5.0])),
        call(A, np.array([0.0, 3.0, 1.0]), V, period=4.0),
        call(V, X, C[0, [0, 1, 2, 3, 0]]),
        call(np.array([np.nan, np.inf, -np.inf, 2.0]), X, X),
        call(X, np.array([0.0, 2.0, 2.0, 7.0]), np.array([1.0, 2.0, 3.0, 4.0])),
    ),
    "trapezoid": each(
        call(A),
        call(A, axis=0),
        call(A, np.array([0.0, 1.0, 4.0, 5.0])),
        call(A, A, dx=3.0),
        call(C, dx=2.0),
        call(V[:1]),
    ),
    "gradient": each(
        call(A),
        call(V),
        call(A, 2.0),
        call(A, 0.5, 3.0),
        call(A, axis=1),
        call(A, edge_order=2),
        call(A, np.array([0.0, 1.0, 4.0]), np.array([0.0, 2.0, 3.0, 7.0])),
        call(A, np.array([0.0, 2.0, 3.0, 7.0]), axis=1, edge_order=2),
        call(C, axis=(1, 0)),
        call(A, np.array([0.0, 2.0, 4.0]), axis=0, edge_order=2),
    ),
    "unwrap": each(
        call(LONG * 3),
        call(A * 4, axis=0),
        call(LONG, 4.0),
        call(B * 7, period=6),
        call(B * 7, period=5),
        call(LONG, period=3.0),
    ),
    "convolve": [
        call(a, b, m)
        for m in ("full", "same", "valid")
        for a, b in ((LONG, V), (V, LONG), (A[0], A[1]), (I, B[0]), (C[0], V))
    ],
    "correlate": [
        call(a, b, m)
        for m in ("full", "same", "valid")
        for a, b in (
            (LONG, V),
            (V, LONG),
            (A[0], A[1]),
            (I, B[0]),
            (V, C[0]),
            (LONG, A[0]),
            (A[0], LONG),
        )
    ],
    "pad": each(
        *PADS,
        call(A, 1),
        call(A, (1, 2), "constant", constant_values=(3.0, 4.0)),
        call(A, 2, mode="linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0))),
        call(A, ((0, 2), (3, 1)), "mean", stat_length=((1, 2), (3, 2))),
        call(A, (7, 9), "reflect"),
        call(A, (7, 9), "symmetric"),
        call(A, (7, 9), "wrap"),
        call(A, (7, 9), "reflect", reflect_type="odd"),
        call(A, (7, 9), "symmetric", reflect_type="odd"),
        call(V[:1], 3, "reflect"),
        call(V[:1], (2, 3), "symmetric", reflect_type="odd"),
        call(A, {1: (2, 1)}, "edge"),
        call(C, 2, "reflect"),
    ),
    "polyval": each(
        call(V, A), call(I, B), call(V, 2.0), call(C[0], A[0]), call(V[:0], A), call([1, 2], I)
    ),
    "polyfit": each(
        *(call(X / 8, np.cos(X), deg) for deg in range(4)),
        call(X / 8, np.stack([np.cos(X), X**2], axis=1), 2),
        call(X / 8, np.cos(X), 2, w=np.array([1.0, 2.0, 0.5, 0.0, 3.0])),
        call(X / 8, np.exp(1j * X), 2),
        lambda f, t: fitted(f(t(X / 8), t(np.cos(X)), 2, full=True)),
        lambda f, t: fitted(
            f(t(X / 8), t(np.stack([np.cos(X), np.sin(X)], 1)), 2, 1e-9, True, t(1 + X))
        ),
        call(X / 8, np.cos(X), 2, cov=True),
        call(X / 8, np.cos(X), 2, cov="unscaled"),
        call(X / 8, np.stack([np.cos(X), X**2], axis=1), 1, cov=True),
        call(X / 8, np.stack([np.cos(X), X**2], axis=1), 1, cov="unscaled", w=np.arange(1.0, 6.0)),
    ),
    "roots": each(call(np.array([0.0, 2.0, 0.0, 8.0, 0.0, 0.0])), call(V + 1j * W)),
    "angle": each(call(C), call(C, True), call(A), call(A, deg=True)),
}
