"""Fused functions and the objects that they hold, tensors that leave their trace, nesting, failed calls, and long functions."""

import copy
import functools
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from test_fuse import X, Y, equal

import flex
from flex import _flex


class Owner:
    """Can be referenced weakly."""

    def method(self, x):
        return x * self.w if hasattr(self, "w") else x + 1


def collected(make):
    """Asserts that the objects of a cycle which `make` returns the first of are collected."""
    gc.collect()
    gone = weakref.ref(make())
    gc.collect()
    assert gone() is None


def of_a_method():
    owner = Owner()
    owner.f = flex.fuse(owner.method)
    return owner


def of_a_called_method():
    owner = Owner()
    owner.w = flex.ones(3)
    owner.f = flex.fuse(owner.method)
    owner.f(X)
    return owner


def of_a_partial():
    owner = Owner()
    owner.f = flex.fuse(functools.partial(Owner.method, owner))
    owner.f(X)
    return owner


def of_a_closure():
    owner = Owner()
    owner.f = flex.fuse(lambda x: owner.method(x))
    owner.f(X)
    return owner


def of_an_attribute():
    f = flex.fuse(lambda x: x)
    f.itself = f
    return f


def of_a_result():
    owner = Owner()
    owner.f = flex.fuse(lambda x: (x, owner))
    owner.f(X)
    return owner


def of_a_key_of_a_result():
    owner = Owner()
    owner.f = flex.fuse(lambda x: {owner: x})
    owner.f(X)
    return owner


def of_an_argument():
    owner = Owner()
    owner.f = flex.fuse(lambda x, o: x + 1)
    owner.f(X, owner)
    return owner


def of_a_guarded_object():
    owner = Owner()
    owner.activation = lambda x: owner.f(x) if False else x
    owner.f = flex.fuse(lambda x: owner.activation(x))
    owner.f(X)
    return owner


def of_a_reduction():
    owner = Owner()
    owner.step = lambda a, x: a + x + (owner is None)
    flex.reduce(owner.step, 0.0, X, join=flex.add)
    for _ in range(70):  # others take its place in the cache
        flex.reduce(lambda a, x: a + x, 0.0, Y, join=flex.add)
    return owner


class TestCycles:
    """Cycles of fused functions and what they hold."""

    @pytest.mark.parametrize(
        "make",
        [
            of_a_method,
            of_a_called_method,
            of_a_partial,
            of_a_closure,
            of_an_attribute,
            of_a_result,
            of_a_key_of_a_result,
            of_an_argument,
            of_a_guarded_object,
            of_a_reduction,
        ],
    )
    def test_they_are_collected(self, make):
        collected(make)

    def test_every_class_that_can_hold_an_object(self):
        """The garbage collector visits it, or it only holds objects that hold no others."""
        leaves = {
            "Tensor",  # memory of other libraries, which a collector doesn't see in NumPy's arrays either
            "QTensor",
            "KVCache",
            "DType",
            "Stream",
            "TensorIterator",  # a tensor
            "Info",
            "threads",
            "finfo_object",  # a dtype
            "iinfo_object",
            "Replacement",
            "Lease",  # what lends memory: part of a tensor
        }
        modules = [_flex, *(x for x in vars(_flex).values() if type(x) is type(_flex))]
        classes = {c for m in modules for c in vars(m).values() if isinstance(c, type)}
        classes |= {type(flex.fuse(len)), type(iter(flex.ones(1))), type(flex.finfo("float32"))}
        classes |= {type(flex.Tensor.__dict__["sum"]), type(flex.iinfo("int8"))}
        classes = {
            c
            for c in classes
            if c.__module__.startswith("flex") and not issubclass(c, BaseException)
        }
        tracked = {c.__name__ for c in classes if c.__flags__ & (1 << 14)}
        assert {"Fused", "_Method"} <= tracked
        for c in classes:
            own = (
                c.__flags__ & (1 << 9) or c.__module__ == "flex._tracing"
            )  # a class of Python's or a heap type
            assert c.__name__ in tracked | leaves, (c, own)

    def test_reductions_do_not_accumulate(self):
        def step(a, x):
            return a + x

        def rounds(n):
            for k in range(n):
                flex.reduce(step, float(k), Y, join=flex.add)
            gc.collect()
            return len(gc.get_objects())

        rounds(80)
        before = rounds(100)
        assert rounds(100) <= before + 20

    def test_reductions_are_released_at_once(self):
        gc.collect()
        gc.disable()
        try:
            step = functools.partial(lambda w, a, x: a + x, Owner())
            gone = weakref.ref(step.args[0])
            flex.reduce(step, 0.0, Y, join=flex.add)
            from flex import _reduce

            _reduce._functions.cache_clear()
            del step
            assert gone() is None
        finally:
            gc.enable()


class TestEscaped:
    """A traced tensor that is used after its function has returned."""

    @pytest.fixture
    def escaped(self):
        kept = []

        def f(x):
            kept.append(x * 2)
            return x

        flex.fuse(f)(X)
        return kept[0]

    @pytest.mark.parametrize(
        "use",
        [
            lambda t: t + 1,
            lambda t: 1 - t,
            lambda t: -t,
            lambda t: t == t,
            lambda t: X + t,
            lambda t: t @ t.T,
            lambda t: t.tolist(),
            lambda t: t.numpy(),
            lambda t: np.asarray(t),
            lambda t: np.add(t, 1),
            lambda t: t.item(),
            lambda t: float(t),
            lambda t: int(t),
            lambda t: bool(t),
            lambda t: complex(t),
            lambda t: str(t),
            lambda t: f"{t}",
            lambda t: t[0],
            lambda t: t[[0]],
            lambda t: t[t > 0],
            lambda t: t.T,
            lambda t: list(t),
            lambda t: list(reversed(t)),
            lambda t: t.copy(),
            lambda t: t.astype("float64"),
            lambda t: t.view("int32"),
            lambda t: t.reshape(-1),
            lambda t: t.sum(),
            lambda t: t.sort(),
            lambda t: t.to_device("cpu", copy=True),
            lambda t: memoryview(t),
            lambda t: t.__dlpack__(),
            lambda t: t.__array_interface__,
            lambda t: t.__setitem__(0, 1),
            lambda t: t.__iadd__(1),
            lambda t: X.copy().__iadd__(t),
            lambda t: t.__imatmul__(t),
            lambda t: t.__reduce_ex__(5),
            lambda t: divmod(t, 2),
            lambda t: round(t),
            lambda t: 1 in t,
            lambda t: flex.sum(t),
            lambda t: flex.exp(t),
            lambda t: flex.sort(t),
            lambda t: flex.concat([X, t]),
            lambda t: flex.asarray([t[0], 1.0]),
            lambda t: flex.where(t > 0, t, 0),
            lambda t: flex.matmul(t, X.T),
            lambda t: flex.nn.softmax(t, -1),
            lambda t: flex.nn.linear(X, t),
            lambda t: flex.nn.scaled_dot_product_attention(t[None], t[None], t[None]),
            lambda t: flex.io.save("/dev/null.npy", t),
            lambda t: flex.fuse(lambda x: x + 1)(t),
            lambda t: flex.fuse(lambda x: x + t)(X),
            lambda t: flex.fuse(lambda x: (x, t))(X),
            lambda t: flex.fuse(lambda x: flex.sort(t))(X),
            lambda t: flex.explain(lambda x: x + 1, t),
            lambda t: flex.fuse(lambda x: x + 1)(X, out=t),
            lambda t: flex.reduce(lambda a, x: a + x, 0.0, t),
            lambda t: flex.quant.quantize(t),
            lambda t: flex.fft.fft(t),
            lambda t: flex.linalg.matrix_transpose(t) + 1,
        ],
    )
    def test_every_use_is_an_ordinary_error(self, escaped, use):
        with pytest.raises(TypeError, match="traced"):
            use(escaped)

    def test_within_a_stream(self, escaped):
        with flex.stream(), pytest.raises(TypeError, match="traced"):
            (escaped + 1).tolist()

    def test_it_can_still_be_shown(self, escaped):
        assert repr(escaped) == "Tensor(traced, shape=(2, 3), dtype=float32)"
        assert (escaped.shape, escaped.dtype) == ((2, 3), flex.float32)

    def test_of_a_function_that_raised(self):
        kept = []

        def f(x):
            kept.append(x)
            raise LookupError

        with pytest.raises(LookupError):
            flex.fuse(f)(X)
        with pytest.raises(TypeError, match="traced"):
            kept[0] + 1

    def test_in_another_thread(self):
        raised = []

        def use(x):
            try:
                (x + 1).tolist()
            except Exception as e:
                raised.append(e)

        def f(x):
            thread = threading.Thread(target=use, args=(x,))
            thread.start()
            thread.join()
            return x

        flex.fuse(f)(X)
        assert [type(e) for e in raised] == [TypeError]


class TestUnpacking:
    """Sizes are known, so a tensor can be iterated over."""

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: (lambda q, k, v: q * k - v)(*(x.T * 2)),
            lambda x: sum(row * k for k, row in enumerate(x)),
            lambda x: [2 * row for row in reversed(x)],
            lambda x: [first + last for first, *_, last in [x, x.T]],
            lambda x: dict(enumerate(x.T + 1)),
            lambda x: [y for row in x for y in row],
            lambda x: list(map(flex.sum, x)),
        ],
    )
    def test_results(self, f):
        def flat(y):
            return list(y.values()) if isinstance(y, dict) else y if isinstance(y, list) else [y]

        for x in (X, X * 2):
            for got, expected in zip(flat(flex.fuse(f)(x)), flat(f(x)), strict=True):
                equal(got, expected)

    def test_three_of_a_projection(self):
        weight = flex.linspace(-1, 1, 27).reshape((9, 3))

        @flex.fuse
        def f(x):
            q, k, v = flex.nn.linear(x, weight).reshape((2, 3, 3)).permute_dims((1, 0, 2))
            return q * k + v

        q, k, v = flex.nn.linear(X, weight).reshape((2, 3, 3)).permute_dims((1, 0, 2))
        equal(f(X), q * k + v)

    def test_other_counts(self):
        @flex.fuse
        def f(x):
            a, b = x
            return a - b

        equal(f(X), X[0] - X[1])
        with pytest.raises(ValueError, match="unpack"):
            f(X.T)
        with pytest.raises(TypeError, match="0-dimensional"):
            f(X[0, 0])

    def test_writes_are_not_seen(self):
        def f(x):
            y, total = x * 1, 0
            for row in y:
                y[1] = 0
                total = total + row
            return total + y

        equal(flex.fuse(f)(X), f(X))


def nested(levels, kind):
    x = X
    for _ in range(levels):
        x = [x] if kind is list else (x,) if kind is tuple else {"x": x}
    return x


def unnested(x):
    while not isinstance(x, flex.Tensor):
        x = x["x"] if isinstance(x, dict) else x[0]
    return x


class TestNesting:
    """Arguments and results that are nested."""

    @pytest.mark.parametrize("kind", [list, tuple, dict])
    def test_deep(self, kind):
        fused = flex.fuse(lambda x: unnested(x) * 2)
        equal(fused(nested(150, kind)), X * 2)
        returned = flex.fuse(lambda x: nested_again(x, 150, kind))(X)
        equal(unnested(returned), X)

    @pytest.mark.parametrize("kind", [list, tuple, dict])
    @pytest.mark.parametrize("levels", [201, 20_000])
    def test_too_deep(self, kind, levels):
        deep = nested(levels, kind)
        message = "nested"
        try:
            with pytest.raises(ValueError, match=message):
                flex.fuse(lambda x: X + 0)(deep)
            with pytest.raises(ValueError, match=message):
                flex.fuse(lambda x=None: X + 0)(x=deep)
            with pytest.raises(ValueError, match=message):
                flex.explain(lambda x: X + 0, deep)
            with pytest.raises(ValueError, match=message):
                flex.fuse(lambda x: (x, deep))(X)
            with pytest.raises((TypeError, ValueError)):
                flex.fuse(lambda x: flex.concat([x, deep]))(X)
        finally:
            while isinstance(
                deep, (list, dict)
            ):  # of deep objects, Python's own deallocation recurses
                deep = deep.pop() if isinstance(deep, list) else deep.popitem()[1]

    def test_an_argument_in_itself(self):
        x, d = [X], {"x": X}
        x.append(x)
        d["d"] = d
        for argument in (x, d, (x, d)):
            with pytest.raises(ValueError, match="itself"):
                flex.fuse(lambda x: X + 0)(argument)
            with pytest.raises(ValueError, match="itself"):
                flex.explain(lambda x: X + 0, argument)
            with pytest.raises(ValueError, match="itself"):
                flex.fuse(lambda y: argument)(X)  # noqa: B023

    def test_what_a_function_uses_may_contain_itself(self):
        x, owner = [X], Owner()
        x.append(x)
        owner.w, owner.itself, owner.x = X, owner, x
        fused = flex.fuse(lambda y: y * owner.itself.itself.w + owner.x[1][0])
        equal(fused(X), X * X + X)
        owner.w = X * 2
        x[0] = X * 3
        equal(fused(X), X * X * 2 + X * 3)


def nested_again(x, levels, kind):
    for _ in range(levels):
        x = [x] if kind is list else (x,) if kind is tuple else {"x": x}
    return x


class TestFailedCalls:
    """A call that fails leaves its arguments as they were."""

    @pytest.mark.parametrize(
        "out",
        [
            flex.zeros(5),
            flex.zeros((2, 3), dtype="int32"),
            (flex.zeros((2, 3)),) * 2,
            3,
            [1.0],
            range(2**40),
        ],
    )
    def test_of_out(self, out):
        fused = flex.fuse(lambda x, y: x * 2 + y, donate=(0,))
        x = X.copy()
        for _ in range(2):
            with pytest.raises((TypeError, ValueError)):
                fused(x, Y, out=out)
            equal(x, X)
        result = flex.zeros((2, 3))
        fused(x, Y, out=result)
        equal(result, X * 2 + Y)
        assert x.shape == (0,)

    def test_of_the_function(self):
        fused = flex.fuse(lambda x, y: (x * 2)[y * 1] + x // x.astype("int32"), donate=(0, 1))
        x, y = flex.asarray([1, 2, 3]), flex.asarray([0, 9, 1])
        with pytest.raises(IndexError):
            fused(x, y)
        assert (x.tolist(), y.tolist()) == ([1, 2, 3], [0, 9, 1])
        y = flex.asarray([0, 1, 1])
        assert fused(x, y).tolist() == [3, 5, 5]
        assert (x.shape, y.shape) == ((0,), (0,))

    def test_of_a_shape(self):
        fused = flex.fuse(lambda x, y: x * 2 + y, donate=(0,))
        x = X.copy()
        with pytest.raises(flex.ShapeError):
            fused(x, flex.ones(4))
        equal(x, X)

    def test_one_tensor_for_two_results(self):
        out = flex.zeros((2, 3))
        with pytest.raises(ValueError, match="results 0 and 1"):
            flex.fuse(lambda x: (x + 1, x + 2))(X, out=(out, out))
        assert not flex.any(out)

    def test_a_donated_tensor_as_out(self):
        x = X.copy()
        with pytest.raises(ValueError, match="donated"):
            flex.fuse(lambda x: x + 1, donate=(0,))(x, out=x)
        equal(x, X)

    def test_out_within_another_function(self):
        inner, out = flex.fuse(lambda x: x + 1), flex.zeros((2, 3))
        with pytest.raises(TypeError, match="out"):
            flex.fuse(lambda x: inner(x, out=out))(X)


def test_a_function_traced_within_another_uses_its_tensors():
    def outer(x):
        inner = flex.fuse(lambda z: flex.concat([z, x]) * 2)
        return inner(flex.ones((1, 3)))

    equal(flex.fuse(outer)(X), flex.concat([flex.ones((1, 3)), X]) * 2)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: functools.reduce(
            lambda y, k: y * 1.0001 + 0.5 if k % 2 else y - 0.25, range(n), x
        ),
        lambda x, n: [x * k for k in range(n // 20)],
        lambda x, n: functools.reduce(
            lambda y, k: flex.sum(y, keepdims=True) * 0.5 + x, range(n // 10), x
        ),
        lambda x, n: functools.reduce(lambda y, k: y[::-1] + k, range(n // 10), x),
        lambda x, n: functools.reduce(lambda y, k: y + flex.ones(4) * k, range(n // 10), x),
    ],
)
def test_long_functions(f):
    got, expected = flex.fuse(lambda x: f(x, 4000))(flex.ones(4)), f(flex.ones(4), 4000)
    several = isinstance(expected, list)
    for a, b in zip(got if several else [got], expected if several else [expected], strict=True):
        equal(a, b)


@flex.fuse
def doubled(x):
    return x + x


def test_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    assert copy.deepcopy({"f": doubled})["f"] is doubled
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(flex.fuse(lambda x: x))
