"""einops and opt_einsum on flex's tensors, whichever is imported first."""

import subprocess
import sys

import einops
import numpy as np
import opt_einsum
import pytest

import flex

A = np.arange(24.0).reshape(2, 3, 4)
X = flex.asarray(A)

USE = """
x = flex.asarray([[1.0, 2.0], [3.0, 4.0]])
assert einops.rearrange(x, "a b -> b a").tolist() == [[1, 3], [2, 4]]
assert einops.reduce(x, "a b -> a", "sum").tolist() == [3, 7]
assert einops.repeat(x, "a b -> (a n) b", n=2).shape == (4, 2)
assert einops.einsum(x, x, "a b, a c -> b c").tolist() == [[10, 14], [14, 20]]
"""


def run(code):
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("order", ["import einops, flex", "import flex, einops"])
def test_either_order_of_import(order):
    run(f"{order}{USE}")


def test_einops_imported_after_a_use_of_flex_in_parts():
    run(f"import flex\nx = flex.ones(2)\nfrom einops.packing import pack\nimport einops{USE}")


def test_flex_imports_no_einops():
    run("import sys, flex\nassert 'einops' not in sys.modules")


def test_without_einops():
    code = """
import sys
class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] == "einops":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent)
import flex
assert flex.ones(2).sum().item() == 2
try:
    import einops
except ModuleNotFoundError:
    pass
else:
    raise AssertionError
"""
    run(code)


@pytest.mark.parametrize(
    ("pattern", "sizes"),
    [
        ("a b c -> c (a b)", {}),
        ("a b (c d) -> a c b d", {"d": 2}),
        ("a b c -> (b c) a", {}),
        ("a ... -> ... a", {}),
        ("a b c -> a 1 b c", {}),
    ],
)
def test_rearrange(pattern, sizes):
    y = einops.rearrange(X, pattern, **sizes)
    assert isinstance(y, flex.Tensor)
    assert y.tolist() == einops.rearrange(A, pattern, **sizes).tolist()


@pytest.mark.parametrize("reduction", ["min", "max", "sum", "mean", "prod", "any", "all"])
def test_reduce(reduction):
    for pattern in ("a b c -> b", "a b c -> ", "a (b 3) c -> a c", "... c -> ..."):
        y = einops.reduce(X, pattern, reduction)
        assert y.tolist() == einops.reduce(A, pattern, reduction).tolist()
    assert einops.reduce(X, "a b c -> c", lambda x, axes: x.max(axes)).shape == (4,)


def test_repeat_pack_and_lists():
    for pattern in ("a b c -> a b c d", "a b c -> (d a) b c"):
        assert einops.repeat(X, pattern, d=2).tolist() == einops.repeat(A, pattern, d=2).tolist()
    packed, shapes = einops.pack([X, X[0, 0]], "* c")
    assert packed.shape == (7, 4)
    assert [x.shape for x in einops.unpack(packed, shapes, "* c")] == [(2, 3, 4), (4,)]
    assert einops.rearrange([X, X], "n a b c -> a n b c").shape == (2, 2, 3, 4)
    assert einops.parse_shape(X, "a _ c") == {"a": 2, "c": 4}
    assert einops.asnumpy(X).tolist() == A.tolist()


def test_rearrange_is_a_view_where_it_can_be():
    y = einops.rearrange(X, "a b c -> c b a")
    assert np.shares_memory(np.asarray(y), np.asarray(X))


def test_in_fuse():
    fused = flex.fuse(lambda x: einops.rearrange(x * 2, "a b c -> (a b) c") + 1)
    assert fused(X).tolist() == (A.reshape(6, 4) * 2 + 1).tolist()


@pytest.mark.parametrize("optimize", ["auto", "greedy", "optimal"])
@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ab,bc->ac", [(2, 3), (3, 4)]),
        ("ab,bc->ca", [(2, 3), (3, 4)]),
        ("ab,bc,cd->da", [(2, 3), (3, 4), (4, 5)]),
        ("aab,b->a", [(2, 2, 3), (3,)]),
        ("abc,abd,d->", [(2, 3, 4), (2, 3, 5), (5,)]),
        ("a...,ab->b...", [(2, 3, 4), (2, 5)]),
    ],
)
def test_opt_einsum(subscripts, shapes, optimize):
    rng = np.random.default_rng(1)
    arrays = [rng.integers(-3, 4, s).astype(float) for s in shapes]
    y = opt_einsum.contract(subscripts, *map(flex.asarray, arrays), optimize=optimize)
    assert isinstance(y, flex.Tensor)
    np.testing.assert_allclose(np.asarray(y), np.einsum(subscripts, *arrays))


def test_opt_einsum_expressions_and_letters_beyond_ascii():
    f = opt_einsum.contract_expression("ab,bc->ac", (2, 3), (3, 4))
    assert f(flex.ones((2, 3)), flex.ones((3, 4))).tolist() == [[3.0] * 4] * 2
    y = opt_einsum.contract("αβ,βγ->γα", flex.ones((2, 3)), flex.ones((3, 4)))
    assert y.shape == (4, 2)
    path, _ = opt_einsum.contract_path("ab,bc,cd", X[0], X[1].T, X[0])
    assert flex.einsum("ab,bc,cd", X[0], X[1].T, X[0], optimize=path).shape == (3, 4)
