"""Modules of examples/web without a browser."""

import struct
from collections.abc import Sequence
from pathlib import Path

import wasmtime


class Module:
    """A module, called as the JavaScript of wasm-bindgen calls it, as far as the tests need."""

    def __init__(self, path: Path) -> None:
        self.store = wasmtime.Store()
        module = wasmtime.Module.from_file(self.store.engine, str(path))

        def refuse(*_: object) -> None:
            raise RuntimeError("the module reports an error")

        imports = []
        for i in module.imports:
            expected = "init_externref_table" in i.name
            imports.append(
                wasmtime.Func(self.store, i.type, (lambda: None) if expected else refuse)
            )
        self.exports = wasmtime.Instance(self.store, module, imports).exports(self.store)

    def call(self, name: str, *arguments: int) -> list[int]:
        """Calls a function and returns its results, without the last two, an error and whether there was one."""
        *results, _, failed = self.exports[name](self.store, *arguments)
        assert not failed
        return results

    def put(self, values: bytes | Sequence[float], format: str = "B") -> tuple[int, int]:
        """Copies an array argument into the module's memory; returns its address and length."""
        array = struct.pack(f"<{len(values)}{format}", *values)
        at = self.exports["__wbindgen_malloc"](self.store, len(array), struct.calcsize(format))
        self.exports["memory"].write(self.store, array, at)
        return at, len(values)

    def take(self, at: int, length: int) -> tuple[float, ...]:
        """The float32 values of a result, whose memory is freed."""
        values = struct.unpack(
            f"<{length}f", self.exports["memory"].read(self.store, at, at + 4 * length)
        )
        self.exports["__wbindgen_free"](self.store, at, 4 * length, 4)
        return values
