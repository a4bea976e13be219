"""Windows: weights that fade towards the ends of a part of a signal."""

from __future__ import annotations

import math

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras import settings
from tapeflow.keras.ops.conversion import operation, tensor
from tapeflow.ops.array.construction import ones as tf_ones
from tapeflow.ops.array.construction import zeros as tf_zeros
from tapeflow.ops.array.ranges import range as tf_range
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.trigonometric import cos as tf_cos
from tapeflow.ops.signal.windows import hamming_window as tf_hamming_window
from tapeflow.ops.signal.windows import hann_window as tf_hann_window
from tapeflow.ops.signal.windows import kaiser_window as tf_kaiser_window


def _steps(x):
    """The numbers below x as floats, and x - 1."""
    size = tensor(x, "int32")
    return tf_cast(tf_range(size), settings.floatx()), tf_cast(size - 1, settings.floatx())


def _short(x):
    """The window of no element or one, None for longer ones."""
    return tf_zeros([0]) if int(x) == 0 else tf_ones([1]) if int(x) == 1 else None


@operation
def bartlett(x: TensorLike):
    """Return the triangular window of x elements, which is 0 at both ends."""
    if (window := _short(x)) is not None:
        return window
    steps, last = _steps(x)
    return 1 - tf_abs(2 * steps / last - 1)


@operation
def blackman(x: TensorLike):
    """Return the Blackman window of x elements."""
    if (window := _short(x)) is not None:
        return window
    steps, last = _steps(x)
    turn = 2 * math.pi * steps / last
    return 0.42 - 0.5 * tf_cos(turn) + 0.08 * tf_cos(2 * turn)


@operation
def hamming(x: TensorLike):
    """Return the Hamming window of x elements."""
    return tf_hamming_window(tensor(x, "int32"), periodic=False)


@operation
def hanning(x: TensorLike):
    """Return the Hann window of x elements."""
    return tf_hann_window(tensor(x, "int32"), periodic=False)


@operation
def kaiser(x: TensorLike, beta: TensorLike):
    """Return the Kaiser window of x elements, narrower the greater `beta`."""
    return tf_kaiser_window(tensor(x, "int32"), beta=beta)



__all__ = public_names(globals())
