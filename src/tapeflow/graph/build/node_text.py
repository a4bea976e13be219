"""A node as messages about it show it, before it is in a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core.dtypes import DType
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.validate import shape_text


def node_text(
    row: Any, inputs: Sequence[SymbolicTensor], sizes: Iterable[int | None], attrs: dict[str, Any], name: str
) -> str:
    """The name, op, attrs and inputs of a node, and the shapes of these.

    Args:
      sizes: the number of tensors of each input that is a list, None for the others.
    """
    every = {**row.schema.inferred([x.dtype for x in inputs], sizes), **attrs}
    shown = ", ".join(f"{key}={_attr(every[key])}" for key in sorted(every) if not key.startswith("_"))
    named = ", ".join(x.name.removesuffix(":0") for x in inputs)
    shapes = ", ".join("?" if x.shape_tuple is None else shape_text(x.shape_tuple) for x in inputs)
    return f"'{{{{node {name}}}}} = {row.name}[{shown}]({named})' with input shapes: {shapes}."


def _attr(value: Any) -> str:
    if isinstance(value, DType):
        return str(protos.DataType.Name(value.as_datatype_enum))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return f'"{value.decode(errors="replace")}"'
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, TensorShape):
        return "<unknown>" if value.rank is None else shape_text(tuple(value.as_list()))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_attr, value))}]"
    return str(value)
