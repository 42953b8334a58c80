"""Lengths that follow from an argument: results, tables, frames and lists are checked before they are made."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux's limit of the address space"
)

PROGRAM = """
import resource, sys, time
import flex
from flex import fft, nn, signal
from flex.nn import grad

x1, x2, x3 = (flex.ones((1, 1, *(4,) * rank)) for rank in (1, 2, 3))
x = flex.ones((2, 4))
ints = flex.asarray([0, 1])
theta, theta3 = flex.ones((1, 2, 3)), flex.ones((1, 3, 4))
at = flex.zeros((1, 1, 1, 1), dtype="int64")
g1, g2 = flex.ones((1, 1, 1)), flex.ones((1, 1, 1, 1))
IMAGES = (x1, x2, x3)
MODES = (
    ("nearest", "nearest-exact", "linear", "area"),
    ("nearest", "bilinear", "bicubic", "lanczos3", "area"),
    ("nearest", "trilinear", "area"),
)
CALLS = {}
for image, modes in zip(IMAGES, MODES, strict=True):
    for mode in modes:
        name = f"interpolate {image.ndim - 2} {mode}"
        CALLS[name] = lambda n, x=image, mode=mode: nn.interpolate(x, n, mode=mode)
        CALLS[name + " along one axis"] = lambda n, x=image, mode=mode: nn.interpolate(
            x, (1,) * (x.ndim - 3) + (n,), mode=mode
        )
        CALLS[name + " by a factor"] = lambda n, x=image, mode=mode: nn.interpolate(
            x, scale_factor=n, mode=mode
        )
        CALLS[name + ", back"] = lambda n, rank=image.ndim - 2, mode=mode: grad.interpolate(
            flex.ones((1,) * (2 + rank)), (1,) * (1 + rank) + (n,), 1, mode=mode
        )
for mode in ("bilinear", "bicubic", "lanczos3"):
    CALLS[f"antialiased {mode}"] = lambda n, mode=mode: nn.interpolate(
        x2, (1, n), mode=mode, antialias=True
    )
for mode in ("constant", "reflect", "replicate", "circular"):
    for image in IMAGES:
        CALLS[f"pad {image.ndim - 2} {mode}"] = lambda n, x=image, mode=mode: nn.pad(
            x, (n,) * (2 * x.ndim - 4), mode=mode
        )
        CALLS[f"pad {image.ndim - 2} {mode} behind"] = lambda n, x=image, mode=mode: nn.pad(
            x, (0, n) + (0, 0) * (x.ndim - 3), mode=mode
        )
    CALLS[f"pad back {mode}"] = lambda n, mode=mode: grad.pad(g1, (1, 1, n), (0, 1 - n), mode=mode)
for rank, image in enumerate(IMAGES, 1):
    for kind in ("max", "avg", "lp"):
        pool = getattr(nn, f"{kind}_pool{rank}d")
        pool = (lambda x, *a, pool=pool, **k: pool(x, 2.0, *a, **k)) if kind == "lp" else pool
        name = f"{kind}_pool{rank}d"
        CALLS[name] = lambda n, x=image, pool=pool: pool(x, n)
        CALLS[name + " up"] = lambda n, x=image, pool=pool: pool(x, n, ceil_mode=True)
        CALLS[name + " by steps"] = lambda n, x=image, pool=pool: pool(x, n, 1, ceil_mode=True)
        CALLS[name + " by far"] = lambda n, x=image, pool=pool: pool(x, 2, n)
        if kind != "lp":
            CALLS[name + " around"] = lambda n, x=image, pool=pool: pool(x, n, 1, n // 2)
            CALLS[name + " around, apart"] = lambda n, x=image, pool=pool: pool(
                x, n, n // 2 - 1, n // 2, ceil_mode=True
            )
        if kind == "max":
            CALLS[name + " dilated"] = lambda n, x=image, pool=pool: pool(x, 2, 1, n // 2, n)
            CALLS[name + " found"] = lambda n, x=image, pool=pool: pool(
                x, n, 1, n // 2, return_indices=True
            )
            CALLS[name + " adaptive"] = lambda n, x=image, f=getattr(
                nn, f"adaptive_max_pool{rank}d"
            ): f(x, n, return_indices=True)
        if kind == "avg":
            CALLS[name + " adaptive"] = lambda n, x=image, f=getattr(
                nn, f"adaptive_avg_pool{rank}d"
            ): f(x, n)
CALLS |= {
    "avg_pool back": lambda n: grad.avg_pool1d(g1, (1, 1, n), n),
    "avg_pool back around": lambda n: grad.avg_pool1d(g1, (1, 1, 4), n, n, n // 2),
    "avg_pool back, a stride": lambda n: grad.avg_pool1d(g1, (1, 1, n), 1, n),
    "adaptive_avg_pool back": lambda n: grad.adaptive_avg_pool1d(g1, (1, 1, n)),
    "max_pool back": lambda n: grad.max_pool2d(at * 1.0, at, (1, 1, n, n)),
    "max_unpool": lambda n: nn.max_unpool2d(at * 1.0, at, n),
    "max_unpool to": lambda n: nn.max_unpool2d(at * 1.0, at, n, output_size=(n, n)),
    "max_unpool to an empty batch": lambda n: nn.max_unpool2d(at[:0] * 1.0, at[:0], n),
    "affine_grid": lambda n: nn.affine_grid(theta, (1, 1, n, n)),
    "affine_grid, a line": lambda n: nn.affine_grid(theta, (1, 1, 1, n)),
    "affine_grid of volumes": lambda n: nn.affine_grid(theta3, (1, 1, n, 1, 1)),
    "unfold": lambda n: nn.unfold(x2, n, padding=n),
    "unfold apart": lambda n: nn.unfold(x2, 2, dilation=n, padding=n),
    "unfold around": lambda n: nn.unfold(x2, 1, padding=n // 2, stride=n),
    "unfold an empty batch": lambda n: nn.unfold(x2[:0], 1, padding=min(n, 2**40)),
    "fold": lambda n: nn.fold(x1, n, 1),
    "fold apart": lambda n: nn.fold(x1[..., :1], (1, n), 1, stride=n),
    "fold a kernel": lambda n: nn.fold(x1, 4, n),
    "one_hot": lambda n: nn.one_hot(ints, n),
    "one_hot of": lambda n: nn.one_hot(flex.asarray([n])),
    "embedding back": lambda n: grad.embedding(x, ints, n),
    "rotary_tables": lambda n: nn.rotary_tables(n, 4),
    "rotary_tables wide": lambda n: nn.rotary_tables(4, n - n % 2),
    "KVCache": lambda n: nn.KVCache(1, 1, 4, capacity=n),
    "KVCache heads": lambda n: nn.KVCache(1, n, n, capacity=1),
    "pixel_shuffle": lambda n: nn.pixel_shuffle(x2, n),
    "pixel_unshuffle": lambda n: nn.pixel_unshuffle(x2, n),
    "channel_shuffle": lambda n: nn.channel_shuffle(x2, n),
    "local_response_norm": lambda n: nn.local_response_norm(x2, n),
    "conv_transpose stride": lambda n: nn.conv_transpose1d(x1, x1, stride=n),
    "conv_transpose dilation": lambda n: nn.conv_transpose1d(x1, x1, dilation=n),
    "conv_transpose padding": lambda n: nn.conv_transpose1d(x1, x1, padding=n),
    "conv_transpose output_padding": lambda n: nn.conv_transpose1d(
        x1, x1, stride=n, output_padding=n - 1
    ),
    "conv padding": lambda n: nn.conv1d(x1, x1, padding=n),
    "conv padding of an image": lambda n: nn.conv2d(x2, x2, padding=n),
    "conv stride": lambda n: nn.conv1d(x1, x1, stride=n, padding=n),
    "conv dilation": lambda n: nn.conv1d(x1, x1, dilation=n, padding=n),
    "conv_plan": lambda n: nn.conv_plan((1, n, n), (n, n, 3)),
    "attention window": lambda n: nn.scaled_dot_product_attention(x, x, x, window=(n, n)),
    "hann": lambda n: signal.hann(n),
    "kaiser": lambda n: signal.kaiser(n, 3.0),
    "gaussian": lambda n: signal.gaussian(n, 3.0, dtype="float64"),
    "mel_filters": lambda n: signal.mel_filters(16000, n),
    "mel_filters bands": lambda n: signal.mel_filters(16000, 1, n_mels=n),
    "stft": lambda n: signal.stft(x, n),
    "stft constant": lambda n: signal.stft(x, n, pad_mode="constant"),
    "stft hop": lambda n: signal.stft(x, 4, hop_length=n),
    "stft window": lambda n: signal.stft(x, 4, win_length=n),
    "istft": lambda n: signal.istft(x, 2, length=n),
    "istft hop": lambda n: signal.istft(x, 2, hop_length=n),
    "istft frames": lambda n: signal.istft(x, n),
    "fftfreq": fft.fftfreq,
    "rfftfreq": fft.rfftfreq,
    "next_fast_len": fft.next_fast_len,
}
for name in "fft ifft rfft irfft hfft ihfft".split():
    CALLS[name] = lambda n, f=getattr(fft, name): f(x, n)
    CALLS[name + " down"] = lambda n, f=getattr(fft, name): f(x, n, 0)
    CALLS[name + " of none"] = lambda n, f=getattr(fft, name): f(x[:0], n)
for name in "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split():
    CALLS[name] = lambda n, f=getattr(fft, name): f(x, (n, n), (0, 1))
    CALLS[name + " of a row"] = lambda n, f=getattr(fft, name): f(x, (1, n), (0, 1))
for kind in (1, 2, 3, 4):
    CALLS[f"dct {kind}"] = lambda n, kind=kind: fft.dct(x, kind, n)
    CALLS[f"idct {kind} of none"] = lambda n, kind=kind: fft.idct(x[:0], kind, n)

def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

for call in CALLS.values():
    try:
        call(3)  # what is made once for all is there
    except (ValueError, TypeError):
        pass
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 30),) * 2)
part, parts = map(int, sys.argv[1:])
faults = []
for name in list(CALLS)[part::parts]:
    for n in (2**31, 2**62, 2**63 - 1):
        before, start = resident(), time.process_time()
        try:
            CALLS[name](n)
        except (ValueError, OverflowError, MemoryError, TypeError):
            pass  # flex's errors are among them
        except BaseException as error:
            faults.append(f"{name}({n}): {error!r}")
        seconds, grown = time.process_time() - start, resident() - before
        if seconds > 5 or grown > 256 << 20:
            faults.append(f"{name}({n}): {seconds} s, {grown >> 20} MiB")
assert not faults, faults
print("done", len(CALLS))
"""


@pytest.mark.parametrize("part", range(4))
def test_lengths_are_checked_before_tables_are_made(part):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(part), "4"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.startswith("done ")
    assert int(run.stdout.split()[1]) > 150
