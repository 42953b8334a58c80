# Written by scripts/make_stubs.py.

from flex import fft as fft
from flex import io as io
from flex import linalg as linalg
from flex import models as models
from flex import nn as nn
from flex import onnx as onnx
from flex import quant as quant
from flex import random as random
from flex import signal as signal
from flex._flex import *
from flex._functions.building import block_diag as block_diag
from flex._functions.building import diagflat as diagflat
from flex._functions.building import diagonal as diagonal
from flex._functions.building import flatten as flatten
from flex._functions.building import geomspace as geomspace
from flex._functions.building import indices as indices
from flex._functions.building import logspace as logspace
from flex._functions.building import ravel_multi_index as ravel_multi_index
from flex._functions.building import sliding_window_view as sliding_window_view
from flex._functions.building import trace as trace
from flex._functions.building import tri as tri
from flex._functions.building import tril_indices as tril_indices
from flex._functions.building import triu_indices as triu_indices
from flex._functions.building import unravel_index as unravel_index
from flex._functions.building import vander as vander
from flex._functions.calculus import convolve as convolve
from flex._functions.calculus import correlate as correlate
from flex._functions.calculus import cumulative_trapezoid as cumulative_trapezoid
from flex._functions.calculus import ediff1d as ediff1d
from flex._functions.calculus import gradient as gradient
from flex._functions.calculus import interp as interp
from flex._functions.calculus import trapezoid as trapezoid
from flex._functions.calculus import unwrap as unwrap
from flex._functions.counting import bucketize as bucketize
from flex._functions.counting import digitize as digitize
from flex._functions.counting import histogram as histogram
from flex._functions.counting import histogram2d as histogram2d
from flex._functions.counting import histogram_bin_edges as histogram_bin_edges
from flex._functions.counting import histogramdd as histogramdd
from flex._functions.elementwise import bitwise_count as bitwise_count
from flex._functions.elementwise import cbrt as cbrt
from flex._functions.elementwise import deg2rad as deg2rad
from flex._functions.elementwise import divmod as divmod
from flex._functions.elementwise import expit as expit
from flex._functions.elementwise import float_power as float_power
from flex._functions.elementwise import fmax as fmax
from flex._functions.elementwise import fmin as fmin
from flex._functions.elementwise import frexp as frexp
from flex._functions.elementwise import gcd as gcd
from flex._functions.elementwise import heaviside as heaviside
from flex._functions.elementwise import isneginf as isneginf
from flex._functions.elementwise import isposinf as isposinf
from flex._functions.elementwise import lcm as lcm
from flex._functions.elementwise import ldexp as ldexp
from flex._functions.elementwise import lerp as lerp
from flex._functions.elementwise import logit as logit
from flex._functions.elementwise import modf as modf
from flex._functions.elementwise import rad2deg as rad2deg
from flex._functions.elementwise import sinc as sinc
from flex._functions.elementwise import xlog1py as xlog1py
from flex._functions.elementwise import xlogy as xlogy
from flex._functions.grids import mgrid as mgrid
from flex._functions.grids import ogrid as ogrid
from flex._functions.ordering import argpartition as argpartition
from flex._functions.ordering import intersect1d as intersect1d
from flex._functions.ordering import kthvalue as kthvalue
from flex._functions.ordering import lexsort as lexsort
from flex._functions.ordering import mode as mode
from flex._functions.ordering import setdiff1d as setdiff1d
from flex._functions.ordering import setxor1d as setxor1d
from flex._functions.ordering import union1d as union1d
from flex._functions.ordering import unique as unique
from flex._functions.padding import pad as pad
from flex._functions.polynomials import angle as angle
from flex._functions.polynomials import polyfit as polyfit
from flex._functions.polynomials import polyval as polyval
from flex._functions.polynomials import roots as roots
from flex._functions.printing import printoptions as printoptions
from flex._functions.selecting import choose as choose
from flex._functions.selecting import compress as compress
from flex._functions.selecting import extract as extract
from flex._functions.selecting import index_fill as index_fill
from flex._functions.selecting import masked_scatter as masked_scatter
from flex._functions.selecting import piecewise as piecewise
from flex._functions.selecting import scatter_reduce as scatter_reduce
from flex._functions.selecting import select as select
from flex._functions.special import betaln as betaln
from flex._functions.special import erfcinv as erfcinv
from flex._functions.special import ndtr as ndtr
from flex._functions.special import ndtri as ndtri
from flex._functions.special import polygamma as polygamma
from flex._functions.special import zeta as zeta
from flex._functions.statistics import aminmax as aminmax
from flex._functions.statistics import average as average
from flex._functions.statistics import corrcoef as corrcoef
from flex._functions.statistics import cov as cov
from flex._functions.statistics import nanargmax as nanargmax
from flex._functions.statistics import nanargmin as nanargmin
from flex._functions.statistics import nanprod as nanprod
from flex._functions.statistics import renorm as renorm
from flex._functions.statistics import std_mean as std_mean
from flex._functions.statistics import var_mean as var_mean
from flex._functions.writing import fill_diagonal as fill_diagonal
from flex._functions.writing import place as place
from flex._functions.writing import put as put
from flex._functions.writing import put_along_axis as put_along_axis
from flex._reduce import reduce as reduce

__all__ = [
    "ShapeError",
    "ChainedAssignmentWarning",
    "DTypeError",
    "AxisError",
    "SubscriptError",
    "RangeError",
    "DivisionByZeroError",
    "DType",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "e",
    "inf",
    "nan",
    "newaxis",
    "pi",
    "__array_api_version__",
    "__version__",
    "threads",
    "default_dtype",
    "Stream",
    "Tensor",
    "__array_namespace_info__",
    "_rebuild",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "array_equal",
    "array_split",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "bincount",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "ceil",
    "chunk",
    "clip",
    "column_stack",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cross",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
    "diag",
    "diff",
    "digamma",
    "divide",
    "dot",
    "dstack",
    "einsum",
    "einsum_path",
    "empty",
    "empty_cache",
    "empty_like",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expand_dims",
    "explain",
    "expm1",
    "eye",
    "finfo",
    "flip",
    "fliplr",
    "flipud",
    "floor",
    "floor_divide",
    "fmod",
    "from_dlpack",
    "frombuffer",
    "full",
    "full_like",
    "fuse",
    "gelu",
    "gelu_tanh",
    "get_default_dtype",
    "get_num_threads",
    "get_printoptions",
    "greater",
    "greater_equal",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iinfo",
    "imag",
    "index_add",
    "inner",
    "isclose",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "kron",
    "less",
    "less_equal",
    "lgamma",
    "linspace",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "masked_fill",
    "masked_select",
    "matmul",
    "matrix_transpose",
    "max",
    "max_with_indices",
    "maximum",
    "mean",
    "median",
    "memory_stats",
    "meshgrid",
    "min",
    "min_with_indices",
    "minimum",
    "moveaxis",
    "multiply",
    "nan_to_num",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "negative",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "partition",
    "percentile",
    "permute_dims",
    "positive",
    "pow",
    "prod",
    "ptp",
    "quantile",
    "ravel",
    "real",
    "reciprocal",
    "relu",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "rot90",
    "round",
    "rsqrt",
    "scatter",
    "scatter_add",
    "searchsorted",
    "set_default_dtype",
    "set_num_threads",
    "set_printoptions",
    "set_weight_packing",
    "show_config",
    "sigmoid",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinh",
    "sort",
    "sort_with_indices",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stream",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "topk",
    "transpose",
    "tril",
    "triu",
    "trunc",
    "unfold",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vdot",
    "vecdot",
    "vsplit",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
    "block_diag",
    "diagflat",
    "diagonal",
    "flatten",
    "geomspace",
    "indices",
    "logspace",
    "ravel_multi_index",
    "sliding_window_view",
    "trace",
    "tri",
    "tril_indices",
    "triu_indices",
    "unravel_index",
    "vander",
    "convolve",
    "correlate",
    "cumulative_trapezoid",
    "ediff1d",
    "gradient",
    "interp",
    "trapezoid",
    "unwrap",
    "bucketize",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "bitwise_count",
    "cbrt",
    "deg2rad",
    "divmod",
    "expit",
    "float_power",
    "fmax",
    "fmin",
    "frexp",
    "gcd",
    "heaviside",
    "isneginf",
    "isposinf",
    "lcm",
    "ldexp",
    "lerp",
    "logit",
    "modf",
    "rad2deg",
    "sinc",
    "xlog1py",
    "xlogy",
    "mgrid",
    "ogrid",
    "argpartition",
    "intersect1d",
    "kthvalue",
    "lexsort",
    "mode",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "angle",
    "polyfit",
    "polyval",
    "roots",
    "printoptions",
    "choose",
    "compress",
    "extract",
    "index_fill",
    "masked_scatter",
    "piecewise",
    "scatter_reduce",
    "select",
    "betaln",
    "erfcinv",
    "ndtr",
    "ndtri",
    "polygamma",
    "zeta",
    "aminmax",
    "average",
    "corrcoef",
    "cov",
    "nanargmax",
    "nanargmin",
    "nanprod",
    "renorm",
    "std_mean",
    "var_mean",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "fft",
    "io",
    "linalg",
    "models",
    "nn",
    "onnx",
    "quant",
    "random",
    "reduce",
    "signal",
]
