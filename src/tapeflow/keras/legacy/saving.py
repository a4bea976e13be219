"""`tf.keras.legacy.saving`: objects as {"class_name", "config"}, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.annotations import Configurable
from tapeflow.core.public import public
from tapeflow.keras.registry import from_config_dict, resolve

__all__ = ["deserialize_keras_object", "serialize_keras_object"]


@public
def serialize_keras_object(instance):
    """Describe an object by its class and config, a function by its name.

    Raises ValueError for what has neither.
    """
    if instance is None:
        return None
    name = getattr(type(instance), "_keras_name", None) or type(instance).__name__
    if hasattr(instance, "get_config"):
        return {"class_name": name, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return getattr(instance, "_keras_name", None) or instance.__name__
    raise ValueError(f"Cannot serialize {instance} because it doesn't implement `get_config()`.")


@public
def deserialize_keras_object(
    identifier: Configurable, module_objects=None, custom_objects: Mapping[str, Any] | None = None,
    printable_module_name: str = "object",
):
    """Make what `serialize_keras_object` has described.

    Args:
      identifier: a description, or the name of a function; None gives None.
      module_objects, custom_objects: classes and functions by name.
      printable_module_name: what errors call the objects.

    Raises ValueError for unknown names, and for what describes nothing.
    """
    if identifier is None:
        return None
    known = dict(module_objects or {})
    if isinstance(identifier, dict):
        if "class_name" not in identifier or "config" not in identifier:
            raise ValueError(
                f"Improper config format for {identifier}. Expecting python dict contains `class_name` and `config` "
                "as keys"
            )
        return from_config_dict(identifier, known, printable_module_name, custom_objects)
    if isinstance(identifier, str):
        return resolve(identifier, known, printable_module_name, custom_objects)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret serialized object: {identifier}")
