"""What is known without running anything: values of concrete tensors, of constants of a graph and of plain data,
sizes of known dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import int_array
from tapeflow.core.public import public
from tapeflow.core.structures import structure
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.sizes import Rank, Shape, Size

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall


def _stacking() -> ModuleType:
    from tapeflow.ops.array import stacking  # a circle: it is made of this module

    return stacking


_Eager = _native.EagerTensor
_Tensor = _native.Tensor
_Variable = _native.Variable


def static_value(x: Any) -> np.ndarray | None:
    """The value of `x` as an array, or None where it is only known when the graph runs."""
    if isinstance(x, _Eager):
        return np.asarray(x)
    if isinstance(x, _Tensor):
        return x.constant_value()  # type: ignore[attr-defined]
    if isinstance(x, _Variable):
        return np.asarray(x) if context.executing_eagerly() else None
    if isinstance(x, (list, tuple)) and not context.executing_eagerly() and _holds_symbolic(x):
        return _native.convert(x, None).constant_value()
    if hasattr(x, "numpy"):
        return np.asarray(x.numpy())
    return np.asarray(x)


def _holds_symbolic(x: Sequence[int] | int) -> bool:
    if isinstance(x, (list, tuple)):
        return any(_holds_symbolic(part) for part in x)
    return isinstance(x, (_Tensor, _Variable)) and not isinstance(x, _Eager)


@api("get_static_value")
@public
def get_static_value(tensor, partial=False):
    """Return the value of a tensor where it is known without running a graph.

    Args:
      tensor: a tensor.
      partial: whether an integer vector, or a stack, of which only some elements are known is returned too, as an
        array of objects with None for the others.

    Returns:
      A NumPy array or number, or None; what is no tensor comes back as it is.

    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(tensor, _Eager):
        return tensor.numpy()
    if not isinstance(tensor, _Tensor):
        composite = structure.is_composite(tensor)
        return None if composite or isinstance(tensor, _Variable) else tensor
    value = tensor.constant_value()
    if value is None and partial and tensor.dtype.is_integer and tensor.shape.rank == 1:
        from tapeflow.ops import partial_values

        found = partial_values.elements(tensor)
        if found is not None:
            return np.array(found, object)
    if value is None and partial and tensor.op.type == "Pack" and not tensor.op.get_attr("axis"):
        parts = [x.constant_value() for x in tensor.op.inputs]
        if any(part is not None for part in parts):
            stacked = np.empty(len(parts), object)
            for i, part in enumerate(parts):
                stacked[i] = part
            return stacked
    return value


def concrete_value(x: Any) -> np.ndarray:
    """The value of `x` as an array. Raises ValueError where it is only known when the graph runs."""
    value = static_value(x)
    if value is None:
        raise ValueError(f"The value of {x} is needed, but it is only known when the graph runs.")
    return value


def is_eager(*values) -> bool:
    """Whether a call with `values` runs at once: no graph is being built, and none of them is of one."""
    for x in values:
        if isinstance(x, _Tensor) and not isinstance(x, _Eager):
            return False
    return context.executing_eagerly()


def rank_of(x):
    """The number of dimensions of a tensor: an int where it is known, else a scalar int32 tensor."""
    rank = x.shape.rank
    if rank is None:
        return Rank(x)
    return rank


def rank_in(call: GradientCall, name: str):
    """`rank_of` the input `name` of a call whose gradient is being made, without keeping the input."""
    rank = call.static_shape(name).rank
    if rank is None:
        return Size(call.shape(name))
    return rank


def sizes_of(x: Any) -> list:
    """The sizes of `x`'s dimensions: an int where it is known, else a scalar int32 tensor. The rank must be known."""
    return _sizes(x.shape, lambda: _shape_of(x))


def size_of(x: Tensor, axis: int):
    """The size of one dimension: an int where it is known, else a scalar int32 tensor. The rank may be unknown."""
    shape = x.shape
    if shape.rank is not None:
        size = shape.as_list()[axis]
        if size is not None:
            return size
    return _shape_of(x)[axis]


def sizes_in(call: GradientCall, name: str) -> list:
    """`sizes_of` the input `name` of a call whose gradient is being made, without keeping the input."""
    return _sizes(call.static_shape(name), lambda: call.shape(name))


def _shape_of(x: Tensor):
    return Shape(x)


def _sizes(static: TensorShape, dynamic: Callable[..., Any]) -> list:
    sizes = static.as_list()
    if None in sizes:
        vector = dynamic()
        sizes = [vector[i] if d is None else d for i, d in enumerate(sizes)]
    return sizes


def as_shape(sizes):
    """A list of ints and scalar tensors as a shape to give to an op."""
    if all(isinstance(d, int) for d in sizes):
        return int_array(sizes)
    return _stacking().Pack(list(sizes))


def product(sizes: Any):
    """The product of a list of ints and scalar tensors."""
    return math.prod(sizes)


def joined(*parts):
    """A shape made of lists of ints and vectors, one behind the other; an int or a scalar stands for so many ones."""
    parts = tuple([1] * part if isinstance(part, int) else part for part in parts)
    if all(isinstance(part, list) for part in parts):
        return as_shape([d for part in parts for d in part])
    from tapeflow.ops.array.construction import fill
    from tapeflow.ops.array.joining import ConcatV2
    vectors = [
        np.array(part, np.int32) if isinstance(part, list) else part if part.shape.rank else fill([part], 1)
        for part in parts
    ]
    return ConcatV2(vectors, 0) if len(vectors) > 1 else vectors[0]


def constant_value_as_shape(tensor: Tensor):
    """A tensor of sizes as a `TensorShape`: with None for the sizes that are not known, and for -1."""
    known = get_static_value(tensor, partial=True)
    if known is None:
        (count,) = tensor.shape.as_list() if tensor.shape.rank == 1 else [None]
        return TensorShape(None if count is None else [None] * count)
    return TensorShape([None if n is None or int(n) == -1 else int(n) for n in known])
