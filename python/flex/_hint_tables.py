"""What `_hints.py` says for names and keywords of NumPy and torch that flex lacks."""

from __future__ import annotations

_LINALG = "tensorinv tensorsolve"
_NUMPY = """apply_along_axis apply_over_axes array2string array_repr array_str block delete diag_indices dsplit insert iscomplexobj isscalar
    nancumprod nancumsum trim_zeros vectorize"""
_SPECIAL = """beta betainc binom boxcox comb dawsn entr erfcx expi factorial gamma gammainc gammaincc j0 j1 jv k0 k1 lambertw log_ndtr
    multigammaln rel_entr rgamma"""
_MATRICES = """circulant companion hankel khatri_rao logm null_space orth polar schur solve_banded solve_sylvester solve_toeplitz sqrtm
    toeplitz"""
# of scipy.signal
_SIGNAL = """bessel bilinear buttord cheb1ord czt ellip firwin2 gausspulse group_delay iirdesign iirfilter kaiserord lombscargle
    minimum_phase order_filter remez unit_impulse upfirdn vectorstrength wiener zoom_fft"""
# Functions that torch also has as methods that write in place, with an underscore at the end.
_IN_PLACE = """abs acos acosh asin asinh atan atan2 atanh ceil clip copysign cos cosh erf erfc exp exp2 expm1 floor floor_divide fmod hypot
    index_add log log10 log1p log2 masked_fill negative pow reciprocal relu remainder round rsqrt scatter_add sigmoid sign silu sin sinh
    sqrt square tan tanh tril triu trunc"""
IN_PLACE = frozenset(_IN_PLACE.split())

# Functions, methods and attributes of NumPy or torch, and flex's equivalents.
NAMES = {
    # elementwise
    "absolute": "flex.abs(x)",
    "addmm": "flex.matmul(x1, x2) + x",
    "arccos": "flex.acos(x)",
    "arccosh": "flex.acosh(x)",
    "arcsin": "flex.asin(x)",
    "arcsinh": "flex.asinh(x)",
    "arctan": "flex.atan(x)",
    "arctan2": "flex.atan2(x1, x2)",
    "arctanh": "flex.atanh(x)",
    "bitwise_not": "flex.bitwise_invert(x)",
    "clamp": "flex.clip(x, min, max)",
    "conjugate": "flex.conj(x)",
    "degrees": "flex.rad2deg(x)",
    "div": "flex.divide(x1, x2)",
    "eq": "flex.equal(x1, x2)",
    "gammaln": "flex.lgamma(x)",
    "ge": "flex.greater_equal(x1, x2)",
    "gt": "flex.greater(x1, x2)",
    "invert": "flex.bitwise_invert(x)",
    "le": "flex.less_equal(x1, x2)",
    "left_shift": "flex.bitwise_left_shift(x1, x2)",
    "lt": "flex.less(x1, x2)",
    "mod": "flex.remainder(x1, x2)",
    "mul": "flex.multiply(x1, x2)",
    "ne": "flex.not_equal(x1, x2)",
    "neg": "flex.negative(x)",
    "power": "flex.pow(x1, x2)",
    "psi": "flex.digamma(x)",
    "radians": "flex.deg2rad(x)",
    "right_shift": "flex.bitwise_right_shift(x1, x2)",
    "rint": "flex.round(x)",
    "sgn": "flex.sign(x)",
    "sub": "flex.subtract(x1, x2)",
    "true_divide": "flex.divide(x1, x2)",
    # reductions, scans, sorting, sets
    "amax": "flex.max(x, axis)",
    "amin": "flex.min(x, axis)",
    "cummax": "flex.cumulative_max(x, axis)",
    "cummin": "flex.cumulative_min(x, axis)",
    "cumprod": "flex.cumulative_prod(x, axis)",
    "cumsum": "flex.cumulative_sum(x, axis)",
    "flatnonzero": "flex.nonzero(flex.reshape(x, -1))",
    "in1d": "flex.isin(x1, x2)",
    "indices": "flex.max_with_indices, min_with_indices, sort_with_indices or topk for pairs",
    "norm": "flex.linalg.vector_norm(x, axis=axis)",
    "values": "x itself; flex.max_with_indices, sort_with_indices and topk give pairs",
    # shape
    "c_": "flex.column_stack([x, y])",
    "r_": "flex.concat([x, y])",
    "append": "flex.concat([x, y])",
    "cat": "flex.concat([x, y], axis=0)",
    "dim": "x.ndim",
    "ndimension": "x.ndim",
    "narrow": "x[start : start + length], or take along an axis",
    "reshape_as": "flex.reshape(x, y.shape)",
    "resize": "flex.reshape(x, shape)",
    "view_as": "flex.reshape(x, y.shape)",
    "concatenate": "flex.concat([x, y], axis=0)",
    "expand": "flex.broadcast_to(x, shape)",
    "expand_as": "flex.broadcast_to(x, y.shape)",
    "movedim": "flex.moveaxis(x, source, destination)",
    "numel": "x.size",
    "permute": "flex.permute_dims(x, axes)",
    "repeat_interleave": "flex.repeat(x, repeats, axis)",
    "row_stack": "flex.vstack([x, y])",
    "swapdims": "flex.swapaxes(x, axis1, axis2)",
    "t": "x.T, or flex.matrix_transpose(x)",
    "unbind": "flex.unstack(x, axis)",
    "unsqueeze": "flex.expand_dims(x, axis)",
    # creation and conversion
    "array": "flex.asarray(obj, copy=True)",
    "as_tensor": "flex.asarray(obj)",
    "ascontiguousarray": "x.contiguous()",
    "asanyarray": "flex.asarray(obj)",
    "clone": "x.copy()",
    "data": "x itself, or memoryview(x) for its bytes",
    "copy": "x.copy()",
    "cpu": "x itself: flex has no other device",
    "cuda": "x itself: flex computes on the CPU alone",
    "detach": "x itself: flex records no gradients",
    "double": "flex.float64, or x.astype(flex.float64)",
    "float": "flex.float32, or x.astype(flex.float32)",
    "from_file": "flex.frombuffer(buffer, dtype)",
    "from_numpy": "flex.asarray(array)",
    "fromfile": "flex.frombuffer(buffer, dtype)",
    "fromiter": "flex.asarray(list(iterable))",
    "genfromtxt": "flex.asarray(numpy.genfromtxt(path))",
    "get_device": 'x.device, which is "cpu"',
    "half": "flex.float16, or x.astype(flex.float16)",
    "identity": "flex.eye(n)",
    "int": "flex.int32, or x.astype(flex.int32)",
    "long": "flex.int64, or x.astype(flex.int64)",
    "loadtxt": "flex.io.loadtxt(path)",
    "ndarray": "flex.Tensor",
    "short": "flex.int16, or x.astype(flex.int16)",
    "tensor": "flex.asarray(obj, copy=True)",
    "to": "x.astype(dtype)",
    "tofile": "flex.io.save(path, x), or file.write(x.tobytes())",
    "type": "x.dtype, or x.astype(dtype)",
    "type_as": "x.astype(y.dtype)",
    # indexing and products
    "bmm": "flex.matmul(x1, x2)",
    "gather": "flex.take_along_axis(x, indices, axis)",
    "index_select": "flex.take(x, indices, axis)",
    "mm": "flex.matmul(x1, x2)",
    "mv": "flex.matmul(x1, x2)",
    # dtypes
    "promote_types": "flex.result_type(x1, x2)",
    "bool_": "flex.bool",
    "float_": "flex.float64",
    "int_": "flex.int64",
    "single": "flex.float32",
    # gradients, compilation, random numbers
    "autograd": "flex.nn.grad, which has the gradients of flex.nn: flex records none",
    "backward": "flex.nn.grad, which has the gradients of flex.nn: flex records none",
    "compile": "flex.fuse(f)",
    "inference_mode": "nothing: flex records no gradients",
    "jit": "flex.fuse(f)",
    "no_grad": "nothing: flex records no gradients",
    "requires_grad": "nothing: flex records no gradients",
    "manual_seed": "flex.random.seed(seed), or flex.random.default_rng(seed) for a generator",
    "normal": "flex.random.default_rng(seed).normal(loc, scale, size)",
    "multinomial": "flex.random.default_rng(seed).choice(n, size, p=p)",
    "bernoulli": "flex.random.default_rng(seed).random(size) < p",
    # linear algebra beyond products
    **{name: f"numpy.linalg.{name}, which takes tensors" for name in _LINALG.split()},
    **{name: f"numpy.{name}, which takes tensors" for name in _NUMPY.split()},
    **{name: f"scipy.linalg.{name}, whose arrays flex takes" for name in _MATRICES.split()},
    **{name: f"scipy.special.{name}, which takes tensors" for name in _SPECIAL.split()},
    "cho_factor": "flex.linalg.cholesky(x)",
    "cho_solve": "flex.linalg.cholesky_solve(x1, x2)",
    "inverse": "flex.linalg.inv(x)",
    **{name: f"scipy.signal.{name}, whose arrays flex takes" for name in _SIGNAL.split()},
    # flex.nn
    "init": "flex.random.default_rng(seed), which draws weights",
    "optim": "the step itself, as in weight -= rate * gradient; flex.nn.grad has gradients",
    "functional": "flex.nn, which has the functions of torch.nn.functional",
    "Module": "a class or function of your own: flex.nn has functions, which take weights as arguments",
    "Parameter": "flex.asarray(obj): weights are tensors",
    "Sequential": "a function that calls one after another",
    "attention": "flex.nn.scaled_dot_product_attention(query, key, value)",
    "layer_norm": "flex.nn.layer_norm(x, normalized_shape)",
    "linear": "flex.nn.linear(x, weight)",
    "log_softmax": "flex.nn.log_softmax(x, axis)",
    "softmax": "flex.nn.softmax(x, axis)",
    # flex.fft, flex.signal
    "windows": "flex.signal.hann(n) and its like, or flex.signal.get_window(name, n)",
    "sosfreqz": "flex.signal.freqz_sos(sos)",
    "oaconvolve": "flex.signal.fftconvolve(x1, x2, mode, axes)",
    "hann_window": "flex.signal.hann(n, sym=False)",
    "hanning": "flex.signal.hann(n)",
    "hamming_window": "flex.signal.hamming(n, sym=False)",
    "blackman_window": "flex.signal.blackman(n, sym=False)",
    "kaiser_window": "flex.signal.kaiser(n, beta, sym=False)",
    # files, tests
    "InferenceSession": "flex.onnx.load(path)",
    "testing": "flex.allclose(x1, x2), or numpy.testing, which takes tensors",
    "load": "flex.io.load(path)",
    "save": "flex.io.save(path, tensors)",
    "savetxt": "flex.io.savetxt(path, x)",
    "savez": "flex.io.save(path, tensors)",
    # writes in place
    "add_": "x += y",
    "clamp_": "x[...] = flex.clip(x, min, max)",
    "copy_": "x[...] = y",
    "div_": "x /= y",
    "fill": "x[...] = value",
    "fill_": "x[...] = value",
    "mul_": "x *= y",
    "requires_grad_": "nothing: flex records no gradients",
    "sub_": "x -= y",
    "zero_": "x[...] = 0",
}
# Attributes of a Tensor that one may look for in the module.
OF_TENSOR = frozenset(
    [
        "T",
        "device",
        "dtype",
        "itemsize",
        "mT",
        "nbytes",
        "ndim",
        "numpy",
        "shape",
        "size",
        "tolist",
        "view",
    ]
)

# Keywords of NumPy and torch: flex's names for each; of several, the one that the function has
# applies.
KEYWORDS = {
    "M": ("n_cols",),
    "N": ("n_rows",),
    "a_max": ("max",),
    "a_min": ("min",),
    "axes": ("axis",),
    "axis": ("axes",),
    "constant_values": ("value",),
    "diagonal": ("k",),
    "dim": ("axis", "axes"),
    "dim0": ("axis1",),
    "dim1": ("axis2",),
    "dims": ("axes", "axis", "repetitions"),
    "end": ("stop",),
    "fill": ("fill_value",),
    "index": ("indices",),
    "input": ("x", "x1"),
    "indices_or_sections": ("sizes",),
    "keepdim": ("keepdims",),
    "newshape": ("shape",),
    "nperseg": ("n_fft",),
    "num_samples": ("num",),
    "other": ("x2",),
    "reps": ("repetitions",),
    "sections": ("sizes", "chunks"),
    "shifts": ("shift",),
    "size": ("shape", "size"),
    "split_size": ("sizes",),
    "split_size_or_sections": ("sizes",),
    "src": ("values",),
    "steps": ("num",),
    "unbiased": ("correction",),
}

# Keywords of features that flex lacks, and what to do instead.
ABSENT = {
    "assume_a": "of a positive matrix, flex.linalg.cholesky and cholesky_solve",
    "casting": "convert with astype first",
    "lower": "it is the lower triangle unless upper=True",
    "max_norm": "flex doesn't rescale weights",
    "eigvals_only": "write flex.linalg.eigvalsh(x)",
    "dropout_p": "flex computes without dropout",
    "inplace": "flex's functions return new tensors: assign the result, as in x[...] = ...",
    "initial": "combine the result with that value",
    "kind": "leave it out: there is one algorithm, and sorts are stable",
    "layout": "flex's tensors are strided, all of them",
    "like": "flex's functions give flex's tensors",
    "order": "there is no choice: new tensors are in row-major order, and sorts are stable",
    "out": "assign the result, as in t[...] = ...",
    "padding_idx": "it affects gradients alone, so leave it out",
    "pin_memory": "flex computes on the CPU alone",
    "reduce": 'write reduction="mean", "sum" or "none"',
    "requires_grad": "flex records no gradients",
    "right": 'write side="right"',
    "size_average": 'write reduction="mean" or "sum"',
    "sparse": "flex's gradients are dense",
    "subok": "flex's functions give flex's tensors",
    "where": "choose first, as in sum(flex.where(condition, x, 0)) or nanmean(flex.where(condition, x, flex.nan))",
}

# Parameters that take several integers as one tuple, and the functions that accept several axes.
SEQUENCES = {
    "axes": "the axes are",
    "axis": "several axes are",
    "repetitions": "the repetitions are",
    "shape": "the shape is",
}
SEVERAL_AXES = frozenset(
    [
        "all",
        "any",
        "count_nonzero",
        "expand_dims",
        "flip",
        "logsumexp",
        "max",
        "mean",
        "min",
        "median",
        "nanmax",
        "nanmean",
        "nanmin",
        "nanstd",
        "nansum",
        "nanvar",
        "percentile",
        "prod",
        "ptp",
        "quantile",
        "squeeze",
        "std",
        "sum",
        "var",
    ]
)

# Names of torch.nn.functional, where flex.nn is asked for them
OF_NN = {
    "bilinear": 'flex.einsum("...i,oij,...j->...o", x1, weight, x2) + bias',
    "upsample": "flex.nn.interpolate(x, ...)",
    "upsample_bilinear": "flex.nn.interpolate(x, ..., mode='bilinear', align_corners=True)",
    "upsample_nearest": "flex.nn.interpolate(x, ...)",
    **{
        f"{pool}_pool{n}d_with_indices": f"flex.nn.{pool}_pool{n}d(x, ..., return_indices=True)"
        for pool in ("max", "adaptive_max")
        for n in (1, 2, 3)
    },
}
