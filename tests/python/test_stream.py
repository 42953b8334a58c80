"""Queued operations give the bits of eager ones, whatever is read, written, deleted or exported in between; plans are saved to files;
statistics count the memory moved."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import examples
from test_fuse_programs import PLAIN, bits, inputs, same
from traced import HALVES, Run, function_of, programs

import flex


class TestPrograms:
    @examples(400)
    @given(programs(), inputs((*PLAIN, *HALVES)), st.integers(1, 4))
    def test_results_match_eager_ones(self, program, tensors, results):
        f = function_of(program, (*PLAIN, *HALVES), results)
        expected = f(*tensors)
        with flex.stream():
            got = f(*tensors)
        same(got, expected)

    @examples(300)
    @given(programs(), inputs(PLAIN), st.binary(min_size=60, max_size=60))
    def test_reads_writes_and_deletions_in_between(self, program, tensors, between):
        """All values read in between or at the end match those of eager operations."""

        def run():
            state, seen = Run(tuple(x.copy() for x in tensors), PLAIN), []
            for step, what in zip(program, between, strict=False):
                state.values.append(state.step(*step))
                x = state.values[what % len(state.values)]
                match what % 11:
                    case 0:
                        seen.append(bits(x))
                    case 1 if x.dtype != flex.bool:
                        x += 1
                    case 2 if x.dtype != flex.bool and x.ndim and x.shape[0]:
                        x[0] = 2
                    case 3 if len(state.values) > len(tensors) + 1:
                        del state.values[-2]
                    case 4:
                        state.values.append(x.copy())
                    case 5:
                        exported = np.asarray(x.astype("float32"))
                        seen.append(bits(flex.asarray(exported)))
                    case 6 if x.size == 1:
                        seen.append(bool(x))
                    case 7:
                        result = []
                        thread = threading.Thread(target=lambda r=result, x=x: r.append(bits(x)))
                        thread.start()
                        thread.join()
                        seen.append(result)
            return seen + [bits(x) for x in state.values]

        expected = run()
        with flex.stream():
            got = run()
        assert got == expected

    @examples(60)
    @given(programs(most=25), inputs(PLAIN, [(300, 257), (70_001,)]))
    def test_bits_do_not_depend_on_threads(self, program, tensors):
        f = function_of(program, PLAIN, 2)
        expected = f(*tensors)
        for threads in (1, 2, 7):
            with flex.threads(threads), flex.stream():
                got = f(*tensors)
            same(got, expected)

    @examples(40)
    @given(st.lists(st.tuples(programs(most=20), inputs(PLAIN)), min_size=4, max_size=4))
    def test_streams_of_several_threads(self, jobs):
        results = [None] * len(jobs)

        def work(k):
            program, tensors = jobs[k]
            with flex.stream():
                results[k] = function_of(program, PLAIN, 2)(*tensors)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(jobs))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for (program, tensors), got in zip(jobs, results, strict=True):
            same(got, function_of(program, PLAIN, 2)(*tensors))


class TestQueue:
    def test_shapes_and_dtypes_are_known(self):
        x = flex.ones((3, 4))
        with flex.stream() as s:
            y = flex.sum(x * 2, axis=0)
            assert (y.shape, y.dtype, y.ndim, y.size, y.nbytes) == ((4,), flex.float32, 1, 4, 16)
            assert len(y) == 4
            assert s.stats()["kernels"] == 0
            assert y.tolist() == [6.0] * 4
            assert s.stats()["kernels"] == 1

    def test_errors_come_from_the_line_that_is_wrong(self):
        x, y = flex.ones(3), flex.ones(4)
        with flex.stream():
            z = x + 1
            with pytest.raises(flex.ShapeError, match="add: shapes"):
                z + y
            with pytest.raises(flex.AxisError):
                flex.sum(z, axis=2)
            with pytest.raises(OverflowError):
                flex.asarray([1], dtype="int8") + 1000
            with pytest.raises(ZeroDivisionError):
                flex.asarray([1]) // 0
            with pytest.raises(ValueError, match="max"):
                flex.max(flex.ones(0) + 1)
            with pytest.raises(flex.DTypeError):
                flex.bitwise_and(z, z)
            with pytest.raises(MemoryError):
                flex.broadcast_to(x, (1 << 40, 3)) + 1
        assert z.tolist() == [2.0, 2.0, 2.0]

    def test_branches_on_elements(self):
        def collatz(n):
            n, steps = flex.asarray(n), 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps += 1
            return steps

        with flex.stream():
            assert collatz(27) == 111

    def test_an_exception_in_the_block(self):
        x, values = flex.ones(3), []

        def work(s):
            with s:
                values.append(x + 1)
                raise KeyError

        s = flex.stream()
        with pytest.raises(KeyError):
            work(s)
        (y,) = values
        assert s.stats()["kernels"] == 0
        assert y.tolist() == [2.0, 2.0, 2.0]
        assert (x + 1).tolist() == [2.0, 2.0, 2.0]

    def test_later_writes_to_operands_are_not_seen(self):
        x = flex.ones(3)
        with flex.stream():
            y = x + 1
            x[0] = 100
            x += 1
            z = x * 2
        assert (y.tolist(), z.tolist()) == ([2.0, 2.0, 2.0], [202.0, 4.0, 4.0])

    def test_borrowed_arrays_that_change(self):
        a = np.ones(3, np.float32)
        x = flex.asarray(a)
        with flex.stream():
            y = x + 1
            a[:] = 5
            z = y * x
        assert (y.tolist(), z.tolist()) == ([2.0] * 3, [10.0] * 3)

    def test_in_place_keeps_shape_and_dtype(self):
        x = flex.asarray([1, 2], dtype="int16")
        with flex.stream():
            x += 3
            x *= flex.asarray([2, 2], dtype="int8")
            with pytest.raises((flex.DTypeError, TypeError)):
                x /= 2
            with pytest.raises(flex.ShapeError):
                x += flex.ones((2, 2), dtype="int16")
        assert (x.dtype, x.tolist()) == (flex.int16, [8, 10])

    def test_strides_match_those_of_the_result(self):
        x = flex.zeros((3, 5)).T
        with flex.stream():
            y = x + 1
            assert y.strides == (x + 1).strides == (4, 20)
            assert not (x * 2).is_contiguous()

    def test_fused_functions_and_streams(self):
        f = flex.fuse(lambda x: x * 2 + 1)
        with flex.stream():
            y = f(flex.ones(3) + 1) + 1
        assert y.tolist() == [6.0] * 3

    def test_reductions_with_a_dtype_and_out(self):
        x = flex.asarray([[1, 2], [3, 4]], dtype="int8")
        out = np.zeros(2, np.int64)
        with flex.stream():
            y = flex.sum(x, axis=0, dtype=flex.float64)
            assert flex.sum(x, axis=0, out=out) is out
        assert (y.dtype, y.tolist()) == (flex.float64, [4.0, 6.0])
        assert out.tolist() == [4, 6]

    def test_long_loops(self):
        x = flex.ones(5)
        with flex.stream() as s:
            for _ in range(3000):
                x = x * 0.999
        expected = np.float32(1)
        for _ in range(3000):
            expected *= np.float32(0.999)
        assert x.tolist() == [float(expected)] * 5
        assert s.stats()["operations"] == 3000
        assert s.stats()["kernels"] < 300

    def test_operands_do_not_accumulate(self):
        before = flex.memory_stats()["in_use"]
        with flex.stream():
            totals = []
            for _ in range(40):
                totals.append(flex.sum(flex.ones(1 << 22) * 2))
                assert flex.memory_stats()["in_use"] - before < 700 << 20
        assert {t.item() for t in totals} == {float(1 << 23)}


class TestStreams:
    def test_nested_streams(self):
        x = flex.ones(3)
        with flex.stream() as outer:
            y = x + 1
            with flex.stream() as inner:
                z = y + 1  # a value of the outer stream
            w = z + y
        assert w.tolist() == [5.0] * 3
        assert outer.stats()["operations"] == 2
        assert inner.stats()["operations"] == 1

    def test_reentered(self):
        s = flex.Stream()
        x = flex.ones(3)
        for _ in range(2):
            with s:
                x = x + 1
        assert x.tolist() == [3.0] * 3
        assert s.stats()["operations"] == 2
        assert "2 operations" in repr(s)

    def test_exit_without_enter(self):
        s = flex.Stream()
        with pytest.raises(RuntimeError, match="not entered"):
            s.__exit__(None, None, None)

    def test_other_threads_are_not_affected(self):
        x, seen = flex.ones(3), []
        with flex.stream() as s:
            thread = threading.Thread(target=lambda: seen.append(x + 1))
            thread.start()
            thread.join()
            assert s.stats()["operations"] == 0
        assert seen[0].tolist() == [2.0] * 3

    def test_stats_of_a_fused_chain(self):
        x, y = flex.ones((32, 32)), flex.ones((32, 32))
        with flex.stream() as s:
            z = x + y
            z = z * x
            z = z * y
        stats = s.stats()
        assert stats["operations"] == 3
        assert [stats[f"bytes_{k}"] for k in ("allocated", "read", "written")] == [4096, 8192, 4096]
        eager = [stats[f"eager_bytes_{k}"] for k in ("allocated", "read", "written")]
        assert eager == [12288, 24576, 12288]
        assert stats["bytes_saved"] == 36864 - 12288
        assert z.tolist() == [[2.0] * 32] * 32

    def test_nothing_leaks(self):
        x = flex.ones(100)
        s = flex.Stream()

        def work():
            with s:
                for k in range(2000):
                    y = x * (k * 0.5) + 1
                    if k % 7 == 0:
                        flex.sum(y).item()
                    z = flex.sum(y)
            with s:
                z + 1  # dropped
            return z

        work()
        gc.collect()
        before = flex.memory_stats()["in_use"]
        for _ in range(5):
            work()
        gc.collect()
        assert flex.memory_stats()["in_use"] <= before

    def test_forks(self):
        code = """
        import os, flex
        x = flex.ones(10)
        with flex.stream():
            y = x + 1
            if os.fork() == 0:
                os._exit(0 if (y * 2).tolist() == [4.0] * 10 else 1)
            status = os.waitstatus_to_exitcode(os.wait()[1])
        assert (status, y.tolist()) == (0, [2.0] * 10)
        """
        run(code)


def run(code, **environment):
    """Runs a program in a new process and returns its standard error."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


class TestPlans:
    def test_saved_and_loaded(self, tmp_path):
        path = tmp_path / "plans"
        x = flex.ones(3)
        with flex.stream() as s:
            flex.exp(x + 1).tolist()
        s.save(path)
        assert s.load(path) > 0
        assert path.read_text().startswith("flex-plans 4 ")
        assert [p.name for p in tmp_path.iterdir()] == ["plans"]

    @pytest.mark.parametrize(
        "content",
        [b"", b"\xff" * 100, b"flex-plans 0 0.0.0\nend 0\n", b"flex-plans 1 0.1.0\nend 0\n"],
    )
    def test_malformed_files_are_ignored_with_a_warning(self, tmp_path, content):
        path = tmp_path / "plans"
        path.write_bytes(content)
        with pytest.warns(UserWarning, match="plans are ignored"):
            assert flex.Stream().load(path) == 0

    def test_damaged_files_are_ignored_with_a_warning(self, tmp_path):
        path = tmp_path / "plans"
        with flex.stream() as s:
            flex.exp(flex.ones(3) + 1).tolist()
        s.save(path)
        good = path.read_bytes()
        for k in range(0, len(good) - 1, max(1, len(good) // 50)):
            path.write_bytes(good[:k] + bytes([good[k] ^ 4]) + good[k + 1 :])
            with pytest.warns(UserWarning, match="ignored"):
                assert s.load(path) == 0
            path.write_bytes(good[:k])
            with pytest.warns(UserWarning, match="ignored"):
                assert s.load(path) == 0

    def test_missing_files(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            flex.Stream().load(tmp_path / "none")
        with pytest.raises(OSError, match="none"):
            flex.Stream().save(tmp_path / "none" / "plans")

    def test_plan_cache_is_shared_between_processes(self, tmp_path):
        path = tmp_path / "plans"
        code = """
        import flex
        with flex.stream():
            y = flex.sum(flex.exp(flex.ones(4) * 2) + 1)
        assert abs(y.item() - 33.556) < 0.01
        """
        assert run(code, FLEX_PLAN_CACHE=str(path)) == ""
        first = path.read_bytes()
        assert run(code, FLEX_PLAN_CACHE=str(path)) == ""
        assert path.read_bytes() == first
        path.write_bytes(b"nonsense")
        assert "plans are ignored" in run(code, FLEX_PLAN_CACHE=str(path))
        assert path.read_bytes() == first
        missing = tmp_path / "none" / "plans"
        assert "No such file" in run(code, FLEX_PLAN_CACHE=str(missing))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run(code, FLEX_PLAN_CACHE="")


@pytest.mark.parametrize(
    ("x", "wrong", "number"),
    [(flex.arange(3, dtype=flex.int32), 2.5, 2), (flex.asarray([1.0, 2.0, 3.0]), 3, 7.5)],
)
def test_a_caught_error_leaves_the_queue_intact(x, wrong, number):
    for caught in (True, False):
        with flex.stream():
            y = x * 2
            if caught:
                with pytest.raises(flex.DTypeError):
                    flex.bitwise_and(flex.astype(y, flex.float32), wrong)
                with pytest.raises(flex.DTypeError):
                    flex.bitwise_and(y, 2.5)
            z = y * number
        exact = x * 2 * number
        assert z.dtype == exact.dtype
        assert z.tolist() == exact.tolist()
