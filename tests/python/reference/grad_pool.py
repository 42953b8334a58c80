"""Gradients of pools, by torch's autograd."""

from . import Case, Input

X1, X2, X3 = (2, 3, 17), (1, 2, 11, 13), (1, 2, 5, 6, 7)


def largest(name, pool, x, g):
    """The gradient of a max pool, from its indices."""
    call = f"{name}({', '.join(['x', *pool])}"
    positions = f"nn.{call}, return_indices=True)[1]"
    return Case(
        f"{name}, {', '.join(pool)}",
        {"g": g, "x": x},
        f"nn.grad.{name}(g, {positions}, x.shape)",
        torch=f"torch.autograd.grad(F.{call}), x, g)",
    )


def unpool(name, pool, x, g):
    """The gradient of `max_unpool`, whose result has the shape of `g`."""
    rank = len(g) - 2
    positions = f"nn.max_pool{rank}d({{}}, {', '.join(pool)}, return_indices=True)[1]"
    call = f"F.{name}(x, {positions.format('g.detach()')}, {', '.join(pool)}, output_size={g[2:]})"
    return Case(
        f"{name}, {', '.join(pool)}",
        {"g": g, "x": x},
        f"nn.grad.{name}(g, {positions.format('g')})",
        torch=f"torch.autograd.grad({call}, x, g)",
    )


def mean(name, pool, x, g):
    """The gradient of an average pool, from the shape of its operand."""
    options = ", ".join(pool)
    size = f"x.shape, {options}" if "adaptive" not in name else "x.shape"
    return Case(
        f"{name}, {options}",
        {"g": g, "x": x},
        f"nn.grad.{name}(g, {size})",
        torch=f"torch.autograd.grad(F.{name}(x, {options}), x, g)",
    )


def norm(name, pool, x, g):
    call = f"{name}({{}}{{}}, {', '.join(pool)})"
    return Case(
        f"{name}, {', '.join(pool)}",
        {"g": g, "x": Input(x, 0.25, 2)},
        "nn.grad." + call.format("g, ", "x"),
        torch=f"torch.autograd.grad(F.{call.format('', 'x')}, x, g)",
    )


CASES = [
    largest("max_pool1d", ["3", "2", "1"], X1, (2, 3, 9)),
    largest("max_pool2d", ["2"], X2, (1, 2, 5, 6)),
    largest("max_pool2d", ["(3, 2)", "(1, 2)", "1", "(2, 1)", "ceil_mode=True"], X2, (1, 2, 9, 7)),
    largest("max_pool3d", ["2", "1"], X3, (1, 2, 4, 5, 6)),
    largest("adaptive_max_pool1d", ["4"], X1, (2, 3, 4)),
    largest("adaptive_max_pool2d", ["(5, 3)"], X2, (1, 2, 5, 3)),
    largest("adaptive_max_pool3d", ["(2, 3, 4)"], X3, (1, 2, 2, 3, 4)),
    unpool("max_unpool1d", ["2"], (2, 3, 8), X1),
    unpool("max_unpool2d", ["2"], (1, 2, 5, 6), X2),
    unpool("max_unpool2d", ["3", "2"], (1, 2, 5, 6), X2),
    unpool("max_unpool3d", ["2", "1"], (1, 2, 4, 5, 6), X3),
    mean("avg_pool1d", ["3", "1", "1"], X1, (2, 3, 17)),
    mean("avg_pool2d", ["2"], X2, (1, 2, 5, 6)),
    mean("avg_pool2d", ["3", "2", "1", "True", "False"], X2, (1, 2, 6, 7)),
    mean("avg_pool2d", ["(3, 2)", "(1, 3)", "1", "divisor_override=5"], X2, (1, 2, 11, 5)),
    mean("avg_pool3d", ["3", "2", "1", "True"], X3, (1, 2, 3, 4, 4)),
    mean("adaptive_avg_pool1d", ["4"], X1, (2, 3, 4)),
    mean("adaptive_avg_pool2d", ["(5, 20)"], X2, (1, 2, 5, 20)),
    mean("adaptive_avg_pool3d", ["(2, 3, 4)"], X3, (1, 2, 2, 3, 4)),
    norm("lp_pool1d", ["2.0", "3", "2"], X1, (2, 3, 8)),
    norm("lp_pool2d", ["3.0", "(2, 3)", "2", "True"], X2, (1, 2, 6, 6)),
    norm("lp_pool3d", ["2.0", "2"], X3, (1, 2, 2, 3, 3)),
]
