"""Common subexpressions: what is computed twice in the same way is computed once."""

from __future__ import annotations

from typing import Any

from tapeflow.core.dtypes import DType
from tapeflow.graph.run.program import Program


def merge_common(program: Program) -> None:
    """Lets instructions with the same row, attrs and inputs share one result."""
    seen: dict[Any, list[int]] = {}
    replaced: dict[int, int] = {}
    _merge_constants(program, replaced)
    kept = []
    for each in program.instructions:
        each.inputs = [replaced.get(v, v) for v in each.inputs]
        key = None
        if each.kind == "op" and not each.stateful:
            row, attrs, lists = each.payload
            plain = _plain(attrs)
            if plain is not None:
                key = (row.name, plain, tuple(lists or ()), tuple(each.inputs))
        known = None if key is None else seen.get(key)
        if known is None:
            kept.append(each)
            if key is not None:
                seen[key] = each.outputs
            continue
        replaced.update(zip(each.outputs, known, strict=True))
    program.instructions = kept
    program.outputs = [replaced.get(v, v) for v in program.outputs]


def _merge_constants(program: Program, replaced: dict[int, int]) -> None:
    """Small constants that are equal become one."""
    seen: dict[Any, int] = {}
    for v, tensor in program.constants.items():
        if not tensor.dtype.is_numpy_compatible or tensor.dtype.name == "string":
            continue
        shape = tuple(tensor.shape.as_list())
        if len(shape) > 1 or (shape and shape[0] > 64):
            continue
        key = (int(tensor.dtype), shape, tensor.numpy().tobytes())
        if key in seen:
            replaced[v] = seen[key]
        else:
            seen[key] = v


def _plain(attrs: dict[str, Any]) -> Any:
    """Attrs as something hashable; None where an attr is a function or another object."""
    items = []
    for key, value in sorted(attrs.items()):
        if isinstance(value, list):
            value = tuple(value)
        if not isinstance(value, (int, float, str, bytes, tuple, DType, type(None))):
            return None
        try:
            hash(value)
        except TypeError:
            return None
        items.append((key, type(value).__name__, value))
    return tuple(items)
