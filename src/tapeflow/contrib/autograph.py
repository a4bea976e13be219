"""`tf.contrib.autograph`: the control flow of Python in graphs, by its first name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow.compat import v1
from tapeflow.compat.v1.autograph import set_verbosity, to_code, to_graph, trace

__all__ = [
    "Feature", "convert", "do_not_convert", "set_loop_options", "set_verbosity", "to_code", "to_graph", "trace",
]  # fmt: skip

Feature = v1.autograph.experimental.Feature
do_not_convert = v1.autograph.experimental.do_not_convert
set_loop_options = v1.autograph.experimental.set_loop_options


def convert(
    recursive: bool = False, optional_features: Any = None, force_conversion: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a decorator of functions whose control flow is to work in graphs.

    Args:
      recursive: whether functions that these call are converted, too.
      optional_features: one or more of `Feature`.
      force_conversion: accepted for compatibility.

    Returns:
      A decorator: the function that it returns is converted at its first call.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.cache
        def converted() -> Callable[..., Any]:
            return to_graph(function, recursive, experimental_optional_features=optional_features)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return converted()(*args, **kwargs)

        return call

    return decorator
