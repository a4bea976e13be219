"""`assert_cardinality`: a dataset that says how many elements it has, and whose passes check it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core.errors import FailedPreconditionError
from tapeflow.data.arguments import integer
from tapeflow.data.iteration.passes import Over
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, record

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


@record("assert_cardinality")
def asserted(dataset: Dataset, cardinality: int):
    """Dataset arguments for the elements of a dataset of which there are so many."""
    size = integer(cardinality, "AssertCardinalityDataset")
    return "AssertCardinality", lambda: _Asserted(parts_of(dataset).start(), size), lambda: dataset.element_spec, size


asserted.node("AssertCardinalityDataset", "input_dataset: variant, cardinality: int64 -> handle: variant", ELEMENTS)


class _Asserted(Over):
    __slots__ = ("_count", "_size")

    def __init__(self, values: Any, size: int):
        super().__init__(values)
        self._size = size
        self._count = 0

    def __next__(self):
        try:
            value = next(self._input)
        except StopIteration:
            if self._count != self._size and self._size != -2:
                raise FailedPreconditionError(None, None, self._wrong(self._count)) from None
            raise
        self._count += 1
        if 0 <= self._size < self._count:
            raise FailedPreconditionError(None, None, self._wrong(f"at least {self._count}"))
        return value

    def _wrong(self, count: int | str):
        wanted = f"{self._size} element{'' if self._size == 1 else 's'}"
        if self._size < 0:
            wanted = "an infinite number of elements"
        some = f"only {count}" if isinstance(count, int) else count
        return (
            f"Input dataset was expected to contain {wanted} but contained {some} "
            f"element{'' if some in ('only 1', 'at least 1') else 's'}."
        )

    def save(self):
        return [self._input.save(), self._count]

    def restore(self, state):
        inner, self._count = state
        self._input.restore(inner)
