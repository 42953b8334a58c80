"""The error for an attribute that a module of flex or a Tensor lacks, and for the constructor, which Tensor lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

    from flex._lazy import Functions


class MissingAttributeError(AttributeError):
    """An AttributeError, also by name. The hint in its message is computed only when the message is read, which `hasattr` does not do."""

    def __init__(self, owner: object, what: str, name: str) -> None:
        super().__init__(owner, what, name)
        self.name = name  # without `obj`, for which Python would add its own suggestion

    def __str__(self) -> str:
        from flex._hints import attribute

        owner, what, name = self.args
        return f"{what} has no attribute {name!r}{attribute(owner, name)}"

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return AttributeError, (str(self),)


MissingAttributeError.__module__ = "builtins"
MissingAttributeError.__name__ = MissingAttributeError.__qualname__ = "AttributeError"


def of_module(path: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of the module at `path`, called for missing attributes."""

    def missing(name: str) -> NoReturn:
        import sys

        raise MissingAttributeError(sys.modules[path], f"module {path!r}", name)

    return missing


def or_composed(path: str, functions: Functions) -> Callable[[str], object]:
    """The same of a module that also has functions which are imported when they are first used."""
    missing = of_module(path)

    def attribute(name: str) -> object:
        import sys

        if name not in functions:
            missing(name)
        found = functions[name]
        setattr(sys.modules[path], name, found)
        return found

    return attribute


def of_tensor(self: object, name: str) -> NoReturn:
    """`Tensor.__getattr__`, called for missing attributes."""
    raise MissingAttributeError(self, "'flex.Tensor' object", name)


def constructor(*_: object, **__: object) -> NoReturn:
    """`Tensor.__new__`."""
    raise TypeError(
        "flex.Tensor has no constructor: write flex.asarray(obj), or for a shape flex.zeros(shape) or flex.empty(shape)"
    )
