"""Tests that run twice: in a graph, and eagerly."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tapeflow.core import context
from tapeflow.graph.graph import Graph


def run_test_in_graph_and_eager_modes(
    func: Callable[..., Any] | None = None, config: Any = None, use_gpu: bool = True, reset_test: bool = True,
    **kwargs: Any
) -> Any:
    """The decorator of a test method: it runs eagerly, and in a session of a graph of its own.

    Raises ValueError for a class.
    """
    if inspect.isclass(func):
        raise ValueError("`run_in_graph_and_eager_modes` only supports test methods.")

    def decorated(method: Any) -> Any:
        @functools.wraps(method)
        def run(self: Any, *args: Any, **given: Any) -> None:
            with Graph().as_default(), self.test_session(config=config):
                method(self, *args, **given)
            if reset_test:
                self.tearDown()
                self._cached = None
                self.setUp()
            with context.eager_mode():
                method(self, *args, **given)

        return run

    return decorated if func is None else decorated(func)


def run_all_tests_in_graph_and_eager_modes(cls: type) -> type:
    """The decorator of a class whose tests all run so."""
    for name in dir(cls):
        if name.startswith("test") and name != "test_session":
            setattr(cls, name, run_test_in_graph_and_eager_modes(getattr(cls, name)))
    return cls
