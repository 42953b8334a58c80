"""Bytes of code in an unstripped build of the module, by folder of the source, instruction set and dtype, from its symbols.

    census.py [FILE]    default: the development build, target/debug/lib_flex.so

For a release: scripts/build.sh --release --config 'profile.release.package.flex-python.strip="none"', then census.py
python/flex/_flex.abi3.so. Needs binutils' nm. A generic function counts for the folder of the first path of flex in its symbol: a
kernel's own, since trampolines are methods of kernels.
"""

import collections
import re
import subprocess
import sys

SETS = re.compile(r"simd::(base|avx2|avx512|vnni|avx_vnni|bf16)::(?:Call|Elementwise)>")
PATHS = re.compile(r"\b(flex|_flex|core|alloc|std|pyo3|hashbrown|half)::((?:\w+::)*)")
DTYPES = {"binary16::f16": "float16", "bfloat::bf16": "bfloat16", "Complex<f32>": "complex64"}
DTYPES |= {"Complex<f64>": "complex128", "f32": "float32", "f64": "float64"}
DTYPES |= {f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)}
DTYPES |= {f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}
WORDS = re.compile(r"\b(?:binary16::f16|bfloat::bf16|Complex<f(?:32|64)>|[iuf](?:8|16|32|64)\b)")


def symbols(file):
    """Pairs of demangled name and size, of all functions."""
    listing = subprocess.run(
        ["nm", "-C", "-S", "--defined-only", file], capture_output=True, text=True, check=True
    )
    for line in listing.stdout.splitlines():
        parts = line.split(maxsplit=3)
        if len(parts) == 4 and parts[2] in "tTwW":
            yield parts[3], int(parts[1], 16)


def folder(name):
    found = PATHS.search(name)
    if not found:
        return "other"
    crate, path = found.groups()
    modules = [part for part in path.split("::") if part and part[0].islower()][:2]
    return "/".join(
        ["python" if crate == "_flex" else crate, *modules][1 if crate == "flex" else 0 :]
    )


def dtype(name):
    kinds = sorted({DTYPES[word] for word in WORDS.findall(name)})
    return kinds[0] if len(kinds) == 1 else "several" if kinds else "none"


def table(title, counts, total):
    print(f"\n{title}")
    for key, (size, functions) in sorted(counts.items(), key=lambda row: -row[1][0])[:40]:
        print(f"{size / 1e3:10.0f} KB {100 * size / total:5.1f} % {functions:7} functions  {key}")


def main():
    file = sys.argv[1] if len(sys.argv) > 1 else "target/debug/lib_flex.so"
    tables = {
        title: collections.defaultdict(lambda: [0, 0]) for title in ("folder", "set", "dtype")
    }
    total = 0
    for name, size in symbols(file):
        total += size
        found = SETS.search(name)
        for title, key in (
            ("folder", folder(name)),
            ("set", found.group(1) if found else "none"),
            ("dtype", dtype(name)),
        ):
            tables[title][key][0] += size
            tables[title][key][1] += 1
    print(f"{file}: {total / 1e6:.2f} MB of code")
    for title, counts in tables.items():
        table(f"by {title}", counts, total)


if __name__ == "__main__":
    main()
