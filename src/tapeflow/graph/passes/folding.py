"""Constant folding: what follows from constants alone is computed once, while planning."""

from __future__ import annotations

from typing import Any

from tapeflow.core import context
from tapeflow.graph.run.program import Program

# A larger result would cost more memory than it saves time.
MOST_ELEMENTS = 1_000_000


def fold_constants(program: Program) -> None:
    """Replaces instructions whose inputs are constants by their results."""
    constants = program.constants
    kept = []
    for each in program.instructions:
        results = None
        if each.kind == "op" and not each.stateful and all(v in constants for v in each.inputs):
            row, attrs, lists = each.payload
            results = evaluate(row, attrs, lists, [constants[v] for v in each.inputs])
        if results is None:
            kept.append(each)
            continue
        for v, tensor in zip(each.outputs, results, strict=True):
            constants[v] = tensor
    program.instructions = kept


def evaluate(row: Any, attrs: Any, lists: Any, inputs: list[Any]) -> list[Any] | None:
    """The results of a row; None where there are errors, which belong to the run, or where they are large.

    Args:
      lists: the sizes of the inputs that are lists.
      inputs: the flat inputs.
    """

    if any(x.dtype.name in ("variant", "resource") for x in inputs):
        return None
    values = row.schema.grouped(inputs, lists or ())
    with context.eager_mode(), context.pause_recording():
        try:
            result = row(*values, **attrs)
        except Exception:  # it belongs to the run, which may never reach this node
            return None
    if isinstance(result, tuple):
        flat = [y for part in result for y in (part if isinstance(part, list) else [part])]
    else:
        flat = result if isinstance(result, list) else [result]
    if any(_size(y) > MOST_ELEMENTS or y.dtype.name in ("variant", "resource") for y in flat):
        return None
    return flat


def _size(tensor: Any) -> int:
    size = 1
    for d in tensor.shape.as_list():
        size *= d
    return size
