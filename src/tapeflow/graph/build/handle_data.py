"""What is known of the variable behind a resource tensor."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.core.tensor_shape import TensorShape


def get_resource_handle_data(graph_op: Any) -> Any:
    """The shape and dtype of the variable behind a resource tensor of a graph, as a `HandleData` message."""
    made = protos.CppShapeInferenceResult.HandleData()
    dtype = getattr(graph_op, "handle_dtype", None)
    if dtype is not None:
        made.is_set = True
        part = made.shape_and_type.add()
        part.dtype = dtype.as_datatype_enum
        part.shape.CopyFrom(TensorShape(graph_op.handle_shape).as_proto())
    return made
