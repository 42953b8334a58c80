"""Where a function that `flex.fuse` traces finds what it uses from outside.

A place is a variable, an attribute or an entry that the code of a function can reach: from its cells, the globals that it names, and its
defaults, along attributes that it names and entries of lists and dicts, through the functions and methods that it calls. A traced program
reads the tensors at places anew at each call, and serves calls for which everything else there is as it was.
"""

import dis
import enum
import functools
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

from flex import _flex

FUSED = type(_flex.fuse(len))
# The most places of a function. Each is read at each call.
MOST = 100_000

# Objects without parts, which are compared by value. Exact types: others may have attributes.
PLAIN = {type(None), bool, int, float, complex, str, bytes, type(...), range, slice, frozenset}
# Names by which code reaches attributes that it does not name.
DYNAMIC = {"getattr", "hasattr", "vars", "__dict__", "attrgetter"}
# Methods that run before an object is there.
BEFORE = {"__init__", "__new__", "__post_init__"}
# Packages whose code is not followed.
OPAQUE = {"flex", "numpy"} | sys.stdlib_module_names


class Place(NamedTuple):
    """How a value is reached, and what must hold for it."""

    # The place that it is reached from, or -1.
    parent: int
    # "root": the object `key`; "argument": one of the call, by its number; "attribute", "item", "index", "call": of the parent.
    access: str
    key: Any
    # "tensor", "array"; "equal", "is": to `value`; "type": of the type `value`; "sized": of that type and with `size` entries; "same": as
    # the place `size`; "absent"; "lacks": a dict without the keys `value`; "any".
    check: str
    value: Any = None
    size: int = 0


def find(f: Callable[..., Any], arguments: Iterable[Any]) -> list[Place]:
    """The places that `f` can reach, by itself and through these objects among its arguments."""
    given = list(arguments)
    names: set[str] = set()
    while True:
        known = len(names)
        finder = _Finder(names)
        finder.add(-1, "root", f, f, root=True)
        for k, x in enumerate(given):
            finder.add(-1, "argument", k, x, root=True)
        finder.run()
        if (
            len(names) == known
        ):  # else names that were found late may be attributes of earlier objects
            return finder.places


def _names_uncached(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The names in `code` and in the code within it: all, and those of attributes that it asks for by a string."""
    names, strings = set(code.co_names), set[str]()
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            inner, asked = _names(x)
            names |= inner
            strings |= asked
        elif type(x) is str and x.isidentifier():
            strings.add(x)
    return frozenset(names), frozenset(strings if names & DYNAMIC else ())


# assigned, not decorated: stubtest would compare the decorator's parameters
_names = functools.lru_cache(maxsize=4096)(_names_uncached)


def _globals_uncached(code: types.CodeType) -> frozenset[str]:
    """The names that `code`, and the code within it, looks up among globals."""
    names = {
        x.argval for x in dis.get_instructions(code) if x.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    inner = (x for x in code.co_consts if isinstance(x, types.CodeType))
    return frozenset(names.union(*map(_globals, inner)))


_globals = functools.lru_cache(maxsize=4096)(_globals_uncached)


def _is_installed_uncached(file: str) -> bool:
    return "site-packages" in file or "dist-packages" in file


_is_installed = functools.lru_cache(maxsize=4096)(_is_installed_uncached)


class _Finder:
    def __init__(self, names: set[str]) -> None:
        self.names = names  # grows as code is found
        self.asked: set[str] = set()  # those of attributes that may be absent
        self.places: list[Place] = []
        self.at: dict[int, int] = {}  # the place of each object that can have parts, by its id
        self.left: deque[tuple[int, Any, bool]] = deque()
        self.packages: set[str] = set()

    def add(self, parent: int, access: str, key: Any, x: Any, *, root: bool = False) -> None:
        """Adds a place that holds `x`. `root`: the program is for this object, whose code is followed whatever its module."""
        if isinstance(x, types.ModuleType) and self.is_opaque(
            x.__name__, getattr(x, "__file__", None)
        ):
            return
        kind = type(x)
        if kind in PLAIN or (kind is tuple and all(type(y) in PLAIN for y in x)):
            check: tuple[Any, ...] = ("any",) if root else ("equal", x)
        elif id(x) in self.at:
            check = ("same", None, self.at[id(x)])
        else:
            self.at[id(x)] = len(self.places)
            check = self.check_of(x)
            self.left.append((len(self.places), x, root))
            if root and check[0] not in ("tensor", "array", "sized"):
                check = ("any",)  # constant, or part of what identifies the program
        self.places.append(Place(parent, access, key, *check))
        if len(self.places) > MOST:
            message = f"flex.fuse can't follow what this function uses: it reaches more than {MOST} variables, attributes and entries. "
            raise TypeError(message + "Pass the tensors that it needs as arguments")

    def check_of(self, x: Any) -> tuple[Any, ...]:
        if type(x) is _flex.Tensor:
            return ("tensor",)
        if _is_array(x):
            return ("array",)
        if isinstance(x, (list, tuple, dict, deque)):
            return "sized", type(x), len(x)
        if isinstance(x, set):
            return "equal", frozenset(x)
        kind = type(x)
        if isinstance(x, (types.MethodType, functools.partial, weakref.ref)) or kind is FUSED:
            return "type", kind
        fixed = isinstance(x, (type, types.FunctionType, types.ModuleType, enum.Enum))
        if fixed or self.is_opaque_class(kind) or not _has_attributes(x):
            return "is", x
        return "type", kind

    def run(self) -> None:
        while self.left:
            at, x, root = self.left.popleft()
            self.expand(at, x, root)

    def is_opaque(self, module: Any, file: str | None) -> bool:
        """Whether code of this module is not followed: it is the standard library's, NumPy's, flex's, or another package's."""
        top = str(module).partition(".")[0]
        return top in OPAQUE or (top not in self.packages and _is_installed(file or ""))

    def is_opaque_class(self, kind: type) -> bool:
        module = kind.__module__
        return self.is_opaque(module, getattr(sys.modules.get(str(module)), "__file__", None))

    def expand(self, at: int, x: Any, root: bool) -> None:
        """Adds the places within `x`, which is at the place `at`."""
        if isinstance(x, types.FunctionType):
            self.function(at, x, root)
        elif isinstance(x, types.MethodType):
            self.add(at, "attribute", "__self__", x.__self__, root=root)
            self.add(at, "attribute", "__func__", x.__func__, root=root)
        elif isinstance(x, functools.partial):
            self.add(at, "attribute", "func", x.func, root=root)
            self.add(at, "attribute", "args", x.args)
            self.add(at, "attribute", "keywords", x.keywords)
        elif isinstance(x, weakref.ref):
            self.add(at, "call", None, x())
        elif isinstance(x, dict):
            for key, y in list(x.items()):
                self.add(at, "item", key, y)
        elif isinstance(x, (list, tuple, deque)):
            for k, y in enumerate(x):
                self.add(at, "index", k, y)
        elif isinstance(x, types.ModuleType):
            for name in self.names & vars(x).keys():
                self.add(at, "attribute", name, vars(x)[name])
        elif isinstance(x, type):
            self.of_class(at, x, x)
        elif type(x) is not _flex.Tensor and not isinstance(x, enum.Enum) and not _is_array(x):
            self.instance(at, x, root)

    def function(self, at: int, f: types.FunctionType, root: bool) -> None:
        code = f.__code__
        ours = root and _is_ours(f.__module__)  # then what it calls is the user's
        if root:
            self.packages.add(str(f.__module__).partition(".")[0])
        elif self.is_opaque(f.__module__, code.co_filename):
            return
        names, strings = _names(code)
        self.names |= names | strings
        self.asked |= strings
        for k, cell in enumerate(f.__closure__ or ()):
            try:
                content = cell.cell_contents
            except ValueError:
                continue  # empty
            at_cell = self.part(self.part(at, "__closure__", f.__closure__), k, cell)
            self.add(at_cell, "attribute", "cell_contents", content, root=ours)
        found = sorted(name for name in _globals(code) if name in f.__globals__)
        if found:
            scope = self.part(at, "__globals__", f.__globals__)
            for name in found:
                self.add(scope, "item", name, f.__globals__[name])
        for name in names & sys.modules.keys():  # imported by the function
            module = sys.modules[name]
            self.add(-1, "root", module, module)
        for name in ("__defaults__", "__kwdefaults__"):
            defaults = getattr(f, name)
            if defaults:
                self.add(at, "attribute", name, defaults)
        for name in vars(f):
            if name in self.names or name == "__wrapped__":
                self.add(at, "attribute", name, vars(f)[name])

    def part(self, at: int, key: Any, x: Any) -> int:
        """Adds the place of `x`, a part of a function: of one that is always the same, as itself."""
        constant = self.places[at].access == "root"
        access = ("index" if type(key) is int else "attribute", key)
        self.places.append(Place(-1, "root", x, "any") if constant else Place(at, *access, "any"))
        return len(self.places) - 1

    def instance(self, at: int, x: Any, root: bool) -> None:
        wrapped = _attribute(x, "__wrapped__")
        if wrapped is not None:
            self.add(at, "attribute", "__wrapped__", wrapped, root=root)
        if not _has_attributes(x):
            return
        kind = type(x)
        ours = root and _is_ours(kind.__module__)
        if root:
            self.packages.add(kind.__module__.partition(".")[0])
        own = set(_attribute(x, "__dict__") or ()) | _slots(kind)
        names = own if self.names & DYNAMIC else own & self.names
        for name in sorted(n for n in names if isinstance(n, str)):
            y = _attribute(x, name, self)
            if y is self:
                self.places.append(Place(at, "attribute", name, "absent"))
            else:
                self.add(at, "attribute", name, y, root=ours)
        # what an attribute of the instance would hide
        hidden = self.of_class(at, x, kind, own)
        hidden += sorted(name for name in self.asked - own if not hasattr(kind, name))
        if hidden and _attribute(x, "__dict__") is not None:
            self.places.append(Place(at, "attribute", "__dict__", "lacks", tuple(hidden)))

    def of_class(self, at: int, x: Any, kind: type, own: Iterable[str] = ()) -> list[str]:
        """Adds what `x`, an instance of `kind` or that class itself, has from its classes. Returns the names of methods."""
        seen, methods = set(own), []
        for base in filter(lambda base: not self.is_opaque_class(base), kind.__mro__):
            for name, y in list(vars(base).items()):
                special = name.startswith("__") and callable(y) and hasattr(type(y), "__get__")
                called = special and (x is kind or name not in BEFORE)
                if name in seen or not (called or name in self.names):
                    continue
                seen.add(name)
                if not hasattr(type(y), "__get__"):
                    self.add(at, "attribute", name, y)
                    continue
                if not special and not isinstance(y, property):
                    methods.append(name)
                # methods and properties are taken as they are: only what they use is followed
                for f in _functions_of(y):
                    if id(f) not in self.at:
                        self.at[id(f)] = len(self.places)
                        self.left.append((len(self.places), f, False))
                        self.places.append(Place(-1, "root", f, "any"))
        return methods


def _is_ours(module: Any) -> bool:
    return str(module).partition(".")[0] == "flex"


def _functions_of(x: Any) -> list[Any]:
    """The functions that an attribute of a class calls."""
    if isinstance(x, (classmethod, staticmethod)):
        return [x.__func__]
    if isinstance(x, property):
        return [f for f in (x.fget, x.fset) if f is not None]
    if isinstance(x, functools.cached_property):
        return [x.func]
    if isinstance(x, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return []
    return [x]


def _attribute(x: Any, name: str, default: Any = None) -> Any:
    """An attribute, without calls of the object's own code."""
    try:
        return object.__getattribute__(x, name)
    except Exception:
        return default


def _slots(kind: type) -> set[str]:
    slots = (vars(base).get("__slots__", ()) for base in kind.__mro__)
    each = ((s,) if isinstance(s, str) else s for s in slots)
    return set(chain.from_iterable(each)) - {"__dict__", "__weakref__"}


def _has_attributes(x: Any) -> bool:
    return _attribute(x, "__dict__") is not None or bool(_slots(type(x)))


def _is_array(x: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.ndarray)
