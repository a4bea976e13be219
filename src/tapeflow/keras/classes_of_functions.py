"""Classes made of functions: the constructor's arguments are settings of the function, and some of the base's own."""

from __future__ import annotations

import inspect


def class_of(name, base, function, arguments, doc, module):
    """A class whose constructor takes `arguments` (names with defaults) and hands them to `base` with the function.

    Settings of the function are attributes of its instances.
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
    return type(name, (base,), body)
