"""`enumerate` and `zip` of tensors, as things that a loop can count through."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.function.autograph.operators import staging


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

    def count(self) -> Any:
        return count_of(self.items)

    def item(self, i: Any) -> tuple[Any, Any]:
        return (i if isinstance(self.start, int) and self.start == 0 else i + self.start), item_of(self.items, i)


class Zipped(_Counted):
    """`zip(*parts)`."""

    def __init__(self, parts: tuple[Any, ...]):
        self.parts = parts

    def count(self) -> Any:
        counts = [count_of(p) for p in self.parts]
        if all(isinstance(c, int) for c in counts):
            return min(counts)
        from tapeflow.ops.arithmetic import minimum

        shortest = counts[0]
        for other in counts[1:]:
            shortest = minimum(shortest, other)
        return shortest

    def item(self, i: Any) -> tuple[Any, ...]:
        return tuple(item_of(p, i) for p in self.parts)


def is_countable(x: Any) -> bool:
    """Whether `x` is a tensor to loop over in the graph."""
    if isinstance(x, (Zipped, Enumerated)):
        return True
    return isinstance(x, _native.Tensor) and (staging.is_staged(x) or staging.in_graph())


def can_join(x: Any) -> bool:
    """Whether `x` can go along with a tensor: tensors, and what makes one."""
    return is_countable(x) or isinstance(x, (list, tuple, range))


def count_of(x: Any) -> Any:
    if isinstance(x, (Zipped, Enumerated)):
        return x.count()
    from tapeflow.function.autograph.operators.builtins import len_

    return len_(x)


def item_of(x: Any, i: Any) -> Any:
    if isinstance(x, (Zipped, Enumerated)):
        return x.item(i)
    from tapeflow.core.convert import convert_to_tensor
    from tapeflow.ops.gather import gather

    return gather(convert_to_tensor(list(x) if isinstance(x, range) else x), i)
