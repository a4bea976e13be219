"""Conditions that may be known while a graph is built, and branches by device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.device import DeviceSpec
from tapeflow.ops.control.flow import cond
from tapeflow.ops.static import get_static_value


def smart_constant_value(pred: Any) -> bool | None:
    """A condition as a bool, None where it is not known. Raises TypeError for what is no condition."""
    if isinstance(pred, bool):
        return pred
    if isinstance(pred, int) and pred in (0, 1):
        return bool(pred)
    if not isinstance(pred, (_native.Tensor, _native.Variable)) and not hasattr(pred, "dtype"):
        raise TypeError(
            "`pred` must be a Tensor, or a Python bool, or 1 or 0. Received: "
            f"pred={pred} of type {type(pred)}"
        )
    known = get_static_value(pred)
    if known is None and isinstance(pred, (_native.EagerTensor, _native.Variable)) and context.executing_eagerly():
        known = pred.numpy()
    return None if known is None else bool(known)


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Calls one of two functions: at once where the condition is known, else as `tf.cond`.

    Raises TypeError for what is no function, or no condition.
    """
    for label, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"Argument `{label}` must be callable. Received {function}")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name=name)
    return true_fn() if known else false_fn()  # type: ignore[misc]


def execute_fn_for_device(
    device_branch_fns: dict[str, Callable[[], Any]], default_fn: Callable[[], Any], name: str = "execute_fn"
) -> Any:
    """Calls the function for the kind of the device that operations run on, such as "CPU", else `default_fn`."""
    named = DeviceSpec.from_string(context.device_name()).device_type if context.device_name() else None
    kind = named or ("GPU" if context.device_index() else "CPU")
    return {key.upper(): fn for key, fn in device_branch_fns.items()}.get(kind.upper(), default_fn)()
