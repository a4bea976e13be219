"""Objects as plain data in the form of Keras 3, and back: only what is known by name is ever made.

{"module": "keras.layers", "class_name": "Dense", "config": {...}, "registered_name": None}
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.deserialization import deserializing
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import function_code, registry
from tapeflow.keras.engine.protocol import Protocol
from tapeflow.keras.registry import CustomObjectScope, module_of

if TYPE_CHECKING:
    from tapeflow.keras.optimizers.rules import SGD, Adam

_DROPPED = ("time_major", "implementation", "batch_input_shape", "schedule_decay")


def serialize_keras_object(obj):
    """An object of Keras, or plain data with such in it, as data that JSON can say. Raises TypeError for others."""
    if obj is None or isinstance(obj, (bool, int, float, str)):
        return obj
    if isinstance(obj, bytes):
        return {"class_name": "__bytes__", "config": {"value": obj.decode("latin-1")}}
    if isinstance(obj, (list, tuple)):
        if isinstance(obj, tuple) and not hasattr(obj, "_fields"):
            return {
                "class_name": "__tuple__",
                "config": {"value": [serialize_keras_object(x) for x in obj]},
            }
        return [serialize_keras_object(x) for x in obj]
    if isinstance(obj, dict):
        return plain_config(obj)
    if isinstance(obj, TensorShape):
        return obj.as_list()
    if isinstance(obj, DType):
        return obj.name
    if isinstance(obj, np.generic):
        return obj.item()
    if isinstance(obj, np.ndarray):
        return {
            "class_name": "__numpy__",
            "config": {"value": obj.tolist(), "dtype": obj.dtype.name},
        }
    if isinstance(obj, Tensor):
        value = obj.numpy()
        return {
            "class_name": "__tensor__",
            "config": {"value": value.tolist(), "dtype": value.dtype.name},
        }
    if isinstance(obj, slice):
        parts = (obj.start, obj.stop, obj.step)
        return {"class_name": "__slice__", "config": dict(zip(("start", "stop", "step"), parts))}
    if obj is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    if inspect.isfunction(obj) and obj.__name__ == "<lambda>":
        return function_code.dump(obj)
    if hasattr(obj, "get_config"):
        return _of_object(obj)
    if callable(obj):
        return _of_function(obj)
    raise TypeError(f"Cannot serialize object {obj!r} of type {type(obj).__name__}.")


def _of_function(function: Callable[..., Any]):
    registered = getattr(function, "_keras_name", None)
    name = getattr(function, "__name__", type(function).__name__)
    if registered is None and module_of_function(function) is not None:
        return name
    return {
        "module": "builtins", "class_name": "function", "config": name,
        "registered_name": registered or "function",
    }  # fmt: skip


def module_of_function(function: Callable[..., Any]):
    """The module of Keras 3 that a function of this package belongs to, or None."""
    package = getattr(function, "__module__", "") or ""
    return package if package.startswith("tapeflow.") else None


def _of_object(obj):
    registered = getattr(type(obj), "_keras_name", None)
    config = obj.get_config()
    if hasattr(obj, "apply_gradients"):
        config = _of_optimizer(config, obj)
    found = {
        "module": module_of(obj),
        "class_name": type(obj).__name__,
        "config": plain_config(config),
        "registered_name": registered,
    }
    if registered is None and found["module"] is None:
        found["registered_name"] = type(obj).__name__
    built = build_config(obj)
    if built is not None:
        found["build_config"] = built
    compiled = getattr(obj, "get_compile_config", None)
    if compiled is not None:
        found["compile_config"] = compile_config(obj)
    return found


def _of_optimizer(config: dict[str, Any], optimizer: Adam | SGD):
    """The config of an optimizer by the names of Keras 3."""
    if config.get("decay") in (0, 0.0, None) or type(optimizer).__name__ == "Nadam":
        config.pop("decay", None)
    return dict(config)


def compile_config(model):
    """What a model was compiled with, by the names of Keras 3; {} where it was not."""
    given = getattr(model, "_compile_arguments", None)
    if given is None:
        return {}
    return {name: _structure(value) for name, value in given.items()}


def _structure(value):
    if isinstance(value, (list, tuple)):
        return [_structure(item) for item in value]
    if isinstance(value, dict):
        return {key: _structure(item) for key, item in value.items()}
    return serialize_keras_object(value)


def build_config(obj):
    """What `build_from_config` takes, by default the shapes that an object was built for; None where there is none."""
    of_class = getattr(type(obj), "get_build_config", None)
    if of_class not in (None, Protocol.get_build_config):
        return serialize_keras_object(obj.get_build_config())
    shape = obj.__dict__.get("_input_shape_seen") if hasattr(obj, "__dict__") else None
    if shape is None or type(obj).__name__ == "InputLayer":
        return None
    return {"input_shape": _plain_shapes(shape)}


def _plain_shapes(shapes: Sequence[TensorShape] | TensorShape | dict[str, Any]):
    if isinstance(shapes, TensorShape):
        return None if shapes.rank is None else shapes.as_list()
    if isinstance(shapes, dict):
        return {key: _plain_shapes(value) for key, value in shapes.items()}
    if isinstance(shapes, (list, tuple)) and not all(
        isinstance(s, (int, type(None))) for s in shapes
    ):
        return [_plain_shapes(value) for value in shapes]
    return None if shapes is None else list(shapes)


def plain_config(config: dict[str, Any]):
    """A config as data for JSON, its nested objects by the form of Keras 3."""
    found = {}
    for name, value in config.items():
        if name in _DROPPED and not keras_2():
            continue
        found[name] = _value(value)
    return found


def _value(value):
    if isinstance(value, dict) and {"class_name", "config"} <= set(value):
        return complete(value)
    if isinstance(value, dict):
        return {key: _value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(item) for item in value]
    return serialize_keras_object(value)


def complete(described: dict[str, Any]):
    """A {"class_name", "config"} dict with the module that Keras 3 looks for."""
    described = dict(described)
    if isinstance(described["config"], dict):
        config = dict(described["config"])
        if described["class_name"] == "InputLayer" and "batch_input_shape" in config and not keras_2():
            config["batch_shape"] = list(config.pop("batch_input_shape"))
        axis = config.get("axis")
        if (
            isinstance(axis, (list, tuple))
            and len(axis) == 1
            and "Batch" in described["class_name"]
        ):
            config["axis"] = axis[0]
        if "build_config" not in described and described["class_name"][:2] == "__":
            return described
        described["config"] = plain_config(config)
    if "module" in described:
        return described
    name = described["class_name"]
    cls = _known(name.partition(">")[2] or name, None)
    described["module"] = None if cls is None or ">" in name else module_of(cls)
    described["registered_name"] = name if ">" in name or cls is None else None
    described["class_name"] = name.partition(">")[2] or name
    return described


def _known(name: str, module: str | None):
    known = registry.namespaces
    order = [known[module]] if module in known else known.values()
    return next((found for namespace in order if (found := namespace.named(name)) is not None), None)


def find(
    name: str, registered: str | None, module: str | None, custom_objects: Mapping[str, Any] | None = None
):
    """The class or function of that name: of the program's own, else of Keras. Raises TypeError for none."""
    for names in (custom_objects or {}, registry.custom):
        for known in (registered, name):
            if known and known in names:
                return names[known]
    if module is None or str(module).partition(".")[0] in (
        "keras",
        "tapeflow",
        "builtins",
        "tf_keras",
    ):
        found = _known(name, module)
        if found is not None:
            return found
    raise TypeError(
        f"Could not locate class or function '{registered or name}'. Make sure custom classes and "
        "functions are decorated with `@keras.utils.register_keras_serializable()`, or pass them in "
        f"`custom_objects`. (The config names module {module!r}, which is never imported.)"
    )


def deserialize_keras_object(config: dict[str, Any], custom_objects=None, safe_mode: bool = True, **kwargs):
    """Make the object that `serialize_keras_object` has described.

    Args:
      config: the description: a dict, a name, a plain value, or a list of such.
      custom_objects: a dict of the program's own classes and functions by name.
      safe_mode: whether configs may name no other files, and only functions that compute tensors and do nothing else.
      **kwargs: `module_objects`, further classes and functions by name.

    Returns:
      The object.

    Raises:
      TypeError: for names that are not known.
      ValueError: for lambdas and configs that are no configs.
    """
    objects = kwargs.get("module_objects")
    if objects:
        custom_objects = {**objects, **(custom_objects or {})}
    if config is None or isinstance(config, (bool, int, float)):
        return config
    if isinstance(config, str):
        try:
            return find(config, None, None, custom_objects)
        except TypeError:
            return config
    if isinstance(config, (list, tuple)):
        return [deserialize_keras_object(item, custom_objects, safe_mode) for item in config]
    if not isinstance(config, dict):
        raise TypeError(f"Could not parse config: {config!r}")
    if "class_name" not in config or "config" not in config:
        return {
            key: deserialize_keras_object(item, custom_objects, safe_mode)
            for key, item in config.items()
        }
    name, inner = config["class_name"], config["config"]
    if not isinstance(name, str):
        raise TypeError(f"Could not parse config: the class is {name!r}")
    special = _SPECIAL.get(name)
    if special is not None:
        return special(inner, custom_objects, safe_mode)
    module, registered = config.get("module"), config.get("registered_name")
    if name == "function":
        return find(
            str(inner), None if registered == "function" else registered, None, custom_objects
        )
    cls = find(name, registered, module, custom_objects)
    if not inspect.isclass(cls):
        return cls
    if not hasattr(cls, "from_config"):
        raise TypeError(
            f"Unable to reconstruct an instance of '{name}': it has no `from_config()`."
        )
    with CustomObjectScope(custom_objects or {}), deserializing(safe_mode):
        made = registry.made_from(cls, inner)
        build_from(made, config.get("build_config"))
        compiled = config.get("compile_config")
        if compiled and hasattr(made, "compile_from_config"):
            made.compile_from_config(compiled)
    return made


def build_from(layer: Any, config: dict[str, Any] | None):
    """Builds what was built when it was saved, if it is not yet."""
    if not config or getattr(layer, "built", True) or not hasattr(layer, "build_from_config"):
        return
    layer.build_from_config(config)


def _tuple(inner, custom_objects: Mapping[str, Any], safe_mode):
    return tuple(deserialize_keras_object(inner["value"], custom_objects, safe_mode))


def _array(inner: dict[str, Any], custom_objects: Mapping[str, Any] | None, safe_mode: bool):
    return np.array(inner["value"], dtype=inner["dtype"])


def _tensor(inner, custom_objects: Mapping[str, Any], safe_mode):
    return convert_to_tensor(_array(inner, custom_objects, safe_mode))


def _lambda(inner: dict[str, Any], custom_objects: Mapping[str, Any] | None, safe_mode: bool):
    with deserializing(safe_mode):
        return function_code.load(inner)


_SPECIAL = {
    "__tuple__": _tuple,
    "__numpy__": _array,
    "__tensor__": _tensor,
    "__lambda__": _lambda,
    "__bytes__": lambda inner, *_: inner["value"].encode("latin-1"),
    "__ellipsis__": lambda inner, *_: Ellipsis,
    "__slice__": lambda inner, *_: slice(inner["start"], inner["stop"], inner["step"]),
}

boundaries(globals())
