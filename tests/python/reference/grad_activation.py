"""Gradients of activations and of cross entropy, by torch's autograd."""

from . import Case, Input

# wide enough that activations go from 0 to x
WIDE = {"g": (3, 40), "x": Input((3, 40), -8, 8)}


def activation(call, gradient, tolerance=0.0):
    return Case(
        call,
        WIDE,
        f"nn.grad.{gradient}",
        torch=f"torch.autograd.grad({call}, x, g)",
        # the result that these gradients take is rounded to 16 bits first
        halves=1 if "nn." in gradient else 0.75,
        tolerance=tolerance,
    )


def cross_entropy(name, target, options, g=()):
    return Case(
        f"cross_entropy, {name}",
        {"g": g, "x": (5, 4, 3), "t": target, "w": Input(values=[0.5, 2.0, 0.0, 1.5])},
        f"nn.grad.cross_entropy(g, x, t, {options})",
        # torch has no gradients for weights, so they must be detached
        torch=f"(lambda w, t: torch.autograd.grad(F.cross_entropy(x, t, {options}), x, g))(w.detach(), t.detach())",
    )


# every class, and the ignored index
CLASSES = Input(dtype="int64", values=[[3, 2, 1], [-100, 0, 1], [2, 2, -100], [0, 1, 2], [3, 3, 0]])
CASES = [
    activation("F.relu(x)", "relu(g, x)"),
    activation("F.silu(x)", "silu(g, x)"),
    activation("F.gelu(x)", "gelu(g, x)"),
    # torch's own error is 4.6 * 2^-52 of the largest, by 60 digits (flex's .95)
    activation("F.gelu(x, approximate='tanh')", "gelu(g, x, approximate='tanh')", 6 * 2.0**-52),
    activation("torch.sigmoid(x)", "sigmoid(g, nn.sigmoid(x))"),
    activation("torch.tanh(x)", "tanh(g, flex.tanh(x))"),
    cross_entropy("classes", CLASSES, "None"),
    cross_entropy("weights", CLASSES, "w, reduction='sum'"),
    cross_entropy("smoothing", CLASSES, "w, label_smoothing=0.2"),
    cross_entropy("terms", CLASSES, "label_smoothing=0.2, reduction='none'", g=(5, 3)),
    cross_entropy("probabilities", Input((5, 4, 3), 0, 1), "w, label_smoothing=0.2"),
]
