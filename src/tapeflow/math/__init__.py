"""tf.math: functions of numbers, reductions, comparisons, segments."""

from tapeflow.math import special
from tapeflow.ops.array.layout import invert_permutation
from tapeflow.ops.array.selection import in_top_k, top_k
from tapeflow.ops.math.accumulate import accumulate_n, add_n
from tapeflow.ops.math.approximate_top_k import approx_max_k, approx_min_k
from tapeflow.ops.math.argmax import argmax, argmin
from tapeflow.ops.math.arithmetic import (
    add,
    divide,
    floordiv,
    floormod,
    maximum,
    minimum,
    multiply,
    pow,
    scalar_mul,
    squared_difference,
    subtract,
    truediv,
)
from tapeflow.ops.math.arithmetic import floormod as mod
from tapeflow.ops.math.bessel import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e
from tapeflow.ops.math.comparison import (
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    is_non_decreasing,
    is_strictly_increasing,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from tapeflow.ops.math.complex_numbers import angle, imag, real
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.cumulative import cumprod, cumsum, cumulative_logsumexp
from tapeflow.ops.math.division_no_nan import (
    divide_no_nan,
    multiply_no_nan,
    reciprocal_no_nan,
    xdivy,
    xlog1py,
    xlogy,
)
from tapeflow.ops.math.elementwise import (
    abs,
    ceil,
    exp,
    expm1,
    floor,
    log,
    log1p,
    negative,
    reciprocal,
    rint,
    round,
    rsqrt,
    sign,
    sqrt,
    square,
)
from tapeflow.ops.math.histogram import bincount, confusion_matrix
from tapeflow.ops.math.reduction import (
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_euclidean_norm,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
)
from tapeflow.ops.math.segment import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from tapeflow.ops.math.special import (
    betainc,
    digamma,
    erf,
    erfc,
    erfcinv,
    erfinv,
    igamma,
    igammac,
    lbeta,
    lgamma,
    ndtri,
    nextafter,
    polygamma,
    polyval,
    zeta,
)
from tapeflow.ops.math.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    log_sigmoid,
    sigmoid,
    sin,
    sinh,
    tan,
    tanh,
)
from tapeflow.ops.nn.activation import softplus, softsign
from tapeflow.ops.nn.normalization import l2_normalize, zero_fraction
from tapeflow.ops.nn.softmax import log_softmax, softmax
from tapeflow.ops.random.sobol import sobol_sample

__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "approx_max_k", "approx_min_k", "argmax",
    "argmin", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e",
    "betainc", "bincount", "ceil", "confusion_matrix", "conj", "cos", "cosh", "count_nonzero", "cumprod",
    "cumsum", "cumulative_logsumexp", "digamma", "divide", "divide_no_nan", "equal", "erf", "erfc", "erfcinv",
    "erfinv", "exp", "expm1", "floor", "floordiv", "floormod", "greater", "greater_equal", "igamma", "igammac",
    "imag", "in_top_k", "invert_permutation", "is_finite", "is_inf", "is_nan", "is_non_decreasing",
    "is_strictly_increasing", "l2_normalize", "lbeta", "less", "less_equal", "lgamma", "log", "log1p",
    "log_sigmoid", "log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum",
    "minimum", "mod", "multiply", "multiply_no_nan", "ndtri", "negative", "nextafter", "not_equal", "polygamma",
    "polyval", "pow", "real", "reciprocal", "reciprocal_no_nan", "reduce_all", "reduce_any",
    "reduce_euclidean_norm", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_std", "reduce_sum", "reduce_variance", "rint", "round", "rsqrt", "scalar_mul", "segment_max",
    "segment_mean", "segment_min", "segment_prod", "segment_sum", "sigmoid", "sign", "sin", "sinh",
    "sobol_sample", "softmax", "softplus", "softsign", "special", "sqrt", "square", "squared_difference",
    "subtract", "tan", "tanh", "top_k", "truediv", "unsorted_segment_max", "unsorted_segment_mean",
    "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum", "xdivy",
    "xlog1py", "xlogy", "zero_fraction", "zeta",
]  # fmt: skip
