"""What a model was compiled with, as a config, and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import TensorLike
from tapeflow.keras import losses, metrics, optimizers
from tapeflow.keras.registry import to_config

if TYPE_CHECKING:
    from tapeflow.keras.engine.functional.model import Functional
    from tapeflow.keras.engine.sequential import Sequential


def arguments_of(function: Callable[..., Any]):
    """The names of the arguments of a function; None where it takes any by keyword."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return {p.name for p in parameters}


def described(value: TensorLike | None):
    """A loss, metric, or a structure of them as configs."""
    if isinstance(value, dict) and "class_name" not in value:
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    return value if isinstance(value, (int, float)) else to_config(value)


def compile_arguments_of(model) -> dict[str, Any] | None:
    """The arguments of the compile call of a model; None where there was none."""
    found: dict[str, Any] | None = model._compile_arguments
    return found


def describe(model):
    """The config of the compile call of a model; None where there was none."""
    given = compile_arguments_of(model)
    if given is None:
        return None
    return {name: described(value) for name, value in given.items()}


def made(value: Any, module: ModuleType, custom_objects: Mapping[str, Any] | None = None):
    """Objects from their configs, in the structure given."""
    if isinstance(value, list):
        return [made(item, module, custom_objects) for item in value]
    if isinstance(value, dict) and "class_name" not in value:
        return {key: made(item, module, custom_objects) for key, item in value.items()}
    return module.deserialize(value, custom_objects) if isinstance(value, dict) else value


def apply(
    model: Functional | Sequential, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None
):
    """Compiles a model by a config."""
    if not isinstance(config, dict) or "optimizer" not in config:
        raise ValueError(f"A compile config needs an optimizer; got {config!r}.")
    model.compile(
        optimizers.deserialize(config["optimizer"], custom_objects),
        loss=made(config.get("loss"), losses, custom_objects),
        metrics=made(config.get("metrics"), metrics, custom_objects),
        loss_weights=config.get("loss_weights"),
        weighted_metrics=made(config.get("weighted_metrics"), metrics, custom_objects),
        run_eagerly=config.get("run_eagerly"),
        steps_per_execution=config.get("steps_per_execution", 1),
        jit_compile=config.get("jit_compile", "auto"),
    )
