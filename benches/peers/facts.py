"""Facts about the machine and the libraries other than speed: versions, size, import time, dtypes."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DISTRIBUTIONS = {"flex": "flex-cpu"}  # if it differs from the module's name
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES += ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
NAMESPACES = {"jax": "jax.numpy"}
IMPORTS = 3


def machine() -> dict[str, Any]:
    """The CPU and its caches."""
    cpu = platform.processor() or platform.machine()
    caches = {}
    if (info := Path("/proc/cpuinfo")).exists():
        fields = dict(
            re.findall(
                r"^(model name|cpu family|model|flags)\s*: (.*)$",
                info.read_text(encoding="utf-8"),
                re.M,
            )
        )
        known = [
            name
            for name in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile")
            if name in fields.get("flags", "").split()
        ]
        cpu = f"{fields.get('model name', cpu)}, family {fields.get('cpu family')}, model {fields.get('model')} ({', '.join(known)})"
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (index / name).read_text(encoding="utf-8").strip() for name in ("level", "type", "size")
        )
        if kind != "Instruction":
            caches[f"L{level}"] = size
    return {
        "cpu": cpu,
        "caches": caches,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions(names: list[str]) -> dict[str, str]:
    """The versions of the libraries."""
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(DISTRIBUTIONS.get(name, name))
        except importlib.metadata.PackageNotFoundError:
            found[name] = "of this folder"
    return found


def libraries(names: list[str]) -> dict[str, dict[str, Any]]:
    """Bytes of the installed package and its requirements, import time in ms, dtypes with arithmetic and with matrix products."""
    empty = _seconds("pass")
    return {
        name: {
            **_bytes(name),
            "import_ms": (_seconds(f"import {NAMESPACES.get(name, name)}") - empty) * 1e3,
            "dtypes": _dtypes(name),
        }
        for name in names
    }


def _seconds(statement: str) -> float:
    """The shortest time that a fresh interpreter takes for the statement."""
    taken = []
    for _ in range(IMPORTS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        taken.append(time.perf_counter() - start)
    return min(taken)


def _bytes(name: str) -> dict[str, int]:
    """Bytes of the package's own files, and of everything that it requires."""
    sizes = _sizes(distribution := DISTRIBUTIONS.get(name, name), {})
    module = Path(__import__(name).__file__).parent
    if name in DISTRIBUTIONS and not (sizes and "site-packages" in module.parts):
        # imported from a folder, of which an installation has only the path
        sizes[distribution] = sum(
            file.stat().st_size
            for file in module.rglob("*")
            if file.is_file() and "__pycache__" not in file.parts
        )
    return {"bytes": sizes[distribution], "bytes_with_requirements": sum(sizes.values())}


def _sizes(distribution: str, seen: dict[str, int]) -> dict[str, int]:
    try:
        found = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return seen
    files = [Path(file.locate()) for file in found.files or () if "__pycache__" not in file.parts]
    seen[distribution] = sum(file.stat().st_size for file in files if file.is_file())
    for requirement in found.requires or ():
        named = re.match(r"[\w.-]+", requirement).group().lower()
        if "extra ==" not in requirement and named not in seen:
            _sizes(named, seen)
    return seen


_PROBE = """
import importlib, json
xp = importlib.import_module({namespace!r})
arithmetic, products = [], []
for name in {dtypes!r}:
    for works, kept in ((lambda a: a + a, arithmetic), (lambda a: a @ a, products)):
        try:
            dtype = getattr(xp, name)
            if works(xp.ones((2, 2), dtype=dtype)).dtype == dtype:
                kept.append(name)
        except Exception:
            pass
print(json.dumps([arithmetic, products]))
"""


def _dtypes(name: str) -> list[list[str]]:
    """The dtypes with arithmetic, and those with matrix products."""
    program = _PROBE.format(namespace=NAMESPACES.get(name, name), dtypes=DTYPES)
    environment = {**os.environ, "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    output = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    ).stdout
    return json.loads(output)
