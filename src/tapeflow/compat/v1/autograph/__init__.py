"""`tf.compat.v1.autograph`: as in 2.x, with arguments that no longer mean anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeflow.autograph import experimental
from tapeflow.core.public import boundaries
from tapeflow.function.autograph import convert
from tapeflow.function.autograph.verbosity import set_verbosity, trace

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]


def to_graph(
    entity: Callable[..., Any], recursive: bool = True, arg_values: Mapping[Any, Any] | None = None, arg_types=None,
    experimental_optional_features=None,
):
    """The converted function; `arg_values` and `arg_types` are ignored. Raises ConversionError."""
    return convert.to_graph(entity, recursive, experimental_optional_features)


def to_code(
    entity: Callable[..., Any], recursive: bool = True, arg_values: Mapping[Any, Any] | None = None, arg_types=None,
    indentation: str = "  ", experimental_optional_features=None,
):
    """The source of the converted function; `arg_values`, `arg_types` and `indentation` are ignored.

    Raises ConversionError.
    """
    return convert.to_code(entity, recursive, experimental_optional_features)


boundaries(globals())
