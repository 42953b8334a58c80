"""Uses an installed flex where nothing else is: values, products, threads, files, processes.

try_wheel.py    needs the standard library alone, so that it runs wherever a wheel can be installed
"""

import math
import multiprocessing
import pickle
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import flex
from flex import nn


def close(a, b, error=1e-5):
    return all(abs(x - y) <= error * max(1, abs(y)) for x, y in zip(a, b, strict=True))


def values():
    x = [0.1 * i for i in range(100)]
    for dtype, error in {
        "float64": 1e-14,
        "float32": 1e-6,
        "float16": 2e-3,
        "bfloat16": 2e-2,
    }.items():
        t = flex.asarray(x, dtype=dtype)
        assert close(flex.exp(-t).tolist(), [math.exp(-v) for v in t.tolist()], error), dtype
    assert flex.sum(flex.arange(1000)).item() == 499500
    assert flex.sort(flex.asarray([3, 1, 2])).tolist() == [1, 2, 3]
    assert abs(flex.fft.fft(flex.ones(64))[0].item() - 64) < 1e-5


def products():
    a = [[(i * 7 + j) % 11 / 11 for j in range(70)] for i in range(50)]
    b = [[(i * 5 + j) % 13 / 13 for j in range(60)] for i in range(70)]
    expected = [
        sum(x * y for x, y in zip(row, column, strict=True))
        for row in a
        for column in zip(*b, strict=True)
    ]
    for dtype, error in {"float64": 1e-13, "float32": 1e-5}.items():
        product = flex.asarray(a, dtype=dtype) @ flex.asarray(b, dtype=dtype)
        assert close(product.reshape(-1).tolist(), expected, error), dtype
    image = flex.ones((1, 3, 16, 16), dtype="float32")
    assert nn.conv2d(image, flex.ones((8, 3, 3, 3), dtype="float32"))[0, 0, 0, 0].item() == 27


def threads():
    x = flex.random.default_rng(0).random((512, 512), dtype="float32")
    expected = (x @ x).tolist()
    with ThreadPoolExecutor(4) as pool:
        assert all(y.tolist() == expected for y in pool.map(lambda _: x @ x, range(8)))


def files():
    x = flex.arange(1000, dtype="float32")
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.safetensors")
        flex.io.save(path, {"x": x})
        assert flex.io.load(path)["x"].tolist() == x.tolist()


def square(n):
    return flex.sum(flex.ones((n, n)) @ flex.ones((n, n))).item()


def processes():
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, [3, 200]) == [27, 200**3], method


def errors():
    message = ""
    try:
        flex.ones((2, 3)) @ flex.ones((2, 3))
    except ValueError as error:
        message = str(error)
    assert "matmul" in message


if __name__ == "__main__":
    for part in (values, products, threads, files, processes, errors):
        part()
        print(f"{part.__name__}: ok")
