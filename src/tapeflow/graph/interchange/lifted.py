"""The variables of a graph of 1.x as eager ones, which functions capture in place of the graph's nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.graph.interchange import attributes
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.ops.state.variable import Variable


def variables_of(graph_def: protos.GraphDef, value_of: Callable[[list[str], Any, Any], Any]) -> dict[str, Any]:
    """Variables by the name of the tensor of their handles, for a `GraphDef` without reference variables.

    Args:
      value_of: gives the array of a variable, by the names it may have, its dtype and shape; None: zeros.

    Raises ValueError for a variable that has neither a value nor a shape.
    """
    found = {}
    for node in graph_def.node:
        if node.op != VarHandleOp.name:
            continue
        base = node.name.removesuffix("/resource_handle")
        key = node.attr["shared_name"].s.decode() or base
        try:
            dtype = as_dtype(node.attr["dtype"].type).base_dtype
        except TypeError:
            raise ValueError(f"Variable '{base}' has the dtype {node.attr['dtype'].type}") from None
        shape = attributes.shape_of(node.attr["shape"].shape, node.name)
        value = value_of([key, base], dtype, shape)
        if value is None:
            if not shape.is_fully_defined():
                raise ValueError(f"Variable '{base}' has no value, and its shape is {shape}")
            kind = object if dtype == dtypes.string else dtype.as_numpy_dtype
            value = np.full([n or 0 for n in shape.as_list()], b"" if kind is object else 0, kind)
        initial = value.tolist() if value.dtype == object else value
        with context.init_scope(), context.eager_mode():
            made = Variable(convert_to_tensor(initial, dtype), name=base, dtype=dtype, shape=shape)
        found[f"{node.name}:0"] = made
    return found
