"""What libraries derive their own kinds of tensors from: `tf.__internal__.types.Tensor`."""

from __future__ import annotations

import abc
from typing import Any

from tapeflow import _native


class Tensor(metaclass=abc.ABCMeta):  # noqa: B024 (instances of subclasses only)
    """Base of what is like a tensor; tensors are instances of it too."""

    _counts_as_tensor = True  # for tf.is_tensor

    @property
    def dtype(self) -> Any:
        """The dtype of the elements. Raises NotImplementedError where a class does not say."""
        raise NotImplementedError

    @property
    def shape(self) -> Any:
        """The shape. Raises NotImplementedError where a class does not say."""
        raise NotImplementedError


class Symbol(Tensor):
    """Base of what stands for a value of a graph."""


class Value(Tensor):
    """Base of what is a value."""

    def numpy(self) -> Any:
        """The value as an array."""


Tensor.register(_native.Tensor)
Value.register(_native.EagerTensor)
