"""`tf.contrib.periodic_resample`: one axis taken apart to make the others longer, as in sub-pixel convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import ShapeLike

__all__ = ["periodic_resample"]


def _bad(text: str):
    return tf.errors.InvalidArgumentError(None, None, f"periodic_resample {text}")


def _target(sizes, wanted) -> tuple[int, list[int]]:
    """(the axis that gives way, the shape of the result)."""
    if len(sizes) != len(wanted):
        raise _bad(
            f"expects the rank of the input tensor, {len(sizes)}, to be the same as the length of the desired shape, "
            f"{len(wanted)}."
        )
    free = [i for i, n in enumerate(wanted) if n is None or n < 1]
    if len(free) != 1:
        raise _bad(f"expects {'only ' if free else ''}one index to be marked as adjustable.")
    for i, (size, n) in enumerate(zip(sizes, wanted, strict=True)):
        if i not in free and n < size:
            raise _bad(
                "expects the size of non-adjustable dimensions be at least as large as size of input tensor. Dimension "
                f"{i} input tensor has size {size}, desired shape has size {n}."
            )
    others = int(np.prod([n for i, n in enumerate(wanted) if i not in free]))
    left = int(np.prod(sizes)) // others
    if left < 1:
        raise _bad(f"found that the adjustable dimension, {free[0]}, isn't greater than zero, {left}.")
    return free[0], [left if i in free else n for i, n in enumerate(wanted)]


def _places(sizes: Any, wanted: Sequence[int | None]):
    """For each element of the result the one of the input that it is, both counted in row-major order."""
    sizes = [int(n) for n in sizes]
    axis, out = _target(sizes, wanted)
    at = np.indices(out)
    repeats = [-(-n // size) for n, size in zip(out, sizes, strict=True)]
    source, step, phase = list(at), 1, 0
    for i, repeat in enumerate(repeats):
        if i != axis:
            phase = phase + step * (at[i] % repeat)
            source[i] = at[i] // repeat
        step *= repeat
    source[axis] = phase * out[axis] + at[axis]
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    return sum(s * stride for s, stride in zip(source, strides, strict=True)).astype(np.int64)


def periodic_resample(values: Any, shape: ShapeLike, name: str | None = None):
    """`values` with other sizes, of which one axis shrinks as the others grow.

    Args:
      values: of any dtype of numbers.
      shape: the sizes of the result, none less than that of `values`; None for the one axis that gives way. Places
        along the others repeat, with what that axis holds.

    Raises InvalidArgumentError for another rank, or sizes that `values` cannot fill.
    """
    with tf.name_scope(name, "PeriodicResample"):
        values = tf.convert_to_tensor(values)
        wanted = tf.TensorShape(shape).as_list()
        known = values.shape.as_list() if values.shape.ndims is not None else [None]
        if None in known:
            places = tf.numpy_function(lambda sizes: _places(sizes, wanted), [tf.shape(values)], tf.int64)
            places.set_shape([n if n and n > 0 else None for n in wanted])
        else:
            places = tf.constant(_places(known, wanted))
        return tf.gather(tf.reshape(values, [-1]), places)
