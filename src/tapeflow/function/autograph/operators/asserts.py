"""`assert` statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.function.autograph.operators import staging
from tapeflow.ops.control.assert_op import Assert


def assertion(test: Any, message: Callable[[], Any]) -> Any:
    """What Python's `assert` is to test; a staged test becomes an operation that checks it when the graph runs."""
    if not staging.is_staged(test):
        return test

    data = message()
    Assert(test, list(data) if isinstance(data, (list, tuple)) else [data])
    return True
