#!/usr/bin/env python3
"""Writes the stubs of python/flex: names, parameters and docstrings come from the module, types from a build of it that has them
(scripts/stub_types.py), aliases and classes from scripts/stub_classes.py.

Run it after adding or changing a function; `python -m mypy.stubtest flex` checks the result against the module.
"""

import ast
import builtins
import collections.abc
import inspect
import os
import re
import subprocess
import sys
import types
import typing
from pathlib import Path
from types import FunctionType, MethodDescriptorType, ModuleType

from stub_classes import CLASSES, HEADER, NN_CLASSES, QUANT_CLASSES, RANDOM_CLASSES, TENSOR
from stub_types import Types

import flex
from flex import _flex, _functions, _losses, _results, _signals

TARGET = Path(__file__).resolve().parent.parent / "python" / "flex"


TYPES = Types()


def parameters(value: object, method: bool = False) -> str:
    """The parameters with their types; the first of a method is self."""
    types = TYPES.of(value)
    found = list(inspect.signature(value).parameters.values())
    parts, kinds = [], [p.kind for p in found]
    for i, p in enumerate(found):
        if (
            p.kind is p.KEYWORD_ONLY
            and p.VAR_POSITIONAL not in kinds[:i]
            and p.KEYWORD_ONLY not in kinds[:i]
        ):
            parts.append("*")
        if method and i == 0:
            # stubtest compares the names of functions in Python, and of two letters
            plain = len(p.name) == 1 and p.kind is p.POSITIONAL_ONLY
            parts.append("self" if plain else p.name)
        else:
            star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            default = "" if p.default is p.empty else f" = {p.default!r}"
            parts.append(f"{star}{p.name}: {types[p.name]}{default}")
        if (
            p.kind is p.POSITIONAL_ONLY
            and p.POSITIONAL_ONLY not in kinds[i + 1 :]
            and not (method and i == 0)
        ):
            parts.append("/")
    return ", ".join(parts)


def function(name: str, value: object, indent: str = "", method: bool = False) -> str:
    returns = TYPES.of(value)["return"]
    head = typed(f"{indent}def {name}({parameters(value, method)}) -> {returns}:")
    return f"{head}\n{docstring(value, indent + '    ')}"


# Functions whose result differs by a keyword: the keyword, the type of what asks for the other result, and the types of both.
FORMS = {
    "linspace": ("retstep", "Literal[True]", "Tensor", "tuple[Tensor, Tensor]"),
    "logsumexp": ("return_sign", "Literal[True]", "Tensor", "tuple[Tensor, Tensor]"),
    "qr": ("mode", 'Literal["r"]', "QRResult", "Tensor"),
}


def forms(name: str, value: object, indent: str = "", method: bool = False) -> str:
    """A function, as overloads if its result differs by a keyword."""
    text = function(name, value, indent, method)
    if name not in FORMS:
        return text
    keyword, wanted, plain, other = FORMS[name]
    head, rest = text.split("\n", 1)
    given = re.search(rf"{keyword}: (.+?) = ([^,)]+)", head)
    assert given is not None
    own = given[1].replace('"r"', "").replace(", ]", "]")
    own = f"Literal[{given[2]}]" if own == "builtins.bool" else own
    direct = head.replace(given[0], f"{keyword}: {own} = {given[2]}")
    later = head.replace(given[0], f"{keyword}: {wanted}")
    returned = re.compile(r"-> .+:$")
    direct, later = returned.sub(f"-> {plain}:", direct), returned.sub(f"-> {other}:", later)
    return f"{indent}@overload\n{direct}\n{rest}{indent}@overload\n{later} ...\n"


def typed(text: str) -> str:
    """The text with Python's `bool` qualified, since the module has a dtype of that name."""
    return re.sub(r"(?<![\w.])bool\b(?!: Final)", "builtins.bool", text)


def docstring(value: object, indent: str) -> str:
    """The docstring as source text."""
    lines = inspect.cleandoc(value.__doc__ or "").split("\n")
    text = "\n".join(f"{indent}{line}".rstrip() for line in lines).lstrip()
    raw = "r" if "\\" in text else ""
    end = f"\n{indent}" if len(lines) > 1 or text.endswith('"') else ""
    return f'{indent}{raw}"""{text}{end}"""\n'


def documented(text: str, module: object = _flex) -> str:
    """The text of classes, with the docstrings of their members inserted and the members that it leaves out added."""
    owner, lines, named = None, [], set[str]()
    for line in [*typed(text).splitlines(keepends=True), ""]:
        if owner is not None and not line.startswith((" ", "\n")):
            end = len(lines) - (lines[-1] == "\n")
            lines.insert(end, members(owner, named))
            owner, named = None, set()
        if name := re.match(r"class (\w+)", line):
            owner = getattr(module, name[1], None)
        if member := re.match(r"    def (\w+)\(", line):
            named.add(member[1])
        value = getattr(owner, member[1], None) if member and line.endswith(": ...\n") else None
        if value is not None and value.__doc__ and not member[1].startswith("_"):
            lines.append(line.replace(": ...\n", ":\n") + docstring(value, " " * 8))
        elif name and owner is not None and owner.__doc__:
            lines.append(line.replace(": ...\n", ":\n") + docstring(owner, "    "))
        else:
            lines.append(line)
    return "".join(lines)


def members(owner: object, named: set[str]) -> str:
    """Methods and properties of a class, except for those that are named, and for operators."""
    text = ""
    for name in sorted(vars(owner)):
        if name in named or name.startswith("_"):
            continue
        value = getattr(owner, name)  # composed methods are there when looked up
        if inspect.isgetsetdescriptor(value):
            head = typed(f"    @property\n    def {name}(self) -> {TYPES.of(value)['return']}:")
            text += f"{head}\n{docstring(value, ' ' * 8)}" if value.__doc__ else f"{head} ...\n"
        elif isinstance(value, (MethodDescriptorType, FunctionType)):
            text += function(name, value, "    ", method=True)
    return text


def binary(names: str, returns: str, other: str = "_Operand") -> str:
    return "".join(
        f"    def __{name}__(self, other: {other}, /) -> {returns}: ...\n" for name in names.split()
    )


def tensor() -> str:
    """The class Tensor: its own members from TENSOR, and the functions of the module that are methods."""
    own = documented(TENSOR)
    arithmetic = "add sub mul truediv floordiv mod and or xor lshift rshift"
    if hasattr(_flex.Tensor, "__matmul__"):
        arithmetic += " matmul"
    names = arithmetic.split()
    own += binary(arithmetic, "Tensor") + binary(" ".join(f"r{n}" for n in names), "Tensor")
    own += binary(" ".join(f"i{n}" for n in names if hasattr(_flex.Tensor, f"__i{n}__")), "Self")
    own += "".join(
        f"    def __{n}__(self, other: _Operand, mod: None = None, /) -> Tensor: ...\n"
        for n in ("pow", "rpow")
    )
    own += "    def __ipow__(self, other: _Operand, /) -> Self: ...  # type: ignore[misc]\n"
    own += binary("divmod rdivmod", "tuple[Tensor, Tensor]") + binary("lt le gt ge", "Tensor")
    own += "    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
    own += "    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
    own += "".join(
        f"    def __{n}__(self) -> Tensor: ...\n"
        for n in ("abs", "ceil", "floor", "invert", "neg", "pos", "trunc")
    )
    modules = (_flex, _flex._linalg)
    shared = {n: getattr(_flex.Tensor, n) for n in dir(_flex.Tensor)}
    shared = {n: f for n, f in shared.items() if any(f is getattr(m, n, 0) for m in modules)}
    return own + "".join(forms(n, f, "    ", method=True) for n, f in shared.items())


def decorator(name: str, value: object) -> str:
    """A function that takes a function, or as a decorator with options, none; what it makes is called as that function is."""
    head, rest = function(name, value).split("\n", 1)
    types = TYPES.of(value)
    parameter, made = types["f"] + " = None", types["return"]
    direct = head.replace(parameter, "Callable[_P, _R]").replace(made, "_Fused[_P, _R]")
    later = head.replace(parameter, "None = None")
    later = later.replace(made, "Callable[[Callable[_P, _R]], _Fused[_P, _R]]")
    return f"@overload\n{direct}\n{rest}@overload\n{later} ...\n"


def product(name: str, value: object) -> str:
    """A function of `quant` whose result is a QTensor if it is given an output."""
    head, rest = function(name, value).split("\n", 1)
    output = TYPES.of(value)["output"]
    dtypes = output.removesuffix(" | None")
    floats = head.replace(f"output: {output}", "output: None")
    integers = head.replace(f"output: {output} = None", f"output: {dtypes}")
    integers = integers.replace("-> Tensor:", "-> QTensor:")
    return f"@overload\n{floats}\n{rest}@overload\n{integers} ...\n"


def quantised() -> str:
    """The operators of QTensor, the last class of its module."""
    names = ["add", "sub", "mul", "truediv", "floordiv", "mod", "matmul"]
    own = binary(" ".join(names), "QTensor", "QTensor | _Operand")
    own += binary(" ".join(f"r{n}" for n in names), "QTensor")
    own += "".join(
        f"    def __{n}__(self, other: QTensor | _Operand, mod: None = None, /) -> QTensor: ...\n"
        for n in ("pow", "rpow")
    )
    own += binary("lt le gt ge", "Tensor", "QTensor | _Operand")
    own += "    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
    own += "    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
    own += "".join(f"    def __{n}__(self) -> QTensor: ...\n" for n in ("abs", "neg", "pos"))
    return own


SUBMODULES = ["fft", "io", "linalg", "models", "nn", "onnx", "quant", "random", "signal"]


def defined(body: list[ast.stmt]) -> set[str]:
    """The names that statements define."""
    assigned = [node.target for node in body if isinstance(node, ast.AnnAssign)]
    assigned += [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    named = [node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return {ast.unparse(target) for target in assigned} | {*named}


COMPOSED = flex.fft.COMPOSED
ALIASES = defined(ast.parse(HEADER).body)


def imports(text: str) -> str:
    """Imports of the names that a stub uses and does not define."""
    tree = ast.parse(text)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    used -= defined(tree.body) | {*dir(builtins)}
    lines = [f"import {name}\n" for name in sorted(used & {"builtins", "sys"})]
    used -= {"builtins", "sys"}
    for module in (_flex, collections.abc, os, types, typing, _results, flex.io):
        types_only = {_flex: ALIASES, flex.io: {"_File"}}.get(module, set())
        names = {name for name in used if hasattr(module, name) or name in types_only}
        used -= names
        if names:
            lines.append(f"from {module.__name__} import {', '.join(sorted(names))}\n")
    return "".join(lines)


def write(file: str, text: str, names: list[str], reexported: str = "") -> None:
    exported = "".join(f'    "{name}",\n' for name in names)
    head = "# Written by scripts/make_stubs.py.\n" + imports(text) + reexported
    all_ = f"\n__all__ = [\n{exported}]\n"
    (TARGET / file).write_text(head + "\n" + text + all_, encoding="utf-8")


def core() -> None:
    """The stub of `_flex`."""
    text = typed(HEADER) + documented(CLASSES) + tensor() + "\n"
    modules = [name for name, value in vars(_flex).items() if inspect.ismodule(value)]
    text += "".join(f"{name}: ModuleType\n" for name in sorted(modules)) + "\n"
    for name in _flex.__all__:
        value = getattr(_flex, name)
        if isinstance(value, _flex.DType):
            text += f"{name}: Final[DType]\n"
        elif inspect.isclass(value):
            continue
        elif callable(value):
            text += decorator(name, value) if name == "fuse" else forms(name, value)
        else:
            text += f"{name}: Final[{type(value).__name__ if value is not None else 'None'}]\n"
    write("_flex.pyi", text, _flex.__all__)


def module_stub(module: ModuleType, file: str, classes: str = "") -> None:
    """The stub of a module: its classes and functions, and those that it has from others."""
    text, reexported = documented(classes, module), ""
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value):
            reexported += f"from {module.__name__} import {name} as {name}\n"
        elif getattr(_flex, name, None) is value:
            reexported += f"from flex._flex import {name} as {name}\n"
        elif name in _signals.FUNCTIONS or name in _losses.FUNCTIONS or name in COMPOSED:
            reexported += f"from {value.__module__} import {name} as {name}\n"
        elif not inspect.isclass(value):
            several = module is flex.quant and "output" in TYPES.of(value)
            text += product(name, value) if several else forms(name, value)
    write(file, text, module.__all__, reexported)


def package() -> None:
    """The stub of `flex`, whose functions have their types elsewhere."""
    text = "".join(f"from flex import {name} as {name}\n" for name in SUBMODULES)
    text += "from flex._flex import *\n"
    for module, names in sorted(
        {**_functions.FUNCTIONS.modules, "flex._reduce": ["reduce"]}.items()
    ):
        text += "".join(f"from {module} import {name} as {name}\n" for name in sorted(names))
    write("__init__.pyi", text, flex.__all__)


def main() -> None:
    core()
    package()
    module_stub(flex.nn, "nn/__init__.pyi", NN_CLASSES)
    module_stub(flex.nn.grad, "nn/grad.pyi")
    module_stub(flex.fft, "fft.pyi")
    module_stub(flex.signal, "signal.pyi")
    module_stub(flex.random, "random.pyi", RANDOM_CLASSES)
    module_stub(flex.linalg, "linalg.pyi", "class LinAlgError(ValueError): ...\n\n")
    module_stub(flex.quant, "quant.pyi", QUANT_CLASSES.rstrip() + "\n" + quantised() + "\n")
    order = ["check", "--quiet", "--select=I", "--fix", str(TARGET)]
    subprocess.run([sys.executable, "-m", "ruff", *order], check=True)


if __name__ == "__main__":
    main()
