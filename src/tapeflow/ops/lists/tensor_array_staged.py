"""TensorArray in graphs: a list of tensors in a variant tensor, which each write replaces by a new one."""

from __future__ import annotations

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.control.grouping import no_op
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.lists.tensor_array_parts import shape_input
from tapeflow.ops.lists.tensor_list import TensorListReserve, TensorListSetItem
from tapeflow.ops.lists.tensor_list_reading import (
    TensorListConcatV2,
    TensorListGather,
    TensorListGetItem,
    TensorListLength,
    TensorListStack,
)
from tapeflow.ops.lists.tensor_list_rows import (
    TensorListFromTensor,
    TensorListScatterIntoExistingList,
    TensorListSplit,
)
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import static_value

_INCONSISTENT = "Inconsistent shapes: saw {} but expected {} "


class StagedTensorArray(TensorArray):
    """The array of a graph that is being built."""

    _in_graph = True

    def _begin(self, size: TensorLike | None, flow: Tensor | None, clear_after_read: bool | None):
        self._size = size
        self._flow = flow
        if flow is not None and not _is_list(flow):
            # 1.x code hands on the flow of an array it was given: a float there, a list here.
            raise TypeError(f"`flow` must be a variant tensor. Received: {flow!r}")
        if flow is not None:
            return
        if size is None:
            raise ValueError("Argument `size` must be provided if argument `flow` is not provided.")
        self._flow = TensorListReserve(shape_input(self.element_shape), size, self._dtype)

    def with_flow(self, flow: Tensor):
        """The array after a write."""
        made = StagedTensorArray(
            self._dtype, dynamic_size=self._dynamic_size, flow=flow, infer_shape=self._infer_shape
        )
        made._shape, made._size = self._shape, self._size
        return made

    def _list(self):
        return self._flow

    @property
    def flow(self):
        """The list, a scalar variant tensor."""
        return self._flow

    @property
    def _trace_key(self):
        # A function called with this array may count on the size that it has.
        return self._type_spec, self._count()

    def identity(self):
        """The same array, computed anew."""
        return self.with_flow(Identity(self._flow))

    def grad(self, source: str, flow=None, name: str | None = None):
        """Raises NotImplementedError: arrays are differentiated as they are."""
        raise NotImplementedError(
            "TensorArray.grad is not supported: gradients of what reads a TensorArray need no array of their own."
        )

    def size(self, name: str | None = None):
        """The number of elements, an int32 scalar."""
        if not self._dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtype=dtypes.int32)
        return TensorListLength(self._flow)

    def read(self, index: TensorLike, name: str | None = None):
        """The element at `index`."""
        value = TensorListGetItem(
            self._flow, _index(index), shape_input(self.element_shape), self._dtype
        )
        return self._shaped(value, self.element_shape)

    @staticmethod
    def _shaped(value: Tensor, shape):
        if shape.rank is not None:
            value.set_shape(shape)
        return value

    def write(self, index: TensorLike, value: Tensor, name: str | None = None):
        """The array with `value` at `index`."""
        value = self._checked(value)
        self._learn(value.shape, _INCONSISTENT)
        return self.with_flow(
            TensorListSetItem(
                self._flow, _index(index), value, resize_if_index_out_of_bounds=self._dynamic_size
            )
        )

    def _count(self):
        """The number of elements where it is known, else None."""
        if self._dynamic_size or self._size is None:
            return None
        size = static_value(self._size)
        return None if size is None or size < 0 else int(size)

    def stack(self, name: str | None = None):
        """All elements as one tensor with a new first dimension."""
        count = self._count()
        value = TensorListStack(
            self._flow,
            shape_input(self.element_shape),
            self._dtype,
            num_elements=-1 if count is None else count,
        )
        return self._shaped(value, TensorShape([count]).concatenate(self.element_shape))

    def gather(self, indices, name: str | None = None):
        """The elements at `indices`, stacked."""
        indices = _index(indices)
        value = TensorListGather(self._flow, indices, shape_input(self.element_shape), self._dtype)
        return self._shaped(value, indices.shape[:1].concatenate(self.element_shape))

    def concat(self, name: str | None = None):
        """All elements joined along their first dimension."""
        shape = self.element_shape
        if shape.rank is not None:
            shape = TensorShape([None]).concatenate(shape[1:])
        none = convert_to_tensor([], dtypes.int64)
        value = TensorListConcatV2(self._flow, shape_input(shape), none, self._dtype).tensor
        return self._shaped(value, shape)

    def unstack(self, value: Tensor, name: str | None = None):
        """The array with the slices of `value` along its first dimension as elements."""
        value = self._checked(value)
        if value.shape.rank == 0:
            raise ValueError(f"Cannot unstack a scalar into a TensorArray: {value!r}")
        self._learn(value.shape[1:], _INCONSISTENT)
        return self.with_flow(TensorListFromTensor(value, shape_input(value.shape[1:])))

    def scatter(self, indices, value, name: str | None = None):
        """The array with the slices of `value` at `indices`."""
        value = self._checked(value)
        self._learn(value.shape[1:], _INCONSISTENT)
        return self.with_flow(TensorListScatterIntoExistingList(self._flow, value, _index(indices)))

    def split(self, value, lengths, name=None):
        """The array with consecutive parts of `value` of the given lengths as elements."""
        value = self._checked(value)
        lengths = convert_to_tensor(lengths)
        if lengths.dtype != dtypes.int64:
            lengths = cast(lengths, dtypes.int64)
        sizes = static_value(lengths)
        rest = value.shape[1:] if value.shape.rank else TensorShape(None)
        same = sizes is not None and sizes.size and sizes.min() == sizes.max()
        if value.shape.rank is not None and same:
            self._learn(TensorShape([int(sizes.flat[0])]).concatenate(rest), _INCONSISTENT)
        shape = shape_input(self.element_shape)
        return self.with_flow(TensorListSplit(value, shape, lengths))

    def close(self, name: str | None = None):
        """An operation that does nothing: the graph frees a list after its last use."""
        return no_op(name)


def _is_list(flow: Tensor) -> bool:
    # What stands for a flow while structures are mapped need not be a tensor.
    return not isinstance(flow, _native.Tensor) or flow.dtype == dtypes.variant


def _index(index: TensorLike):
    """Indices as the TensorList ops take them."""
    index = convert_to_tensor(index)
    return index if index.dtype == dtypes.int32 else cast(index, dtypes.int32)
