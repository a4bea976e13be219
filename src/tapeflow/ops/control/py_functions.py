"""Python functions as operations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.ops.control import staging
from tapeflow.ops.control.composite_calls import FlatCall, is_composite_call
from tapeflow.ops.control.flow import _single
from tapeflow.ops.control.staging import staged


def typed(values, Tout: DType | Sequence[DType]):
    """What a Python function returned, as tensors of the promised dtypes."""
    if isinstance(Tout, (list, tuple)):
        if not Tout:
            return []
        values = values if isinstance(values, (list, tuple)) else [values]
        if len(values) != len(Tout):
            raise ValueError(
                f"The function returned {len(values)} values, but Tout promises {len(Tout)}: {Tout}"
            )
        return [_one(v, t) for v, t in zip(values, Tout, strict=True)]
    if isinstance(values, (list, tuple)) and len(values) == 1:
        values = values[0]
    return _one(values, Tout)


def _require_function(func: Callable[..., Any]) -> None:
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )


def _one(value: Tensor | None, kind):
    kind = dtypes.as_dtype(kind)
    if value is None:
        raise InvalidArgumentError(
            None, None, "The function returned no value where one was promised"
        )
    value = convert_to_tensor(value, dtype_hint=None if hasattr(value, "dtype") else kind)
    if value.dtype != kind:
        raise InvalidArgumentError(
            None,
            None,
            f"A Python function returned {value.dtype.name}, but {kind.name} was promised",
        )
    return value


def _decorator(call):
    """Decorates a function to be called by `call(function, arguments)`."""
    return lambda function: functools.wraps(function)(lambda *given: call(function, list(given)))


@api("py_function")
@public
def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None):
    """Call a Python function of eager tensors, also when a graph runs. Gradients flow through what it does.

    Args:
      func: a function that takes as many tensors as `inp` has and returns one tensor or a list; without it, a
        decorator is returned, for a function that is then called with `inp`.
      inp: the list of tensors, composite ones too, that it is called with.
      Tout: the dtype or spec, or the list of them, of what it returns; empty or None: nothing.
      name: a name for the operation (optional).

    Returns:
      A tensor, or a list of tensors; composite ones for their specs.

    >>> tf.py_function(lambda x: x * 2 if x > 0 else x, [tf.constant(3)], tf.int32)
    <tf.Tensor: shape=(), dtype=int32, numpy=6>
    """
    if func is None:
        return _decorator(lambda function, given: py_function(function, given, Tout, name))
    _require_function(func)
    if is_composite_call(inp, Tout):
        call = FlatCall(func, inp, Tout)
        made = py_function(call, call.tensors, call.dtypes, name)
        return call.packed(made) if call.dtypes else made
    if staged(*(inp or ())):
        return staging.nodes.py_function(func, inp, Tout, name)
    inputs = [convert_to_tensor(x) if not hasattr(x, "assign") else x for x in inp or []]
    return typed(func(*inputs), [] if Tout is None else Tout)


@api("numpy_function")
@public
def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None
):
    """Call a function of NumPy arrays, also when a graph runs. It is not differentiable.

    Args:
      func: a function that takes as many arrays as `inp` has and returns one array or a list; without it, a
        decorator is returned, for a function that is then called with `inp`.
      inp: the list of tensors that it is called with.
      Tout: the dtype, or the list of dtypes, that it returns.
      stateful: whether two calls with the same arrays may give different results, so that a graph does not merge
        them.
      name: a name for the operation (optional).

    Returns:
      A tensor, or a list of tensors.

    >>> tf.numpy_function(np.sinh, [tf.constant([0.0, 0.0])], tf.float32)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    if func is None:
        return _decorator(lambda function, given: numpy_function(function, given, Tout, stateful, name))
    _require_function(func)
    if staged(*(inp or ())):
        return staging.nodes.numpy_function(func, inp, Tout, stateful, name)
    values = func(*(np.array(x) for x in inp or []))
    values = nest.map_structure(lambda v: v if v is None else convert_to_tensor(v), values)
    return _single(values)


@api(v1="py_func")
@public
def py_func(
    func: Callable[..., Any], inp: Sequence[Tensor], Tout: Sequence[DType], stateful: bool = True,
    name: str | None = None,
):
    """`numpy_function` with the 1.x order of arguments."""
    return numpy_function(func, inp, Tout, stateful, name)
