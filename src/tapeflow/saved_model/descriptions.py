"""How variables, other objects and ops are described in a SavedModel."""

from __future__ import annotations

from typing import Any

from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import shared_name_of
from tapeflow.graph.interchange import attributes
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.saved_model.options import SaveOptions, VariablePolicy
from tapeflow.saved_model.signatures import SignatureMap


def describe_variable(made: Any, variable: Any, options: SaveOptions) -> None:
    made.dtype = variable.dtype.base_dtype.as_datatype_enum
    made.shape.CopyFrom(attributes.of(TensorShape(variable.shape), "shape").shape)
    made.trainable = variable.trainable
    made.synchronization = variable.synchronization.value
    made.aggregation = variable.aggregation.value
    made.name = shared_name_of(variable)
    if options.experimental_variable_policy is not VariablePolicy.NONE:
        made.device = variable.device or ""


def identifier_of(value: Any) -> str:
    if isinstance(value, SignatureMap):
        return "signature_map"
    if isinstance(value, tuple):
        return "trackable_tuple_wrapper"
    if isinstance(value, list):
        return "trackable_list_wrapper"
    if isinstance(value, dict):
        return "trackable_dict_wrapper"
    if hasattr(value, "get_slot_names"):
        return "optimizer"
    identifier = getattr(value, "_saved_identifier", None) or getattr(value, "_object_identifier", None)
    return str(identifier or "_generic_user_object")


def node_name(name: str) -> str:
    """A name that a node can have."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_./-\\>") else "_" for c in name)
    return plain if plain[:1].isalnum() or plain[:1] == "." else f"v{plain}"


def list_ops(made: Any, graph_def: Any) -> None:
    """The definitions of the ops of a graph and its functions."""
    library = {function.signature.name for function in graph_def.library.function}
    kinds = {node.op for node in graph_def.node}
    for function in graph_def.library.function:
        kinds |= {node.op for node in function.node_def}
    made.op.extend(op_defs.op_def(kind) for kind in sorted(kinds - library) if op_defs.known(kind))
