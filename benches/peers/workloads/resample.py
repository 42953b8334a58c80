"""Images of other sizes, and sampled at points."""

from __future__ import annotations

from ..table import Family, Input, one, shape

resampling = Family("resampling", 0.5)


def _row(name: str, inputs: dict[str, Input], call: str, reference: str, **more) -> None:
    resampling.row(
        f"{name}, {shape(*inputs['a'].shape)}",
        inputs,
        f"nn.{call}",
        numpy=None,
        jax=None,
        reference=reference,
        **more,
    )


for mode in ("nearest", "bilinear", "bicubic"):
    _row(
        f"{mode}, twice",
        one(4, 32, 64, 64),
        f"interpolate(a, scale_factor=2, mode={mode!r})",
        f"images.resized(a, (128, 128), {mode!r})",
    )
    _row(
        f"{mode} to 224x224",
        one(4, 3, 300, 400),
        f"interpolate(a, (224, 224), mode={mode!r})",
        f"images.resized(a, (224, 224), {mode!r})",
    )
for mode in ("bilinear", "bicubic"):
    _row(
        f"{mode} to 224x224, antialias",
        one(4, 3, 600, 800),
        f"interpolate(a, (224, 224), mode={mode!r}, antialias=True)",
        f"images.resized(a, (224, 224), {mode!r}, True)",
    )
_row(
    "grid_sample",
    {"a": Input((4, 32, 64, 64)), "b": Input((4, 64, 64, 2), low=-1.1, high=1.1)},
    "grid_sample(a, b, align_corners=False)",
    "images.sampled(a, b)",
    goal=0.6,
)
_row(
    "pad by reflection",
    one(4, 32, 112, 112),
    "pad(a, (3, 3, 3, 3), mode='reflect')",
    "xp.pad(a, ((0, 0), (0, 0), (3, 3), (3, 3)), mode='reflect')",
)

FAMILIES = [resampling]
