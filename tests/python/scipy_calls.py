#!/usr/bin/env python3
"""Which functions of SciPy compute with tensors and give tensors, with its support of array namespaces (SCIPY_ARRAY_API=1, which must be
set before SciPy is imported: a process of its own).

  scipy_calls.py NAMESPACE...    calls each function with the arrays of each of these modules (flex, array_api_strict), and prints the
                                 function and, for each, whether all arrays of the result are its own and have the values of NumPy

`scipy_calls.py flex array_api_strict > reference/scipy_functions.txt` writes the list that test_libraries.py reads.
"""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

import importlib
import sys
import warnings

import numpy as np
from scipy import fft, signal, special, stats
from scipy.cluster import hierarchy, vq

import flex

RNG = np.random.default_rng(0)
A = RNG.normal(size=(30, 4))
B = A[:, ::-1] + RNG.normal(size=(30, 4))
V, W = RNG.normal(size=40), RNG.normal(size=40) + 0.3
P = np.abs(A) + 0.1
U, R = RNG.uniform(0.05, 0.95, size=(2, 12))
Z = A + 1j * B
N, K = np.array([5.0, 6.0, 3.0]), np.array([2.0, 3.0, 1.0])
COUNTS = np.array([16.0, 18, 16, 14, 12, 12])
TAPS, POLES = signal.butter(3, 0.3)
SOS = signal.butter(4, 0.3, output="sos")
ZEROS = (np.array([-1.0, 0.5]), np.array([0.3, -0.2]), 2.0)
LINKS = hierarchy.linkage(A[:10])

CALLS = {}


def add(module, names, *args, **kwargs):
    for name in names.split():
        CALLS[f"{module.__name__.removeprefix('scipy.')}.{name}"] = (
            getattr(module, name),
            args,
            kwargs,
        )


add(
    stats,
    "skew kurtosis variation zscore gzscore describe sem moment tmean tvar tstd tsem circmean circvar circstd directional_stats "
    "jarque_bera skewtest kurtosistest normaltest kstat kstatvar differential_entropy median_abs_deviation iqr lmoment mode tmin tmax "
    "rankdata",
    A,
)
add(stats, "gmean hmean gstd entropy", P)
add(stats, "pmean", P, 2.5)
add(stats, "zmap", A, B)
add(stats, "ttest_1samp", A, 0.1)
add(stats, "boxcox_llf", 0.5, P[:, 0])
add(stats, "yeojohnson_llf", 0.5, V)
add(
    stats,
    "ttest_ind ttest_rel bartlett f_oneway levene fligner mood ansari kruskal wilcoxon mannwhitneyu cramervonmises_2samp "
    "epps_singleton_2samp alexandergovern pearsonr spearmanr pointbiserialr chatterjeexi",
    V,
    W,
)
add(stats, "chisquare power_divergence", COUNTS)
add(stats, "combine_pvalues false_discovery_control", U)
add(stats, "quantile", V, 0.3)
add(stats, "trim_mean", V, 0.1)
add(stats, "sigmaclip", V)

add(
    special,
    "erf erfc expit logit ndtr ndtri log_ndtr i0 i0e i1 i1e j0 j1 gammaln digamma psi entr exp2 cbrt sinc log1p expm1 exp10 cosdg sindg "
    "tandg cotdg ellipk ellipe ellipkm1 zeta gamma rgamma loggamma erfinv erfcinv erfcx dawsn expi exprel y0 y1 k0 k0e k1 k1e round "
    "spence bei ber kei ker",
    U,
)
add(
    special,
    "xlogy xlog1py rel_entr kl_div betaln beta gammainc gammaincc poch chdtr chdtrc gammaincinv gammainccinv huber pseudo_huber binom "
    "boxcox boxcox1p inv_boxcox inv_boxcox1p agm owens_t stdtr pdtr pdtrc pdtri pdtrik jv yv iv kv ive kve",
    U,
    R,
)
add(special, "betainc betaincinv betaincc fdtr fdtrc fdtri stdtrit nbdtr bdtr", U, R, U)
add(special, "stdtrit", N, U[:3])
add(special, "logsumexp softmax log_softmax", A)
add(special, "multigammaln", N, 2)
add(special, "polygamma", 2, U)

add(
    fft,
    "fft ifft rfft ihfft fft2 ifft2 rfft2 ihfft2 fftn ifftn rfftn ihfftn dct idct dst idst dctn idctn dstn idstn fftshift ifftshift",
    A,
)
add(fft, "fft ifft irfft hfft irfft2 irfftn hfft2 hfftn", Z)
add(fft, "fht ifht", P[:, 0], 0.1, 0.2)

add(signal, "hilbert detrend medfilt wiener envelope cspline1d qspline1d gausspulse", V)
add(signal, "convolve fftconvolve correlate oaconvolve", V, W[:7])
add(signal, "convolve2d correlate2d", A, B[:3, :3])
add(signal, "medfilt2d hilbert2", A)
add(signal, "lfilter filtfilt", TAPS, POLES, V)
add(signal, "sosfilt sosfiltfilt", SOS, V)
add(
    signal,
    "lfilter_zi freqz freqs normalize bilinear lp2lp lp2hp lp2bp lp2bs",
    TAPS,
    POLES,
)
add(signal, "lfiltic", TAPS, POLES, V[:3])
add(signal, "sosfilt_zi freqz_sos sos2tf sos2zpk", SOS)
add(signal, "zpk2tf zpk2sos freqz_zpk lp2hp_zpk", *ZEROS)
add(signal, "bilinear_zpk", *ZEROS, 1.0)
add(signal, "resample", V, 20)
add(signal, "resample_poly", V, 2, 3)
add(signal, "upfirdn", TAPS, V, 2, 1)
add(signal, "savgol_filter", V, 7, 2)
add(signal, "deconvolve", V, TAPS)
add(signal, "symiirorder1", V, 0.5, 0.5)
add(signal, "gauss_spline", V, 3)
add(signal, "order_filter", A, np.ones((3, 3)), 1)
add(signal, "lombscargle", np.arange(40.0), V, np.arange(1.0, 5.0))
add(signal, "vectorstrength", P[:, 0], 2.0)

add(vq, "whiten", A)
add(vq, "vq kmeans kmeans2", A, A[:3].copy())
add(hierarchy, "linkage single complete average weighted centroid median ward", A[:10])
add(
    hierarchy,
    "cophenet inconsistent is_monotonic leaves_list maxdists to_mlab_linkage cut_tree",
    LINKS,
)
add(hierarchy, "fcluster fclusterdata", LINKS, 1.0)
add(hierarchy, "maxinconsts", LINKS, hierarchy.inconsistent(LINKS))
add(hierarchy, "optimal_leaf_ordering", LINKS, A[:10])
add(hierarchy, "from_mlab_linkage", hierarchy.to_mlab_linkage(LINKS))


def leaves(x):
    """The arrays and numbers in a result."""
    if isinstance(x, dict):
        x = tuple(x.values())
    if isinstance(x, (tuple, list)):
        return [y for part in x for y in leaves(part)]
    if hasattr(x, "__dict__") and not hasattr(x, "shape"):
        return [y for name, part in vars(x).items() if name[0] != "_" for y in leaves(part)]
    return [x] if hasattr(x, "dtype") else []


def computed(name, xp):
    """The arrays of the result for arrays of this namespace."""
    function, args, kwargs = CALLS[name]
    args = [xp.asarray(x.copy()) if isinstance(x, np.ndarray) else x for x in args]
    return leaves(function(*args, **kwargs))


def kept(name, xp):
    """Whether all arrays of the result are of this namespace, with NumPy's values."""
    try:
        found = computed(name, xp)
    except Exception:
        return False
    if not found or not all(type(x) is type(xp.ones(1)) for x in found):
        return False
    expected = computed(name, np)
    return all(
        np.allclose(np.asarray(x), y, rtol=1e-8, atol=1e-10, equal_nan=True)
        for x, y in zip(found, expected, strict=True)
    )


def main() -> None:
    warnings.simplefilter("ignore")
    flex.set_default_dtype(flex.float64)  # of Python's numbers, as NumPy has it
    namespaces = [importlib.import_module(name) for name in sys.argv[1:]]
    for name in sorted(CALLS):
        print(name, *("yes" if kept(name, xp) else "no" for xp in namespaces))


if __name__ == "__main__":
    main()
