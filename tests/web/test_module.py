"""The modules of examples/web without a browser: their sizes, and their predictions for held-out digits."""

import gzip
import struct
from pathlib import Path

import pytest
from module import Module

BUILDS = ["scalar", "simd128"]
HELD_OUT = Path(__file__).resolve().parents[2] / "examples" / "embedded" / "convolutional.bin"
RECORD = struct.Struct("<64s10fB3x")  # pixels, probabilities, the digit


@pytest.mark.parametrize("build", BUILDS)
def test_modules_are_small(site: Path, build: str):
    module = (site / build / "flex_web_bg.wasm").read_bytes()
    packed = len(gzip.compress(module, 9))
    print(f"{build}: {len(module) / 1024:.0f} KiB, {packed / 1024:.0f} KiB by gzip")
    assert len(module) <= 520_000
    assert packed <= 205_000


@pytest.mark.parametrize("build", BUILDS)
def test_modules_read_digits(site: Path, build: str):
    module = Module(site / build / "flex_web_bg.wasm")
    [classifier] = module.call("digits_new")
    records = list(RECORD.iter_unpack(HELD_OUT.read_bytes()))
    assert len(records) == 297
    for pixels, *probabilities, _ in records:
        got = module.take(*module.call("digits_probabilities", classifier, *module.put(pixels)))
        assert got == pytest.approx(probabilities, abs=5e-6)
