"""Loops over the rows of a tensor that lose what they write.

`for row in x: row /= 2` binds `row` to a new value, since tensors are values, and leaves `x` as it is. The bytecode of a function tells
whether such a name is used for anything else: if not, the loop does nothing, and was meant to change `x`.
"""

from __future__ import annotations

import dis
import sys
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING

from . import _flex

if TYPE_CHECKING:
    from types import CodeType

# For code objects, by their addresses: the object, which keeps the address from being used again, and what is known of its loops.
_known: dict[int, tuple[CodeType, dict[int, str | None]]] = {}
_MOST = 1000


def warn_of_lost_rows() -> None:
    """Warns if the caller's caller is about to run such a loop over a tensor."""
    frame = sys._getframe(1)
    code, at = frame.f_code, frame.f_lasti
    known = _known.get(id(code))
    if known is None:
        if len(_known) >= _MOST:
            _known.clear()
        known = _known[id(code)] = (code, {})
    loops = known[1]
    if at not in loops:
        loops[at] = _lost(code, at)
    name = loops[at]
    if name is not None:
        warnings.warn(
            f"what is written to {name} is lost: tensors are values, and so are their rows. Write to the tensor: x /= 2, or "
            f"for i in range(len(x)): x[i] /= 2",
            _flex.ChainedAssignmentWarning,
            stacklevel=2,
        )


def _lost(code: CodeType, at: int) -> str | None:
    """The name to which the loop that begins at this offset assigns rows, if all its uses are operations in place in the loop."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    begin = next((k for k, step in enumerate(steps) if step.offset == at), None)
    if begin is None or steps[begin].opname != "GET_ITER":
        return None
    after = [k for k in range(begin + 1, len(steps)) if steps[k].opname != "EXTENDED_ARG"]
    if len(after) < 2 or steps[after[0]].opname != "FOR_ITER":
        return None
    stored = steps[after[1]]
    if stored.opname not in ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL"):
        return None
    name, end = stored.argval, steps[after[0]].argval
    if any(name in inner.co_names or name in inner.co_freevars for inner in _inner(code)):
        return None
    in_place = sum(
        _is_in_place(step) and following.opname.startswith("STORE_") and following.argval == name
        for step, following in pairwise(steps)
        if at < step.offset < end
    )
    uses = sum(_loads(step, name) for step in steps)
    return name if in_place and uses == in_place else None


def _is_in_place(step: dis.Instruction) -> bool:
    return step.opname == "BINARY_OP" and step.argrepr.endswith("=")


def _loads(step: dis.Instruction, name: str) -> int:
    """How often an instruction reads the name; newer versions of Python have some that read two."""
    names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    kinds = [kind for kind in step.opname.split("_") if kind in ("LOAD", "STORE", "DELETE")]
    if len(kinds) < len(names):
        kinds = kinds[:1] * len(names)
    return sum(kind != "STORE" and other == name for kind, other in zip(kinds, names, strict=False))


def _inner(code: CodeType) -> list[CodeType]:
    """Functions that are defined within the code."""
    found = [constant for constant in code.co_consts if hasattr(constant, "co_code")]
    return [*found, *(deeper for constant in found for deeper in _inner(constant))]
