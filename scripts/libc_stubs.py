"""Libraries to link against for Linux on any machine: those of an old C library, of which only names and versions of symbols matter.

    libc_stubs.py TARGET FOLDER    TARGET: a Rust target of Linux, with glibc or musl

What is linked against the C library of the machine that builds asks for that library's version, which older systems lack. Zig carries the
symbols of all versions of glibc and the source of musl, and makes such libraries of them; they lie in its cache.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from elftools.elf.elffile import ELFFile

GLIBC = "2.17"  # CentOS 7, 2014: the oldest that Rust's standard library runs on

# What Rust's standard library takes from libgcc_s, which all systems with glibc have.
UNWINDER = (
    *("_Unwind_Backtrace", "_Unwind_DeleteException", "_Unwind_FindEnclosingFunction"),
    *("_Unwind_ForcedUnwind", "_Unwind_GetCFA", "_Unwind_GetDataRelBase", "_Unwind_GetGR"),
    *("_Unwind_GetIP", "_Unwind_GetIPInfo", "_Unwind_GetLanguageSpecificData"),
    *("_Unwind_GetRegionStart", "_Unwind_GetTextRelBase", "_Unwind_RaiseException"),
    *("_Unwind_Resume", "_Unwind_Resume_or_Rethrow", "_Unwind_SetGR", "_Unwind_SetIP"),
)


def compile(kind: str, source: str, target: str, output: Path, *flags: str) -> None:
    """Compiles a source into a shared library."""
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-shared", "-fPIC", *flags]
    cache = str(output.parent / "cache")
    run = subprocess.run(
        [*zig, "-o", str(output), "-x", kind, "-"],
        input=source,
        text=True,
        env=os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache},
        capture_output=True,
    )
    if run.returncode:
        raise SystemExit(f"zig cc -target {target}: {run.stderr}")


def stub(symbols: Iterable[str], soname: str, target: str, output: Path) -> None:
    """A library that has symbols, and nothing behind them."""
    source = "".join(f".globl {name}\n{name}:\n" for name in symbols)
    compile("assembler", source, target, output, "-nostdlib", f"-Wl,-soname,{soname}")


def main(target: str, folder: Path) -> None:
    arch, _, _, libc = target.split("-")
    glibc = libc == "gnu"
    zig_target = f"{arch}-linux-gnu.{GLIBC}" if glibc else f"{arch}-linux-musl"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    compile("c", "int main;", zig_target, folder / "any.so", "-lm")
    cache = folder / "cache"
    made = cache.glob

    if glibc:
        for library in made("o/*/lib*.so.*"):
            shutil.copy(library, folder)
            (folder / library.name.partition(".so")[0]).with_suffix(".so").symlink_to(library.name)
        # functions that programs call and old versions have under other names, such as fstat64
        [rest] = made("o/*/libc_nonshared.a")
        shutil.copy(rest, folder)
        (folder / "libc.so").unlink()
        (folder / "libc.so").write_text("GROUP ( libc.so.6 libc_nonshared.a )\n")
        stub(UNWINDER, "libgcc_s.so.1", zig_target, folder / "libgcc_s.so")
    else:
        [library] = made("o/*/libc.so")
        with library.open("rb") as file:
            table = ELFFile(file).get_section_by_name(".dynsym")
            symbols = [symbol.name for symbol in table.iter_symbols() if symbol.name]
        # by the name that Alpine gives it; musl's loader takes any that begins with libc.
        stub(symbols, f"libc.musl-{arch}.so.1", zig_target, folder / "libc.so")
        for name in ("m", "pthread", "dl", "rt", "util"):  # musl has all in one
            (folder / f"lib{name}.so").write_text("INPUT ( libc.so )\n")
        # not every system with musl has libgcc_s: the unwinder that Rust brings is linked in
        sysroot = subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()
        own = Path(sysroot, "lib/rustlib", target, "lib/self-contained/libunwind.a")
        (folder / "libgcc_s.so").write_text(f"INPUT ( {own} )\n")
    shutil.rmtree(cache)
    (folder / "any.so").unlink()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).absolute())
