"""`keras.backend`: loops over elements, gradients in graphs, printing, and scopes of names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.context import name_scope as core_name_scope
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.graph.build.derivatives import gradients as of_graph
from tapeflow.ops.array import rows as array
from tapeflow.ops.control import mapping
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.control.printing import print_


@computes_tensors
def stop_gradient(variables: Sequence[Any]):
    """The same values, constant for gradients: of a tensor, or of each of a list."""
    if isinstance(variables, (list, tuple)):
        return list(map(array.stop_gradient, variables))
    return array.stop_gradient(variables)


def backend():
    """The name of what computes."""
    return "tensorflow"


def name_scope(name: str):
    """A context that puts a name before the names of operations."""
    return core_name_scope(name)


def print_tensor(x: TensorLike, message: str = "", summarize: int = 3):
    """Print a tensor when it is computed.

    Args:
      x: a tensor, or what can be converted to one.
      message: what is printed before it.
      summarize: how many elements at the ends of each axis are printed.

    Returns:
      The tensor.
    """
    printed = print_(message, x, summarize=summarize)
    with control_dependencies([] if printed is None else [printed]):
        return array.identity(x)


def gradients(loss: TensorLike, variables: Sequence[Any]):
    """Compute the derivatives of a loss in a graph.

    Args:
      loss: a tensor of a graph.
      variables: variables or tensors that it depends on, a list.

    Returns:
      A list of tensors, None where the loss does not depend on one.
    """

    return of_graph(loss, variables)


def map_fn(fn: Callable[..., Any], elems, name: str | None = None, dtype: DTypeLike | None = None):
    """Apply a function to every element along the first axis.

    Args:
      fn: a function of one element.
      elems: a tensor, or a structure of tensors.
      name: accepted as in Keras 2.
      dtype: the dtype of the results, where it is not that of the elements.

    Returns:
      The results, stacked.
    """
    return mapping.map_fn(fn, elems, dtype=dtype)


def foldl(fn: Callable[..., Any], elems, initializer=None, name: str | None = None):
    """Combine elements by fn(so far, element) from the first element to the last.

    Args:
      fn: a function of the result so far and one element.
      elems: a tensor, whose first axis is that of the elements.
      initializer: the result to start from; None for the element that comes first.
      name: accepted as in Keras 2.

    Returns:
      The last result.
    """
    return mapping.foldl(fn, elems, initializer=initializer)


def foldr(fn: Callable[..., Any], elems, initializer=None, name: str | None = None):
    """Combine elements by fn(so far, element) from the last element to the first.

    Args:
      fn: a function of the result so far and one element.
      elems: a tensor, whose first axis is that of the elements.
      initializer: the result to start from; None for the element that comes first.
      name: accepted as in Keras 2.

    Returns:
      The last result.
    """
    return mapping.foldr(fn, elems, initializer=initializer)


boundaries(globals())
