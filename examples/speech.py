"""Where somebody speaks in a WAV file of 16 kHz: Silero's detector (pip install --no-deps silero-vad).

python examples/speech.py IN.wav
"""

import sys
import wave
from importlib.util import find_spec
from pathlib import Path

import flex

MODEL = Path((find_spec("silero_vad") or sys.exit(__doc__)).origin).parent / "data/silero_vad.onnx"
RATE, FRAME, CONTEXT = 16000, 512, 64  # samples of a second, of a step, and of those before it


def probabilities(path):
    """The probability of speech in each frame of a file."""
    with wave.open(str(path), "rb") as f:
        if f.getparams()[:3] != (1, 2, RATE):
            raise SystemExit(f"{path}: one channel of 16 bits at {RATE} Hz is needed")
        samples = flex.frombuffer(f.readframes(f.getnframes()), dtype=flex.int16)
    sound = flex.pad(samples.astype(flex.float32) / 32768, (CONTEXT, -samples.size % FRAME))
    model, state = flex.onnx.load(MODEL), flex.zeros((2, 1, 128))
    for k in range(0, sound.size - CONTEXT, FRAME):
        speech, state = model(sound[None, k : k + CONTEXT + FRAME], state, RATE)
        yield speech.item()


def spans(found):
    """Where the probabilities are above a half, in seconds."""
    loud = [False, *(p > 0.5 for p in found), False]
    edges = [k * FRAME / RATE for k in range(len(loud) - 1) if loud[k] != loud[k + 1]]
    return list(zip(edges[::2], edges[1::2], strict=True))


if __name__ == "__main__":
    for begin, end in spans(probabilities(*sys.argv[1:2] or sys.exit(__doc__))):
        print(f"{begin:.2f} to {end:.2f} s")
