"""Functions of 1.x as 1.15 had them: arguments that came later are left out, and defaults are those of the day."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from tapeflow.core import dtypes

# By name: arguments that 1.15 does not have, and defaults that are others.
_LATER: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "ones": (("layout",), {}),
    "ones_like": (("layout",), {}),
    "zeros": (("layout",), {}),
    "zeros_like": (("layout",), {}),
    "shape": ((), {"out_type": dtypes.int32}),
    "shape_n": ((), {"out_type": dtypes.int32}),
    "size": ((), {"out_type": dtypes.int32}),
}


def as_of_1x(name: str, value: Any) -> Any:
    """The function of a public name with its signature of 1.15; whatever did not change as it is."""
    if name not in _LATER:
        return value
    left_out, defaults = _LATER[name]
    known = inspect.signature(value)
    parameters = [
        each.replace(default=defaults.get(each.name, each.default))
        for each in known.parameters.values()
        if each.name not in left_out
    ]
    signature = known.replace(parameters=parameters)

    @functools.wraps(value)
    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return value(**bound.arguments)

    del function.__wrapped__
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
