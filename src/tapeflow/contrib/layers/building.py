"""What all layers share: their scopes, the names of their variables, what is done to their outputs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from tapeflow.contrib.framework.variables import model_variable
from tapeflow.contrib.layers.named_outputs import collect_named_outputs, get_variable_collections
from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.graph.build.collections import add_to_collections
from tapeflow.v1.variable_scoping import variable_scope


def getter(rename: dict[str, str] | None = None) -> Any:
    """A getter of variables of the model: the weights of a layer go by the names of contrib."""

    def get(
        inner: Any, name: str, shape: ShapeLike | None = None, dtype: DTypeLike | None = None,
        initializer: Callable[..., Any] | None = None,
        regularizer: Any = None, trainable: Any = True, collections: Any = None,
        caching_device: Any = None, partitioner: Any = None, synchronization: Any = None,
        aggregation: Any = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        scope, _, last = name.rpartition("/")
        if rename and last in rename:
            name = f"{scope}/{rename[last]}" if scope else rename[last]
        more = {"synchronization": synchronization} if synchronization is not None else {}
        if aggregation is not None:
            more["aggregation"] = aggregation
        return model_variable(
            name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
            collections=collections, trainable=trainable, caching_device=caching_device,
            partitioner=partitioner, custom_getter=_absolute(inner, name, kwargs), **more,
        )  # fmt: skip

    return lambda getter, *args, **kwargs: get(getter, *args, **kwargs)


def _absolute(inner: Any, name: str, kwargs: dict[str, Any]) -> Any:
    """The getter inside, for the full name that is known already."""

    def get(getter: Any, *args: Any, **given: Any) -> Any:
        given["name"] = name
        return inner(*args, **given)

    return get


@contextlib.contextmanager
def layer_scope(
    scope: Any, default: str, inputs: Any, reuse: Any = None, rename: dict[str, str] | None = None
) -> Any:
    """The variable scope of a layer, whose variables belong to the model."""
    with variable_scope(scope, default, inputs, reuse=reuse, custom_getter=getter(rename)) as found:
        yield found


def collect_variable(variable: Any, collections: Any, name: str) -> None:
    """Puts a layer's variable into the collections for its kind."""
    if collections and variable is not None:
        chosen = get_variable_collections(collections, name) or []
        for each in list(variable) if hasattr(variable, "as_tensor") else [variable]:
            add_to_collections(list(chosen), each)


def finished(
    outputs: Any, scope: Any, collections: Any, activation_fn: Any = None, normalizer_fn: Any = None,
    normalizer_params: Any = None,
) -> Any:  # fmt: skip
    """The outputs, normalised, activated, and collected under the name of the scope."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(collections, scope.name, outputs)


def channels_first(data_format: Any, allowed: Any) -> bool:
    """Whether channels come first. Raises ValueError for a format that is not allowed."""
    if data_format not in allowed:
        raise ValueError("data_format has to be either " + " or ".join(map(str, allowed)) + ".")
    return data_format is not None and data_format.startswith("NC")
