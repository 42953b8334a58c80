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
    name = {"bilinear": "linear", "bicubic": "cubic", "nearest-exact": "nearest"}.get(mode, mode)
    of = "asymmetric" if mode == "nearest" else "pytorch_half_pixel"
    rounded = "round_prefer_ceil" if mode == "nearest-exact" else "floor"
    return (
        f'Resize(a, None, None, constant({list(size)}), mode="{name}", coordinate_transformation_mode="{of}",'
        f' nearest_mode="{rounded}", cubic_coeff_a=-0.75)'
    )


# Sizes whose quotient is exact in float32: otherwise libraries round coordinates differently.
for mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
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
for mode, torch in (
    ("bilinear", {}),
    ("bicubic", {}),
    ("lanczos3", {"torch": None}),  # which is only JAX's
):
    _row(
        f"{mode} to 256x256, antialias",
        one(4, 3, 600, 800),
        f"interpolate(a, (256, 256), mode={mode!r}, antialias=True)",
        f"images.resized(a, (256, 256), {mode!r}, True)",
        jax=f"jax.image.resize(a, (4, 3, 256, 256), {mode!r})",
        **torch,
    )
for name, sides, mode in (
    ("linear, twice", (4, 64, 2048), "linear"),
    ("trilinear, twice", (1, 16, 16, 32, 32), "trilinear"),
    ("volume, nearest, twice", (1, 16, 16, 32, 32), "nearest"),
):
    twice = tuple(2 * n for n in sides[2:])
    kind = "nearest" if mode == "nearest" else "bilinear"
    _row(
        name,
        one(*sides),
        f"interpolate(a, scale_factor=2, mode={mode!r})",
        f"images.resized(a, {twice}, {kind!r})",
        jax=JAX.format((*sides[:2], *twice)) if kind == "bilinear" else None,
        onnx=_onnx(kind, *sides[:2], *twice),
    )
for places in (32, 28):
    _row(
        f"area to {places}x{places}",
        one(8, 64, 64, 64),
        f"interpolate(a, {places}, mode='area')",
        f"images.pooled(a, ({places}, {places}), xp.mean)",
    )
_row(
    "bilinear, align_corners, to 127x127",
    one(4, 32, 64, 64),
    "interpolate(a, 127, mode='bilinear', align_corners=True)",
    "images.aligned(a, (127, 127))",
)
for mode, exact in (("bilinear", 1), ("nearest", 0)):
    _row(
        "grid_sample" if exact else f"grid_sample, {mode}",
        {"a": Input((4, 32, 64, 64)), "b": Input((4, 64, 64, 2), low=-1.1, high=1.1)},
        f"grid_sample(a, b, {mode!r}, align_corners=False)",
        f"images.sampled(a, b, {exact})",
        onnx=f'GridSample(a, b, mode="{"linear" if exact else mode}", padding_mode="zeros", align_corners=0)',
        goal=0.6,
    )
_row(
    "grid_sample, bicubic, borders",
    {"a": Input((4, 32, 64, 64)), "b": Input((4, 64, 64, 2), low=-0.9, high=0.9)},
    "grid_sample(a, b, 'bicubic', 'border', align_corners=False)",
    "images.sampled_cubic(a, b)",
    onnx='GridSample(a, b, mode="cubic", padding_mode="border", align_corners=0)',
    goal=0.6,
)
resampling.row(
    "affine_grid, 16x3x256x256",
    {"t": Input((16, 2, 3))},
    "nn.affine_grid(t, (16, 3, 256, 256), align_corners=False)",
    numpy=None,
    jax=None,
    onnx="AffineGrid(t, constant([16, 3, 256, 256]), align_corners=0)",
    reference="(lambda p: xp.stack((*xp.meshgrid(p, p), xp.ones((256, 256))), -1) @ t.swapaxes(1, 2)[:, None])"
    "((2 * xp.arange(256) + 1) / 256 - 1)",
)

padding = Family("padding", 0.6)
_SIDES = (4, 32, 112, 112)
for name, mode, numpy, onnx in (
    ("by reflection", "reflect", "reflect", "reflect"),
    ("by repetition", "replicate", "edge", "edge"),
    ("around", "circular", "wrap", "wrap"),
    ("by zeros", "constant", "constant", "constant"),
):
    exact = f"xp.pad(a, ((0, 0), (0, 0), (3, 3), (3, 3)), mode={numpy!r})"
    padding.row(
        f"{name}, {shape(*_SIDES)}",
        one(*_SIDES),
        f"nn.pad(a, (3, 3, 3, 3), mode={mode!r})",
        numpy=exact,
        jax=exact,
        onnx=f'Pad(a, constant([0, 0, 3, 3, 0, 0, 3, 3]), mode="{onnx}")',
        **({"openvino": None} if onnx == "wrap" else {}),
    )
padding.row(
    "of signals by reflection, 64x32x4096",
    one(64, 32, 4096),
    "nn.pad(a, (8, 8), mode='reflect')",
    numpy="xp.pad(a, ((0, 0), (0, 0), (8, 8)), mode='reflect')",
    jax="xp.pad(a, ((0, 0), (0, 0), (8, 8)), mode='reflect')",
)
padding.row(
    "cut off, 4x32x112x112",
    one(*_SIDES),
    "nn.pad(a, (-3, -3, -3, -3))",
    numpy="a[:, :, 3:-3, 3:-3].copy()",
    jax="a[:, :, 3:-3, 3:-3]",
)

blocks = Family("blocks of images", 0.7)
_PIXELS = (4, 64, 112, 112)
for name, sides, call, exact, more in (
    (
        "pixel_shuffle",
        _PIXELS,
        "pixel_shuffle(a, 2)",
        "a.reshape(4, 16, 2, 2, 112, 112).transpose(0, 1, 4, 2, 5, 3).reshape(4, 16, 224, 224)",
        {"onnx": "DepthToSpace(a, blocksize=2, mode='CRD')"},
    ),
    (
        "pixel_unshuffle",
        _PIXELS,
        "pixel_unshuffle(a, 2)",
        "a.reshape(4, 64, 56, 2, 56, 2).transpose(0, 1, 3, 5, 2, 4).reshape(4, 256, 56, 56)",
        {},
    ),
    (
        "channel_shuffle",
        _PIXELS,
        "channel_shuffle(a, 4)",
        "a.reshape(4, 4, 16, 112, 112).transpose(0, 2, 1, 3, 4).reshape(a.shape)",
        {},
    ),
    (
        "unfold 3x3",
        (4, 32, 56, 56),
        "unfold(a, 3, padding=1)",
        "xp.lib.stride_tricks.sliding_window_view(xp.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))"
        ".transpose(0, 1, 4, 5, 2, 3).reshape(4, 288, 3136)",
        {
            "jax": "jax.lax.conv_general_dilated_patches(a, (3, 3), (1, 1), 'SAME').reshape(4, 288, 3136)"
        },
    ),
    (
        "unfold of patches of 16x16",
        (4, 3, 224, 224),
        "unfold(a, 16, stride=16)",
        "a.reshape(4, 3, 14, 16, 14, 16).transpose(0, 1, 3, 5, 2, 4).reshape(4, 768, 196)",
        {},
    ),
    (
        "fold 3x3",
        (4, 288, 3136),
        "fold(a, (56, 56), 3, padding=1)",
        "folded(a, (56, 56), 3, 1)",
        {"jax": None, "onnx": "Col2Im(a, constant([56, 56]), constant([3, 3]), pads=[1, 1, 1, 1])"},
    ),
):
    blocks.row(
        f"{name}, {shape(*sides)}",
        one(*sides),
        f"nn.{call}",
        numpy=None,
        reference=exact,
        **{"jax": exact, **more},
    )

FAMILIES = [resampling, padding, blocks]
