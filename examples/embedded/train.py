# /// script
# dependencies = ["numpy", "safetensors", "scikit-learn"]
# ///
"""Trains the classifier of this example on scikit-learn's 8x8 digits and writes, beside this file:

digits.safetensors   its weights, named as in a state dict of torch: Linear(64, 32), ReLU, Linear(32, 10)
quantized.safetensors  the same with int8 weights, as by flex.quant.quantize(weight, axis=0), and a float32 scale per row
held_out.bin         a record for each held-out digit: 64 pixels of 0..=16 (uint8), the ten probabilities as NumPy computes
                     them from the written weights (float32, little-endian), the digit, three bytes of padding
learnt.bin           a record for each digit that is learnt, for other programs that learn: 64 pixels and the digit (uint8)

    python train.py      the same files each time
"""

import gzip
import importlib.util
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

HELD_OUT = 297
HIDDEN = 32
EPOCHS = 150
BATCH = 50
RATE = 0.002
FOLDER = Path(__file__).parent


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels and labels, shuffled."""
    package = importlib.util.find_spec("sklearn")  # found, not imported: that would need SciPy
    if package is None or package.origin is None:
        raise SystemExit("pip install scikit-learn: its digits are what is learnt")
    with gzip.open(Path(package.origin).parent / "datasets/data/digits.csv.gz") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    table = np.random.default_rng(0).permutation(table)
    return table[:, :64], table[:, 64]


def forward(weights: dict[str, np.ndarray], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The hidden layer and the probabilities."""
    hidden = np.maximum(x @ weights["0.weight"].T + weights["0.bias"], 0)
    scores = hidden @ weights["2.weight"].T + weights["2.bias"]
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return hidden, e / e.sum(axis=1, keepdims=True)


def train(x: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Minimises the cross entropy with Adam."""
    random = np.random.default_rng(1)
    sizes = {
        "0.weight": (HIDDEN, 64),
        "0.bias": (HIDDEN,),
        "2.weight": (10, HIDDEN),
        "2.bias": (10,),
    }
    weights = {
        name: random.normal(0, (2 / s[-1]) ** 0.5, s) if len(s) == 2 else np.zeros(s)
        for name, s in sizes.items()
    }
    first, second = ({name: np.zeros(s) for name, s in sizes.items()} for _ in range(2))
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        for batch in random.permutation(len(x)).reshape(-1, BATCH):
            step += 1
            inputs = x[batch]
            hidden, probabilities = forward(weights, inputs)
            error = (probabilities - np.eye(10)[labels[batch]]) / BATCH
            back = error @ weights["2.weight"] * (hidden > 0)
            gradients = {
                "0.weight": back.T @ inputs,
                "0.bias": back.sum(0),
                "2.weight": error.T @ hidden,
                "2.bias": error.sum(0),
            }
            for name, gradient in gradients.items():
                first[name] += 0.1 * (gradient - first[name])
                second[name] += 0.001 * (gradient**2 - second[name])
                weights[name] -= (
                    rate
                    * first[name]
                    / (1 - 0.9**step)
                    / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
                )
    return {name: w.astype(np.float32) for name, w in weights.items()}


def quantized(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The weights as int8 with a scale per row, named as flex.quant.save names them."""
    found = dict(weights)
    for name, w in weights.items():
        if w.ndim == 2:
            scales = np.abs(w).max(axis=1, keepdims=True) / np.float32(127)
            found[name], found[f"{name}.scales"] = np.rint(w / scales).astype(np.int8), scales
    return found


def main() -> None:
    pixels, labels = digits()
    x = pixels / 16.0
    weights = train(x[HELD_OUT:], labels[HELD_OUT:])
    save_file(weights, FOLDER / "digits.safetensors")
    save_file(quantized(weights), FOLDER / "quantized.safetensors")

    np.column_stack([pixels, labels])[HELD_OUT:].tofile(FOLDER / "learnt.bin")

    _, probabilities = forward(
        {name: w.astype(np.float64) for name, w in weights.items()}, x[:HELD_OUT]
    )
    right = (probabilities.argmax(axis=1) == labels[:HELD_OUT]).mean()
    record = np.dtype(
        [("pixels", "u1", 64), ("probabilities", "<f4", 10), ("digit", "u1"), ("padding", "u1", 3)]
    )
    records = np.zeros(HELD_OUT, record)
    records["pixels"], records["probabilities"], records["digit"] = (
        pixels[:HELD_OUT],
        probabilities,
        labels[:HELD_OUT],
    )
    records.tofile(FOLDER / "held_out.bin")
    print(f"{right:.2%} of {HELD_OUT} held-out digits")
    if right < 0.95:
        raise SystemExit("fewer than 95 % are right")


if __name__ == "__main__":
    main()
