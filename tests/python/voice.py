"""A voice made of formants: impulses at the pitch, through resonances of the vocal tract (Klatt, 1980)."""

import wave

import numpy as np
from scipy.signal import lfilter

RATE = 16000
# The first three resonances of vowels in Hz (Peterson and Barney, 1952: men).
VOWELS = {
    "i": (270, 2290, 3010),
    "e": (530, 1840, 2480),
    "a": (730, 1090, 2440),
    "o": (570, 840, 2410),
    "u": (300, 870, 2240),
}


def vowel(name, seconds, pitch, rng):
    """A vowel whose pitch moves a little."""
    t = np.arange(int(seconds * RATE)) / RATE
    frequency = pitch * (1 + 0.1 * np.sin(8 * t) + 0.02 * np.sin(31 * t))
    x = np.diff(np.floor(np.cumsum(frequency) / RATE), prepend=0)
    x += 0.01 * rng.standard_normal(len(t))
    for k, formant in enumerate(VOWELS[name]):
        radius = np.exp(-np.pi * (60 + 40 * k) / RATE)
        poles = [1, -2 * radius * np.cos(2 * np.pi * formant / RATE), radius**2]
        x = lfilter([sum(poles)], poles, x)
    return x / np.abs(x).max() * np.minimum(1, np.minimum(t, t[::-1]) / 0.03)


def speech(names, rng):
    """Vowels, with a puff of noise after each."""
    parts = []
    for k, name in enumerate(names):
        parts.append(0.4 * vowel(name, 0.16 + 0.05 * (k % 3), 110 + 10 * (k % 4), rng))
        parts.append(0.04 * rng.standard_normal(RATE // 33) * np.hanning(RATE // 33))
    return np.concatenate(parts)


def conversation(seed):
    """A second of near silence, speech, silence, speech, silence; and where speech is, in seconds."""
    rng = np.random.default_rng(seed)
    quiet = 0.001 * rng.standard_normal((3, RATE))
    first, second = speech("aeiouaoei", rng), speech("iaeou", rng)
    sound = np.concatenate([quiet[0], first, quiet[1], second, quiet[2]])
    ends = np.cumsum([RATE, len(first), RATE, len(second)]) / RATE
    return sound, [(ends[0], ends[1]), (ends[2], ends[3])]


def write(path, sound):
    """Writes a WAV file of 16 bits."""
    with wave.open(str(path), "wb") as f:
        f.setparams((1, 2, RATE, 0, "NONE", ""))
        f.writeframes(np.round(sound * 32767).astype("<i2").tobytes())
