"""`StructuredTensor`: a tensor of structures, kept as one tensor for each of their fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.public import public_methods
from tapeflow.core.specs.extension_batching import BatchableExtensionType
from tapeflow.core.specs.extension_type import ExtensionType
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.row_partition import RowPartition
from tapeflow.ops.ragged.shape import DynamicRaggedShape
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.structured import fields as fields_
from tapeflow.ops.structured.python_values import Maker, as_python
from tapeflow.ops.structured.updating import updated

_NAME = re.compile("^[a-zA-Z][a-zA-Z0-9_]*$")


@public_methods
class StructuredTensor(BatchableExtensionType):
    """A tensor whose elements are structures, dicts of fields: records of a file, rows of a table.

    Each field is a tensor, a ragged tensor, or another tensor of structures, whose outer dimensions are those of this.
    Made by `from_pyval`, `from_fields`, `from_fields_and_rank` or `from_shape`.

    Args:
      fields: the fields by their names.
      ragged_shape: the shape, which the outer dimensions of all fields have.

    >>> people = tf.experimental.StructuredTensor.from_pyval([{"age": 12, "names": ["Ann"]}, {"age": 82, "names": []}])
    >>> people.shape
    TensorShape([2])
    >>> people[0]["age"]
    <tf.Tensor: shape=(), dtype=int32, numpy=12>
    """

    __name__ = "tf.StructuredTensor"

    _fields: Mapping[str, _native.Tensor | RaggedTensor | StructuredTensor | ExtensionType]
    _ragged_shape: DynamicRaggedShape

    def __init__(self, fields: Mapping[str, Any], ragged_shape: DynamicRaggedShape):
        self._fields = fields
        self._ragged_shape = ragged_shape

    @classmethod
    def from_shape(cls, ragged_shape: DynamicRaggedShape) -> StructuredTensor:
        """Structures without fields, of a shape."""
        return cls({}, ragged_shape)

    @classmethod
    def from_fields(
        cls, fields: dict[str, Any], shape: Any = (), nrows: Any = None, row_partitions: Any = None,
        validate: bool = False,
    ) -> StructuredTensor:
        """Structures of their fields.

        Args:
          fields: what is of the shape of the structures in its outer dimensions, by the names of fields.
          shape: what is known of the shape, of which the rank must be known.
          nrows: the number of rows (optional).
          row_partitions: how the dimensions but the outermost are cut into rows (optional).
          validate: not used: what does not fit is found in any case.

        Raises ValueError for fields of different shapes, TypeError for values that are no tensors.
        """
        known = as_shape(shape)
        rank = known.rank
        if rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")
        if not isinstance(fields, dict):
            raise TypeError(f"fields must be a dictionary, got {type(fields).__name__}")
        if rank < 2 and row_partitions:
            raise ValueError("row_partitions must be None or [] if shape.rank<2")
        if rank == 0 and nrows is not None:
            raise ValueError("nrows must be None if shape.rank==0")
        parts = None if row_partitions is None else tuple(row_partitions)
        if parts is not None and len(parts) != max(0, rank - 1):
            raise ValueError("len(row_partitions) must be shape.rank-1")
        for name in fields:
            if not isinstance(name, str):
                raise TypeError(f"Unexpected type for key in `fields`: {name}")
            if not _NAME.match(name):
                raise ValueError(f"Field name {name!r} is not currently allowed.")
        made = {name: fields_.converted(value) for name, value in fields.items()}
        whole = fields_.shape_of_all(made, known, nrows, parts)
        return cls._of(made, whole, rank)

    @classmethod
    def _of(cls, fields: dict[str, Any], shape: Any, rank: int) -> StructuredTensor:
        """Structures of a shape of which all inner dimensions become partitions, that the fields share."""
        fields = fields_.with_sizes_dtype(fields, shape.dtype)
        if rank > 1:
            made = cls({}, shape)
            parts = fields_.row_partitions(made)
            shape = fields_.shape_of(made)._with_num_row_partitions(rank - 1)
            fields = {name: fields_.with_partitions(value, parts) for name, value in fields.items()}
        return cls(fields, shape)

    @classmethod
    def from_fields_and_rank(
        cls, fields: Mapping[str, Any], rank: int, validate: bool = False, dtype: DTypeLike | None = None
    ) -> StructuredTensor:
        """Structures whose shape is that of the outer `rank` dimensions of their fields, of which there must be some.

        `dtype` is that of the sizes, by default what the fields have.
        """
        if not fields:
            raise ValueError("Must provide at least one field")
        if not isinstance(rank, int):
            raise ValueError("rank must be an integer")
        if rank < 0:
            raise ValueError("rank must be nonnegative")
        made = {name: fields_.converted(value) for name, value in fields.items()}
        kind = fields_.sizes_dtype(made, None, None) if dtype is None else dtype
        made = fields_.with_sizes_dtype(made, kind)
        return cls._of(made, fields_.common_shape(made, rank, kind), rank)

    @classmethod
    def from_pyval(cls, pyval: Any, typespec: Any = None) -> Any:
        """The tensors of a Python value: dicts become structures, lists tensors, or ragged tensors where rows differ.

        Raises ValueError where the value is not what `typespec`, if given, says.
        """
        return Maker(cls).made(pyval, typespec)

    def to_pyval(self) -> Any:
        """The structures as a dict, or nested lists of dicts. Raises ValueError in a graph."""
        if not all(isinstance(t, _native.EagerTensor) for t in nest.flatten(self, expand_composites=True)):
            raise ValueError("StructuredTensor.to_pyval() is only supported in eager mode.")
        return as_python(self)

    # What it is made of

    @property
    def ragged_shape(self) -> DynamicRaggedShape:
        """The shape."""
        return self._ragged_shape

    @property
    def rank(self) -> int:
        """The number of dimensions, which is always known."""
        return self._ragged_shape.rank

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape."""
        return fields_.shape_of(self)._to_tensor_shape()

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """How the dimensions but the outermost are cut into rows."""
        return fields_.row_partitions(self)

    def nrows(self) -> Any:
        """The number of rows, a scalar; None without dimensions."""
        return None if self.rank == 0 else self._ragged_shape[0]

    def field_names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self._fields)

    def field_value(self, field_name: Any) -> Any:
        """The value of a field, or of one in nested structures, where names of all levels are given.

        Raises KeyError for a field that there is not.
        """
        if not isinstance(field_name, (list, tuple)):
            return self._fields[field_name]
        value: Any = self
        for name in field_name:
            if not isinstance(value, StructuredTensor):
                raise KeyError(f"Field path {field_name} not found in {self}")
            value = value.field_value(name)
        return value

    # Changing

    def with_shape_dtype(self, dtype: DTypeLike) -> StructuredTensor:
        """The same with sizes of int32 or int64."""
        if dtype == self._ragged_shape.dtype:
            return self
        return StructuredTensor(
            fields_.with_sizes_dtype(self._fields, dtype), self._ragged_shape.with_dtype(dtype)
        )

    def with_updates(self, updates: Mapping[Any, Any], validate: bool = False) -> StructuredTensor:
        """The structures with other, new or fewer fields.

        Args:
          updates: by the name of a field, or the names of all levels down to it: its value, a function of what
            it is, or None, which removes it.
          validate: not used.

        Raises ValueError for fields inside of what is no structure, and for updates of one inside of another.
        """
        return updated(self, updates)

    def promote(self, source_path: Sequence[str], new_name: str) -> StructuredTensor:
        """The structures with a field of nested ones as their own, dimensions of the nested ones merged.

        Args:
          source_path: the names of all levels down to the field, two at least.
          new_name: the name it gets where the structure that holds it is.
        """
        if not isinstance(new_name, str):
            raise ValueError("new_name is not a string")
        if not isinstance(source_path, (list, tuple)):
            raise ValueError("source_path must be a list or tuple")
        if len(source_path) < 2:
            raise ValueError("source_path must have length at least two")
        outer = tuple(source_path[:-2])
        field = self.field_value(source_path)
        new_rank, old_rank = self.field_value(outer).rank, self.field_value(source_path[:-1]).rank
        if new_rank != old_rank:
            if field.shape.rank is None:
                raise ValueError("Cannot determine if dimensions should be merged.")
            inner = min(old_rank, field.shape.rank - 1)
            field = fields_.merge_dims(field, new_rank, inner) if inner > new_rank else field
        return self.with_updates({(*outer, new_name): field})

    def partition_outer_dimension(self, row_partition: RowPartition) -> StructuredTensor:
        """The structures with the outer dimension cut into rows."""
        if not isinstance(row_partition, RowPartition):
            raise TypeError("row_partition must be a RowPartition.")
        if self.rank == 0:
            raise ValueError(f"Shape {self.shape} must have rank at least 1")
        return fields_.partitioned(self, row_partition)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> StructuredTensor:
        """Dimensions `outer_axis` to `inner_axis` as one."""
        outer = positive_axis(outer_axis, self.rank, "outer_axis")
        inner = positive_axis(inner_axis, self.rank, "inner_axis")
        if outer > inner:
            raise ValueError(f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner})")
        return self if outer == inner else fields_.merge_dims(self, outer, inner)

    def __getitem__(self, key: Any) -> Any:
        keys = tuple(key) if isinstance(key, (list, tuple)) else (key,)
        if not keys:
            return self
        rank = self.rank
        fields: dict[Any, Any] = dict(self._fields)
        if rank == 0 and _is_whole(keys[0]):
            inner = {name: value[keys[1:]] if keys[1:] else value for name, value in fields.items()}
            return StructuredTensor.from_fields(inner, ())
        if len(keys) > rank:
            name, others = keys[rank], (*keys[:rank], *keys[rank + 1 :])
            if not isinstance(name, (str, bytes)):
                wanted = "a string or a full slice (':')" if rank == 0 else "a string"
                raise ValueError(f"Key for indexing a StructuredTensor must be {wanted}")
            return fields[name][others] if others else fields[name]
        sizes = _sizes_of_part(self.shape.as_list(), keys)
        return StructuredTensor.from_fields({name: v[keys] for name, v in fields.items()}, sizes)

    def __repr__(self) -> str:
        shown = ((name, str(value).replace("\n", "\n            ")) for name, value in sorted(self._fields.items()))
        fields = ",\n        ".join(f'"{name}": {text}' for name, text in shown)
        return f"<StructuredTensor(\n    fields={{\n        {fields}}},\n    shape={self.shape})>"

    class Spec:
        """What is known of structures: their shape, and the specs of their fields."""

        @property
        def shape(self) -> TensorShape:
            """What is known of the shape."""
            return _shape_of_spec(self)._to_tensor_shape()

        @property
        def rank(self) -> int | None:
            """The number of dimensions."""
            return _shape_of_spec(self).rank

        @property
        def field_specs(self) -> dict[str, Any]:
            """The specs of the fields by their names."""
            return dict(self._fields)  # type: ignore[attr-defined]

        @classmethod
        def _from_fields_and_rank(cls, fields: Mapping[str, Any], rank: int) -> Any:
            """The spec of structures whose shape is the outer dimensions of their fields."""
            shape = None
            for name, field in fields.items():
                found = _shape_spec(field)
                if found is None:
                    raise ValueError(f"Cannot convert spec of {name}.")
                if found.rank is not None and found.rank < rank:
                    raise ValueError(f"Rank of field {name} is {found.rank}, but must be at least {rank}.")
                outer = _shape_spec(field)._truncate(rank)
                shape = outer if shape is None else shape._merge_with(outer)
            return cls(_fields=fields, _ragged_shape=shape)  # type: ignore[call-arg]

        @classmethod
        def _from_shape(cls, shape: Any) -> Any:
            return cls(_fields={}, _ragged_shape=shape)  # type: ignore[call-arg]


def _shape_of_spec(spec: Any) -> Any:
    return spec.__dict__["_ragged_shape"]


def _shape_spec(spec: Any) -> Any:
    """The spec of the shape of what a spec describes."""
    if hasattr(spec, "field_specs"):
        return _shape_of_spec(spec)
    return DynamicRaggedShape.Spec._from_spec(spec)


def _is_whole(key: Any) -> bool:
    return isinstance(key, slice) and key.start is None and key.stop is None and key.step is None


def _sizes_of_part(sizes: list[int | None], keys: Sequence[Any]) -> list[int | None]:
    """The sizes that are left of structures when they are indexed. Raises ValueError for what is no index or slice."""
    found: list[int | None] = []
    for size, key in zip(sizes, keys, strict=False):
        if isinstance(key, slice):
            found.append(size if _is_whole(key) else None)
        elif key is None:
            raise ValueError("Slicing not supported for tf.newaxis")
        elif not isinstance(key, (int, _native.Tensor)):
            raise ValueError(f"Slicing not supported for {key!r}")
    return found + sizes[len(keys) :]


