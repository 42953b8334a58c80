#!/usr/bin/env python3
"""Draws docs/pictures/memory.svg: the memory of a process from its start over `import flex`, loading all-MiniLM-L6-v2 and `encode` of 512
sentences to the end, a sample each 10 ms.

    .venv/bin/python benches/encode_memory.py [--model FOLDER]

Anonymous memory is the process's own; that of files is shared by all processes that map them (Linux counts both).
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
from make_pictures import Drawing

import flex
from flex.cli import default_model

CODE = """
import sys, time
def mark(name): print(time.monotonic(), name, flush=True)
mark("start")
import flex
from flex.models import SentenceEncoder
mark("load")
encoder = SentenceEncoder.load(sys.argv[1])
words = "the quick brown fox jumps over a lazy dog while small birds sing in old trees near my house".split()
texts = [" ".join(words[(k * 7 + j * j) % len(words)] for j in range(5 + k % 36)) for k in range(512)]
mark("encode")
vectors = encoder.encode(texts)
mark("done")
flex.empty_cache()
mark("empty_cache")
time.sleep(0.3)
mark("end")
"""
LEFT, TOP, WIDTH, HEIGHT = 56, 40, 560, 190


def sample(process):
    """Megabytes of anonymous memory and of files; None when the process has gone."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return None
    sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
    if not sizes:
        return None
    return int(sizes["RssAnon"]) / 1000, int(sizes["RssFile"]) / 1000


def measure(model):
    """Samples `(seconds, own, of files)`, and when each part begins."""
    process = subprocess.Popen([sys.executable, "-c", CODE, model], stdout=subprocess.PIPE)
    samples = []
    while process.poll() is None:
        if (found := sample(process)) is not None:
            samples.append((time.monotonic(), *found))
        time.sleep(0.01)
    marks = [line.split(None, 1) for line in process.stdout.read().decode().splitlines()]
    start = float(marks[0][0])
    parts = {name: float(when) - start for when, name in marks}
    return [(t - start, *sizes) for t, *sizes in samples if t >= start], parts


def draw(samples, parts):
    end = parts["end"]
    top = 50 * (1 + int(max(own + files for _, own, files in samples)) // 50)

    thin = len(samples) // 280 + 1  # the most of as many samples, a point for each two pixels
    bins = [samples[k : k + thin] for k in range(0, len(samples), thin)]
    samples = [max(some, key=lambda found: found[1] + found[2]) for some in bins]

    def x(seconds):
        return LEFT + WIDTH * min(seconds / end, 1)

    def y(size):
        return TOP + HEIGHT * (1 - size / top)

    d = Drawing(640, 280, "Memory of a process that loads a model and encodes 512 sentences")
    for kind, sizes in (
        ("own", [(t, own + files) for t, own, files in samples]),
        ("cell", [(t, files) for t, _, files in samples]),
    ):
        path = "".join(f"L{x(t):.1f} {y(size):.1f}" for t, size in sizes if t < end - 0.02)
        bottom = TOP + HEIGHT
        d.parts.append(f'<path class="{kind}" d="M{LEFT} {bottom}{path}L{x(end):.1f} {bottom}z"/>')
    for size in range(0, top + 1, 50):
        d.text(8, y(size) + 4, f"{size} MB", "note")
        d.arrow(LEFT - 4, y(size), LEFT, y(size), head=False)
    d.text(
        LEFT, 16, "its own memory (green) on top of mapped files (blue): the module, the weights"
    )
    for name in ("load", "encode", "empty_cache"):
        d.arrow(x(parts[name]), TOP - 14, x(parts[name]), TOP + HEIGHT, head=False)
        aside, above = {"load": (-32, 11), "encode": (3, 4), "empty_cache": (-84, 4)}[name]
        d.text(x(parts[name]) + aside, TOP - above, name, "code note")
    peak = max(own for _, own, _ in samples)
    d.text(
        LEFT,
        TOP + HEIGHT + 22,
        f"from its start to its end; at most {peak:.0f} MB of its own",
        "note",
    )
    machine = f"{platform.machine()}, {os.cpu_count()} cores; flex {flex.__version__}"
    about = f"{machine}, Python {platform.python_version()}, {date.today():%d %B %Y}"
    d.text(LEFT, TOP + HEIGHT + 42, f"all-MiniLM-L6-v2, 512 sentences; {about}", "note")
    d.save("memory.svg")
    return {"peak_own_mb": round(peak), "seconds": {k: round(v, 2) for k, v in parts.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=default_model())
    print(json.dumps(draw(*measure(str(parser.parse_args().model)))))


if __name__ == "__main__":
    main()
