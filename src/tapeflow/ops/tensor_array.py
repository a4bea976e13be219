"""TensorArray: a list of tensors of one dtype that loops fill and read."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.construction import zeros
from tapeflow.ops.joining import Pack, concat, split, unstack
from tapeflow.ops.static import concrete_value


class TensorArray:
    """Tensors of dtype `dtype`, read and written by index.

    `size` is the number of elements, and grows with what is written where `dynamic_size`. Each element is written
    once; with `clear_after_read` (the default) it is also read once. Methods that write return the array, which
    the program must use from then on.

    Raises OutOfRangeError for an index outside of the array, InvalidArgumentError for elements that were not
    written, were read before, or have another dtype or shape than the array.
    """

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ):
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = True if clear_after_read is None else bool(clear_after_read)
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        count = 0 if size is None else int(concrete_value(size))
        if count < 0:
            raise InvalidArgumentError(None, None, f"Size must be non-negative, got {count}")
        self._tensors: list = [None] * count
        self._cleared: set[int] = set()

    @property
    def dtype(self):
        return self._dtype

    @property
    def dynamic_size(self):
        return self._dynamic_size

    @property
    def element_shape(self):
        return self._element_shape

    @property
    def flow(self):
        """A scalar that stands for the order of writes; eagerly they are in order."""
        return convert_to_tensor(0.0)

    @property
    def handle(self):
        return None

    def __len__(self):
        return len(self._tensors)

    def identity(self):
        return self

    def mark_used(self):
        """Nothing; in graphs it silences a warning."""

    def size(self, name=None):
        """The number of elements, an int32 scalar."""
        return convert_to_tensor(len(self._tensors), dtype=dtypes.int32)

    def read(self, index, name=None):
        """The element at `index`."""
        at = int(concrete_value(index))
        if not 0 <= at < len(self._tensors):
            raise OutOfRangeError(
                None,
                None,
                f"Tried to read from index {at} but array size is: {len(self._tensors)} ",
            )
        value = self._tensors[at]
        if value is None:
            if at in self._cleared:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Could not read index {at} twice because it was cleared after a previous read "
                    "(perhaps try setting clear_after_read = false?)",
                )
            value = self._blank()
        if self._clear_after_read:
            self._tensors[at] = None
            self._cleared.add(at)
        return value

    def _blank(self):
        """What stands where nothing was written: zeros of the elements' shape."""
        if not self._element_shape.is_fully_defined():
            raise InvalidArgumentError(
                None,
                None,
                "Could not read from a TensorArray element that was not written before, and whose shape "
                f"{self._element_shape} is not fully known",
            )
        return zeros(self._element_shape, self._dtype)

    def write(self, index, value, name=None):
        """The array with `value` at `index`."""
        at = int(concrete_value(index))
        if at < 0 or (at >= len(self._tensors) and not self._dynamic_size):
            raise OutOfRangeError(
                None,
                None,
                f"Tried to write to index {at} but array is not resizeable and size is: {len(self._tensors)} ",
            )
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        if value.dtype != self._dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} ",
            )
        if not self._element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Incompatible shape for value ({value.shape}), expected ({self._element_shape})"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(value.shape)
        if at >= len(self._tensors):
            self._tensors += [None] * (at + 1 - len(self._tensors))
        self._tensors[at] = value
        return self

    def stack(self, name=None):
        """All elements as one tensor with a new first dimension."""
        if not self._tensors:
            shape = self._element_shape.as_list() if self._element_shape.is_fully_defined() else []
            return zeros([0, *shape], self._dtype)
        return Pack([self.read(i) for i in range(len(self._tensors))])

    def gather(self, indices, name=None):
        """The elements at `indices`, stacked."""
        return Pack([self.read(int(i)) for i in concrete_value(indices)])

    def concat(self, name=None):
        """All elements joined along their first dimension."""
        return concat([self.read(i) for i in range(len(self._tensors))], 0)

    def unstack(self, value, name=None):
        """The array with the slices of `value` along its first dimension as elements."""
        parts = unstack(convert_to_tensor(value, dtype_hint=self._dtype))
        if len(parts) > len(self._tensors) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(parts)} tensors into a TensorArray of static size {len(self._tensors)} "
            )
        for i, part in enumerate(parts):
            self.write(i, part)
        return self

    def scatter(self, indices, value, name=None):
        """The array with the slices of `value` at `indices`."""
        for i, part in zip(concrete_value(indices), unstack(value), strict=True):
            self.write(int(i), part)
        return self

    def split(self, value, lengths, name=None):
        """The array with consecutive parts of `value` of the given lengths as elements."""
        sizes = concrete_value(lengths)
        if sizes.ndim != 1:
            raise InvalidArgumentError(
                None, None, f"lengths must be a vector, got shape {sizes.shape}"
            )
        for i, part in enumerate(split(convert_to_tensor(value), sizes)):
            self.write(i, part)
        return self

    def close(self, name=None):
        """Forgets all elements."""
        self._tensors.clear()
