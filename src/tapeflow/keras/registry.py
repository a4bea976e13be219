"""Objects by name or configuration: what `keras.layers.get("...")`-like arguments accept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tapeflow.core.deserialization import deserializing
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.spelling import did_you_mean, snake_case
from tapeflow.keras import function_code
from tapeflow.keras.unknown_arguments import name_of

custom: dict[str, object] = {}


class Namespace(NamedTuple):
    """What configs may name in a namespace of Keras."""

    named: Callable[[str], Any]  # the class or function of that name, or None
    deserialize: Callable[..., Any] | None = None  # makes an object of a config


# By the module that Keras 3 writes. `tapeflow.keras` registers them, as classes of each may hold objects of the others.
namespaces: dict[str, Namespace] = {}


def register_namespaces(known: dict[str, Namespace]) -> None:
    """Let configs name what these namespaces hold, looked through in this order."""
    namespaces.update(known)


def deserialize_in(module: str, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The object of a config (or a name) in a namespace, such as "keras.layers"."""
    deserialize = namespaces[module].deserialize
    assert deserialize is not None, module
    return deserialize(config, custom_objects)


class CustomObjectScope:
    """A context in which names of the program's own classes and functions are known.

    Args:
      custom_objects: a dict of classes and functions by name.
      *more: further ones, as Keras 2 takes them.
    """

    def __init__(self, custom_objects: Mapping[str, Any] | None = None, *more):
        given = (custom_objects or {}, *more)
        self.custom_objects = {name: value for mapping in given for name, value in mapping.items()}
        self._backup = None

    def __enter__(self):
        self._backup = dict(custom)
        custom.update(self.custom_objects)
        return self

    def __exit__(self, *exc_info):
        custom.clear()
        custom.update(self._backup)


def get_custom_objects():
    """The global table of custom names, which may be changed."""
    return custom


def register_keras_serializable(package: str = "Custom", name: str | None = None):
    """Make a decorator that makes a class or function known by `package>name`, so that saved models find it.

    Args:
      package: the first part of the name.
      name: the second part; None for that of the class or function.

    Returns:
      The decorator.

    Raises:
      ValueError: when it is applied to a class without `get_config`, or the name is taken.
    """

    def decorate(value):
        known = f"{package}>{name or value.__name__}"
        if inspect.isclass(value) and not hasattr(value, "get_config"):
            raise ValueError(
                f"Cannot register a class that does not have a get_config() method: {value}"
            )
        if known in custom:
            raise ValueError(f"{known} has already been registered to {custom[known]}")
        custom[known] = value
        value._keras_name = known
        return value

    return decorate


def get_registered_name(obj):
    """The name by which a class or function is registered, else its own."""
    return getattr(obj, "_keras_name", None) or obj.__name__


def get_registered_object(name: str, custom_objects: Mapping[str, Any] | None = None, module_objects=None):
    """Find a class or function by the name that it is registered by.

    Args:
      name: the name, `package>name`.
      custom_objects: a dict of the program's own, looked through first.
      module_objects: a dict looked through last.

    Returns:
      The class or function; None where there is none.
    """
    for names in (custom_objects or {}, custom, module_objects or {}):
        if name in names:
            return names[name]
    return None


class UnknownClassError(TypeError, ValueError):
    """A config names a class that is not known."""


# Objects that Keras 3 speaks of as identified, by what Keras 2 calls them.
_IDENTIFIED = {
    "activation function": "activation function", "constraint": "constraint", "initializer": "initializer",
    "loss function": "loss", "metric function": "metric", "optimizer": "optimizer", "regularizer": "regularizer",
}  # fmt: skip


def find(
    name: str, table: dict[str, Any], kind: str, custom_objects: Mapping[str, Any] | None = None,
    error: type = ValueError,
):
    """The class or function called `name`. Raises `error` when there is none."""
    for names in (custom_objects or {}, custom, table):
        if name in names:
            return names[name]
    own = str(name).removeprefix("Custom>")  # by which Keras 2 registers its optimizers, and some layers
    if own in table:
        return table[own]
    known = [*table, *custom, *(custom_objects or {})]
    hint = did_you_mean(str(name), known)
    if keras_2() or kind not in _IDENTIFIED:
        first = f"Unknown {kind}: {name!r}."
    else:
        first = f"Could not interpret {_IDENTIFIED[kind]} identifier: {name}."
    raise error(
        f"{first} " + (f"{hint} " if hint else "") + "To use your own, enter "
        f"`tf.keras.utils.custom_object_scope({{{name!r}: ...}})`, or pass `custom_objects={{{name!r}: ...}}` where a "
        "model is loaded; a class decorated with `@tf.keras.utils.register_keras_serializable()` is found without "
        "either when a model that was saved with it is loaded."
    )


def resolve(
    identifier: Any, table: dict[str, Any], kind: str, custom_objects: Mapping[str, Any] | None = None,
    instantiate: bool = True,
):
    """An object from None, a name, a {"class_name", "config"} dict, or an object itself.

    Classes are instantiated, those given themselves where `instantiate`; functions are returned as they are.
    """
    if identifier is None:
        return None
    if isinstance(identifier, str):
        found = find(identifier, table, kind, custom_objects)
        return found() if inspect.isclass(found) else found
    if isinstance(identifier, dict):
        return from_config_dict(identifier, table, kind, custom_objects)
    if callable(identifier):
        return identifier() if instantiate and inspect.isclass(identifier) else identifier
    raise ValueError(f"Could not interpret {kind} identifier: {identifier!r}")


def from_config_dict(
    config: dict[str, Any], table: dict[str, Any], kind: str, custom_objects: Mapping[str, Any] | None = None
):
    """The object that a {"class_name", "config"} dict describes."""
    if "class_name" not in config:
        raise ValueError(f"Improper config format for {kind}: {config}")
    name, registered = config["class_name"], config.get("registered_name")
    if name == "function":
        name = config.get("config")
    elif name == "__lambda__":
        with deserializing():
            return function_code.load(config)
    known = {**custom, **(custom_objects or {})}
    cls = known[registered] if registered in known else find(name, table, kind, custom_objects, UnknownClassError)
    settings = config.get("config") or {}
    if not isinstance(settings, dict):
        if inspect.isclass(cls) and config["class_name"] == "function":
            return cls()
        if inspect.isclass(cls):
            raise ValueError(f"The config of a {kind} of class {cls.__name__!r} must be a dict, got {settings!r}.")
        return cls
    if not hasattr(cls, "from_config"):
        with deserializing():
            return cls(**settings) if inspect.isclass(cls) else cls
    with CustomObjectScope(custom_objects or {}), deserializing():
        return made_from(cls, settings)


# Settings of other versions of Keras at which layers are as they are without them.
_INERT = {"renorm_momentum": 0.99, "data_format": "channels_last"}


def made_from(cls, config: dict[str, Any]):
    """`cls.from_config(config)`, without settings that the class has not where they change nothing."""
    config = dict(config)
    while True:
        try:
            return cls.from_config(dict(config))
        except (TypeError, ValueError) as error:
            name = name_of(error)
            if name not in config:
                raise
            value = config.pop(name)
            if value not in (None, False) and _INERT.get(name) != value:
                raise


def module_of(value):
    """The module that Keras 3 writes for an object, or None for one of the program's own."""
    kind = value if inspect.isclass(value) else type(value)
    if not kind.__module__.startswith("tapeflow.keras."):
        return None
    # The bases say it for the classes derived from them; some of the bases themselves are in another.
    return vars(kind).get("_keras_module_itself") or getattr(kind, "_keras_module", None)


def to_config(value):
    """What `resolve` makes an equal object from, in the form of Keras 2 or 3."""
    if value is None or isinstance(value, (str, dict)):
        return value
    if hasattr(value, "get_config"):
        name, registered = type(value).__name__, getattr(value, "_keras_name", None)
        if keras_2():
            return {"class_name": registered or name, "config": value.get_config()}
        module = module_of(value)
        registered = registered or (name if module is None else None)
        return {"module": module, "class_name": name, "config": value.get_config(), "registered_name": registered}
    if hasattr(value, "__name__"):
        name = getattr(value, "_keras_name", None) or value.__name__
        if name == "<lambda>":
            return function_code.dump(value)
        if keras_2() or value.__module__.startswith("tapeflow."):
            return name
        return {"module": "builtins", "class_name": "function", "config": name, "registered_name": "function"}
    raise ValueError(f"Cannot serialize {value!r}")


def snake_name(cls):
    """The name of the objects of a class, to which a number is added."""
    return cls.__dict__.get("_snake_name") or snake_case(cls.__name__)


custom_object_scope = CustomObjectScope

boundaries(globals())
