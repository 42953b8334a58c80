"""Image resampling, and sampling at points."""

from __future__ import annotations

from ..table import Family, Input, one, shape

resampling = Family("resampling", 0.5)
JAX = "jax.image.resize(a, {}, 'bilinear', antialias=False)"


def _row(name: str, inputs: dict[str, Input], call: str, reference: str, **more) -> None:
    resampling.row(
        f"{name}, {shape(*inputs['a'].shape)}",
        inputs,
        f"nn.{call}",
        numpy=None,
        reference=reference,
        **{"jax": None, **more},
    )


def _onnx(mode: str, *size: int) -> str:
    """ONNX's operator with torch's coordinates."""
    name = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    of = "asymmetric" if mode == "nearest" else "pytorch_half_pixel"
    return (
        f'Resize(a, None, None, constant({list(size)}), mode="{name}", coordinate_transformation_mode="{of}",'
        ' nearest_mode="floor", cubic_coeff_a=-0.75)'
    )


# Sizes whose quotient is exact in float32: otherwise libraries round coordinates differently.
for mode in ("nearest", "bilinear", "bicubic"):
    _row(
        f"{mode}, twice",
        one(4, 32, 64, 64),
        f"interpolate(a, scale_factor=2, mode={mode!r})",
        f"images.resized(a, (128, 128), {mode!r})",
        jax=JAX.format((4, 32, 128, 128)) if mode == "bilinear" else None,
        onnx=_onnx(mode, 4, 32, 128, 128),
    )
    _row(
        f"{mode} to 256x256",
        one(4, 3, 300, 400),
        f"interpolate(a, (256, 256), mode={mode!r})",
        f"images.resized(a, (256, 256), {mode!r})",
        jax=JAX.format((4, 3, 256, 256)) if mode == "bilinear" else None,
        onnx=_onnx(mode, 4, 3, 256, 256),
    )
for mode in ("bilinear", "bicubic"):
    _row(
        f"{mode} to 256x256, antialias",
        one(4, 3, 600, 800),
        f"interpolate(a, (256, 256), mode={mode!r}, antialias=True)",
        f"images.resized(a, (256, 256), {mode!r}, True)",
        jax=f"jax.image.resize(a, (4, 3, 256, 256), {mode!r})",
    )
_row(
    "grid_sample",
    {"a": Input((4, 32, 64, 64)), "b": Input((4, 64, 64, 2), low=-1.1, high=1.1)},
    "grid_sample(a, b, align_corners=False)",
    "images.sampled(a, b)",
    onnx='GridSample(a, b, mode="linear", padding_mode="zeros", align_corners=0)',
    goal=0.6,
)
REFLECTED = "xp.pad(a, ((0, 0), (0, 0), (3, 3), (3, 3)), mode='reflect')"
_row(
    "pad by reflection",
    one(4, 32, 112, 112),
    "pad(a, (3, 3, 3, 3), mode='reflect')",
    REFLECTED,
    jax=REFLECTED,
    onnx='Pad(a, constant([0, 0, 3, 3, 0, 0, 3, 3]), mode="reflect")',
)

FAMILIES = [resampling]
