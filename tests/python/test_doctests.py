"""Every public function has an example in its docstring, and the examples run."""

import doctest
import inspect

import pytest

import flex
import flex.io
import flex.linalg
import flex.nn
import flex.quant

NAMESPACES = [flex, flex.fft, flex.io, flex.linalg, flex.nn, flex.nn.grad, flex.quant, flex.signal]
# functions without anything to show in an example
PLAIN = {
    "set_num_threads",
    "set_weight_packing",
    "get_num_threads",
    "memory_stats",
    "empty_cache",
    "show_config",
    "_rebuild",
    "__array_namespace_info__",
}


def documented():
    for namespace in NAMESPACES:
        for name in namespace.__all__:
            value = getattr(namespace, name)
            if callable(value) and not inspect.isclass(value):
                yield pytest.param(name, value, id=f"{namespace.__name__}.{name}")


@pytest.mark.parametrize(("name", "function"), list(documented()))
def test_docstring(name, function):
    doc = inspect.getdoc(function)
    assert doc, f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(doc, {"flex": flex}, name, None, 0)
    assert test.examples or name in PLAIN, f"{name} has no example"
    report = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)
    assert name in PLAIN or inspect.signature(function) is not None


@pytest.mark.parametrize("name", [n for n in dir(flex.Tensor) if not n.startswith("_")])
def test_members_of_tensor(name):
    assert inspect.getdoc(getattr(flex.Tensor, name)), f"Tensor.{name} has no docstring"
