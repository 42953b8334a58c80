"""The array API standard's names and signatures, the namespaces, methods, pickling of functions."""

import inspect
import pickle

import numpy as np
import pytest

import flex

# keywords of NumPy, most of which it passes when it calls methods (numpy.std(t)): after those of the
# standard, keyword-only, None or False by default
NUMPYS = {
    **{name: {"out", "initial", "where"} for name in ("sum", "prod", "max", "min")},
    **{name: {"out", "where"} for name in ("any", "all")},
    **{name: {"out"} for name in ("argmax", "argmin")},
    "linspace": {"retstep"},
    "mean": {"dtype", "out", "where"},
    "meshgrid": {"sparse"},
    "std": {"dtype", "ddof", "out", "where"},
    "var": {"dtype", "ddof", "out", "where"},
}
# names and parameters of the standard, 2025.12. Parameters that it makes positional-only (other than
# tensors) or keyword-only are accepted both ways where users of NumPy and torch write them so
STANDARD = """
arange(start, stop=None, step=1, dtype=None, *, device=None)
asarray(obj, /, dtype=None, *, device=None, copy=None)
empty(shape, dtype=None, *, device=None)
empty_like(x, /, dtype=None, *, device=None)
eye(n_rows, n_cols=None, k=0, dtype=None, *, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, dtype=None, *, device=None)
full_like(x, /, fill_value, dtype=None, *, device=None)
linspace(start, stop, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, dtype=None, *, device=None)
ones_like(x, /, dtype=None, *, device=None)
tril(x, /, k=0)
triu(x, /, k=0)
zeros(shape, dtype=None, *, device=None)
zeros_like(x, /, dtype=None, *, device=None)
astype(x, /, dtype, *, copy=True, device=None)
broadcast_arrays(*arrays)
broadcast_shapes(*shapes)
broadcast_to(x, /, shape)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
where(condition, x1, x2, /)
searchsorted(x1, x2, /, side='left', sorter=None)
argmax(x, /, axis=None, *, keepdims=False)
argmin(x, /, axis=None, *, keepdims=False)
count_nonzero(x, /, axis=None, *, keepdims=False)
nonzero(x, /)
argsort(x, /, axis=-1, *, descending=False, stable=True)
sort(x, /, axis=-1, *, descending=False, stable=True)
cumulative_prod(x, /, axis=None, *, dtype=None, include_initial=False)
cumulative_sum(x, /, axis=None, *, dtype=None, include_initial=False)
max(x, /, axis=None, *, keepdims=False)
mean(x, /, axis=None, *, keepdims=False)
min(x, /, axis=None, *, keepdims=False)
prod(x, /, axis=None, *, dtype=None, keepdims=False)
std(x, /, axis=None, *, correction=0.0, keepdims=False)
sum(x, /, axis=None, *, dtype=None, keepdims=False)
var(x, /, axis=None, *, correction=0.0, keepdims=False)
all(x, /, axis=None, *, keepdims=False)
any(x, /, axis=None, *, keepdims=False)
diff(x, /, n=1, axis=-1, *, prepend=None, append=None)
take(x, /, indices, axis=None)
take_along_axis(x, /, indices, axis=-1)
matmul(x1, x2, /, *, dtype=None)
matrix_transpose(x, /)
tensordot(x1, x2, /, axes=2)
vecdot(x1, x2, /, *, axis=-1)
concat(arrays, /, axis=0)
expand_dims(x, /, axis=0)
flip(x, /, axis=None)
moveaxis(x, /, source, destination)
permute_dims(x, /, axes)
repeat(x, /, repeats, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, axis=None)
round(x, /, decimals=0)
squeeze(x, /, axis=None)
stack(arrays, /, axis=0)
tile(x, /, repetitions)
unstack(x, /, axis=0)
isin(x1, x2, /, *, invert=False)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
"""
LINALG = """
cholesky(x, /, *, upper=False)
cross(x1, x2, /, *, axis=-1)
det(x, /)
diagonal(x, /, *, offset=0)
eig(x, /)
eigh(x, /)
eigvals(x, /)
eigvalsh(x, /)
inv(x, /)
matrix_norm(x, /, *, keepdims=False, ord='fro')
matrix_power(x, n, /)
matrix_rank(x, /, *, rtol=None)
outer(x1, x2, /)
pinv(x, /, *, rtol=None)
qr(x, /, mode='reduced')
slogdet(x, /)
solve(x1, x2, /)
svd(x, /, *, full_matrices=True)
svdvals(x, /)
trace(x, /, *, offset=0, dtype=None)
vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
"""
UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log1p log2
log10 logical_not negative positive real reciprocal sign signbit sin sinh square sqrt tan tanh trunc
"""
BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal floor_divide greater
greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow
remainder subtract
"""
DTYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"""


@pytest.mark.parametrize("line", STANDARD.split("\n")[1:-1])
def test_signatures_of_the_standard(line):
    name = line[: line.index("(")]
    signature = inspect.signature(getattr(flex, name))
    extra = [p for p in signature.parameters.values() if p.name in NUMPYS.get(name, ())]
    assert {p.name for p in extra} == NUMPYS.get(name, set())
    assert all(p.kind is p.KEYWORD_ONLY and not p.default for p in extra)
    found = signature.replace(
        return_annotation=inspect.Signature.empty,
        parameters=[
            p.replace(annotation=p.empty) for p in signature.parameters.values() if p not in extra
        ],
    )
    assert f"{name}{found}" == line


@pytest.mark.parametrize("line", LINALG.split("\n")[1:-1])
def test_signatures_of_linalg(line):
    name = line[: line.index("(")]
    assert f"{name}{inspect.signature(getattr(flex.linalg, name))}" == line


@pytest.mark.parametrize("name", [*UNARY.split(), *BINARY.split()])
def test_signatures_of_elementwise_functions(name):
    expected = "(x, /)" if name in UNARY.split() else "(x1, x2, /)"
    assert inspect.signature(getattr(flex, name)) == inspect.signature(
        eval(f"lambda {expected[1:-1]}: None")
    )


def test_dtypes_and_constants():
    for name in DTYPES.split():
        assert getattr(flex, name).name == name
    assert (flex.e, flex.pi, flex.inf, flex.newaxis) == (
        2.718281828459045,
        3.141592653589793,
        float("inf"),
        None,
    )
    assert flex.nan != flex.nan
    assert flex.__array_api_version__ == "2025.12"
    assert flex.zeros(1).__array_namespace__() is flex
    info = flex.__array_namespace_info__()
    assert set(info.dtypes()) == set(DTYPES.split())
    assert info.default_device() in info.devices()


@pytest.mark.parametrize(
    "namespace",
    [
        flex,
        flex.fft,
        flex.io,
        flex.linalg,
        flex.nn,
        flex.nn.grad,
        flex.quant,
        flex.random,
        flex.signal,
    ],
)
def test_all_lists_every_name(namespace):
    assert len(set(namespace.__all__)) == len(namespace.__all__)
    for name in namespace.__all__:
        assert hasattr(namespace, name)


@pytest.mark.parametrize(
    "name",
    [
        "flex.add",
        "flex.sum",
        "flex.where",
        "flex.nn.linear",
        "flex.nn.relu",
        "flex.io.load",
        "flex.quant.conv2d",
        "flex.quant.linear",
        "flex.quant.load",
        "flex.linalg.matmul",
        "flex.linalg.svd",
    ],
)
def test_functions_are_pickled_by_name(name):
    function = eval(name)
    assert pickle.loads(pickle.dumps(function)) is function


def test_methods_are_the_functions():
    x = flex.asarray([[4.0, 1.0], [9.0, 16.0]])
    for name in (
        "abs",
        "sum",
        "mean",
        "max",
        "argmax",
        "sqrt",
        "sort",
        "transpose",
        "squeeze",
        "flip",
        "clip",
        "round",
        "exp",
        "all",
    ):
        assert getattr(flex.Tensor, name) is getattr(flex, name)
        assert getattr(x, name)().tolist() == getattr(flex, name)(x).tolist()
    assert x.sum(axis=0, keepdims=True).tolist() == [[13.0, 17.0]]
    assert x.transpose(1, 0).tolist() == x.T.tolist()
    assert x.reshape(4).take(flex.asarray([0, 3])).tolist() == [4.0, 16.0]
    with pytest.raises(AttributeError):
        x.no_such_method  # noqa: B018
    with pytest.raises(TypeError):
        x.sum(0, None, True)


def test_positional_and_keyword_only_parameters():
    x = flex.ones((2, 2))
    for call in (
        lambda: flex.add(x1=x, x2=x),
        lambda: flex.exp(x=x),
        lambda: flex.sum(x, None, None),
        lambda: flex.sort(x, 0, True),
        lambda: flex.exp(x, x),
    ):
        with pytest.raises(TypeError):
            call()


X = np.arange(24.0).reshape(2, 3, 4) % 7
ALONG_AN_AXIS = """
sum prod mean var std max min argmax argmin any all count_nonzero logsumexp cumulative_sum cumulative_prod cumulative_max cumulative_min
sort argsort flip unstack max_with_indices min_with_indices sort_with_indices expand_dims
"""
POSITIONS = flex.asarray([1, 0])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *[(name, ()) for name in ALONG_AN_AXIS.split()],
        ("chunk", (2,)),
        ("repeat", (2,)),
        ("roll", (1,)),
        ("split", (2,)),
        ("take", (POSITIONS,)),
        ("take_along_axis", (flex.asarray([[[0], [1], [0]]]),)),
        ("topk", (1,)),
    ],
)
def test_axis_may_be_positional(name, arguments):
    x = flex.asarray(X)

    def lists(result):
        return result.tolist() if isinstance(result, flex.Tensor) else [t.tolist() for t in result]

    axes = (2, -1) if name == "take_along_axis" else (0, 1, -1)
    for axis in axes:
        expected = lists(getattr(flex, name)(x, *arguments, axis=axis))
        assert lists(getattr(flex, name)(x, *arguments, axis)) == expected
        if hasattr(x, name):
            assert lists(getattr(x, name)(*arguments, axis)) == expected


def test_positional_axis_matches_numpy():
    x = flex.asarray(X)
    assert x.sum(0).tolist() == X.sum(0).tolist()
    assert x.max((0, -1)).tolist() == X.max((0, -1)).tolist()
    assert x.argmax(-1).tolist() == X.argmax(-1).tolist()
    assert flex.sort(x, 0).tolist() == np.sort(X, 0).tolist()
    assert flex.concat([x, x], 1).tolist() == np.concatenate([X, X], 1).tolist()
    assert flex.stack([x, x], 1).tolist() == np.stack([X, X], 1).tolist()
    assert x[:1].squeeze(0).tolist() == X[:1].squeeze(0).tolist()
    assert flex.nn.softmax(x, 0).tolist() == flex.nn.softmax(x, axis=0).tolist()
