"""Discrete Fourier transforms."""

from typing import Any

from ..table import Family, K, M, one, size

transforms = Family("fft", 0.8)


def row(name: str, inputs: dict, expression: str, **more: Any) -> None:
    """Adds a workload, in which SciPy takes part too: its transforms are not those of NumPy."""
    transforms.row(name, inputs, expression, scipy=expression, **more)


for n, goal in ((256, 0.6), (1000, 0.8), (12289, 0.8), (64 * K, 0.7), (M, 0.8)):
    flops = 2.5 * n * n.bit_length()
    row(f"rfft, {size(n)}", one(n), "xp.fft.rfft(a)", goal=goal, flops=flops)
    row(
        f"irfft, {size(n)}",
        one(n // 2 + 1, dtype="float32"),
        f"xp.fft.irfft(a, {n})",
        goal=goal,
        flops=flops,
        reference=f"xp.fft.irfft(a, {n})",
    )
row("rfft, 64 of 4096", one(64, 4 * K), "xp.fft.rfft(a)", flops=64 * 2.5 * 4 * K * 12)
row(
    "irfft, 64 of 4096",
    one(64, 2 * K + 1),
    f"xp.fft.irfft(a, {4 * K})",
    flops=64 * 2.5 * 4 * K * 12,
)
row("rfft float64, 64K", one(64 * K, dtype="float64"), "xp.fft.rfft(a)", flops=2.5 * 64 * K * 16)
row("fft, 1024 of 64", one(K, 64), "xp.fft.fft(a)", flops=K * 5 * 64 * 6)
row("rfft, 4096 of 64", one(4 * K, 64), "xp.fft.rfft(a)", flops=4 * K * 2.5 * 64 * 6)
row("rfft, 655 of 400", one(655, 400), "xp.fft.rfft(a)", flops=655 * 2.5 * 400 * 9)
row("fft2, 512x512", one(512, 512), "xp.fft.fft2(a)", flops=5 * 512 * 512 * 18)
row(
    "rfft along axis 0, 1024x256",
    one(K, 256),
    "xp.fft.rfft(a, axis=0)",
    torch="xp.fft.rfft(a, dim=0)",
    flops=2.5 * 256 * K * 10,
)

FAMILIES = [transforms]
