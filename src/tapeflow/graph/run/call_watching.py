"""What happens at every operation on request: results checked for NaN and infinity, devices logged.

The core hands calls to Python as those of another device, while anything watches; graphs get a check behind each node
that is built from then on.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, device_calls
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.graph.build import building
from tapeflow.ops.math.check import CheckNumericsV2

# Not the index of any device: the core asks Python for what runs there.
_WATCHED = 1 << 20
# Begins the names of outputs that may be NaN in the course of things.
_RESERVED = "reserve_space"

_watchers: list[Callable[[Any, Any, list[Any]], None]] = []
_state = threading.local()


def _run(
    row: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], device: int, sizes: tuple[int, ...]
) -> tuple[Any, ...]:
    return (device_calls.driver or device_calls.on_host)(row, inputs, attrs, device % _WATCHED, sizes)


def _watched_call(
    row: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], device: int, sizes: tuple[int, ...]
) -> tuple[Any, ...]:
    _native.set_device_scope(0)
    try:
        outputs = _run(row, inputs, attrs, device, sizes)
        if not getattr(_state, "inside", False):
            _state.inside = True
            try:
                for watcher in list(_watchers):
                    watcher(row, inputs, list(outputs))
            finally:
                _state.inside = False
        return outputs
    finally:
        _refresh(context.device_index())


def _refresh(index: int) -> None:
    _native.set_device_scope(_WATCHED if _watchers and not index else index)


def watch(watcher: Callable[..., None]) -> None:
    if watcher not in _watchers:
        if _refresh not in context.on_device_change:
            context.on_device_change.append(_refresh)
            device_calls.use_watcher(_watched_call)
        _watchers.append(watcher)
    _refresh(context.device_index())


def unwatch(watcher: Callable[..., None]) -> None:
    if watcher in _watchers:
        _watchers.remove(watcher)
    _refresh(context.device_index())


# Numbers


def _counted(array: np.ndarray) -> str:
    kinds = (("-Inf", np.isneginf(array)), ("+Inf", np.isposinf(array)), ("+NaN", np.isnan(array)))
    return "".join(f"\n  # of {name} elements: {hit.sum()}" for name, hit in kinds if hit.any())


def _is_reserved(row: Any, i: int) -> bool:
    return i < len(row.outputs) and row.outputs[i].startswith(_RESERVED)


def _check_numbers(row: Any, inputs: tuple[Any, ...], outputs: list[Any]) -> None:
    if row.moves:
        return
    for i, output in enumerate(outputs):
        if _is_reserved(row, i) or not output.dtype.is_floating:
            continue
        array = np.asarray(output.numpy()).astype(np.float64)
        if np.isfinite(array).all():
            continue
        given = "".join(f"\n         {k}: {t!s}" for k, t in enumerate(inputs))
        if len(inputs) == 1:
            given = f"\n\n  Input tensor: {inputs[0]!s}"
        elif inputs:
            given = f"\n\n  Input tensors ({len(inputs)}):{given}"
        found = [n for n, hit in (("-Inf", np.isneginf), ("+Inf", np.isposinf), ("NaN", np.isnan))
                 if hit(array).any()]  # fmt: skip
        raise InvalidArgumentError(
            None,
            None,
            f"\n\n!!! Detected Infinity or NaN in output {i} of eagerly-executing op \"{row.name}\" "
            f"(# of outputs: {len(outputs)}) !!!\n  dtype: {output.dtype}\n  shape: {output.shape}"
            f"{_counted(array)}{given}\n\n : Tensor had {' and '.join(found)} values",
        )


_checking_graphs = False
_plain_builder: Any = None


def _checked_nodes(row: Any, inputs: Any, attrs: dict[str, Any]) -> Any:
    """What builds a node, with a check behind each floating output of it."""
    made = _plain_builder(row, inputs, attrs)
    if not _checking_graphs or row.moves or row.stateful:
        return made
    return _with_checks(row, made, "")


def _with_checks(row: Any, made: Any, place: str) -> Any:
    if isinstance(made, (list, tuple)):
        parts = [_with_checks(row, part, f"{place}{i}") for i, part in enumerate(made)]
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)
    if not isinstance(made, _native.Tensor) or not made.dtype.is_floating:
        return made
    if _is_reserved(row, int(place or 0)):
        return made
    message = (
        f"\n\n!!! Detected Infinity or NaN in output {place or 0} of graph op \"{row.name}\" "
        f"(# of outputs: {len(row.outputs)}) !!!\n  dtype: {made.dtype}\n  shape: {made.shape}\n"
    )
    return CheckNumericsV2(made, message)


@api("debugging.enable_check_numerics")
@public
def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50):
    """Let every operation raise an error where one of its floating results is NaN or infinite.

    It concerns eager operations of the thread that calls it, and graphs that are built from now on; everything is
    slower meanwhile. `tf.debugging.disable_check_numerics` ends it.

    Args:
      stack_height_limit: not used.
      path_length_limit: not used.

    Raises:
      InvalidArgumentError: by the operations.
    """
    global _checking_graphs, _plain_builder

    if _plain_builder is None:
        _plain_builder = building.build
        _native.set_hook("build_graph", _checked_nodes)
    _checking_graphs = True
    watch(_check_numbers)


@api("debugging.disable_check_numerics")
@public
def disable_check_numerics():
    """Undo `enable_check_numerics`; graphs that were built with checks keep them."""
    global _checking_graphs
    _checking_graphs = False
    unwatch(_check_numbers)


# Devices


def _log_device(row: Any, inputs: tuple[Any, ...], outputs: list[Any]) -> None:
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") not in ("", "0"):
        return  # this is of the level INFO
    place = outputs[0].device if outputs else "/job:localhost/replica:0/task:0/device:CPU:0"
    print(f"Executing op {row.name} in device {place}", file=sys.stderr)


@api("debugging.set_log_device_placement")
@public
def set_log_device_placement(enabled):
    """Whether the device of every eager operation of this thread is logged."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool, got {enabled!r}")
    (watch if enabled else unwatch)(_log_device)


@api("debugging.get_log_device_placement")
@public
def get_log_device_placement():
    """Whether the devices of eager operations are logged."""
    return _log_device in _watchers
