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
from tapeflow.ops.array.bitcast import bitcast
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape, broadcast_to
from tapeflow.ops.array.construction import ones_like, zeros, zeros_like
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
from tapeflow.ops.math.comparison import greater as greater_
from tapeflow.ops.math.comparison import greater_equal as greater_equal_
from tapeflow.ops.math.comparison import less as less_
from tapeflow.ops.math.comparison import less_equal as less_equal_
from tapeflow.ops.math.comparison import not_equal as not_equal_
from tapeflow.ops.math.complex_numbers import angle as angle_
from tapeflow.ops.math.complex_numbers import imag as imag_
from tapeflow.ops.math.complex_numbers import real as real_
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
from tapeflow.ops.math.reductions import reduce_all, reduce_any
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


def _unary(name: str, function: Callable[[Any], Any], what: str, *, to_float: bool = False) -> Any:
    """A function of one array; with `to_float` integers are converted first."""

    def apply(x):
        return function(floating(x) if to_float else tensor(x))

    return _finished(apply, name, what, "x: an array, or what makes one.")


def _binary(
    name: str, function: Callable[[Any, Any], Any], what: str, *, to_float: bool = False
) -> Any:
    """A function of two arrays that are promoted to one dtype."""

    def apply(x1, x2):
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
    return lambda a, b: (of_bools if a.dtype == dtypes.bool else function)(a, b)


sin = _unary("sin", sin_, "The sine.", to_float=True)
cos = _unary("cos", cos_, "The cosine.", to_float=True)
tan = _unary("tan", tan_, "The tangent.", to_float=True)
arcsin = _unary("arcsin", asin, "The inverse of the sine.", to_float=True)
arccos = _unary("arccos", acos, "The inverse of the cosine.", to_float=True)
arctan = _unary("arctan", atan, "The inverse of the tangent.", to_float=True)
sinh = _unary("sinh", sinh_, "The hyperbolic sine.", to_float=True)
cosh = _unary("cosh", cosh_, "The hyperbolic cosine.", to_float=True)
tanh = _unary("tanh", tanh_, "The hyperbolic tangent.", to_float=True)
arcsinh = _unary("arcsinh", asinh, "The inverse of the hyperbolic sine.", to_float=True)
arccosh = _unary("arccosh", acosh, "The inverse of the hyperbolic cosine.", to_float=True)
arctanh = _unary("arctanh", atanh, "The inverse of the hyperbolic tangent.", to_float=True)
exp = _unary("exp", exp_, "e to the power of x.", to_float=True)
exp2 = _unary(
    "exp2", lambda x: pow_(constant(2, x.dtype), x), "2 to the power of x.", to_float=True
)
expm1 = _unary("expm1", expm1_, "e to the power of x, less 1.", to_float=True)
log = _unary("log", log_, "The natural logarithm.", to_float=True)
log1p = _unary("log1p", log1p_, "The natural logarithm of 1 + x.", to_float=True)
log2 = _unary("log2", lambda x: log_(x) / np.log(2).astype(x.dtype.as_numpy_dtype), "The logarithm to base 2.",
    to_float=True)  # fmt: skip
log10 = _unary("log10", lambda x: log_(x) / np.log(10).astype(x.dtype.as_numpy_dtype),
    "The logarithm to base 10.", to_float=True)  # fmt: skip
sqrt = _unary("sqrt", sqrt_, "The square root.", to_float=True)
cbrt = _unary("cbrt", lambda x: sign_(x) * pow_(abs_(x), constant(1 / 3, x.dtype)), "The cube root.",
    to_float=True)  # fmt: skip
square = _unary("square", square_, "x times x.")
reciprocal = _unary("reciprocal", reciprocal_, "1 / x.")
negative = _unary("negative", negative_, "-x.")
positive = _unary("positive", identity, "x.")
abs = _unary("abs", abs_, "The absolute value.")
absolute = _unary("absolute", abs_, "The absolute value.")
fabs = _unary(
    "fabs", abs_, "The absolute value, of integers too in floating point.", to_float=True
)
ceil = _unary("ceil", ceil_, "The least integer that is not less.", to_float=True)
floor = _unary("floor", floor_, "The largest integer that is not more.", to_float=True)
fix = _unary("fix", lambda x: where_(x < 0, ceil_(x), floor_(x)), "The next integer towards zero.",
    to_float=True)  # fmt: skip
conj = _unary("conj", conj_, "The complex conjugate.")
conjugate = _unary("conjugate", conj_, "The complex conjugate.")
deg2rad = _unary("deg2rad", lambda x: x * (np.pi / 180.0), "Degrees in radians.", to_float=True)
rad2deg = _unary("rad2deg", lambda x: x * (180.0 / np.pi), "Radians in degrees.", to_float=True)
isfinite = _unary(
    "isfinite", is_finite, "Whether x is neither infinite nor NaN.", to_float=True
)
isinf = _unary("isinf", is_inf, "Whether x is infinite.", to_float=True)
isnan = _unary("isnan", is_nan, "Whether x is NaN.", to_float=True)
isposinf = _unary("isposinf", lambda x: equal_(x, constant(np.inf, x.dtype)), "Whether x is +infinity.",
    to_float=True)  # fmt: skip
isneginf = _unary("isneginf", lambda x: equal_(x, constant(-np.inf, x.dtype)), "Whether x is -infinity.",
    to_float=True)  # fmt: skip
logical_not = _unary(
    "logical_not", lambda x: logical_not_(cast(x, dtypes.bool)), "Whether x is false."
)
bitwise_not = _unary("bitwise_not", lambda x: logical_not_(x) if x.dtype == dtypes.bool else invert(x),
    "All bits turned.")  # fmt: skip


def _sinc(x):
    at_zero = equal_(x, 0)
    scaled = where_(at_zero, ones_like(x), x * constant(np.pi, x.dtype))
    return where_(at_zero, ones_like(x), sin_(scaled) / scaled)


sinc = _unary("sinc", _sinc, "sin(pi x) / (pi x), and 1 at zero.", to_float=True)


@public
def signbit(x):
    """Whether x is negative; of the zeros -0.0 is, too."""
    x = tensor(x)
    if x.dtype == dtypes.bool:
        return zeros_like(x)
    if not x.dtype.is_floating:
        return x < zeros([], x.dtype)
    bits = {2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}[x.dtype.size]
    return bitcast(x, bits) < 0


@public
def sign(x, out=None, where=None, **kwargs):
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
        real_part = real_(x)
        return cast(
            where_(equal_(real_part, 0), sign_(imag_(x)), sign_(real_part)), x.dtype
        )
    return sign_(x)


@public
def angle(z, deg: bool = False):
    """Return the argument of complex numbers.

    Args:
      z: an array, or what makes one.
      deg: whether in degrees, not in radians.
    """
    x = tensor(z)
    if not x.dtype.is_complex:
        x = cast(x, dtypes.complex64 if x.dtype == dtypes.float32 else dtypes.complex128)
    out = angle_(x)
    return out * (180.0 / np.pi) if deg else out


@public
def real(val):
    """The real part."""
    return real_(tensor(val))


@public
def imag(val):
    """The imaginary part; zeros of real numbers."""
    x = tensor(val)
    return imag_(x) if x.dtype.is_complex else zeros_like(x)


@public
def iscomplex(x: TensorLike):
    """Whether the imaginary part is not zero."""
    return not_equal_(imag(x), 0)


@public
def isreal(x: TensorLike):
    """Whether the imaginary part is zero."""
    return equal_(imag(x), 0)


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


add = _binary("add", _of_bools(add_, logical_or_), "The sum.")
subtract = _binary("subtract", subtract_, "The difference.")
multiply = _binary("multiply", _of_bools(multiply_, logical_and_), "The product.")
divide = _binary("divide", truediv, "The quotient, in floating point.", to_float=True)
true_divide = _binary(
    "true_divide", truediv, "The quotient, in floating point.", to_float=True
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
    lambda a, b: pow_(*(x if x.dtype.is_complex else cast(x, dtypes.float64) for x in (a, b))),
    "x1 to the power of x2, at least in float64.", to_float=True)  # fmt: skip
maximum = _binary("maximum", _of_bools(maximum_, logical_or_), "The larger of both.")
minimum = _binary("minimum", _of_bools(minimum_, logical_and_), "The smaller of both.")
arctan2 = _binary("arctan2", atan2, "The angle of the point (x2, x1).", to_float=True)
hypot = _binary("hypot", _hypot, "The root of the sum of the squares.", to_float=True)
gcd = _binary("gcd", _gcd, "The greatest common divisor of integers.")
lcm = _binary("lcm", _lcm, "The least common multiple of integers.")
logaddexp = _binary("logaddexp", _logaddexp, "log(exp(x1) + exp(x2)).", to_float=True)
logaddexp2 = _binary("logaddexp2", _logaddexp2, "log2(2**x1 + 2**x2).", to_float=True)
heaviside = _binary("heaviside", _heaviside, "0 below zero, 1 above, x2 at zero.", to_float=True)
nextafter = _binary(
    "nextafter", nextafter_, "The next number after x1 towards x2.", to_float=True
)
bitwise_and = _binary(
    "bitwise_and", _of_bools(bitwise_and_, logical_and_), "The bits that both have."
)
bitwise_or = _binary(
    "bitwise_or", _of_bools(bitwise_or_, logical_or_), "The bits that one of both has."
)
bitwise_xor = _binary("bitwise_xor", _of_bools(bitwise_xor_, logical_xor_),
    "The bits that exactly one of both has.")  # fmt: skip

equal = _binary("equal", equal_, "Whether both are equal.")
not_equal = _binary("not_equal", not_equal_, "Whether both differ.")
greater = _binary("greater", greater_, "Whether x1 is more.")
greater_equal = _binary("greater_equal", greater_equal_, "Whether x1 is not less.")
less = _binary("less", less_, "Whether x1 is less.")
less_equal = _binary("less_equal", less_equal_, "Whether x1 is not more.")


def _logical(name: str, function, what):
    def apply(x1, x2):
        return function(cast(tensor(x1), dtypes.bool), cast(tensor(x2), dtypes.bool))

    return _finished(
        apply, name, what, "x1, x2: arrays, or what makes some, that broadcast; what is not zero is true."
    )


logical_and = _logical("logical_and", logical_and_, "Whether both are true.")
logical_or = _logical("logical_or", logical_or_, "Whether one of both is true.")
logical_xor = _logical("logical_xor", logical_xor_, "Whether exactly one of both is true.")


@public
def isclose(a, b, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False):
    """Return where `|a - b| <= atol + rtol * |b|`.

    Args:
      a, b: arrays that broadcast.
      rtol: the relative tolerance.
      atol: the absolute tolerance.
      equal_nan: whether NaN is close to NaN.
    """
    a, b = promoted(a, b)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return equal_(a, b)
    real_dtype = a.dtype.real_dtype
    close = abs_(a - b) <= cast(atol, real_dtype) + cast(rtol, real_dtype) * abs_(b)
    if a.dtype.is_floating:
        close = where_(is_finite(a) & is_finite(b), close, equal_(a, b))
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
    return reduce_all(isclose(a, b, rtol, atol, equal_nan))


@public
def array_equal(a1, a2):
    """Return whether shapes and elements of two arrays are equal.

    Args:
      a1, a2: arrays, or what makes some.
    """
    a1, a2 = promoted(a1, a2)
    if not a1.shape.is_compatible_with(a2.shape):
        return constant(False)
    return reduce_all(equal_(a1, a2))
