"""Instruction sets that all libraries are held to, by what each of them reads from its environment when it is loaded.

onnxruntime cannot be held, for its MLAS chooses kernels by CPUID alone; nor can OpenVINO, whose oneDNN is held and whose other kernels
are not, so that some of its layers find none. They take part at the machine's own level.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NATIVE = "native"
# What each level is called in the report; the machine's own comes first.
LEVELS = {NATIVE: "the machine's own", "avx2": "AVX2"}
FREE = ("onnxruntime", "openvino")  # libraries that cannot be held

_HELD = {
    "FLEX_ISA": "avx2",
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "TF_CPP_MIN_LOG_LEVEL": "3",  # XLA would log of each product that it has no such fusion
}
# Code that XLA generates, and no products by YNNPACK, which chooses kernels by CPUID alone: those
# of Eigen are left, of AVX2.
_XLA = "--xla_cpu_max_isa=AVX2 --xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INVALID"
# What NumPy would dispatch to beyond AVX2 on this machine: it refuses names that it does not know.
_BEYOND = """
from numpy._core._multiarray_umath import __cpu_dispatch__ as known, __cpu_features__ as has
print(*(name for name in known if has.get(name) and ("512" in name or name == "X86_V4")))
"""


def environment(level: str) -> dict[str, str]:
    """The variables that hold libraries to a level."""
    if level == NATIVE:
        return {}
    beyond = subprocess.run(
        [sys.executable, "-c", _BEYOND], check=True, capture_output=True, text=True
    ).stdout.strip()
    numpy = {"NPY_DISABLE_CPU_FEATURES": beyond} if beyond else {}
    return {**_HELD, **numpy, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {_XLA}".strip()}


@contextmanager
def held_to(level: str) -> Iterator[None]:
    """Processes that are started meanwhile are held to the level."""
    before = dict(os.environ)
    os.environ.update(environment(level))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
