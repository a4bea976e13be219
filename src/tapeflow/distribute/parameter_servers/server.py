"""The process that holds variables: it runs the operations on them that others send."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.processes.arrays import array_of, as_tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.state.variable import Variable
from tapeflow.ops.table import REGISTRY


class Held(NamedTuple):
    """A variable among the inputs of a call, by its number."""

    key: int


class Call(NamedTuple):
    """An operation on variables.

    Attributes:
      row: the name of the op.
      inputs: what its row is called with: arrays, `Held`s, and lists of these.
      attrs: by name.
    """

    row: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]


class ParameterServer:
    """Variables by number. Operations run one after the other, so that each is whole to all others."""

    def __init__(self) -> None:
        self._variables: dict[int, Variable] = {}

    def create(self, key: int, value: Any, dtype: str, shape: list[int | None] | None, name: str) -> None:
        """Make a variable.

        Args:
          key: its number.
          value: an array.
          dtype: the name of its dtype.
          shape: the sizes that values may have, None for any; as a whole None for any rank.
          name: its name, for errors.
        """
        initial = convert_to_tensor(value, dtypes.as_dtype(dtype))
        self._variables[key] = Variable(initial, name=name, shape=TensorShape(shape))

    def forget(self, keys: Iterable[int]) -> None:
        """Drop variables that nobody refers to any more."""
        for key in keys:
            self._variables.pop(key, None)

    def run(self, calls: Iterable[Call]) -> list[Any]:
        """Run operations in their order; returns what each gives, as arrays."""
        return [self._run(call) for call in calls]

    def _run(self, call: Call) -> Any:
        inputs = [self._input(x) for x in call.inputs]
        return _arrays(REGISTRY[call.row](*inputs, **call.attrs))

    def _input(self, x: Any) -> Any:
        if isinstance(x, list):
            return [self._input(part) for part in x]
        return self._variables[x.key] if isinstance(x, Held) else as_tensor(x)


def _arrays(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return [_arrays(x) for x in result]
    return array_of(result) if isinstance(result, Tensor) else None
