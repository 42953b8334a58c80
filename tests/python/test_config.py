"""Threads, memory, and the configuration that the module reports."""

import subprocess
import sys
import threading

import pytest

import flex


def test_threads_is_scoped_to_the_block_and_the_thread():
    before = flex.get_num_threads()
    with flex.threads(1):
        assert flex.get_num_threads() == 1
        with flex.threads(3):
            assert flex.get_num_threads() == 3
        assert flex.get_num_threads() == 1
        seen = []
        other = threading.Thread(target=lambda: seen.append(flex.get_num_threads()))
        other.start()
        other.join()
        assert seen == [before]
    assert flex.get_num_threads() == before
    with pytest.raises(KeyError), flex.threads(1):
        raise KeyError
    assert flex.get_num_threads() == before


def test_threads_manager_is_reentrant():
    before = flex.get_num_threads()
    two = flex.threads(2)
    with two, flex.threads(5), two:
        assert flex.get_num_threads() == 2
    assert flex.get_num_threads() == before
    with pytest.raises(RuntimeError, match="not entered"):
        two.__exit__(None, None, None)


def test_set_num_threads():
    before = flex.get_num_threads()
    try:
        flex.set_num_threads(3)
        assert flex.get_num_threads() == 3
    finally:
        flex.set_num_threads(0)
    assert flex.get_num_threads() == before


@pytest.mark.parametrize("n", [0, -1])
def test_too_few_threads(n):
    with pytest.raises(ValueError, match="at least 1"):
        flex.threads(n)
    with pytest.raises(ValueError, match="negative"):
        flex.set_num_threads(-1)


def test_memory_stats_and_empty_cache(in_use):
    flex.empty_cache()
    before = in_use()
    t = flex.asarray(bytearray(1 << 20)).copy()
    stats = flex.memory_stats()
    assert stats["in_use"] >= before + (1 << 20)
    assert stats["peak"] >= stats["in_use"]
    del t
    assert in_use() == before
    assert flex.memory_stats()["cached"] >= 1 << 20
    flex.empty_cache()
    assert flex.memory_stats()["cached"] < 1 << 20
    assert set(flex.memory_stats()) == {
        "in_use",
        "peak",
        "cached",
        "hits",
        "misses",
        "cap",
        "limit",
    }


def test_show_config():
    config = flex.show_config()
    assert config["version"] == flex.__version__
    assert config["threads"] == flex.get_num_threads()
    assert "simd" in config["features"]
    assert "bfloat16" in config["dtypes"]
    assert dict(config).keys() == set(config)
    for key in config:
        assert f"{key}:" in repr(config)
    with pytest.raises(KeyError):
        config["colour"]


def test_array_namespace_info():
    info = flex.__array_namespace_info__()
    assert info.default_device() == "cpu"
    assert info.devices() == ("cpu",)
    assert info.default_dtypes()["real floating"] is flex.float32
    assert set(info.dtypes(kind="integral")) == {
        f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)
    }
    assert info.dtypes(kind=("bool", "complex floating")).keys() == {
        "bool",
        "complex64",
        "complex128",
    }
    assert len(info.dtypes(device="cpu")) == 13
    assert info.capabilities()["boolean indexing"]
    assert flex.__array_api_version__ == "2025.12"
    assert flex.asarray(1).__array_namespace__() is flex
    assert flex.asarray(1).__array_namespace__(api_version="2024.12") is flex
    with pytest.raises(ValueError, match=r"1999\.01"):
        flex.asarray(1).__array_namespace__(api_version="1999.01")
    assert flex.newaxis is None


def test_broadcast_shapes():
    assert flex.broadcast_shapes() == ()
    assert flex.broadcast_shapes((3, 1), (4,), 1) == (3, 4)
    assert flex.broadcast_shapes((0, 1), (1, 5)) == (0, 5)
    with pytest.raises(flex.ShapeError, match=r"\[3\] and \[4\]"):
        flex.broadcast_shapes((3,), (4,))
    with pytest.raises(flex.ShapeError, match="negative"):
        flex.broadcast_shapes((-1,))


def test_import_has_no_dependencies():
    code = "import sys, flex; assert 'numpy' not in sys.modules; print(flex.asarray([1, 2]) + 1)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[2, 3]\n"
    )
