"""Models as JSON and from JSON, and copies of models."""

from __future__ import annotations

import json
import types

import numpy as np

from tapeflow.core import nest
from tapeflow.core.deserialization import deserializing
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import function_code


def keras_version():
    """The version that files say they are of."""
    return "2.21.0" if keras_2() else "3.15.1"


def to_json(model, **kwargs):
    """A JSON text of the model's class and config."""
    if not keras_2():
        from tapeflow.keras.saving.network3 import serialize_model

        return json.dumps(serialize_model(model), default=plain, **kwargs)
    described = {
        "class_name": type(model).__name__,
        "config": model.get_config(),
        "keras_version": keras_version(),
        "backend": "tensorflow",
    }
    return json.dumps(described, default=plain, **kwargs)


def plain(value):
    """What json does not know, as it is written in configs. Raises TypeError for anything else."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, DType):
        return value.name
    if isinstance(value, TensorShape):
        return value.as_list()
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if hasattr(value, "numpy"):
        return value.numpy().tolist()
    if isinstance(value, types.FunctionType) and value.__name__ == "<lambda>":
        return function_code.dump(value)
    if isinstance(value, type) or callable(value):
        return value.__name__
    raise TypeError(f"Not JSON Serializable: {value!r}")


def model_from_json(json_string, custom_objects=None):
    """Make a model of what `Model.to_json` gave, with new weights.

    Args:
      json_string: the text.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The model.

    Raises:
      ValueError: for unknown classes.
    """
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_config(config, custom_objects=None):
    """Make a model of its config, with new weights.

    Args:
      config: a dict with "class_name" and "config".
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The model.

    Raises:
      TypeError: for a list.
    """
    from tapeflow.keras.layers import deserialize

    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Received: "
            f"config={config}. Did you meant to use `Sequential.from_config(config)`?"
        )
    if keras_2() or "module" not in config:
        return deserialize(config, custom_objects)
    from tapeflow.keras.saving.network3 import deserialize_model

    return deserialize_model(config, custom_objects)


def copy_of(layer, config=None):
    """A new layer of the class and the config of a layer of the program, which is trusted."""
    with deserializing(safe_mode=False):
        return type(layer).from_config(layer.get_config() if config is None else config)


def clone_model(model, input_tensors=None, clone_function=None):
    """Make a model of new layers with new weights, made as those of a functional or Sequential model are.

    Args:
      model: a `keras.Model`.
      input_tensors: symbolic tensors for its inputs; None for new ones.
      clone_function: a function of a layer that gives the new one; None for a layer of the same config.

    Returns:
      The new model.

    Raises:
      ValueError: for subclassed models.
    """
    from tapeflow.keras.engine.functional import Functional, takes_tensors
    from tapeflow.keras.engine.sequential import Sequential
    from tapeflow.keras.engine.symbolic import KerasTensor
    from tapeflow.keras.layers import InputLayer

    copy = clone_function or copy_of
    if isinstance(model, Sequential):
        made = Sequential(name=model.name)
        for layer in model._stack:
            made.add(copy_of(layer) if isinstance(layer, InputLayer) else copy(layer))
        return made
    if not isinstance(model, Functional):
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclassed model "
            f"instead: {model}"
        )
    copies = {}
    for layer in model.operations:
        plain = isinstance(layer, InputLayer)
        copies[layer] = copy_of(layer) if plain else copy(layer)
    values = {}
    given = nest.flatten(input_tensors) if input_tensors is not None else None
    for i, tensor in enumerate(model.inputs):
        values[id(tensor)] = copies[tensor.layer].output if given is None else given[i]

    def value_of(leaf):
        return values[id(leaf)] if isinstance(leaf, KerasTensor) else leaf

    for node in model._network.calls:
        outputs = copies[node.layer](
            nest.map_structure(value_of, node.inputs),
            *nest.map_structure(value_of, node.args),
            **nest.map_structure(value_of, node.kwargs),
        )
        for tensor, value in zip(nest.flatten(node.outputs), nest.flatten(outputs)):
            values[id(tensor)] = value
    made = type(model) if takes_tensors(type(model)) else Functional
    return made(
        nest.map_structure(value_of, model._inputs),
        nest.map_structure(value_of, model._outputs),
        name=model.name,
    )

boundaries(globals())
