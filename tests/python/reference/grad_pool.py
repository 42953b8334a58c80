"""Gradients of pools: what torch's autograd gives."""

from . import Case

X1, X2, X3 = (2, 3, 17), (2, 3, 11, 13), (2, 2, 7, 8, 9)


def largest(name, pool, x, g):
    """A pool's gradient, from its positions."""
    call = f"{name}({', '.join(['x', *pool])}"
    positions = f"nn.{call}, return_indices=True)[1]"
    return Case(
        f"{name}, {', '.join(pool)}",
        {"g": g, "x": x},
        f"nn.grad.{name}(g, {positions}, x.shape)",
        torch=f"torch.autograd.grad(F.{call}), x, g)",
    )


CASES = [
    largest("max_pool1d", ["3", "2", "1"], X1, (2, 3, 9)),
    largest("max_pool2d", ["2"], X2, (2, 3, 5, 6)),
    largest("max_pool2d", ["(3, 2)", "(1, 2)", "1", "(2, 1)", "ceil_mode=True"], X2, (2, 3, 9, 7)),
    largest("max_pool3d", ["2", "1"], X3, (2, 2, 6, 7, 8)),
    largest("adaptive_max_pool1d", ["4"], X1, (2, 3, 4)),
    largest("adaptive_max_pool2d", ["(5, 3)"], X2, (2, 3, 5, 3)),
    largest("adaptive_max_pool3d", ["(2, 3, 4)"], X3, (2, 2, 2, 3, 4)),
]
