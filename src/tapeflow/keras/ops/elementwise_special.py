"""Less usual functions of each element: signs, NaN-ignoring extremes, divisors, special functions."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import floating, operation, promoted, tensor
from tapeflow.keras.ops.elementwise import logaddexp
from tapeflow.ops.array.bitcast import bitcast as tf_bitcast
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape as tf_broadcast_dynamic_shape
from tapeflow.ops.array.broadcasting import broadcast_to as tf_broadcast_to
from tapeflow.ops.array.construction import ones_like as tf_ones_like
from tapeflow.ops.array.construction import zeros_like as tf_zeros_like
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.control.flow import while_loop as tf_while_loop
from tapeflow.ops.math.arithmetic import maximum as tf_maximum
from tapeflow.ops.math.arithmetic import minimum as tf_minimum
from tapeflow.ops.math.arithmetic import pow as tf_pow
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.comparison import equal as tf_equal
from tapeflow.ops.math.comparison import not_equal as tf_not_equal
from tapeflow.ops.math.complex_numbers import angle as tf_angle
from tapeflow.ops.math.complex_numbers import imag as tf_imag
from tapeflow.ops.math.division import floormod as tf_floormod
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.elementwise import sign as tf_sign
from tapeflow.ops.math.float_kinds import is_inf as tf_is_inf
from tapeflow.ops.math.float_kinds import is_nan as tf_is_nan
from tapeflow.ops.math.logic import logical_and as tf_logical_and
from tapeflow.ops.math.logic import logical_or as tf_logical_or
from tapeflow.ops.math.reductions import reduce_any as tf_reduce_any
from tapeflow.ops.math.trigonometric import sin as tf_sin
from tapeflow.ops.special.bessel import bessel_i0 as tf_bessel_i0
from tapeflow.ops.special.functions import nextafter as tf_nextafter


def _wide_floating(x):
    """`x` in a floating dtype; int64 becomes float64."""
    x = tensor(x)
    return tf_cast(x, "float64") if x.dtype == "int64" else floating(x)


@operation
def angle(x: TensorLike):
    """Return the angles of complex numbers: 0 of positive real numbers, pi of negative ones."""
    return tf_angle(floating(x))


@operation
def cbrt(x: Any):
    """Return the cube root; integers become floats."""
    x = _wide_floating(x)
    return tf_sign(x) * tf_pow(tf_abs(x), tf_cast(1 / 3, x.dtype))


@operation
def fabs(x: TensorLike):
    """Return the absolute value as a float."""
    return tf_abs(floating(x))


@operation
def fmax(x1: TensorLike, x2: TensorLike):
    """Return the greater of two elements; the other one where one is NaN.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    return _ignoring_nan(tf_maximum, *promoted(x1, x2))


@operation
def fmin(x1: TensorLike, x2: TensorLike):
    """Return the lesser of two elements; the other one where one is NaN.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    return _ignoring_nan(tf_minimum, *promoted(x1, x2))


def _ignoring_nan(choose, x1: Tensor, x2: Tensor):
    chosen = choose(x1, x2)
    if not x1.dtype.is_floating:
        return chosen
    return tf_where(tf_is_nan(x1), x2, tf_where(tf_is_nan(x2), x1, chosen))


@operation
def fmod(x1: Any, x2: TensorLike):
    """Return the remainder of x1 / x2, of the sign of x1.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = promoted(tensor(x1), tensor(x2))
    dtype = "int32" if x1.dtype.is_bool else x1.dtype
    if x1.dtype.is_bool or x1.dtype.is_unsigned:
        x1, x2 = tf_cast(x1, "int32"), tf_cast(x2, "int32")
    return tf_cast(tf_sign(x1) * tf_floormod(tf_abs(x1), tf_abs(x2)), dtype)


@operation
def gcd(x1: TensorLike, x2: TensorLike):
    """Return the greatest common divisor of integers.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = _magnitudes("gcd", x1, x2)
    shape = tf_broadcast_dynamic_shape(tf_shape(x1), tf_shape(x2))
    x1, x2 = tf_broadcast_to(x1, shape), tf_broadcast_to(x2, shape)

    def step(a: Tensor, b: Tensor):
        done = tf_equal(b, 0)
        rest = tf_floormod(a, tf_where(done, tf_ones_like(b), b))
        return tf_where(done, a, b), tf_where(done, b, rest)

    return tf_while_loop(lambda a, b: tf_reduce_any(tf_not_equal(b, 0)), step, (x1, x2))[0]


@operation
def lcm(x1: TensorLike, x2: TensorLike):
    """Return the least common multiple of integers.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = _magnitudes("lcm", x1, x2)
    divisor = gcd(x1, x2)
    safe = tf_where(tf_equal(divisor, 0), tf_ones_like(divisor), divisor)
    return x1 * (x2 // safe)


def _magnitudes(name: str, x1, x2):
    x1, x2 = promoted(tensor(x1), tensor(x2))
    if not x1.dtype.is_integer:
        raise TypeError(f"Arguments to {name} must be integers. Received: {x1.dtype.name}")
    return (x1, x2) if x1.dtype.is_unsigned else (tf_abs(x1), tf_abs(x2))


@operation
def heaviside(x1: Any, x2: Any):
    """Return 0 where x1 is negative, x2 where it is 0, and 1 where it is positive.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = (_wide_floating(x) for x in promoted(tensor(x1), tensor(x2)))
    return tf_where(x1 < 0, tf_zeros_like(x1), tf_where(x1 > 0, tf_ones_like(x1), x2))


@operation
def i0(x: TensorLike):
    """Return the modified Bessel function of the first kind of order 0."""
    return tf_bessel_i0(_wide_floating(x))


@operation
def isneginf(x: Any):
    """Return whether elements are negative infinity."""
    x = floating(x)
    return tf_logical_and(tf_is_inf(x), x < 0)


@operation
def isposinf(x: Any):
    """Return whether elements are positive infinity."""
    x = floating(x)
    return tf_logical_and(tf_is_inf(x), x > 0)


@operation
def isreal(x: Any):
    """Return whether the imaginary part of elements is 0."""
    x = tensor(x)
    return tf_equal(tf_imag(x), 0) if x.dtype.is_complex else tf_ones_like(x, dtype="bool")


@operation
def ldexp(x1: Any, x2: Any):
    """Return x1 * 2 ** x2, for integers x2.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = tensor(x1), tensor(x2)
    if not x2.dtype.is_integer:
        raise TypeError(f"ldexp exponent must be an integer type. Received: x2 dtype={x2.dtype.name}")
    x1, x2 = promoted(x1, x2, more=(float,))
    scaled = x1 * tf_pow(tf_cast(2.0, x1.dtype), x2)
    return tf_where(tf_logical_or(tf_is_inf(x1), tf_equal(x1, 0)), x1, scaled)


@operation
def logaddexp2(x1: Any, x2: Any):
    """Return log2(2 ** x1 + 2 ** x2).

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = promoted(tensor(x1), tensor(x2), more=(float,))
    return logaddexp(x1 * math.log(2), x2 * math.log(2)) / math.log(2)


@operation
def nextafter(x1: Any, x2: Any):
    """Return the next number of float64 after x1 towards x2, in the dtype that both promote to.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
    """
    x1, x2 = promoted(tensor(x1), tensor(x2), more=(float,))
    return tf_cast(tf_nextafter(tf_cast(x1, "float64"), tf_cast(x2, "float64")), x1.dtype)


@operation
def signbit(x: Any):
    """Return whether the sign bit is set, as it is of -0.0."""
    x = tensor(x)
    if x.dtype.is_bool:
        return tf_zeros_like(x)
    if x.dtype.is_floating:
        x = tf_bitcast(tf_cast(x, "float32"), "int32")
    return x < tf_cast(0, x.dtype)


@operation
def sinc(x: Any):
    """Return sin(pi x) / (pi x), and 1 at 0."""
    x = floating(x)
    scaled = x * tf_cast(math.pi, x.dtype)
    zero = tf_equal(x, 0)
    return tf_where(zero, tf_ones_like(x), tf_sin(scaled) / tf_where(zero, tf_ones_like(x), scaled))


@operation
def select(condlist, choicelist, default: int = 0):
    """Return elements of the first of `choicelist` whose condition holds, `default` where none does.

    Args:
      condlist: a list of bool tensors, of which the first that is true counts.
      choicelist: a list of tensors, one for each condition.
      default: what counts where no condition is true.
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"condlist and choicelist must be of the same length. Received: {len(condlist)} and {len(choicelist)}"
        )
    *choices, result = promoted(*choicelist, default)
    for condition, choice in zip(reversed(list(condlist)), reversed(choices)):
        result = tf_where(tensor(condition, "bool"), choice, result)
    return result


__all__ = public_names(globals())
