"""docs/names.md: every name of flex in it exists, and every function of NumPy is listed. docs/site/api.toml: every public name of flex is
on one page of the reference."""

import inspect
import re
import tomllib
from collections import Counter
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

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "names.md").read_text(encoding="utf-8")
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


def test_every_public_name_is_on_one_page_of_the_reference():
    pages = tomllib.loads((DOCS / "site" / "api.toml").read_text(encoding="utf-8"))["page"]
    listed = {page["module"]: Counter() for page in pages}
    whole = {page["module"] for page in pages if "names" not in page}
    for page in pages:
        listed[page["module"]].update(page.get("names", "").split())
    assert whole.isdisjoint(page["module"] for page in pages if "names" in page)
    modules = {name.rpartition(".")[2] for name in listed}
    for name, names in listed.items():
        if name not in whole:
            module = attrgetter(name.removeprefix("flex."))(flex) if name != "flex" else flex
            public = {n for n in module.__all__ if n[0] != "_"} - modules
            assert public == set(names), name
            assert set(names.values()) == {1}, name
