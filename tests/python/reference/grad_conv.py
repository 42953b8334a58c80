"""Gradients of convolutions, by torch's autograd."""

from . import Case


def case(name, x, w, g, options="", function="conv2d"):
    """The gradients of x, weight and bias; the result has the shape of `g`."""
    return Case(
        f"{function}, {name}",
        {"g": g, "x": x, "w": w, "b": g[1:2]},
        f"nn.grad.{function}(g, x, w{options})",
        torch=f"torch.autograd.grad(F.{function}(x, w, b{options}), (x, w, b), g)",
    )


CASES = [
    case("stride", (2, 3, 20), (4, 3, 5), (2, 4, 6), ", stride=3", "conv1d"),
    case("padding", (2, 3, 9, 8), (4, 3, 3, 2), (2, 4, 9, 11), ", padding=(1, 2)"),
    case(
        "rows that no place sees",
        (1, 2, 10, 9),
        (3, 2, 3, 2),
        (1, 3, 3, 3),
        ", stride=3",
    ),
    case(
        "groups and dilation",
        (2, 6, 12, 12),
        (4, 3, 3, 2),
        (2, 4, 8, 10),
        ", dilation=2, groups=2",
    ),
    case("same", (1, 3, 7, 8), (2, 3, 4, 3), (1, 2, 7, 8), ", padding='same'"),
    case(
        "depthwise",
        (2, 6, 9, 14),
        (12, 1, 3, 5),
        (2, 12, 9, 7),
        ", stride=(1, 2), padding=(1, 4), dilation=(1, 2), groups=6",
    ),
    case("1x1", (3, 5, 6, 7), (4, 5, 1, 1), (3, 4, 6, 7)),
    case("1x1 of stride 2", (1, 5, 6, 7), (4, 5, 1, 1), (1, 4, 3, 4), ", stride=2"),
    case(
        "volume",
        (1, 2, 5, 6, 7),
        (3, 2, 2, 3, 2),
        (1, 3, 3, 3, 4),
        ", stride=2, padding=1",
        "conv3d",
    ),
    case(
        "signal",
        (2, 4, 9),
        (4, 3, 5),
        (2, 3, 26),
        ", stride=3, padding=2, output_padding=1",
        "conv_transpose1d",
    ),
    case(
        "groups and dilation",
        (1, 6, 5, 6),
        (6, 2, 3, 4),
        (1, 4, 12, 18),
        ", stride=2, padding=1, output_padding=(1, 0), groups=2, dilation=(2, 3)",
        "conv_transpose2d",
    ),
    case(
        "output padding of a stride and more",
        (1, 2, 5, 4),
        (2, 3, 3, 3),
        (1, 3, 14, 15),
        ", stride=2, output_padding=(1, 2), dilation=(2, 3)",
        "conv_transpose2d",
    ),
    case(
        "volume",
        (1, 3, 3, 4, 2),
        (3, 2, 2, 4, 2),
        (1, 2, 6, 10, 4),
        ", stride=2",
        "conv_transpose3d",
    ),
]
