"""The error for an attribute that a module of flex or a Tensor has not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


class MissingAttributeError(AttributeError):
    """Shown as what it is, an AttributeError. The hint in its message is looked for when somebody reads it: `hasattr` doesn't."""

    def __init__(self, owner: object, what: str, name: str) -> None:
        super().__init__(owner, what, name)
        self.name = name  # without `obj`, for which Python would add a suggestion of its own

    def __str__(self) -> str:
        from flex._hints import attribute

        owner, what, name = self.args
        return f"{what} has no attribute {name!r}{attribute(owner, name)}"

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return AttributeError, (str(self),)


MissingAttributeError.__module__ = "builtins"
MissingAttributeError.__name__ = MissingAttributeError.__qualname__ = "AttributeError"


def of_module(path: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of the module at `path`, which is asked for what it has not."""

    def missing(name: str) -> NoReturn:
        import sys

        raise MissingAttributeError(sys.modules[path], f"module {path!r}", name)

    return missing


def of_tensor(self: object, name: str) -> NoReturn:
    """`Tensor.__getattr__`, which is asked for what the class has not."""
    raise MissingAttributeError(self, "'flex.Tensor' object", name)
