"""Passes over a dataset as programs see them: the iterators of 2.x, and of 1.x when it runs eagerly."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tapeflow._native import EagerTensor, Tensor
from tapeflow.core import context, dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.public import public_methods
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.data import element, leaves
from tapeflow.data.iteration import outside_state, state_coding
from tapeflow.data.iteration.passes import begun, close_pass
from tapeflow.data.optional import Optional
from tapeflow.data.parts import parts_of

_thread = context.thread_state()

# TensorFlow refuses as many.
_MOST_TRACED = 32

if TYPE_CHECKING:
    from tapeflow.core.sparse_tensor import SparseTensorSpec
    from tapeflow.data.dataset import Dataset, DatasetV2
    from tapeflow.data.sources.records import TextLineDataset, TFRecordDataset


def _graph_iterating() -> ModuleType:
    from tapeflow.data.iteration import graph_iterating  # a circle: it is made of this module

    return graph_iterating


def _dataset_loop() -> ModuleType:
    from tapeflow.function.autograph.operators import dataset_loop  # start-up time

    return dataset_loop


class IteratorSpec(TypeSpec):
    """The type of an iterator, by that of its elements.

    Args:
      element_spec: the structure of specs of an element.
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: SparseTensorSpec | TensorSpec):
        self._element_spec = element_spec

    @property
    def element_spec(self):
        """The spec of the elements."""
        return self._element_spec

    @property
    def value_type(self):
        """The class Iterator."""
        return Iterator

    @staticmethod
    def from_value(value):
        """The spec of an iterator."""
        return IteratorSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value):
        """Whether an iterator, or one of another spec, has elements as this spec says."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return isinstance(other, IteratorSpec) and element.specs_agree(
            self._element_spec, other.element_spec
        )

    @property
    def _component_specs(self):
        return TensorSpec((), dtypes.variant)

    def _to_components(self, value):
        (handle,) = _as_tensors(value)
        return handle

    def _from_components(self, components):
        return _from_handle(self._element_spec, components)

    def _parts(self):
        return (self._element_spec,)

    def __hash__(self):
        return hash(IteratorSpec)

    def __repr__(self):
        return f"IteratorSpec({self._element_spec!r})"


@public_methods
class Iterator:
    """One pass over a dataset; `next(it)`, `it.next()` and `it.get_next()` give its elements.

    Several threads may share it. `get_next` raises OutOfRangeError at the end. A `tf.train.Checkpoint` keeps where it
    is.

    Args:
      dataset: the dataset; `iter(dataset)` makes the same.
    """

    _traced = 0  # how many elements unconverted code took while it was traced

    def __init__(self, dataset):
        eager = context.executing_eagerly()
        # Every run of a function makes a pass of its own.
        self._begin(dataset, None if eager else dataset._staged_pass().handle)
        if eager:
            self._elements = begun(parts_of(dataset).start)

    def _begin(self, dataset: Any, handle: Any):
        """Take a dataset, and the tensor that holds the pass, if it is one of a graph."""
        self._dataset, self._handle = dataset, handle
        self._lock = threading.RLock()  # a generator may ask its own iterator, which is an error, no deadlock

    def _staged_pass(self):
        """The rest of the elements, taken by nodes of the graph that is being built."""
        from tapeflow.data.iteration import staged_passes

        return staged_passes.over(self, self._handle)

    @staticmethod
    def from_structure(
        output_types: DType, output_shapes: Sequence[Any] | None = None, shared_name: str | None = None,
        output_classes=None,
    ):
        """An iterator of a graph without a dataset: run what `make_initializer(dataset)` returns (1.x)."""
        return _graph_iterating().from_structure(output_types, output_shapes, shared_name, output_classes)

    @staticmethod
    def from_string_handle(
        string_handle: Tensor, output_types: DType, output_shapes: Sequence[Any] | None = None, output_classes=None
    ):
        """The iterator of a graph that a string tensor stands for; see `string_handle` (1.x)."""
        return _graph_iterating().from_string_handle(
            string_handle, output_types, output_shapes, output_classes
        )

    def __iter__(self):
        return self

    def __next__(self):
        if self._handle is not None or (_thread.graphs and not context.executing_eagerly()):
            return self.get_next()  # of a graph that is being built, where `next` of Python has not become this
        with self._lock:
            return next(self._elements)

    def next(self):
        """The next element; raises StopIteration at the end."""
        return self.__next__()

    def get_next(self, name: str | None = None):
        """The next element; raises OutOfRangeError at the end."""
        if not context.executing_eagerly():
            self._count_traced()
            return _dataset_loop().next_element(self)
        try:
            return self.__next__()
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext]") from None

    _next_internal = get_next

    def _count_traced(self):
        """Refuse to trace a loop of Python over the elements, which would never end."""
        graph = context.current_graph()
        if graph is None or not graph.building_function or graph.converts:
            return
        self._traced += 1
        if self._traced > _MOST_TRACED:
            raise ValueError(
                "An unusually high number of `tf.data.Iterator.get_next()` calls was detected. This suggests that the "
                "`for elem in dataset: ...` idiom is used within tf.function with AutoGraph disabled. This idiom is "
                "only supported when AutoGraph is enabled."
            )

    def get_next_as_optional(self):
        """The next element in an Optional, which is empty at the end."""
        if not context.executing_eagerly():
            dataset_loop = _dataset_loop()
            present, value = dataset_loop.next_if_any(self)
            return Optional(value, self.element_spec, present)
        try:
            return Optional(self.__next__(), self.element_spec, True)
        except StopIteration:
            return Optional.empty(self.element_spec)

    def __del__(self):
        elements = getattr(self, "_elements", None)
        if elements is not None:
            close_pass(elements)

    # Checkpoints.

    def _save(self):
        with self._lock:
            return state_coding.encode(self._elements.save())

    def _restore(self, state: bytes):
        if hasattr(state, "numpy"):
            state = state.numpy()
        found = state_coding.decode(bytes(state))
        with self._lock:
            elements = begun(parts_of(self._dataset).start)
            try:
                elements.restore(found)
            except (TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
                raise InvalidArgumentError(
                    None, None, f"The state is not that of an iterator over this dataset: {error}"
                ) from error
            self._elements = elements

    def _checkpoint_tensors(self):
        return {"ITERATOR": {"_STATE": self._saved}}

    def _saved(self):
        outside_state.heed(self._dataset, outside_state.policy_of(self._policy()))
        return self._save()

    def _policy(self):
        options = parts_of(self._dataset).options
        return None if options is None else options.experimental_external_state_policy

    def _restore_tensors(self, found: dict[str, Any]):
        self._restore(found["_STATE"].item())

    # Types.

    @property
    def _type_spec(self):
        return IteratorSpec(self.element_spec)

    @property
    def _trace_key(self):
        return repr(self._type_spec)

    @property
    def initializer(self):
        """Starts the pass again; needed in 1.x programs only."""
        self._elements = begun(parts_of(self._dataset).start)

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


class _Elements:
    """A dataset of which only the type of the elements is known: that of an iterator that is an argument."""

    def __init__(self, element_spec: SparseTensorSpec | TensorSpec):
        self.element_spec = element_spec


def handle_of(iterator: Iterator) -> Any:
    """The tensor that holds the pass of an iterator of a graph; None for one that is under way."""
    return iterator._handle


def _as_tensors(iterator: Iterator):
    handle = handle_of(iterator)
    return [leaves.boxed(iterator) if handle is None else handle]


def _from_handle(element_spec: Any, handle: Tensor):
    """An iterator, of the variant tensor that holds it."""
    if isinstance(handle, EagerTensor):
        return leaves.unboxed(handle)
    made = Iterator.__new__(Iterator)
    made._begin(_Elements(element_spec), handle)
    return made


nest.register_composite(
    Iterator, _as_tensors, lambda iterator, found: _from_handle(iterator.element_spec, found[0])
)


class NumpyIterator:
    """One pass over a dataset, with NumPy values in place of tensors.

    Args:
      dataset: the dataset; `dataset.as_numpy_iterator()` makes the same.
    """

    def __init__(self, dataset: Dataset | TFRecordDataset | TextLineDataset):
        self._iterator = iter(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return element.map_leaves(element.as_numpy, next(self._iterator))

    def next(self):
        """The next element; raises StopIteration at the end."""
        return self.__next__()

    def save(self):
        """Where the iterator is, as bytes for `restore`."""
        return self._iterator._save()

    def restore(self, state: bytes):
        """Goes where an iterator over an equal dataset was when `save` gave `state`."""
        self._iterator._restore(state)


def single_element(dataset: DatasetV2):
    """The only element of a dataset."""
    elements = begun(parts_of(dataset).start)
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
