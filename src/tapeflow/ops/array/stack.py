"""Stacks of tensors behind handles: the ops of `tf.raw_ops`. One lives as long as the run that makes it."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.signature import dtype
from tapeflow.ops.state.resource_op import expect, handle_of, resource_op


class Stack:
    """Elements of one dtype; the last that came is the first to go. `most`: how many it holds, below 0 any number."""

    def __init__(self, name: str, elem_type: Any, most: int):
        self.name, self.elem_type, self.most = name, elem_type, most
        self._elements: list[Any] | None = []

    def _open(self) -> list[Any]:
        if self._elements is None:
            raise InvalidArgumentError(None, None, f"Stack[{self.name}] has already been closed.")
        return self._elements

    def push(self, element: Any) -> None:
        """Raises InvalidArgumentError for a full or closed stack, or another dtype."""
        elements = self._open()
        if element.dtype != self.elem_type:
            raise InvalidArgumentError(
                None, None,
                f"Must have type {self.elem_type.name} but got {element.dtype.name}",
            )  # fmt: skip
        if 0 <= self.most <= len(elements):
            raise InvalidArgumentError(
                None, None, f"Stack[{self.name}] overflowed its max_size ({self.most})"
            )
        elements.append(element)

    def pop(self, elem_type: Any) -> Any:
        """Raises InvalidArgumentError for an empty or closed stack, or another dtype."""
        if elem_type != self.elem_type:
            raise InvalidArgumentError(
                None, None, f"Must have type {self.elem_type.name} but got {elem_type.name}"
            )
        elements = self._open()
        if not elements:
            raise InvalidArgumentError(
                None, None, f"Stack[{self.name}] is empty when calling Pop()."
            )
        return elements.pop()

    def close(self) -> None:
        self._elements = None


def _stack(handle: Any) -> Stack:
    return expect(handle, Stack, "stack")


@resource_op("StackV2", "max_size: int32 -> handle: resource", {"elem_type": dtype, "stack_name": ""},
             lambda attrs, inputs: [(2,)])  # fmt: skip
def StackV2(max_size: Tensor, elem_type: DType, stack_name: str):
    """A new stack. Raises InvalidArgumentError unless `max_size` is a scalar."""
    if max_size.shape.rank:
        raise InvalidArgumentError(None, None, f"Stack size must be a scalar, got shape {max_size.shape}")
    return handle_of(Stack(stack_name or "Stack", elem_type, int(max_size.numpy())))


@resource_op("StackPushV2", "handle: resource, elem: T -> output: T", {"T": dtype, "swap_memory": False},
             lambda attrs, inputs: [inputs[1].shape_tuple])  # fmt: skip
def StackPushV2(handle: Stack, elem: Tensor, T: DType, swap_memory: bool):
    """Puts `elem` on top, and gives it back."""
    _stack(handle).push(elem)
    return elem


@resource_op("StackPopV2", "handle: resource -> elem: elem_type", {"elem_type": dtype})
def StackPopV2(handle: Stack, elem_type: DType):
    """Takes the element on top."""
    return _stack(handle).pop(elem_type)


@resource_op("StackCloseV2", "handle: resource ->")
def StackCloseV2(handle: Stack):
    """Drops the elements."""
    _stack(handle).close()
