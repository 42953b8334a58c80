"""Calls of functions that `flex.fuse` traces."""

import linecache
from collections.abc import Callable
from typing import Any


def call(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The result of `f`; a TypeError that names the line where it asks for elements that aren't there."""
    try:
        return f(*args, **kwargs or {})
    except BaseException as e:
        if type(e).__name__ != "PanicException" or "flex.fuse" not in str(e):
            raise
        message = (
            f"{e} ({_place(e)}). Keep it out of the function; to choose by value use flex.where"
        )
    raise TypeError(message)


def _place(e: BaseException) -> str:
    """File, number and text of the line that raised."""
    at = e.__traceback__
    assert at is not None
    while at.tb_next is not None:
        at = at.tb_next
    file = at.tb_frame.f_code.co_filename
    return f"{file}:{at.tb_lineno}: {linecache.getline(file, at.tb_lineno).strip()}"
