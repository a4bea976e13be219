"""The class of tensors for programs of 1.x, where `type(x) is tf.Tensor` for what a graph computes.

There, tensors with values were a subclass of it, so it counts these as its own as well.
"""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.graph import tensor as tensors


class _OfAllTensors(type):
    """The class of `Tensor`: every tensor is an instance of that, and every class of tensors a subclass."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _native.Tensor) if cls is Tensor else type.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _native.Tensor) if cls is Tensor else type.__subclasscheck__(cls, subclass)


class Tensor(tensors.SymbolicTensor, metaclass=_OfAllTensors):
    """A tensor of a graph."""

    __slots__ = ()


Tensor.__module__ = "tensorflow.python.framework.ops"
tensors.register_class(Tensor)
