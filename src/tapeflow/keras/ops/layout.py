"""Splits, named axes, and other dtypes for the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import floats, operation, static_rank, tensor
from tapeflow.keras.ops.elementwise import imag, real
from tapeflow.ops.array.bitcast import bitcast as tf_bitcast
from tapeflow.ops.array.joining import split as tf_split
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.stacking import stack as tf_stack
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.math.complex_numbers import complex as tf_complex


@operation
def vsplit(x: TensorLike, indices_or_sections):
    """Return the parts of x along its first axis: so many of one size, or split at indices.

    Args:
      x: a tensor, or what can be converted to one.
      indices_or_sections: into how many parts of one size, or a list of the places where parts begin.
    """
    return split(x, indices_or_sections, axis=0)


@operation
def hsplit(x: TensorLike, indices_or_sections):
    """Return the parts of x along its second axis, or along the only one.

    Args:
      x: a tensor, or what can be converted to one.
      indices_or_sections: into how many parts of one size, or a list of the places where parts begin.
    """
    x = tensor(x)
    return split(x, indices_or_sections, axis=0 if static_rank(x) == 1 else 1)


@operation
def dsplit(x: TensorLike, indices_or_sections):
    """Return the parts of x along its third axis.

    Args:
      x: a tensor, or what can be converted to one.
      indices_or_sections: into how many parts of one size, or a list of the places where parts begin.
    """
    return split(x, indices_or_sections, axis=2)


@operation
def view_as_complex(x: Any):
    """Return complex numbers of the pairs along the last axis."""
    x = floats(x)[0]
    if x.shape.rank is None or not x.shape.rank or x.shape[-1] != 2:
        raise ValueError(f"Last dimension of input must be size 2 (real and imaginary). Received shape: {x.shape}")
    return tf_complex(x[..., 0], x[..., 1])


@operation
def view_as_real(x: TensorLike):
    """Return the real and imaginary parts as pairs along a new last axis."""
    x = tensor(x)
    return tf_stack([real(x), imag(x)], -1)


@operation
def view(x: Any, dtype: DTypeLike | None = None):
    """Return the bytes of x as numbers of another dtype; the last axis becomes longer or shorter with their size.

    Args:
      x: a tensor, or what can be converted to one.
      dtype: the dtype that the same bytes are read as.
    """
    x = tensor(x)
    dtype = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    old, new = x.dtype.size, dtype.size
    if old == new:
        return tf_bitcast(x, dtype)
    last = x.shape[-1] if static_rank(x) else None
    if last is None or last * old % new:
        raise ValueError(
            f"Cannot view array of shape {x.shape} and dtype {x.dtype.name} as dtype {dtype.name} because the total "
            "number of bytes is not divisible by the new itemsize."
        )
    shape = tf_shape(x)
    sizes = [*(shape[i] if n is None else n for i, n in enumerate(x.shape.as_list()[:-1]))]
    if old > new:
        return tf_reshape(tf_bitcast(x, dtype), [*sizes, last * (old // new)])
    return tf_bitcast(tf_reshape(x, [*sizes, last * old // new, new // old]), dtype)


def _axes(side):
    """The groups of names of one side of a pattern."""
    groups, inside = [], False
    for word in side.replace("(", " ( ").replace(")", " ) ").split():
        if word == ("(" if not inside else ")"):
            inside = not inside
            if inside:
                groups.append([])
        elif not word.isidentifier():
            raise ValueError(f"Invalid pattern: {side!r} must consist of names and names in parentheses.")
        elif inside:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


@operation
def rearrange(tensor: Any, pattern, **axes_lengths):
    """Return a tensor with its axes named, split, reordered and merged, such as by "b h w c -> b (h w) c".

    Args:
      pattern: names of the axes before and after; names in parentheses are parts of one axis.
      axes_lengths: the sizes of parts; one of each axis may be left out.
    """
    before, arrow, after = pattern.partition("->")
    before, after = _axes(before), _axes(after)
    names = [name for group in before for name in group]
    if not arrow or sorted(names) != sorted(name for group in after for name in group):
        raise ValueError(f"Both sides of the pattern must have the same names, got {pattern!r}.")
    if len(before) != len(tensor.shape):
        raise ValueError(f"The pattern {pattern!r} has {len(before)} axes, the tensor has shape {tensor.shape}.")
    return _rearranged(tensor, before, names, after, axes_lengths)


def _rearranged(x, before, names: Sequence[str], after, lengths):
    x = tensor(x)
    dynamic = tf_shape(x)
    sizes = dict(lengths)
    for axis, (group, size) in enumerate(zip(before, x.shape.as_list())):
        size = dynamic[axis] if size is None else size
        unknown = [name for name in group if name not in sizes]
        if len(unknown) > 1:
            raise ValueError(f"At most one size of ({' '.join(group)}) can be left out, got {lengths}.")
        if unknown:
            sizes[unknown[0]] = size // math.prod(sizes[name] for name in group if name in sizes)
    x = tf_reshape(x, [sizes[name] for name in names])
    x = tf_transpose(x, [names.index(name) for group in after for name in group])
    return tf_reshape(x, [math.prod([sizes[name] for name in group]) for group in after])

@operation
def split(x: Any, indices_or_sections, axis=0):
    """Return x cut into so many equal parts, or before each index, along an axis.

    Args:
      x: a tensor, or what can be converted to one.
      indices_or_sections: into how many parts of one size, or a list of the places where parts begin.
      axis: the axis, an integer.
    """
    x = tensor(x)
    if isinstance(indices_or_sections, int):
        return tf_split(x, indices_or_sections, axis)
    size = x.shape[axis]
    if size is None:
        raise ValueError(f"Cannot split at indices along axis {axis} of unknown size")
    limits = [0, *(min(int(i), size) for i in indices_or_sections), size]
    return tf_split(x, [b - a for a, b in pairwise(limits)], axis)


@operation
def array_split(x: Any, indices_or_sections, axis=0):
    """Return x cut into so many parts, the first of which may be longer by one, along an axis.

    Args:
      x: a tensor, or what can be converted to one.
      indices_or_sections: into how many parts, or a list of the places where parts begin.
      axis: the axis, an integer.
    """
    x = tensor(x)
    size, rest = divmod(x.shape[axis], indices_or_sections)
    return tf_split(x, [size + (i < rest) for i in range(indices_or_sections)], axis)


__all__ = public_names(globals())
