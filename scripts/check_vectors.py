#!/usr/bin/env python3
"""check_vectors.py PROGRAM...: checks that the kernels in these programs or libraries use vector instructions, of aarch64 (libraries as
Rust stores them) or simd128 (WebAssembly modules). They must be built with symbols, in v0 mangling.

A kernel that LLVM no longer vectorises is several times slower but still correct, so no other test detects it.
"""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

# Kernels by a pattern in the names of their functions; `f` is float32.
KERNELS = {
    "addition": r"elementwise\w*4rows3AddNt\w*5Floatf",
    "exponential": r"elementwise\w*4rows3ExpNt\w*5Floatf|2nn4rows\w*7Softmax",
    "matrix product": r"4gemm11macrokernel(7columns|14multiply_panel)f",
}
# Opcodes after the prefix of vector instructions.
SIMD128 = {"f32x4.add": b"\xfd\xe4\x01", "f32x4.mul": b"\xfd\xe6\x01"}
NEON = {"fadd": r"\tfadd\tv\d+\.4s", "fmla": r"\tfmla\tv\d+\.4s"}


def number(data: bytes, at: int) -> tuple[int, int]:
    """An LEB128 number, and the position after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def sections(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Kind, start and end of each section."""
    while at < end:
        length, start = number(data, at + 1)
        yield data[at], start, start + length
        at = start + length


def module(data: bytes) -> Iterator[tuple[str, set[str]]]:
    """The names of a module's functions, and the vector instructions in each."""
    bodies, names = [], {}
    for kind, start, end in sections(data, 8, len(data)):
        if kind == 10:
            count, at = number(data, start)
            for _ in range(count):
                length, body = number(data, at)
                at = body + length
                bodies.append(data[body:at])
        if kind == 0 and data[start : start + 5] == b"\x04name":
            for part, first, _ in sections(data, start + 5, end):
                count, at = number(data, first)
                for _ in range(count if part == 1 else 0):
                    index, at = number(data, at)
                    length, at = number(data, at)
                    names[index] = data[at : at + length].decode()
                    at += length
    imported = len(names) - len(bodies)
    for index, body in enumerate(bodies):
        yield names[imported + index], {name for name, code in SIMD128.items() if code in body}


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def elf(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The same for the kernels of an aarch64 library, whose functions have sections of their own: disassembling all of it takes half a
    minute."""
    symbols = map(
        str.split, output("aarch64-linux-gnu-nm", "--defined-only", str(path)).split("\n")
    )
    functions = [symbol[2] for symbol in symbols if len(symbol) == 3 and symbol[1] in "tT"]
    any_kernel = "|".join(KERNELS.values())
    chosen = [f"--section=.text.{name}" for name in functions if re.search(any_kernel, name)]
    code = output("aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", *chosen, str(path))
    for function in code.split("\n\n"):
        head, _, body = function.partition(":\n")
        yield head, {name for name, pattern in NEON.items() if re.search(pattern, body)}


def main() -> None:
    found = defaultdict(set)
    for path in map(Path, sys.argv[1:]):
        data = path.read_bytes()
        wasm = data.startswith(b"\0asm")
        for name, instructions in module(data) if wasm else elf(path):
            for kernel, pattern in KERNELS.items():
                if re.search(pattern, name):
                    found[kernel] |= instructions
    add, multiply = SIMD128 if wasm else NEON
    for kernel, expected in {
        "addition": add,
        "exponential": multiply,
        "matrix product": multiply,
    }.items():
        if kernel not in found:
            sys.exit(f"no function of the {kernel} of float32")
        if expected not in found[kernel]:
            sys.exit(f"the {kernel} of float32 is not vectorised: no {expected}")
    print(f"vectorised: {', '.join(found)}")


if __name__ == "__main__":
    main()
