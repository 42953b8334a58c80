"""Functions whose modules are imported when one is first used: all at once would double the time that importing flex takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any


class Functions(Mapping[str, Callable[..., Any]]):
    """The functions of a package by name, given the names that each of its modules has."""

    def __init__(self, package: str, modules: dict[str, str]) -> None:
        self.modules = {f"{package}.{module}": names.split() for module, names in modules.items()}
        self._module = {name: module for module, names in self.modules.items() for name in names}

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return getattr(import_module(self._module[name]), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._module)

    def __len__(self) -> int:
        return len(self._module)

    def __contains__(self, name: object) -> bool:
        return name in self._module  # without an import
