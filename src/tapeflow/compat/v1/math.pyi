# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.math import special as special
from tapeflow.ops.array.transposing import invert_permutation as invert_permutation
from tapeflow.ops.indexing.top_k import in_top_k_v1 as in_top_k
from tapeflow.ops.indexing.top_k import top_k as top_k
from tapeflow.ops.math.accumulate import accumulate_n as accumulate_n
from tapeflow.ops.math.accumulate import add_n as add_n
from tapeflow.ops.math.approximate_top_k import approx_max_k as approx_max_k
from tapeflow.ops.math.approximate_top_k import approx_min_k as approx_min_k
from tapeflow.ops.math.argmax import argmax_v1 as argmax
from tapeflow.ops.math.argmax import argmin_v1 as argmin
from tapeflow.ops.math.arithmetic import add as add
from tapeflow.ops.math.arithmetic import maximum as maximum
from tapeflow.ops.math.arithmetic import minimum as minimum
from tapeflow.ops.math.arithmetic import multiply as multiply
from tapeflow.ops.math.arithmetic import pow as pow
from tapeflow.ops.math.arithmetic import scalar_mul as scalar_mul
from tapeflow.ops.math.arithmetic import squared_difference as squared_difference
from tapeflow.ops.math.arithmetic import subtract as subtract
from tapeflow.ops.math.comparison import equal as equal
from tapeflow.ops.math.comparison import greater as greater
from tapeflow.ops.math.comparison import greater_equal as greater_equal
from tapeflow.ops.math.comparison import less as less
from tapeflow.ops.math.comparison import less_equal as less_equal
from tapeflow.ops.math.comparison import not_equal as not_equal
from tapeflow.ops.math.complex_numbers import angle as angle
from tapeflow.ops.math.complex_numbers import imag as imag
from tapeflow.ops.math.complex_numbers import real as real
from tapeflow.ops.math.conjugate import conj as conj
from tapeflow.ops.math.cumulative import cumprod as cumprod
from tapeflow.ops.math.cumulative import cumsum as cumsum
from tapeflow.ops.math.cumulative import cumulative_logsumexp as cumulative_logsumexp
from tapeflow.ops.math.division import divide as divide
from tapeflow.ops.math.division import floordiv as floordiv
from tapeflow.ops.math.division import floormod as floormod
from tapeflow.ops.math.division import floormod as mod
from tapeflow.ops.math.division import truediv as truediv
from tapeflow.ops.math.division_no_nan import divide_no_nan as divide_no_nan
from tapeflow.ops.math.division_no_nan import multiply_no_nan as multiply_no_nan
from tapeflow.ops.math.division_no_nan import reciprocal_no_nan as reciprocal_no_nan
from tapeflow.ops.math.division_no_nan import xdivy as xdivy
from tapeflow.ops.math.division_no_nan import xlog1py as xlog1py
from tapeflow.ops.math.division_no_nan import xlogy as xlogy
from tapeflow.ops.math.elementwise import abs as abs
from tapeflow.ops.math.elementwise import exp as exp
from tapeflow.ops.math.elementwise import expm1 as expm1
from tapeflow.ops.math.elementwise import log as log
from tapeflow.ops.math.elementwise import log1p as log1p
from tapeflow.ops.math.elementwise import negative as negative
from tapeflow.ops.math.elementwise import reciprocal as reciprocal
from tapeflow.ops.math.elementwise import rsqrt as rsqrt
from tapeflow.ops.math.elementwise import sign as sign
from tapeflow.ops.math.elementwise import sqrt as sqrt
from tapeflow.ops.math.elementwise import square as square
from tapeflow.ops.math.float_kinds import is_finite as is_finite
from tapeflow.ops.math.float_kinds import is_inf as is_inf
from tapeflow.ops.math.float_kinds import is_nan as is_nan
from tapeflow.ops.math.logic import logical_and as logical_and
from tapeflow.ops.math.logic import logical_not as logical_not
from tapeflow.ops.math.logic import logical_or as logical_or
from tapeflow.ops.math.logic import logical_xor as logical_xor
from tapeflow.ops.math.monotonic import is_non_decreasing as is_non_decreasing
from tapeflow.ops.math.monotonic import is_strictly_increasing as is_strictly_increasing
from tapeflow.ops.math.reductions import reduce_euclidean_norm as reduce_euclidean_norm
from tapeflow.ops.math.reductions import reduce_std as reduce_std
from tapeflow.ops.math.reductions import reduce_variance as reduce_variance
from tapeflow.ops.math.reductions_v1 import count_nonzero_v1 as count_nonzero
from tapeflow.ops.math.reductions_v1 import reduce_all_v1 as reduce_all
from tapeflow.ops.math.reductions_v1 import reduce_any_v1 as reduce_any
from tapeflow.ops.math.reductions_v1 import reduce_logsumexp_v1 as reduce_logsumexp
from tapeflow.ops.math.reductions_v1 import reduce_max_v1 as reduce_max
from tapeflow.ops.math.reductions_v1 import reduce_mean_v1 as reduce_mean
from tapeflow.ops.math.reductions_v1 import reduce_min_v1 as reduce_min
from tapeflow.ops.math.reductions_v1 import reduce_prod_v1 as reduce_prod
from tapeflow.ops.math.reductions_v1 import reduce_sum_v1 as reduce_sum
from tapeflow.ops.math.rounding import ceil as ceil
from tapeflow.ops.math.rounding import floor as floor
from tapeflow.ops.math.rounding import rint as rint
from tapeflow.ops.math.rounding import round as round
from tapeflow.ops.math.segment_functions import segment_max as segment_max
from tapeflow.ops.math.segment_functions import segment_mean as segment_mean
from tapeflow.ops.math.segment_functions import segment_min as segment_min
from tapeflow.ops.math.segment_functions import segment_prod as segment_prod
from tapeflow.ops.math.segment_functions import segment_sum as segment_sum
from tapeflow.ops.math.segment_functions import unsorted_segment_max as unsorted_segment_max
from tapeflow.ops.math.segment_functions import unsorted_segment_mean as unsorted_segment_mean
from tapeflow.ops.math.segment_functions import unsorted_segment_min as unsorted_segment_min
from tapeflow.ops.math.segment_functions import unsorted_segment_prod as unsorted_segment_prod
from tapeflow.ops.math.segment_functions import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from tapeflow.ops.math.segment_functions import unsorted_segment_sum as unsorted_segment_sum
from tapeflow.ops.math.trigonometric import acos as acos
from tapeflow.ops.math.trigonometric import acosh as acosh
from tapeflow.ops.math.trigonometric import asin as asin
from tapeflow.ops.math.trigonometric import asinh as asinh
from tapeflow.ops.math.trigonometric import atan as atan
from tapeflow.ops.math.trigonometric import atan2 as atan2
from tapeflow.ops.math.trigonometric import atanh as atanh
from tapeflow.ops.math.trigonometric import cos as cos
from tapeflow.ops.math.trigonometric import cosh as cosh
from tapeflow.ops.math.trigonometric import log_sigmoid as log_sigmoid
from tapeflow.ops.math.trigonometric import sigmoid as sigmoid
from tapeflow.ops.math.trigonometric import sin as sin
from tapeflow.ops.math.trigonometric import sinh as sinh
from tapeflow.ops.math.trigonometric import tan as tan
from tapeflow.ops.math.trigonometric import tanh as tanh
from tapeflow.ops.nn.normalization import l2_normalize as l2_normalize
from tapeflow.ops.nn.normalization import zero_fraction as zero_fraction
from tapeflow.ops.nn.softmax import log_softmax_v1 as log_softmax
from tapeflow.ops.nn.softmax import softmax_v1 as softmax
from tapeflow.ops.nn.softplus import softplus as softplus
from tapeflow.ops.nn.softplus import softsign as softsign
from tapeflow.ops.random.sobol import sobol_sample as sobol_sample
from tapeflow.ops.special.bessel import bessel_i0 as bessel_i0
from tapeflow.ops.special.bessel import bessel_i0e as bessel_i0e
from tapeflow.ops.special.bessel import bessel_i1 as bessel_i1
from tapeflow.ops.special.bessel import bessel_i1e as bessel_i1e
from tapeflow.ops.special.functions import digamma as digamma
from tapeflow.ops.special.functions import erf as erf
from tapeflow.ops.special.functions import erfc as erfc
from tapeflow.ops.special.functions import erfcinv as erfcinv
from tapeflow.ops.special.functions import erfinv as erfinv
from tapeflow.ops.special.functions import lgamma as lgamma
from tapeflow.ops.special.functions import ndtri as ndtri
from tapeflow.ops.special.functions import nextafter as nextafter
from tapeflow.ops.special.functions import polygamma as polygamma
from tapeflow.ops.special.functions import polyval as polyval
from tapeflow.ops.special.functions import zeta as zeta
from tapeflow.ops.special.incomplete import betainc as betainc
from tapeflow.ops.special.incomplete import igamma as igamma
from tapeflow.ops.special.incomplete import igammac as igammac
from tapeflow.ops.special.incomplete import lbeta as lbeta
from tapeflow.ops.statistics.bincount import bincount_v1 as bincount
from tapeflow.ops.statistics.confusion import confusion_matrix_v1 as confusion_matrix
__all__ = [
    "abs",
    "accumulate_n",
    "acos",
    "acosh",
    "add",
    "add_n",
    "angle",
    "approx_max_k",
    "approx_min_k",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "betainc",
    "bincount",
    "ceil",
    "confusion_matrix",
    "conj",
    "cos",
    "cosh",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_logsumexp",
    "digamma",
    "divide",
    "divide_no_nan",
    "equal",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "exp",
    "expm1",
    "floor",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "igamma",
    "igammac",
    "imag",
    "in_top_k",
    "invert_permutation",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_non_decreasing",
    "is_strictly_increasing",
    "l2_normalize",
    "lbeta",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log1p",
    "log_sigmoid",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "multiply_no_nan",
    "ndtri",
    "negative",
    "nextafter",
    "not_equal",
    "polygamma",
    "polyval",
    "pow",
    "real",
    "reciprocal",
    "reciprocal_no_nan",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
    "rint",
    "round",
    "rsqrt",
    "scalar_mul",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sobol_sample",
    "softmax",
    "softplus",
    "softsign",
    "special",
    "sqrt",
    "square",
    "squared_difference",
    "subtract",
    "tan",
    "tanh",
    "top_k",
    "truediv",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
    "xdivy",
    "xlog1py",
    "xlogy",
    "zero_fraction",
    "zeta",
]
