"""Long operations during which a signal arrives. Run in a process of its own (test_interrupt.py), with the operation's name and the
number of threads. The handler computes too, and raises an exception, except in `handled`, where the operation goes on."""

import os
import signal
import sys
import threading
import time
from functools import partial

import flex

# Seconds after which the signal comes, and of each thread's processor time, within which the operation must then end.
WAIT, SOON = 0.3, 3
# Of those whose pieces are short.
SOONER = {"fft": 1, "fft of a prime": 1}


def broadcast(rows, columns):
    return flex.broadcast_to(flex.ones((1, columns), dtype="float32"), (rows, columns))


def matrices(n, *lead):
    return flex.random.default_rng(1).standard_normal((*lead, n, n), dtype="float32")


# Long enough to be still running on the fastest machine: a function, and its argument.
OPERATIONS = {
    "sum": lambda: (flex.sum, broadcast(1 << 24, 1 << 14)),
    "std": lambda: (lambda x: flex.std(x, axis=0), broadcast(1 << 22, 1 << 13)),
    "matmul": lambda: (lambda x: x @ flex.ones((1 << 14, 64)), broadcast(1 << 20, 1 << 14)),
    "conv2d": lambda: (
        lambda x: flex.nn.conv2d(x, flex.ones((64, 64, 9, 9)), padding=4),
        flex.ones((16, 64, 224, 224)),
    ),
    "attention": lambda: (
        lambda q: flex.nn.scaled_dot_product_attention(q, q, q),
        flex.ones((1, 16, 1 << 15, 64)),
    ),
    "sort": lambda: (flex.sort, flex.arange(1 << 25) * 48271 % 33554393),
    "fused": lambda: (flex.fuse(lambda x: flex.sum(flex.exp(x) * x)), broadcast(1 << 15, 1 << 17)),
    "fft": lambda: (lambda x: flex.fft.fft(x, axis=0), flex.ones((1 << 25, 2), dtype="complex64")),
    "fft of a prime": lambda: (flex.fft.fft, flex.ones(33554393, dtype="complex64")),
    "in place": lambda: (forever, flex.zeros(1 << 24)),
    "random": lambda: (partial(flex.random.default_rng(1).standard_gamma, 0.5), 1 << 26),
    "svd": lambda: (flex.linalg.svd, matrices(1024)),
    "svd of a batch": lambda: (flex.linalg.svd, matrices(64, 1 << 14)),
    "eig": lambda: (flex.linalg.eig, matrices(768)),
    "eigh": lambda: (flex.linalg.eigh, matrices(1024)),
    "handled": lambda: (lambda x: flex.sum(x).item() == x.size, broadcast(1 << 21, 1 << 14)),
}


def forever(x):
    while True:
        x += 1


def main(name, threads):
    flex.set_num_threads(int(threads))
    function, x = OPERATIONS[name]()
    calls = []

    def handle(number, frame):
        calls.append(flex.sum(flex.ones(1 << 20)).item())
        if name != "handled":
            raise InterruptedError("by a signal")

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    sent = []
    signal.signal(signal.SIGINT, handle)
    threading.Timer(WAIT, send).start()
    try:
        ended = function(x)
        while not calls:  # the signal is late on a busy machine
            ended = function(x)
    except InterruptedError:
        ended = "interrupted"
    seconds = time.process_time() - sent[0]  # not elapsed time: the machine may be busy
    assert calls == [1 << 20]
    if name == "handled":
        assert ended is True
    else:
        assert ended == "interrupted"
        assert seconds < int(threads) * SOONER.get(name, SOON)
    if name == "random":  # as if nothing had been drawn
        rng = function.func.__self__
        assert (rng.random(4) == flex.random.default_rng(1).random(4)).all()
    if name == "in place":
        assert flex.min(x).item() == flex.max(x).item() > 0


if __name__ == "__main__":
    main(*sys.argv[1:])
