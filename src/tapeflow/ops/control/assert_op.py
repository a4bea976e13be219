"""`Assert`: an error where a condition is false, with the data that it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.ops.control import grouping, staging
from tapeflow.ops.control.printing import tensor_text
from tapeflow.ops.static import concrete_value, static_value
from tapeflow.ops.validate import invalid


def prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _described(name: str, x: Tensor) -> str:
    return f"{name} (shape={x.shape} dtype={x.dtype.name}) = "


def _flat(item: Any, summarize: int | None) -> tuple[list, bool]:
    """The first elements of `item`, and whether there are more. None or 3 elements; -1: all."""
    values = concrete_value(convert_to_tensor(item))
    flat = values.ravel()
    limit = flat.size if summarize == -1 else (3 if summarize is None else summarize)
    return list(flat[:limit]), flat.size > limit


def _summary(item: Any, summarize: int | None) -> str:
    values, more = _flat(item, summarize)
    return ", ".join([str(v) for v in values] + ["..."] * more)


@api("debugging.Assert", "Assert")
@public
def Assert(condition: TensorLike, data: Any, summarize: Any = None, name: str | None = None):
    """Raise an error, showing tensors, unless a condition holds.

    Args:
      condition: a scalar bool.
      data: a list of tensors to show.
      summarize: how many elements of each to show; None: 3.
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph the operation that checks.

    Raises:
      InvalidArgumentError: where the condition does not hold.
    """
    if staging.staged(condition):
        return staging.nodes.assertion(condition, data, summarize, name)
    return check(condition, data, summarize)


def check(condition: Any, data: Any, summarize=None):
    """The assertion, on values."""
    if not condition:
        text = "\n".join(_summary(item, summarize) for item in data)
        raise invalid(f"Expected '{condition!s}' to be true. Summarized data: {text}")


def _pretty(item: Any, summarize: int | None) -> str:
    if not hasattr(item, "numpy"):
        return str(item)
    if not len(item.shape):
        return str(item.numpy())
    values, more = _flat(item, summarize)
    return str([str(v) for v in values] + ["..."] * more)


def _elements(x: np.ndarray, summarize: int) -> tuple[int, np.ndarray]:
    count = min(summarize, x.size) if summarize >= 0 else x.size
    return count, x.ravel()[:count]


def _in_brackets(values: np.ndarray, limit: int) -> str:
    """The first elements of an array as a failed assertion of a graph shows them: rows in brackets."""
    if values.ndim <= 1:
        words = [
            v.decode(errors="replace") if isinstance(v, bytes) else tensor_text(np.asarray(v))
            for v in values.ravel()[:limit]
        ]
        return " ".join(words) + ("..." if values.size > limit else "")
    rows, left = [], limit
    for row in values:
        if left <= 0:
            break
        rows.append(f"[{_in_brackets(row, left)}]")
        left -= row.size
    return "".join(rows) + ("..." if left < 0 else "")


def failed_in_graph(data, summarize) -> Exception:
    """The error of an assertion in a graph, which shows `data` one behind the other."""
    texts = []
    for item in data:
        if isinstance(item, str):
            texts.append(item)
            continue
        values = np.asarray(concrete_value(convert_to_tensor(item)))
        texts.append(_in_brackets(values, values.size if summarize == -1 else summarize or 3))
    return invalid("assertion failed: " + " ".join(f"[{text}]" for text in texts))


def name_of(x: Tensor) -> str:
    return "" if x is None or hasattr(x, "numpy") else getattr(x, "name", "")


def _named(name: str, x: Tensor) -> str:
    return f"{name} ({name_of(x)}) = "


def staged_check(
    function: Callable[..., Any], values: Any, condition: Callable[..., Any], data: Any, name: str, summarize=None
):
    """`function(values)`, which raises, now where all tensors in `values` are constants; else when the graph runs.

    That is an operation, which is returned, that shows the texts and tensors `data` unless `condition()` holds.
    """
    leaves = nest.flatten(values)
    known = [static_value(x) if is_tensor(x) else x for x in leaves]
    if any(is_tensor(x) and value is None for x, value in zip(leaves, known, strict=True)):
        with context.name_scope(name):
            return staging.nodes.assertion(condition(), data, summarize, "Assert")
    with context.eager_mode():
        tensors = [
            convert_to_tensor(v) if is_tensor(x) else x for x, v in zip(leaves, known, strict=True)
        ]
        function(nest.pack_sequence_as(values, tensors))
    return grouping.no_op(name)
