"""Functions of each element of one tensor or two."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras import settings
from tapeflow.keras.ops.conversion import floating, floats, operation, promoted, static_rank, tensor
from tapeflow.ops.array.construction import zeros_like as tf_zeros_like
from tapeflow.ops.array.stacking import unstack as tf_unstack
from tapeflow.ops.math.arithmetic import add as tf_add
from tapeflow.ops.math.arithmetic import maximum as tf_maximum
from tapeflow.ops.math.arithmetic import minimum as tf_minimum
from tapeflow.ops.math.arithmetic import multiply as tf_multiply
from tapeflow.ops.math.arithmetic import pow as tf_pow
from tapeflow.ops.math.arithmetic import subtract as tf_subtract
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.clip import clip_by_value as tf_clip_by_value
from tapeflow.ops.math.comparison import equal as tf_equal
from tapeflow.ops.math.comparison import greater as tf_greater
from tapeflow.ops.math.comparison import greater_equal as tf_greater_equal
from tapeflow.ops.math.comparison import less as tf_less
from tapeflow.ops.math.comparison import less_equal as tf_less_equal
from tapeflow.ops.math.comparison import not_equal as tf_not_equal
from tapeflow.ops.math.complex_numbers import imag as tf_imag
from tapeflow.ops.math.complex_numbers import real as tf_real
from tapeflow.ops.math.conjugate import conj as tf_conj
from tapeflow.ops.math.division import divide as tf_divide
from tapeflow.ops.math.division import floordiv as tf_floordiv
from tapeflow.ops.math.division import floormod as tf_floormod
from tapeflow.ops.math.division_no_nan import divide_no_nan as tf_divide_no_nan
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.elementwise import exp as tf_exp
from tapeflow.ops.math.elementwise import expm1 as tf_expm1
from tapeflow.ops.math.elementwise import log as tf_log
from tapeflow.ops.math.elementwise import log1p as tf_log1p
from tapeflow.ops.math.elementwise import negative as tf_negative
from tapeflow.ops.math.elementwise import rsqrt as tf_rsqrt
from tapeflow.ops.math.elementwise import sign as tf_sign
from tapeflow.ops.math.elementwise import sqrt as tf_sqrt
from tapeflow.ops.math.elementwise import square as tf_square
from tapeflow.ops.math.float_kinds import is_inf as tf_is_inf
from tapeflow.ops.math.float_kinds import is_nan as tf_is_nan
from tapeflow.ops.math.logic import logical_and as tf_logical_and
from tapeflow.ops.math.rounding import ceil as tf_ceil
from tapeflow.ops.math.rounding import floor as tf_floor
from tapeflow.ops.math.rounding import round as tf_round
from tapeflow.ops.math.trigonometric import acos as tf_acos
from tapeflow.ops.math.trigonometric import acosh as tf_acosh
from tapeflow.ops.math.trigonometric import asin as tf_asin
from tapeflow.ops.math.trigonometric import asinh as tf_asinh
from tapeflow.ops.math.trigonometric import atan as tf_atan
from tapeflow.ops.math.trigonometric import atan2 as tf_atan2
from tapeflow.ops.math.trigonometric import atanh as tf_atanh
from tapeflow.ops.math.trigonometric import cos as tf_cos
from tapeflow.ops.math.trigonometric import cosh as tf_cosh
from tapeflow.ops.math.trigonometric import sin as tf_sin
from tapeflow.ops.math.trigonometric import sinh as tf_sinh
from tapeflow.ops.math.trigonometric import tan as tf_tan
from tapeflow.ops.math.trigonometric import tanh as tf_tanh
from tapeflow.ops.special.functions import erf as tf_erf
from tapeflow.ops.special.functions import erfc as tf_erfc
from tapeflow.ops.special.functions import erfinv as tf_erfinv


def _named(function: Callable[..., Any], name: str, text: str):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return operation(function)


def _of_floats(name: str, function: Callable[..., Any], text: str):
    return _named(lambda x: function(floating(x)), name, f"{text}; integers become floats.")


def _of_two_floats(name: str, function: Callable[..., Any], text: str, strong: bool = False):
    """A function of two; with `strong`, the type of a Python number counts as much as that of a tensor."""
    convert = tensor if strong else (lambda x: x)
    return _named(
        lambda x1, x2: function(*floats(convert(x1), convert(x2))), name, f"{text}; integers become floats."
    )


def _of_two(name: str, function: Callable[..., Any], text: str):
    return _named(lambda x1, x2: function(*promoted(x1, x2)), name, f"{text}, in the dtype that both promote to.")


def _precise(x: Tensor):
    """`x` as a tensor; of float64 where it is of int64."""
    x = tensor(x)
    return tf_cast(x, "float64") if x.dtype == "int64" else x


def _of_angles(name: str, factor: float, text: str):
    return _named(lambda x: floating(_precise(x)) * factor, name, f"{text}; integers become floats.")


arccos = _of_floats("arccos", tf_acos, "Return the angle whose cosine is x")
arccosh = _of_floats("arccosh", tf_acosh, "Return the inverse hyperbolic cosine")
arcsin = _of_floats("arcsin", tf_asin, "Return the angle whose sine is x")
arcsinh = _of_floats("arcsinh", tf_asinh, "Return the inverse hyperbolic sine")
arctan = _of_floats("arctan", tf_atan, "Return the angle whose tangent is x")
arctanh = _of_floats("arctanh", tf_atanh, "Return the inverse hyperbolic tangent")
ceil = _of_floats("ceil", tf_ceil, "Return the least whole number from x up")
cos = _of_floats("cos", tf_cos, "Return the cosine")
cosh = _of_floats("cosh", tf_cosh, "Return the hyperbolic cosine")
erf = _of_floats("erf", tf_erf, "Return the error function")
erfc = _of_floats("erfc", tf_erfc, "Return 1 - erf(x)")
erfinv = _of_floats("erfinv", tf_erfinv, "Return the inverse of the error function")
exp = _of_floats("exp", tf_exp, "Return e to the power of x")
exp2 = _of_floats("exp2", lambda x: tf_exp(x * math.log(2)), "Return 2 to the power of x")
expm1 = _of_floats("expm1", tf_expm1, "Return exp(x) - 1")
floor = _of_floats("floor", tf_floor, "Return the greatest whole number up to x")
log = _of_floats("log", tf_log, "Return the natural logarithm")
log10 = _of_floats("log10", lambda x: tf_log(x) / math.log(10), "Return the logarithm to base 10")
log1p = _of_floats("log1p", tf_log1p, "Return log(1 + x)")
log2 = _of_floats("log2", lambda x: tf_log(x) / math.log(2), "Return the logarithm to base 2")
rsqrt = _of_floats("rsqrt", tf_rsqrt, "Return 1 / sqrt(x)")
sin = _of_floats("sin", tf_sin, "Return the sine")
sinh = _of_floats("sinh", tf_sinh, "Return the hyperbolic sine")
sqrt = _of_floats("sqrt", tf_sqrt, "Return the square root")
tan = _of_floats("tan", tf_tan, "Return the tangent")
tanh = _of_floats("tanh", tf_tanh, "Return the hyperbolic tangent")
deg2rad = _of_angles("deg2rad", math.pi / 180, "Return angles given in degrees, in radians")
rad2deg = _of_angles("rad2deg", 180 / math.pi, "Return angles given in radians, in degrees")

arctan2 = _of_two_floats("arctan2", tf_atan2, "Return the angle of the points (x2, x1)", True)
divide = _of_two_floats("divide", tf_divide, "Return x1 / x2")
true_divide = _of_two_floats("true_divide", tf_divide, "Return x1 / x2")
divide_no_nan = _of_two_floats("divide_no_nan", tf_divide_no_nan, "Return x1 / x2, and 0 where x2 is 0")

maximum = _of_two("maximum", tf_maximum, "Return the greater of two elements")
minimum = _of_two("minimum", tf_minimum, "Return the lesser of two elements")
multiply = _of_two("multiply", tf_multiply, "Return x1 * x2")
subtract = _of_two("subtract", tf_subtract, "Return x1 - x2")
add = _of_two("add", tf_add, "Return x1 + x2")
equal = _of_two("equal", tf_equal, "Return whether x1 == x2")
not_equal = _of_two("not_equal", tf_not_equal, "Return whether x1 != x2")
greater = _of_two("greater", tf_greater, "Return whether x1 > x2")
greater_equal = _of_two("greater_equal", tf_greater_equal, "Return whether x1 >= x2")
less = _of_two("less", tf_less, "Return whether x1 < x2")
less_equal = _of_two("less_equal", tf_less_equal, "Return whether x1 <= x2")


@operation
def floor_divide(x1: TensorLike, x2: TensorLike):
    """Return the greatest whole number up to x1 / x2.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    return tf_floordiv(*_numbers(*promoted(x1, x2)))


@operation
def mod(x1: TensorLike, x2: TensorLike):
    """Return the remainder of x1 / x2, of the sign of x2.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    return tf_floormod(*_numbers(*promoted(tensor(x1), tensor(x2))))


def _numbers(x1: Tensor, x2: Tensor):
    return (tf_cast(x1, "int32"), tf_cast(x2, "int32")) if x1.dtype.is_bool else (x1, x2)


@operation
def absolute(x: Any):
    """Return the absolute value."""
    x = tensor(x)
    return x if x.dtype.is_bool or x.dtype.is_unsigned else tf_abs(x)


abs = absolute


@operation
def negative(x: TensorLike):
    """Return -x."""
    return tf_negative(tensor(x))


@operation
def sign(x: Any):
    """Return -1, 0 or 1, by the sign."""
    x = tensor(x)
    return tf_cast(tf_not_equal(x, 0), x.dtype) if x.dtype.is_unsigned else tf_sign(x)


@operation
def power(x1: Any, x2: Any):
    """Return x1 to the power of x2, in the dtype that both promote to.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: the power, a tensor.
    """
    x1, x2 = promoted(x1, x2)
    if x1.dtype.is_unsigned:
        return tf_cast(tf_pow(tf_cast(x1, "int64"), tf_cast(x2, "int64")), x1.dtype)
    return tf_pow(x1, x2)


@operation
def square(x: Any):
    """Return x * x."""
    x = tensor(x)
    return tf_square(tf_cast(x, "int32") if x.dtype.is_bool else x)


@operation
def reciprocal(x: TensorLike):
    """Return 1 / x."""
    return 1 / floating(x)


@operation
def clip(x: Any, x_min, x_max):
    """Return x, no less than `x_min` and no more than `x_max`.

    Args:
      x: a tensor, or what can be converted to one.
      x_min: the lower limit.
      x_max: the upper limit.
    """
    x = tensor(x)
    x = tf_cast(x, "int32") if x.dtype.is_bool else x
    return tf_clip_by_value(x, tf_cast(x_min, x.dtype), tf_cast(x_max, x.dtype))


@operation
def round(x: Any, decimals: int = 0):
    """Return x rounded to so many decimals, halves to the even neighbor.

    Args:
      x: a tensor, or what can be converted to one.
      decimals: how many digits after the point are kept.
    """
    x = tensor(x)
    x = tf_cast(x, "int32") if x.dtype.is_bool else x
    if not decimals:
        return tf_round(x)
    factor = 10.0**decimals
    floats = x if x.dtype.is_floating else tf_cast(x, settings.floatx())
    return tf_cast(tf_round(floats * factor) / factor, x.dtype)


@operation
def trunc(x: Any):
    """Return x without its fraction."""
    x = tensor(x)
    return tf_where(x < 0, tf_ceil(x), tf_floor(x)) if x.dtype.is_floating else x


@operation
def logaddexp(x1: Any, x2: Any):
    """Return log(exp(x1) + exp(x2)).

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = floats(tensor(x1), tensor(x2))
    difference = x1 - x2
    rest = tf_log1p(tf_exp(-tf_abs(difference)))
    return tf_where(tf_is_nan(difference), x1 + x2, tf_maximum(x1, x2) + rest)


@operation
def hypot(x1: TensorLike, x2: TensorLike):
    """Return sqrt(x1 ** 2 + x2 ** 2).

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = (tf_abs(floating(_precise(x))) for x in promoted(tensor(x1), tensor(x2)))
    small, large = tf_minimum(x1, x2), tf_maximum(x1, x2)
    return large * tf_sqrt(1 + tf_square(tf_divide_no_nan(small, large)))


@operation
def where(condition: TensorLike, x1: TensorLike | None = None, x2: TensorLike | None = None):
    """Return elements of `x1` where `condition` holds, of `x2` elsewhere; without them the indices where it holds.

    Args:
      condition: a bool tensor.
      x1: what counts where the condition holds.
      x2: what counts elsewhere; it broadcasts against `x1`.
    """
    condition = tensor(condition, "bool")
    if x1 is None and x2 is None:
        return tuple(tf_unstack(tf_cast(tf_where(condition), "int32"), static_rank(condition), axis=-1))
    if x1 is None or x2 is None:
        raise ValueError("`x1` and `x2` either both should be `None` or both should have non-None value.")
    return tf_where(condition, *promoted(x1, x2))


@operation
def nan_to_num(x: Any, nan: float = 0.0, posinf=None, neginf=None):
    """Return x with `nan` in place of NaN, and the greatest and least numbers in place of infinities.

    Args:
      x: a tensor, or what can be converted to one.
      nan: what NaN becomes.
      posinf: what infinity becomes; None for the largest number.
      neginf: what minus infinity becomes; None for the smallest number.
    """
    x = tensor(x)
    if not x.dtype.is_floating:
        return x
    greatest = x.dtype.max if posinf is None else posinf
    least = x.dtype.min if neginf is None else neginf
    x = tf_where(tf_is_nan(x), tf_cast(nan, x.dtype), x)
    infinite = tf_is_inf(x)
    x = tf_where(tf_logical_and(infinite, x > 0), tf_cast(greatest, x.dtype), x)
    return tf_where(tf_logical_and(infinite, x < 0), tf_cast(least, x.dtype), x)


@operation
def real(x: Any):
    """Return the real part."""
    x = tensor(x)
    return tf_real(x) if x.dtype.is_complex else x


@operation
def imag(x: Any):
    """Return the imaginary part."""
    x = tensor(x)
    return tf_imag(x) if x.dtype.is_complex else tf_zeros_like(x)


@operation
def conjugate(x: Any):
    """Return the complex conjugate."""
    x = tensor(x)
    return tf_conj(x) if x.dtype.is_complex else x


conj = conjugate


__all__ = public_names(globals())
