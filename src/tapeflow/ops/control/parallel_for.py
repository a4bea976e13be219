"""`pfor`: the results of a function of the numbers 0, 1, ..., stacked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.ops.array.construction import range as range_
from tapeflow.ops.control.mapping import vectorized_map


def pfor(
    loop_fn: Callable[[Any], Any],
    iters: Any,
    fallback_to_while_loop: bool = True,
    parallel_iterations: int | None = None,
) -> Any:
    """The results of `loop_fn(i)` for i below `iters`, stacked.

    Args:
      loop_fn: a function of a scalar tensor.
      iters: how often it is called.
      fallback_to_while_loop: whether operations that cannot be batched run once for each number.
      parallel_iterations: not used.
    """
    return vectorized_map(loop_fn, range_(iters), fallback_to_while_loop=fallback_to_while_loop)
