"""Distances, similarities and embeddings."""

from . import Case, Input

ROWS = {"a": (4, 6), "b": (4, 6)}
POINTS = {"a": (2, 5, 4), "b": (2, 7, 4)}
BAGS = {
    "i": Input((10,), 0, 8, "int64"),
    "w": (8, 5),
    "o": Input(values=[0, 3, 3, 7], dtype="int64"),
}

CASES = [
    Case("cosine_similarity", ROWS, "nn.cosine_similarity(a, b)"),
    Case(
        "cosine_similarity, dim",
        {"a": (4, 6, 3), "b": (6, 3)},
        "nn.cosine_similarity(a, b, dim=-2)",
    ),
    *[
        Case(
            f"pairwise_distance, {p}",
            ROWS,
            f"nn.pairwise_distance(a, b, {p}, keepdim=True)",
        )
        for p in (1.0, 2.0, 3.0, "float('inf')")
    ],
    *[
        Case(f"cdist, {p}", POINTS, f"nn.cdist(a, b, {p})", f"torch.cdist(a, b, {p})")
        for p in (0.0, 1.0, 2.0, 3.0, "float('inf')")
    ],
    Case(
        "cdist, product",
        {"a": (30, 8), "b": (9, 8)},
        "nn.cdist(a, b)",
        "torch.cdist(a, b)",
        dtypes=("float64", "float32"),
    ),
    Case("pdist", {"x": (9, 4)}, "nn.pdist(x)"),
    Case("pdist, 1", {"x": (9, 4)}, "nn.pdist(x, 1)"),
    *[
        Case(f"embedding_bag, {mode}", BAGS, f"nn.embedding_bag(i, w, o, mode='{mode}')")
        for mode in ("mean", "sum", "max")
    ],
    Case("embedding_bag, padding", BAGS, "nn.embedding_bag(i, w, o, padding_idx=3)"),
    Case(
        "embedding_bag, weights",
        {"i": Input((3, 4), 0, 8, "int64"), "w": (8, 5), "f": (3, 4)},
        "nn.embedding_bag(i, w, mode='sum', per_sample_weights=f)",
    ),
    Case("one_hot", {"i": Input((3, 4), 0, 8, "int64")}, "nn.one_hot(i)", dtypes=("float64",)),
    Case(
        "one_hot, classes",
        {"i": Input((3, 4), 0, 8, "int64")},
        "nn.one_hot(i, 11)",
        dtypes=("float64",),
    ),
]
