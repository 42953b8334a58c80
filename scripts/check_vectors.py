#!/usr/bin/env python3
"""check_vectors.py PROGRAM...: checks that the kernels in these programs or libraries use vector instructions, of aarch64 (libraries as
Rust stores them) or simd128 (WebAssembly modules); and in libraries of x86-64, that tiles of AVX2 and AVX-512 stay in registers. They
must be built with symbols, in v0 mangling.

A kernel that LLVM no longer vectorises, or unrolls too little for its sums to be registers, is several times slower but still correct, so
no other test detects it: least of all on a machine that lacks its instruction set.
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


def disassembled(path: Path, chosen: str, tools: str = "") -> Iterator[tuple[str, str]]:
    """Names and instructions of the functions of a library whose names match. They have sections of their own: disassembling all of it
    takes half a minute."""
    symbols = map(str.split, output(f"{tools}nm", "--defined-only", str(path)).split("\n"))
    functions = [symbol[2] for symbol in symbols if len(symbol) == 3 and symbol[1] in "tT"]
    sections = [f"--section=.text.{name}" for name in functions if re.search(chosen, name)]
    if not sections:
        return
    code = output(f"{tools}objdump", "-d", "--no-show-raw-insn", *sections, str(path))
    for function in code.split("\n\n"):
        head, _, body = function.partition(":\n")
        yield head, body


def elf(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The same for the kernels of an aarch64 library."""
    for name, body in disassembled(path, "|".join(KERNELS.values()), "aarch64-linux-gnu-"):
        yield name, {name for name, pattern in NEON.items() if re.search(pattern, body)}


# Tiles of products: what they multiply, its letters in the names of functions, and the instruction that multiplies and adds.
TILES = {
    "float32": ("f", r"vfn?m(?:add|sub)"),
    "float64": ("d", r"vfn?m(?:add|sub)"),
    "pairs of int8": (r"Nt\w*4pair4Pair", "vpmaddwd"),
}


def check_tiles(path: Path) -> None:
    """Whether the sums of matrix products stay in registers in a library of x86-64: few of the instructions read or write vectors on the
    stack, as it takes to save and restore a tile, not to add to it."""
    for level in ("avx2", "avx512"):
        for dtype, (letters, multiply) in TILES.items():
            kernel = rf"4simd\w*{level}\w*11microkernel8RunPanel{letters}E"
            bodies = [body for _, body in disassembled(path, kernel) if body]
            sums = sum(len(re.findall(rf"\t{multiply}", body)) for body in bodies)
            stack = sum(
                len(
                    re.findall(r"\tv\S+ .*\(%r[sb]p\).*%[yz]mm|\tv\S+ .*%[yz]mm.*\(%r[sb]p\)", body)
                )
                for body in bodies
            )
            if sums < 100:
                sys.exit(f"no function of the matrix product of {dtype} with {level}")
            if stack > sums / 8:
                sys.exit(
                    f"the matrix product of {dtype} with {level} keeps sums on the stack: {stack} accesses for {sums} multiply-adds"
                )
    print(f"in registers: tiles of {', '.join(TILES)} with AVX2 and AVX-512")


def check_vectorised(paths: list[Path]) -> None:
    found = defaultdict(set)
    for path in paths:
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


def main() -> None:
    paths = list(map(Path, sys.argv[1:]))
    # names of functions tell the instruction sets that a library has
    x86 = [path for path in paths if b"4simd6avx512" in path.read_bytes()]
    for path in x86:
        check_tiles(path)
    if len(x86) < len(paths):
        check_vectorised([path for path in paths if path not in x86])


if __name__ == "__main__":
    main()
