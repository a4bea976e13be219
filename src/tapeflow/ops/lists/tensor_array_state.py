"""Arrays of tensors behind handles, as graphs of 1.x have them: what the ops of `tensor_array_handles` work on."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.validate import invalid, type_text

# How many elements an array can have at the most.
_MOST = 1 << 26


class ArrayOfTensors:
    """Elements of one dtype, by index.

    Args:
      shape: of the elements, as far as it is known.
      dynamic: whether writes behind its end make it larger.
      clears: whether an element goes when it is read.
      identical: whether all elements are of one shape, which the first one tells.
      adds: whether what is written to one index is added up, as gradients are.
    """

    def __init__(
        self, name: str, dtype: Any, size: int, shape: Any, dynamic: bool, clears: bool, identical: bool,
        adds: bool = False,
    ):  # fmt: skip
        if not 0 <= size <= _MOST:
            raise invalid(f"Size should be between 0 and {_MOST}, got {size}")
        self.name, self.dtype, self.shape = name, dtype, TensorShape(shape)
        self.dynamic, self.clears, self.identical, self.adds = dynamic, clears, identical, adds
        self._elements: list[Any] | None = [None] * size
        # The shapes of what was written, also after it was read.
        self._shapes: list[Any] = [None] * size
        self._cleared: set[int] = set()
        self._gradients: dict[str, ArrayOfTensors] = {}

    def elements(self) -> list[Any]:
        if self._elements is None:
            raise invalid(f"TensorArray {self.name} has already been closed.")
        return self._elements

    def check_dtype(self, dtype: Any, what: str) -> None:
        if dtype != self.dtype:
            raise invalid(
                f"TensorArray dtype is {type_text(self.dtype)} but Op is trying to {what} dtype {type_text(dtype)}."
            )

    def write(self, index: int, value: Any) -> None:
        elements = self.elements()
        self.check_dtype(value.dtype, "write")
        where = f"Could not write to TensorArray index {index} because"
        if not self.shape.is_compatible_with(value.shape):
            raise invalid(
                f"{where} the value shape is {value.shape} which is incompatible with the TensorArray's inferred "
                f"element shape: {self.shape} (consider setting infer_shape=False)."
            )
        self._reach(index, elements)
        if index in self._cleared:
            raise invalid(f"{where} it has already been read.")
        old = elements[index]
        if old is not None and not self.adds:
            raise invalid(f"{where} it has already been written to.")
        if old is not None:
            if old.shape != value.shape:
                raise invalid(f"{where} the value shape is {value.shape} but its current shape is {old.shape}.")
            total = list_payload.array_of(old) + list_payload.array_of(value)
            value = list_payload.element(np.asarray(total), self.dtype)
        elements[index] = value
        self._shapes[index] = value.shape
        if self.identical:
            self.shape = self.shape.merge_with(value.shape)

    def _reach(self, index: int, elements: list[Any]) -> None:
        if index < 0 or (index >= len(elements) and not self.dynamic) or index >= _MOST:
            raise invalid(
                f"Tried to write to index {index} but array is not resizeable and size is: {len(elements)}"
            )
        more = [None] * (index + 1 - len(elements))
        elements += more
        self._shapes += more

    def read(self, index: int, dtype: Any) -> Any:
        elements = self.elements()
        self.check_dtype(dtype, "read")
        if not 0 <= index < len(elements):
            raise invalid(f"Tried to read from index {index} but array size is: {len(elements)}")
        if index in self._cleared:
            raise invalid(
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)."
            )
        found = elements[index]
        if found is None:
            shape = self.shape if self._shapes[index] is None else self._shapes[index]
            if not shape.is_fully_defined():
                raise invalid(
                    f"Could not read from TensorArray index {index}.  Furthermore, the element shape is not fully "
                    f"defined: {shape}.  It is possible you are working with a resizeable TensorArray and "
                    "stop_gradients is not allowing the gradients to be written.  If you set the full element_shape "
                    "property on the forward TensorArray, the proper all-zeros tensor will be returned instead of "
                    "incurring this error."
                )
            found = list_payload.element(list_payload.blank(tuple(shape.as_list()), self.dtype), self.dtype)
        if self.clears:
            elements[index] = None
            self._cleared.add(index)
        return found

    def close(self) -> None:
        self._elements = None

    def gradient(self, source: str, prepended: tuple[int, ...] = ()) -> ArrayOfTensors:
        """The array of the gradients of its elements, one for each source; they have `prepended` dimensions more."""
        count = len(self.elements())
        if source not in self._gradients:
            shape = TensorShape(prepended).concatenate(self.shape)
            made = ArrayOfTensors(f"{self.name}@{source}", self.dtype, count, shape, False, False, self.identical, True)
            made._shapes = [None if s is None else TensorShape(prepended).concatenate(s) for s in self._shapes]
            self._gradients[source] = made
        return self._gradients[source]
