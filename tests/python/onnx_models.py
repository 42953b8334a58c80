"""ONNX models for tests: made of nodes, and run by flex and onnxruntime."""

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

import flex


def made(nodes, inputs, outputs, weights=(), opset=17):
    """A model of nodes; inputs and outputs are (name, type, shape), weights are arrays by name."""
    info = [
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in values]
        for values in (inputs, outputs)
    ]
    tensors = [numpy_helper.from_array(value, name) for name, value in dict(weights).items()]
    graph = helper.make_graph(nodes, "g", *info, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def session(file, optimised=True):
    """A serialised model as onnxruntime runs it, on one thread."""
    options = onnxruntime.SessionOptions()
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4  # failures raise exceptions anyway
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def by_onnxruntime(file, inputs, optimised=True):
    """onnxruntime's outputs for a serialised model."""
    return session(file, optimised).run(None, inputs)


def matches_onnxruntime(model, rtol=1e-4, atol=1e-5, **inputs):
    """Whether flex gives onnxruntime's outputs."""
    file = model.SerializeToString()
    expected = by_onnxruntime(file, inputs)
    outputs = flex.onnx.load(file).run(None, inputs)
    for output, want in zip(outputs, expected, strict=True):
        assert output.dtype == want.dtype
        np.testing.assert_allclose(output.numpy(), want, rtol=rtol, atol=atol)
    return True
