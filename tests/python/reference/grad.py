"""Gradients, by torch's autograd."""

from . import Case, Input

NORM = {"g": (3, 4, 5), "x": (3, 4, 5), "w": (4, 5), "b": (4, 5)}
CASES = [
    Case(
        "softmax",
        {"g": (3, 20), "x": (3, 20)},
        "nn.grad.softmax(g, nn.softmax(x, -1), -1)",
        torch="torch.autograd.grad(F.softmax(x, -1), x, g)",
    ),
    Case(
        "log_softmax, axis 0",
        {"g": (6, 5), "x": (6, 5)},
        "nn.grad.log_softmax(g, nn.log_softmax(x, 0), 0)",
        torch="torch.autograd.grad(F.log_softmax(x, 0), x, g)",
    ),
    Case(
        "layer_norm",
        NORM,
        "nn.grad.layer_norm(g, x, (4, 5), w, 1e-3)",
        torch="torch.autograd.grad(F.layer_norm(x, (4, 5), w, b, 1e-3), (x, w, b), g)",
    ),
    Case(
        "rms_norm",
        NORM,
        "nn.grad.rms_norm(g, x, (4, 5), w, 1e-3)",
        torch="torch.autograd.grad(F.rms_norm(x, (4, 5), w, 1e-3), (x, w), g)",
    ),
    Case(
        "linear",
        {"g": (2, 3, 6), "x": (2, 3, 4), "w": (6, 4), "b": (6,)},
        "nn.grad.linear(g, x, w)",
        torch="torch.autograd.grad(F.linear(x, w, b), (x, w, b), g)",
    ),
    Case(
        "embedding",
        {"g": (2, 3, 4), "i": Input(dtype="int64", values=[[1, 5, 1], [0, 1, 5]]), "w": (6, 4)},
        "nn.grad.embedding(g, i, 6)",
        torch="torch.autograd.grad(F.embedding(i, w), w, g)",
    ),
]
