"""NumPy's functions on Tensors, by `__array_function__` (ufuncs are in test_numpy_calls)."""

import io
from operator import attrgetter

import composed
import numpy as np
import pytest

import flex
from flex import _functions, _numpy

A = np.array([[3.0, -1.5, 2.0, 0.25], [-7.0, 2.0, 9.5, 2.0], [0.5, 4.0, -1.5, 8.0]])
B = np.array([[1, 0, 2, 2], [0, 3, 1, 1], [5, 0, 0, 4]])
C = A + 1j * B
V = np.array([0.5, -2.0, 8.0])
KEYS = np.argsort(B, axis=0)
N = np.where(A > 8, np.nan, A)
M = A[:, :3] @ A[:, :3].T + np.eye(3)

# for each function that flex computes, calls of it: positional arguments and keywords as NumPy has them
SERVED = {
    "allclose": [lambda f, t: f(t(A), t(A + 1e-9)), lambda f, t: f(t(A), t(A + 1), 0.5, atol=1.0)],
    "array_equal": [
        lambda f, t: f(t(A), A),
        lambda f, t: f(t(composed.N), t(composed.N), equal_nan=True),
    ],
    "dot": [lambda f, t: f(t(A), t(A.T)), lambda f, t: f(t(V), t(A)), lambda f, t: f(t(V), t(V))],
    "inner": [lambda f, t: f(t(A), t(A))],
    "isclose": [
        lambda f, t: f(t(A), t(A + 1e-9)),
        lambda f, t: f(t(composed.N), t(composed.N), equal_nan=True),
    ],
    "kron": [lambda f, t: f(t(A), t(V))],
    "nan_to_num": [lambda f, t: f(t(composed.N)), lambda f, t: f(t(composed.N), nan=1.0)],
    "vdot": [lambda f, t: f(t(V), t(V)), lambda f, t: f(t(C), t(C))],
    "array_split": [lambda f, t: f(t(A), 2), lambda f, t: f(t(A), [1, 3], axis=1)],
    **{
        name: [lambda f, t: f(t(V)), lambda f, t: f(t(A))]
        for name in ("atleast_1d", "atleast_2d", "atleast_3d")
    },
    **{
        name: [lambda f, t: f([t(A), t(A)])]
        for name in ("column_stack", "dstack", "hstack", "vstack")
    },
    "diag": [lambda f, t: f(t(A)), lambda f, t: f(t(V), 1), lambda f, t: f(t(A), k=-1)],
    **{name: [lambda f, t: f(t(A))] for name in ("fliplr", "flipud", "ravel")},
    "hsplit": [lambda f, t: f(t(A), 2), lambda f, t: f(t(A), [1])],
    "rot90": [lambda f, t: f(t(A)), lambda f, t: f(t(A), 3, (1, 0))],
    **{
        name: [
            lambda f, t: f(t(A)),
            lambda f, t: f(t(A), 0),
            lambda f, t: f(t(A), axis=1, keepdims=True),
        ]
        for name in ("median", "ptp")
    },
    "nanmedian": [
        lambda f, t: f(t(composed.N)),
        lambda f, t: f(t(composed.N), axis=1, keepdims=True),
    ],
    "nanpercentile": [lambda f, t: f(t(composed.N), [0.0, 25, 100], axis=1)],
    "nanquantile": [
        lambda f, t: f(t(composed.N), 0.3),
        lambda f, t: f(t(composed.N), t(np.array([0.2, 0.5])), 1, method="hazen"),
    ],
    "bincount": [
        lambda f, t: f(t(B[0])),
        lambda f, t: f(t(B[0]), minlength=8),
        lambda f, t: f(t(B[0]), A[0]),
        lambda f, t: f(t(B[0]), None, 2),
        lambda f, t: f(t(np.array([], np.int64))),
        lambda f, t: f(t(np.arange(5000) % 7)),
        lambda f, t: f(t(np.arange(5000) * 3 % 2500)),
    ],
    "partition": [
        lambda f, t: f(t(V), [0, 1, 2]),
        lambda f, t: f(t(A), [0, 1, 2, 3], axis=None)[:4],
        lambda f, t: f(t(A), -1, 0)[-1],
    ],
    "percentile": [
        lambda f, t: f(t(A), 25),
        lambda f, t: f(t(A), 25, 0),
        lambda f, t: f(t(A), t(np.array([25, 50.0])), axis=1),
    ],
    "quantile": [lambda f, t: f(t(A), 0.25), lambda f, t: f(t(A), 0.3, axis=0, keepdims=True)],
    "vsplit": [lambda f, t: f(t(A), 3), lambda f, t: f(t(A), [1])],
    **{
        f"linalg.{name}": [lambda f, t: f(t(M)), lambda f, t: f(t(np.stack([M, M + 1])))]
        for name in (
            "cholesky",
            "det",
            "eigvalsh",
            "inv",
            "matrix_norm",
            "matrix_rank",
            "slogdet",
            "svdvals",
        )
    },
    "i0": [lambda f, t: f(t(A))],
    "linalg.cond": [lambda f, t: f(t(M)), lambda f, t: f(t(np.stack([M, M + 1])), 1)],
    "linalg.eigh": [lambda f, t: f(t(M))[0]],
    "linalg.multi_dot": [lambda f, t: f([t(A), t(A.T), t(V)])],
    "linalg.norm": [
        lambda f, t: f(t(A)),
        lambda f, t: f(t(A), 1),
        lambda f, t: f(t(A), axis=0),
        lambda f, t: f(t(A), 2, (1, 0), True),
    ],
    "linalg.matrix_power": [lambda f, t: f(t(M), 3), lambda f, t: f(t(M), -1)],
    "linalg.qr": [lambda f, t: f(t(A)), lambda f, t: f(t(A.T), mode="complete")],
    "linalg.solve": [lambda f, t: f(t(M), t(V)), lambda f, t: f(t(M), t(A))],
    "linalg.svd": [lambda f, t: f(t(A))[1], lambda f, t: f(t(A), full_matrices=False)[1]],
    "linalg.vector_norm": [lambda f, t: f(t(A)), lambda f, t: f(t(A), axis=0, ord=1)],
    **{
        name: [
            lambda f, t: f(t(composed.N)),
            lambda f, t: f(t(composed.N), 0),
            lambda f, t: f(t(composed.N), axis=1, keepdims=True),
        ]
        for name in ("nanmax", "nanmean", "nanmin", "nanstd", "nansum", "nanvar")
    },
    "argsort": [lambda f, t: f(t(A)), lambda f, t: f(t(A), 0), lambda f, t: f(t(A), axis=-1)],
    "argwhere": [lambda f, t: f(t(B))],
    "broadcast_to": [lambda f, t: f(t(V), (2, 3)), lambda f, t: f(t(V), shape=(4, 3))],
    "clip": [
        lambda f, t: f(t(A), -1, 2),
        lambda f, t: f(t(A), a_min=0, a_max=None),
        lambda f, t: f(t(A), min=-1, max=1),
        lambda f, t: f(t(A), None, t(A[0])),
    ],
    "concatenate": [
        lambda f, t: f([t(A), t(A)]),
        lambda f, t: f((t(A), A), axis=1),
        lambda f, t: f([t(A), t(V)], axis=None),
    ],
    "count_nonzero": [
        lambda f, t: f(t(B)),
        lambda f, t: f(t(B), 0),
        lambda f, t: f(t(B), axis=1, keepdims=True),
    ],
    "cross": [lambda f, t: f(t(V), t(A[:, 0])), lambda f, t: f(t(A), t(A[::-1]), axis=0)],
    "cumprod": [lambda f, t: f(t(A), 0), lambda f, t: f(t(V))],
    "cumsum": [
        lambda f, t: f(t(A), 1),
        lambda f, t: f(t(V)),
        lambda f, t: f(t(B), axis=0, dtype=np.float64),
    ],
    "cumulative_prod": [lambda f, t: f(t(A), axis=0)],
    "cumulative_sum": [lambda f, t: f(t(A), axis=1, include_initial=True)],
    "diff": [
        lambda f, t: f(t(A)),
        lambda f, t: f(t(A), 2, 0),
        lambda f, t: f(t(A), prepend=t(A[:, :1])),
    ],
    "einsum": [
        lambda f, t: f("ij,kj->ik", t(A), t(A)),
        lambda f, t: f("ij->j", t(A), optimize=True),
        lambda f, t: f(t(A), [0, 1], t(V), [0]),
    ],
    "expand_dims": [lambda f, t: f(t(A), 1), lambda f, t: f(t(A), axis=(0, -1))],
    "flip": [lambda f, t: f(t(A)), lambda f, t: f(t(A), 0), lambda f, t: f(t(A), axis=(0, 1))],
    "imag": [lambda f, t: f(t(C))],
    "isin": [lambda f, t: f(t(B), t(B[0])), lambda f, t: f(t(B), t(np.array([1, 2])), invert=True)],
    "matrix_transpose": [lambda f, t: f(t(A))],
    "moveaxis": [lambda f, t: f(t(A), 0, 1), lambda f, t: f(t(A[None]), (0, 1), (2, 0))],
    "nonzero": [lambda f, t: f(t(B))],
    "ones_like": [lambda f, t: f(t(A)), lambda f, t: f(t(A), np.int32)],
    "real": [lambda f, t: f(t(C))],
    "repeat": [
        lambda f, t: f(t(A), 2),
        lambda f, t: f(t(A), 2, 0),
        lambda f, t: f(t(A), [1, 0, 2], axis=0),
    ],
    "reshape": [
        lambda f, t: f(t(A), (2, 6)),
        lambda f, t: f(t(A), -1),
        lambda f, t: f(t(A), shape=(4, 3)),
    ],
    "roll": [
        lambda f, t: f(t(A), 1),
        lambda f, t: f(t(A), 1, 0),
        lambda f, t: f(a=t(A), shift=(1, 2), axis=(0, 1)),
    ],
    "round": [lambda f, t: f(t(A)), lambda f, t: f(t(A / 3), 2), lambda f, t: f(t(C), decimals=-1)],
    "searchsorted": [
        lambda f, t: f(t(np.sort(V)), t(A)),
        lambda f, t: f(t(np.sort(V)), t(V), "right"),
        lambda f, t: f(t(V), 1.0, sorter=t(np.argsort(V))),
    ],
    "sort": [lambda f, t: f(t(A)), lambda f, t: f(t(A), 0), lambda f, t: f(t(A), axis=-2)],
    "squeeze": [lambda f, t: f(t(A[None])), lambda f, t: f(t(A[:, None]), 1)],
    "stack": [lambda f, t: f([t(A), t(A)]), lambda f, t: f((t(A), A), axis=-1)],
    "swapaxes": [lambda f, t: f(t(A), 0, 1)],
    "take": [
        lambda f, t: f(t(V), t(np.array([2, 0]))),
        lambda f, t: f(t(A), t(np.array([1, 0])), axis=1),
    ],
    "take_along_axis": [lambda f, t: f(t(A), t(KEYS), 0), lambda f, t: f(t(A), t(KEYS), axis=0)],
    "tensordot": [lambda f, t: f(t(A), t(A), axes=([1], [1])), lambda f, t: f(t(A), t(A.T), 1)],
    "tile": [lambda f, t: f(t(A), 2), lambda f, t: f(t(A), (2, 1, 1))],
    "transpose": [lambda f, t: f(t(A)), lambda f, t: f(t(A[None]), (1, 2, 0))],
    "tril": [lambda f, t: f(t(A)), lambda f, t: f(t(A), k=1)],
    "triu": [lambda f, t: f(t(A), -1)],
    "unique_all": [lambda f, t: f(t(B))],
    "unique_counts": [lambda f, t: f(t(B))],
    "unique_inverse": [lambda f, t: f(t(B))],
    "unique_values": [lambda f, t: np.sort(f(t(B)))],
    "unstack": [lambda f, t: f(t(A)), lambda f, t: f(t(A), axis=1)],
    "vecdot": [lambda f, t: f(t(A), t(A)), lambda f, t: f(t(C), t(C), axis=0)],
    "where": [
        lambda f, t: f(t(A > 1), t(A), t(-A)),
        lambda f, t: f(t(B), t(A), 0.0),
        lambda f, t: f(t(B)),
        lambda f, t: f(A > 1, A, t(-A)),
    ],
    "zeros_like": [lambda f, t: f(t(A))],
    "fft.fft": [
        lambda f, t: f(t(A)),
        lambda f, t: f(t(A), 6, 0),
        lambda f, t: f(t(A), norm="ortho"),
    ],
    "fft.fftn": [lambda f, t: f(t(A)), lambda f, t: f(t(A), axes=(0,))],
    "fft.fftshift": [lambda f, t: f(t(A)), lambda f, t: f(t(A), axes=1)],
    "fft.hfft": [lambda f, t: f(t(C))],
    "fft.ifft": [lambda f, t: f(t(C))],
    "fft.ifftn": [lambda f, t: f(t(C))],
    "fft.ifftshift": [lambda f, t: f(t(A))],
    "fft.ihfft": [lambda f, t: f(t(A))],
    "fft.irfft": [lambda f, t: f(t(C)), lambda f, t: f(t(C), n=5)],
    "fft.irfftn": [lambda f, t: f(t(C))],
    "fft.rfft": [lambda f, t: f(t(A)), lambda f, t: f(t(A), axis=0)],
    "fft.rfftn": [lambda f, t: f(t(A))],
    **{n: c for n, c in composed.CALLS.items() if n != "sliding_window_view"},
    "lib.stride_tricks.sliding_window_view": composed.CALLS["sliding_window_view"],
}


def numpys(name):
    return attrgetter(name)(np)


def compare(found, expected):
    """Tensors where NumPy gives arrays or its scalars, with their shapes, kinds and values."""
    if isinstance(expected, (tuple, list)):
        assert isinstance(found, (tuple, list))
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            compare(f, e)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert type(found) is flex.Tensor
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        # elements that cancel to almost nothing have errors of the others
        largest = np.max(np.abs(expected), initial=1, where=np.isfinite(expected))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13, atol=1e-14 * largest)
    else:
        assert type(found) is type(expected)
        assert found == expected


def test_each_served_function_is_called_here():
    ufuncs = {n for n in _numpy._VARIADIC if isinstance(getattr(np, n, None), np.ufunc)}
    writers = set(_numpy._WRITERS) & set(_functions.FUNCTIONS)
    assert set(SERVED) - writers == {*_numpy._ROWS, *_numpy._VARIADIC} - ufuncs


@pytest.mark.parametrize("name", SERVED)
def test_functions_of_flex(name, monkeypatch):
    function = numpys(name)
    expected = [call(function, np.asarray) for call in SERVED[name]]

    def refuse(x):
        raise AssertionError(f"{name} was left to NumPy")

    monkeypatch.setattr(_numpy, "_arrays", refuse)
    for call, e in zip(SERVED[name], expected, strict=True):
        compare(call(function, flex.asarray), e)


# calls that NumPy computes, since flex lacks the function or the argument
LEFT = {
    "sort descending": lambda t: np.sort(t(A), kind="stable"),
    "sort flattened": lambda t: np.sort(t(A), axis=None),
    "argsort flattened": lambda t: np.argsort(t(A), axis=None, kind="stable"),
    "cumsum flattened": lambda t: np.cumsum(t(A)),
    "isin a list": lambda t: np.isin(t(B), [1, 2]),
    "take by a list": lambda t: np.take(t(V), [2, 0]),
    "take flattened": lambda t: np.take(t(A), [5, 1]),
    "take wrapped": lambda t: np.take(t(V), [5, 1], mode="wrap"),
    "round to decimals": lambda t: np.round(t(A) / 3, 2),
    "reshape in Fortran's order": lambda t: np.reshape(t(A), (6, 2), order="F"),
    "outer of matrices": lambda t: np.outer(t(A), t(V)),
    "sort of complex": lambda t: np.sort(t(C)),
    "sum where": lambda t: np.sum(t(A), where=t(A) > 0),
    "max initial": lambda t: np.max(t(A), axis=0, initial=3.0),
    "quantile by the lower": lambda t: np.quantile(
        t(A), [0.25, 0.5], axis=0, method="median_unbiased"
    ),
    "einsum into an order": lambda t: np.einsum("ij->ji", t(A), order="F"),
    "meshgrid": lambda t: np.meshgrid(t(V), t(V[:2])),
    "apply_along_axis": lambda t: np.apply_along_axis(np.ptp, 0, t(A)),
    "split": lambda t: np.split(t(A), [1], axis=1),
    "eig": lambda t: np.linalg.eig(t(M))[0],
    "r of qr": lambda t: np.linalg.qr(t(A), mode="r"),
    "shape": lambda t: (np.shape(t(A)), np.ndim(t(A)), np.size(t(A))),
    "nan_to_num into the argument": lambda t: np.nan_to_num(t(composed.N), copy=True),
}


@pytest.mark.parametrize("name", LEFT)
def test_functions_of_numpy(name):
    compare(LEFT[name](flex.asarray), LEFT[name](np.asarray))


def test_memory_is_read_in_place():
    t = flex.asarray(A, copy=True)
    assert np.shares_memory(np.diagonal(t).numpy(), t.numpy())
    assert np.may_share_memory(t, t.numpy()) is True


def test_results_in_given_arrays():
    out = np.zeros(4)
    assert np.nanmedian(flex.asarray(A), axis=0, out=out) is out
    assert out.tolist() == np.nanmedian(A, axis=0).tolist()
    both = np.zeros((6, 4))
    assert np.concatenate([flex.asarray(A), A], out=both) is both
    with pytest.raises(TypeError, match="out is a Tensor, which is a value"):
        np.nanmedian(A, axis=0, out=flex.zeros(4, dtype=float))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.copyto(t, 1.0),
        lambda t: np.putmask(t, A > 0, 1.0),
    ],
)
def test_writers_refuse_tensors(call):
    t = flex.asarray(A, copy=True)
    with pytest.raises(TypeError, match="writes to its first argument, but a Tensor is a value"):
        call(t)
    assert t.tolist() == A.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.put(t, [0, -1], [1.0, 2.0]),
        lambda t: np.place(t, A > 0, [1.0, 7.0]),
        lambda t: np.fill_diagonal(t, [1.0, 7.0]),
        lambda t: np.put_along_axis(t, KEYS, 1.0, axis=0),
        lambda t: np.put_along_axis(arr=t, indices=KEYS, values=A, axis=0),
    ],
)
def test_writers(call):
    t, a = flex.asarray(A, copy=True), A.copy()
    before = t[...]
    call(t)
    call(a)
    assert t.tolist() == a.tolist()
    assert before.tolist() == A.tolist()


def test_writers_read_tensors():
    a = np.zeros_like(A)
    np.copyto(a, flex.asarray(A), where=flex.asarray(A > 0))
    assert a.tolist() == np.where(A > 0, A, 0).tolist()


def test_other_libraries_and_dtypes():
    masked = np.ma.masked_array(V, [True, False, False])
    assert np.concatenate([flex.asarray(V), masked]).shape == (6,)

    class Wrapped:
        def __array_function__(self, func, types, args, kwargs):
            return func.__name__

    assert np.concatenate([flex.asarray(V), Wrapped()]) == "concatenate"
    words = np.array(["a", "b", "c"])
    assert type(np.take(words, flex.asarray([2, 0]))) is np.ndarray
    half = flex.asarray(V, dtype=flex.bfloat16)
    assert np.sort(half).dtype == flex.bfloat16
    assert np.concatenate([half, half]).tolist() == [*V, *V]


def test_errors():
    t = flex.asarray(A)
    with pytest.raises(ValueError, match="dimensions"):
        np.concatenate([t, flex.asarray(V)])
    with pytest.raises(np.exceptions.AxisError):
        np.sort(t, axis=5)
    with pytest.raises(TypeError):
        np.sort(t, 0, None, None, None, None)
    with pytest.raises(TypeError, match="unexpected keyword"):
        np.sum(t, axes=0)


def test_files():
    file = io.BytesIO()
    np.save(file, flex.asarray(A))
    file.seek(0)
    assert np.load(file).tolist() == A.tolist()
