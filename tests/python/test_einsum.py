"""Einstein sums against NumPy's."""

import itertools
import string
import subprocess
import sys

import numpy as np
import pytest
from arrays import COMPLEX, EPS, FLOATS, INTEGERS, NUMBERS, laid_out, random_array, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from support import address, examples

import flex

LAYOUTS = ["plain", "transposed", "flipped", "stepped", "broadcast"]


def exact(a):
    """The array in a wider float dtype; integers keep their dtype, so that they wrap alike."""
    if a.dtype.name in INTEGERS:
        return a
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def compare(y, subscripts, arrays, dtype, **keywords):
    """Asserts the error bound of sums of products, each rounded once: n u times the sum of their magnitudes (Higham, Accuracy and
    Stability of Numerical Algorithms, 2002, (3.5)), with n the number of products and factors."""
    wide = [exact(a) for a in arrays]
    expected = np.einsum(subscripts, *wide, **keywords)
    assert y.dtype == dtype
    assert y.shape == expected.shape
    got = to_numpy(y)
    if dtype in INTEGERS:
        np.testing.assert_array_equal(got, expected.astype(dtype))
        return
    magnitudes = np.einsum(subscripts, *map(np.abs, wide), **keywords)
    terms = max(int(np.prod([max(a.size, 1) for a in arrays])), 1)
    rounding = 2 * (min(terms, 4096) + 2 * len(arrays) + 2) * min(EPS[dtype], 2.0**-23)
    bound = EPS[dtype] * np.abs(expected) + rounding * magnitudes + 2.0**-24
    assert (np.abs(got.astype(expected.dtype) - expected) <= bound).all()


@st.composite
def expression(draw, dtypes=NUMBERS, most=4):
    """Subscripts, and operands as tensors and as arrays."""
    labels = draw(st.sampled_from(["abcd", "aBcD", "zyXW"]))
    sizes = {
        label: draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 4)) for label in labels
    }
    under = draw(st.lists(st.integers(1, 3), max_size=2))
    count = draw(st.integers(1, most))
    dtype = draw(st.sampled_from(dtypes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    terms, tensors, arrays, broadcast = [], [], [], 0
    for _ in range(count):
        term = draw(st.lists(st.sampled_from(labels), max_size=3))
        shape = [
            1 if term.count(c) == 1 and draw(st.integers(0, 6)) == 0 else sizes[c] for c in term
        ]
        if draw(st.integers(0, 3)) == 0:
            own = under[draw(st.integers(0, len(under))) :]
            own = [1 if draw(st.integers(0, 4)) == 0 else n for n in own]
            broadcast = max(broadcast, len(own))
            at = draw(st.integers(0, len(term)))
            term.insert(at, "...")
            shape[at:at] = own
        array = random_array(dtype, tuple(shape), rng, special=False, low=-3, high=4)
        x, a = laid_out(array, draw(st.sampled_from(LAYOUTS)), draw(st.integers(0, 3)))
        terms.append("".join(term))
        tensors.append(x)
        arrays.append(a)
    text = ",".join(terms)
    if draw(st.integers(0, 3)):
        used = sorted({c for c in text if c in labels})
        output = draw(st.permutations(used))[: draw(st.integers(0, len(used)))]
        if broadcast or (draw(st.booleans()) and "..." in text):
            output.insert(draw(st.integers(0, len(output))), "...")
        text += "->" + "".join(output)
    if draw(st.integers(0, 3)) == 0:
        text = text.replace(",", " , ").replace("->", " -> ")
    return text, tensors, arrays, dtype


@examples(400)
@given(expression(), st.sampled_from([True, False, "greedy", "optimal", ("greedy", 8)]))
def test_random_expressions(case, optimize):
    text, tensors, arrays, dtype = case
    compare(flex.einsum(text, *tensors, optimize=optimize), text, arrays, dtype)


@examples(60)
@given(expression(["float32", "int64"], most=7))
def test_many_operands(case):
    text, tensors, arrays, dtype = case
    compare(flex.einsum(text, *tensors), text, arrays, dtype)
    path, _ = flex.einsum_path(text, *tensors, optimize="optimal")
    compare(flex.einsum(text, *tensors, optimize=path), text, arrays, dtype)


SIZES = {"a": 3, "b": 17, "c": 40, "d": 33, "i": 70, "j": 65, "k": 90}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "complex64", "float64"])
@pytest.mark.parametrize(
    "text",
    [
        "ij,jk->ik", "ij,jk->ki", "ji,kj->ik", "aij,ajk->aik", "aij,ajk->iak", "ija,jka->ika",
        "abi,bj->aij", "iab,bj->aij", "adbc,akbc->adkb", "bacd,kacd->abk",
        "ij,ij->", "ij,ji->", "ij,ij->i", "ij,ij->j", "abc,abd,d->c", "i,j->ij", "ij->j", "abca->bc",
        "aii,ij->aj", "abcd,ij,cb->adi", "a...,...a->...", "ab,ac,ad->abcd", "ij,jk,kb,bc->ic",
    ],
)  # fmt: skip
def test_larger_sizes(text, dtype):
    rng = np.random.default_rng(3)
    letters = text.split("->")[0].replace("...", "").split(",")
    shapes = [tuple(SIZES[c] for c in term) for term in letters]
    arrays = [random_array(dtype, s, rng, special=False, low=-2, high=3) for s in shapes]
    compare(flex.einsum(text, *map(flex.asarray, arrays)), text, arrays, dtype, optimize=True)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda a, b: (a, [0, 1], b, [1, 2]), "ij,jk"),
        (lambda a, b: (a, [0, 1], b, [1, 2], [2, 0]), "ij,jk->ki"),
        (lambda a, b: (a, (..., 1), b, [1, 2], [..., 2]), "...j,jk->...k"),
        (lambda a, b: (a, [27, 1], b, np.array([1, 51]), [51, 27]), "bB,Bz->zb"),
        (lambda a, b: (a, [1, 0], b, [0, 2], []), "ji,ik->"),
    ],
)
def test_lists_of_labels(call, text):
    rng = np.random.default_rng(5)
    a, b = rng.integers(-9, 9, (3, 4)), rng.integers(-9, 9, (4, 5))
    x, y = flex.asarray(a), flex.asarray(b)
    assert flex.einsum(*call(x, y)).tolist() == np.einsum(*call(a, b)).tolist()
    assert flex.einsum(*call(x, y)).tolist() == flex.einsum(text, x, y).tolist()
    assert flex.einsum_path(*call(x, y))[0] == ["einsum_path", (0, 1)]


def test_numbers_arrays_and_dtypes():
    x = flex.asarray([1, 2], dtype=flex.int8)
    assert flex.einsum("i,->i", x, np.float32(0.5)).dtype == flex.float32
    assert flex.einsum("i,i", x, np.asarray([0.5, 1.0])).item() == 2.5
    assert flex.einsum(",", 2, 3).item() == 6
    assert flex.einsum("", 2.5).item() == 2.5
    y = flex.einsum("i,j->ij", x * 60, x, dtype=flex.int32)
    assert (y.dtype, y.tolist()) == (flex.int32, [[60, 120], [120, 240]])
    assert flex.einsum("i->", x, dtype="float64").dtype == flex.float64
    with pytest.raises(flex.DTypeError, match=r"einsum.*summed in int8"):
        flex.einsum("i->", flex.ones(2), dtype=flex.int8)
    with pytest.raises(flex.DTypeError, match="einsum"):
        flex.einsum("i,i", flex.ones(2, dtype=flex.uint64), x)
    bools = flex.asarray([[True, False]])
    assert flex.einsum("ij->ji", bools).tolist() == [[True], [False]]
    with pytest.raises(flex.DTypeError, match="einsum: not defined for bool"):
        flex.einsum("ij->i", bools)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_sums_over_nothing_are_zero(dtype):
    x = flex.zeros((3, 0), dtype=dtype)
    for text, operands, shape in (
        ("ij,kj->ik", [x, x], (3, 3)),
        ("ij->i", [x], (3,)),
        ("ij,ij->i", [x, x], (3,)),
        ("ij,j,j->", [x, x[0], x[0]], ()),
    ):
        y = flex.einsum(text, *operands)
        assert (y.shape, y.dtype, flex.any(y).item()) == (shape, dtype, False)


def test_views_share_memory():
    x = flex.asarray(np.arange(36.0).reshape(3, 4, 3), copy=True)
    for text, shape in (("ijk->kji", (3, 4, 3)), ("iji->ij", (3, 4)), ("i...->...i", (4, 3, 3))):
        y = flex.einsum(text, x)
        assert (y.shape, address(y)) == (shape, address(x))
        assert y.tolist() == np.einsum(text, to_numpy(x)).tolist()
    y = flex.einsum("ijk->kji", x)
    y[0] = 7
    assert x[0, 0, 0].item() == 0  # a value, as every tensor


# subscripts and shapes whose operands are far larger than results
IN_PLACE = {
    "bqhd,bkhd->bhqk": [(4, 128, 8, 512), (4, 128, 8, 512)],
    "abi,bj->aij": [(16, 512, 256), (512, 8)],
    "iab,bj->aij": [(256, 16, 512), (512, 8)],
    "ji,kj->ik": [(4096, 1024), (16, 4096)],
    "ij,ji->": [(1024, 1024), (1024, 1024)],
    "kb,kb->b": [(4096, 256), (4096, 256)],
    "ijj->i": [(2, 1024, 1024)],
    "ijkl,kl->ji": [(64, 16, 32, 32), (32, 32)],
    "...kij,...k->...ij": [(16, 128, 32, 32), (16, 128)],
    "ijk->j": [(64, 64, 256)],
}


@pytest.mark.skipif(sys.platform != "linux", reason="as for tests of memory")
@pytest.mark.parametrize("text", IN_PLACE)
def test_operands_are_not_copied(text):
    """The memory in use never exceeds operands and result by more than a part of the largest operand, for packed blocks."""
    code = f"""
import flex
flex.set_num_threads(1)
operands = [flex.zeros(shape) for shape in {IN_PLACE[text]}]
before = flex.memory_stats()
assert before["peak"] == before["in_use"]
y = flex.einsum({text!r}, *operands)
extra = flex.memory_stats()["peak"] - before["in_use"]
assert extra <= y.nbytes + max(x.nbytes for x in operands) // 4, (extra, y.nbytes)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_paths():
    a, b, c = flex.ones((2, 100)), flex.ones((100, 100)), flex.ones((100, 1))
    assert flex.einsum_path("ij,jk,kl->il", a, b, c)[0] == ["einsum_path", (1, 2), (0, 1)]
    assert flex.einsum_path("ij,jk,kl->il", a, b, c, optimize=False)[0][1:] == [(0, 1), (0, 1)]
    path, text = flex.einsum_path("ij,jk,kl->il", a, b, c, optimize="optimal")
    assert (
        path == np.einsum_path("ij,jk,kl->il", *map(np.asarray, (a, b, c)), optimize="optimal")[0]
    )
    assert "Complete contraction:  ij,jk,kl->il" in text
    assert "kl,jk->lj" in text
    assert flex.einsum_path("ij->", a)[0] == ["einsum_path", (0,)]
    expected = flex.einsum("ij,jk,kl->il", a, b, c).tolist()
    for optimize in (
        [(0, 1), (0, 1)],
        ["einsum_path", (0, 2), (0, 1)],
        ["einsum_path", [2, 0, 1]],
        ("optimal", 10),
        ("greedy", 0),
        (np.array([1, 2]), (0, 1)),
    ):
        assert flex.einsum("ij,jk,kl->il", a, b, c, optimize=optimize).tolist() == expected
    for optimize in (
        [(0, 1)],
        [(0, 3), (0, 1)],
        [(0, 0), (0, 1)],
        [(0, -1), (0, 1)],
        "best",
        1.5,
        ("greedy",),
        ("greedy", "x"),
        ["einsum_path", 1.5],
    ):
        with pytest.raises(ValueError, match="einsum"):
            flex.einsum("ij,jk,kl->il", a, b, c, optimize=optimize)


X = flex.ones((2, 3))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("ij,jk->ik", X, X), flex.ShapeError, r"label 'j' is 3 in operand 0, of shape \[2, 3\], but 2 in operand 1"),
        (("ii", X), flex.ShapeError, "label 'i' is 2 in operand 0"),
        (("...,...", X, flex.ones(4)), flex.ShapeError, "dimension -1 of '...' is 3"),
        (("ijk", X), flex.ShapeError, "operand 0"),
        (("i", X), flex.ShapeError, "operand 0"),
        (("ij", X, X), ValueError, "subscripts of 1 operands, but 2 given"),
        (("ij->ik", X), ValueError, "'k'"),
        (("ij->ii", X), ValueError, "'i' occurs twice"),
        (("...j->j", X), ValueError, "the output lacks"),
        (("i+", X), ValueError, r"'\+' is neither a letter"),
        (("ij",), ValueError, "subscripts of 1 operands, but 0 given|no operand"),
        (("\udc80", X), ValueError, "surrogate"),
        ((X, [0, 52]), ValueError, "label 52"),
        ((X, [0, -1]), ValueError, "label -1"),
        ((X, ["i", "j"]), TypeError, "integer"),
        ((X, 1), TypeError, "expected subscripts as a string, or a list of integers"),
        ((X,), TypeError, "expected"),
        (("ij", [[1, 2]]), TypeError, "operand 0: expected a Tensor"),
        ((None, X), TypeError, "einsum"),
    ],
)  # fmt: skip
def test_errors(arguments, error, message):
    with pytest.raises(error, match=message) as raised:
        flex.einsum(*arguments)
    assert str(raised.value).startswith("einsum")


def test_all_letters():
    letters = string.ascii_letters
    x = flex.asarray([[1, 1], [0, 1]])
    chain = ",".join(a + b for a, b in itertools.pairwise(letters))
    assert flex.einsum(f"{chain}->aZ", *[x] * 51).tolist() == [[1, 51], [0, 1]]


def test_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(2)
    cases = {
        "ijk,jlk->il": [(40, 30, 50), (30, 70, 50)],
        "ijb,jkb->ikb": [(20, 30, 40), (30, 20, 40)],
        "ab,ba->": [(300, 400), (400, 300)],
        "a,b,ab->": [(300,), (400,), (300, 400)],
    }
    before = flex.get_num_threads()
    try:
        for text, shapes in cases.items():
            tensors = [flex.asarray(rng.random(s, dtype=np.float32)) for s in shapes]
            found = set()
            for threads in (1, 2, 7):
                flex.set_num_threads(threads)
                found.add(flex.einsum(text, *tensors).tobytes())
            assert len(found) == 1, text
    finally:
        flex.set_num_threads(before)


def test_in_fuse_and_stream():
    def f(x, y):
        return flex.einsum("ij,jk->ki", x * 2, y) + flex.einsum("ij->ji", x)[0, 0]

    x, y = flex.asarray(np.arange(6.0).reshape(2, 3)), flex.asarray(np.arange(12.0).reshape(3, 4))
    expected = f(x, y).tolist()
    fused = flex.fuse(f)
    for _ in range(2):
        assert fused(x, y).tolist() == expected
    assert fused(x + 1, y).tolist() == f(x + 1, y).tolist()
    by_lists = flex.fuse(lambda x: flex.einsum(x + 1, [0, 1], [1, 0]) * 2)
    assert by_lists(x).tolist() == ((x + 1).T * 2).tolist()
    with flex.stream():
        z = f(x, y)
        path, _ = flex.einsum_path("ij,jk", x + 1, y)
    assert z.tolist() == expected
    assert path == ["einsum_path", (0, 1)]


def test_numbers_keep_their_digits_beside_tensors():
    x = flex.asarray(np.random.default_rng(4).random(5))
    assert (flex.einsum("i,->i", x, 0.1) == x * 0.1).all()
    assert flex.einsum(",i->i", 0.1, x.astype("float32")).dtype == flex.float32
    ones = flex.ones(5)  # float32, and before the widest of the tensors
    assert (flex.einsum("i,i,->i", ones, x, 0.1) == flex.einsum("i,i,->i", x, ones, 0.1)).all()
