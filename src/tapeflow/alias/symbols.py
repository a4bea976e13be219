"""The public names of functions and classes, and what has a name: libraries write these names into their files."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow.api import providers
from tapeflow.core.decorator import unwrap


def _spaces(name: str) -> list[str]:
    """The namespaces that have a name, the one of its subject first: `math.add` before `add`."""
    from tapeflow.alias import missing

    left_out = ("contrib", "compat", "keras.backend", "experimental.numpy", "raw_ops")
    found = [space for space, known in missing.names().items() if name in known and not space.startswith(left_out)]
    return sorted(found, key=lambda space: (-space.count(".") - bool(space), space))


_registered: dict[str, Any] = {}


class _Attributes(NamedTuple):
    """The attributes that hold the names of a library's symbols, and of the constants of its modules."""

    names: str
    constants: str


# By library; a library may add its own.
TENSORFLOW_API_NAME, KERAS_API_NAME, ESTIMATOR_API_NAME = "tensorflow", "keras", "estimator"
API_ATTRS = {
    "tensorflow": _Attributes("_tf_api_names", "_tf_api_constants"),
    "keras": _Attributes("_keras_api_names", "_keras_api_constants"),
    "estimator": _Attributes("_estimator_api_names", "_estimator_api_constants"),
}
API_ATTRS_V1 = {
    library: _Attributes(f"{names}_v1", f"{constants}_v1") for library, (names, constants) in API_ATTRS.items()
}


class api_export:
    """A decorator of a library's functions and classes that have public names.

    Args:
      *args: the names, the canonical one first.
      api_name: the library.
      v1: the names of 1.x, where they are others.
      allow_multiple_exports: not used: a symbol may be exported again.
    """

    def __init__(self, *args: str, api_name: str = "tensorflow", v1: Any = None, allow_multiple_exports: bool = True):
        self._names, self._api, self._v1 = args, api_name, args if v1 is None else tuple(v1)

    def __call__(self, func: Callable[..., Any]) -> Any:
        self._register(func)
        inside = unwrap(func)[1]
        setattr(inside, API_ATTRS[self._api].names, self._names)
        setattr(inside, API_ATTRS_V1[self._api].names, self._v1)
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Exports a constant of a module."""
        self._register(getattr(sys.modules[module_name], name))

    def _register(self, symbol: Any) -> None:
        for name in self._names:
            _registered[name] = symbol
        for name in self._v1:
            _registered[f"compat.v1.{name}"] = symbol


tf_export = functools.partial(api_export, api_name="tensorflow")
keras_export = functools.partial(api_export, api_name="keras")
estimator_export = functools.partial(api_export, api_name="estimator")


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """The public name of a function or class, without `tf.`; None for what has none.

    Args:
      symbol: the function or class.
      api_name: "tensorflow" or "keras".
      add_prefix_to_v1_names: whether names of 1.x begin with "compat.v1.".
    """
    inside = unwrap(symbol)[1]
    own = getattr(inside, "__dict__", {})
    for attributes, prefix in ((API_ATTRS[api_name], ""), (API_ATTRS_V1[api_name], "compat.v1.")):
        names = own.get(attributes.names)
        if names:
            return (prefix if add_prefix_to_v1_names else "") + names[0]
    plain = getattr(symbol, "__name__", None)
    if plain is None or api_name != "tensorflow":
        return None
    package = providers.load("names")
    operators = getattr(package, "__operators__", None)
    if operators is not None and plain in operators.__all__ and getattr(operators, plain) is symbol:
        return f"__operators__.{plain}"
    for root, prefix in ((package, ""), (package.compat.v1, "compat.v1." if add_prefix_to_v1_names else "")):
        names = (plain, plain.removesuffix("_v1"), plain.removesuffix("_v2"), plain.rstrip("_"))
        for name in dict.fromkeys(names):
            for space in _spaces(name):
                full = f"{space}.{name}".lstrip(".")
                if _found(root, full) is symbol:
                    return prefix + full
    return None


def _found(root: Any, name: str) -> Any:
    for part in name.split("."):
        root = getattr(root, part, None)
    return root


def get_symbol_from_name(name: str) -> Any:
    """What has a public name, such as "math.add" or "compat.v1.layers.Dense"; None where nothing has."""
    if name in _registered:
        return _registered[name]

    return _found(providers.load("names"), name)


def get_v2_names(symbol: Any) -> list[str]:
    """The public names of 2.x of a function or class."""
    name = get_canonical_name_for_symbol(symbol)
    return [] if name is None else [name]


def get_v1_names(symbol: Any) -> list[str]:
    """The public names of 1.x of a function or class."""
    return get_v2_names(symbol)
