"""Calls every public function and method of a namespace with each of its arguments in turn replaced by a hostile one: sizes beyond
memory, lengths that lie, sequences without end, nesting without bounds. Run in a process of its own (test_hostile_arguments.py), under
a limit of the address space: it prints each call before it makes it, then `done` and the number of calls.

The valid calls that it starts from are those of the docstrings' examples."""

import contextlib
import doctest
import inspect
import io
import itertools
import pathlib
import resource
import sys
import tempfile
import time
from collections.abc import Sequence

import flex
import flex.models

NAMESPACES = {
    n.__name__: n
    for n in (flex, flex.nn, flex.nn.grad, flex.quant, flex.fft, flex.signal, flex.linalg, flex.io)
}
GROUPS = [*NAMESPACES, "methods", "classes", "models"]
# Functions without an example.
PLAIN = {
    *("set_num_threads", "set_weight_packing", "get_num_threads", "memory_stats", "empty_cache"),
    *("show_config", "_rebuild", "__array_namespace_info__"),
}
# Address space for a call, and the seconds of processor time that one may take.
ROOM, MOST_SECONDS = 1 << 30, 5
# Calls of a function's examples that are tried.
MOST_EXAMPLES = 2


class Liar:
    """An iterable of two items that promises more than memory holds."""

    def __len__(self):
        return 2**62

    def __iter__(self):
        return iter((1, 1))


class Endless(Sequence):
    """A sequence that says it has two items and never ends."""

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return 1

    def __iter__(self):
        return itertools.repeat(1)


class Long(Endless):
    """A sequence that neither ends nor fits in memory."""

    def __len__(self):
        return 2**62


class Odd:
    """Says that it is a number, a sequence and an array, and is none."""

    def __getattr__(self, name):
        raise ZeroDivisionError(name)


class First(tuple):
    """A number that takes the place of the first of a tuple."""

    def __new__(cls, number):
        return tuple.__new__(cls, (number,))


def nested(wrap):
    x = 1
    for _ in range(20_000):
        x = wrap(x)
    return x


NESTED = nested(lambda x: [x]), nested(lambda x: (x,))
HOSTILE = {
    "2**31": lambda: 2**31,
    "2**62": lambda: 2**62,
    "-2**63": lambda: -(2**63),
    "10**5000": lambda: 10**5000,
    "pair of 2**31": lambda: (2**31, 2**31),
    "first 2**31": lambda: First(2**31),
    "first 2**62": lambda: First(2**62),
    "range": lambda: range(2**40),
    "repeat": lambda: itertools.repeat(1),
    "liar": Liar,
    "endless": Endless,
    "long": Long,
    "odd": Odd,
    "nested lists": lambda: NESTED[0],
    "nested tuples": lambda: NESTED[1],
}


class Recorder:
    """A namespace whose functions note the calls that examples make."""

    def __init__(self, namespace, calls):
        self._namespace, self._calls = namespace, calls

    def __getattr__(self, name):
        value = getattr(self._namespace, name)
        if inspect.ismodule(value):
            return Recorder(value, self._calls)
        if inspect.isclass(value) or not callable(value):
            return value

        def noted(*args, **kwargs):
            self._calls.append((name, args, kwargs))
            return value(*args, **kwargs)

        return noted


def examples(namespace, name):
    """The calls of a function in the examples of its docstring."""
    calls = []
    names = {"flex": Recorder(flex, calls)}
    doc = inspect.getdoc(getattr(namespace, name)) or ""
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(doc):
            if example.exc_msg is None:
                exec(compile(example.source, name, "single"), names)
    return [(args, kwargs) for called, args, kwargs in calls if called == name][:MOST_EXAMPLES]


def functions(namespace):
    """The functions of a namespace and their valid calls."""
    for name in namespace.__all__:
        function = getattr(namespace, name)
        if callable(function) and not inspect.isclass(function):
            calls = examples(namespace, name)
            assert calls or name in PLAIN, f"no example of {name} calls it"
            for args, kwargs in calls:
                yield f"{namespace.__name__}.{name}", function, args, kwargs


def methods():
    """Tensor's methods: those that are functions too, with their calls."""
    for name in flex.__all__:
        if callable(getattr(flex.Tensor, name, None)):
            for args, kwargs in examples(flex, name):
                if args and isinstance(args[0], flex.Tensor):
                    yield f"Tensor.{name}", getattr(args[0], name), args[1:], kwargs


def classes():
    """Methods without a function of that name, operators, and those of the other classes."""
    x = flex.asarray([[1.0, 2.0], [3.0, 4.0]])
    n = flex.asarray([3, 1])
    q = flex.quant.quantize(x)
    index = flex.asarray([[0, 1], [1, 0]])
    cache, rows = flex.nn.KVCache(1, 2, 4), flex.ones((1, 2, 3, 4))
    calls = [
        (
            x,
            {
                "contiguous": (),
                "copy": (),
                "is_contiguous": (),
                "item": (0, 0),
                "tolist": (),
                "numpy": (),
                "to_device": ("cpu",),
                "tobytes": (),
                "view": ("float32",),
                "__getitem__": (0,),
                "__setitem__": (0, 1.0),
                "__contains__": (1.0,),
                "__array__": (),
                "__format__": (".2f",),
                "__dlpack__": (),
                "__arrow_c_array__": (),
                "__deepcopy__": ({},),
            },
        ),
        (
            q,
            {
                "__getitem__": (0,),
                "argmax": (),
                "argmin": (),
                "argsort": (),
                "broadcast_to": ((2, 2),),
                "copy": (),
                "dequantize": (),
                "equal": (q,),
                "expand_dims": (0,),
                "flip": (0,),
                "map": (flex.abs,),
                "max": (),
                "min": (),
                "permute_dims": ((1, 0),),
                "reshape": ((4,),),
                "sort": (),
                "squeeze": (),
                "take": (n - 1,),
                "take_along_axis": (index,),
                "topk": (1,),
                "transpose": (1, 0),
            },
        ),
        (
            cache,
            {
                "append": (rows, rows),
                "gather": (flex.asarray([0]),),
                "reset": (),
                "truncate": (1,),
                "views": (),
            },
        ),
        (flex.nn.KVCache, {"__call__": (1, 2, 4)}),
        (flex.threads, {"__call__": (1,)}),
        (flex.Stream, {"__call__": ()}),
        (flex.Stream(), {"run": (lambda: x + 1,), "save": ("",), "load": ("",)}),
        (flex.DType, {"__call__": ("float32",)}),
        (flex.fuse(lambda x: x + 1), {"__call__": (x,)}),
    ]
    arithmetic = "add sub mul truediv floordiv mod pow matmul divmod eq lt"
    for target, names in ((x, arithmetic), (n, arithmetic + " and or xor lshift rshift")):
        operators = [f"__{way}{name}__" for name in names.split() for way in ("", "r", "i")]
        calls.append((target, dict.fromkeys(operators, (target,))))
    for target, names in calls[:3]:
        public = {n for n in dir(target) if not n.startswith("_") and callable(getattr(target, n))}
        others = {*flex.__all__, *flex.linalg.__all__} if target is x else set()
        assert public <= others | names.keys(), public - others - names.keys()
    for target, names in calls:
        for name, args in names.items():
            if hasattr(target, name):
                yield f"{type(target).__name__}.{name}", getattr(target, name), args, {}


def models():
    from small_bert import TEXTS, write_model

    folder = pathlib.Path(tempfile.mkdtemp())
    write_model(folder)
    encoder = flex.models.SentenceEncoder.load(folder)
    vectors = encoder.encode(TEXTS)
    yield "load", flex.models.SentenceEncoder.load, (folder,), {}
    yield "encode", encoder.encode, (TEXTS,), {}
    yield "tokenize", encoder.tokenize, (TEXTS,), {}
    yield "similarity", encoder.similarity, (vectors, vectors), {}


def replaced(function, args, kwargs):
    """Copies of a valid call with each argument in turn replaced: the argument's name, and a function from the new argument to the
    call."""
    signature = inspect.signature(function)
    for name, parameter in signature.parameters.items():

        def call(value, name=name, parameter=parameter):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            if isinstance(value, First):
                given = bound.arguments[name]
                value = (*value, *given[1:]) if isinstance(given, (tuple, list)) else value[0]
            if parameter.kind is parameter.VAR_POSITIONAL:
                bound.arguments[name] = (*bound.arguments[name][:-1], value)
            elif parameter.kind is parameter.VAR_KEYWORD:
                bound.arguments[name] = {"axis": value}
            else:
                bound.arguments[name] = value
            return function(*bound.args, **bound.kwargs)

        yield name, call


def calls_of(group):
    if group in NAMESPACES:
        return functions(NAMESPACES[group])
    return {"methods": methods, "classes": classes, "models": models}[group]()


def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def main(group):
    count, failures = 0, []
    found = list(calls_of(group))
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + ROOM, resource.RLIM_INFINITY))
    for function, called, args, kwargs in found:
        for parameter, call in replaced(called, args, kwargs):
            for name, make in HOSTILE.items():
                case = f"{function}({parameter}: {name})"
                print(case, flush=True)
                start = time.process_time()
                flex.set_num_threads(1)
                try:
                    call(make())
                except SystemError as error:
                    failures.append(f"{case}: {error!r}")
                except Exception:
                    pass
                except BaseException as error:  # a panic
                    failures.append(f"{case}: {error!r}")
                seconds = time.process_time() - start
                if seconds > MOST_SECONDS:
                    failures.append(f"{case}: {seconds:.1f} s")
                count += 1
    assert count
    assert not failures, "\n".join(failures)
    print(f"done {count}")


if __name__ == "__main__":
    main(sys.argv[1])
