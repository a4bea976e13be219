"""Comparisons and logic of each element."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import constant
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import promoted, tensor
from tapeflow.experimental.numpy.elementwise import binary, finished, isnan
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where as where_
from tapeflow.ops.math.comparison import equal as equal_
from tapeflow.ops.math.comparison import greater as greater_
from tapeflow.ops.math.comparison import greater_equal as greater_equal_
from tapeflow.ops.math.comparison import less as less_
from tapeflow.ops.math.comparison import less_equal as less_equal_
from tapeflow.ops.math.comparison import not_equal as not_equal_
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.float_kinds import is_finite
from tapeflow.ops.math.logic import logical_and as logical_and_
from tapeflow.ops.math.logic import logical_or as logical_or_
from tapeflow.ops.math.logic import logical_xor as logical_xor_
from tapeflow.ops.math.reductions import reduce_all

equal = binary("equal", equal_, "Whether both are equal.")


not_equal = binary("not_equal", not_equal_, "Whether both differ.")


greater = binary("greater", greater_, "Whether x1 is more.")


greater_equal = binary("greater_equal", greater_equal_, "Whether x1 is not less.")


less = binary("less", less_, "Whether x1 is less.")


less_equal = binary("less_equal", less_equal_, "Whether x1 is not more.")


def _logical(name: str, function, what):
    def apply(x1, x2):
        return function(cast(tensor(x1), dtypes.bool), cast(tensor(x2), dtypes.bool))

    return finished(
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
