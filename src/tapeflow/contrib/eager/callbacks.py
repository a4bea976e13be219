"""Execution callbacks: functions that are called after every operation, and the checks for infinity and NaN made so."""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeflow.graph.run import call_watching
from tapeflow.v1 import logging

__all__ = [
    "ExecutionCallback", "InfOrNanError", "add_execution_callback", "clear_execution_callbacks", "errstate",
    "inf_callback", "inf_nan_callback", "nan_callback", "seterr",
]  # fmt: skip


class ExecutionCallback(enum.Enum):
    """What is done about a result."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An operation gave infinity or NaN."""

    def __init__(self, op_type: str, op_name: Any, output_index: int, num_outputs: int, value: Any):
        self.op_type, self.op_name = op_type, op_name
        self.output_index, self.num_outputs = output_index, num_outputs
        self.value = value
        infinite, nan = np.count_nonzero(np.isinf(value)), np.count_nonzero(np.isnan(value))
        parts = [f"{infinite} inf(s)"] * bool(infinite) + [f"{nan} nan(s)"] * bool(nan)
        name = None if op_name is None else f"'{op_name}'"
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of TFE operation {op_type} (name: {name}) contains "
            f"{' and '.join(parts)} out of a total of {np.size(value)} element(s). Tensor value: {value}"
        )


def inf_nan_callback(
    op_type: str, inputs: Any, attrs: Mapping[str, Any], outputs: Any, op_name: Any, check_inf: bool = True,
    check_nan: bool = True, action: Any = ExecutionCallback.RAISE,
) -> None:  # fmt: skip
    """Raises InfOrNanError, or does what `action` says, where an output has infinity or NaN."""
    action = ExecutionCallback(action)
    for index, output in enumerate(outputs):
        if not output.dtype.is_floating or not hasattr(output, "numpy"):
            continue
        value = output.numpy()
        numbers = np.asarray(value).astype(np.float64)
        if not ((check_inf and np.isinf(numbers).any()) or (check_nan and np.isnan(numbers).any())):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value)
        if action is ExecutionCallback.WARN:
            logging.warning(str(error))
        elif action is ExecutionCallback.PRINT:
            print(f"Warning: {error}")
        elif action is ExecutionCallback.RAISE:
            raise error


def inf_callback(
    op_type: str, inputs: Any, attrs: Mapping[str, Any], outputs: Any, op_name: Any,
    action: Any = ExecutionCallback.RAISE
) -> None:  # fmt: skip
    """`inf_nan_callback` for infinity."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, True, False, action)


def nan_callback(
    op_type: str, inputs: Any, attrs: Mapping[str, Any], outputs: Any, op_name: Any,
    action: Any = ExecutionCallback.RAISE
) -> None:  # fmt: skip
    """`inf_nan_callback` for NaN."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, False, True, action)


_callbacks: list[Callable[..., Any]] = []
_on_inf_or_nan: list[ExecutionCallback] = [ExecutionCallback.IGNORE]


def _call_all(row: Any, inputs: Any, outputs: list[Any]) -> None:
    for callback in list(_callbacks):
        callback(row.name, list(inputs), (), outputs, None)


def _refresh() -> None:
    (call_watching.watch if _callbacks else call_watching.unwatch)(_call_all)


def add_execution_callback(callback: Callable[..., Any]) -> None:
    """Calls `callback(op_type, inputs, attrs, outputs, op_name)` after every eager operation of this thread."""
    _callbacks.append(callback)
    _refresh()


def clear_execution_callbacks() -> None:
    """No more callbacks."""
    _callbacks.clear()
    _on_inf_or_nan[0] = ExecutionCallback.IGNORE
    _refresh()


def seterr(inf_or_nan: Any = None) -> dict[str, ExecutionCallback]:
    """What is done about infinity and NaN from now on; returns what was done before.

    Raises ValueError for an unknown action.
    """
    before = {"inf_or_nan": _on_inf_or_nan[0]}
    if inf_or_nan is None:
        return before
    action = ExecutionCallback(inf_or_nan)
    _callbacks[:] = [each for each in _callbacks if getattr(each, "func", each) is not inf_nan_callback]
    if action is not ExecutionCallback.IGNORE:
        _callbacks.append(functools.partial(inf_nan_callback, action=action))
    _on_inf_or_nan[0] = action
    _refresh()
    return before


@contextlib.contextmanager
def errstate(inf_or_nan: Any = None) -> Any:
    """A context in which that is done about infinity and NaN. Raises ValueError for an unknown action."""
    if inf_or_nan is None:
        yield
        return
    before = seterr(inf_or_nan)
    try:
        yield
    finally:
        seterr(**before)
