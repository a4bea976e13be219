"""The order of operations: which of them run after which others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries, public
from tapeflow.ops.control import staging
from tapeflow.ops.control.staging import staged
from tapeflow.ops.table import op


@api("control_dependencies")
@contextlib.contextmanager
def control_dependencies(control_inputs) -> Iterator[None]:
    """A context in which ops run after `control_inputs`; eagerly everything runs in order anyway.

    Callables among the inputs are called, as TensorFlow does.
    """
    if staged():
        with staging.nodes.control_dependencies(control_inputs):
            yield
        return
    if callable(control_inputs):
        control_inputs()
    else:
        for x in control_inputs or ():
            if callable(x) and not hasattr(x, "dtype"):
                x()
    yield


@op("NoOp", "->")
def NoOp(xp: ModuleType):
    return None


NoOp.gradient(None)


@NoOp.reference
def _():
    return None


@api("no_op")
@public
def no_op(name: str | None = None):
    """Nothing; there to be depended on."""
    return staging.nodes.no_op(name) if staged() else None


@api("group")
@public
def group(*inputs, **kwargs):
    """Make one operation that runs after several others.

    In eager execution, and in a `tf.function`, operations run in the order of the program, and nothing is to be
    done.

    Args:
      *inputs: tensors and operations.
      **kwargs: `name`.

    Returns:
      None in eager execution, an operation in a graph.

    Raises:
      ValueError: for other keywords.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    return staging.nodes.group(inputs, name) if staged() else None


@api(v2="tuple")
@public
def tuple_(tensors: Any, control_inputs: Sequence[Any] | None = None, name: str | None = None):
    """Make tensors that are there once all of them, and other operations, have run.

    Args:
      tensors: a list of tensors or None.
      control_inputs: operations that run first, in a graph (optional).
      name: a name for the operation (optional).

    Returns:
      A list of tensors with the same values; in eager execution `tensors` as they are.

    Raises:
      ValueError: where all of `tensors` are None.
    """
    if all(t is None for t in tensors):
        raise ValueError(f"`tensors` must have at least one Tensor. Received: {tensors}.")
    if staged():
        return staging.nodes.tuple(tensors, control_inputs, name)
    return tensors


@api(v1="tuple")
@public
def tuple_v1(tensors: TensorLike, name: str | None = None, control_inputs: Sequence[Any] | None = None):
    """`tuple` with the 1.x order of arguments."""
    return tuple_(tensors, control_inputs, name)


boundaries(globals())
