"""Selecting, gathering, scattering, copying."""

from ..table import Family, Input, K, M, one, two

indexing = Family("indexing", 0.7)
row = indexing.row
masked = {**one(M), "m": Input((M,), "bool")}
row("mask, 1M", masked, "a[m]", jax=None)
row(
    "mask fill, 1M",
    masked,
    "xp.masked_fill(a, m, 0.5)",
    numpy="xp.where(m, xp.float32(0.5), a)",
    torch="a.masked_fill(m, 0.5)",
    jax="xp.where(m, 0.5, a)",
    numexpr="where(m, 0.5, a)",
)
row(
    "nonzero, 1M",
    one(M, dtype="bool"),
    "xp.nonzero(a)[0]",
    torch="xp.nonzero(a, as_tuple=True)[0]",
    jax=None,
)
row(
    "take rows, 8192 of 30522x384",
    {"a": Input((30522, 384)), "i": Input((8192,), "int64", 0, 30522)},
    "xp.take(a, i, axis=0)",
    torch="a[i]",
    reads=8192 * (384 * 4 + 8),
)
row(
    "take, 1M of 1M",
    {**one(M), "i": Input((M,), "int64", 0, M)},
    "xp.take(a, i, axis=0)",
    torch="a[i]",
)
for axis in (0, 1):
    row(
        f"gather, axis {axis} of 1024x1024",
        {**one(K, K), "i": Input((K, K), "int64", 0, K)},
        f"xp.take_along_axis(a, i, axis={axis})",
        torch=f"xp.gather(a, {axis}, i)",
    )
row(
    "a[i, j], 1M",
    {**one(K, K), "i": Input((M,), "int64", 0, K), "j": Input((M,), "int64", 0, K)},
    "a[i, j]",
)
for name, ordered, goal in (("sorted", True, indexing.goal), ("random", False, 1.1)):
    row(
        f"scatter_add, {name}, 1M into 64K",
        {
            "a": Input((64 * K,)),
            "i": Input((M,), "int64", 0, 64 * K, ordered=ordered),
            "b": Input((M,)),
        },
        "xp.scatter_add(a, i, b)",
        numpy="(lambda t: (xp.add.at(t, i, b), t)[1])(a.copy())",
        torch="a.scatter_add(0, i, b)",
        jax="a.at[i].add(b)",
        goal=goal,
    )
row(
    "add rows, 8192 into 1024x384",
    {"a": Input((K, 384)), "i": Input((8192,), "int64", 0, K), "b": Input((8192, 384))},
    "xp.index_add(a, i, b)",
    numpy="(lambda t: (xp.add.at(t, i, b), t)[1])(a.copy())",
    torch="a.index_add(0, i, b)",
    jax="a.at[i].add(b)",
)
row("concat, 2 x 1M", two(M), "xp.concat([a, b])")
row(
    "concat of columns, 2 x 1024x1024",
    two(K, K),
    "xp.concat([a, b], axis=1)",
    torch="xp.concat([a, b], 1)",
)
row(
    "every third row and column, 2048x2048",
    one(2 * K, 2 * K),
    "xp.asarray(a[::3, ::3], copy=True)",
    torch="a[::3, ::3].contiguous()",
    jax="a[::3, ::3] + 0",
)
for dtype in ("float32", "int8"):
    row(
        f"copy of a transpose, {dtype}, 2048x2048",
        one(2 * K, 2 * K, dtype=dtype, low=-99, high=99),
        "xp.asarray(a.T, copy=True)",
        numpy="xp.ascontiguousarray(a.T)",
        torch="a.T.contiguous()",
        flex="a.T.contiguous()",
        jax="a.T + 0",
    )

FAMILIES = [indexing]
