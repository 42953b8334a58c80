"""Random sequences of operations on borrowed memory next to guard pages, each result compared with NumPy's: one program per seed."""

import numpy as np
from arrays import (
    ALL,
    COMPLEX,
    EPS,
    FLOATS,
    HALVES,
    INTEGERS,
    NUMBERS,
    ORDERED,
    check,
    numpy_dtype,
    sum_error,
    to_numpy,
)
from families import family
from guarded import borrowed, shape_of
from networks import network
from test_elementwise import BINARY, LIMITS, UNARY, exact, near, reference

import flex

FLAT = [*INTEGERS, "float32", "float64"]


class World:
    """Tensors, and the arrays that they must equal."""

    def __init__(self, rng):
        self.rng, self.pairs, self.lent = rng, [], []

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def operand(self, dtype, shape, **values):
        """A new tensor that borrows guarded memory, and its array."""
        array = borrowed(dtype, shape, self.rng, **values)
        tensor = flex.asarray(array)
        copied = array.dtype.name == "bfloat16" or array.ctypes.data % min(
            array.itemsize, 8
        )  # no buffer format, or misaligned
        assert copied or not array.size or np.shares_memory(tensor.numpy(), array)
        self.lent.append((array, array.tobytes()))
        return tensor, array

    def one(self, dtypes=ALL, least=0, taken=False):
        """An existing or new operand of one of the dtypes, with at least `least` dimensions. Its array is a copy; with `taken`, the tensor
        is removed from the world, so that it may be written to."""
        fit = [p for p in self.pairs if p[1].dtype.name in dtypes and p[1].ndim >= least]
        if not fit or self.chance(0.3):
            shape = shape_of(self.rng)
            fit = [
                self.operand(
                    self.pick(dtypes), (*shape, *[self.pick([1, 2, 3, 5])] * (least - len(shape)))
                )
            ]
            self.pairs.append(fit[0])
        tensor, array = self.pick(fit)
        if taken:
            self.pairs = [p for p in self.pairs if p[0] is not tensor]
        return tensor, array.copy()

    def like(self, array, shape=None, **values):
        """Another operand of the same dtype, of the given shape or one that broadcasts to the array's."""
        if shape is None:
            shape = [1 if self.chance(0.25) else n for n in array.shape]
            shape = shape[int(self.rng.integers(len(shape) + 1)) :] if self.chance(0.2) else shape
        return self.operand(array.dtype.name, tuple(shape), **values)

    def positions(self, size, shape):
        """Positions on an axis, some of them counted from its end."""
        return self.operand(
            self.pick(["int64", "int32", "int8", "uint8"]),
            shape,
            low=-min(size, 100),
            high=min(size, 100),
        )

    def axis(self, array):
        return int(self.rng.integers(-array.ndim, array.ndim))

    def axes(self, array):
        if self.chance(0.3):
            return None
        return tuple(
            int(k)
            for k in self.rng.permutation(array.ndim)[: int(self.rng.integers(array.ndim + 1))]
        )

    def subscript(self, array):
        """A random subscript: integers, slices, new axes, a mask or index arrays."""
        items = []
        if array.ndim and self.chance(0.2):
            return array.astype(np.float64 if array.dtype.name in HALVES else array.dtype) != 0
        for n in array.shape[: int(self.rng.integers(array.ndim + 1))]:
            kind = self.pick(["integer", "slice", "slice", "all", "none", "positions"])
            if kind == "none":
                items.append(None)
            if kind == "integer" and n:
                items.append(int(self.rng.integers(-n, n)))
            elif kind == "positions" and n and not any(isinstance(k, np.ndarray) for k in items):
                items.append(self.rng.integers(-n, n, self.pick([1, 3, 40])))
            elif kind == "slice":
                bounds = [
                    None if self.chance(0.4) else int(self.rng.integers(-n - 1, n + 2))
                    for _ in range(2)
                ]
                items.append(slice(*bounds, self.pick([None, 1, 2, 3, -1, -2])))
            else:
                items.append(slice(None))
        return tuple(items)


def unit(array):
    """A scalar that fits the array's dtype."""
    return True if array.dtype.kind == "b" else 1


def tame(array):
    """Whether the values are in the range for which the references are tested to be accurate."""
    if array.dtype.kind in "biu":
        return (
            array.dtype.kind == "b"
            or not array.size
            or (int(array.max()) <= 64 and int(array.min()) >= -64)
        )
    magnitudes = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    return bool(
        (
            (magnitudes == 0) | ((magnitudes > 1e-2) & (magnitudes < 64)) | ~np.isfinite(magnitudes)
        ).all()
    )


def tame_one(w, dtypes, least=0, taken=False):
    x, a = w.one(dtypes, least, taken)
    return (x, a) if tame(a) else w.operand(w.pick(dtypes), a.shape)


def finite_one(w, dtypes, least=0):
    x, a = tame_one(w, dtypes, least)
    return (
        (x, a)
        if np.isfinite(a.astype(np.complex128)).all()
        else w.operand(a.dtype.name, a.shape, special=False)
    )


# Each takes a World and returns results with their tolerances: (tensor, array, ulps, absolute).


def unary(w):
    name = w.pick(list(UNARY))
    function, dtypes, rule, ulps = UNARY[name]
    x, a = tame_one(w, dtypes)
    dtype = a.dtype.name
    return [
        (
            getattr(flex, name)(x),
            reference(function, rule, name, a, dtype=dtype),
            exact(name, dtype, ulps),
            near(name, dtype, a),
        )
    ]


def binary(w):
    name = w.pick([n for n in BINARY if n != "nextafter"])
    function, dtypes, rule, ulps = BINARY[name]
    x, a = tame_one(w, dtypes)
    dtype = a.dtype.name
    low, high = LIMITS.get(name, (-9, 10)) if dtype in INTEGERS else (-9, 10)
    if name == "pow":
        x, a = w.like(a, a.shape, special=False, low=0)
    y, b = w.like(a, low=low, high=high, special=name != "pow")
    return [
        (
            getattr(flex, name)(x, y),
            reference(function, rule, name, a, b, dtype=dtype),
            exact(name, dtype, ulps),
            near(name, dtype, a, b),
        )
    ]


def in_place(w):
    x, a = tame_one(
        w, ["int8", "int32", "int64", "uint16", "float32", "float64", "complex64"], taken=True
    )
    y, b = w.like(a, low=1)
    y, b = (y, b) if b.ndim <= a.ndim else (2, 2)
    alias, before = x[...], a.copy()
    with np.errstate(all="ignore"):
        match w.pick("+-*"):
            case "+":
                x += y
                a = (a + b).astype(a.dtype)
            case "-":
                x -= y
                a = (a - b).astype(a.dtype)
            case "*":
                x *= y
                a = (a * b).astype(a.dtype)
    return [(x, a, 4), (alias, before)]


def put(w):
    """A write by subscript changes only the tensor, neither its alias nor the memory that it borrows."""
    x, a = w.one(taken=True)
    key = w.subscript(a)
    alias, before = x[...], a.copy()
    part = a[key]
    value, v = w.like(part) if w.chance(0.7) else (unit(a), 1)
    if isinstance(key, tuple) and any(isinstance(k, np.ndarray) for k in key):
        value, v = unit(a), 1  # NumPy leaves open which value wins at repeated indices
    flex_key = flex.asarray(key) if isinstance(key, np.ndarray) else key
    x[flex_key] = value
    a[key] = v
    return [(x, a), (alias, before)]


def get(w):
    x, a = w.one()
    key = w.subscript(a)
    return [(x[key], a[key])]


def reduction(w):
    name = w.pick(["sum", "max", "min", "any", "all", "count_nonzero", "argmax", "argmin", "mean"])
    x, a = finite_one(w, ORDERED if name in ("max", "min", "argmax", "argmin") else ALL)
    axes, keep = w.axes(a), w.chance(0.4)
    if a.size == 0 and name not in ("sum", "any", "all", "count_nonzero"):
        return []
    wide = a.astype(np.float64) if a.dtype.name in FLOATS else a
    if name in ("argmax", "argmin"):
        axes = w.axis(a) if a.ndim and w.chance(0.7) else None
        return [
            (
                getattr(flex, name)(x, axis=axes, keepdims=keep),
                getattr(np, name)(wide, axis=axes, keepdims=keep),
            )
        ]
    expected = getattr(np, name)(wide, axis=axes, keepdims=keep)
    total = float(np.abs(wide).sum()) if name in ("sum", "mean") else 0.0
    got = getattr(flex, name)(x, axis=axes, keepdims=keep)
    return [
        (
            got,
            expected,
            4 if total else 0,
            4 * total * min(EPS.get(a.dtype.name, EPS["float32"] if name == "mean" else 0), 2**-23),
        )
    ]


def scan(w):
    name, function = w.pick(
        [
            ("cumulative_sum", np.cumsum),
            ("cumulative_max", np.maximum.accumulate),
            ("cumulative_min", np.minimum.accumulate),
        ]
    )
    x, a = finite_one(w, [*INTEGERS, *FLOATS], least=1)
    axis = w.axis(a)
    wide = a.astype(np.longdouble) if a.dtype.name in FLOATS else a  # NumPy sums serially
    total = float(np.abs(wide).sum()) if name == "cumulative_sum" and a.dtype.name in FLOATS else 0
    return [
        (
            getattr(flex, name)(x, axis=axis),
            function(wide, axis=axis),
            4 if total else 0,
            8 * total * min(EPS.get(a.dtype.name, 0), 2**-23),
        )
    ]


def order(w):
    x, a = w.one(ORDERED, least=1)
    axis, down = w.axis(a), w.chance(0.3)
    wide = a.astype(np.float32) if a.dtype.name in HALVES else a
    values, places = flex.sort_with_indices(x, axis=axis, descending=down)
    if down:  # stable, and NaN still last
        keys = np.where(np.isnan(wide), np.inf, -wide) if wide.dtype.kind == "f" else ~wide
        expected = np.argsort(keys, axis=axis, kind="stable")
        if wide.dtype.kind == "f" and (np.isnan(wide).any() or np.isinf(wide).any()):
            expected = None
    else:
        expected = np.argsort(wide, axis=axis, kind="stable")
    at = to_numpy(places) if expected is None else expected
    results = [
        (values, np.take_along_axis(a, at, axis)),
        (flex.sort(x, axis=axis, descending=down), np.take_along_axis(a, at, axis)),
    ]
    return (
        results
        if expected is None
        else [*results, (places, expected), (flex.argsort(x, axis=axis, descending=down), expected)]
    )


def top(w):
    x, a = w.one(["int8", "int32", "int64", "uint16", "float32", "float64"], least=1)
    axis = w.axis(a)
    n = a.shape[axis]
    if not n or np.isnan(a.astype(np.float64)).any():
        return []
    k = int(w.rng.integers(n + 1))
    values, places = flex.topk(x, k, axis=axis)
    expected = np.flip(np.sort(a, axis=axis), axis).take(range(k), axis)
    return [(values, expected), (flex.take_along_axis(x, places, axis=axis), expected)]


def sets(w):
    x, a = w.one(["int8", "int16", "int32", "int64", "uint8", "uint64", "bool"])
    y, b = w.like(a, shape_of(w.rng, 2))
    ordered = np.sort(a.ravel())
    values = flex.unique_all(x)
    expected = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    results = [(got, e) for got, e in zip(values, expected, strict=True)]
    found = (
        flex.searchsorted(flex.asarray(ordered), y, side="right") if a.dtype.kind != "b" else None
    )
    more = [(found, np.searchsorted(ordered, b, side="right"))] if found is not None else []
    return [*results, (flex.isin(y, x), np.isin(b, a)), *more]


def gather(w):
    x, a = w.one(least=1)
    axis = w.axis(a)
    n = a.shape[axis]
    if not n:
        return []
    i, at = w.positions(n, shape_of(w.rng, 1))
    shape = list(a.shape)
    shape[axis] = w.pick([0, 1, 2, 9])
    j, along = w.positions(n, tuple(shape))
    at, along = at.astype(np.int64), along.astype(np.int64)
    return [
        (flex.take(x, i, axis=axis), np.take(a, at, axis)),
        (flex.take_along_axis(x, j, axis=axis), np.take_along_axis(a, along, axis)),
    ]


def scatter(w):
    x, a = finite_one(
        w, ["int8", "int16", "int32", "int64", "uint8", "uint32", "float64", "complex128"], least=1
    )
    axis = w.axis(a)
    n = a.shape[axis]
    if not n:
        return []
    shape = list(a.shape)
    shape[axis] = w.pick([0, 1, 2, 9])
    j, along = w.positions(n, tuple(shape))
    v, values = w.like(a, tuple(shape), special=False)
    grid = list(np.ogrid[tuple(slice(0, k) for k in shape)])
    grid[axis % a.ndim] = along.astype(np.int64)
    expected = a.copy()
    np.add.at(expected, tuple(grid), values)
    i, at = w.positions(n, (shape[axis],))
    rows = a.copy()
    np.add.at(rows, (*[slice(None)] * (axis % a.ndim), at.astype(np.int64)), values)
    return [
        (flex.scatter_add(x, j, v, axis), expected, 8, 1e-12),
        (flex.index_add(x, i, v, axis), rows, 8, 1e-12),
    ]


def masks(w):
    x, a = w.one()
    m, mask = w.operand("bool", a.shape)
    y, b = w.like(a)
    b = b if b.ndim <= a.ndim else b.reshape(a.shape)
    return [
        (flex.masked_fill(x, m, unit(a)), np.where(mask, np.ones((), a.dtype), a)),
        (flex.masked_select(x, m), a[mask]),
        (flex.where(m, x, y), np.where(mask, a, b)),
        (flex.argwhere(m), np.argwhere(mask)),
    ]


def shapes(w):
    x, a = w.one(least=1)
    axis, shift = w.axis(a), int(w.rng.integers(-9, 10))
    axes = tuple(int(k) for k in w.rng.permutation(a.ndim))
    times = tuple(w.pick([1, 1, 2, 3]) for _ in a.shape) if a.size < 2000 else (1,)
    pads = [(w.pick([0, 1, 2]), w.pick([0, 0, 5])) for _ in a.shape]
    factors = [n for n in range(1, a.size + 1) if a.size % n == 0] or [0]
    first = w.pick(factors)
    other, o = w.like(a, a.shape)
    calls = [
        lambda: (flex.permute_dims(x, axes), a.transpose(axes)),
        lambda: (flex.flip(x, axis=axis), np.flip(a, axis)),
        lambda: (flex.roll(x, shift, axis=axis), np.roll(a, shift, axis)),
        lambda: (flex.tile(x, times), np.tile(a, times)),
        lambda: (flex.repeat(x, 2, axis=axis), np.repeat(a, 2, axis)),
        lambda: (flex.concat([x, other, x], axis=axis), np.concatenate([a, o, a], axis)),
        lambda: (flex.stack([x, other], axis=axis), np.stack([a, o], axis)),
        lambda: (flex.pad(x, pads, value=unit(a)), np.pad(a, pads, constant_values=1)),
        lambda: (
            flex.reshape(x, (first, a.size // max(first, 1))),
            a.reshape(first, a.size // max(first, 1)),
        ),
        lambda: (flex.broadcast_to(x, (2, *a.shape)), np.broadcast_to(a, (2, *a.shape))),
        lambda: (flex.moveaxis(x, axis, 0), np.moveaxis(a, axis, 0)),
    ]
    if a.ndim >= 2:
        calls += [
            lambda: (flex.tril(x, k=shift), np.tril(a, shift)),
            lambda: (flex.triu(x, k=shift), np.triu(a, shift)),
        ]
    return [w.pick(calls)()]


def cast(w):
    x, a = finite_one(w, ALL)
    kinds = {"b": ALL, "u": NUMBERS, "i": NUMBERS, "c": COMPLEX}.get(
        a.dtype.kind, [*FLOATS, *COMPLEX]
    )
    to = w.pick(kinds)
    return [
        (
            flex.astype(x, to),
            a.astype(np.float64 if a.dtype.kind not in "biuc" else a.dtype).astype(numpy_dtype(to)),
        )
    ]


def product(w):
    dtype = w.pick([*FLAT, "float16", "bfloat16", "complex64", "complex128"])
    m, k, n = (w.pick([1, 1, 2, 3, 5, 8, 13, 16, 17, 33, 64, 70, 130]) for _ in range(3))
    batch = w.pick([(), (), (2,), (3, 1)])
    x, a = w.operand(dtype, (*batch, m, k), special=False)
    y, b = w.operand(dtype, (*w.pick([(), batch]), k, n), special=False)
    exactly = [
        v
        if v.dtype.kind in "iu"
        else v.astype(np.complex128 if v.dtype.kind == "c" else np.float64)
        for v in (a, b)
    ]
    total = float((np.abs(exactly[0]) @ np.abs(exactly[1])).max(initial=0)) if dtype in EPS else 0
    return [
        (flex.matmul(x, y), exactly[0] @ exactly[1], 4 if total else 0, total * sum_error(dtype, k))
    ]


STEPS = [
    unary,
    unary,
    binary,
    binary,
    in_place,
    in_place,
    put,
    put,
    get,
    reduction,
    reduction,
    scan,
    order,
    top,
    sets,
    gather,
    scatter,
    masks,
]
STEPS += [shapes, shapes, cast, product, network, network, network, family, family, family]


def run(seed):
    """Runs one program. Borrowed memory must be unchanged at its end."""
    rng = np.random.default_rng(seed)
    w = World(rng)
    for _ in range(int(rng.integers(3, 12))):
        step = w.pick(STEPS)
        try:
            for tensor, expected, *tolerance in step(w):
                check(tensor, expected, *tolerance)
                w.pairs.append((tensor, to_numpy(tensor)))
        except Exception as error:
            error.add_note(f"in {step.__name__}")
            raise
        w.pairs = w.pairs[-12:]
    for tensor, array in w.pairs:
        assert to_numpy(tensor).tobytes() == array.tobytes(), (
            "a tensor changed by a write to another"
        )
    for array, before in w.lent:
        assert array.tobytes() == before, "borrowed memory was written to"
