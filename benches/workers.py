"""Sentences per second by one process, by a pool of processes, by dask's workers and, if it is installed, by sentence-transformers 5 or
newer, with the same model's files; and what dask takes for a task.

    .venv/bin/pip install sentence-transformers    # optional: 6 GB with PyTorch
    .venv/bin/python benches/workers.py [--texts 256] [--seconds 20] [--tokens 1024] [--model FOLDER]

Each line has the best of the rounds that begin within these seconds, one at least, which alternate: sentences per second of wall time,
and per second of all processes' CPU time, which other programs on the machine affect less. Tasks are smaller than those of `flex-cpu
embed`, so that few texts keep all processes busy: `--tokens 8192 --texts 4000` has its tasks. The processes of
sentence-transformers' pool take half of the texts each: it pads the texts of a batch to the longest, least where it sorts many.
"""

import argparse
import importlib.util
import os
import random
import time
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from unittest import mock

import distributed
import psutil

import flex
from flex.cli import default_model
from flex.models import SentenceEncoder, _corpus, _engines

TASKS = 300  # without work


def sentences(count):
    """Of 5 to 40 words of this repository's pages."""
    words = " ".join(
        path.read_text(encoding="utf-8")
        for path in sorted((Path(__file__).resolve().parent.parent / "docs").glob("*.md"))
    ).split()
    rng = random.Random(0)
    starts = [rng.randrange(len(words) - 40) for _ in range(count)]
    return [" ".join(words[k : k + rng.randint(5, 40)]) for k in starts]


def seconds(processes):
    """The CPU time of processes."""
    times = [psutil.Process(pid).cpu_times() for pid in processes]
    return sum(t.user + t.system for t in times)


def here(encoder, texts, threads):
    with flex.threads(threads):
        encoder.encode(texts)


def by_engine(engine, encoder, texts):
    for _ in _corpus.encoded(engine, _corpus.tasks(texts, str, encoder.max_seq_length), str):
        pass


def cluster(stack, workers):
    """A client of processes of one thread each."""
    made = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    )
    return stack.enter_context(distributed.Client(stack.enter_context(made)))


def sentence_transformers(stack, encoder, folder, texts):
    """The cases of sentence-transformers: one process of two threads, and its pool of two processes of one thread each."""
    import numpy as np
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu", local_files_only=True)
    few = texts[:64]
    np.testing.assert_allclose(model.encode(few), encoder.encode(few), atol=1e-5)
    alone = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    with mock.patch.dict(os.environ, alone):
        pool = model.start_multi_process_pool(["cpu", "cpu"])
    stack.callback(model.stop_multi_process_pool, pool)
    in_pool = partial(model.encode, pool=pool, chunk_size=-(-len(texts) // 2))
    in_pool(texts[:128])  # its processes start
    torch.set_num_threads(2)
    return {
        "sentence-transformers, 2 threads": (partial(model.encode, texts), []),
        "sentence-transformers, 2 processes": (
            partial(in_pool, texts),
            [process.pid for process in pool["processes"]],
        ),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tokens", type=int, default=1024, help="of a task, about")
    parser.add_argument("--model", default=default_model())
    arguments = parser.parse_args()
    _corpus.TOKENS = arguments.tokens
    texts, encoder = sentences(arguments.texts), SentenceEncoder.load(arguments.model)
    print(f"{encoder}\n{len(texts)} texts, {os.cpu_count()} cores")
    with ExitStack() as stack:
        clients = {n: cluster(stack, n) for n in (1, 2)}
        pool = stack.enter_context(closing(_engines.Pool(encoder, {}, 2)))
        by_engine(pool, encoder, texts[:128])  # its processes load the model
        cases = {
            "one process, 1 thread": (partial(here, encoder, texts, 1), []),
            "one process, 2 threads": (partial(here, encoder, texts, 2), []),
            "pool, 2 processes": (
                partial(by_engine, pool, encoder, texts),
                list(pool._executor._processes),
            ),
        }
        for n, client in clients.items():
            engine = _engines.Cluster(client, encoder, {})
            cases[f"dask, {n} worker{'s' * (n > 1)}"] = (
                partial(by_engine, engine, encoder, texts),
                list(client.run(os.getpid).values()),
            )
        if importlib.util.find_spec("sentence_transformers"):
            cases |= sentence_transformers(stack, encoder, arguments.model, texts)
        best = dict.fromkeys(cases, (0.0, 0.0))
        here(encoder, texts[:64], 2)
        begun, rounds = time.perf_counter(), 0
        while not rounds or time.perf_counter() - begun < arguments.seconds:
            rounds += 1
            for name, (run, workers) in cases.items():
                processes = [os.getpid(), *workers]
                start, cpu = time.perf_counter(), seconds(processes)
                run()
                wall, cpu = time.perf_counter() - start, seconds(processes) - cpu
                best[name] = tuple(map(max, best[name], (len(texts) / wall, len(texts) / cpu)))
        print(f"{rounds} rounds")
        for name, (wall, cpu) in best.items():
            print(f"{name:34} {wall:8.1f}/s {cpu:8.1f} per CPU second")
        engine = _engines.Cluster(clients[2], encoder, {})
        start = time.perf_counter()
        for _ in _corpus.encoded(engine, [[] for _ in range(TASKS)], str):
            pass
        print(f"a task without texts: {(time.perf_counter() - start) / TASKS * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
