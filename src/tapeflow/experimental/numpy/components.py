"""The sign, the angle and the parts of each element."""

from __future__ import annotations

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import tensor
from tapeflow.ops.array.bitcast import bitcast
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where as where_
from tapeflow.ops.math.comparison import equal as equal_
from tapeflow.ops.math.comparison import not_equal as not_equal_
from tapeflow.ops.math.complex_numbers import angle as angle_
from tapeflow.ops.math.complex_numbers import imag as imag_
from tapeflow.ops.math.complex_numbers import real as real_
from tapeflow.ops.math.elementwise import sign as sign_


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
