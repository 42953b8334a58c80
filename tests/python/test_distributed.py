"""Embeddings and dask.array on several processes: dask.distributed, the command's own pool, joblib; and what a stopped run leaves."""

import functools
import itertools
import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from small_bert import write_model

import flex
from flex.cli import default_model
from flex.models import SentenceEncoder, _corpus, _engines
from flex.models._vectors import HEADER, VectorFile

distributed = pytest.importorskip("distributed")

ROOT = Path(__file__).resolve().parent.parent
BERT = ROOT / "data" / "models" / "bert"
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "far", "away"]
LONG = 100  # seconds, for what takes one on an idle machine


def sentences(count, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 13))) for _ in range(count)]


@functools.cache
def corpus_text():
    """Of many tasks."""
    return "".join(f"{text}\n" for text in sentences(9000))


def local_cluster(**options):
    """Two processes of a thread each, on ports that the system chooses."""
    return distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        **options,
    )


@pytest.fixture(scope="module")
def cluster():
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=LONG)
        yield client


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder.load(BERT)


@pytest.fixture
def short_tasks(monkeypatch):
    """Tasks of one batch, so that a few texts are many tasks."""
    monkeypatch.setattr(_corpus, "TOKENS", 1)


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "flex", "embed", *map(str, arguments), "--model", str(BERT)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=LONG,
    )


class TestEncode:
    def test_same_bits(self, client, encoder, short_tasks):
        texts = sentences(300)
        assert encoder.encode_distributed(texts, client=client).tolist() == (
            encoder.encode(texts).tolist()
        )

    @pytest.mark.parametrize(
        "options",
        [
            {"prompt_name": "passage"},
            {"prompt": "a cat "},
            {"truncate_dim": 5, "normalize_embeddings": True},
            {"convert_to_numpy": True, "batch_size": 3},
        ],
    )
    def test_options(self, client, encoder, options):
        texts = sentences(7)
        found = encoder.encode_distributed(texts, client=client, **options)
        wanted = encoder.encode(texts, **options)
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))

    def test_few_texts(self, client, encoder):
        assert encoder.encode_distributed("a cat", client=client).tolist() == (
            encoder.encode("a cat").tolist()
        )
        assert encoder.encode_distributed([]).shape == (0, encoder.dimension)

    def test_settings_are_sent(self, client):
        encoder = SentenceEncoder.load(BERT)
        encoder.max_seq_length = 6
        encoder.prompts["mine"] = encoder.default_prompt_name = "mine"
        texts = sentences(5)
        assert encoder.encode_distributed(texts).tolist() == encoder.encode(texts).tolist()

    def test_wrong_arguments(self, client, encoder):
        with pytest.raises(ValueError, match="no prompt 'none'"):
            encoder.encode_distributed(["a"], prompt_name="none")
        with pytest.raises(TypeError, match=r"texts\[1\] is of type int"):
            encoder.encode_distributed(["a", 1])
        with pytest.raises(ValueError, match="batch_size is 0"):
            encoder.encode_distributed(["a"], batch_size=0)

    def test_of_a_model_without_files(self, client, encoder):
        """It is sent with its weights."""
        other = SentenceEncoder(encoder._encoder, encoder._tokenizer)
        texts = sentences(40)
        assert other.encode_distributed(texts).tolist() == other.encode(texts).tolist()


class TestModels:
    def test_a_pickle_is_a_path(self, encoder):
        data = pickle.dumps(encoder)
        assert len(data) < 3000 < (BERT / "model.safetensors").stat().st_size
        assert pickle.loads(data)._encoder is pickle.loads(data)._encoder

    @pytest.mark.skipif(sys.platform != "linux", reason="/proc")
    def test_each_worker_maps_it_once(self, client):
        real = SentenceEncoder.load(default_model())  # smaller files are read
        for text in ("a cat", "a dog"):
            real.encode_distributed([text], client=client)
        for maps in client.run(lambda: Path("/proc/self/maps").read_text()).values():
            assert maps.count("/model.safetensors") == 1

    def test_settings_are_each_copy_s_own(self, tmp_path):
        encoder = SentenceEncoder.load(write_model(tmp_path))
        data = pickle.dumps(encoder)
        one, other = pickle.loads(data), pickle.loads(data)
        one.max_seq_length = 4
        one.prompts["p"] = "q"
        text = "the cat sat on the mat far away"
        assert (other.max_seq_length, "p" in other.prompts) == (16, False)
        assert other.encode(text).tolist() == encoder.encode(text).tolist()
        assert one.encode(text).tolist() == encoder.encode("the cat").tolist()

    def test_missing_and_changed_files(self, tmp_path):
        folder = shutil.copytree(BERT, tmp_path / "model")
        data = pickle.dumps(SentenceEncoder.load(folder))
        folder.rename(tmp_path / "elsewhere")
        with pytest.raises(FileNotFoundError, match="is missing here: a model is sent as the path"):
            pickle.loads(data)
        (tmp_path / "elsewhere").rename(folder)
        weights = bytearray((folder / "model.safetensors").read_bytes())
        weights[-1] ^= 1
        (folder / "model.safetensors").write_bytes(weights)
        with pytest.raises(ValueError, match="the model's files here differ from the sender's"):
            pickle.loads(data)

    def test_onnx(self, client, tmp_path):
        path = tmp_path / "relu.onnx"
        path.write_bytes(flex.onnx.example())
        model = flex.onnx.load(path)
        results = client.gather(client.map(model, [[-1.0, k] for k in range(4)]))
        assert [y.tolist() for y in results] == [[0, k] for k in range(4)]
        with pytest.raises(TypeError, match="load it from a path"):
            pickle.dumps(flex.onnx.load(flex.onnx.example()))

    def test_weights_in_a_pickle_are_packed_once(self, in_use):
        """Nobody can write to bytes; to other memory its owner can."""
        weight, x = (flex.random.default_rng(0).normal(size=n) for n in ((300, 200), (4, 200)))
        wanted = flex.nn.linear(x, weight).tolist()
        buffers = []
        outside = pickle.dumps(weight, protocol=5, buffer_callback=buffers.append)
        borrowed = pickle.loads(outside, buffers=[bytearray(b.raw()) for b in buffers])
        del buffers
        for received, packed in ((pickle.loads(pickle.dumps(weight)), True), (borrowed, False)):
            before = in_use()
            for _ in range(4):
                found = flex.nn.linear(x, received)
                np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-4)
                del found
            assert (in_use() - before >= weight.nbytes) == packed


class TestTensors:
    def test_elements_are_not_copied(self):
        """From the tensor to the frames that are sent, and from those received to a tensor."""
        from distributed.protocol import deserialize, serialize

        x = flex.arange(100_000, dtype=flex.float32)
        header, frames = serialize(x, serializers=["pickle"])
        places = [np.frombuffer(frame, np.uint8).ctypes.data for frame in frames]
        assert places.count(x.numpy().ctypes.data) == 1
        assert sum(len(memoryview(frame).cast("B")) for frame in frames) < x.nbytes + 1000
        received = [bytearray(frame) for frame in frames]
        y = deserialize(header, received)
        places = [np.frombuffer(frame, np.uint8).ctypes.data for frame in received]
        assert places.count(y.numpy().ctypes.data) == 1
        assert y.tolist() == x.tolist()

    def test_size_for_spilling(self):
        from dask.sizeof import sizeof

        x = flex.zeros((1000, 10), dtype=flex.float64)
        assert 80_000 <= sizeof(x) < 81_000
        assert 8_000 <= sizeof(x[:100]) < 9_000


OPERATIONS = {
    "create": lambda a, da, m: da.ones_like(a) + da.full_like(a, 2.0),
    "slice": lambda a, da, m: a[1:, ::2],
    "reduce": lambda a, da, m: a.sum(axis=0) / a.std(axis=0),
    "matmul": lambda a, da, m: a @ a.T,
    "concatenate": lambda a, da, m: da.concatenate([a, a * 2], axis=1),
    "rechunk": lambda a, da, m: a.rechunk((7, 2)),
    "map_blocks": lambda a, da, m: a.map_blocks(lambda b: m.exp(-b)),
    "where": lambda a, da, m: da.where(a > 3, a, 0.0),
}


def arrays(client, name):
    import dask.array as da

    values = np.random.default_rng(0).normal(size=(12, 6))
    ours, theirs = (
        OPERATIONS[name](da.from_array(x, chunks=(5, 4)), da, module)
        for x, module in ((flex.asarray(values), flex), (values, np))
    )
    assert type(ours._meta) is flex.Tensor
    found = client.compute(ours).result(timeout=LONG)
    assert type(found) is flex.Tensor
    np.testing.assert_allclose(found.numpy(), theirs.compute(scheduler="sync"), rtol=1e-12)
    parts = client.gather(client.compute(list(ours.to_delayed().ravel())))
    assert {type(part) for part in parts} == {flex.Tensor}


@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays(client, name):
    arrays(client, name)


def test_encrypted(encoder):
    """Over TLS, with certificates made for this test."""
    security = distributed.Security.temporary()
    with local_cluster(security=security) as cluster, distributed.Client(cluster) as client:
        assert cluster.scheduler_address.startswith("tls://")
        arrays(client, "matmul")
        texts = sentences(100)
        found = encoder.encode_distributed(texts, client=client)
        assert found.tolist() == encoder.encode(texts).tolist()


def test_joblib(encoder):
    from joblib import Parallel, delayed

    texts = sentences(60)
    parts = Parallel(n_jobs=2)(delayed(encoder.encode)(texts[k : k + 20]) for k in (0, 20, 40))
    assert flex.concat(parts).tolist() == encoder.encode(texts).tolist()


class TestFailures:
    def test_a_worker_that_is_killed(self, encoder, short_tasks):
        texts = sentences(32 * 40)
        cut = list(_corpus.tasks(texts, str, encoder.max_seq_length))
        assert len(cut) == 40
        with local_cluster() as cluster, distributed.Client(cluster) as client:
            client.wait_for_workers(2, timeout=LONG)
            engine, found = _engines.Cluster(client, encoder, {}), []
            for _, vectors in _corpus.encoded(engine, cut, str):
                found.append(vectors)
                if len(found) == 5:
                    executed = client.run(lambda dask_worker: dask_worker.state.executed_count)
                    pid, dead = min((pid, w) for w, pid in client.run(os.getpid).items())
                    os.kill(pid, signal.SIGKILL)
            executed_after = client.run(lambda dask_worker: dask_worker.state.executed_count)
        assert flex.concat(found).tolist() == encoder.encode(texts).tolist()
        once = len(cut) + 2  # the model is loaded by a task of its own on each worker
        in_flight = _corpus.AHEAD * engine.slots
        total = executed[dead] + sum(n for w, n in executed_after.items() if w != dead)
        assert total <= once + in_flight

    def test_a_process_of_the_pool_that_is_killed(self, encoder, short_tasks):
        texts = sentences(32 * 20)
        found = []
        with closing(_engines.Pool(encoder, {}, 2)) as engine:
            for _, vectors in _corpus.encoded(
                engine, _corpus.tasks(texts, str, encoder.max_seq_length), str
            ):
                found.append(vectors)
                if len(found) in (3, 10):
                    os.kill(next(iter(engine._executor._processes)), signal.SIGKILL)
        assert flex.concat(found).tolist() == encoder.encode(texts).tolist()

    def test_processes_write_into_the_file(self, encoder, short_tasks, tmp_path):
        """Vectors do not come back, and what a process that is killed has not written is written by another one."""
        texts, out = sentences(32 * 20), str(tmp_path / "out.npy")
        about = {"model": "a"}

        def run(stop=None):
            """How many texts are there already, and how many are computed."""
            with closing(VectorFile(out, encoder.dimension, about)) as file:
                cut = file.remaining(_corpus.tasks(texts, str, encoder.max_seq_length), str)
                head = [next(cut)]
                there, count = file.rows, 0
                with closing(_engines.Pool(encoder, {}, 2, file)) as engine:
                    for task, found in _corpus.encoded(engine, itertools.chain(head, cut), str):
                        assert isinstance(found, int)
                        file.append(task, found)
                        count += 1
                        if count == 3:
                            os.kill(next(iter(engine._executor._processes)), signal.SIGKILL)
                        if count == stop:
                            return there, 32 * count
                file.finish()
            return there, 32 * count

        assert run(stop=5) == (0, 32 * 5)
        row = 4 * encoder.dimension
        with open(tmp_path / ".out.npy.part", "r+b") as part:
            part.seek(HEADER + 32 * 4 * row)  # of the last task, which did not reach the disk
            part.write(b"????")
        assert run() == (32 * 4, 32 * 16)
        assert np.load(out).tolist() == encoder.encode(texts).tolist()
        assert [p.name for p in tmp_path.iterdir()] == ["out.npy"]

    def test_no_client(self, encoder):
        code = (
            "from flex.models import SentenceEncoder\n"
            f"SentenceEncoder.load({str(BERT)!r}).encode_distributed(['a'])"
        )
        process = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=LONG
        )
        assert "there is no client: pass one, or make one" in process.stderr

    def test_no_workers(self, encoder):
        cluster = distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0")
        with (
            cluster,
            distributed.Client(cluster) as client,
            pytest.raises(RuntimeError, match="the scheduler has no workers: start some by"),
        ):
            encoder.encode_distributed(["a"], client=client)

    def test_files_missing_on_workers(self, client, tmp_path):
        folder = shutil.copytree(BERT, tmp_path / "model")
        encoder = SentenceEncoder.load(folder)
        shutil.rmtree(folder)
        with pytest.raises(RuntimeError, match=r"cannot compute:\ntcp://.*is missing here"):
            encoder.encode_distributed(["a"], client=client)

    def test_no_flex_on_a_worker(self, encoder, tmp_path):
        (tmp_path / "flex.py").write_text("raise ModuleNotFoundError(\"No module named 'flex'\")")
        cluster = distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0")
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"]
        with cluster, distributed.Client(cluster) as client:
            process = subprocess.Popen(
                [*worker, "--no-dashboard", cluster.scheduler_address],
                env={**os.environ, "PYTHONPATH": str(tmp_path)},
                stderr=subprocess.DEVNULL,
            )
            try:
                client.wait_for_workers(1, timeout=LONG)
                with pytest.raises(RuntimeError, match=r"install flex-cpu\[distributed\] there"):
                    encoder.encode_distributed(["a"], client=client)
            finally:
                process.kill()
                process.wait()


class TestCommand:
    @pytest.fixture
    def corpus(self, tmp_path):
        path = tmp_path / "corpus.txt"
        path.write_text(corpus_text())
        return path

    def test_every_engine_writes_the_same_bytes(self, cluster, corpus, tmp_path):
        options = {
            "one.npy": ["--processes", 1],
            "two.npy": ["--processes", 2],
            "many.npy": ["--scheduler", cluster.scheduler_address],
        }
        for name, engine in options.items():
            process = command(corpus, "-o", tmp_path / name, *engine)
            assert process.returncode == 0, process.stderr
        one, two, many = ((tmp_path / name).read_bytes() for name in options)
        assert one == two == many
        encoder = SentenceEncoder.load(BERT)
        wanted = encoder.encode_document(corpus.read_text().splitlines())
        np.testing.assert_array_equal(np.load(tmp_path / "one.npy"), wanted.numpy())
        assert sorted(p.name for p in tmp_path.iterdir()) == ["corpus.txt", *sorted(options)]

    def test_a_run_that_was_killed_continues(self, corpus, tmp_path):
        out, journal = tmp_path / "out.npy", tmp_path / ".out.npy.journal"
        arguments = ["embed", "-", "-o", out, "--model", BERT, "--processes", "1"]
        process = subprocess.Popen(
            [sys.executable, "-m", "flex", *map(str, arguments)], stdin=subprocess.PIPE
        )
        process.stdin.write(corpus.read_bytes())
        process.stdin.flush()  # it waits for more
        deadline = time.monotonic() + LONG
        while not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
        process.wait()
        process.stdin.close()
        assert not out.exists()
        entries = journal.read_text().splitlines()[1:]
        with open(journal, "a") as file:
            file.write("12 ab")  # of a task that was being written
        process = command(corpus, "-o", out)
        assert process.returncode == 0, process.stderr
        there = sum(int(entry.split()[0]) for entry in entries)
        assert f"{there} vectors are there from a run that stopped" in process.stderr
        again = tmp_path / "again.npy"
        assert command(corpus, "-o", again).stderr == ""
        assert out.read_bytes() == again.read_bytes()

    def test_of_other_texts_only_what_is_the_same_is_kept(self, tmp_path, short_tasks):
        def texts(*values):
            return [[str(v), str(v)] for v in values]

        def write(tasks, about, fails=None):
            """The tasks that are computed."""
            file, computed = VectorFile(str(tmp_path / "out.npy"), 2, about), []
            with closing(file):
                for task in file.remaining(tasks, str):
                    if task[0] == fails:
                        return computed
                    file.append(task, flex.full((2, 2), float(task[0])))
                    computed.append(int(task[0]))
                file.finish()
            return computed

        assert write(texts(1, 2, 3, 4), {"model": "a"}, fails="4") == [1, 2, 3]
        assert write(texts(1, 5, 3, 4), {"model": "a"}, fails="4") == [5, 3]
        assert write(texts(1, 5), {"model": "b"}, fails="5") == [1]
        part = tmp_path / ".out.npy.part"
        data = bytearray(part.read_bytes())
        data[-1] ^= 1  # of the rows of 1 and those after, which did not reach the disk
        part.write_bytes(data[:140])
        assert write(texts(1, 5), {"model": "b"}) == [1, 5]
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy")[:, 0], [1, 1, 5, 5])
        assert write(texts(6), {"model": "b"}) == [6]
        assert np.load(tmp_path / "out.npy").shape == (2, 2)

    def test_a_full_disk(self, corpus, tmp_path):
        """A limit on the size of files stands for it."""
        code = (
            "import resource, sys, flex.cli\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))\n"
            "sys.exit(flex.cli.main())"
        )
        out = tmp_path / "out.npy"
        arguments = ["embed", corpus, "-o", out, "--model", BERT, "--processes", "1"]
        process = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=LONG,
        )
        assert process.returncode == 1
        assert f"{out}: File too large" in process.stderr
        assert "the same command continues after them" in process.stderr
        assert "Traceback" not in process.stderr
        finished = command(corpus, "-o", out)
        assert "from a run that stopped: continuing" in finished.stderr
        assert np.load(out).shape[0] == 9000

    def test_places_that_cannot_be_written(self, corpus, tmp_path):
        missing = command(corpus, "-o", tmp_path / "none" / "out.npy")
        assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)
        assert "none/out.npy: No such file or directory" in missing.stderr
        (tmp_path / "folder.npy").mkdir()
        folder = command(corpus, "-o", tmp_path / "folder.npy")
        assert (folder.returncode, folder.stderr.count("\n")) == (1, 1)
        assert "folder.npy is not a file that can be replaced" in folder.stderr

    def test_no_texts(self, tmp_path):
        (tmp_path / "corpus").mkdir()
        process = command(tmp_path / "corpus", "-o", tmp_path / "out.npy")
        assert process.returncode == 1
        assert f"no text in {tmp_path / 'corpus'}" in process.stderr
        assert [p.name for p in tmp_path.iterdir()] == ["corpus"]

    def test_no_scheduler(self, corpus, tmp_path):
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))  # nobody listens there
            address = f"tcp://127.0.0.1:{bound.getsockname()[1]}"
            process = command(
                corpus,
                "-o",
                tmp_path / "out.npy",
                "--scheduler",
                address,
                DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s",
            )
        assert process.returncode == 1
        assert f"{address}: no scheduler answers" in process.stderr
        assert "Traceback" not in process.stderr

    @pytest.mark.parametrize("address", ["nonsense", "foo://host:1", "tcp://host"])
    def test_no_address(self, corpus, tmp_path, address):
        process = command(corpus, "-o", tmp_path / "out.npy", "--scheduler", address)
        assert (process.returncode, process.stderr.count("\n")) == (1, 1), process.stderr
        assert f"{address} is no address of a scheduler" in process.stderr

    def test_json_of_a_scheduler(self, cluster, corpus):
        corpus.write_text("".join(f"{text}\n" for text in sentences(50)))
        one, two = (
            command(corpus, "--json", *more).stdout.splitlines()
            for more in (["--processes", 1], ["--scheduler", cluster.scheduler_address])
        )
        assert one == two
        assert json.loads(one[-1])["line"] == 50

    @pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss")
    def test_memory_is_bounded(self, tmp_path):
        """By less than the corpus takes."""
        code = (
            "import resource, sys, flex.cli\n"
            "status = flex.cli.main()\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10)\n"
            "sys.exit(status)"
        )
        small, large, size = tmp_path / "small.txt", tmp_path / "large.txt", 32 << 20
        small.write_text("the cat\n" * 100)
        line = "\1" * 20_000 + "cat\n"  # characters that the tokenizer drops, which is quick
        large.write_text(line * (size // len(line)))
        peaks = []
        for corpus in (small, large):
            arguments = ["embed", corpus, "-o", tmp_path / "out.npy", "--model", BERT]
            printed = subprocess.run(
                [sys.executable, "-c", code, *map(str, arguments), "--processes", "1"],
                capture_output=True,
                text=True,
                check=True,
                timeout=LONG,
            ).stdout
            peaks.append(int(printed))
        assert np.load(tmp_path / "out.npy").shape[0] == size // len(line)
        assert peaks[1] - peaks[0] < size // 2
