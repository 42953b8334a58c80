"""Gradients of batch, group and instance normalisation, by torch's autograd."""

from . import Case, Input

IMAGES = {"g": (3, 4, 5, 2), "x": (3, 4, 5, 2), "w": (4,), "b": (4,)}
GIVEN = IMAGES | {"m": (4,), "v": Input((4,), 0.25, 2)}


def norm(name, inputs, flex, torch):
    return Case(
        name,
        inputs,
        f"nn.grad.{flex}",
        # torch has no gradients of statistics, and refuses to leave them out
        torch=f"torch.autograd.grad(F.{torch}, (x, w, b), g)",
    )


CASES = [
    norm(
        "batch_norm, training",
        IMAGES,
        "batch_norm(g, x, weight=w, training=True, eps=1e-3)",
        "batch_norm(x, None, None, w, b, True, 0.1, 1e-3)",
    ),
    norm(
        "batch_norm, running statistics",
        GIVEN,
        "batch_norm(g, x, m, v, w)",
        "batch_norm(x, m.detach(), v.detach(), w, b)",
    ),
    norm(
        "batch_norm, no spatial axis",
        {"g": (9, 4), "x": (9, 4), "w": (4,), "b": (4,)},
        "batch_norm(g, x, weight=w, training=True)",
        "batch_norm(x, None, None, w, b, True)",
    ),
    norm("group_norm", IMAGES, "group_norm(g, x, 2, w, 1e-3)", "group_norm(x, 2, w, b, 1e-3)"),
    norm(
        "instance_norm",
        IMAGES,
        "instance_norm(g, x, weight=w, eps=1e-3)",
        "instance_norm(x, None, None, w, b, eps=1e-3)",
    ),
    norm(
        "instance_norm, running statistics",
        GIVEN,
        "instance_norm(g, x, m, v, w, use_input_stats=False)",
        "instance_norm(x, m.detach(), v.detach(), w, b, use_input_stats=False)",
    ),
]
