"""Transformations that leave out elements: repeated ones, and those that cannot be made."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow._native import steps_left
from tapeflow.core import dtypes
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.iteration.passes import Counted, Over
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, record, same_spec

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset
    from tapeflow.data.sources.records import TFRecordDataset


_logger = logging.getLogger("tensorflow")


def spec_of(dataset: Dataset):
    return lambda: dataset.element_spec


@record("unique", spec=same_spec)
def unique(dataset: Dataset):
    """Dataset arguments for elements without repetitions."""
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec) or spec.dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
        raise TypeError(
            "`tf.data.Dataset.unique()` only supports inputs with a single component of type "
            f"`tf.int32`, `tf.int64`, or `tf.string`, got {spec}."
        )
    return "Unique", lambda: _Unique(parts_of(dataset).start()), spec_of(dataset)


unique.node("UniqueDataset", "input_dataset: variant -> handle: variant", {**ELEMENTS, "metadata": ""}).also(
    "ExperimentalUniqueDataset"
)


class _Unique(Over):
    __slots__ = ("_seen",)

    def __init__(self, values):
        super().__init__(values)
        self._seen = {}

    def __next__(self):
        for value in self._input:
            array = element.as_numpy(value)
            if isinstance(array, bytes):
                key = array
            elif array.dtype == object:
                key = (array.shape, *array.ravel())
            else:
                key = (array.shape, array.tobytes())
            if key not in self._seen:
                self._seen[key] = value
                return value
        raise StopIteration

    def save(self):
        return [self._input.save(), list(self._seen.values())]

    def restore(self, state: Sequence[Any]):
        inner, seen = state
        self._seen = {}
        again, self._input = self._input, Counted(lambda: seen)
        for _ in self:
            pass
        self._input = again
        again.restore(inner)


@record("ignore_errors", spec=same_spec)
def ignored_errors(dataset: Dataset | TFRecordDataset, log_warning: bool):
    """Dataset arguments for the elements that can be made."""
    return "IgnoreErrors", lambda: _WithoutErrors(parts_of(dataset).start(), log_warning), spec_of(dataset)


ignored_errors.node(
    "IgnoreErrorsDataset", "input_dataset: variant -> handle: variant", {**ELEMENTS, "log_warning": False}
).also("ExperimentalIgnoreErrorsDataset")


class _WithoutErrors(Over):
    """Elements that raise are left out."""

    __slots__ = ("_log",)

    def __init__(self, values: Any, log: bool):
        super().__init__(values)
        self._log = log

    def __next__(self):
        while True:
            try:
                return next(self._input)
            except StopIteration:
                raise
            except Exception as error:
                if (steps_left() or 0) < 0:  # the next element would raise as well, without end
                    raise
                if self._log:
                    _logger.warning("Error raised with error message %s", error)


boundaries(globals())
