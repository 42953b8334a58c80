"""ONNX's own tests of operators and models, run by flex's backend and compared by the suite's own rules.

What flex has no values for is left out, by what the models hold, and counted: a test that is neither run nor left out for a reason
fails the count.
"""

import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import flex

# Element types that flex has no dtype for.
LACKING = {
    TensorProto.DataType.Value(name)
    for name in (
        "STRING",
        "FLOAT8E4M3FNUZ",
        "FLOAT8E5M2FNUZ",
        "FLOAT8E8M0",
        "FLOAT4E2M1",
        "UINT4",
        "INT4",
        "UINT2",
        "INT2",
    )
}
NO_TENSORS = {"TfIdfVectorizer", "ImageDecoder"}  # strings and pictures
OTHER_DOMAINS = {"ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"}
# The expected values are NumPy's random numbers.
RANDOM = "test_bernoulli", "test_training_dropout"
# Values that differ by 1 or 2 ulp of float16: the suite's products are rounded to it in between.
ROUNDED = {"test_attention_4d_causal_fp16_expanded"}


def graphs(graph):
    """A graph and those of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node or inner.output:
                    yield from graphs(inner)


def left_out(name, model):
    """Why flex does not run the test; None if it does."""
    if name.startswith(RANDOM) and "zero_ratio" not in name:
        return "random numbers"
    if name in ROUNDED:
        return "float16"
    everywhere = list(graphs(model.graph))
    nodes = [node for graph in everywhere for node in graph.node]
    nodes += [node for function in model.functions for node in function.node]
    if any(node.domain in OTHER_DOMAINS for node in nodes):
        return "other domains"
    values = [v for g in everywhere for v in (*g.input, *g.output)]
    kinds = {value.type.WhichOneof("value") for value in values} - {None, "tensor_type"}
    named = ("Sequence", "Optional", "SplitToSequence", "ConcatFromSequence")
    if kinds or any(node.op_type.startswith(named) for node in nodes):
        return "sequences and optional values"
    types = {v.type.tensor_type.elem_type for v in values}
    types |= {t.data_type for g in everywhere for t in g.initializer}
    types |= {a.i for n in nodes if n.op_type == "Cast" for a in n.attribute if a.name == "to"}
    types |= {a.t.data_type for n in nodes for a in n.attribute if a.HasField("t")}
    if types & LACKING:
        return "element types"
    if any(node.op_type in NO_TENSORS for node in nodes):
        return "strings and pictures"
    return None


def array(x):
    """The suite has some values as arrays, and those of ml_dtypes as messages."""
    return numpy_helper.to_array(x) if isinstance(x, TensorProto) else x


def result(name, model, data_sets, rtol, atol):
    """What is wrong; None if nothing is."""
    try:
        prepared = flex.onnx.Backend.prepare(model)
        for inputs, expected in data_sets:
            outputs = prepared.run([array(x) for x in inputs])
            Runner.assert_similar_outputs([array(x) for x in expected], list(outputs), rtol, atol)
    except Exception as e:
        return f"{name}: {type(e).__name__}: {str(e)[:300]}"
    return None


@cache
def node_tests():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collect_testcases(None)


def counted(tests):
    """Runs (name, model, data sets, rtol, atol) and returns the failures and a count of what was done."""
    failures, counts = [], Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model, data_sets, rtol, atol in tests:
            reason = left_out(name, model)
            counts[reason or "run"] += 1
            if reason is None and (wrong := result(name, model, data_sets, rtol, atol)):
                failures.append(wrong)
    return failures, counts


def test_operators():
    tests = ((c.name, c.model, c.data_sets, c.rtol, c.atol) for c in node_tests())
    failures, counts = counted(tests)
    assert not failures, "\n".join(failures)
    assert counts == {
        "run": 1653,
        "element types": 144,
        "sequences and optional values": 34,
        "other domains": 26,
        "strings and pictures": 16,
        "random numbers": 10,
        "float16": 1,
    }


def stored(folder):
    """The data sets of a folder."""
    for data in sorted(Path(folder).glob("test_data_set_*")):

        def tensors(kind, data=data):
            for k in range(len(list(data.glob(f"{kind}_*.pb")))):
                tensor = TensorProto()
                tensor.ParseFromString((data / f"{kind}_{k}.pb").read_bytes())
                yield numpy_helper.to_array(tensor)

        yield list(tensors("input")), list(tensors("output"))


@pytest.mark.parametrize(
    ("kind", "run"), [("pytorch-converted", 82), ("pytorch-operator", 35), ("simple", 7)]
)
def test_models(kind, run):
    def tests():
        for case in load_model_tests(kind=kind):
            model = onnx.load(Path(case.model_dir) / "model.onnx")
            reason = left_out(case.name, model)
            data = list(stored(case.model_dir)) if reason is None else []
            yield case.name, model, data, case.rtol, case.atol

    failures, counts = counted(tests())
    assert not failures, "\n".join(failures)
    assert counts["run"] == run


LIGHT = Path(onnx.backend.test.loader.__file__).parent.parent / "data" / "light"


@pytest.mark.parametrize("file", sorted(LIGHT.glob("*.onnx")), ids=lambda f: f.stem)
def test_networks(file):
    """Networks of image classification, whose weights the files make of constants, against onnxruntime."""
    model = flex.onnx.load(file)
    (x,) = model.inputs
    image = np.random.default_rng(7).random(x.shape, np.float32)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {x.name: image})
    (output,) = model.run(None, {x.name: image})
    np.testing.assert_allclose(output.numpy(), expected, rtol=1e-4, atol=1e-6)
