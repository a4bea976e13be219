"""Transformations of batches into elements, and into batches of other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries
from tapeflow.data import element
from tapeflow.data.arguments import require
from tapeflow.data.iteration.passes import Over
from tapeflow.data.parts import parts_of
from tapeflow.data.transform import stacking
from tapeflow.data.transform.batching import stack_of
from tapeflow.data.transform.rebatching import Rebatched
from tapeflow.data.transform.record import ELEMENTS, record
from tapeflow.data.transform.windows import integer_or_bool

if TYPE_CHECKING:
    from tapeflow.core.specs.tensor_spec import TensorSpec
    from tapeflow.data.dataset import Dataset

_INFINITE = -1
_UNKNOWN = -2


class UnbatchingMethods:
    """Methods of Dataset."""

    def unbatch(self, name: str | None = None):
        """The slices of every element along its first axis."""
        return unbatched(self)

    def rebatch(self, batch_size: Sequence[int] | int, drop_remainder: bool = False, name: str | None = None):
        """Put the rows of batches into batches of another size.

        Args:
          batch_size: how many rows a batch has, or a list of sizes that are used in turn.
          drop_remainder: whether a last batch that is smaller is left out.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of batches.
        """
        return rebatched(self, batch_size, drop_remainder)


def _slices_spec(call):
    return element.map_leaves(stacking.slice_spec, call["dataset"].element_spec)


@record("unbatch", spec=_slices_spec)
def unbatched(dataset: Dataset):
    """Dataset arguments for the slices of every element."""
    spec = element.map_leaves(stacking.slice_spec, dataset.element_spec)
    shapes = [stacking.shape_of(leaf) for leaf in element.flatten(dataset.element_spec)]
    sizes = [shape[0] for shape in shapes if shape.rank is not None]
    known = [size for size in sizes if size is not None]
    if len(set(known)) > 1:
        raise ValueError(
            "`unbatch()` is only supported for datasets of elements whose components have a matching leading "
            f"dimension. Encountered both {known[0]} and {next(n for n in known if n != known[0])}."
        )
    count = parts_of(dataset).size
    if count != _INFINITE:
        count = count * known[0] if known and count >= 0 else _UNKNOWN
    return "Unbatch", lambda: _Unbatched(parts_of(dataset).start()), spec, count


unbatched.node("UnbatchDataset", "input_dataset: variant -> handle: variant", {**ELEMENTS, "metadata": ""}).also(
    "ExperimentalUnbatchDataset"
)


class _Unbatched(Over):
    __slots__ = ("_count", "_next", "_slices", "_value")

    def __init__(self, values):
        super().__init__(values)
        self._next = self._count = 0
        self._value = self._slices = None

    def __next__(self):
        while self._next >= self._count:
            self._take(next(self._input))
        number = self._next
        self._next += 1
        return element.map_leaves(lambda one: one(number), self._slices)

    def _take(self, value: Tensor):
        columns = element.flatten(value)
        sizes = [stacking.outer_size(leaf) for leaf in columns if leaf is not None]
        for component, size in enumerate(sizes):
            if size != sizes[0]:
                raise InvalidArgumentError(
                    None,
                    None,
                    "Input element must have the same batch size in each component. Component 0 "
                    f"had size {sizes[0]} but component {component} had size {size}. "
                    "[Op:IteratorGetNext]",
                )
        self._value, self._next, self._count = value, 0, sizes[0]
        self._slices = element.map_leaves(stacking.slices_of, value)

    def save(self):
        current = None if self._next >= self._count else [self._value, self._next]
        return [self._input.save(), current]

    def restore(self, state: Sequence[Any]):
        inner, current = state
        self._input.restore(inner)
        self._next = self._count = 0
        if current is not None:
            self._take(current[0])
            self._next = current[1]


def _divides(size, specs: Sequence[Any] | dict[str, Any]):
    """Whether batches of these specs are all of one known size that is a multiple of `size`."""
    shapes = [stacking.shape_of(leaf) for leaf in element.flatten(specs) if leaf is not None]
    known = {shape[0] if shape.rank else None for shape in shapes}
    return len(known) == 1 and None not in known and known.pop() % size == 0


@record("rebatch")
def rebatched(dataset, batch_size, drop_remainder):
    """Dataset arguments for the same rows in batches of other sizes: of a list of sizes, in turn."""

    given = batch_size.numpy() if hasattr(batch_size, "numpy") else batch_size
    sizes = [int(n) for n in (given if hasattr(given, "__len__") else [given])]
    require(bool(sizes) and all(n >= 0 for n in sizes) and any(sizes), f"batch sizes of {sizes}", "Rebatch")
    drop = integer_or_bool(drop_remainder)
    outer = sizes[0] if len(set(sizes)) == 1 and (drop or _divides(sizes[0], dataset.element_spec)) else None

    def spec(leaf: TensorSpec):
        return stacking.batch_spec(stacking.slice_spec(leaf), outer)

    specs = element.map_leaves(spec, dataset.element_spec)
    make = stack_of(element.map_leaves(stacking.slice_spec, dataset.element_spec))

    def none():
        return element.map_leaves(stacking.empty_of, specs)

    return "Rebatch", lambda: Rebatched(_Unbatched(parts_of(dataset).start()), sizes, drop, make, none), specs


rebatched.node(
    "RebatchDatasetV2", "input_dataset: variant, batch_sizes: int64, drop_remainder: bool -> handle: variant",
    {**ELEMENTS}, reads=lambda attrs, given: {**given, "batch_size": given["batch_sizes"]}, written=False,
)  # fmt: skip


boundaries(globals())
