"""What a loop of the graph can count through: tensors, TensorArrays, and `enumerate` and `zip` of such."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import _native
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.function.autograph.operators import staging
from tapeflow.function.autograph.operators.lists import StagedList
from tapeflow.function.autograph.operators.state import is_tensor_array
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.arithmetic import minimum


class _Counted:
    """Refuses to be iterated by Python, as the tensors in it do."""

    def __iter__(self) -> Any:
        raise TypeError(
            f"{type(self).__name__.lower()} symbolic tensors can only be used in a `for` loop that AutoGraph converts"
        )


class Enumerated(_Counted):
    """`enumerate(items, start)`."""

    def __init__(self, items: Any, start: Any):
        self.items, self.start = items, start


class Zipped(_Counted):
    """`zip(*parts)`."""

    def __init__(self, parts: tuple[Any, ...]):
        self.parts = parts


def is_countable(x: TensorLike) -> bool:
    """Whether a loop over `x` is one of the graph."""
    if isinstance(x, (Zipped, Enumerated, StagedList)):
        return True
    if isinstance(x, _native.Tensor):
        return staging.is_staged(x) or staging.in_graph()
    return is_tensor_array(x) and staging.in_graph()


def can_join(x: TensorLike) -> bool:
    """Whether `x` can be counted through along with a tensor."""
    return is_countable(x) or isinstance(x, (list, tuple, range))


def count_of(x: TensorLike) -> Any:
    """The number of items, an int where it is known."""
    if isinstance(x, Enumerated):
        return count_of(x.items)
    if isinstance(x, Zipped):
        counts = [count_of(p) for p in x.parts]
        if all(isinstance(c, int) for c in counts):
            return min(counts)

        shortest = counts[0]
        for other in counts[1:]:
            shortest = minimum(shortest, other)
        return shortest
    from tapeflow.function.autograph.operators.builtins import len_

    return len_(x)


def reader_of(x: Any) -> Callable[[Any], Any]:
    """The function that gives item number `i`; made before the loop."""
    if isinstance(x, Enumerated):
        item, start = reader_of(x.items), x.start
        if isinstance(start, int) and start == 0:
            return lambda i: (i, item(i))
        return lambda i: (i + start, item(i))
    if isinstance(x, Zipped):
        items = [reader_of(p) for p in x.parts]
        return lambda i: tuple(item(i) for item in items)
    if isinstance(x, StagedList):
        return x.array.read
    if is_tensor_array(x):
        return x.read
    return _rows(convert_to_tensor(list(x) if isinstance(x, range) else x))


def _rows(x: Any) -> Callable[[Any], Any]:
    if x.dtype.is_floating or x.dtype.is_complex:
        # The gradient of each read of an array is one row; that of each `gather` would be as large as `x`.
        shape = x.shape[1:] if x.shape.rank is not None else None
        array = TensorArray(x.dtype, 0, True, element_shape=shape, infer_shape=False)
        return array.unstack(x).read

    return lambda i: gather(x, i)
