"""`SparseTensor`: the elements of a tensor that are not zero, by their places."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api, api_value
from tapeflow.core import dtypes, stand_ins, tensor_shape
from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.specs import type_spec_registry
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec, placeholder_shape
from tapeflow.core.structures import nest

SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
api_value("SparseTensorValue", v1="SparseTensorValue")
SparseTensorValue.__doc__ = "The parts of a `SparseTensor` as arrays."

# In place of a dtype, in specs for traces of functions: the sizes are those that the tensor holds, not those it has.
SIZES = "sizes"


@api("sparse.SparseTensor", "SparseTensor")
@public_methods
class SparseTensor:
    """The tensor of shape `dense_shape` with `dense[indices[i]] = values[i]`, zero elsewhere.

    Args:
      indices: int64 `[n, rank]`, in the order of rows for most operations.
      values: `[n]`.
      dense_shape: int64 `[rank]`.

    Raises ValueError for parts of other ranks or of lengths that differ.
    """

    _counts_as_tensor = True  # for tf.is_tensor

    __slots__ = ("__weakref__", "_dense_shape", "_given_shape", "_indices", "_values")

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike):
        self._hold(
            convert_to_tensor(indices, dtypes.int64, name="indices"),
            convert_to_tensor(values, name="values"),
            convert_to_tensor(dense_shape, dtypes.int64, name="dense_shape"),
        )
        places = self._indices.shape.with_rank(2)
        rank = self._dense_shape.shape.with_rank(1)
        self._values.shape.with_rank(1)[0:1].assert_is_compatible_with(places[0:1])
        rank.assert_is_compatible_with(places[1:2])

    def _hold(self, indices: Any, values: Any, dense_shape: Any, given: tensor_shape.TensorShape | None = None):
        """Take the three parts, and what is known of the dense shape besides its tensor."""
        self._indices, self._values, self._dense_shape = indices, values, dense_shape
        self._given_shape = given

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """The sparse tensor of a `SparseTensorValue`, or of another sparse tensor. Raises TypeError."""
        value = sparse_tensor_value
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {value}.")
        return SparseTensor(value.indices, value.values, value.dense_shape)

    @property
    def indices(self):
        return self._indices

    @property
    def values(self):
        return self._values

    @property
    def dense_shape(self):
        return self._dense_shape

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def op(self):
        return self._values.op

    @property
    def graph(self):
        return self._indices.graph

    @property
    def shape(self) -> tensor_shape.TensorShape:
        """What is known of the dense shape."""
        shape = stand_ins.shape_of_sizes(self._dense_shape)
        return shape if self._given_shape is None else shape.merge_with(self._given_shape)

    def get_shape(self) -> tensor_shape.TensorShape:
        """What is known of the dense shape."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Say more about the dense shape. Raises ValueError where that contradicts what is known."""
        self._given_shape = self.shape.merge_with(shape)

    def with_values(self, new_values):
        """The sparse tensor with other values in the same places."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def _trace_specs(self) -> list[Any]:
        """What a trace of a function depends on: the dense shape, not how many elements there are."""
        rank = self._indices.shape.as_list()[1] if self._indices.shape.rank is not None else None
        shape = self.shape
        sizes = None if shape.rank is None else tuple(shape.as_list())
        return [(dtypes.int64, (None, rank)), (self.dtype, (None,)), (SIZES, sizes)]

    def consumers(self):
        """The operations of a graph that take the parts of this as inputs."""
        found: list[Any] = []
        for part in (self._indices, self._values, self._dense_shape):
            found += [op for op in part.consumers() if op not in found]
        return found

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session=None):
        """The value in a session, a `SparseTensorValue`."""
        parts = [self._indices, self._values, self._dense_shape]
        if session is None:
            return SparseTensorValue(*[part.eval(feed_dict) for part in parts])
        return SparseTensorValue(*session.run(parts, feed_dict))

    def _from_session_values(self, values: Sequence[np.ndarray]):
        return SparseTensorValue(*values)

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def __mul__(self, other):
        return stand_ins.sparse_operator("scaled")(self, other)

    def __rmul__(self, other):
        return stand_ins.sparse_operator("scaled")(self, other) if isinstance(other, Tensor) else NotImplemented

    def __truediv__(self, other):
        return stand_ins.sparse_operator("divided")(self, other)

    def __div__(self, other):
        return stand_ins.sparse_operator("divided")(self, other)

    def __str__(self):
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )

    __repr__ = __str__


def _components(sparse: SparseTensor) -> list[Any]:
    return [sparse.indices, sparse.values, sparse.dense_shape]


def _composed(like: Any, parts: Any) -> Any:
    parts = list(parts)
    if all(hasattr(part, "dtype") and hasattr(part, "shape") for part in parts) and not any(
        isinstance(part, (np.ndarray, np.generic)) for part in parts
    ):
        return _assembled(like, parts)
    return SparseTensorValue(*parts)


def _assembled(like: Any, parts: list[Any]) -> Any:
    if any(isinstance(part, TypeSpec) for part in parts):
        return SparseTensorValue(*parts)
    made = SparseTensor.__new__(SparseTensor)
    known = hasattr(parts[2], "known_sizes")
    indices, values, dense_shape = parts
    made._hold(indices, values, dense_shape, None if known else getattr(like, "_given_shape", None))
    return made


nest.register_composite(SparseTensor, _components, _composed)


@api("SparseTensorSpec")
@type_spec_registry.register("tf.SparseTensorSpec")
class SparseTensorSpec(TypeSpec):
    """Describes a `SparseTensor` by its dense shape and the dtype of its values."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32):
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def value_type(self) -> type:
        return SparseTensor

    def _parts(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _from_placeholders(self, make: Callable[..., Any]) -> Any:
        """A sparse tensor of which `make(dtype, shape)` gives the parts."""
        parts = [make(s.dtype, placeholder_shape(s)) for s in self._component_specs]
        made = _composed(None, parts)
        if isinstance(made, SparseTensor):
            made.set_shape(self._shape)
        return made

    def _to_components(self, value: Any) -> list[Any]:
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return _components(value)

    def _from_components(self, parts: Any) -> SparseTensor:
        made = SparseTensor(*parts)
        made.set_shape(self._shape)
        return made

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        """The spec of several of them in a stack."""
        return SparseTensorSpec(tensor_shape.TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        """The spec of one of a stack."""
        return SparseTensorSpec(self._shape[1:], self._dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a sparse tensor. Raises TypeError for another value."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            return cls(list(value.dense_shape), np.asarray(value.values).dtype)
        raise TypeError(f"Expected SparseTensor or SparseTensorValue. Received: {value}")

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a sparse tensor, or one that a spec describes, agrees with this."""
        if isinstance(spec_or_value, (SparseTensor, SparseTensorValue)):
            spec_or_value = SparseTensorSpec.from_value(spec_or_value)
        return (
            isinstance(spec_or_value, SparseTensorSpec)
            and self._dtype.is_compatible_with(spec_or_value.dtype)
            and self._shape.is_compatible_with(spec_or_value.shape)
        )

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"
