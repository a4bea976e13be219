"""Models as JSON and from JSON, and copies of models."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeflow.core.deserialization import deserializing
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2, keras_version
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import function_code
from tapeflow.keras.registry import deserialize_in
from tapeflow.keras.saving.network3 import deserialize_model, serialize_model


def to_json(model: Any, **kwargs):
    """A JSON text of the model's class and config."""
    if not keras_2():
        return json.dumps(serialize_model(model), default=plain, **kwargs)
    described = {
        "class_name": type(model).__name__,
        "config": model.get_config(),
        "keras_version": keras_version(),
        "backend": "tensorflow",
    }
    return json.dumps(described, default=plain, **kwargs)


def plain(value: Callable[..., Any]):
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


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None):
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


def model_from_config(config: dict[str, Any], custom_objects=None):
    """Make a model of its config, with new weights.

    Args:
      config: a dict with "class_name" and "config".
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The model.

    Raises:
      TypeError: for a list.
    """
    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Received: "
            f"config={config}. Did you meant to use `Sequential.from_config(config)`?"
        )
    if keras_2() or "module" not in config:
        return deserialize_in("keras.layers", config, custom_objects)
    return deserialize_model(config, custom_objects)


def copy_of(layer: Any, config: dict[str, Any] | None = None):
    """A new layer of the class and the config of a layer of the program, which is trusted."""
    with deserializing(safe_mode=False):
        return type(layer).from_config(layer.get_config() if config is None else config)


boundaries(globals())
