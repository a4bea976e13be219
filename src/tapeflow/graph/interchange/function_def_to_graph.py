"""The graph of a `FunctionDef`, for programs that read functions of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.interchange.function_bodies import Functions


def function_def_to_graph(
    fdef: Any,
    structured_input_signature: Any = None,
    structured_outputs: Any = None,
    input_shapes: Sequence[Any] | None = None,
    propagate_device_spec: bool = False,
    include_library_functions: bool = False,
) -> FuncGraph:
    """Build the graph of a function.

    Args:
      fdef: a `FunctionDef`. The functions that it calls are those of the default graph.
      structured_input_signature: kept as an attribute of the graph.
      structured_outputs: kept as an attribute of the graph.
      input_shapes: a shape for each input, `TensorShape`s or `TensorShapeProto`s; None: those that `fdef` states.
      propagate_device_spec: has no effect.
      include_library_functions: has no effect: a graph writes the functions that it calls.

    Returns:
      A `FuncGraph` with `inputs` and `outputs`.

    Raises:
      ValueError: the number of `input_shapes` is not that of the inputs, or the definition is not valid.
    """
    definition = protos.FunctionDef()
    definition.CopyFrom(fdef)
    name = definition.signature.name
    if input_shapes is not None:
        count = len(definition.signature.input_arg)
        if len(input_shapes) != count:
            raise ValueError(f"Must specify a shape for each input. Expected {count}, got {len(input_shapes)}.")
        for i, shape in enumerate(input_shapes):
            attr = definition.arg_attr[i].attr["_output_shapes"]
            attr.Clear()
            attr.list.shape.append(_proto(shape))
    library = protos.FunctionDefLibrary()
    library.function.append(definition)
    library.function.extend(
        each.definition for key, each in get_default_graph()._functions.items() if key != name
    )
    graph = Functions(library).body(name, name).graph
    graph.structured_input_signature = structured_input_signature
    graph.structured_outputs = structured_outputs
    return graph


def _proto(shape: ShapeLike) -> Any:
    if isinstance(shape, protos.TensorShapeProto):
        return shape
    known: TensorShape = as_shape(shape)
    return known.as_proto()
