"""The variables that a staged branch or loop changes, and what of their values goes through the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.function.autograph.operators.staging import UNDEFINED
from tapeflow.ops.array.construction import zeros

# How the variable that holds a function's result is called in messages.
RETURN_NAME = "retval_"
_INTERNAL = {"ag__val": RETURN_NAME, "ag__ret": "do_return"}


class _Cell:
    """A local variable of the program, through the cell that its closures share."""

    def __init__(self, cell: CellType):
        self.cell = cell

    def get(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return UNDEFINED

    def set(self, value: Any) -> None:
        if value is not UNDEFINED:
            self.cell.cell_contents = value
        else:
            del self.cell.cell_contents


class _Global:
    def __init__(self, scope: dict[str, Any], name: str):
        self.scope, self.name = scope, name

    def get(self) -> Any:
        return self.scope.get(self.name, UNDEFINED)

    def set(self, value: Any) -> None:
        if value is not UNDEFINED:
            self.scope[self.name] = value
        else:
            self.scope.pop(self.name, None)


class _Place:
    """An attribute or item, such as `self.x` or `a[i]`."""

    def __init__(self, access: Callable[..., Any]):
        self.access = access

    def get(self) -> Any:
        try:
            return self.access()
        except (AttributeError, KeyError, IndexError, NameError, TypeError):
            return UNDEFINED

    def set(self, value: Any) -> None:
        if value is not UNDEFINED:
            self.access(value)
        elif self.get() is not UNDEFINED:
            self.access(None, None)


class State:
    """The variables `names` as `function`, a block of the program, sees them.

    Of a loop, `lists` are those that it appends to, `fresh` those that it assigns before it reads them.
    """

    def __init__(
        self,
        function: FunctionType,
        names: Sequence[str],
        places: Any,
        lists: Sequence[str] = (),
        fresh: Sequence[str] = (),
    ):
        self.lists, self.fresh = lists, fresh
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self.slots: list[_Cell | _Global | _Place] = []
        for name in names:
            if name in cells:
                self.slots.append(_Cell(cells[name]))
            elif places and name in places:
                self.slots.append(_Place(places[name]))
            else:
                self.slots.append(_Global(function.__globals__, name))
        self.names = [_INTERNAL.get(name, name) for name in names]

    def get(self) -> list[Any]:
        return [slot.get() for slot in self.slots]

    def set(self, values: Sequence[Any]) -> None:
        for slot, value in zip(self.slots, values, strict=True):
            slot.set(value)


def is_value(leaf: Any) -> bool:
    """Whether a leaf of a variable's value can go through the graph; else it stays the Python object that it is."""
    return (
        isinstance(
            leaf,
            (_native.Tensor, _native.Variable, bool, int, float, complex, str, bytes, np.ndarray, np.generic),
        )
        or hasattr(leaf, "_type_spec")
        or is_tensor_array(leaf)
    )  # fmt: skip


def is_tensor_array(x: TensorLike) -> bool:
    return hasattr(x, "mark_used") and hasattr(x, "unstack")


def as_tensor(leaf: Any) -> Any:
    """A leaf as what the graph passes on."""
    if isinstance(leaf, _native.Tensor) or hasattr(leaf, "_type_spec") or is_tensor_array(leaf):
        return leaf
    return convert_to_tensor(leaf)


def leaves_of(value: Any) -> list[Any]:
    return [value] if value is UNDEFINED else nest.flatten(value)


def same_structure(a: TensorLike, b: TensorLike) -> Exception | None:
    """Why two values are structured differently, or None."""
    try:
        nest.assert_same_structure(a, b)
    except (ValueError, TypeError) as error:
        return error
    return None


def zeros_like_of(value: Any) -> Any:
    """A value of zeros, to stand where the program has none, but the graph must have one that is not used.

    Raises TypeError for what has no zero.
    """
    return nest.map_structure(_zero, value)


def _zero(leaf: Any) -> Any:
    if isinstance(leaf, (bool, int, float, complex)):
        return type(leaf)(0)
    if isinstance(leaf, (_native.Variable, np.ndarray, np.generic, str, bytes)):
        leaf = convert_to_tensor(leaf)
    if isinstance(leaf, _native.Tensor):
        sizes = leaf.shape.as_list() if leaf.shape.rank is not None else []
        return zeros([0 if d is None else d for d in sizes], leaf.dtype)
    raise TypeError(
        f"Found an unsupported type '{type(leaf).__name__}' while creating placeholder for {leaf}. Supported "
        "types include Tensor, int, float, bool, list, tuple or dict."
    )
