"""What tensors of a graph are while it is converted: results of instructions, constants, lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.core.dtypes import DType
from tapeflow.lite.mlir_text import Shape, tensor_type


class Call(NamedTuple):
    """What a value is computed by, as `ops.partial_values` follows it back."""

    type: str
    inputs: list[Any]
    attrs: dict[str, Any]
    outputs: list[Any]


class Value:
    """A result of an instruction, or a constant; shape rules take it for a tensor.

    Attributes:
      name: as instructions name it; None of a constant that has no instruction yet.
      tensor: the eager tensor of a constant, else None.
      op: what it is computed by, None for arguments.
    """

    __slots__ = ("dtype", "name", "op", "shape_tuple", "tensor")

    def __init__(self, dtype: DType, shape: Shape, name: str | None = None, tensor: Any = None):
        self.dtype = dtype
        self.shape_tuple = shape
        self.name = name
        self.tensor = tensor
        self.op: Call | None = None

    @classmethod
    def of(cls, tensor: Any) -> Value:
        """A constant."""
        return cls(tensor.dtype, tuple(tensor.shape.as_list()), None, tensor)

    @classmethod
    def of_array(cls, array: Any, dtype: DType) -> Value:
        return cls.of(_native.tensor_of(np.asarray(array, dtype.as_numpy_dtype), dtype))

    @property
    def type(self) -> str:
        return tensor_type(self.dtype, self.shape_tuple)

    def constant_value(self) -> np.ndarray | None:
        return None if self.tensor is None else np.asarray(self.tensor)


class ListValue:
    """A list of tensors: each element by itself while their number is known, else one tensor of them all.

    Attributes:
      dtype: of the elements.
      shape: of the elements, as far as it is known.
      elements: values, None for those that were not set yet; None where `whole` is known instead.
      whole: a value of the shape [number of elements, *shape].
    """

    def __init__(self, dtype: DType, shape: Shape, elements: list[Value | None] | None, whole: Value | None = None):
        self.dtype = dtype
        self.shape = shape
        self.elements = elements
        self.whole = whole
