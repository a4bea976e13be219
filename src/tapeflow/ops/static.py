"""What is known without running anything: values of concrete tensors and plain data, sizes of known dimensions."""

from __future__ import annotations

import math

import numpy as np

from tapeflow import _native
from tapeflow.core.public import public


def static_value(x) -> np.ndarray | None:
    """The value of `x` as an array, or None for a tensor of a graph under construction."""
    if hasattr(x, "numpy"):
        return np.asarray(x.numpy())
    if hasattr(x, "op") or hasattr(x, "graph"):
        return None
    return np.asarray(x)


@public
def get_static_value(tensor, partial=False):
    """The value of a tensor that is known without running a graph, else None; no tensor comes back as it is."""
    if isinstance(tensor, _native.EagerTensor):
        return tensor.numpy()
    return None if isinstance(tensor, (_native.Tensor, _native.Variable)) else tensor


def concrete_value(x) -> np.ndarray:
    """The value of `x` as an array. Raises ValueError for a tensor of a graph under construction."""
    value = static_value(x)
    if value is None:
        raise ValueError(f"The value of {x} is needed, but it is only known when the graph runs.")
    return value


def sizes_of(x) -> list:
    """The sizes of `x`'s dimensions: an int where it is known, else a scalar int32 tensor. The rank must be known."""
    return _sizes(x.shape, lambda: _shape_of(x))


def sizes_in(call, name: str) -> list:
    """`sizes_of` the input `name` of a call whose gradient is being made, without keeping the input."""
    return _sizes(call.static_shape(name), lambda: call.shape(name))


def _shape_of(x):
    from tapeflow.ops.array import Shape

    return Shape(x)


def _sizes(static, dynamic) -> list:
    sizes = static.as_list()
    if None in sizes:
        vector = dynamic()
        sizes = [vector[i] if d is None else d for i, d in enumerate(sizes)]
    return sizes


def as_shape(sizes):
    """A list of ints and scalar tensors as a shape to give to an op."""
    if all(isinstance(d, int) for d in sizes):
        small = all(d < 2**31 for d in sizes)
        return np.array(sizes, np.int32 if small else np.int64)
    from tapeflow.ops.joining import Pack

    return Pack(list(sizes))


def product(sizes):
    """The product of a list of ints and scalar tensors."""
    return math.prod(sizes)
