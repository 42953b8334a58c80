"""The speed-up of SIMD in WebAssembly: the modules of examples/web under wasmtime, without and with simd128, alternating. Times are the
shortest of all runs, less the cost of a call from Python.

scripts/build-web.sh && .venv/bin/python benches/web.py
"""

import math
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "web"))
from module import Module  # noqa: E402

BUILDS = ["scalar", "simd128"]
CALL = "a call"
SECONDS = 2.0  # for each workload


def works(build: str) -> dict[str, Callable[[], None]]:
    """Workloads by name."""
    module = Module(ROOT / "target" / "web" / build / "flex_web_bg.wasm")
    numbers = random.Random(1)

    def tensor(*shape: int) -> int:
        values = [numbers.uniform(-1, 1) for _ in range(shape[0] * shape[1])]
        return module.call("tensor_new", *module.put(values, "f"), *module.put(shape, "I"))[0]

    def work(name: str, *arguments: int) -> Callable[[], None]:
        return lambda: module.exports["__wbg_tensor_free"](
            module.store, module.call(name, *arguments)[0], 1
        )

    one, square, rows = tensor(1, 1), tensor(256, 256), tensor(512, 1024)
    return {
        CALL: work("tensor_add", one, one),
        "add, 256 x 256": work("tensor_add", square, square),
        "softmax, 512 x 1024": work("tensor_softmax", rows, -1),
        "matrix product, 256 x 256": work("tensor_matmul", square, square),
    }


def main() -> None:
    builds = [works(build) for build in BUILDS]
    shortest = {name: [math.inf] * len(builds) for name in builds[0]}
    for name, times in shortest.items():
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            for i, build in enumerate(builds):
                start = time.perf_counter()
                build[name]()
                times[i] = min(times[i], time.perf_counter() - start)
    calls = shortest.pop(CALL)
    for name, times in shortest.items():
        scalar, simd128 = (1e6 * (time - call) for time, call in zip(times, calls, strict=True))
        print(
            f"{name}: scalar {scalar:.1f} us, simd128 {simd128:.1f} us, {scalar / simd128:.2f} times as fast"
        )


if __name__ == "__main__":
    main()
