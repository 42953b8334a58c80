"""The mel spectrogram of a WAV file as a PNG, computed and encoded with flex and the standard library.

    python examples/spectrogram.py [IN.wav] [OUT.png]

Without a file it makes one: a tone that rises over three octaves, with an echo and noise.
"""

import struct
import sys
import wave
import zlib
from pathlib import Path

import flex
from flex import signal

RATE = 16000
N_FFT, HOP, MELS = 1024, 160, 128
# dark violet, red, yellow, from quiet to loud
COLOURS = [(0, 0, 4), (87, 16, 110), (188, 55, 84), (249, 142, 9), (252, 255, 164)]


def make(path, seconds=4.0):
    """A chirp from 250 Hz to 2 kHz."""
    t = flex.arange(int(seconds * RATE), dtype=flex.float64) / RATE
    octaves = 3 / seconds
    phase = 2 * flex.pi * 250 * (flex.exp2(octaves * t) - 1) / (octaves * 0.6931471805599453)
    tone = flex.sin(phase)
    # an echo after a fifth of a second: the convolution with two impulses
    echo = flex.zeros(RATE // 5 + 1, dtype=flex.float64)
    echo[0], echo[-1] = 0.6, 0.2
    sound = signal.convolve(tone, echo)[: tone.size]
    # noise: the low bits of a congruential generator
    state = (flex.arange(tone.size, dtype=flex.int64) * 1103515245 + 12345) % 65536
    state = (state * state + 7919) % 65521
    sound += (state.astype(flex.float64) / 65521 - 0.5) * 0.02
    samples = flex.round(flex.clip(sound, -1, 1) * 32767).astype(flex.int16)
    with wave.open(str(path), "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(RATE)
        f.writeframes(samples.tobytes())


def read(path):
    """The mean of all channels, with samples from -1 to 1, and the sample rate."""
    with wave.open(str(path), "rb") as f:
        if f.getsampwidth() != 2:
            raise SystemExit(f"{path}: samples of {8 * f.getsampwidth()} bits; only 16 are read")
        channels, rate = f.getnchannels(), f.getframerate()
        samples = flex.frombuffer(f.readframes(f.getnframes()), dtype=flex.int16)
    return samples.reshape((-1, channels)).astype(flex.float32).mean(axis=1) / 32768, rate


def spectrogram(samples, rate):
    """Decibels relative to the maximum, `[MELS, frames]`."""
    window = signal.hann(N_FFT, sym=False)
    spectra = signal.stft(samples, N_FFT, hop_length=HOP, window=window)
    filters = signal.mel_filters(rate, N_FFT, n_mels=MELS)
    power = filters @ flex.square(flex.abs(spectra))
    decibels = 10 * flex.log10(flex.maximum(power, 1e-10))
    return decibels - decibels.max()


def write_png(path, levels):
    """Draws numbers from 0 to 1 in the colours above, with the first row at the bottom."""
    colours = flex.asarray(COLOURS, dtype=flex.float32)
    at = flex.flip(levels, axis=0) * (len(COLOURS) - 1)
    below = flex.clip(flex.floor(at), 0, len(COLOURS) - 2)
    part = (at - below)[..., None]
    k = below.astype(flex.int64)
    pixels = flex.round(colours[k] * (1 - part) + colours[k + 1] * part).astype(flex.uint8)
    height, width = levels.shape
    # each row begins with its filter type, 0 for none
    rows = flex.concat([flex.zeros((height, 1), dtype=flex.uint8), pixels.reshape((height, -1))], 1)

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows.tobytes()))
        + chunk(b"IEND", b"")
    )


def main():
    source = Path(sys.argv[1] if len(sys.argv) > 1 else "chirp.wav")
    target = Path(sys.argv[2] if len(sys.argv) > 2 else source.with_suffix(".png"))
    if len(sys.argv) < 2:
        make(source)
    samples, rate = read(source)
    decibels = spectrogram(samples, rate)
    write_png(target, flex.clip(decibels / 80 + 1, 0, 1))
    mels, frames = decibels.shape
    print(f"{target}: {samples.size / rate:.1f} s, {frames} frames of {mels} mels")


if __name__ == "__main__":
    main()
