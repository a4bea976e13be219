"""Calls of `keras.ops` in functional models, in the form in which Keras 3 writes them: objects of a class for each.

{"module": "keras.src.ops.numpy", "class_name": "Concatenate", "config": {"name": "concatenate", "axis": -1}}

The tensors are arguments of the call of such an object, all else is in its config.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.keras.engine.functional.op_layer import TFOpLambda, operation_class
from tapeflow.keras.engine.functional.operators import FUNCTIONS, class_name
from tapeflow.keras.engine.functional.symbolic import any_symbolic

if TYPE_CHECKING:
    from tapeflow.keras.engine.functional.symbolic import Node

# The names of parameters that are tensors, besides the first one.
_TENSORS = frozenset((
    "array", "x", "x1", "x2", "y", "xs", "operands", "key", "q", "indices", "values", "condition", "condlist",
    "choicelist", "inputs", "kernel", "depthwise_kernel", "pointwise_kernel", "target", "output", "mean", "variance",
    "target_length", "output_length", "sequence_lengths", "query", "value", "mask", "gamma", "beta", "abs_", "angle",
    "data", "segment_ids", "targets", "predictions", "updates", "start_indices", "images", "transform", "coordinates",
    "start_points", "end_points", "translation", "image1", "image2", "sorted_sequence", "scale", "bias",
))  # fmt: skip
_PREFIX = "keras.src.ops."
# The functions of `keras.ops` that operators are, by the names that configs of Keras 2 have for these.
_OPERATORS = {function.__name__.strip("_"): name for function, (_, name) in FUNCTIONS.items()}


def _ops():
    return importlib.import_module("tapeflow.keras.ops")


def _function_of(layer):
    """The function of `keras.ops` that a layer calls, or None."""
    public_name = layer._public_name if isinstance(layer, TFOpLambda) else None
    if not public_name:
        return None
    path, _, name = public_name.rpartition(".")
    if path == "__operators__":
        return getattr(_ops(), _OPERATORS[name])
    if path in ("keras.ops", "keras.ops.image"):
        return layer.function
    return None


def module_of(function: Callable[..., Any]):
    """The module in which Keras 3 has the class whose calls are calls of a function of `keras.ops`."""
    ops, name = _ops(), function.__name__
    if function is ops.rearrange:
        return _PREFIX + "einops"
    if name in ops.image.__all__ and getattr(ops.image, name) is function:
        return _PREFIX + "image"
    for namespace in ("math", "linalg", "nn", "numpy"):
        if getattr(getattr(ops, namespace), name, None) is function:
            return _PREFIX + namespace
    return _PREFIX + "core"


def _is_tensor(name: str, names: Sequence[str]):
    return name == names[0] or name in _TENSORS or (name == "b" and names[0] == "a")


def describe(layer: Any, node: Node):
    """Return the description of a layer that calls a function of `keras.ops`, and the arguments of the call.

    None for other layers.
    """
    function = _function_of(layer)
    if function is None:
        return None
    parameters = inspect.signature(function).parameters
    names = list(parameters)
    given = [node.inputs, *node.args]
    rest = next((i for i, p in enumerate(parameters.values()) if p.kind is p.VAR_POSITIONAL), len(given))
    arguments = dict(zip(names, given[:rest])) | dict(node.kwargs)
    tensors = {n: v for n, v in arguments.items() if _is_tensor(n, names) or any_symbolic(v)}
    config = {"name": layer.name, **{n: v for n, v in arguments.items() if n not in tensors}}
    kind = class_name(function)
    described = {"module": module_of(function), "class_name": kind, "config": config, "registered_name": kind}
    return described, [*tensors.values(), *given[rest:]]


def is_operation(data: dict[str, Any]):
    """Whether the description of a layer is that of an operation of Keras 3."""
    return str(data.get("module")).startswith(_PREFIX)


def restore(data: dict[str, Any]):
    """Return the layer of a description. Raises ValueError for an operation that there is not."""
    ops, wanted = _ops(), data["class_name"].lower()
    config = dict(data.get("config") or {})
    name = config.pop("name", None)
    namespaces = (("keras.ops.image", ops.image),) if data["module"].endswith(".image") else (("keras.ops", ops),)
    for path, namespace in namespaces:
        for known in namespace.__all__:
            if known.replace("_", "") == wanted:
                function = getattr(namespace, known)
                return operation_class(class_name(function))(f"{path}.{known}", _arguments(config, function), name)
    raise ValueError(f"Unknown function in a config: the operation {data['class_name']!r} of {data['module']!r}")


def _arguments(config: dict[str, Any], function: Callable[..., Any]):
    """The constants of a config that the function takes; others are there only where they change nothing."""
    names = inspect.signature(function).parameters
    unknown = {name: value for name, value in config.items() if name not in names and value not in (None, False)}
    if unknown:
        raise ValueError(f"{function.__name__} does not have the arguments {sorted(unknown)} of a config.")
    return {name: tuple(v) if isinstance(v, list) else v for name, v in config.items() if name in names}
