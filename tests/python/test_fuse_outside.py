"""What a fused function uses from outside: tensors are read anew at each call, all else is guarded by value."""

import functools
import gc
import threading
import types
import weakref
from collections import deque, namedtuple

import numpy as np
import pytest
from test_fuse import X, equal

import flex
from flex import nn

W = flex.asarray([1.0, 2.0, 3.0])
SCALE = 2.0
TABLE = {"w": W, "b": [1.0, flex.ones(3)]}
KIND = "relu"


def helper(x):
    return x * W + SCALE


class Net:
    """A module in the style of other libraries."""

    eps = 0.5
    shared = flex.asarray([3.0, 1.0, 2.0])

    def __init__(self, scale=1.0):
        self.w = flex.asarray([1.0, 2.0, 3.0]) * scale
        self.bias = None
        self.rate = 2.0
        self.layers = [types.SimpleNamespace(w=flex.ones(3) * k, on=True) for k in range(1, 3)]
        self.state = {"mean": flex.zeros(3), "count": 2}
        self.calls = 0

    @property
    def doubled(self):
        return self.w * 2

    def activation(self, x):
        return flex.relu(x) + self.eps

    def forward(self, x):
        self.calls += 1
        y = self.activation(x * self.w * self.rate) + self.shared + self.doubled
        for layer in self.layers:
            y = y * layer.w if layer.on else y - layer.w
        y = y - self.state["mean"] * self.state["count"]
        return y if self.bias is None else y + self.bias

    __call__ = forward


def set_attribute(net):
    net.w = net.w + 1


def set_in_place(net):
    net.w[0] = 9
    net.w *= 2


def set_number(net):
    net.rate = 3.5


def set_number_of_another_kind(net):
    net.rate = 2


def set_bias(net):
    net.bias = flex.asarray([1.0, 0.0, -1.0])


def set_entry(net):
    net.state["mean"] = flex.ones(3)


def set_entry_number(net):
    net.state["count"] = 7


def set_layer(net):
    net.layers[1].w = net.layers[1].w - 5


def set_layer_flag(net):
    net.layers[0].on = False


def replace_layer(net):
    net.layers[0] = types.SimpleNamespace(w=flex.asarray([7.0, 8.0, 9.0]), on=True)


def append_layer(net):
    net.layers.append(types.SimpleNamespace(w=flex.asarray([2.0, 2.0, 4.0]), on=True))


def set_class_attribute_of_the_instance(net):
    net.eps = -1.0
    net.shared = flex.asarray([0.0, 1.0, 0.0])


def replace_a_method(net):
    net.activation = flex.tanh


def set_dtype(net):
    net.w = net.w.astype("float64")


def tie(net):
    net.layers[0].w = net.layers[1].w = net.w


CHANGES = [
    set_attribute,
    set_in_place,
    set_number,
    set_number_of_another_kind,
    set_bias,
    set_entry,
    set_entry_number,
    set_layer,
    set_layer_flag,
    replace_layer,
    append_layer,
    set_class_attribute_of_the_instance,
    replace_a_method,
    set_dtype,
    tie,
]


class TestMethods:
    """`self` is an argument like any other."""

    @pytest.mark.parametrize("change", CHANGES)
    @pytest.mark.parametrize(
        "fuse",
        [
            lambda net: flex.fuse(net.forward),
            lambda net: flex.fuse(net),
            lambda net: flex.fuse(lambda x: net(x)),
            lambda net: functools.partial(flex.fuse(lambda n, x: n.forward(x)), net),
            lambda net: flex.fuse(functools.partial(Net.forward, net)),
        ],
    )
    def test_changes_between_calls_are_seen(self, change, fuse):
        net = Net()
        fused = fuse(net)
        equal(fused(X), net.forward(X))
        change(net)
        for _ in range(2):
            equal(fused(X), net.forward(X))

    def test_changes_one_after_another(self):
        net = Net()
        fused = flex.fuse(net.forward)
        for change in CHANGES:
            equal(fused(X), net.forward(X))
            change(net)
            equal(fused(X), net.forward(X))

    def test_tensors_that_change_are_not_traced_again(self):
        net = Net()
        fused = flex.fuse(net.forward)
        fused(X)
        assert net.calls == 1
        for k in range(5):
            net.w = net.w + k
            net.w[1] = k
            net.state["mean"] = flex.full(3, float(k))
            net.layers[0].w = flex.full(3, k + 0.5)
            fused(X)
        assert net.calls == 1
        net.w = flex.ones(1)  # broadcasts
        fused(X)
        assert net.calls == 2

    def test_a_decorated_method_serves_each_instance(self):
        class Scaled:
            def __init__(self, w):
                self.w = w

            @flex.fuse
            def __call__(self, x):
                return x * self.w + 1

            @flex.fuse
            def twice(self, x):
                return self(x) + self(x)

        a, b = Scaled(flex.asarray([1.0, 2.0, 3.0])), Scaled(flex.asarray([4.0, 5.0, 6.0]))
        for _ in range(2):
            for net in (a, b):
                equal(net(X), X * net.w + 1)
                equal(net.twice(X), (X * net.w + 1) * 2)
                net.w = net.w + 1

    def test_instances_are_held_weakly(self):
        class Scaled:
            def __init__(self):
                self.w = flex.ones(3)

            @flex.fuse
            def forward(self, x):
                return x * self.w + flex.ones(3)

        for _ in range(3):  # the next instance may have the address of the last
            net = Scaled()
            net.w = flex.full(3, float(_))
            gone = weakref.ref(net)
            equal(net.forward(X), X * float(_) + 1)
            del net
            assert gone() is None

    def test_slots_and_named_tuples(self):
        class Slotted:
            __slots__ = ("w",)

        pair = namedtuple("pair", "w b")
        net = Slotted()
        net.w = pair(flex.ones(3), 2.0)
        fused = flex.fuse(lambda x: x * net.w.w + net.w.b)
        for w, b in [(1.0, 2.0), (2.0, 2.0), (3.0, 4.0)]:
            net.w = pair(flex.full(3, w), b)
            equal(fused(X), X * w + b)


class TestVariables:
    """Globals, cells and defaults."""

    def test_globals(self, monkeypatch):
        def f(x):
            return helper(x) + TABLE["w"] * TABLE["b"][0] + TABLE["b"][1] + getattr(flex, KIND)(x)

        fused = flex.fuse(f)
        equal(fused(X), f(X))
        for name, value in [
            ("W", flex.asarray([5.0, 6.0, 7.0])),
            ("SCALE", -1.5),
            ("TABLE", {"w": W * 3, "b": [2.0, flex.zeros(3)]}),
            ("KIND", "tanh"),
            ("helper", lambda x: x - 1),
        ]:
            monkeypatch.setitem(globals(), name, value)
            equal(fused(X), f(X))

    def test_cells(self):
        w, b = flex.ones(3), 1.0

        def f(x):
            def inner(y):
                return y * w + b

            return inner(x) - inner(x * 2)

        fused = flex.fuse(f)
        equal(fused(X), f(X))
        w = w * 3
        equal(fused(X), f(X))
        b = 4.0
        equal(fused(X), f(X))
        w = flex.asarray([[1.0], [2.0]])
        equal(fused(X), f(X))

    def test_defaults(self):
        w = flex.ones(3)

        options = [2.0]

        def f(x, w=w, *, b=options):
            return x * w + b[0]

        fused = flex.fuse(f)
        equal(fused(X), f(X))
        w[1] = 5
        equal(fused(X), f(X))
        options[0] = 3.0
        equal(fused(X), f(X))

    @pytest.mark.parametrize(
        "values",
        [[0.0, -0.0, 0.0], [1.0, float("nan"), 2.0], [1j, 1 - 0j, 1 + 0j], [1, True, 1.0]],
    )
    def test_signs_and_types_of_numbers(self, values):
        net = types.SimpleNamespace(at=values[0])

        def f(x):
            return flex.copysign(x, net.at) if type(net.at) is float else x * net.at

        fused = flex.fuse(f)
        for net.at in [*values, *values]:
            equal(fused(X), f(X))

    @pytest.mark.parametrize("container", [list, tuple, deque])
    def test_containers(self, container):
        ws = container([flex.ones(3), flex.ones(3) * 2])

        def f(x):
            for w in ws:
                x = x * w + len(ws)
            return x

        fused = flex.fuse(f)
        equal(fused(X), f(X))
        ws = container([flex.asarray([1.0, 4.0, 2.0]), *ws])
        equal(fused(X), f(X))
        ws[1][0] = 3
        equal(fused(X), f(X))

    def test_attributes_by_a_string(self):
        net = types.SimpleNamespace(w0=flex.ones(3), w1=flex.ones(3) * 2)

        def f(x):
            for k in range(2):
                x = x * getattr(net, f"w{k}")
            return x - 1 if hasattr(net, "shift") else x

        fused = flex.fuse(f)
        equal(fused(X), f(X))
        net.w1 = net.w0 * 7
        equal(fused(X), f(X))
        net.shift = None
        equal(fused(X), f(X))

    def test_what_is_computed_from_outside_only(self):
        w = flex.asarray([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])

        def f(x):
            weight = flex.exp(w).T[:, ::-1].astype("float64") * 2
            a, b = w
            return (
                (x @ weight.astype("float32")) * flex.sort(w, axis=0)[:, :2]
                + nn.softmax(a, -1)[0] * w[1, 2]
                + flex.sum(b)
            )

        fused = flex.fuse(f)
        equal(fused(X), f(X))
        w[0] = flex.asarray([3.0, -2.0, 0.5])
        equal(fused(X), f(X))
        w = w * -2
        equal(fused(X), f(X))

    def test_elements_that_are_needed_are_guarded_by_value(self):
        n, mask, shape = flex.asarray(2), flex.asarray([True, False, True]), flex.asarray([3, 2])
        calls = 0

        def f(x):
            nonlocal calls
            calls += 1
            y = x[:, mask] * int(n) + flex.nonzero(mask)[0][0]
            return flex.reshape(x * 1, tuple(shape.tolist())) * flex.sum(y)

        fused = flex.fuse(f)
        equal(fused(X), f(X))
        fused(X)
        assert calls == 2
        n += 1
        equal(fused(X), f(X))
        mask[1] = True
        equal(fused(X), f(X))
        shape = flex.asarray([2, 3])
        equal(fused(X), f(X))
        mask = mask | mask  # equal elements
        calls = 0
        fused(X)
        assert calls == 0

    def test_arrays_of_numpy(self):
        net = types.SimpleNamespace(
            w=np.ones(3, "f"), at=np.asarray([1, 0]), mask=np.asarray([True, False, True])
        )

        def f(x):
            return (x * net.w)[net.at][:, net.mask] + flex.take(x, net.at, axis=0)[:, :1]

        fused = flex.fuse(f)
        equal(fused(X), f(X))
        net.w[1] = 4
        equal(fused(X), f(X))
        net.w = np.full(3, 7, "f")
        equal(fused(X), f(X))
        net.at[0] = 0
        equal(fused(X), f(X))
        net.mask[1] = True
        equal(fused(X), f(X))

    def test_two_variables_of_one_tensor(self):
        a = b = flex.ones(3)
        fused = flex.fuse(lambda x: x * a - b)
        equal(fused(X), X - 1)
        b = flex.full(3, 5.0)
        equal(fused(X), X - 5)
        a, b = b, a
        equal(fused(X), X * 5 - 1)

    def test_nested_functions_and_reductions(self):
        w, c = flex.asarray([1.0, 2.0, 3.0]), flex.linspace(0, 1, 50)
        inner = flex.fuse(lambda x: x * w)

        def f(x):
            total = flex.reduce(lambda s, y: s + y * y, 0.0, c, join=flex.add)
            return inner(x) + inner(w) * inner(flex.ones(3)) + total

        fused = flex.fuse(f)
        np.testing.assert_allclose(fused(X).numpy(), f(X).numpy(), rtol=1e-6)
        w = w + 1
        c = c * 2
        np.testing.assert_allclose(fused(X).numpy(), f(X).numpy(), rtol=1e-6)

    def test_captures_of_a_reduction(self):
        scale = flex.asarray(2.0)

        def step(a, x):
            return a + x * scale

        x = flex.asarray([1.0, 2.0, 3.0])
        assert flex.reduce(step, 0.0, x, join=flex.add).item() == 12
        scale = flex.asarray(3.0)
        assert flex.reduce(step, 0.0, x, join=flex.add).item() == 18


class TestConstants:
    """What is made while a function is traced."""

    def test_it_stays(self):
        made = []

        def f(x):
            made.append(flex.ones(3) * len(made))
            return x + made[-1] + flex.arange(3)

        fused = flex.fuse(f)
        for _ in range(3):
            equal(fused(X), X + flex.arange(3))
        assert len(made) == 1

    def test_a_constant_that_is_returned_is_a_new_tensor(self):
        fused = flex.fuse(lambda x: (x, flex.zeros(3), W))
        for _ in range(2):
            _, zeros, w = fused(X)
            zeros += 1
            w += 1
            assert zeros.tolist() == [1, 1, 1]
        assert W.tolist() == [1, 2, 3]

    def test_side_effects_do_not_trace_again(self):
        net = Net()
        fused = flex.fuse(net.forward)
        for dtype in ("float32", "float64", "float32", "float64"):
            fused(X.astype(dtype))
        assert net.calls == 2


class TestRefused:
    """What can't be followed is an error when the function is traced."""

    def test_a_tensor_out_of_reach(self):
        cached = functools.lru_cache(maxsize=None)(lambda: flex.ones(3))
        cached()
        with pytest.raises(TypeError, match="can't follow a tensor"):
            flex.fuse(lambda x: x * cached())(X)
        with pytest.raises(TypeError, match="can't follow a tensor"):
            flex.fuse(lambda x: flex.concat([x[0], cached()]))(X)
        with pytest.raises(TypeError, match="can't follow a tensor"):
            flex.fuse(lambda x: (x, cached()))(X)
        rows = iter([flex.ones(3)])
        with pytest.raises(TypeError, match="can't follow a tensor"):
            flex.fuse(lambda x: x * next(rows))(X)

    @pytest.mark.parametrize("kind", ["attribute", "variable", "entry"])
    def test_an_assignment_outside(self, kind):
        net, w, table = types.SimpleNamespace(w=flex.ones(3)), flex.ones(3), {"w": flex.ones(3)}

        def f(x):
            nonlocal w
            if kind == "attribute":
                net.w = net.w + x
            elif kind == "variable":
                w = w + x
            else:
                table["w"] = table["w"] + x
            return x

        with pytest.raises(
            TypeError,
            match=f"assigns a tensor that it computes to .*{'w' if kind != 'variable' else 'variable'}",
        ):
            flex.fuse(f)(X)

    @pytest.mark.parametrize(
        "statement", ["w[0] = 1", "w[0] = x[0, 0]", "w += 1", "w *= x[0]", "w @= flex.ones((3, 3))"]
    )
    def test_a_write_to_a_tensor_outside(self, statement):
        within = {"flex": flex, "w": flex.ones(3)}
        exec(f"def f(x):\n    global w\n    {statement}\n    return x * w", within)
        with pytest.raises(TypeError, match="writes to a tensor from outside"):
            flex.fuse(within["f"])(X)
        assert within["w"].tolist() == [1, 1, 1]

    def test_too_much(self):
        many = {k: float(k) for k in range(200_000)}
        with pytest.raises(TypeError, match="can't follow"):
            flex.fuse(lambda x: x * many[3])(X)


def test_other_threads_use_the_tensors_meanwhile():
    """While one thread traces a function, others read and write what it uses."""
    net = types.SimpleNamespace(w=flex.ones(4))
    failed, done = [], threading.Event()

    def work():
        try:
            while not done.is_set():
                y = (net.w * 2).tolist()
                assert len(y) == 4
                net.w += 1
                net.w[1] = float(net.w[0])
                assert net.w.shape == (4,)
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        f = flex.fuse(lambda x: flex.exp(x - net.w) * net.w.shape[0])
        assert f(flex.ones(4)).shape == (4,)
    done.set()
    for thread in threads:
        thread.join()
    assert failed == []


def test_two_threads_trace_with_one_tensor():
    w, failed = flex.asarray([1.0, 2.0]), []
    start = threading.Barrier(2)

    def work():
        try:
            for _ in range(100):
                start.wait()
                f = flex.fuse(lambda x: x * w + flex.flip(w))
                assert f(flex.ones(2)).tolist() == [3, 3]
        except BaseException as e:
            failed.append(e)
            start.abort()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert (w + 1).tolist() == [2, 3]


def test_memory_of_old_weights_is_released(in_use):
    net = types.SimpleNamespace(w=flex.ones(100_000))
    fused = flex.fuse(lambda x: flex.sum(x * net.w))
    fused(flex.ones(1))
    before = in_use()
    for k in range(5):
        net.w = flex.full(100_000, float(k))
        fused(flex.ones(1))
    gc.collect()
    assert in_use() <= before
