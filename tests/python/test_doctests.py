"""Every public function has an example in its docstring, and the examples run."""

import doctest
import inspect

import pytest

import flex
import flex.io
import flex.linalg
import flex.nn
import flex.onnx
import flex.quant

NAMESPACES = [
    flex,
    flex.fft,
    flex.io,
    flex.linalg,
    flex.nn,
    flex.nn.grad,
    flex.onnx,
    flex.quant,
    flex.random,
    flex.signal,
]
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
PLAIN_CLASSES = {"DType", "Tensor"}


def public(kind):
    """The functions or classes, by the names that one calls them by."""
    for namespace in NAMESPACES:
        for name in namespace.__all__:
            value = getattr(namespace, name)
            if callable(value) and inspect.isclass(value) == (kind == "class"):
                yield pytest.param(name, value, id=f"{namespace.__name__}.{name}")


def run(name, doc):
    """Runs the examples of a docstring; their number."""
    test = doctest.DocTestParser().get_doctest(doc, {"flex": flex}, name, None, 0)
    report = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)
    return len(test.examples)


@pytest.mark.parametrize(("name", "function"), list(public("function")))
def test_docstring(name, function):
    doc = inspect.getdoc(function)
    assert doc, f"{name} has no docstring"
    assert run(name, doc) or name in PLAIN, f"{name} has no example"
    assert name in PLAIN or inspect.signature(function) is not None


@pytest.mark.parametrize(("name", "value"), list(public("class")))
def test_classes(name, value):
    """The class and its own members; those of Tensor that are functions too are tested above."""
    assert inspect.getdoc(value), f"{name} has no docstring"
    own = [m for m in vars(value) if not m.startswith("_") and value is not flex.Tensor]
    examples = run(name, inspect.getdoc(value))
    for member in own:
        examples += run(f"{name}.{member}", inspect.getdoc(getattr(value, member)) or "")
    plain = issubclass(value, (Exception, Warning)) or name in PLAIN_CLASSES
    assert examples or plain, f"{name} has no example"


@pytest.mark.parametrize("module", NAMESPACES)
def test_modules(module):
    run(module.__name__, module.__doc__)


@pytest.mark.parametrize("name", [n for n in dir(flex.Tensor) if not n.startswith("_")])
def test_members_of_tensor(name):
    assert inspect.getdoc(getattr(flex.Tensor, name)), f"Tensor.{name} has no docstring"
