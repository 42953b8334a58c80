"""docs/names.md: every name of flex in it exists, and every function of NumPy is listed."""

import inspect
import re
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
import scipy
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.signal.windows
import scipy.spatial.distance
import scipy.special

import flex

TEXT = (Path(__file__).parents[2] / "docs" / "names.md").read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0]: part for part in TEXT.split("\n## ")[1:]}
ROW = re.compile(r"^\| `([\w.]+)` \| `([\w.()]+)` \|$", re.M)


def lists(section):
    """The lists of names of a section, outside its table: after a colon, up to a full stop."""
    plain = re.sub(r"^\|.*$", "", SECTIONS[section], flags=re.M)
    return [
        re.findall(r"`([\w.]+)`", part) for part in re.findall(r":\s(`[^:]*?`)\.(?=\s|$)", plain)
    ]


def exists(name):
    if name.startswith("x."):
        return hasattr(flex.Tensor, name[2:].removesuffix("()"))
    space, _, last = name.rpartition(".")
    module = attrgetter(space)(flex) if space else flex
    return last in module.__all__


@pytest.mark.parametrize("section", ["NumPy", "torch", "SciPy"])
def test_the_right_hand_sides_exist(section):
    rows = ROW.findall(SECTIONS[section])
    assert len(rows) >= 12
    assert SECTIONS[section].count("\n| `") == len(rows)
    missing = [name for _, name in rows if not exists(name)]
    assert missing == []
    names = lists(section)
    same = names[:3] if section == "NumPy" else names
    assert [name for each in same for name in each if not exists(name)] == []


def test_the_left_hand_sides_exist():
    for name, _ in ROW.findall(SECTIONS["NumPy"]):
        assert hasattr(np, name), name
    for name, _ in ROW.findall(SECTIONS["SciPy"]):
        attrgetter(name)(scipy)
    same, linalg, fft, alone = lists("NumPy")
    for name in (*same, *linalg, *fft, *alone):
        attrgetter(name)(np)


def test_every_function_of_numpy_is_listed():
    names = {
        n for n in np.__all__ if callable(getattr(np, n)) and not inspect.isclass(getattr(np, n))
    }
    same, _, _, alone = lists("NumPy")
    listed = {*same, *alone, *(n for n, _ in ROW.findall(SECTIONS["NumPy"]))}
    assert names == listed
    assert not set(same) & set(alone)
