"""`IndexedSlices`: some slices of a larger tensor along its first axis, as gradients of gathers are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.api import api, providers
from tapeflow.core import dtypes, stand_ins, tensor_shape
from tapeflow.core.specs.protocol import paired_parts, type_spec_of
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import gradient_parts, nest

_to_dense: Callable[[IndexedSlices], Any] | None = None


def register_dense(function: Callable[[IndexedSlices], Any]) -> None:
    """Let `function` make the tensor that an `IndexedSlices` with a dense shape stands for.

    Its package lies above this one, as it is made of operations.
    """
    global _to_dense
    _to_dense = function


@api("IndexedSlices")
class IndexedSlices:
    """The tensor of shape `dense_shape` with `dense[indices[i]] = values[i]`, zero elsewhere.

    Indices may repeat: the slices then add up.

    Args:
      values: the slices, a tensor of shape `[n, d1, ...]`.
      indices: int tensor of shape `[n]`.
      dense_shape: 1-D int tensor, or None if it is not known.
    """

    __slots__ = ("_values", "_indices", "_dense_shape", "__weakref__")

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        return self._values

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    @property
    def shape(self) -> tensor_shape.TensorShape:
        """The dense shape, of unknown rank if it is not known."""
        if self._dense_shape is None:
            return tensor_shape.TensorShape(None)
        return stand_ins.shape_of_sizes(self._dense_shape)

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def graph(self) -> Any:
        return self._values.graph

    def consumers(self) -> list[Any]:
        """The operations of a graph that take the parts of this as inputs; [] eagerly."""
        consumers = getattr(self._values, "consumers", None)
        return list(consumers()) if consumers is not None else []

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        indices = self._indices.shape.with_rank(1)
        rows = self._values.shape[1:]
        dense_shape = self._dense_shape
        shape = tensor_shape.TensorShape([None]).concatenate(rows)
        if dense_shape is not None:
            shape = shape.merge_with(self.shape)
        return IndexedSlicesSpec(
            shape,
            self.dtype,
            self._indices.dtype,
            None if dense_shape is None else dense_shape.dtype,
            indices,
        )

    def to_dense(self) -> Any:
        """The tensor this stands for. Raises ValueError if the dense shape is not known."""
        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices for argument `value` without "
                f"dense_shape: {self}"
            )
        if _to_dense is None:
            providers.load("operators")
        assert _to_dense is not None
        return _to_dense(self)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        parts = [f"indices={self._indices!s}", f"values={self._values!s}"]
        if self._dense_shape is not None:
            parts.append(f"dense_shape={self._dense_shape!s}")
        return f"IndexedSlices({', '.join(parts)})"

    __repr__ = __str__


def _components(slices: IndexedSlices) -> list[Any]:
    parts = [slices.values, slices.indices]
    return parts if slices.dense_shape is None else [*parts, slices.dense_shape]


nest.register_composite(
    IndexedSlices, _components, lambda _like, components: IndexedSlices(*components)
)
gradient_parts.register(
    IndexedSlices,
    lambda slices: slices.values,
    lambda slices, gradient: IndexedSlices(gradient, slices.indices, slices.dense_shape),
)


@api("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """Describes an `IndexedSlices`.

    Args:
      shape: the dense shape, whatever `TensorShape` accepts.
      dtype: of the values.
      indices_dtype: int32 or int64.
      dense_shape_dtype: int32 or int64; None if there is no dense shape.
      indices_shape: the shape of the indices.
    """

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ):
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = (
            None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        )
        self._indices_shape = tensor_shape.as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        return IndexedSlices

    @property
    def _values_dtype(self) -> dtypes.DType:
        return self._dtype

    def _serialize(self) -> tuple[Any, ...]:
        """The parts, to be written."""
        return self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        """Specs of the component tensors."""
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = [TensorSpec(rows, self._dtype), TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.ndims], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: IndexedSlices) -> tuple[Any, ...]:
        return tuple(_components(value))

    def _from_components(self, components: Any) -> IndexedSlices:
        return IndexedSlices(*components)

    def _from_placeholders(self, make: Callable[..., Any]) -> IndexedSlices:
        """Slices of placeholders, made by `make(dtype, shape tuple)`."""
        return self._from_components([
            make(s.dtype, None if s.shape.rank is None else tuple(s.shape.as_list())) for s in self._component_specs
        ])  # fmt: skip

    def _parts(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether an `IndexedSlices`, or one that a spec describes, agrees with this spec."""
        if isinstance(spec_or_value, IndexedSlices):
            spec_or_value = type_spec_of(spec_or_value)
        if not isinstance(spec_or_value, IndexedSlicesSpec):
            return False
        for mine, its in paired_parts(self, spec_or_value):
            if isinstance(mine, tensor_shape.TensorShape):
                if not mine.is_compatible_with(its):
                    return False
            elif mine != its:
                return False
        return True

    def __repr__(self) -> str:
        return f"IndexedSlicesSpec({', '.join(repr(part) for part in self._parts())})"
