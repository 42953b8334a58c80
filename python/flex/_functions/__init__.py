"""Functions of `flex` that are compositions of others, under the names and with the parameters of NumPy, or torch's where it has none."""

from flex._lazy import Functions

FUNCTIONS = Functions(
    __name__,
    {
        "building": "block_diag diagflat diagonal flatten geomspace indices logspace ravel_multi_index "
        "sliding_window_view trace tri tril_indices triu_indices unravel_index vander",
        "calculus": "convolve correlate cumulative_trapezoid ediff1d gradient interp trapezoid unwrap",
        "counting": "bucketize digitize histogram histogram2d histogram_bin_edges histogramdd",
        "elementwise": "bitwise_count cbrt deg2rad divmod expit float_power fmax fmin frexp gcd heaviside isneginf isposinf "
        "lcm ldexp lerp logit modf rad2deg sinc xlog1py xlogy",
        "grids": "mgrid ogrid",
        "ordering": "argpartition intersect1d kthvalue lexsort mode setdiff1d setxor1d union1d unique",
        "padding": "pad",
        "polynomials": "angle polyfit polyval roots",
        "printing": "printoptions",
        "selecting": "choose compress extract index_fill masked_scatter piecewise scatter_reduce select",
        "special": "betaln erfcinv ndtr ndtri polygamma zeta",
        "statistics": "aminmax average corrcoef cov nanargmax nanargmin nanprod renorm std_mean var_mean",
        "writing": "fill_diagonal place put put_along_axis",
    },
)
