"""Hints for names and keywords that flex lacks: NumPy's and torch's, and misspelled ones.

Imported only once something has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inspect
    from types import ModuleType

# Functions, methods and attributes of NumPy or torch, and flex's equivalents.
NAMES = {
    # elementwise
    "absolute": "flex.abs(x)",
    "arccos": "flex.acos(x)",
    "arccosh": "flex.acosh(x)",
    "arcsin": "flex.asin(x)",
    "arcsinh": "flex.asinh(x)",
    "arctan": "flex.atan(x)",
    "arctan2": "flex.atan2(x1, x2)",
    "arctanh": "flex.atanh(x)",
    "bitwise_not": "flex.bitwise_invert(x)",
    "clamp": "flex.clip(x, min, max)",
    "conjugate": "flex.conj(x)",
    "div": "flex.divide(x1, x2)",
    "eq": "flex.equal(x1, x2)",
    "fmax": "flex.maximum(x1, x2)",
    "fmin": "flex.minimum(x1, x2)",
    "ge": "flex.greater_equal(x1, x2)",
    "gt": "flex.greater(x1, x2)",
    "invert": "flex.bitwise_invert(x)",
    "le": "flex.less_equal(x1, x2)",
    "left_shift": "flex.bitwise_left_shift(x1, x2)",
    "lt": "flex.less(x1, x2)",
    "mod": "flex.remainder(x1, x2)",
    "mul": "flex.multiply(x1, x2)",
    "ne": "flex.not_equal(x1, x2)",
    "neg": "flex.negative(x)",
    "power": "flex.pow(x1, x2)",
    "right_shift": "flex.bitwise_right_shift(x1, x2)",
    "rint": "flex.round(x)",
    "sgn": "flex.sign(x)",
    "sub": "flex.subtract(x1, x2)",
    "true_divide": "flex.divide(x1, x2)",
    # reductions, scans, sorting, sets
    "amax": "flex.max(x, axis)",
    "amin": "flex.min(x, axis)",
    "average": "flex.mean(x, axis)",
    "cummax": "flex.cumulative_max(x, axis)",
    "cummin": "flex.cumulative_min(x, axis)",
    "cumprod": "flex.cumulative_prod(x, axis)",
    "cumsum": "flex.cumulative_sum(x, axis)",
    "flatnonzero": "flex.nonzero(flex.reshape(x, -1))",
    "in1d": "flex.isin(x1, x2)",
    "median": "flex.sort(x, axis), and take the middle",
    "norm": "flex.sqrt(flex.sum(flex.square(x), axis))",
    "unique": "flex.unique_values(x), or unique_counts, unique_inverse, unique_all",
    # shape
    "append": "flex.concat([x, y])",
    "atleast_1d": "flex.reshape(x, (-1,))",
    "cat": "flex.concat([x, y], axis=0)",
    "column_stack": "flex.stack([x, y], axis=1)",
    "concatenate": "flex.concat([x, y], axis=0)",
    "dstack": "flex.concat([x, y], axis=2)",
    "expand": "flex.broadcast_to(x, shape)",
    "expand_as": "flex.broadcast_to(x, y.shape)",
    "flatten": "flex.reshape(x, -1)",
    "fliplr": "flex.flip(x, axis=1)",
    "flipud": "flex.flip(x, axis=0)",
    "hstack": "flex.concat([x, y], axis=1)",
    "movedim": "flex.moveaxis(x, source, destination)",
    "numel": "x.size",
    "permute": "flex.permute_dims(x, axes)",
    "ravel": "flex.reshape(x, -1)",
    "repeat_interleave": "flex.repeat(x, repeats, axis)",
    "row_stack": "flex.concat([x, y], axis=0)",
    "swapdims": "flex.swapaxes(x, axis1, axis2)",
    "t": "x.T, or flex.matrix_transpose(x)",
    "unbind": "flex.unstack(x, axis)",
    "unsqueeze": "flex.expand_dims(x, axis)",
    "vsplit": "flex.split(x, sizes, axis=0)",
    "vstack": "flex.concat([x, y], axis=0)",
    # creation and conversion
    "array": "flex.asarray(obj, copy=True)",
    "array_split": "flex.chunk(x, chunks, axis)",
    "as_tensor": "flex.asarray(obj)",
    "ascontiguousarray": "x.contiguous()",
    "asanyarray": "flex.asarray(obj)",
    "clone": "x.copy()",
    "cpu": "x itself: flex has no other device",
    "cuda": "x itself: flex computes on the CPU alone",
    "detach": "x itself: flex records no gradients",
    "double": "flex.float64, or x.astype(flex.float64)",
    "float": "flex.float32, or x.astype(flex.float32)",
    "from_numpy": "flex.asarray(array)",
    "half": "flex.float16, or x.astype(flex.float16)",
    "identity": "flex.eye(n)",
    "int": "flex.int32, or x.astype(flex.int32)",
    "long": "flex.int64, or x.astype(flex.int64)",
    "ndarray": "flex.Tensor",
    "requires_grad": "nothing: flex records no gradients",
    "tensor": "flex.asarray(obj, copy=True)",
    "to": "x.astype(dtype)",
    "type": "x.dtype, or x.astype(dtype)",
    "type_as": "x.astype(y.dtype)",
    # indexing and products
    "bmm": "flex.matmul(x1, x2)",
    "dot": "flex.matmul(x1, x2), or flex.vecdot",
    "einsum": "flex.matmul or flex.tensordot, with flex.permute_dims",
    "gather": "flex.take_along_axis(x, indices, axis)",
    "index_select": "flex.take(x, indices, axis)",
    "inner": "flex.vecdot(x1, x2)",
    "mm": "flex.matmul(x1, x2)",
    "mv": "flex.matmul(x1, x2)",
    "scatter": "flex.put_along_axis(x, indices, values, axis)",
    "vdot": "flex.vecdot(x1, x2)",
    # dtypes
    "promote_types": "flex.result_type(x1, x2)",
    "bool_": "flex.bool",
    "float_": "flex.float64",
    "int_": "flex.int64",
    "single": "flex.float32",
    # flex.nn
    "attention": "flex.nn.scaled_dot_product_attention(query, key, value)",
    "layer_norm": "flex.nn.layer_norm(x, normalized_shape)",
    "linear": "flex.nn.linear(x, weight)",
    "log_softmax": "flex.nn.log_softmax(x, axis)",
    "softmax": "flex.nn.softmax(x, axis)",
    # flex.fft, flex.signal
    "convolve": "flex.signal.convolve(x1, x2)",
    "correlate": "flex.signal.correlate(x1, x2)",
    "hann_window": "flex.signal.hann(n, sym=False)",
    "hanning": "flex.signal.hann(n)",
    "irfft": "flex.fft.irfft(x)",
    "istft": "flex.signal.istft(x, n_fft)",
    "rfft": "flex.fft.rfft(x)",
    "stft": "flex.signal.stft(x, n_fft)",
    # files
    "load": "flex.io.load(path)",
    "save": "flex.io.save(path, tensors)",
    "savez": "flex.io.save(path, tensors)",
    # threads
    "no_grad": "nothing: flex records no gradients",
}

# Keywords of NumPy and torch: flex's names for each; of several, the one that the function has
# applies.
KEYWORDS = {
    "M": ("n_cols",),
    "N": ("n_rows",),
    "a_max": ("max",),
    "a_min": ("min",),
    "axes": ("axis",),
    "axis": ("axes",),
    "constant_values": ("value",),
    "diagonal": ("k",),
    "dim": ("axis", "axes"),
    "dim0": ("axis1",),
    "dim1": ("axis2",),
    "dims": ("axes", "axis", "repetitions"),
    "end": ("stop",),
    "fill": ("fill_value",),
    "index": ("indices",),
    "input": ("x", "x1"),
    "indices_or_sections": ("sizes",),
    "keepdim": ("keepdims",),
    "newshape": ("shape",),
    "num_samples": ("num",),
    "other": ("x2",),
    "reps": ("repetitions",),
    "sections": ("sizes", "chunks"),
    "shifts": ("shift",),
    "size": ("shape", "size"),
    "split_size": ("sizes",),
    "split_size_or_sections": ("sizes",),
    "src": ("values",),
    "steps": ("num",),
    "unbiased": ("correction",),
}

# Keywords of features that flex lacks, and what to do instead.
ABSENT = {
    "casting": "convert with astype first",
    "max_norm": "flex doesn't rescale weights",
    "mode": "pad puts one value around, mode 'constant'",
    "decimals": "write flex.round(x * 10**n) / 10**n",
    "dropout_p": "flex computes without dropout",
    "inplace": "flex's functions return new tensors: assign the result, as in x[...] = ...",
    "initial": "combine the result with that value",
    "layout": "flex's tensors are strided, all of them",
    "like": "flex's functions give flex's tensors",
    "order": "there is no choice: new tensors are in row-major order, and sorts are stable",
    "out": "assign the result, as in t[...] = ...",
    "padding_idx": "it affects gradients alone, so leave it out",
    "pin_memory": "flex computes on the CPU alone",
    "reduce": 'write reduction="mean", "sum" or "none"',
    "requires_grad": "flex records no gradients",
    "right": 'write side="right"',
    "size_average": 'write reduction="mean" or "sum"',
    "sparse": "flex's gradients are dense",
    "subok": "flex's functions give flex's tensors",
    "where": "choose with flex.where first",
}

# Parameters that take several integers as one tuple, and the functions that accept several axes.
SEQUENCES = {
    "axes": "the axes are",
    "axis": "several axes are",
    "repetitions": "the repetitions are",
    "shape": "the shape is",
}
SEVERAL_AXES = frozenset(
    [
        "all",
        "any",
        "count_nonzero",
        "expand_dims",
        "flip",
        "logsumexp",
        "max",
        "mean",
        "min",
        "prod",
        "squeeze",
        "std",
        "sum",
        "var",
    ]
)


def attribute(owner: object, name: str) -> str:
    """What to write instead of an attribute that `owner` lacks; empty if there is no likely match."""
    if name in NAMES:
        return f": write {NAMES[name]}"
    close = _closest(name, dir(owner)) if len(name) > 3 else None
    return f": did you mean {close!r}?" if close else ""


def explain(
    error: BaseException,
    module: ModuleType,
    name: str,
    given: tuple[object, ...],
    names: tuple[str, ...] | None,
) -> None:
    """Rewrites the message of an error about the arguments `given` to a function of `module`, the last ones by the keywords `names`."""
    if len(error.args) != 1 or not isinstance(error.args[0], str):
        return
    message: str = error.args[0]
    values = dict(zip(names, given[len(given) - len(names) :], strict=True)) if names else {}
    positional = given[: len(given) - len(values)]
    bare = name.rpartition(".")[2]  # without "grad." and "quant.", as in their errors
    call, signature = _function(module, bare)
    if message.startswith(f"{bare}() "):  # PyO3 omits the module
        message = name + message.removeprefix(bare)
    argument = _argument(error)
    better = _misplaced(name, call, signature, positional)
    if better is None and isinstance(error, TypeError):
        better = _wrong_keyword(name, call, signature, message, values) or _wrong_call(
            name, signature, message
        )
    if better is None and not message.startswith(f"{name}: "):
        better = f"{name}: {argument}: {message}" if argument else f"{name}: {message}"
    if better is not None:
        error.args = (better,)


def _function(module: ModuleType, name: str) -> tuple[str, inspect.Signature]:
    """The qualified name of a function, and its signature."""
    import inspect

    path = module.__name__.removesuffix("._flex")
    return f"{path}.{name}", inspect.signature(getattr(module, name))


def _argument(error: BaseException) -> str | None:
    """The parameter that PyO3 named in a note of the error; the note is removed, since the message will name it."""
    notes: list[str] = getattr(error, "__notes__", [])
    start = "while processing '"
    for note in notes:
        if note.startswith(start):
            notes.remove(note)
            return note.removeprefix(start).removesuffix("'")
    return None


def _misplaced(
    name: str, call: str, signature: inspect.Signature, given: tuple[object, ...]
) -> str | None:
    """The hint if several arguments were passed instead of a sequence, or a list instead of several arguments."""
    parameters = list(signature.parameters.values())
    for place, parameter in enumerate(parameters[: len(given)]):
        rest = given[place:]
        if parameter.kind is parameter.VAR_POSITIONAL:
            if parameter.name == "arrays" and len(rest) == 1 and isinstance(rest[0], (list, tuple)):
                return f"{name}: pass the tensors one by one: {call}(x, y)"
            return None
        if (
            parameter.name == "arrays"
            and len(rest) > 1
            and _is_tensor(rest[0])
            and _is_tensor(rest[1])
        ):
            return f"{name}: pass the tensors as one list: {call}([x, y])"
        what = SEQUENCES.get(parameter.name)
        if what is None or (parameter.name == "axis" and name not in SEVERAL_AXES):
            continue
        numbers, last = (rest[:-1], f", {rest[-1]}") if name == "full" else (rest, "")
        if len(numbers) > 1 and all(type(i) is int for i in rest):
            before = "".join(f"{p.name}, " for p in parameters[:place])
            return f"{name}: {what} one argument: {call}({before}{numbers}{last})"
    return None


def _wrong_keyword(
    name: str, call: str, signature: inspect.Signature, message: str, values: dict[str, object]
) -> str | None:
    """The hint for a keyword that the function lacks."""
    unexpected = f"{name}() got an unexpected keyword argument '"
    if not message.startswith(unexpected):
        return None
    word = message.removeprefix(unexpected).removesuffix("'")
    known = signature.parameters
    for ours in (word, *KEYWORDS.get(word, ())):
        if ours in known:
            if known[ours].kind in (known[ours].POSITIONAL_ONLY, known[ours].VAR_POSITIONAL):
                return f"{message}: pass {ours} by position, as in {call}{signature}"
            return f"{message}: write {ours}={_shown(word, values.get(word))}"
    if word in ABSENT:
        return f"{message}: {ABSENT[word]}"
    close = _closest(word, list(known))
    return (
        f"{message}: did you mean {close}?"
        if close
        else f"{message}: the call is {call}{signature}"
    )


def _shown(word: str, value: object) -> str:
    """The value as written in a call."""
    if word == "unbiased":
        return "1" if value else "0"
    return (
        repr(value)
        if isinstance(value, (bool, int, float, str, tuple, list, type(None)))
        else "..."
    )


def _wrong_call(name: str, signature: inspect.Signature, message: str) -> str | None:
    """The signature, if there are too many arguments, too few, or keywords for positional-only ones."""
    return f"{message}: the call is {name}{signature}" if message.startswith(f"{name}() ") else None


def _is_tensor(x: object) -> bool:
    return hasattr(x, "dtype") and hasattr(x, "shape")


def _closest(name: str, names: list[str]) -> str | None:
    import difflib

    found = difflib.get_close_matches(
        name, [n for n in names if not n.startswith("_")], n=1, cutoff=0.7
    )
    return found[0] if found else None
