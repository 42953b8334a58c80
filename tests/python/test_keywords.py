"""Keywords of NumPy's and SciPy's functions that flex's functions of the same name lack: each has a reason, which is what the error says
or stands here. Operands are passed by position, as the array API standard has it."""

import inspect

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.signal
import scipy.special

import flex
from flex._hint_tables import ABSENT, KEYWORDS

# Operands, by position only in the standard.
_OPERANDS = """a a1 a2 b x ary m v val arr array arrays tup element test_elements in1 in2 A lu_and_piv from_ to n target sos M
    einsum_call Zxx"""
OPERANDS = _OPERANDS.split()
NAMED = {"a_max", "a_min"}  # NumPy 2 has min and max as well
# Of any function.
REASONS = {
    "axisa": "axis= for both operands",
    "axisb": "axis= for both operands",
    "axisc": "axis= for the result",
    "assume_unique": "only makes NumPy faster",
    "check_finite": "NaN and infinities give NaN or an error",
    "compute_uv": "svdvals, of the standard",
    "cval": "padded with zeros",
    "hermitian": "eigh and eigvalsh, of the standard",
    "kind": "sorts are stable; sets are found in one way",
    "mean": "computed in any case",
    "method": "there is one",
    "overwrite_a": "operands are values",
    "overwrite_b": "operands are values",
    "overwrite_data": "operands are values",
    "overwrite_input": "operands are values",
    "overwrite_x": "operands are values",
    "rcond": "rtol, of the standard",
    "reps": "repetitions, of the standard",
    "tol": "rtol, of the standard",
    "UPLO": "the lower triangle is read; of the upper one, x.mT",
    "weights": "average and bincount have weights",
    "workers": "set_num_threads",
    "xp": "flex's functions give flex's tensors",
    "device": "the CPU is the only one",
}
# Of one function.
OF = {
    "concat": {"dtype"},  # convert first
    "hstack": {"dtype"},
    "vstack": {"dtype"},
    "stack": {"dtype"},
    "empty_like": {"shape"},  # empty, full, ones, zeros take one
    "full_like": {"shape"},
    "ones_like": {"shape"},
    "zeros_like": {"shape"},
    "linspace": {"axis"},  # the standard's; moveaxis
    "chirp": {"complex"},
    "meshgrid": {"copy"},  # views
    "nan_to_num": {"copy"},
    "set_printoptions": {
        "nanstr",
        "infstr",
        "formatter",
        "sign",
        "floatmode",
        "legacy",
        "override_repr",
    },
    "show_config": {"mode"},
    "take": {"mode"},  # an index out of range is an error
    "lu": {"permute_l", "p_indices"},
    "lu_solve": {"trans"},
    "next_fast_len": {"real"},  # lengths that serve both
    "filtfilt": {"irlen"},
    "freqz": {"plot"},
    "resample": {"domain"},
    "tf2sos": {"pairing", "analog"},  # nearest pairs, digital filters
    "zpk2sos": {"pairing", "analog"},
    "split": {"indices_or_sections"},  # torch's; array_split has NumPy's
    # torch's
    "stft": {
        "fs",
        "nperseg",
        "noverlap",
        "nfft",
        "detrend",
        "return_onesided",
        "boundary",
        "padded",
        "axis",
        "scaling",
    },
    "istft": {
        "fs",
        "nperseg",
        "noverlap",
        "nfft",
        "input_onesided",
        "boundary",
        "time_axis",
        "freq_axis",
        "scaling",
    },
}


def pairs():
    for theirs, ours in (
        (np, flex),
        (np.linalg, flex.linalg),
        (scipy.linalg, flex.linalg),
        (np.fft, flex.fft),
        (scipy.fft, flex.fft),
        (scipy.signal, flex.signal),
        (scipy.signal.windows, flex.signal),
        (scipy.special, flex),
        (np.random.Generator, flex.random.Generator),
    ):
        # of linalg and fft, SciPy's are those that NumPy lacks
        known = {scipy.linalg: np.linalg, scipy.fft: np.fft, scipy.special: np}.get(theirs)
        names = getattr(ours, "__all__", None) or dir(ours)
        for name in names:
            other = getattr(theirs, name, None)
            if name[0] == "_" or not callable(other) or isinstance(other, type | np.ufunc):
                continue
            if known is None or not hasattr(known, name):
                yield pytest.param(getattr(ours, name), other, id=f"{theirs.__name__}.{name}")


def keywords(function):
    return {
        name
        for name, p in inspect.signature(function).parameters.items()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and name != "self"
    }


@pytest.mark.parametrize(("ours", "theirs"), list(pairs()))
def test_keywords(ours, theirs):
    found = inspect.signature(ours).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in found):
        return
    try:
        known = keywords(theirs)
    except ValueError:  # of a function in C, without a signature
        return
    lacking = known - keywords(ours) - set(OPERANDS) - NAMED
    of_this = OF.get(ours.__name__, set())
    renamed = {word for word in lacking if set(KEYWORDS.get(word, ())) & keywords(ours)}
    assert lacking - of_this - renamed <= {*ABSENT, *REASONS}


def test_every_reason_is_needed():
    needed = {}
    for ours, theirs in (p.values for p in pairs()):
        try:
            lacking = keywords(theirs) - keywords(ours)
        except ValueError:
            continue
        needed.setdefault(ours.__name__, set()).update(lacking)
    assert {word for words in needed.values() for word in words} >= {*REASONS, *NAMED, *OPERANDS}
    assert [n for n, words in OF.items() if not words <= needed.get(n, set())] == []


def test_keywords_that_scripts_use():
    x = flex.reshape(flex.arange(24), (2, 3, 4))
    assert flex.transpose(x, axes=(1, 0, 2)).shape == (3, 2, 4)
    assert x.transpose(axes=None).shape == (4, 3, 2)
    with pytest.raises(TypeError, match="given twice"):
        flex.transpose(x, (1, 0, 2), axes=(1, 0, 2))
    a, b, c = np.arange(3), np.arange(1), np.arange(4.0)
    for indexing in ("xy", "ij"):
        found = flex.meshgrid(*map(flex.asarray, (a, b, c)), indexing=indexing, sparse=True)
        expected = np.meshgrid(a, b, c, indexing=indexing, sparse=True)
        assert len(found) == 3
        for f, e in zip(found, expected, strict=True):
            assert f.shape == e.shape
            np.testing.assert_array_equal(np.asarray(f), e)
    assert flex.meshgrid(flex.asarray(a), sparse=True)[0].shape == (3,)
    assert flex.meshgrid(sparse=True) == ()
