"""`keras.ops`: functions of booleans and of the bits of integers, and which floats are finite or close."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import floating, floats, operation, promoted, tensor
from tapeflow.keras.ops.elementwise import _named
from tapeflow.ops.math.bitwise import bitwise_and as tf_bitwise_and
from tapeflow.ops.math.bitwise import bitwise_or as tf_bitwise_or
from tapeflow.ops.math.bitwise import bitwise_xor as tf_bitwise_xor
from tapeflow.ops.math.bitwise import invert as tf_invert
from tapeflow.ops.math.bitwise import left_shift as tf_left_shift
from tapeflow.ops.math.bitwise import right_shift as tf_right_shift
from tapeflow.ops.math.comparison import equal as tf_equal
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.float_kinds import is_finite as tf_is_finite
from tapeflow.ops.math.float_kinds import is_inf as tf_is_inf
from tapeflow.ops.math.float_kinds import is_nan as tf_is_nan
from tapeflow.ops.math.logic import logical_and as tf_logical_and
from tapeflow.ops.math.logic import logical_not as tf_logical_not
from tapeflow.ops.math.logic import logical_or as tf_logical_or
from tapeflow.ops.math.logic import logical_xor as tf_logical_xor
from tapeflow.ops.math.reductions import reduce_all as tf_reduce_all


def _of_bools(name: str, function: Callable[..., Any], text: str):
    def call(x1: Tensor, x2: Tensor):
        return function(tensor(x1, "bool"), tensor(x2, "bool"))

    return _named(call, name, f"{text}, for elements that are not 0.")


logical_and = _of_bools("logical_and", tf_logical_and, "Return whether x1 and x2")
logical_or = _of_bools("logical_or", tf_logical_or, "Return whether x1 or x2")
logical_xor = _of_bools("logical_xor", tf_logical_xor, "Return whether one of x1 and x2")


@operation
def logical_not(x: TensorLike):
    """Return whether elements are 0 or False."""
    return tf_logical_not(tensor(x, "bool"))


def _of_bits(name: str, function: Callable[..., Any], text: str):
    return _named(lambda x, y: function(*promoted(tensor(x), tensor(y))), name, f"{text}, bit by bit.")


def _shift(name: str, function: Callable[..., Any], text: str):
    return _named(lambda x, y: function(*promoted(tensor(x), y)), name, f"{text}.")


bitwise_and = _of_bits("bitwise_and", tf_bitwise_and, "Return x and y")
bitwise_or = _of_bits("bitwise_or", tf_bitwise_or, "Return x or y")
bitwise_xor = _of_bits("bitwise_xor", tf_bitwise_xor, "Return whether x and y differ")
left_shift = bitwise_left_shift = _shift("left_shift", tf_left_shift, "Return x moved left by y places")
right_shift = bitwise_right_shift = _shift("right_shift", tf_right_shift, "Return x moved right by y places")


@operation
def bitwise_not(x: TensorLike):
    """Return x with all bits inverted."""
    return tf_invert(tensor(x))


bitwise_invert = bitwise_not


@operation
def isfinite(x: TensorLike):
    """Return whether elements are neither infinite nor NaN."""
    return tf_is_finite(floating(x))


@operation
def isinf(x: TensorLike):
    """Return whether elements are infinite."""
    return tf_is_inf(floating(x))


@operation
def isnan(x: TensorLike):
    """Return whether elements are NaN."""
    return tf_is_nan(floating(x))


@operation
def isclose(x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False):
    """Return whether |x1 - x2| <= atol + rtol * |x2|.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
      rtol: how much larger the distance may be for larger numbers.
      atol: how far apart numbers may always be.
      equal_nan: whether NaN is close to NaN.
    """
    x1, x2 = floats(x1, x2)
    close = tf_logical_or(tf_equal(x1, x2), tf_abs(x1 - x2) <= atol + rtol * tf_abs(x2))
    close = tf_logical_and(close, tf_equal(tf_is_finite(x1), tf_is_finite(x2)))
    if not equal_nan:
        return close
    return tf_logical_or(close, tf_logical_and(tf_is_nan(x1), tf_is_nan(x2)))


@operation
def allclose(x1: TensorLike, x2: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False):
    """Return whether all elements are close, as `isclose`.

    Args:
      x1: a tensor, or what can be converted to one.
      x2: another one, which broadcasts against it.
      rtol: how much larger the distance may be for larger numbers.
      atol: how far apart numbers may always be.
      equal_nan: whether NaN is close to NaN.
    """
    return tf_reduce_all(isclose(x1, x2, rtol, atol, equal_nan))


__all__ = public_names(globals())
