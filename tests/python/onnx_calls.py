"""Nodes that no exporter would write: any operator with operands and attributes of any kind, which are computed or refused."""

import numpy as np
import onnx.defs
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

import flex

OPSETS = (13, 18, 23)
DTYPES = ["float32"] * 6 + ["int64"] * 3 + ["int32", "bool", "float64", "uint8", "int8", "float16"]
INTEGERS = [-3, -2, -1, 0, 0, 1, 1, 2, 3, 8, 2**31 - 1, -(2**63), 2**63 - 1]
TEXTS = [
    "",
    "linear",
    "cubic",
    "constant",
    "reflect",
    "SAME_UPPER",
    "bidirectional",
    "reverse",
    "tanh",
    "i,ij->j",
    "NHWC",
    "add",
    "none",
]


def operators():
    """The schemas of the operators that flex has, by opset; those of onnxruntime are in all."""
    own = {(domain, name) for domain, name, _ in flex.onnx.operators() if domain}
    others = [s for s in get_all_operator_schema() if (s.domain, s.name) in own]
    names = {name for domain, name, _ in flex.onnx.operators() if not domain}
    found = {}
    for opset in OPSETS:
        for name in sorted(names - {"If", "Loop", "Scan"}):
            if onnx.defs.has(name, opset):
                found.setdefault(opset, []).append(onnx.defs.get_schema(name, opset))
        found[opset] += others * 4  # they are few
    return found


OPERATORS = operators()


def choice(rng, options):
    return options[int(rng.integers(len(options)))]


def array(rng):
    """A small array, often of rank 0 to 4, sometimes empty."""
    dtype = choice(rng, DTYPES)
    shape = tuple(
        int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, 5, int(rng.integers(0, 6)))
    )
    if dtype == "int64" and rng.random() < 0.5:  # sizes, axes or indices
        return np.array(rng.integers(-2, 4, shape[:1]), np.int64)
    return (
        rng.integers(-2, 5, shape).astype(dtype)
        if rng.random() < 0.5
        else rng.standard_normal(shape).astype(dtype)
    )


def value(rng, kind):
    """A value of an attribute of this kind; sometimes of another one."""
    kinds = AttributeProto.AttributeType
    if rng.random() < 0.05:
        kind = choice(rng, [kinds.Value("INT"), kinds.Value("FLOATS"), kinds.Value("STRING")])
    match kinds.Name(int(kind)):
        case "INT":
            return int(choice(rng, INTEGERS))
        case "FLOAT":
            return float(choice(rng, [0.0, 0.5, -1.0, 2.0, 1e30, float("nan"), float("inf")]))
        case "STRING":
            return choice(rng, TEXTS)
        case "INTS":
            return [int(choice(rng, INTEGERS)) for _ in range(int(rng.integers(1, 6)))]
        case "FLOATS":
            return [float(x) for x in rng.standard_normal(int(rng.integers(1, 4)))]
        case "STRINGS":
            return [choice(rng, TEXTS) for _ in range(int(rng.integers(1, 4)))]
        case "TENSOR":
            return numpy_helper.from_array(array(rng))
    return 1


def call(rng):
    """A model of one node, and its inputs; half of the operands are constants."""
    opset = choice(rng, OPSETS)
    schema = choice(rng, OPERATORS[opset])
    most = min(schema.max_input, 8)
    count = int(rng.integers(min(schema.min_input, most), most + 1))
    operands = {f"x{k}": array(rng) for k in range(count)}
    if rng.random() < 0.4:  # of the same dtype
        dtype = choice(rng, DTYPES)
        operands = {name: x.astype(dtype) for name, x in operands.items()}
    attributes = {
        name: value(rng, attribute.type)
        for name, attribute in schema.attributes.items()
        if attribute.required or rng.random() < 0.4
    }
    outputs = [f"y{k}" for k in range(int(rng.integers(1, min(schema.max_output, 3) + 1)))]
    names = [name if rng.random() < 0.95 else "" for name in operands]
    node = helper.make_node(schema.name, names, outputs, "node", domain=schema.domain, **attributes)
    known = {name for name in operands if rng.random() < 0.5}
    inputs = {name: x for name, x in operands.items() if name not in known}
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        "call",
        [info(name, helper.np_dtype_to_tensor_dtype(x.dtype), None) for name, x in inputs.items()],
        [info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(operands[name], name) for name in known],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return model, inputs
