"""How operations reach the variables that servers hold: whole, as one message to the server of all their variables.

Eagerly they come by the core's hook for operations off the host; in plans by the Python kernels of their rows, which
are what runs where a variable is not on the host.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import device_calls, dtypes
from tapeflow.core.processes.arrays import array_of
from tapeflow.distribute.parameter_servers.server import Call, Held
from tapeflow.distribute.parameter_servers.variables import RemoteVariable
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY


@functools.cache
def install() -> None:
    """Let operations on variables of servers go there, from now on in this process."""
    load_all_rows()
    for row in REGISTRY.values():
        if any(argument.fixed is dtypes.resource for argument in row.schema.inputs):
            row._kernel = row.kernel = _aware(row, row.kernel)
    device_calls.use_servers(_eagerly)


def _aware(row: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(kernel)
    def run(xp: ModuleType, *inputs: Any, **attrs: Any) -> Any:
        if any(isinstance(x, RemoteVariable) for x in _flat(inputs)):
            done, result = _sent(row, inputs, attrs)
            if done:
                return result
        return kernel(xp, *inputs, **attrs)

    return run


def _flat(inputs: Iterable[Any]) -> Iterator[Any]:
    for x in inputs:
        if isinstance(x, list):
            yield from _flat(x)
        else:
            yield x


def _sent(row: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[bool, Any]:
    """Whether servers do an operation, and its outputs; an operation on variables of several is done here.

    That reads and assigns each whole; rows that say how they are made of operations on one variable are done as those.
    """
    held: list[Any] = [x for x in _flat(inputs) if isinstance(x, _native.Variable)]
    places = {x.connection if isinstance(x, RemoteVariable) else None for x in held}
    if len(places) == 1:
        found = held[0].connection.run(Call(row.name, _message(inputs), attrs), bool(row.schema.outputs))
        return True, found
    separated = getattr(row, "separated", None)
    if separated is None:
        return False, None
    for each, given in separated(inputs):
        each.kernel(np, *given, **attrs)
    return True, None


def _message(inputs: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(_part(x) for x in inputs)


def _part(x: Any) -> Any:
    if isinstance(x, list):
        return [_part(y) for y in x]
    return Held(x.description.key) if isinstance(x, RemoteVariable) else np.asarray(x)


def _eagerly(row: Any, inputs: Sequence[Any], attrs: dict[str, Any], sizes: Sequence[int]) -> Any:
    """The outputs, flat, of an eager operation on variables of servers; None for any other."""
    behind = [_behind(x) for x in inputs]
    if not any(isinstance(x, RemoteVariable) for x in behind):
        return None
    given = [array_of(x) if v is None else v for x, v in zip(inputs, behind, strict=True)]
    filled = row.schema.filled(attrs)
    kinds = row.schema.output_dtypes([x.dtype for x in inputs], filled, sizes)
    with _native.PausedTapes():
        found = row.kernel(np, *row.schema.grouped(given, sizes), **filled)
    if not row.schema.outputs:
        return ()
    flat = [found] if len(row.schema.outputs) == 1 and not row.schema.outputs[0].is_list else list(_flat(found))
    return tuple(_native.tensor_of(np.asarray(y), kind) for y, kind in zip(flat, kinds, strict=True))


def _behind(tensor: Any) -> Any:
    """The variable behind a handle; None for other tensors."""
    if tensor.dtype is not dtypes.resource:
        return None
    found = tensor.numpy()
    return found() if isinstance(found, weakref.ref) else None
