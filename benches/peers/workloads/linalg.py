"""Factorisations of matrices, sums of products by labels, random numbers, order statistics."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ..table import Family, Input, K, M, one, product, shape, two

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Symmetric(Input):
    """Random symmetric matrices, positive definite ones if asked for."""

    definite: bool = False

    def values(self, rng: np.random.Generator) -> np.ndarray:
        import numpy as np

        x = super().values(rng)
        x = x + x.swapaxes(-1, -2)
        n = x.shape[-1]
        return x + 2 * n * np.eye(n, dtype=x.dtype) if self.definite else x


def systems(*batch: int, n: int, dtype: str, columns: int) -> dict[str, Input]:
    return {"a": Input((*batch, n, n), dtype), "b": Input((*batch, n, columns), dtype)}


large = Family("linear algebra", 1.0)
for dtype, tolerance in (("float32", 2e-2), ("float64", 1e-9)):
    for n in (512, K):
        cube = n**3
        name = f"{dtype}, {shape(n, n)}"
        plain = {"tolerance": tolerance}
        definite = {"a": Symmetric((n, n), dtype, definite=True)}
        for function, inputs, flops in (
            ("solve(a, b)", systems(n=n, dtype=dtype, columns=1), 2 / 3 * cube),
            ("inv(a)", one(n, n, dtype=dtype), 2 * cube),
            ("cholesky(a)", definite, cube / 3),
            ("qr(a)[1]", one(n, n, dtype=dtype), 4 / 3 * cube),
        ):
            large.row(f"{function}, {name}", inputs, f"xp.linalg.{function}", flops=flops, **plain)
    for function, inputs in (
        ("eigvalsh(a)", {"a": Symmetric((512, 512), dtype)}),
        ("eigh(a)[0]", {"a": Symmetric((512, 512), dtype)}),
        ("svdvals(a)", one(512, 512, dtype=dtype)),
        ("svd(a)[1]", one(512, 512, dtype=dtype)),
    ):
        large.row(
            f"{function}, {dtype}, 512x512",
            inputs,
            f"xp.linalg.{function}",
            goal=1.1,
            tolerance=tolerance,
        )

small = Family("small matrices", 0.3)
for count, n, goal in ((10_000, 3, 0.3), (10_000, 4, 0.3), (10_000, 8, 0.3), (1000, 16, 0.6)):
    of = f"{count} of {shape(n, n)}"
    definite = {"a": Symmetric((count, n, n), definite=True)}
    more = {"goal": goal, "tolerance": 1e-1}
    small.row(f"inv, {of}", definite, "xp.linalg.inv(a)", **more)
    small.row(
        f"solve, {of}",
        {**definite, "b": Input((count, n, 1))},
        "xp.linalg.solve(a, b)",
        **more,
    )
    small.row(f"det, {of}", definite, "xp.linalg.det(a)", **more)
    small.row(f"cholesky, {of}", definite, "xp.linalg.cholesky(a)", **more)
    small.row(f"eigvalsh, {of}", definite, "xp.linalg.eigvalsh(a)", **more)

einsum = Family("einsum", 1.0)


def contraction(subscripts: str, inputs: dict[str, Input], **more: object) -> None:
    """Adds an expression; NumPy contracts in pairs only if asked to."""
    operands = ", ".join(inputs)
    ordered = f"xp.einsum('{subscripts}', {operands}, optimize=True)"
    plain = f"xp.einsum('{subscripts}', {operands})"
    einsum.row(subscripts, inputs, plain, numpy=ordered, reference=ordered, **more)


contraction("bij,bjk->bik", two(32, 128, 128), flops=product(32, 128, 128, 128))
contraction("bhid,bhjd->bhij", two(4, 8, 128, 64), flops=product(4, 8, 128, 128, 64))
contraction("ij,ij->", two(K, K), flops=product(K, K), goal=0.7, tolerance=1e-3)
contraction("i,j->ij", two(2 * K), goal=0.7)
contraction("bii->b", one(64, 512, 512), goal=0.7)
contraction(
    "ij,jk,kl->il",
    {"a": Input((512, 64)), "b": Input((64, 512)), "c": Input((512, 64))},
    goal=0.7,
    tolerance=1e-4,
)

random = Family("random numbers", 0.5)


def draw(name: str, flex: str, torch: str | None, jax: str | None, **more: object) -> None:
    """Adds a row of 16M numbers, whose values differ between libraries."""
    random.row(
        f"{name}, 16M",
        one(1),
        f"xp.random.default_rng(7).{flex}",
        torch=torch,
        jax=jax,
        tolerance=inf,
        **more,
    )


N = 16 * M
draw(
    "uniform float32",
    f"random({N}, dtype=xp.float32)",
    f"xp.rand({N})",
    f"jax.random.uniform(jax.random.key(7), ({N},))",
)
draw(
    "normal float32",
    f"standard_normal({N}, dtype=xp.float32)",
    f"xp.randn({N})",
    f"jax.random.normal(jax.random.key(7), ({N},))",
)
draw(
    "integers int64",
    f"integers(0, 1000, {N})",
    f"xp.randint(0, 1000, ({N},))",
    f"jax.random.randint(jax.random.key(7), ({N},), 0, 1000)",
    goal=0.6,
)
random.row(
    "permutation, 1M",
    one(1),
    f"xp.random.default_rng(7).permutation({M})",
    torch=f"xp.randperm({M})",
    jax=f"jax.random.permutation(jax.random.key(7), {M})",
    tolerance=inf,
    goal=0.8,
)

statistics = Family("statistics", 0.8)
statistics.row(
    "median of rows, 1024x1024",
    one(K, K),
    "xp.median(a, axis=-1)",
    torch="xp.quantile(a, 0.5, dim=-1)",
)
statistics.row(
    "quantiles of columns, 1024x1024",
    one(K, K),
    "xp.quantile(a, xp.asarray([0.1, 0.9], dtype=xp.float32), axis=0)",
    torch="xp.quantile(a, xp.tensor([0.1, 0.9]), dim=0)",
)
statistics.row(
    "nanmean, 4096x1024", one(4 * K, K), "xp.nanmean(a, axis=-1)", torch="xp.nanmean(a, dim=-1)"
)

FAMILIES = [large, small, einsum, random, statistics]
