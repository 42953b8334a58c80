"""Turns an expression of ONNX operators into a model, for libraries that only run models.

`Relu(Conv(x, constant("w"), pads=[1, 1, 1, 1]))`: names that are not inputs are operators, positional arguments their inputs (None for an
omitted one) and keywords their attributes; an operator with `outputs=` gives a list of results. `constant` stands for data stored in the
model: a NumPy expression of the workload's inputs (`xp` is NumPy) or a list of numbers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

# Operators whose results are not float32.
INTEGERS = {"MatMulInteger": "INT32"}
OPSET, IR = 23, 11  # the first with attention and rotary embeddings


class Graph:
    """The namespace of an expression, and the model that evaluating it builds."""

    def __init__(self, arrays: dict[str, np.ndarray], expression: str):
        self.inputs: dict[str, np.ndarray] = {}  # the inputs that the expression uses
        self._arrays, self._nodes, self._constants = arrays, [], []
        self._result = eval(expression, {"__builtins__": {}}, self)

    def __getitem__(self, name: str) -> Any:
        if name == "constant":
            return self._constant
        if name in self._arrays:
            self.inputs[name] = self._arrays[name]
            return name
        return partial(self._node, name)

    def _constant(self, values: str | list[float]) -> str:
        from onnx import numpy_helper

        if isinstance(values, str):
            values = eval(values, {"xp": np, **self._arrays})
        values = np.asarray(values)
        if values.dtype == np.float64:
            values = values.astype(np.float32)
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _node(self, kind: str, *inputs: str | None, outputs: int = 1, **attributes: Any) -> Any:
        from onnx import helper

        name = f"{kind}_{len(self._nodes)}"
        results = [f"{name}_{k}" for k in range(outputs)]
        given = [x or "" for x in inputs]
        self._nodes.append(helper.make_node(kind, given, results, name, **attributes))
        return results if outputs > 1 else results[0]

    def model(self) -> bytes:
        """The model, serialised."""
        from onnx import TensorProto, helper

        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for name, a in self.inputs.items()
        ]
        # the library infers the shape, but not the type
        kind = self._result.rpartition("_")[0].partition("_")[0]
        element = INTEGERS.get(kind, "FLOAT")
        outputs = [
            helper.make_tensor_value_info(self._result, TensorProto.DataType.Value(element), None)
        ]
        graph = helper.make_graph(self._nodes, "workload", inputs, outputs, self._constants)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR).SerializeToString()


def with_onnxruntime(graph: Graph, threads: int) -> Callable[[], Any]:
    """A function that runs the graph on its inputs in place; the result is in onnxruntime's memory."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # failures raise exceptions anyway
    session = onnxruntime.InferenceSession(
        graph.model(), options, providers=["CPUExecutionProvider"]
    )
    binding = session.io_binding()
    for name, array in graph.inputs.items():
        binding.bind_cpu_input(name, array)
    binding.bind_output(session.get_outputs()[0].name, "cpu")

    def run() -> Any:
        session.run_with_iobinding(binding)
        return binding.get_outputs()[0]

    return run


def with_openvino(graph: Graph, threads: int) -> Callable[[], np.ndarray]:
    """A function that runs the graph on its inputs in place, in float32; by default OpenVINO uses bfloat16 if the CPU has it."""
    import openvino

    core = openvino.Core()
    options = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    request = core.compile_model(
        core.read_model(graph.model()), "CPU", options
    ).create_infer_request()
    for name, array in graph.inputs.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=True))

    def run() -> np.ndarray:
        request.infer()
        return request.get_output_tensor().data

    return run
