"""Transformations of several datasets into one: side by side, and one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.public import boundaries, boundary
from tapeflow.data import element
from tapeflow.data.dataset_class import dataset_class
from tapeflow.data.iteration.passes import Pass, close_pass, later
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, record
from tapeflow.ops.signature import integer

if TYPE_CHECKING:
    from tapeflow.core.specs.tensor_spec import TensorSpec
    from tapeflow.data.dataset import Dataset

_INFINITE = -1
_UNKNOWN = -2


class CombiningMethods:
    """Methods of Dataset."""

    @staticmethod
    @boundary
    def zip(*args, datasets=None, name=None):
        """Give elements of several datasets side by side, until the shortest ends.

        Args:
          *args: the datasets, or structures of datasets.
          datasets: a structure of datasets, instead of `args`.
          name: the name of the dataset in a graph.

        Returns:
          A dataset of elements in that structure.

        Raises:
          TypeError: for what is not a dataset, and for both or none.

        >>> pairs = tf.data.Dataset.zip(tf.data.Dataset.range(2), tf.data.Dataset.range(5, 9))
        >>> print([(int(a), int(b)) for a, b in pairs])
        [(0, 5), (1, 6)]
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        return zipped(datasets)

    def concatenate(self, dataset: Dataset, name: str | None = None):
        """Give the elements of this dataset, then those of another one.

        Args:
          dataset: the other one, of elements of the same structure.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          TypeError: for elements of other structures or dtypes.
        """
        return concatenated(self, dataset)

    def enumerate(self, start=0, name=None):
        """Number the elements.

        Args:
          start: the first number.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of (int64 number, element) pairs.

        >>> print(list(tf.data.Dataset.from_tensor_slices([7, 8]).enumerate().as_numpy_iterator()) == [(0, 7), (1, 8)])
        True
        """
        numbers = type(self).range(start, 2**63 - 1)
        return type(self).zip((numbers, self))


@record("zip", datasets=["datasets"])
def zipped(datasets: Sequence[Any]):
    """Dataset arguments for datasets side by side."""
    if isinstance(datasets, list):
        raise TypeError(
            "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
            "`tf.data.Dataset` objects. Python `list` is not supported and you should use `tuple` "
            "instead."
        )
    leaves = element.flatten(datasets)
    if not leaves:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    for leaf in leaves:
        if not isinstance(leaf, dataset_class()):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}."
            )
    flat = type(datasets) is tuple and all(isinstance(each, dataset_class()) for each in datasets)

    def spec():
        return element.map_leaves(lambda dataset: dataset.element_spec, datasets)

    sizes = [parts_of(leaf).size for leaf in leaves]
    finite = [size for size in sizes if size != _INFINITE]
    size = _INFINITE if not finite else _UNKNOWN if _UNKNOWN in finite else min(finite)
    like = None if flat else datasets
    return "Zip", lambda: _Zipped([parts_of(leaf).start() for leaf in leaves], like), spec, size


zipped.node(
    "ZipDataset", "input_datasets: N>=1*variant -> handle: variant", {**ELEMENTS, "N": integer, "metadata": ""},
    reads=lambda attrs, given: {"datasets": given["input_datasets"]},
    writes=lambda call: {"input_datasets": element.flatten(call["datasets"])},
)  # fmt: skip


class _Zipped(Pass):
    __slots__ = ("_inputs", "_like", "_over")

    def __init__(self, inputs: Sequence[Any], like: Sequence[Any] | None):
        self._inputs = inputs
        self._like = like
        self._over = False

    def __next__(self):
        if self._over:
            raise StopIteration
        values = []
        failed = None
        for source in self._inputs:
            try:
                values.append(next(source))
            except StopIteration:
                self._over = True
                self.close()
                raise
            except Exception as error:  # the others move on too, so that pairs stay pairs
                failed = failed or error
        if failed is not None:
            raise failed
        return tuple(values) if self._like is None else element.unflatten(self._like, iter(values))

    def save(self):
        return [self._over, [source.save() for source in self._inputs]]

    def restore(self, state: Sequence[Any]):
        self._over, inner = state
        for source, saved in zip(self._inputs, inner, strict=True):
            source.restore(saved)

    def close(self):
        """Closes what it reads."""
        for source in self._inputs:
            close_pass(source)


@record("concatenate", datasets=["dataset", "another_dataset"])
def concatenated(dataset: Dataset, another_dataset: Dataset):
    """Dataset arguments for one dataset after another."""
    if not isinstance(another_dataset, dataset_class()):
        raise TypeError(f"Dataset.concatenate expects a dataset, got {type(another_dataset)}.")
    one, two = dataset.element_spec, another_dataset.element_spec
    try:
        spec = element.map_leaves(compatible, one, two)
    except (TypeError, ValueError):
        raise TypeError(
            f"Incompatible dataset elements:\n  {one} vs.   {two}"
        ) from None
    sizes = (parts_of(dataset).size, parts_of(another_dataset).size)
    size = _INFINITE if _INFINITE in sizes else _UNKNOWN if _UNKNOWN in sizes else sum(sizes)
    return "Concatenate", lambda: _Concatenated([parts_of(dataset).start, parts_of(another_dataset).start]), spec, size


concatenated.node(
    "ConcatenateDataset", "input_dataset: variant, another_dataset: variant -> handle: variant",
    {**ELEMENTS, "metadata": ""},
)  # fmt: skip


class _Concatenated(Pass):
    __slots__ = ("_input", "_number", "_starts")

    def __init__(self, starts: Sequence[Callable[..., Any]]):
        self._starts = [later(start) for start in starts]
        self._number = 0
        self._input = starts[0]()

    def __next__(self):
        while self._input is not None:
            try:
                return next(self._input)
            except StopIteration:
                self._number += 1
            self._input = self._starts[self._number]() if self._number < len(self._starts) else None
        raise StopIteration

    def save(self):
        return [self._number, None if self._input is None else self._input.save()]

    def restore(self, state: Sequence[Any]):
        self._number, inner = state
        self._input = None
        if inner is not None:
            self._input = self._starts[self._number]()
            self._input.restore(inner)

    def close(self):
        """Closes what it reads."""
        close_pass(self._input)


def compatible(one: TensorSpec, two: TensorSpec):
    merged = element.merge_specs(one, two)
    if merged is None and one is not None:
        raise TypeError(f"{one} and {two} are not compatible")
    return merged


boundaries(globals())
