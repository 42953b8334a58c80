"""Normalisations."""

from . import Case, Input

CHANNELS = {"x": (3, 6, 5, 4), "w": (6,), "b": (6,)}
STATISTICS = {"mean": (6,), "var": Input((6,), 0.5, 3.0)}
ROWS = {"x": (7, 40), "w": (40,), "b": (40,)}

CASES = [
    Case(
        "batch_norm, running statistics",
        CHANNELS | STATISTICS,
        "nn.batch_norm(x, mean, var, w, b)",
    ),
    Case("batch_norm, training", CHANNELS, "nn.batch_norm(x, None, None, w, b, training=True)"),
    Case(
        "batch_norm, no parameters",
        {"x": (9, 4)},
        "nn.batch_norm(x, None, None, training=True, eps=0.1)",
    ),
    Case(
        "batch_norm_stats",
        CHANNELS,
        "nn.batch_norm_stats(x, correction=1)",
        "torch.var_mean(x, dim=(0, 2, 3))[::-1]",
        dtypes=("float64", "float32"),
    ),
    Case("group_norm", CHANNELS, "nn.group_norm(x, 3, w, b)"),
    Case(
        "group_norm, channels last",
        {"x": (2, 5, 4, 6), "w": (6,), "b": (6,)},
        "nn.group_norm(flex.permute_dims(x, (0, 3, 1, 2)), 2, w, b, 1e-3)",
        "nn.group_norm(x.permute(0, 3, 1, 2), 2, w, b, 1e-3)",
    ),
    Case("instance_norm", CHANNELS, "nn.instance_norm(x, weight=w, bias=b)"),
    Case(
        "instance_norm, statistics",
        CHANNELS | STATISTICS,
        "nn.instance_norm(x, mean, var, w, b, use_input_stats=False)",
    ),
    Case("layer_norm", ROWS, "nn.layer_norm(x, (40,), w, b)"),
    Case(
        "layer_norm, residual",
        ROWS | {"r": (7, 40)},
        "nn.layer_norm(x, (40,), w, b, residual=r)",
        "(nn.layer_norm(x + r, (40,), w, b), x + r)",
    ),
    Case("rms_norm", ROWS, "nn.rms_norm(x, (40,), w, 1e-5)"),
    Case("local_response_norm", {"x": (2, 7, 5)}, "nn.local_response_norm(x, 3, 0.5, 0.75, 2.0)"),
    Case("local_response_norm, even", {"x": (2, 7, 5)}, "nn.local_response_norm(x, 4)"),
    Case("normalize", {"x": (4, 9, 3)}, "nn.normalize(x)"),
    Case("normalize, p", {"x": (4, 9, 3)}, "nn.normalize(x, 3.0, dim=-1)"),
    Case("normalize, largest", {"x": (4, 9, 3)}, "nn.normalize(x, float('inf'), 0)"),
]
