"""The stubs as editors show them. `python -m mypy.stubtest flex` checks that their signatures are the module's."""

import ast
import inspect
from pathlib import Path

import pytest

import flex


def stub(name):
    return ast.parse((Path(flex.__file__).parent / name).read_text(encoding="utf-8")).body


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("_flex.pyi", flex._flex),
        ("nn/__init__.pyi", flex.nn),
        ("nn/grad.pyi", flex.nn.grad),
        ("fft.pyi", flex.fft),
        ("random.pyi", flex.random),
        ("signal.pyi", flex.signal),
        ("quant.pyi", flex.quant),
    ],
)
def test_functions_have_their_docstrings(file, module):
    functions = {}
    for node in stub(file):
        if isinstance(node, ast.FunctionDef):  # the first of several overloads has the docstring
            functions.setdefault(node.name, ast.get_docstring(node))
    assert len(functions) > 4
    for name, docstring in functions.items():
        if not name.startswith("_"):
            assert docstring == inspect.getdoc(getattr(module, name)), name


def test_methods_and_attributes_of_tensor_have_their_docstrings():
    tensor = next(
        node
        for node in stub("_flex.pyi")
        if isinstance(node, ast.ClassDef) and node.name == "Tensor"
    )
    members = {}
    for node in tensor.body:
        if isinstance(node, ast.FunctionDef):
            members.setdefault(node.name, ast.get_docstring(node))
    assert {"sum", "reshape", "shape", "T"} <= members.keys()
    for name, docstring in members.items():
        if not name.startswith("_"):
            assert docstring == inspect.getdoc(getattr(flex.Tensor, name)), name


def test_dictionaries_are_typed_by_their_keys():
    classes = {node.name: node for node in stub("_flex.pyi") if isinstance(node, ast.ClassDef)}
    keys = [node.target.id for node in classes["_MemoryStats"].body]
    assert sorted(keys) == sorted(flex.memory_stats())
    for key in flex.show_config():
        assert f"'{key}'" in ast.unparse(classes["_Config"])
