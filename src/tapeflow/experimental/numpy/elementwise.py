"""Functions of each element, and of pairs of them that broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import default_float, floating, promoted, tensor


def _unary(name: str, function: Callable[[Any], Any], what: str, *, to_float: bool = False) -> Any:
    """A function of one array; with `to_float` integers are converted first."""

    def apply(x: Tensor):
        return function(floating(x) if to_float else tensor(x))

    return _finished(apply, name, what, "x: an array, or what makes one.")


def _binary(
    name: str, function: Callable[[Any, Any], Any], what: str, *, to_float: bool = False
) -> Any:
    """A function of two arrays that are promoted to one dtype."""

    def apply(x1: Tensor, x2: Tensor):
        x1, x2 = promoted(x1, x2)
        if to_float:
            x1, x2 = floating(x1), floating(x2)
        return function(x1, x2)

    return _finished(apply, name, what, _PAIR)


_PAIR = "x1, x2: arrays, or what makes some, that broadcast; they are promoted to one dtype."


def _finished(function: Any, name: str, what: str, args: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nArgs:\n  {args}\n"
    return public(function)


def _of_bools(
    function: Callable[[Any, Any], Any], of_bools: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """A function that means another one where both are booleans."""
    return lambda a, b: (of_bools if a.dtype == tf.bool else function)(a, b)


sin = _unary("sin", tf.sin, "The sine.", to_float=True)
cos = _unary("cos", tf.cos, "The cosine.", to_float=True)
tan = _unary("tan", tf.tan, "The tangent.", to_float=True)
arcsin = _unary("arcsin", tf.asin, "The inverse of the sine.", to_float=True)
arccos = _unary("arccos", tf.acos, "The inverse of the cosine.", to_float=True)
arctan = _unary("arctan", tf.atan, "The inverse of the tangent.", to_float=True)
sinh = _unary("sinh", tf.sinh, "The hyperbolic sine.", to_float=True)
cosh = _unary("cosh", tf.cosh, "The hyperbolic cosine.", to_float=True)
tanh = _unary("tanh", tf.tanh, "The hyperbolic tangent.", to_float=True)
arcsinh = _unary("arcsinh", tf.asinh, "The inverse of the hyperbolic sine.", to_float=True)
arccosh = _unary("arccosh", tf.acosh, "The inverse of the hyperbolic cosine.", to_float=True)
arctanh = _unary("arctanh", tf.atanh, "The inverse of the hyperbolic tangent.", to_float=True)
exp = _unary("exp", tf.exp, "e to the power of x.", to_float=True)
exp2 = _unary(
    "exp2", lambda x: tf.pow(tf.constant(2, x.dtype), x), "2 to the power of x.", to_float=True
)
expm1 = _unary("expm1", tf.math.expm1, "e to the power of x, less 1.", to_float=True)
log = _unary("log", tf.math.log, "The natural logarithm.", to_float=True)
log1p = _unary("log1p", tf.math.log1p, "The natural logarithm of 1 + x.", to_float=True)
log2 = _unary("log2", lambda x: tf.math.log(x) / np.log(2).astype(x.dtype.as_numpy_dtype), "The logarithm to base 2.",
    to_float=True)  # fmt: skip
log10 = _unary("log10", lambda x: tf.math.log(x) / np.log(10).astype(x.dtype.as_numpy_dtype),
    "The logarithm to base 10.", to_float=True)  # fmt: skip
sqrt = _unary("sqrt", tf.sqrt, "The square root.", to_float=True)
cbrt = _unary("cbrt", lambda x: tf.sign(x) * tf.pow(tf.abs(x), tf.constant(1 / 3, x.dtype)), "The cube root.",
    to_float=True)  # fmt: skip
square = _unary("square", tf.square, "x times x.")
reciprocal = _unary("reciprocal", tf.math.reciprocal, "1 / x.")
negative = _unary("negative", tf.negative, "-x.")
positive = _unary("positive", tf.identity, "x.")
abs = _unary("abs", tf.abs, "The absolute value.")
absolute = _unary("absolute", tf.abs, "The absolute value.")
fabs = _unary(
    "fabs", tf.abs, "The absolute value, of integers too in floating point.", to_float=True
)
ceil = _unary("ceil", tf.math.ceil, "The least integer that is not less.", to_float=True)
floor = _unary("floor", tf.floor, "The largest integer that is not more.", to_float=True)
fix = _unary("fix", lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)), "The next integer towards zero.",
    to_float=True)  # fmt: skip
conj = _unary("conj", tf.math.conj, "The complex conjugate.")
conjugate = _unary("conjugate", tf.math.conj, "The complex conjugate.")
deg2rad = _unary("deg2rad", lambda x: x * (np.pi / 180.0), "Degrees in radians.", to_float=True)
rad2deg = _unary("rad2deg", lambda x: x * (180.0 / np.pi), "Radians in degrees.", to_float=True)
isfinite = _unary(
    "isfinite", tf.math.is_finite, "Whether x is neither infinite nor NaN.", to_float=True
)
isinf = _unary("isinf", tf.math.is_inf, "Whether x is infinite.", to_float=True)
isnan = _unary("isnan", tf.math.is_nan, "Whether x is NaN.", to_float=True)
isposinf = _unary("isposinf", lambda x: tf.equal(x, tf.constant(np.inf, x.dtype)), "Whether x is +infinity.",
    to_float=True)  # fmt: skip
isneginf = _unary("isneginf", lambda x: tf.equal(x, tf.constant(-np.inf, x.dtype)), "Whether x is -infinity.",
    to_float=True)  # fmt: skip
logical_not = _unary(
    "logical_not", lambda x: tf.logical_not(tf.cast(x, tf.bool)), "Whether x is false."
)
bitwise_not = _unary("bitwise_not", lambda x: tf.logical_not(x) if x.dtype == tf.bool else tf.bitwise.invert(x),
    "All bits turned.")  # fmt: skip


def _sinc(x: Tensor):
    at_zero = tf.equal(x, 0)
    scaled = tf.where(at_zero, tf.ones_like(x), x * tf.constant(np.pi, x.dtype))
    return tf.where(at_zero, tf.ones_like(x), tf.sin(scaled) / scaled)


sinc = _unary("sinc", _sinc, "sin(pi x) / (pi x), and 1 at zero.", to_float=True)


@public
def signbit(x: Any):
    """Whether x is negative; of the zeros -0.0 is, too."""
    x = tensor(x)
    if x.dtype == tf.bool:
        return tf.zeros_like(x)
    if not x.dtype.is_floating:
        return x < tf.zeros([], x.dtype)
    bits = {2: tf.int16, 4: tf.int32, 8: tf.int64}[x.dtype.size]
    return tf.bitcast(x, bits) < 0


@public
def sign(x: Any, out=None, where=None, **kwargs):
    """Return -1, 0 or 1; of complex numbers that of the real part, or of the imaginary one where that is 0.

    Args:
      x: an array, or what makes one.
      out: must be None, else ValueError is raised.
      where: must be None, else ValueError is raised.
      **kwargs: must be empty, else ValueError is raised.
    """
    if out is not None:
        raise ValueError("tf.numpy doesnt support setting out.")
    if where:
        raise ValueError("tf.numpy doesnt support setting where.")
    if kwargs:
        raise ValueError(f"tf.numpy doesnt support setting {next(iter(kwargs))}")
    x = tensor(x)
    if x.dtype.is_complex:
        real_part = tf.math.real(x)
        return tf.cast(
            tf.where(tf.equal(real_part, 0), tf.sign(tf.math.imag(x)), tf.sign(real_part)), x.dtype
        )
    return tf.sign(x)


@public
def angle(z: TensorLike, deg: bool = False):
    """Return the argument of complex numbers.

    Args:
      z: an array, or what makes one.
      deg: whether in degrees, not in radians.
    """
    x = tensor(z)
    if not x.dtype.is_complex:
        x = tf.cast(x, tf.complex64 if x.dtype == tf.float32 else tf.complex128)
    out = tf.math.angle(x)
    return out * (180.0 / np.pi) if deg else out


@public
def real(val):
    """The real part."""
    return tf.math.real(tensor(val))


@public
def imag(val):
    """The imaginary part; zeros of real numbers."""
    x = tensor(val)
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


@public
def iscomplex(x: TensorLike):
    """Whether the imaginary part is not zero."""
    return tf.not_equal(imag(x), 0)


@public
def isreal(x: TensorLike):
    """Whether the imaginary part is zero."""
    return tf.equal(imag(x), 0)


@public
def iscomplexobj(x: TensorLike):
    """Whether the dtype is complex."""
    return tensor(x).dtype.is_complex


@public
def isrealobj(x: TensorLike):
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


@public
def around(a: TensorLike, decimals: int = 0):
    """Return numbers rounded to decimals, of the same dtype; halves to even.

    Args:
      a: an array, or what makes one.
      decimals: how many digits stay behind the point; negative: zeros before it.
    """
    x = tensor(a)
    dtype = x.dtype
    work = x if dtype.is_floating or dtype.is_complex else tf.cast(x, default_float())
    factor = tf.cast(10.0**decimals, work.dtype)
    return tf.cast(tf.round(work * factor) / factor, dtype)


@public
def round(a: TensorLike, decimals: int = 0):
    """Return numbers rounded to decimals, as `around`.

    Args:
      a: an array, or what makes one.
      decimals: how many digits stay behind the point; negative: zeros before it.
    """
    return around(a, decimals)


@public
def clip(a: TensorLike, a_min: TensorLike, a_max: TensorLike):
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
    return tf.minimum(tf.maximum(a, a_min), a_max)


def _whole_division(a: Tensor, b: Tensor):
    """Towards minus infinity, also of booleans."""
    if a.dtype == tf.bool:
        a, b = tf.cast(a, tf.int8), tf.cast(b, tf.int8)
    return tf.math.floordiv(a, b)


def _remainder(a: Tensor, b: Tensor):
    if a.dtype == tf.bool:
        a, b = tf.cast(a, tf.int8), tf.cast(b, tf.int8)
    return tf.math.floormod(a, b)


def _power(a: Tensor, b: Tensor):
    if a.dtype == tf.bool:
        a, b = tf.cast(a, tf.int8), tf.cast(b, tf.int8)
    return tf.pow(a, b)


def _hypot(a: Tensor, b: Tensor):
    return tf.sqrt(tf.square(a) + tf.square(b))


def _gcd(a: Tensor, b: Tensor):
    a, b = (
        tf.broadcast_to(tf.abs(a), tf.broadcast_dynamic_shape(tf.shape(a), tf.shape(b))),
        tf.abs(b),
    )
    b = tf.broadcast_to(b, tf.shape(a))

    def step(x: Tensor, y: Tensor):
        zero = tf.equal(y, 0)
        rest = tf.math.floormod(x, tf.where(zero, tf.ones_like(y), y))
        return tf.where(zero, x, y), tf.where(zero, y, rest)

    return tf.while_loop(lambda _, y: tf.reduce_any(tf.not_equal(y, 0)), step, (a, b))[0]


def _lcm(a: Tensor, b: Tensor):
    divisor = _gcd(a, b)
    safe = tf.where(tf.equal(divisor, 0), tf.ones_like(divisor), divisor)
    return tf.abs(a) // safe * tf.abs(b)


def _logaddexp(a: Tensor, b: Tensor):
    large = tf.maximum(a, b)
    difference = tf.abs(a - b)
    # Of equal infinities the difference is NaN, and the sum is as they are.
    return tf.where(tf.math.is_nan(difference), a + b, large + tf.math.log1p(tf.exp(-difference)))


def _logaddexp2(a: Tensor, b: Tensor):
    two = np.log(2).astype(a.dtype.as_numpy_dtype)
    return _logaddexp(a * two, b * two) / two


def _heaviside(a: Tensor, b: Tensor):
    below, at = tf.cast(a > 0, a.dtype), tf.equal(a, 0)
    return tf.where(tf.math.is_nan(a), a, tf.where(at, b, below))


add = _binary("add", _of_bools(tf.add, tf.logical_or), "The sum.")
subtract = _binary("subtract", tf.subtract, "The difference.")
multiply = _binary("multiply", _of_bools(tf.multiply, tf.logical_and), "The product.")
divide = _binary("divide", tf.math.truediv, "The quotient, in floating point.", to_float=True)
true_divide = _binary(
    "true_divide", tf.math.truediv, "The quotient, in floating point.", to_float=True
)
floor_divide = _binary(
    "floor_divide", _whole_division, "The largest integer not above the quotient."
)
mod = _binary("mod", _remainder, "The remainder, of the sign of x2.")
remainder = _binary("remainder", _remainder, "The remainder, of the sign of x2.")
divmod = _binary(
    "divmod", lambda a, b: (_whole_division(a, b), _remainder(a, b)), "Quotient and remainder."
)
power = _binary("power", _power, "x1 to the power of x2.")
float_power = _binary("float_power",
    lambda a, b: tf.pow(*(x if x.dtype.is_complex else tf.cast(x, tf.float64) for x in (a, b))),
    "x1 to the power of x2, at least in float64.", to_float=True)  # fmt: skip
maximum = _binary("maximum", _of_bools(tf.maximum, tf.logical_or), "The larger of both.")
minimum = _binary("minimum", _of_bools(tf.minimum, tf.logical_and), "The smaller of both.")
arctan2 = _binary("arctan2", tf.math.atan2, "The angle of the point (x2, x1).", to_float=True)
hypot = _binary("hypot", _hypot, "The root of the sum of the squares.", to_float=True)
gcd = _binary("gcd", _gcd, "The greatest common divisor of integers.")
lcm = _binary("lcm", _lcm, "The least common multiple of integers.")
logaddexp = _binary("logaddexp", _logaddexp, "log(exp(x1) + exp(x2)).", to_float=True)
logaddexp2 = _binary("logaddexp2", _logaddexp2, "log2(2**x1 + 2**x2).", to_float=True)
heaviside = _binary("heaviside", _heaviside, "0 below zero, 1 above, x2 at zero.", to_float=True)
nextafter = _binary(
    "nextafter", tf.math.nextafter, "The next number after x1 towards x2.", to_float=True
)
bitwise_and = _binary(
    "bitwise_and", _of_bools(tf.bitwise.bitwise_and, tf.logical_and), "The bits that both have."
)
bitwise_or = _binary(
    "bitwise_or", _of_bools(tf.bitwise.bitwise_or, tf.logical_or), "The bits that one of both has."
)
bitwise_xor = _binary("bitwise_xor", _of_bools(tf.bitwise.bitwise_xor, tf.math.logical_xor),
    "The bits that exactly one of both has.")  # fmt: skip

equal = _binary("equal", tf.equal, "Whether both are equal.")
not_equal = _binary("not_equal", tf.not_equal, "Whether both differ.")
greater = _binary("greater", tf.greater, "Whether x1 is more.")
greater_equal = _binary("greater_equal", tf.greater_equal, "Whether x1 is not less.")
less = _binary("less", tf.less, "Whether x1 is less.")
less_equal = _binary("less_equal", tf.less_equal, "Whether x1 is not more.")


def _logical(name: str, function: Callable[..., Any], what: str):
    def apply(x1: Tensor, x2: Tensor):
        return function(tf.cast(tensor(x1), tf.bool), tf.cast(tensor(x2), tf.bool))

    return _finished(
        apply, name, what, "x1, x2: arrays, or what makes some, that broadcast; what is not zero is true."
    )


logical_and = _logical("logical_and", tf.logical_and, "Whether both are true.")
logical_or = _logical("logical_or", tf.logical_or, "Whether one of both is true.")
logical_xor = _logical("logical_xor", tf.math.logical_xor, "Whether exactly one of both is true.")


@public
def isclose(a: Any, b: Any, rtol=1e-05, atol=1e-08, equal_nan: bool = False):
    """Return where `|a - b| <= atol + rtol * |b|`.

    Args:
      a, b: arrays that broadcast.
      rtol: the relative tolerance.
      atol: the absolute tolerance.
      equal_nan: whether NaN is close to NaN.
    """
    a, b = promoted(a, b)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return tf.equal(a, b)
    real_dtype = a.dtype.real_dtype
    close = tf.abs(a - b) <= tf.cast(atol, real_dtype) + tf.cast(rtol, real_dtype) * tf.abs(b)
    if a.dtype.is_floating:
        close = tf.where(tf.math.is_finite(a) & tf.math.is_finite(b), close, tf.equal(a, b))
    if equal_nan:
        close = close | (isnan(a) & isnan(b))
    return close


@public
def allclose(a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False):
    """Return whether all elements are close, see `isclose`.

    Args:
      a, b: arrays that broadcast.
      rtol: the relative tolerance.
      atol: the absolute tolerance.
      equal_nan: whether NaN is close to NaN.
    """
    return tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))


@public
def array_equal(a1, a2):
    """Return whether shapes and elements of two arrays are equal.

    Args:
      a1, a2: arrays, or what makes some.
    """
    a1, a2 = promoted(a1, a2)
    if not a1.shape.is_compatible_with(a2.shape):
        return tf.constant(False)
    return tf.reduce_all(tf.equal(a1, a2))
