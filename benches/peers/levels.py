"""Limits all libraries to an instruction set, by the environment variables that each reads when it is loaded.

onnxruntime cannot be limited, since its MLAS chooses kernels by CPUID alone. Neither can OpenVINO: its oneDNN can, its other kernels
cannot, so some layers would find no implementation. Both take part only at the machine's own level.
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
# The name of each level in the report; the machine's own comes first.
LEVELS = {NATIVE: "the machine's own", "avx2": "AVX2"}
FREE = ("onnxruntime", "openvino")  # libraries that cannot be limited

_HELD = {
    "FLEX_ISA": "avx2",
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "TF_CPP_MIN_LOG_LEVEL": "3",  # XLA would log for each product that it lacks the fusion
}
# Limits the code that XLA generates, and disables YNNPACK, which chooses kernels by CPUID alone:
# products then use Eigen with AVX2.
_XLA = "--xla_cpu_max_isa=AVX2 --xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INVALID"
# The features beyond AVX2 that NumPy would use on this machine; it refuses unknown names.
_BEYOND = """
from numpy._core._multiarray_umath import __cpu_dispatch__ as known, __cpu_features__ as has
print(*(name for name in known if has.get(name) and ("512" in name or name == "X86_V4")))
"""


def environment(level: str) -> dict[str, str]:
    """The environment variables that limit libraries to a level."""
    if level == NATIVE:
        return {}
    beyond = subprocess.run(
        [sys.executable, "-c", _BEYOND], check=True, capture_output=True, text=True
    ).stdout.strip()
    numpy = {"NPY_DISABLE_CPU_FEATURES": beyond} if beyond else {}
    return {**_HELD, **numpy, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {_XLA}".strip()}


@contextmanager
def held_to(level: str) -> Iterator[None]:
    """Limits the processes started within the block to the level."""
    before = dict(os.environ)
    os.environ.update(environment(level))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
