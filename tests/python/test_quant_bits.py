"""Quantised products have the same bits on any number of threads and instruction set: each test runs them all."""

from quantised import outputs_by_isa

PRODUCTS = """
import sys, numpy as np, flex
from flex import quant
rng = np.random.default_rng(8)
x, w = (rng.standard_normal(s).astype("f4") for s in ((130, 200), (260, 200)))
for threads in (1, 2, 3):
    flex.set_num_threads(threads)
    parts = []
    for rows in (1, 3, 130):
        for how in ({"axis": 0}, {"dtype": "int4", "block": 40}):
            q = quant.quantize(flex.asarray(w), **how)
            parts += [q.values, quant.linear(x[:rows], q)]
        q = quant.quantize(flex.asarray(w), axis=0)
        parts += [quant.linear(x[:rows], q, inputs=i) for i in ("dynamic", "dynamic_symmetric")]
    big = quant.quantize(flex.asarray(rng.standard_normal(1) * 0 + np.arange(300_000, dtype="f4")))
    bits = b"".join(np.asarray(p).tobytes() for p in [*parts, big.values, big.dequantize()])
    if threads == 1:
        first = bits
    assert bits == first, threads
exact = [quant.linear(x, q, inputs=i) for i in ("dynamic", "dynamic_symmetric")]
sys.stdout.buffer.write(b"".join(np.asarray(p).tobytes() for p in [q.values, *exact, q.dequantize()]))
"""

CONVOLUTIONS = """
import sys, numpy as np, flex
from flex import quant
rng = np.random.default_rng(8)
x = rng.standard_normal((2, 32, 40, 41)).astype("f4")
q = quant.quantize(flex.asarray(rng.standard_normal((70, 32, 3, 3)).astype("f4")), axis=0)
for threads in (1, 2, 3):
    flex.set_num_threads(threads)
    y = [quant.conv2d(x, q, padding=1, inputs=i) for i in ("dynamic", "dynamic_symmetric")]
    bits = b"".join(np.asarray(part).tobytes() for part in y)
    first = first if threads > 1 else bits
    assert bits == first, threads
sys.stdout.buffer.write(bits)
"""


def test_products():
    assert len(outputs_by_isa(PRODUCTS)) == 1


def test_convolutions():
    assert len(outputs_by_isa(CONVOLUTIONS)) == 1
