"""Assignment to variables as functions, the way of 1.x."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core.public import public


def referenced(ref: Any) -> Any:
    """The variable that `ref` stands for if it is the tensor that a graph of 1.x has under its name; else `ref`."""
    variable = getattr(ref, "_referenced_variable", None)
    return ref if variable is None else variable


@api(v1="assign")
@public
def assign(
    ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None, name: str | None = None
):
    """Replace the value of the variable `ref`, and returns the variable.

    Raises ValueError for a value of another dtype or shape; with `validate_shape=False` a variable of a graph takes
    any shape.

    Args:
      ref: a variable.
      value: a tensor of the variable's shape and dtype.
      validate_shape: whether the shape must stay the same.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    ref = referenced(ref)
    if validate_shape is False and getattr(ref, "_parts", None) is not None:
        return ref._assign_any_shape(value, name)
    return ref.assign(value, name=name)


@api(v1="assign_add")
@public
def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None):
    """Add `value` to the variable `ref`, and returns the variable.

    Args:
      ref: a variable.
      value: a tensor of the variable's shape and dtype.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return referenced(ref).assign_add(value, name=name)


@api(v1="assign_sub")
@public
def assign_sub(ref, value: Any, use_locking: bool | None = None, name: str | None = None):
    """Subtract `value` from the variable `ref`, and returns the variable.

    Args:
      ref: a variable.
      value: a tensor of the variable's shape and dtype.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return referenced(ref).assign_sub(value, name=name)
