"""Configs of layers that do not say themselves how they are made again: the arguments they were made with."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.structures import nest

# The types of arguments that a config can hold as they are.
_PLAIN = (str, int, float, bool, type(None))


@functools.cache
def _signature(init: Callable[..., Any]):
    return inspect.signature(init)


def recorded(cls: type, args: Sequence[Any], kwargs: Mapping[str, Any]):
    """The arguments of a constructor by name, without `name`; None where a config cannot hold them."""
    signature = _signature(cls.__init__)  # type: ignore[misc]
    try:
        bound = signature.bind(None, *args, **kwargs)
    except TypeError:  # which the constructor will say better
        return None
    bound.apply_defaults()
    config: dict[str, Any] = {}
    for number, (name, parameter) in enumerate(signature.parameters.items()):
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            config |= value
        elif parameter.kind is parameter.VAR_POSITIONAL:
            if value:
                return None
        elif number:
            if parameter.kind is parameter.POSITIONAL_ONLY:
                return None
            config[name] = value
    config.pop("name", None)
    try:
        plain = all(isinstance(value, _PLAIN) for value in nest.flatten(config))
    except TypeError:
        plain = False
    return config if plain else None


def automatic(layer: Any):
    """The part of a layer's config that is known from how it was made.

    Raises NotImplementedError for a layer that was made with arguments that a config cannot hold.
    """
    config = layer.__dict__.get("_made_with")
    if config is None:
        raise NotImplementedError(
            f"Object {type(layer).__name__} was created by passing non-serializable argument values in `__init__()`, "
            "and therefore the object must override `get_config()` in order to be serializable. Please implement "
            "`get_config()`."
        )
    parameters = _signature(type(layer).__init__).parameters
    takes_name = "name" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return config, takes_name
