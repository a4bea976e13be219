"""Passes over a dataset: the iterators of 1.x and 2.x."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from tapeflow._native import Tensor
from tapeflow.core import context
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.public import public_methods
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.ops.assertions import Assert


@dataclass
class ThreadingOptions:
    """How many threads a dataset may use."""

    max_intra_op_parallelism: int | None = None
    private_threadpool_size: int | None = None


@dataclass
class Options:
    """What `Dataset.with_options` remembers; none of it changes the elements."""

    deterministic: bool | None = None
    autotune: object = None
    experimental_deterministic: bool | None = None
    threading: ThreadingOptions = field(default_factory=ThreadingOptions)


@public_methods
class Iterator:
    """One pass over a dataset; `next(it)`, `it.next()` and `it.get_next()` give its elements.

    Several threads may share it. `get_next` raises OutOfRangeError at the end.
    """

    def __init__(self, dataset):
        self._dataset = dataset
        self._lock = threading.Lock()
        self._handle = None
        if context.executing_eagerly():
            self._elements = iter(dataset._start())
        else:  # in a function: every run makes a pass of its own
            from tapeflow.function.autograph.operators import dataset_loop

            self._handle = dataset_loop.begin(dataset)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator of a graph without a dataset: run what `make_initializer(dataset)` returns (1.x)."""
        from tapeflow.data import graph_iterating

        return graph_iterating.from_structure(output_types, output_shapes, shared_name, output_classes)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator of a graph that a string tensor stands for; see `string_handle` (1.x)."""
        from tapeflow.data import graph_iterating

        return graph_iterating.from_string_handle(
            string_handle, output_types, output_shapes, output_classes
        )

    def __iter__(self):
        return self

    def __next__(self):
        if self._handle is not None:
            return self.get_next()
        with self._lock:
            return next(self._elements)

    def next(self):
        """The next element; raises StopIteration at the end."""
        return self.__next__()

    def _next_internal(self):
        """The next element; raises OutOfRangeError at the end. Programs reach for it though it is private."""
        return self.get_next()

    def get_next(self, name=None):
        """The next element; raises OutOfRangeError at the end."""
        if not context.executing_eagerly():
            from tapeflow.function.autograph.operators import dataset_loop

            return dataset_loop.next_element(self)
        try:
            return self.__next__()
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext]") from None

    def get_next_as_optional(self):
        """The next element in an Optional, which is empty at the end."""
        if not context.executing_eagerly():
            from tapeflow.function.autograph.operators import dataset_loop

            present, value = dataset_loop.next_if_any(self)
            return Optional(value, self.element_spec, present)
        try:
            return Optional.from_value(self.__next__())
        except StopIteration:
            return Optional.empty(self.element_spec)

    @property
    def initializer(self):
        """Starts the pass again; needed in 1.x programs only."""
        self._elements = iter(self._dataset._start())

    @property
    def element_spec(self):
        """The structure of TensorSpecs of an element."""
        return self._dataset.element_spec

    @property
    def output_types(self):
        """The structure of dtypes of an element (1.x)."""
        return self._dataset.output_types

    @property
    def output_shapes(self):
        """The structure of shapes of an element (1.x)."""
        return self._dataset.output_shapes

    @property
    def output_classes(self):
        """The structure of Python classes of an element (1.x)."""
        return self._dataset.output_classes


class NumpyIterator:
    """One pass over a dataset, with NumPy values in place of tensors."""

    def __init__(self, dataset):
        self._iterator = iter(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return element.map_leaves(element.as_numpy, next(self._iterator))

    def next(self):
        """The next element; raises StopIteration at the end."""
        return self.__next__()


class Optional:
    """An element that may be absent."""

    def __init__(self, value, spec, present):
        self._value = value
        self._spec = spec
        self._present = present

    @staticmethod
    def from_value(value):
        """An Optional that holds `value`."""
        value = element.to_element(value)
        return Optional(value, element.spec_of(value), True)

    @staticmethod
    def empty(element_spec):
        """An Optional without a value."""
        return Optional(None, element_spec, False)

    @property
    def element_spec(self):
        """The structure of specs of the value."""
        return self._spec

    def has_value(self, name=None):
        """A scalar bool tensor."""
        return element.convert_to_tensor(self._present)

    def get_value(self, name=None):
        """The value; raises InvalidArgumentError when there is none."""
        if isinstance(self._present, Tensor):  # of a graph: known when that runs
            Assert(self._present, ["The given optional does not have a value. [Op:OptionalGetValue]"])
            return self._value
        if not self._present:
            raise InvalidArgumentError(
                None, None, "The given optional does not have a value. [Op:OptionalGetValue]"
            )
        return self._value


def single_element(dataset):
    """The only element of a dataset."""
    elements = iter(dataset)
    for value in elements:
        for _ in elements:
            raise InvalidArgumentError(
                None, None, "Dataset had more than one element. [Op:DatasetToSingleElement]"
            )
        return value
    raise InvalidArgumentError(None, None, "Dataset was empty. [Op:DatasetToSingleElement]")


def class_of(spec):
    """The class that a spec stands for."""
    return Tensor if isinstance(spec, TensorSpec) else spec.value_type
