"""Python lists that a staged loop appends to: in the graph they are TensorArrays that grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.function.autograph.errors import at_user_line
from tapeflow.function.autograph.operators.state import as_tensor, is_value
from tapeflow.ops.array import joining, stacking
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.lists.tensor_array import TensorArray


class StagedList:
    """A list of tensors whose length is only known when the graph runs.

    It can be indexed, appended to, looped over, and becomes one tensor where a tensor is wanted, as by `tf.stack`.
    Out of a function it comes as a Python list.
    """

    def __init__(self, array: Any):
        self.array = array

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def append(self, x: Any) -> None:
        self.array = self.array.write(self.array.size(), x)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return self.array.stack()[i]
        if isinstance(i, int) and i < 0:
            i = self.array.size() + i
        return self.array.read(i)

    def __len__(self) -> int:
        raise TypeError(
            "the length of a list of the graph is a tensor; only converted code can take its len()"
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            "a list of the graph can only be iterated by a `for` loop that AutoGraph converts"
        )

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return self.array.stack()

    _type_spec = property(lambda self: self.array._type_spec)


def _rebuilt(_: StagedList, parts: Sequence[Any]) -> Any:
    array = nest.pack_sequence_as(_.array, list(parts), expand_composites=True)
    if context.executing_eagerly():
        return [array.read(i) for i in range(int(array.size()))]
    return StagedList(array)


nest.register_composite(
    StagedList, lambda x: nest.flatten(x.array, expand_composites=True), _rebuilt
)


class Probe:
    """What a list is while one iteration is tried, to learn what is appended to it."""

    def __init__(self, elements: list[Any]):
        self.elements = list(elements)

    def append(self, x: Any) -> None:
        self.elements.append(x)

    def __getitem__(self, i: Any) -> Any:
        like = as_tensor(self.elements[0])
        return zeros([d or 0 for d in like.shape.as_list()], like.dtype)


def list_append(target: Any, x: TensorLike) -> Any:
    """What a variable holds after `target.append(x)`."""
    if isinstance(target, StagedList):
        return StagedList(target.array.write(target.array.size(), as_tensor(x)))
    if hasattr(target, "write") and hasattr(target, "stack"):  # a TensorArray
        return target.write(target.size(), x)
    target.append(x)
    return target


def staged_list(name: str, before: Sequence[Any], elements: Sequence[Any]) -> Any:
    """The list `before`, ready to take such `elements` in the graph; None where they are no tensors."""
    if not all(map(is_value, elements)):
        return None
    tensors = [as_tensor(x) for x in elements]
    first = tensors[0].dtype
    for x in tensors:
        if x.dtype != first:
            raise at_user_line(
                TypeError,
                f"'{name}' is a list to which a loop of the graph appends, so all of its elements must have the same "
                f"dtype, but there are {first.name} and {x.dtype.name}",
            )
    shape = _common([x.shape for x in tensors])
    array = TensorArray(
        first, 0, dynamic_size=True, clear_after_read=False, infer_shape=False, element_shape=shape
    )
    for i, x in enumerate(before):
        array = array.write(i, x)
    return StagedList(array)


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    """The most specific shape that all have."""
    if len({s.rank for s in shapes}) > 1 or shapes[0].rank is None:
        return TensorShape(None)
    sizes = zip(*(s.as_list() for s in shapes), strict=True)
    return TensorShape([d[0] if len(set(d)) == 1 else None for d in sizes])


def stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """`tf.stack`, also of such lists."""
    if not isinstance(values, StagedList):
        return stacking.stack(values, axis, name)
    return _moved(values.array.stack(), axis)


def _moved(x: Any, axis: int) -> Any:
    if axis == 0:
        return x

    rank = x.shape.rank
    order = list(range(1, rank))
    order.insert(axis if axis >= 0 else axis + rank, 0)
    return transpose(x, order)


def concat(values: Any, axis: AxisLike, name: str = "concat") -> Any:
    """`tf.concat`, also of such lists."""
    if isinstance(values, StagedList) and isinstance(axis, int) and axis == 0:
        return values.array.concat()
    return joining.concat(values, axis, name)
