"""Types of the module's functions: PyO3 puts them into a build of flex-python with the feature `stubs`, as JSON in symbols."""

import ctypes
import inspect
import json
import os
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# PyO3 converts a float also from an object with `__index__`.
NAMES = {"SupportsFloat | SupportsIndex": "float"}


def library() -> str:
    """Builds the module with its types; the path of its file, which is not the one that `import flex` finds."""
    options = ["--release", "-p", "flex-python", "--features", "stubs", "--message-format", "json"]
    environment = os.environ | {"PYO3_BUILD_EXTENSION_MODULE": "1"}
    build = subprocess.run(
        ["cargo", "build", "-q", *options], cwd=ROOT, env=environment, stdout=PIPE, check=True
    )
    messages = [json.loads(line) for line in build.stdout.splitlines()]
    files = [m["filenames"] for m in messages if m.get("target", {}).get("name") == "_flex"]
    return next(f for f in files[-1] if f.endswith(".so"))


def chunks(path: str) -> list[dict[str, Any]]:
    """What PyO3 says of each function, class and method."""
    module = ctypes.PyDLL(path)
    symbols = subprocess.run(["nm", "-D", path], stdout=PIPE, check=True, text=True).stdout.split()
    found = []
    for symbol in symbols:
        if symbol.startswith("PYO3_INTROSPECTION_1_"):
            length = ctypes.c_uint32.in_dll(module, symbol)
            text = ctypes.string_at(ctypes.addressof(length) + 4, length.value)
            found.append(json.loads(text))
    return found


class Types:
    """The types of functions and methods, and of properties."""

    def __init__(self) -> None:
        found = chunks(library())
        self.classes = {c["id"]: c["name"] for c in found if c["type"] == "class"}
        self.members: dict[tuple[Any, ...], dict[str, Any]] = {}
        for member in found:
            if member["type"] == "function":
                # functions of different modules have different docstrings
                owner = self.classes.get(
                    member.get("parent"), inspect.cleandoc(member.get("doc", ""))
                )
                self.members[owner, member["name"]] = member

    def member(self, value: Any) -> dict[str, Any]:
        """What PyO3 says of a function, a method or a property; KeyError if nothing."""
        owner = getattr(value, "__objclass__", None)
        known = owner.__name__ if owner else inspect.cleandoc(value.__doc__ or "")
        return self.members[known, value.__name__]

    def of(self, value: Any) -> dict[str, str]:
        """The types of the parameters of a function or method, and that of its result as "return"."""
        if inspect.isfunction(value):
            return value.__annotations__
        found = self.member(value)
        shown = inspect.signature(value).parameters if callable(value) else {}
        arguments = found["arguments"]
        every = [
            a for kind in ("posonlyargs", "args", "kwonlyargs") for a in arguments.get(kind, [])
        ]
        every += [arguments[kind] for kind in ("vararg", "kwarg") if kind in arguments]
        types = {"return": self.text(found["returns"])}
        for argument in every:
            if "annotation" not in argument:
                continue  # self
            type_, default = argument["annotation"], shown[argument["name"]].default
            # None stands for the default that is shown
            stands = argument.get("default", {}).get("kind") == "none" and default is not None
            if stands and type_["type"] == "binop" and type_["right"].get("kind") == "none":
                type_ = type_["left"]
            types[argument["name"]] = self.text(type_)
        return types

    def text(self, type_: dict[str, Any]) -> str:
        """The source of a type."""
        match type_:
            case {"type": "constant", "kind": "none"}:
                return "None"
            case {"type": "constant", "value": str(written)}:
                return written.replace("'", '"')
            case {"type": "name", "id": name} | {"type": "attribute", "attr": name}:
                return name
            case {"type": "id", "id": id_}:
                return self.classes[id_]
            case {"type": "binop", "left": left, "right": right}:
                union = f"{self.text(left)} | {self.text(right)}"
                return NAMES.get(union, union)
            case {"type": "subscript", "value": value, "slice": slice_}:
                return f"{self.text(value)}[{self.text(slice_)}]"
            case {"type": "tuple", "elts": elements}:
                return ", ".join(map(self.text, elements))
        raise ValueError(f"a type that is not known here: {type_}")
