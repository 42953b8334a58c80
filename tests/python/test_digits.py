"""The network of examples/digits.py: its gradients against finite differences, and its training."""

import sys
from pathlib import Path

import numpy as np
import pytest

import flex

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(EXAMPLES))
    try:
        import digits
    finally:
        sys.path.pop(0)
    return digits


@pytest.fixture(scope="module")
def images():
    """The held-out images, [297, 1, 8, 8], and their labels."""
    records = np.fromfile(EXAMPLES / "embedded" / "convolutional.bin", "u1").reshape(297, -1)
    pixels = flex.asarray(records[:, :64].reshape(-1, 1, 8, 8), dtype="float32") / 16
    return pixels, flex.asarray(records[:, 104], dtype="int64")


def test_gradients_match_differences(example, images):
    x, labels = images[0][:5].astype("float64"), images[1][:5]
    network = example.Network.random(np.random.default_rng(3))
    rng = np.random.default_rng(4)
    # zero biases would put black parts of an image at relu's kink
    network.weights = {
        name: flex.asarray(w.numpy() + rng.normal(0, 0.1, w.shape))
        for name, w in network.weights.items()
    }
    gradients = network.gradients(x, labels)
    assert gradients.keys() == network.weights.keys()
    for name, g in gradients.items():
        direction = flex.asarray(rng.normal(size=g.shape))
        before = network.weights[name]

        def loss(h):
            network.weights[name] = before + h * direction  # noqa: B023, called in this iteration
            return flex.nn.cross_entropy(network(x), labels).item()

        slope = (loss(1e-6) - loss(-1e-6)) / 2e-6
        network.weights[name] = before
        assert flex.sum(g * direction).item() == pytest.approx(slope, rel=1e-5, abs=1e-7), name


def test_training_learns_the_digits(example, images):
    x, labels = images[0][:250], images[1][:250]
    network = example.train(x, labels, epochs=25)
    right = flex.mean(network(images[0]).argmax(-1) == images[1]).item()
    assert right > 0.9
