"""The collections of a graph that programs of 1.x use, by their names."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api, api_value
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public
from tapeflow.graph.default_graph import get_default_graph


@api(v1="GraphKeys")
class GraphKeys:
    """Names of collections."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = GLOBAL_VARIABLES
    _STREAMING_MODEL_PORTS = "streaming_model_ports"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"


def _refuse_eager(what: str) -> None:
    if context.executing_eagerly():
        raise RuntimeError(f"{what} is not supported when eager execution is enabled.")


@api(v1="add_to_collection")
@public
def add_to_collection(name: str | None, value: Any):
    """Adds `value` to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


@api(v1="add_to_collections")
@public
def add_to_collections(names, value: TensorLike):
    """Add `value` to several collections of the default graph.

    Args:
      names: the names of the collections.
      value: any object.
    """
    get_default_graph().add_to_collections(names, value)


@api(v1="get_collection_ref")
@public
def get_collection_ref(key: TensorLike):
    """The list itself of a collection of the default graph."""
    return get_default_graph().get_collection_ref(key)


@api(v1="get_collection")
@public
def get_collection(key, scope=None):
    """The items of a collection of the default graph; with `scope`, those whose names begin with it.

    Args:
      key: the name of the collection.
      scope: a prefix of names, a regular expression (optional).
    """
    return get_default_graph().get_collection(key, scope)


@api(v1="get_all_collection_keys")
@public
def get_all_collection_keys():
    """The names of the collections of the default graph."""
    return get_default_graph().get_all_collection_keys()


def _variables(key: str, doc: str) -> Any:
    def found(scope: str | None = None):
        return get_default_graph().get_collection(key, scope)

    found.__doc__ = doc
    found.__name__ = found.__qualname__ = key
    return public(found)


global_variables = _variables(
    GraphKeys.GLOBAL_VARIABLES, "The variables of the default graph that checkpoints hold."
)
api_value("global_variables", v1="global_variables")
local_variables = _variables(GraphKeys.LOCAL_VARIABLES, "The local variables of the default graph.")
api_value("local_variables", v1="local_variables")
model_variables = _variables(GraphKeys.MODEL_VARIABLES, "The model variables of the default graph.")
api_value("model_variables", v1="model_variables")
trainable_variables = _variables(
    GraphKeys.TRAINABLE_VARIABLES, "The trainable variables of the default graph."
)
api_value("trainable_variables", v1="trainable_variables")
moving_average_variables = _variables(
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    "The variables of the default graph that have moving averages.",
)
api_value("moving_average_variables", v1="moving_average_variables")


@api(v1="all_variables")
@public
def all_variables():
    """The old name of `global_variables`."""
    return global_variables()


# What turns the items of a collection into messages and back: (class of messages, to, from).
proto_functions: dict[str, tuple[Any, Any, Any]] = {}


def register_proto_function(
    collection_name: str, proto_type: Any = None, to_proto: Any = None, from_proto: Any = None
) -> None:
    """Registers how the items of a collection are written into a MetaGraphDef.

    Args:
      collection_name: the name of the collection.
      proto_type: the class of the messages.
      to_proto: a function that gives the message of an item.
      from_proto: a function that gives the item of a message.

    Raises TypeError for what is no function.
    """
    for function in (to_proto, from_proto):
        if function is not None and not callable(function):
            raise TypeError(f"to_proto and from_proto must be callable, got {function!r}")
    proto_functions[collection_name] = (proto_type, to_proto, from_proto)
