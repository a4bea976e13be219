"""`tensorflow.python.ops.gen_array_ops` and its like: every op as a function of its inputs and attrs, by position."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tapeflow import raw_ops
from tapeflow.alias.symbols import tf_export


@functools.cache
def _by_plain_name() -> dict[str, str]:
    """The names of the ops, by the same without underscores and capitals."""
    return {name.lower(): name for name in dir(raw_ops) if name[:1].isupper()}


@functools.cache
def _function(name: str) -> Callable[..., Any]:
    raw = getattr(raw_ops, name)
    parameters = list(inspect.signature(raw).parameters.values())
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    needed = [p.replace(kind=kind) for p in parameters if p.default is p.empty]
    others = [p.replace(kind=kind) for p in parameters if p.default is not p.empty]
    signature = inspect.Signature([*needed, *others])

    def function(*args: Any, **kwargs: Any) -> Any:
        return raw(**signature.bind(*args, **kwargs).arguments)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The op `{name}`."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


class GeneratedOps:
    """The names of a module of generated functions: all of them have all ops."""

    file = None
    doc = "Every op as a function of its inputs and attrs, by position or by name."

    def get(self, name: str) -> Any:
        """The function of an op: `mat_mul`, `_range`. Raises AttributeError for an unknown op."""
        if name == "tf_export":  # by which a module declares its public names
            return tf_export
        found = _by_plain_name().get(name.replace("_", "").lower())
        if found is None or name != name.lower():
            raise AttributeError(name)
        return _function(found)

    def public_names(self) -> list[str]:
        """The names of the ops themselves."""
        return sorted(_by_plain_name().values())
