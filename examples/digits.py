# /// script
# dependencies = ["flex-cpu", "numpy", "scikit-learn"]
# ///
"""Trains a convolutional network on scikit-learn's 8x8 digits, with the gradients of flex.nn.grad.

    python examples/digits.py

Convolution, relu, pool, twice, and a linear layer: 1,898 weights. There is no autograd tape: `Network.gradients` calls
the gradient of each layer, the last layer first. With --write, the weights and the network's results for held-out
digits replace the files in examples/embedded, which a microcontroller and a web page read:

convolutional.safetensors   the weights, named as in a state dict of torch: Conv2d(1, 8, 3, padding=1), ReLU, MaxPool2d(2),
                            Conv2d(8, 16, 3, padding=1), ReLU, MaxPool2d(2), Flatten, Linear(64, 10)
convolutional.bin           a record for each digit: 64 pixels of 0..=16 (uint8), ten probabilities (float32,
                            little-endian), the digit, three bytes of padding
"""

import argparse
import gzip
import importlib.util
from pathlib import Path

import numpy as np

import flex
from flex import io, nn

FOLDER = Path(__file__).parent / "embedded"
HELD_OUT = 297
EPOCHS = 60
BATCH = 50
RATE = 0.01
CONVOLUTIONS = "0", "3"
LINEAR = "7"


def digits(path=None):
    """Images, [digits, 1, 8, 8] in [0, 1], and labels, shuffled; the held-out digits come first."""
    package = importlib.util.find_spec("sklearn")  # found, not imported: that would need SciPy
    if path is None and (package is None or package.origin is None):
        raise SystemExit("pip install scikit-learn: its digits are what is learnt")
    with gzip.open(path or Path(package.origin).parent / "datasets/data/digits.csv.gz") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    table = np.random.default_rng(0).permutation(table)
    images = flex.asarray(table[:, :64].reshape(-1, 1, 8, 8), dtype="float32") / 16
    return images, flex.asarray(table[:, 64], dtype="int64")


class Network:
    def __init__(self, weights):
        self.weights = weights

    @classmethod
    def random(cls, seed):
        rng = np.random.default_rng(seed)
        weights = {}
        for name, shape in (("0", (8, 1, 3, 3)), ("3", (16, 8, 3, 3)), (LINEAR, (10, 64))):
            deviation = (2 / np.prod(shape[1:])) ** 0.5
            weights[f"{name}.weight"] = flex.asarray(
                rng.normal(0, deviation, shape), dtype="float32"
            )
            weights[f"{name}.bias"] = flex.zeros(shape[0])
        return cls(weights)

    def parameters(self, name):
        return self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]

    def __call__(self, images, kept=None):
        """Scores, [images, 10]. Appends the values that the gradients need to `kept`."""
        x = images
        for name in CONVOLUTIONS:
            y = nn.conv2d(x, *self.parameters(name), padding=1, activation="relu")
            pooled, indices = nn.max_pool2d(y, 2, return_indices=True)
            if kept is not None:
                kept.append((x, y, indices))
            x = pooled
        x = x.reshape((len(x), -1))
        if kept is not None:
            kept.append(x)
        return nn.linear(x, *self.parameters(LINEAR))

    def gradients(self, images, labels):
        """The gradients of the mean cross entropy, keyed by the names of the weights."""
        kept, found = [], {}
        scores = self(images, kept)
        grad = nn.grad.cross_entropy(flex.asarray(1.0), scores, labels)

        weight, _ = self.parameters(LINEAR)
        grad, *found[LINEAR] = nn.grad.linear(grad, kept.pop(), weight)
        for name in reversed(CONVOLUTIONS):
            x, y, indices = kept.pop()
            weight, _ = self.parameters(name)
            grad = nn.grad.max_pool2d(grad.reshape(indices.shape), indices, y.shape)
            grad = nn.grad.relu(grad, y)
            grad, *found[name] = nn.grad.conv2d(grad, x, weight, padding=1)
        parts = zip(found, found.values(), strict=True)
        return {
            f"{name}.{part}": g
            for name, both in parts
            for part, g in zip(("weight", "bias"), both, strict=True)
        }


class Adam:
    """Kingma and Ba 2015."""

    def __init__(self, weights):
        self.weights, self.steps = weights, 0
        self.moments = {
            name: (flex.zeros_like(w), flex.zeros_like(w)) for name, w in weights.items()
        }

    def step(self, gradients, rate):
        self.steps += 1
        for name, g in gradients.items():
            mean, square = self.moments[name]
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            root = flex.sqrt(square / (1 - 0.999**self.steps)) + 1e-8
            self.weights[name] -= rate / (1 - 0.9**self.steps) * mean / root
            self.moments[name] = mean, square


def train(images, labels, epochs=EPOCHS, seed=3):
    rng = np.random.default_rng(seed)
    network = Network.random(rng)
    optimizer = Adam(network.weights)
    for epoch in range(epochs):
        rate = RATE * (1 + np.cos(np.pi * epoch / epochs)) / 2
        for batch in rng.permutation(len(images)).reshape(-1, BATCH):
            gradients = network.gradients(images[batch], labels[batch])
            optimizer.step(gradients, rate)
    return network


def write(network, images, labels):
    io.save(FOLDER / "convolutional.safetensors", network.weights)
    exact = Network({name: w.astype("float64") for name, w in network.weights.items()})
    record = np.dtype(
        [("pixels", "u1", 64), ("probabilities", "<f4", 10), ("digit", "u1"), ("padding", "u1", 3)]
    )
    records = np.zeros(len(images), record)
    records["pixels"] = (images * 16).astype("uint8").reshape((-1, 64)).numpy()
    records["probabilities"] = nn.softmax(exact(images.astype("float64"))).numpy()
    records["digit"] = labels.numpy()
    records.tofile(FOLDER / "convolutional.bin")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--digits",
        type=Path,
        help="digits.csv.gz of scikit-learn; by default that of the installed package",
    )
    parser.add_argument(
        "--write", action="store_true", help="replace the files of examples/embedded"
    )
    arguments = parser.parse_args()
    images, labels = digits(arguments.digits)
    network = train(images[HELD_OUT:], labels[HELD_OUT:])
    seen, answers = images[:HELD_OUT], labels[:HELD_OUT]
    right = flex.mean(network(seen).argmax(-1) == answers).item()
    print(f"{right:.2%} of {HELD_OUT} held-out digits")
    if right < 0.98:
        raise SystemExit("fewer than 98 % are right")
    if arguments.write:
        write(network, seen, answers)


if __name__ == "__main__":
    main()
