"""Windows: datasets of consecutive elements of a dataset, kept in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.public import boundaries
from tapeflow.data import element
from tapeflow.data.arguments import integer, require
from tapeflow.data.dataset_class import dataset_class, dataset_of
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.passes import Counted, Over
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, record

if TYPE_CHECKING:
    from tapeflow.core.specs.tensor_spec import TensorSpec
    from tapeflow.data.dataset import Dataset


class WindowMethods:
    """Methods of Dataset."""

    def window(
        self, size: int, shift: int | None = None, stride: int = 1, drop_remainder: bool = False,
        name: str | None = None,
    ):
        """Make datasets of elements that follow each other.

        Args:
          size: how many elements a window has.
          shift: how far the beginnings of windows are apart; None for `size`.
          stride: how far the elements of a window are apart.
          drop_remainder: whether last windows with fewer elements are left out.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of datasets; of an element of several parts, in its structure.

        >>> windows = tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> print([[int(x) for x in window] for window in windows])
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        return windows(self, size, shift, stride, drop_remainder)


def in_memory(values: Sequence[Any], spec: TensorSpec | DatasetSpec | None = None):
    """A dataset of the given elements."""
    values = list(values)
    found = dataset_of(
        "Window",
        lambda: Counted(lambda: values),
        spec if spec is not None else lambda: element.spec_of(values[0]),
        len(values),
    )
    parts_of(found).elements = values
    return found


def kept_in_memory(dataset):
    """The elements of a dataset made by `in_memory`; None of any other value."""
    return parts_of(dataset).elements if isinstance(dataset, dataset_class()) else None


@record("window")
def windows(dataset: Dataset, size: int, shift: int | None, stride: int, drop_remainder: bool):
    """Dataset arguments for datasets of consecutive elements."""
    op = "WindowDataset"
    size, stride = integer(size, op), integer(stride, op)
    shift = size if shift is None else integer(shift, op)
    require(size > 0, f"Window size must be greater than zero, but got {size}.", op)
    require(shift > 0, f"Window shift must be greater than zero, but got {shift}.", op)
    require(stride > 0, f"Window stride must be greater than zero, but got {stride}.", op)
    drop = bool(integer_or_bool(drop_remainder))
    specs = dataset.element_spec

    def spec():
        return element.map_leaves(DatasetSpec, specs)

    count = parts_of(dataset).size
    if count > 0:
        span = (size - 1) * stride + 1
        count = max(0, (count - span) // shift + 1) if drop else -(-count // shift)
    start = lambda: _Windows(parts_of(dataset).start(), specs, size, shift, stride, drop)  # noqa: E731
    return "Windows", start, spec, count


windows.node(
    "WindowDataset",
    "input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool -> handle: variant",
    {**ELEMENTS, "metadata": ""}, written=False,
)  # fmt: skip


def integer_or_bool(value: bool):
    """A Python bool from one, or from a scalar tensor."""
    return bool(value.numpy()) if hasattr(value, "numpy") else bool(value)


class _Failed:
    """An error in the place of an element."""

    def __init__(self, error):
        self.error = error


class _Windows(Over):
    """Datasets of `size` elements, `stride` apart, every `shift` elements."""

    __slots__ = ("_buffer", "_drop", "_over", "_shift", "_skip", "_span", "_specs", "_stride")

    def __init__(self, values, specs, size, shift, stride, drop):
        super().__init__(values)
        self._specs = specs
        self._span = (size - 1) * stride + 1
        self._shift, self._stride, self._drop = shift, stride, drop
        self._buffer = deque()
        self._skip = 0
        self._over = False

    def __next__(self):
        while not self._over and (self._skip or len(self._buffer) < self._span):
            try:
                value = next(self._input)
            except StopIteration:
                self._over = True
                break
            except Exception as error:  # one of the windows that it is in
                value = _Failed(error)
            if self._skip:
                self._skip -= 1
            else:
                self._buffer.append(value)
        if not self._buffer or (self._drop and len(self._buffer) < self._span):
            raise StopIteration
        values = list(self._buffer)[: self._span : self._stride]
        for _ in range(min(self._shift, len(self._buffer))):
            self._buffer.popleft()
        self._skip = max(0, self._shift - self._span)
        for value in values:
            if isinstance(value, _Failed):
                raise value.error
        columns = [element.flatten(value) for value in values]
        made = [
            in_memory(column, spec)
            for column, spec in zip(zip(*columns), element.flatten(self._specs))
        ]
        return element.unflatten(self._specs, iter(made))

    def save(self):
        return [self._input.save(), list(self._buffer), self._skip, self._over]

    def restore(self, state: Sequence[Any]):
        inner, buffer, self._skip, self._over = state
        self._input.restore(inner)
        self._buffer = deque(buffer)


boundaries(globals())
