"""Partitioned variables of 1.x: one value kept in several variables, split along one axis;
and what says how to split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike, Variable
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor, register_tensor_conversion_function
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.slicing import slice_
from tapeflow.ops.io.save_slice import SaveSliceInfo
from tapeflow.ops.state import partitioning


class PartitionInfo(NamedTuple):
    """Which part of a whole an initializer fills: the whole's shape, and where the part begins."""

    full_shape: list[int]
    var_offset: list[int]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The axis along which a part of this shape is one of several; None where it is the whole.

        Raises ValueError for a shape that does not fit, or parts along several axes.
        """
        if len(shape) != len(self.full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while self.full_shape="
                f"{self.full_shape} is of length {len(self.full_shape)}."
            )
        axes = []
        for axis, (size, offset, whole) in enumerate(zip(shape, self.var_offset, self.full_shape, strict=True)):
            if offset + size > whole:
                raise ValueError(
                    f"With self.var_offset={self.var_offset}, a partition of shape={shape} would exceed "
                    f"self.full_shape={self.full_shape} in dimension {axis}."
                )
            if size < whole:
                axes.append(axis)
        if len(axes) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and self.full_shape={self.full_shape} since slice "
                f"dim could be either dimension {axes[0]} or {axes[1]}."
            )
        return axes[0] if axes else None

    def single_offset(self, shape: Sequence[int]) -> int:
        """Where a part of this shape begins along the axis of the parts; 0 for the whole."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]


def _offset(part: Any) -> Any:
    """Where a part begins in the whole variable."""
    return part._save_slice_info.offset


class PartitionedVariable:
    """Several variables that together are one.

    Args:
      name: of the whole.
      shape: of the whole, a list.
      dtype: of all.
      variable_list: the parts, in order.
      partitions: how many parts each axis has.
    """

    def __init__(
        self, name: str, shape: Sequence[Any], dtype: DTypeLike, variable_list: Sequence[Variable],
        partitions: Sequence[int],
    ):
        if not isinstance(variable_list, (list, tuple)) or not variable_list:
            raise ValueError("variable_list may not be empty")
        self._name = name
        self._shape = list(shape)
        self._dtype = dtype
        self._parts = sorted(variable_list, key=_offset)
        self._partitions = list(partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    def _get_variable_list(self) -> list[Any]:
        return list(self._parts)

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def reused(self, shape: TensorShape, dtype: Any, partitioner: Any, reuse: Any) -> PartitionedVariable:
        """This variable, asked for once more. Raises ValueError where it may not be, or was another."""
        if reuse is False:
            raise ValueError(
                f"Partitioned variable with name {self._name} already exists. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        partitions = self._partitions if partitioner is None else _partitions(partitioner, self.shape, dtype)
        for what, given, found, fits in [
            ("shape", shape, self.shape, shape.is_compatible_with(self.shape)),
            ("dtype", dtype.name, self.dtype.name, dtype.is_compatible_with(self.dtype)),
            ("partitions", partitions, self._partitions, partitions == self._partitions),
        ]:
            if not fits:
                raise ValueError(
                    f"Trying to reuse partitioned variable {self._name}, but specified {what} {given} and found {what} "
                    f"{found}."
                )
        return self

    def as_tensor(self) -> Any:
        """The whole value; what reads it waits for nothing."""
        with control_dependencies(None):
            return self._concat()

    def _concat(self) -> Any:
        with name_scope(f"{self._name}/ConcatPartitions/"):
            values = [v.read_value() for v in self._parts]
            axis = next((i for i, n in enumerate(self._partitions) if n > 1), 0)
            whole = values[0] if len(values) == 1 else concat(values, axis)
        with name_scope(""):
            return identity(whole, name=self._name)

    def assign(
        self, value, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Assigns the parts of `value` to the variables; returns these, or the operations if not `read_value`."""
        return [
            v.assign(slice_(value, _offset(v), v.shape.as_list()), read_value=read_value)
            for v in self._parts
        ]


register_tensor_conversion_function(
    PartitionedVariable, lambda value, dtype=None, name=None, as_ref=False: value.as_tensor()
)


def whole_in(store: dict[str, Any] | None, name: str, split: bool, reuse: Any) -> PartitionedVariable | None:
    """The partitioned variable of a store; None where it has none of that name.

    Raises ValueError where a variable of this name is whole and should be split, or the other way round.
    """
    first = None if store is None else store.get(f"{name}/part_0")
    if store is not None and split and name in store:
        raise ValueError(
            f"Partitioner was provided, but an unpartitioned version of the variable was found: {name}. Perhaps a "
            "variable of the same name was already created without partitioning?"
        )
    if first is None:
        return None
    whole = getattr(first, "_whole", None)
    if not split and (whole is None or reuse is not True):
        raise ValueError(
            f"No partitioner was provided, but a partitioned version of the variable was found: {name}/part_0. Perhaps "
            "a variable of the same name was already created with partitioning?"
        )
    return whole


def _partitions(partitioner: Any, shape: TensorShape, dtype: Any) -> list[int]:
    return list(partitioner(shape=shape, dtype=dtype)) if callable(partitioner) else list(partitioner)


def partitioned_variable(
    make: Callable[..., Any], name: str, shape: TensorShape, dtype: Any, initializer: Any, regularizer: Any,
    partitioner: Any, reuse: Any,
) -> PartitionedVariable:  # fmt: skip
    """A new variable as `partitioner` splits it. Raises ValueError where only one that is known is wanted."""
    if reuse is True:
        raise ValueError(
            f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you mean to "
            "set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
        )
    if initializer is not None and not callable(initializer):
        initializer = convert_to_tensor(initializer)
        shape, dtype = shape.merge_with(initializer.shape), initializer.dtype
    if not shape.is_fully_defined():
        raise ValueError(
            f"Shape of a new partitioned variable ({name}) must be fully defined, but instead was {shape}."
        )
    sizes: list[Any] = shape.as_list()
    partitions = _partitions(partitioner, shape, dtype)
    if len(partitions) != len(sizes) or any(p < 1 for p in partitions):
        raise ValueError(
            f"Partitioner returned a partition list that does not match the shape: {partitions} vs. {shape}"
        )
    axes = [i for i, n in enumerate(partitions) if n > 1]
    if len(axes) > 1:
        raise NotImplementedError(
            f"Can currently only partition one dimension, but {len(axes)} are in {partitions} for {name}"
        )
    axis = axes[0] if axes else 0
    count = partitions[axis] if sizes else 1
    base, extra = divmod(sizes[axis], count) if sizes else (0, 0)
    parts, offset = [], 0
    for i in range(count):
        size = base + (1 if i < extra else 0)
        own = [*sizes[:axis], size, *sizes[axis + 1 :]]
        start = [offset if k == axis else 0 for k in range(len(sizes))]
        part_initializer = initializer
        own_shape: Any = own
        if initializer is not None and not callable(initializer):
            part_initializer, own_shape = slice_(initializer, start, own), None
        variable = make(
            f"{name}/part_{i}",
            shape=own_shape,
            initializer=part_initializer,
            regularizer=regularizer,
            partition_info=PartitionInfo(sizes, start),
        )
        variable._save_slice_info = SaveSliceInfo(name, sizes, start, own)
        parts.append(variable)
        offset += size
    whole = PartitionedVariable(name, sizes, dtype, parts, partitions)
    parts[0]._whole = whole  # where a store finds it
    return whole


@api(v1="variable_axis_size_partitioner")
@public
def variable_axis_size_partitioner(
    max_shard_bytes, axis: AxisLike = 0, bytes_per_string_element: int = 16, max_shards=None
):
    """Split `axis` so that no part has more than `max_shard_bytes` bytes.

    Args:
      max_shard_bytes: the largest size of a part, in bytes.
      axis: the axis that is split.
      bytes_per_string_element: how many bytes a string counts for.
      max_shards: the largest number of parts; None: any.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("max_shard_bytes and bytes_per_string_element must be positive")
    if max_shards is not None and max_shards < 1:
        raise ValueError("max_shards must be positive")

    def partitioner(shape, dtype):
        return partitioning.max_size(shape, dtype, max_shard_bytes, max_shards, bytes_per_string_element, axis)

    return partitioner


@api(v1="min_max_variable_partitioner")
@public
def min_max_variable_partitioner(
    max_partitions: int = 1, axis: AxisLike = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
):
    """Split `axis` in at most `max_partitions` parts of at least `min_slice_size` bytes.

    Args:
      max_partitions: the largest number of parts.
      axis: the axis that is split.
      min_slice_size: the least size of a part, in bytes.
      bytes_per_string_element: how many bytes a string counts for.
    """
    if max_partitions < 1:
        raise ValueError("max_partitions must be positive")

    def partitioner(shape, dtype):
        return partitioning.min_size(shape, dtype, min_slice_size, max_partitions, bytes_per_string_element, axis)

    return partitioner


@api(v1="fixed_size_partitioner")
@public
def fixed_size_partitioner(num_shards: int, axis: AxisLike = 0):
    """Split `axis` in `num_shards` parts, or as many as it has elements.

    Args:
      num_shards: the number of parts.
      axis: the axis that is split.
    """

    def partitioner(shape, **_):
        return partitioning.fixed_shards(shape, num_shards, axis)

    return partitioner


@api(v1="create_partitioned_variables")
@public
def create_partitioned_variables(
    shape: Sequence[Any], slicing, initializer: TensorLike, dtype: DTypeLike = dtypes.float32, trainable: bool = True,
    collections: str | None = None, name: str | None = None, reuse: bool | None = None,
):  # fmt: skip
    """A list of variables that together have `shape`, cut into `slicing[i]` parts along each axis i.

    Raises ValueError if the lengths differ, or if more than one axis is cut.

    Args:
      shape: the shape of the whole.
      slicing: for each axis the number of parts.
      initializer: a tensor of that shape, or a function of a shape and dtype.
      dtype: the dtype.
      trainable: whether optimizers update it.
      collections: names of collections of the graph that it is added to (optional).
      name: the name of the whole (optional).
      reuse: whether variables that are there are used; None: as the scope says.
    """
    from tapeflow.v1 import variable_getting, variable_scoping

    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: "
            f"shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    if sum(parts > 1 for parts in slicing) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, slicing: {slicing}")
    outer = variable_scoping.get_variable_scope().name
    with variable_scoping.variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        own = scope.name[len(outer) + 1 :] if outer else scope.name
    with variable_scoping.variable_scope(variable_scoping.get_variable_scope(), reuse=reuse):
        whole = variable_getting.get_variable(
            own, shape=shape, dtype=dtype if callable(initializer) else None, initializer=initializer,
            trainable=trainable, collections=collections, partitioner=lambda **_: list(slicing),
        )  # fmt: skip
    return list(whole)
