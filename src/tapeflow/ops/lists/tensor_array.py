"""TensorArray: a list of tensors of one dtype that loops fill and read.

Eagerly it is a Python list; in a graph, a list of tensors in a variant tensor, its flow (`tensor_array_staged`).
Where composites are expanded, a TensorArray is its flow, so that it goes through loops, branches and functions; it
comes out as what the place needs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, IntLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError, ResourceExhaustedError
from tapeflow.core.public import boundaries
from tapeflow.core.specs.protocol import parts_of_spec, type_spec_of
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.stacking import Pack, unstack
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.lists.tensor_array_parts import elements_of, is_symbolic, shape_input
from tapeflow.ops.lists.tensor_list import TensorListReserve, TensorListSetItem
from tapeflow.ops.lists.tensor_list_rows import TensorListFromTensor
from tapeflow.ops.static import concrete_value, static_value
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.lists.tensor_array_staged import StagedTensorArray


def _tensor_array_staged() -> ModuleType:
    from tapeflow.ops.lists import tensor_array_staged  # a circle: it is made of this module

    return tensor_array_staged


_Eager = _native.EagerTensor
_Tensor = _native.Tensor


def _of_its_kind(method: Any) -> Any:
    """Lets `TensorArray.stack(array)` call the method of the array's own class, which may be one of a graph."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        own = vars(type(self))[method.__name__] if self._in_graph else method
        return own(self, *args, **kwargs)

    return call


@api("TensorArray")
class TensorArray:
    """Tensors of dtype `dtype`, read and written by index.

    `size` is the number of elements, and grows with what is written where `dynamic_size`. Each element is written
    once; with `clear_after_read` (the default) it is also read once, which only eager execution checks. Methods that
    write return the array, which the program must use from then on. `flow` is what another array consists of.

    Raises OutOfRangeError for an index outside of the array, InvalidArgumentError for elements that were not
    written, were read before, or have another dtype than the array, ValueError for another shape.
    """

    _in_graph = False
    _dtype: Any
    _dynamic_size: bool
    _infer_shape: bool
    # A list of one shape, shared by the arrays that come of one another: what one learns, all know.
    _shape: list[TensorShape]

    def __new__(
        cls, dtype: DTypeLike, size: TensorLike | None = None, dynamic_size: bool | None = None,
        clear_after_read: bool | None = None, tensor_array_name=None, handle=None, flow: Tensor | None = None,
        infer_shape: bool = True, element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True, name: str | None = None,
    ):
        if not context.executing_eagerly() or is_symbolic(flow) or is_symbolic(size):
            StagedTensorArray = _tensor_array_staged().StagedTensorArray
            cls = StagedTensorArray
        self = object.__new__(cls)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._shape = [TensorShape(element_shape)]
        self._begin(size, flow, clear_after_read)
        return self

    @property
    def dtype(self):
        return self._dtype

    @property
    def dynamic_size(self):
        return self._dynamic_size

    @property
    def element_shape(self):
        """What is known of the shape of the elements."""
        return self._shape[0]

    @property
    def handle(self):
        """None: an array is its flow."""
        return None

    @property
    def _type_spec(self):
        from tapeflow.ops.lists.tensor_array_spec import TensorArraySpec

        return TensorArraySpec(
            self.element_shape, self._dtype, self._dynamic_size, self._infer_shape
        )

    @property
    def _trace_key(self):
        """What traces of functions differ by."""
        return self._type_spec

    def mark_used(self):
        """Nothing; in TensorFlow it silences a warning."""

    def _checked(self, value: Tensor):
        """`value` as an element, or several elements' tensor."""
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        if value.dtype != self._dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} ",
            )
        return value

    def _learn(self, shape, message: str = "Incompatible shape for value ({}), expected ({})"):
        """Checks the shape of an element, and remembers it where shapes are to be inferred."""
        known = self._shape[0]
        if shape is known or (shape.rank is not None and shape == known):
            return
        if not known.is_compatible_with(shape):
            raise ValueError(message.format(shape, known))
        if self._infer_shape:
            self._shape[0] = shape if shape.is_fully_defined() else known.merge_with(shape)

    def _begin(self, size, flow, clear_after_read):
        self._clear_after_read = True if clear_after_read is None else bool(clear_after_read)
        self._cleared: set[int] = set()
        if isinstance(flow, _Tensor) and flow.dtype == dtypes.variant:
            self._tensors = elements_of(flow, self.element_shape, self._dtype)
            return
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled."
            )
        count = int(concrete_value(size))
        if count < 0:
            raise InvalidArgumentError(None, None, f"Size must be non-negative, got {count}")
        try:
            self._tensors: list = [None] * count
        except (MemoryError, OverflowError):
            raise ResourceExhaustedError(None, None, f"OOM when allocating a TensorArray of {count} tensors") from None

    @property
    def flow(self):
        """A scalar that stands for the order of writes; eagerly they are in order."""
        return convert_to_tensor(0, dtype=dtypes.int32)

    @_of_its_kind
    def identity(self):
        """The same array, which TensorFlow gives another flow."""
        return self

    @_of_its_kind
    def grad(self, source, flow=None, name: str | None = None):
        """Raises NotImplementedError: a tape differentiates arrays as they are."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does "
            "not use/need this function to compute gradients of operations that use TensorArrays."
        )

    @_of_its_kind
    def size(self, name: str | None = None):
        """The number of elements, an int32 scalar."""
        return convert_to_tensor(len(self._tensors), dtype=dtypes.int32)

    @_of_its_kind
    def read(self, index: IntLike, name: str | None = None):
        """The element at `index`."""
        if is_symbolic(index):
            return self._staged().read(index)
        at = int(concrete_value(index))
        if at in self._cleared and 0 <= at < len(self._tensors) and self._tensors[at] is None:
            raise InvalidArgumentError(
                None,
                None,
                f"Could not read index {at} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)",
            )
        value = self._held(at)
        if self._clear_after_read:
            self._tensors[at] = None
            self._cleared.add(at)
        return value

    def _held(self, at: int):
        """The element at `at`, which stays there: zeros where none was written, or it was read and cleared."""
        if not 0 <= at < len(self._tensors):
            raise OutOfRangeError(
                None,
                None,
                f"Tried to read from index {at} but array size is: {len(self._tensors)} ",
            )
        value = self._tensors[at]
        if value is None:
            value = self._tensors[at] = self._blank()
        return value

    def _blank(self):
        """What stands where nothing was written: zeros of the elements' shape."""
        if not self.element_shape.is_fully_defined():
            raise InvalidArgumentError(
                None,
                None,
                "Could not read from a TensorArray element that was not written before, and whose shape "
                f"{self.element_shape} is not fully known",
            )
        return zeros(self.element_shape, self._dtype)

    @_of_its_kind
    def write(self, index: TensorLike, value: Tensor, name: str | None = None):
        """The array with `value` at `index`."""
        if is_symbolic(index):
            return self._staged().write(index, value)
        at = int(concrete_value(index))
        if at < 0:
            raise OutOfRangeError(
                None, None, f"Writing to negative indices (index {at}) is not allowed."
            )
        if at >= len(self._tensors) and not self._dynamic_size:
            raise OutOfRangeError(
                None,
                None,
                f"Tried to write to index {at} but array is not resizeable and size is: {len(self._tensors)} ",
            )
        value = self._checked(value)
        if type(value) is not _Eager:
            return self._staged().write(index, value)
        self._learn(value.shape)
        if at >= len(self._tensors):
            self._tensors += [None] * (at + 1 - len(self._tensors))
        self._tensors[at] = value
        return self

    @_of_its_kind
    def stack(self, name: str | None = None):
        """All elements as one tensor with a new first dimension."""
        if not self._tensors:
            shape = self.element_shape.as_list() if self.element_shape.is_fully_defined() else []
            return zeros([0, *shape], self._dtype)
        return Pack([self._held(i) for i in range(len(self._tensors))])

    @_of_its_kind
    def gather(self, indices: Sequence[int], name: str | None = None):
        """The elements at `indices`, stacked."""
        if static_value(indices) is None:
            return self._staged().gather(indices)
        return Pack([self._held(int(i)) for i in concrete_value(indices)])

    @_of_its_kind
    def concat(self, name: str | None = None):
        """All elements joined along their first dimension."""
        parts = [self._held(i) for i in range(len(self._tensors))]
        for at, part in enumerate(parts):
            if not part.shape.rank:
                raise InvalidArgumentError(
                    None, None, f"Concat saw a scalar shape at index {at} but requires at least vectors."
                )
        return concat(parts, 0)

    @_of_its_kind
    def unstack(self, value: Any, name: str | None = None):
        """The array with the slices of `value` along its first dimension as elements."""
        value = self._checked(value)
        if type(value) is not _Eager:
            return self._staged().unstack(value)
        parts = unstack(value)
        if len(parts) > len(self._tensors) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(parts)} tensors into a TensorArray of static size {len(self._tensors)} "
            )
        self._tensors = [None] * len(parts)
        return self._written(enumerate(parts))

    def _written(self, parts):
        array = self
        for i, part in parts:
            array = array.write(i, part)
        return array

    @_of_its_kind
    def scatter(self, indices: Sequence[int], value: Any, name: str | None = None):
        """The array with the slices of `value` at `indices`."""
        value = self._checked(value)
        if type(value) is not _Eager or static_value(indices) is None:
            return self._staged().scatter(indices, value)
        places = [int(i) for i in concrete_value(indices)]
        return self._written(zip(places, unstack(value), strict=True))

    @_of_its_kind
    def split(self, value: Any, lengths: Sequence[int] | int, name: str | None = None):
        """The array with consecutive parts of `value` of the given lengths as elements."""
        value = self._checked(value)
        if type(value) is not _Eager or static_value(lengths) is None:
            return self._staged().split(value, lengths)
        sizes = concrete_value(lengths)
        if sizes.ndim != 1:
            raise invalid(f"Expected lengths to be a vector, received shape: {list(sizes.shape)} ")
        if not value.shape.rank:
            raise invalid("Expected value to be at least a vector, but received shape: [] ")
        if sizes.sum() != value.shape[0]:
            raise invalid(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sizes.sum()} and value's shape is: {value.shape.as_list()} "
            )
        if len(sizes) != len(self._tensors) and not self._dynamic_size:
            raise invalid(
                "TensorArray's size is not equal to the size of lengths "
                f"({len(self._tensors)} vs. {len(sizes)}), and the TensorArray is not marked as "
                "dynamically resizeable."
            )
        self._tensors = list(split(value, sizes))  # of as many shapes as there are lengths: nothing is learnt of these
        return self

    @_of_its_kind
    def close(self, name: str | None = None):
        """Forgets all elements."""
        self._tensors.clear()

    def _staged(self):
        """The array as a graph that is being built takes it."""
        return _like(self, self._list())

    def _list(self):
        """The elements as a list of tensors in a variant tensor."""
        with context.eager_mode():
            tensors = self._tensors
            shape = shape_input(self.element_shape)
            if not any(t is not None and _native.is_watched(t) for t in tensors):
                dims = None if shape.ndim == 0 else [None if d < 0 else int(d) for d in shape]
                return list_payload.element(
                    list_payload.TensorList(tensors, self._dtype, dims), dtypes.variant
                )
            if all(t is not None and t.shape == tensors[0].shape for t in tensors):
                return TensorListFromTensor(Pack(tensors), shape)
            made = TensorListReserve(shape, len(tensors), self._dtype)
            for i, t in enumerate(tensors):
                if t is not None:
                    made = TensorListSetItem(made, i, t)
            return made


def _like(array: StagedTensorArray, flow: Tensor):
    """An array as `array` is, of another flow."""
    StagedTensorArray = _tensor_array_staged().StagedTensorArray
    staged = isinstance(array, StagedTensorArray)
    shape, dtype, dynamic_size, infer_shape = parts_of_spec(type_spec_of(array))
    if isinstance(flow, _Eager) and context.executing_eagerly():
        return TensorArray(
            dtype, dynamic_size=dynamic_size, clear_after_read=None if staged else array._clear_after_read,
            flow=flow, infer_shape=infer_shape, element_shape=shape,
        )  # fmt: skip
    if staged:
        return array.with_flow(flow)
    return StagedTensorArray(
        dtype, dynamic_size=dynamic_size, flow=flow, infer_shape=infer_shape, element_shape=shape
    )


nest.register_composite(
    TensorArray,
    lambda array: [array._list()],
    lambda array, components: _like(array, components[0]),
)


boundaries(globals())
