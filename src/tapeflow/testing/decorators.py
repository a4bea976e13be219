"""Decorators and blocks of tests: on which devices they run."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core import config, context


def run_gpu_only(func: Callable[..., Any] | None = None) -> Any:
    """A decorator: the test is skipped where there is no GPU."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not config.list_physical_devices("GPU"):
                self.skipTest("Test requires GPU")
            return test(self, *args, **kwargs)

        return run

    return decorate if func is None else decorate(func)


def for_all_test_methods(decorator: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[type], type]:
    """A decorator of a class: `decorator(*args, **kwargs)` for each of its tests."""

    def decorate(cls: type) -> type:
        for name in dir(cls):
            value = getattr(cls, name)
            if callable(value) and name.startswith("test") and name != "test_session":
                setattr(cls, name, decorator(*args, **kwargs)(value))
        return cls

    return decorate


@contextlib.contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """A block on the first GPU where there is one, else on the CPU."""
    found = use_gpu and config.list_physical_devices("GPU")
    with context.device("/gpu:0" if found else "/cpu:0"):
        yield
