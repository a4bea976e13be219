"""Functions of each element, and of pairs of them that broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import constant
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import default_float, floating, promoted, tensor
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape, broadcast_to
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.control.flow import while_loop
from tapeflow.ops.math.arithmetic import add as add_
from tapeflow.ops.math.arithmetic import maximum as maximum_
from tapeflow.ops.math.arithmetic import minimum as minimum_
from tapeflow.ops.math.arithmetic import multiply as multiply_
from tapeflow.ops.math.arithmetic import pow as pow_
from tapeflow.ops.math.arithmetic import subtract as subtract_
from tapeflow.ops.math.bitwise import bitwise_and as bitwise_and_
from tapeflow.ops.math.bitwise import bitwise_or as bitwise_or_
from tapeflow.ops.math.bitwise import bitwise_xor as bitwise_xor_
from tapeflow.ops.math.bitwise import invert
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where as where_
from tapeflow.ops.math.comparison import equal as equal_
from tapeflow.ops.math.comparison import not_equal as not_equal_
from tapeflow.ops.math.conjugate import conj as conj_
from tapeflow.ops.math.division import floordiv, floormod, truediv
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp as exp_
from tapeflow.ops.math.elementwise import expm1 as expm1_
from tapeflow.ops.math.elementwise import log as log_
from tapeflow.ops.math.elementwise import log1p as log1p_
from tapeflow.ops.math.elementwise import negative as negative_
from tapeflow.ops.math.elementwise import reciprocal as reciprocal_
from tapeflow.ops.math.elementwise import sign as sign_
from tapeflow.ops.math.elementwise import sqrt as sqrt_
from tapeflow.ops.math.elementwise import square as square_
from tapeflow.ops.math.float_kinds import is_finite, is_inf, is_nan
from tapeflow.ops.math.logic import logical_and as logical_and_
from tapeflow.ops.math.logic import logical_not as logical_not_
from tapeflow.ops.math.logic import logical_or as logical_or_
from tapeflow.ops.math.logic import logical_xor as logical_xor_
from tapeflow.ops.math.reductions import reduce_any
from tapeflow.ops.math.rounding import ceil as ceil_
from tapeflow.ops.math.rounding import floor as floor_
from tapeflow.ops.math.rounding import round as round_
from tapeflow.ops.math.trigonometric import acos, acosh, asin, asinh, atan, atan2, atanh
from tapeflow.ops.math.trigonometric import cos as cos_
from tapeflow.ops.math.trigonometric import cosh as cosh_
from tapeflow.ops.math.trigonometric import sin as sin_
from tapeflow.ops.math.trigonometric import sinh as sinh_
from tapeflow.ops.math.trigonometric import tan as tan_
from tapeflow.ops.math.trigonometric import tanh as tanh_
from tapeflow.ops.special.functions import nextafter as nextafter_


def unary(name: str, function: Callable[[Any], Any], what: str, *, to_float: bool = False) -> Any:
    """A function of one array; with `to_float` integers are converted first."""

    def apply(x):
        return function(floating(x) if to_float else tensor(x))

    return finished(apply, name, what, "x: an array, or what makes one.")


def binary(
    name: str, function: Callable[[Any, Any], Any], what: str, *, to_float: bool = False
) -> Any:
    """A function of two arrays that are promoted to one dtype."""

    def apply(x1, x2):
        x1, x2 = promoted(x1, x2)
        if to_float:
            x1, x2 = floating(x1), floating(x2)
        return function(x1, x2)

    return finished(apply, name, what, _PAIR)


_PAIR = "x1, x2: arrays, or what makes some, that broadcast; they are promoted to one dtype."


def finished(function: Any, name: str, what: str, args: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nArgs:\n  {args}\n"
    return public(function)


def _of_bools(
    function: Callable[[Any, Any], Any], of_bools: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """A function that means another one where both are booleans."""
    return lambda a, b: (of_bools if a.dtype == dtypes.bool else function)(a, b)


sin = unary("sin", sin_, "The sine.", to_float=True)
cos = unary("cos", cos_, "The cosine.", to_float=True)
tan = unary("tan", tan_, "The tangent.", to_float=True)
arcsin = unary("arcsin", asin, "The inverse of the sine.", to_float=True)
arccos = unary("arccos", acos, "The inverse of the cosine.", to_float=True)
arctan = unary("arctan", atan, "The inverse of the tangent.", to_float=True)
sinh = unary("sinh", sinh_, "The hyperbolic sine.", to_float=True)
cosh = unary("cosh", cosh_, "The hyperbolic cosine.", to_float=True)
tanh = unary("tanh", tanh_, "The hyperbolic tangent.", to_float=True)
arcsinh = unary("arcsinh", asinh, "The inverse of the hyperbolic sine.", to_float=True)
arccosh = unary("arccosh", acosh, "The inverse of the hyperbolic cosine.", to_float=True)
arctanh = unary("arctanh", atanh, "The inverse of the hyperbolic tangent.", to_float=True)
exp = unary("exp", exp_, "e to the power of x.", to_float=True)
exp2 = unary(
    "exp2", lambda x: pow_(constant(2, x.dtype), x), "2 to the power of x.", to_float=True
)
expm1 = unary("expm1", expm1_, "e to the power of x, less 1.", to_float=True)
log = unary("log", log_, "The natural logarithm.", to_float=True)
log1p = unary("log1p", log1p_, "The natural logarithm of 1 + x.", to_float=True)
log2 = unary("log2", lambda x: log_(x) / np.log(2).astype(x.dtype.as_numpy_dtype), "The logarithm to base 2.",
    to_float=True)  # fmt: skip
log10 = unary("log10", lambda x: log_(x) / np.log(10).astype(x.dtype.as_numpy_dtype),
    "The logarithm to base 10.", to_float=True)  # fmt: skip
sqrt = unary("sqrt", sqrt_, "The square root.", to_float=True)
cbrt = unary("cbrt", lambda x: sign_(x) * pow_(abs_(x), constant(1 / 3, x.dtype)), "The cube root.",
    to_float=True)  # fmt: skip
square = unary("square", square_, "x times x.")
reciprocal = unary("reciprocal", reciprocal_, "1 / x.")
negative = unary("negative", negative_, "-x.")
positive = unary("positive", identity, "x.")
abs = unary("abs", abs_, "The absolute value.")
absolute = unary("absolute", abs_, "The absolute value.")
fabs = unary(
    "fabs", abs_, "The absolute value, of integers too in floating point.", to_float=True
)
ceil = unary("ceil", ceil_, "The least integer that is not less.", to_float=True)
floor = unary("floor", floor_, "The largest integer that is not more.", to_float=True)
fix = unary("fix", lambda x: where_(x < 0, ceil_(x), floor_(x)), "The next integer towards zero.",
    to_float=True)  # fmt: skip
conj = unary("conj", conj_, "The complex conjugate.")
conjugate = unary("conjugate", conj_, "The complex conjugate.")
deg2rad = unary("deg2rad", lambda x: x * (np.pi / 180.0), "Degrees in radians.", to_float=True)
rad2deg = unary("rad2deg", lambda x: x * (180.0 / np.pi), "Radians in degrees.", to_float=True)
isfinite = unary(
    "isfinite", is_finite, "Whether x is neither infinite nor NaN.", to_float=True
)
isinf = unary("isinf", is_inf, "Whether x is infinite.", to_float=True)
isnan = unary("isnan", is_nan, "Whether x is NaN.", to_float=True)
isposinf = unary("isposinf", lambda x: equal_(x, constant(np.inf, x.dtype)), "Whether x is +infinity.",
    to_float=True)  # fmt: skip
isneginf = unary("isneginf", lambda x: equal_(x, constant(-np.inf, x.dtype)), "Whether x is -infinity.",
    to_float=True)  # fmt: skip
logical_not = unary(
    "logical_not", lambda x: logical_not_(cast(x, dtypes.bool)), "Whether x is false."
)
bitwise_not = unary("bitwise_not", lambda x: logical_not_(x) if x.dtype == dtypes.bool else invert(x),
    "All bits turned.")  # fmt: skip


def _sinc(x):
    at_zero = equal_(x, 0)
    scaled = where_(at_zero, ones_like(x), x * constant(np.pi, x.dtype))
    return where_(at_zero, ones_like(x), sin_(scaled) / scaled)


sinc = unary("sinc", _sinc, "sin(pi x) / (pi x), and 1 at zero.", to_float=True)


@public
def around(a: TensorLike, decimals: int = 0):
    """Return numbers rounded to decimals, of the same dtype; halves to even.

    Args:
      a: an array, or what makes one.
      decimals: how many digits stay behind the point; negative: zeros before it.
    """
    x = tensor(a)
    dtype = x.dtype
    work = x if dtype.is_floating or dtype.is_complex else cast(x, default_float())
    factor = cast(10.0**decimals, work.dtype)
    return cast(round_(work * factor) / factor, dtype)


@public
def round(a: TensorLike, decimals: int = 0):
    """Return numbers rounded to decimals, as `around`.

    Args:
      a: an array, or what makes one.
      decimals: how many digits stay behind the point; negative: zeros before it.
    """
    return around(a, decimals)


@public
def clip(a: TensorLike, a_min, a_max):
    """Return elements raised and lowered to bounds.

    Args:
      a: an array, or what makes one.
      a_min: the least value, or None; ValueError where both are None.
      a_max: the greatest value, or None.
    """
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    a, a_min, a_max = promoted(a, a_min, a_max)
    return minimum_(maximum_(a, a_min), a_max)


def _whole_division(a, b):
    """Towards minus infinity, also of booleans."""
    if a.dtype == dtypes.bool:
        a, b = cast(a, dtypes.int8), cast(b, dtypes.int8)
    return floordiv(a, b)


def _remainder(a, b):
    if a.dtype == dtypes.bool:
        a, b = cast(a, dtypes.int8), cast(b, dtypes.int8)
    return floormod(a, b)


def _power(a, b):
    if a.dtype == dtypes.bool:
        a, b = cast(a, dtypes.int8), cast(b, dtypes.int8)
    return pow_(a, b)


def _hypot(a, b):
    return sqrt_(square_(a) + square_(b))


def _gcd(a, b):
    a, b = (
        broadcast_to(abs_(a), broadcast_dynamic_shape(shape(a), shape(b))),
        abs_(b),
    )
    b = broadcast_to(b, shape(a))

    def step(x, y):
        zero = equal_(y, 0)
        rest = floormod(x, where_(zero, ones_like(y), y))
        return where_(zero, x, y), where_(zero, y, rest)

    return while_loop(lambda _, y: reduce_any(not_equal_(y, 0)), step, (a, b))[0]


def _lcm(a, b):
    divisor = _gcd(a, b)
    safe = where_(equal_(divisor, 0), ones_like(divisor), divisor)
    return abs_(a) // safe * abs_(b)


def _logaddexp(a, b):
    large = maximum_(a, b)
    difference = abs_(a - b)
    # Of equal infinities the difference is NaN, and the sum is as they are.
    return where_(is_nan(difference), a + b, large + log1p_(exp_(-difference)))


def _logaddexp2(a, b):
    two = np.log(2).astype(a.dtype.as_numpy_dtype)
    return _logaddexp(a * two, b * two) / two


def _heaviside(a, b):
    below, at = cast(a > 0, a.dtype), equal_(a, 0)
    return where_(is_nan(a), a, where_(at, b, below))


add = binary("add", _of_bools(add_, logical_or_), "The sum.")
subtract = binary("subtract", subtract_, "The difference.")
multiply = binary("multiply", _of_bools(multiply_, logical_and_), "The product.")
divide = binary("divide", truediv, "The quotient, in floating point.", to_float=True)
true_divide = binary(
    "true_divide", truediv, "The quotient, in floating point.", to_float=True
)
floor_divide = binary(
    "floor_divide", _whole_division, "The largest integer not above the quotient."
)
mod = binary("mod", _remainder, "The remainder, of the sign of x2.")
remainder = binary("remainder", _remainder, "The remainder, of the sign of x2.")
divmod = binary(
    "divmod", lambda a, b: (_whole_division(a, b), _remainder(a, b)), "Quotient and remainder."
)
power = binary("power", _power, "x1 to the power of x2.")
float_power = binary("float_power",
    lambda a, b: pow_(*(x if x.dtype.is_complex else cast(x, dtypes.float64) for x in (a, b))),
    "x1 to the power of x2, at least in float64.", to_float=True)  # fmt: skip
maximum = binary("maximum", _of_bools(maximum_, logical_or_), "The larger of both.")
minimum = binary("minimum", _of_bools(minimum_, logical_and_), "The smaller of both.")
arctan2 = binary("arctan2", atan2, "The angle of the point (x2, x1).", to_float=True)
hypot = binary("hypot", _hypot, "The root of the sum of the squares.", to_float=True)
gcd = binary("gcd", _gcd, "The greatest common divisor of integers.")
lcm = binary("lcm", _lcm, "The least common multiple of integers.")
logaddexp = binary("logaddexp", _logaddexp, "log(exp(x1) + exp(x2)).", to_float=True)
logaddexp2 = binary("logaddexp2", _logaddexp2, "log2(2**x1 + 2**x2).", to_float=True)
heaviside = binary("heaviside", _heaviside, "0 below zero, 1 above, x2 at zero.", to_float=True)
nextafter = binary(
    "nextafter", nextafter_, "The next number after x1 towards x2.", to_float=True
)
bitwise_and = binary(
    "bitwise_and", _of_bools(bitwise_and_, logical_and_), "The bits that both have."
)
bitwise_or = binary(
    "bitwise_or", _of_bools(bitwise_or_, logical_or_), "The bits that one of both has."
)
bitwise_xor = binary("bitwise_xor", _of_bools(bitwise_xor_, logical_xor_),
    "The bits that exactly one of both has.")  # fmt: skip
