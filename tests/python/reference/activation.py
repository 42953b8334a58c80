"""Activations."""

from . import Case, Input

X = {"x": Input((5, 24), -4.0, 4.0)}


def case(call, **options):
    return Case(call, X, f"nn.{call}", **options)


CASES = [
    case("celu(x)"),
    case("celu(x, 2.5)"),
    case("elu(x)"),
    case("elu(x, 0.7)"),
    case("gelu(x)"),
    case("gelu(x, approximate='tanh')"),
    case("glu(x)"),
    case("glu(x, dim=1)"),
    case("hardshrink(x)"),
    case("hardshrink(x, 1.5)"),
    case("hardsigmoid(x)"),
    case("hardswish(x)"),
    case("hardtanh(x)"),
    case("hardtanh(x, -0.5, 2.0)"),
    case("leaky_relu(x)"),
    case("leaky_relu(x, 0.3)"),
    case("logsigmoid(x)"),
    case("log_softmax(x, dim=0)"),
    case("mish(x)"),
    Case("prelu", X | {"w": (24,)}, "nn.prelu(x, w)"),
    case("relu(x)"),
    case("relu6(x)"),
    case("rrelu(x)"),
    case("selu(x)"),
    case("sigmoid(x)"),
    case("silu(x)"),
    case("softmax(x, dim=0)"),
    case("softmin(x, dim=1)"),
    case("softplus(x)"),
    case("softplus(x, 2, 3)"),
    case("softshrink(x)"),
    case("softshrink(x, 1.0)"),
    case("softsign(x)"),
    case("tanhshrink(x)"),
    case("threshold(x, 0.5, -3.0)"),
]
