"""The modules of examples/web without a browser: their sizes, and what they make of digits that weren't trained on."""

import gzip
import struct
from pathlib import Path

import pytest
import wasmtime

BUILDS = ["scalar", "simd128"]
HELD_OUT = Path(__file__).resolve().parents[2] / "examples" / "embedded" / "held_out.bin"
RECORD = struct.Struct("<64s10fB3x")  # pixels, probabilities as NumPy computes them, the digit


class Module:
    """A module as the JavaScript of wasm-bindgen uses it, as far as it's used here."""

    def __init__(self, path: Path) -> None:
        self.store = wasmtime.Store()
        module = wasmtime.Module.from_file(self.store.engine, str(path))

        def refuse(*_: object) -> None:
            raise RuntimeError("the module reports an error")

        imports = []
        for i in module.imports:
            expected = "init_externref_table" in i.name
            imports.append(wasmtime.Func(self.store, i.type, (lambda: None) if expected else refuse))
        self.exports = wasmtime.Instance(self.store, module, imports).exports(self.store)

    def call(self, name: str, *arguments: int) -> list[int]:
        """The results; the last is whether there was an error, and the one before that which."""
        *results, _, failed = self.exports[name](self.store, *arguments)
        assert not failed
        return results

    def put(self, values: bytes) -> tuple[int, int]:
        """Where bytes lie that a function takes, and how many they are."""
        at = self.exports["__wbindgen_malloc"](self.store, len(values), 1)
        self.exports["memory"].write(self.store, values, at)
        return at, len(values)

    def take(self, at: int, length: int) -> tuple[float, ...]:
        """The float32 values of a result, which is given back."""
        values = struct.unpack(f"<{length}f", self.exports["memory"].read(self.store, at, at + 4 * length))
        self.exports["__wbindgen_free"](self.store, at, 4 * length, 4)
        return values


@pytest.mark.parametrize("build", BUILDS)
def test_modules_are_small(site: Path, build: str):
    module = (site / build / "flex_web_bg.wasm").read_bytes()
    packed = len(gzip.compress(module, 9))
    print(f"{build}: {len(module)} bytes, {packed} by gzip")
    assert len(module) <= 300_000
    assert packed <= 120_000


@pytest.mark.parametrize("build", BUILDS)
def test_modules_read_digits(site: Path, build: str):
    module = Module(site / build / "flex_web_bg.wasm")
    [classifier] = module.call("digits_new")
    records = list(RECORD.iter_unpack(HELD_OUT.read_bytes()))
    assert len(records) == 297
    for pixels, *probabilities, _ in records:
        got = module.take(*module.call("digits_probabilities", classifier, *module.put(pixels)))
        assert got == pytest.approx(probabilities, abs=5e-6)
