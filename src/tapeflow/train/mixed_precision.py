"""Whether mixed precision is on by a policy of layers, and how optimizers of libraries are wrapped to scale losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_using_policy = _rewriting = False
# Classes of optimizers, functions that wrap one with a loss scale, and the classes of what they return.
wrappers: list[tuple[type, Callable[..., Any], type | None]] = []


def set_using_mixed_precision_policy(is_using: bool) -> None:
    """Notes whether a policy of mixed precision is in force."""
    global _using_policy
    _using_policy = is_using


def is_using_mixed_precision_policy() -> bool:
    """Whether a policy of mixed precision is in force."""
    return _using_policy


def set_mixed_precision_graph_rewrite_enabled(enabled: bool) -> None:
    """Notes whether a program asked for graphs in mixed precision."""
    global _rewriting
    _rewriting = enabled


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Whether a program asked for graphs in mixed precision; see `enable_mixed_precision_graph_rewrite`."""
    return _rewriting


def register_loss_scale_wrapper(
    optimizer_cls: type, wrapper_fn: Callable[..., Any], wrapper_cls: type | None = None
) -> None:
    """Registers the function that gives an optimizer of a class its loss scale.

    Args:
      optimizer_cls: the class.
      wrapper_fn: takes the optimizer and the loss scale.
      wrapper_cls: the class of what it returns; None for `wrapper_fn` itself.
    """
    wrappers.append((optimizer_cls, wrapper_fn, wrapper_cls))
