#!/usr/bin/env python3
"""Writes the stubs of python/flex: names, parameters and docstrings come from the module, types from scripts/stub_tables.py, classes
from scripts/stub_classes.py, the first lines of each file from scripts/stub_heads.py.

Run it after adding or changing a function; `python -m mypy.stubtest flex` checks the result against the module.
"""

import inspect
import re
from pathlib import Path

from stub_classes import CLASSES, NN_CLASSES, QUANT_CLASSES, RANDOM_CLASSES, TENSOR
from stub_heads import FFT, GRAD, HEADER, INIT, LINALG, NN, QUANT, RANDOM, SIGNAL
from stub_tables import PAIR, PARAMETERS, RETURNS, SPECIAL

import flex
from flex import _flex

TARGET = Path(__file__).resolve().parent.parent / "python" / "flex"


def parameters(
    name: str, signature: inspect.Signature, method: bool = False, space: str = ""
) -> str:
    """The parameters with their types; the first of a method is self."""
    found = list(signature.parameters.values())
    parts, kinds = [], [p.kind for p in found]
    for i, p in enumerate(found):
        if (
            p.kind is p.KEYWORD_ONLY
            and p.VAR_POSITIONAL not in kinds[:i]
            and p.KEYWORD_ONLY not in kinds[:i]
        ):
            parts.append("*")
        if method and i == 0:
            parts.append("self" if len(p.name) == 1 else p.name)  # stubtest checks other names
        else:
            usual = SPECIAL.get((name, p.name), PARAMETERS.get(p.name, "_Operand"))
            type_ = SPECIAL.get((space + name, p.name), usual)
            star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            parts.append(
                f"{star}{p.name}: {type_}" + ("" if p.default is p.empty else f" = {p.default!r}")
            )
        if (
            p.kind is p.POSITIONAL_ONLY
            and p.POSITIONAL_ONLY not in kinds[i + 1 :]
            and not (method and i == 0)
        ):
            parts.append("/")
    return ", ".join(parts)


def function(
    name: str, value: object, indent: str = "", method: bool = False, space: str = ""
) -> str:
    returns = RETURNS.get(space + name, "Tensor")
    head = typed(
        f"{indent}def {name}({parameters(name, inspect.signature(value), method, space)}) -> {returns}:"
    )
    return f"{head}\n{docstring(value, indent + '    ')}"


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
    """The text of classes, with the docstrings of their members inserted."""
    owner, lines = None, []
    for line in typed(text).splitlines(keepends=True):
        if name := re.match(r"class (\w+)", line):
            owner = getattr(module, name[1], None)
        member = re.match(r"    def ([a-z]\w*|T|mT)\(.*: \.\.\.$", line)
        value = getattr(owner, member[1], None) if member else None
        if value is not None and value.__doc__:
            lines.append(line.replace(": ...\n", ":\n") + docstring(value, " " * 8))
        elif name and owner is not None and owner.__doc__:
            lines.append(line.replace(": ...\n", ":\n") + docstring(owner, "    "))
        else:
            lines.append(line)
    return "".join(lines)


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
    own += binary("divmod rdivmod", PAIR) + binary("lt le gt ge", "Tensor")
    own += "    def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
    own += "    def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]\n"
    own += "".join(
        f"    def __{n}__(self) -> Tensor: ...\n"
        for n in ("abs", "ceil", "floor", "invert", "neg", "pos", "trunc")
    )
    shared = [n for n in dir(_flex.Tensor) if getattr(_flex.Tensor, n) is getattr(_flex, n, None)]
    return own + "".join(function(n, getattr(_flex, n), "    ", method=True) for n in shared)


def decorator(name: str, value: object) -> str:
    """A function that takes a function, or as a decorator with options, none; what it makes is called as that function is."""
    head, rest = function(name, value).split("\n", 1)
    parameter, made = SPECIAL[name, "f"] + " = None", RETURNS[name]
    direct = head.replace(parameter, "Callable[_P, _R]").replace(made, "_Fused[_P, _R]")
    later = head.replace(parameter, "None = None")
    later = later.replace(made, "Callable[[Callable[_P, _R]], _Fused[_P, _R]]")
    return f"@overload\n{direct}\n{rest}@overload\n{later} ...\n"


def product(name: str, value: object) -> str:
    """A function of `quant` whose result is a QTensor if it is given an output."""
    head, rest = function(name, value, space="quant.").split("\n", 1)
    output = SPECIAL["quant." + name, "output"]
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


def reexports(modules: dict[str, list[str]]) -> str:
    """Imports of the functions of modules in Python, whose types stand there."""
    return "".join(
        f"from {module} import {name} as {name}\n"
        for module, names in modules.items()
        for name in sorted(names)
    )


def write(file: str, text: str, names: list[str]) -> None:
    exported = "".join(f'    "{name}",\n' for name in names)
    (TARGET / file).write_text(f"{text}\n__all__ = [\n{exported}]\n", encoding="utf-8")


def main() -> None:
    text = typed(HEADER) + documented(CLASSES) + tensor() + "\n"
    modules = ("_fft", "_io", "_linalg", "_nn", "_onnx", "_quant", "_random", "_signal")
    text += "".join(f"{name}: ModuleType\n" for name in modules) + "\n"
    for name in _flex.__all__:
        value = getattr(_flex, name)
        if isinstance(value, _flex.DType):
            text += f"{name}: Final[DType]\n"
        elif inspect.isclass(value):
            continue
        elif callable(value):
            text += decorator(name, value) if name == "fuse" else function(name, value)
        else:
            text += f"{name}: Final[{type(value).__name__ if value is not None else 'None'}]\n"
    write("_flex.pyi", text, _flex.__all__)

    from flex import _functions, _signals, fft, linalg, nn, quant, random, signal

    composed = reexports(_functions.FUNCTIONS.modules)
    write(
        "__init__.pyi",
        INIT.replace("from flex._reduce", composed + "from flex._reduce"),
        list(flex.__all__),
    )
    own = [name for name in nn.__all__ if hasattr(_flex._nn, name)]
    functions = [name for name in own if not inspect.isclass(getattr(nn, name))]
    text = NN + documented(NN_CLASSES, nn)
    text += "".join(function(name, getattr(nn, name)) for name in functions)
    write("nn/__init__.pyi", text, nn.__all__)
    composed = reexports(_signals.FUNCTIONS.modules)
    for module, name, head in ((fft, "fft", FFT), (signal, "signal", SIGNAL + composed + "\n")):
        own = [f for f in module.__all__ if f not in _signals.FUNCTIONS]
        functions = (function(f, getattr(module, f), space=f"{name}.") for f in own)
        write(f"{name}.pyi", head + "".join(functions), module.__all__)
    names = [name for name in random.__all__ if not inspect.isclass(getattr(random, name))]
    text = RANDOM + documented(RANDOM_CLASSES, random)
    text += "".join(function(name, getattr(random, name), space="random.") for name in names)
    write("random.pyi", text, random.__all__)
    own = [name for name in linalg.__all__ if name not in _flex.__all__]
    functions = [name for name in own if not inspect.isclass(getattr(linalg, name))]
    text = documented(LINALG, linalg) + "".join(
        function(f, getattr(linalg, f), space="linalg.") for f in functions
    )
    write("linalg.pyi", text, linalg.__all__)
    names = nn.grad.__all__
    text = GRAD + "".join(function(name, getattr(nn.grad, name), space="grad.") for name in names)
    write("nn/grad.pyi", text, names)
    names = [name for name in quant.__all__ if not inspect.isclass(getattr(quant, name))]
    text = QUANT + documented(QUANT_CLASSES.rstrip() + "\n" + quantised() + "\n", quant)
    for name in names:
        value = getattr(quant, name)
        several = ("quant." + name, "output") in SPECIAL
        text += product(name, value) if several else function(name, value, space="quant.")
    write("quant.pyi", text, quant.__all__)


if __name__ == "__main__":
    main()
