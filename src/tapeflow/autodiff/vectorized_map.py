"""Functions applied to every element of a batch at once: vectorized_map, pfor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.api import api
from tapeflow.autodiff import batched_graph
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.graph.build import tracing
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.control.mapping import flat_elements, map_without_signature
from tapeflow.ops.static import size_of


@api("vectorized_map")
@public
def vectorized_map(
    fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Apply a function to each element along the first dimension, and stack the results.

    The function is traced once, and each of its operations runs once for all elements. Unlike `tf.map_fn`, it needs
    no signature of what the function returns.

    Args:
      fn: a function of one element, in the structure of `elems`.
      elems: a tensor, or a structure of tensors whose first dimensions are equal or 1.
      fallback_to_while_loop: whether a function that changes state, branches on values, or has a gradient of its own
        is called for one element after the other; else it raises ValueError.
      warn: has no effect.

    Returns:
      What `fn` returned, stacked along a new first dimension.

    Raises:
      ValueError: if first dimensions differ, or the function cannot be vectorized and must not be called in a loop.

    >>> tf.vectorized_map(lambda row: tf.reduce_sum(row), tf.constant([[1, 2], [3, 4]]))
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 7], dtype=int32)>
    """
    flat = flat_elements(fn, elems)
    counts = {x.shape[0] for x in flat if x.shape.rank} - {None}
    if len(counts) == 1:
        try:
            return _at_once(fn, elems, flat)
        except _CannotTraceError as error:
            if not fallback_to_while_loop:
                raise error.__cause__ or error from None
        except batched_graph.CannotBatchError as error:
            if not fallback_to_while_loop:
                raise ValueError(f"The function cannot be vectorized: {error}") from None
    return map_without_signature(fn, elems, flat)


class _CannotTraceError(Exception):
    """The function does not run on symbolic tensors, or returns what is not a tensor."""


def _at_once(fn: Callable[..., Any], elems: Any, flat: list[Any]) -> Any:
    """The results of one run for all elements."""
    graph = FuncGraph("loop_body")
    graph.created_variables = None  # a variable that each call creates cannot be one for all
    shapes = [tuple(x.shape.as_list()[1:]) for x in flat]
    try:
        tracing.body(
            "loop_body", lambda *row: fn(nest.pack_sequence_as(elems, list(row))), flat, shapes=shapes, into=graph
        )
    except Exception as error:  # the function is called in a loop, which raises what is an error there as well
        raise _CannotTraceError from error
    returned = nest.flatten(graph.structured_outputs)
    if sum(x is not None for x in returned) != len(graph.outputs):
        raise _CannotTraceError  # composites
    size = size_of(flat[0], 0)
    found = iter(batched_graph.batch(graph, flat, size))
    return nest.pack_sequence_as(
        graph.structured_outputs,
        [None if x is None else batched_graph.repeated(next(found), size) for x in returned],
    )


def pfor(
    loop_fn: Callable[[Any], Any],
    iters: TensorLike,
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
