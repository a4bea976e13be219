"""The shapes of a call's outputs before it runs; their dtypes are the binder's.

Inputs are flat, each list input spread out at its place. `list_sizes` has the length of each list input, in the order
of the signature; with one list it may be left out, as its length then follows from the number of inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core.dtypes import DType
from tapeflow.ops import partial_values
from tapeflow.ops.validate import invalid, type_text

Shape = tuple[int | None, ...] | None


class Call:
    """A call of a row as its shape rule sees it."""

    __slots__ = ("_attrs", "_list_sizes", "count", "inputs", "row")

    def __init__(
        self, row: Any, inputs: Sequence[Any], attrs: Mapping[str, Any],
        list_sizes: Sequence[int] | None = None,
    ):
        self.row = row
        self.inputs = inputs
        self._attrs = attrs
        self._list_sizes = list_sizes
        self.count = len(inputs)

    def shape(self, i: int) -> Shape:
        """The shape of input `i`; None where its rank is unknown."""
        return self.inputs[i].shape_tuple

    def value(self, i: int) -> np.ndarray | None:
        """The value of input `i` if it is a constant."""
        return self.inputs[i].constant_value()

    def value_as_shape(self, i: int) -> Shape:
        """What is known of the shape that the vector `i` spells: -1 and unknown elements are None."""
        return partial_values.as_shape(self.inputs[i])

    def elements(self, i: int) -> list[int | None] | None:
        """The elements of the integer vector `i`, None for each unknown one; None if no length is known."""
        return partial_values.elements(self.inputs[i])

    def dtype(self, i: int) -> DType:
        """The dtype of input `i`."""
        return self.inputs[i].dtype

    def variable(self, i: int, dtype: DType | None = None) -> Shape:
        """The shape of the variable that the handle `i` stands for.

        Raises InvalidArgumentError where it is known not to hold values of `dtype`.
        """
        handle = self.inputs[i]
        held = getattr(handle, "handle_dtype", None)
        if dtype is not None and held is not None and held.base_dtype != dtype:
            raise invalid(
                f"Trying to read variable with wrong dtype. Expected {type_text(held)} got {type_text(dtype)}"
            )
        return getattr(handle, "handle_shape", None)

    def takes_any_shape(self, i: int) -> bool:
        """Whether the handle `i` is of a reference variable of 1.x, which may be assigned values of other shapes."""
        return getattr(self.inputs[i], "of_reference", False)

    def attr(self, name: str) -> Any:
        attrs = self._attrs
        return attrs[name] if name in attrs else self.row.defaults[name]

    @property
    def list_sizes(self) -> Sequence[int]:
        if self._list_sizes is None:
            self._list_sizes = self.row.schema.sizes(len(self.inputs))
        return self._list_sizes


def infer(
    row: Any,
    inputs: Sequence[Any],
    attrs: Mapping[str, Any],
    list_sizes: Sequence[int] | None = None,
) -> list[Shape]:
    """The shapes of the outputs, list outputs spread out; None stands for an unknown size or rank.

    Args:
      inputs: objects with `.shape_tuple` (a tuple of int or None; None: unknown rank) and
        `.constant_value()` (an array, or None where it is no constant).
      attrs: those that were given; the others have their defaults.

    Raises:
      InvalidArgumentError: the shapes that are known already cannot be right.
    """
    rule = row.shape_rule
    if rule is None:
        return [None] * sum(row.schema.output_counts(attrs, list_sizes, len(inputs)))
    return rule(Call(row, inputs, attrs, list_sizes))
