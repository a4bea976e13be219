"""Classes made of functions: the constructor's arguments are settings of the function, and some of the base's own."""

from __future__ import annotations

import inspect
from typing import Any

from tapeflow.core.release import keras_2


def class_of(name, base, function, arguments, doc, module, newer=None):
    """A class whose constructor takes `arguments` (names with defaults) and hands them to `base` with the function.

    Settings of the function are attributes of its instances; `newer` has those that Keras 2 lacks, with their values.
    """
    parameter = inspect.Parameter
    signature = inspect.Signature(
        [parameter("self", parameter.POSITIONAL_ONLY)]
        + [parameter(n, parameter.POSITIONAL_OR_KEYWORD, default=v) for n, v in arguments.items()]
    )

    settings = [n for n in arguments if n not in ("name", "dtype", "reduction")]

    def __init__(self, *args, **kwargs):
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}.__init__(): {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        del given["self"]
        base.__init__(self, function, **given)
        vars(self).update({setting: given[setting] for setting in settings})

    __init__.__signature__ = signature
    body = {"__init__": __init__, "__doc__": doc, "__module__": module, "__qualname__": name}
    body["_newer_settings"] = newer or {}
    return type(name, (base,), body)


def written(settings: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    """The settings that a config has: in Keras 2 none of those that it lacks, unless they matter.

    Args:
      settings: by name.
      newer: the settings that Keras 2 lacks, and their values there.
    """
    return {n: v for n, v in settings.items() if not (keras_2() and n in newer and newer[n] == v)}
