"""Functions of `flex.signal` that are compositions of others, as defined by scipy.signal."""

from flex._lazy import Functions

FUNCTIONS = Functions(
    __name__,
    {
        "analytic": "envelope hilbert",
        "design": "butter cheby1 cheby2 firwin freqz freqz_sos iirnotch iirpeak",
        "filtering": "detrend filtfilt lfilter_zi medfilt medfilt2d savgol_coeffs savgol_filter sosfilt_zi sosfiltfilt",
        "forms": "sos2tf sos2zpk tf2sos tf2zpk zpk2sos zpk2tf",
        "images": "convolve2d correlate2d",
        "peaks": "argrelextrema argrelmax argrelmin find_peaks peak_prominences peak_widths",
        "products": "correlation_lags fftconvolve",
        "rates": "decimate resample resample_poly",
        "spectra": "coherence csd periodogram spectrogram welch",
        "waves": "chirp sawtooth square",
        "windows": "barthann bartlett blackmanharris bohman boxcar chebwin cosine dpss exponential "
        "flattop general_cosine general_gaussian general_hamming "
        "get_window kaiser_bessel_derived lanczos nuttall parzen taylor triang tukey",
    },
)
