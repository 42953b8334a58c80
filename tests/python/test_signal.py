"""Cosine transforms, windows, short-time transforms, mel filters and convolutions against SciPy and their definitions."""

import sys
import wave
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.fft as scipy_fft
import scipy.signal as scipy_signal
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex

NORMS = ["backward", "ortho", "forward"]
MODES = ["full", "same", "valid"]


def close(got, want, tolerance):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert np.max(np.abs(got - want), initial=0) <= tolerance * max(
        1, np.max(np.abs(want), initial=0)
    )


@examples(80)
@given(
    st.one_of(st.integers(1, 40), st.integers(1, 700)),
    st.sampled_from([1, 2, 3, 4]),
    st.sampled_from(NORMS),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 1),
)
def test_cosine_transforms(n, kind, norm, dtype, axis):
    n += n == kind == 1  # the period is 2 n - 2
    shape = (3, n) if axis else (n, 3)
    x = np.random.default_rng(n).uniform(-1, 1, shape).astype(dtype)
    tolerance = 2e-6 if dtype == "float32" else 4e-15
    for name in ("dct", "idct"):
        got = getattr(flex.fft, name)(flex.asarray(x), kind, axis=axis, norm=norm)
        want = getattr(scipy_fft, name)(x.astype(np.float64), kind, axis=axis, norm=norm)
        assert got.dtype.name == dtype
        close(got, want, tolerance)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 51, 400])
@pytest.mark.parametrize("sym", [True, False])
def test_windows(n, sym):
    windows = scipy_signal.windows
    for name, arguments in [
        ("hann", ()),
        ("hamming", ()),
        ("blackman", ()),
        ("kaiser", (0.0,)),
        ("kaiser", (8.6,)),
        ("kaiser", (120.0,)),
        ("gaussian", (7.0,)),
    ]:
        got = getattr(flex.signal, name)(n, *arguments, sym=sym, dtype=flex.float64)
        want = getattr(windows, name)(n, *arguments, sym=sym)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12, atol=2e-16, err_msg=name)
        single = np.asarray(getattr(flex.signal, name)(n, *arguments, sym=sym))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, want, rtol=1e-6, atol=1e-7)


def naive_stft(x, n_fft, hop, window, center, pad_mode, onesided):
    """torch.stft's definition."""
    if center:
        x = np.pad(x, n_fft // 2, mode=pad_mode)
    frames = range(0, len(x) - n_fft + 1, hop)
    columns = [np.fft.fft(x[t : t + n_fft] * window) for t in frames]
    spectra = np.stack(columns, axis=1)
    return spectra[: n_fft // 2 + 1] if onesided else spectra


@examples(60)
@given(
    st.integers(1, 40),
    st.data(),
    st.booleans(),
    st.sampled_from(["reflect", "constant"]),
    st.booleans(),
)
def test_short_time_transforms(n_fft, data, center, pad_mode, complex_signal):
    hop = data.draw(st.integers(1, n_fft))
    length = data.draw(st.integers(1, n_fft))
    samples = data.draw(st.integers(n_fft, n_fft + 100))
    rng = np.random.default_rng(samples)
    x = rng.uniform(-1, 1, samples)
    if complex_signal:
        x = x + 1j * rng.uniform(-1, 1, samples)
    window = rng.uniform(0.5, 1, length)
    before = (n_fft - length) // 2
    padded = np.pad(window, (before, n_fft - length - before))
    got = flex.signal.stft(
        flex.asarray(x),
        n_fft,
        hop_length=hop,
        win_length=length,
        window=flex.asarray(window),
        center=center,
        pad_mode=pad_mode,
    )
    want = naive_stft(x, n_fft, hop, padded, center, pad_mode, not complex_signal)
    close(got, want, 1e-12)


@examples(60)
@given(st.integers(4, 64), st.data(), st.booleans(), st.sampled_from([(), (2,), (2, 3)]))
def test_istft_inverts_stft(n_fft, data, normalized, batch):
    hop = data.draw(st.integers(1, n_fft // 2))
    samples = data.draw(st.integers(n_fft, n_fft + 200))
    x = np.random.default_rng(samples).uniform(-1, 1, (*batch, samples))
    options = {
        "hop_length": hop,
        "window": flex.signal.hamming(n_fft, sym=False, dtype=flex.float64),
        "normalized": normalized,
    }
    spectra = flex.signal.stft(flex.asarray(x), n_fft, **options)
    assert spectra.shape == (*batch, n_fft // 2 + 1, 1 + (samples + n_fft // 2 * 2 - n_fft) // hop)
    covered = n_fft + hop * (spectra.shape[-1] - 1) - n_fft // 2
    back = np.asarray(flex.signal.istft(spectra, n_fft, length=samples, **options))
    assert back.shape == x.shape
    known = min(samples, covered)
    close(back[..., :known], x[..., :known], 1e-12)
    assert not back[..., known:].any()


def test_istft_inverts_stft_of_complex_signals():
    rng = np.random.default_rng(3)
    x = (rng.uniform(-1, 1, 100) + 1j * rng.uniform(-1, 1, 100)).astype(np.complex64)
    spectra = flex.signal.stft(flex.asarray(x), 16)
    assert spectra.shape == (16, 26)
    close(flex.signal.istft(spectra, 16, onesided=False, length=100), x, 1e-5)


def naive_mel(rate, n_fft, n_mels, fmin, fmax, htk, norm):
    """librosa.filters.mel's definition."""

    def mel(f):
        if htk:
            return 2595 * np.log10(1 + f / 700)
        return np.where(
            f < 1000, f * 3 / 200, 15 + 27 * np.log(np.maximum(f, 1) / 1000) / np.log(6.4)
        )

    def hertz(m):
        if htk:
            return 700 * (10 ** (m / 2595) - 1)
        return np.where(m < 15, m * 200 / 3, 1000 * np.exp(np.log(6.4) * (m - 15) / 27))

    edges = hertz(np.linspace(mel(np.array(fmin)), mel(np.array(fmax)), n_mels + 2))
    f = np.linspace(0, rate / 2, n_fft // 2 + 1)
    rows = []
    for a, b, c in zip(edges, edges[1:], edges[2:], strict=False):
        row = np.maximum(0, np.minimum((f - a) / (b - a), (c - f) / (c - b)))
        rows.append(row * (2 / (c - a) if norm else 1))
    return np.array(rows)


@pytest.mark.parametrize("htk", [True, False])
@pytest.mark.parametrize("norm", ["slaney", None])
def test_mel_filters(htk, norm):
    for rate, n_fft, n_mels, fmin, fmax in [
        (22050, 2048, 128, 0.0, None),
        (16000, 400, 80, 20.0, 7600.0),
    ]:
        got = flex.signal.mel_filters(
            rate, n_fft, n_mels=n_mels, fmin=fmin, fmax=fmax, htk=htk, norm=norm, dtype=flex.float64
        )
        want = naive_mel(rate, n_fft, n_mels, fmin, fmax or rate / 2, htk, norm)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-9, atol=1e-13)


@examples(100)
@given(
    st.integers(1, 3).flatmap(
        lambda rank: st.tuples(*[st.tuples(*[st.integers(1, 24 // rank)] * rank)] * 2)
    ),
    st.sampled_from(MODES),
    st.sampled_from(["auto", "direct", "fft"]),
    st.sampled_from(["float32", "float64", "complex128", "int64"]),
)
def test_convolutions(shapes, mode, method, dtype):
    first, second = shapes
    inside = all(a >= b for a, b in zip(first, second, strict=True)) or all(
        a <= b for a, b in zip(first, second, strict=True)
    )
    if (
        (mode == "valid" and not inside)
        or (dtype == "complex128" and method == "direct")
        or (dtype == "int64" and method == "fft")
    ):
        return
    rng = np.random.default_rng(sum(first))
    x, h = (rng.uniform(-9, 9, s) + 0j for s in (first, second))
    if dtype == "complex128":
        x, h = x + 1j * rng.uniform(-9, 9, first), h + 1j * rng.uniform(-9, 9, second)
    else:
        x, h = x.real, h.real
    x, h = x.astype(dtype), h.astype(dtype)
    tolerance = {"float32": 2e-6, "int64": 0}.get(dtype, 1e-14)
    for name in ("convolve", "correlate"):
        got = getattr(flex.signal, name)(flex.asarray(x), flex.asarray(h), mode, method)
        exact = getattr(scipy_signal, name)
        wide = np.promote_types(dtype, np.float64) if dtype != "int64" else dtype
        want = exact(x.astype(wide), h.astype(wide), mode, method="direct")
        assert got.dtype.name == dtype
        assert got.shape == want.shape
        # terms cancel, so the error is relative to their magnitudes
        size = np.max(exact(np.abs(x), np.abs(h), mode, method="direct"), initial=1)
        assert np.max(np.abs(np.asarray(got) - want), initial=0) <= tolerance * size


def test_empty_signals_and_spectra():
    spectra = flex.signal.stft(flex.ones((3, 0)), 4, pad_mode="constant")
    assert spectra.shape == (3, 3, 1)
    for center in (False, True):
        assert flex.signal.istft(
            flex.ones((9, 0), dtype=flex.complex64), 16, center=center
        ).shape == (0,)
    assert flex.signal.stft(flex.ones(9), 3).shape[0] == 2


def test_hops_beyond_the_address_space():
    x = flex.ones((9, 9), dtype=flex.complex64)
    for hop in (2**63 - 1, 2**61, 2**63 - 8):
        with pytest.raises(MemoryError):
            flex.signal.istft(x, 16, hop_length=hop)
        with pytest.raises(MemoryError):
            flex.signal.istft(x, 16, hop_length=hop, center=False, length=8)


def test_mel_bands_without_width():
    with pytest.raises(ValueError, match="no width"):
        flex.signal.mel_filters(16000, 32, n_mels=3, fmin=1000, fmax=np.nextafter(1000, 2000))


def test_long_convolutions():
    rng = np.random.default_rng(4)
    x, h = rng.uniform(-1, 1, 5000), rng.uniform(-1, 1, 1234)
    for mode in MODES:
        close(
            flex.signal.fftconvolve(flex.asarray(x), flex.asarray(h), mode),
            np.convolve(x, h, mode),
            1e-13,
        )


@pytest.mark.parametrize("axes", [0, -1, (1,), (0, 2), [2, 1, 0]])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_convolutions_along_axes(axes, dtype):
    rng = np.random.default_rng(5)
    a, b = rng.uniform(-1, 1, (4, 3, 7)).astype(dtype), rng.uniform(-1, 1, (4, 3, 7)).astype(dtype)
    along = {k % 3 for k in np.atleast_1d(axes)}
    # beside the axes one operand has size 1, or both have the same
    b = b[tuple(slice(2) if k in along else slice(1) for k in range(3))]
    for x, y in ((a, b), (b, a), (a + 0.5, a)):
        # SciPy's "same" also cuts the axes along which the first operand was repeated
        for mode in MODES if x.size >= y.size else ("full", "valid"):
            found = flex.signal.fftconvolve(flex.asarray(x), flex.asarray(y), mode, axes)
            expected = scipy_signal.fftconvolve(x, y, mode, axes)
            assert found.shape == expected.shape
            assert found.dtype == dtype
            close(found, expected, 1e-4 if dtype == "float32" else 1e-13)


def test_refused_convolutions_along_axes():
    x = flex.ones((3, 4))
    for error, match, call in [
        (ValueError, "axes is empty", lambda f: f(x, x, axes=())),
        (ValueError, "mode is 'all'", lambda f: f(x, x, "all", 0)),
        (flex.AxisError, "axis 2", lambda f: f(x, x, axes=2)),
        (flex.AxisError, "twice", lambda f: f(x, x, axes=(0, -2))),
        (flex.ShapeError, "2 and 1 dimensions", lambda f: f(x, x[0], axes=0)),
        (flex.ShapeError, "don't broadcast", lambda f: f(x, x[:, :2], axes=0)),
        (flex.ShapeError, "neither", lambda f: f(x[:2], x[:, :3], "valid", (0, 1))),
        (flex.ShapeError, "no elements", lambda f: f(x, x[:0], axes=0)),
        (flex.DTypeError, "int64", lambda f: f([[1]], [[1]], axes=0)),
    ]:
        with pytest.raises(error, match=f"^fftconvolve: .*{match}"):
            call(flex.signal.fftconvolve)


def test_errors():
    x = flex.ones(100)
    for call in (
        lambda: flex.fft.dct(x, type=5),
        lambda: flex.fft.dct(x[:1], type=1),
        lambda: flex.signal.kaiser(8, float("nan")),
        lambda: flex.signal.gaussian(8, 0.0),
        lambda: flex.signal.stft(x, 0),
        lambda: flex.signal.stft(x, 16, hop_length=0),
        lambda: flex.signal.stft(x, 16, win_length=17),
        lambda: flex.signal.stft(x, 16, pad_mode="wrap"),
        lambda: flex.signal.stft(x.astype(flex.complex64), 16, onesided=True),
        lambda: flex.signal.istft(
            flex.zeros((9, 5), dtype=flex.complex64), 16, window=flex.zeros(16)
        ),
        lambda: flex.signal.kaiser(8, float("nan")),
        lambda: flex.signal.gaussian(8, 0),
        lambda: flex.signal.hann(-1),
        lambda: flex.signal.mel_filters(16000, 400, fmin=9000.0),
        lambda: flex.signal.mel_filters(16000, 400, n_mels=0),
        lambda: flex.signal.mel_filters(16000, 400, norm="l2"),
        lambda: flex.signal.convolve(x, x, mode="all"),
        lambda: flex.signal.convolve(x, x, method="guess"),
    ):
        with pytest.raises(ValueError, match=r"^\w+: "):
            call()
    for call in (
        lambda: flex.signal.stft(flex.asarray(1.0), 16),
        lambda: flex.signal.stft(flex.ones(10), 16, center=False),
        lambda: flex.signal.stft(x, 16, window=flex.ones(15)),
        lambda: flex.signal.istft(flex.zeros((8, 5), dtype=flex.complex64), 16),
        lambda: flex.signal.convolve(x, flex.ones((2, 2))),
        lambda: flex.signal.convolve(x, flex.ones(0)),
        lambda: flex.signal.convolve(flex.ones((2, 3)), flex.ones((3, 2)), "valid"),
    ):
        with pytest.raises(flex.ShapeError):
            call()
    with pytest.raises(flex.ShapeError, match=r"^fftconvolve: "):
        flex.signal.fftconvolve(x, flex.ones((2, 2)))
    with pytest.raises(flex.DTypeError, match=r"^fftconvolve: "):
        flex.signal.fftconvolve(flex.asarray([1]), flex.asarray([1]))
    for call in (
        lambda: flex.fft.dct(flex.ones(3, dtype=flex.complex64)),
        lambda: flex.signal.hann(3, dtype=flex.int64),
        lambda: flex.signal.convolve(flex.ones(3, dtype=flex.bool), flex.ones(3, dtype=flex.bool)),
        lambda: flex.signal.convolve(
            flex.ones(3, dtype=flex.int8), flex.ones(3, dtype=flex.int8), method="fft"
        ),
    ):
        with pytest.raises(flex.DTypeError):
            call()


def test_the_example_draws_a_chirp(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parent.parent.parent / "examples"))
    import spectrogram

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["spectrogram.py"])
    spectrogram.main()
    assert "401 frames of 128 mels" in capsys.readouterr().out
    with wave.open("chirp.wav") as f:
        assert (f.getnframes(), f.getframerate()) == (64000, 16000)
    data = Path("chirp.png").read_bytes()
    at, pixels = 8, b""
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == int.from_bytes(
            data[at + 8 + length : at + 12 + length], "big"
        )
        pixels += body if kind == b"IDAT" else b""
        at += 12 + length
    image = np.frombuffer(zlib.decompress(pixels), np.uint8).reshape(128, 1 + 3 * 401)[:, 1:]
    light = image.reshape(128, 401, 3).astype(int).sum(axis=2)
    # the brightest mel rises from column to column
    tops = 127 - light[:, 20:380].argmax(axis=0)
    assert tops[0] < 30
    assert tops[-1] > 60
    assert (np.diff(tops) >= -1).all()
