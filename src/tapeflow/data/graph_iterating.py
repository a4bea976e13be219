"""Iterators of 1.x in a graph: `get_next()` is a node that takes the next element each time it runs.

The dataset itself is made at once; each session makes passes of its own over it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes, nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import FailedPreconditionError, OutOfRangeError
from tapeflow.core.public import public_methods
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph import planning, python_ops
from tapeflow.graph.graph import get_default_graph


class _Pass:
    """Where a session is in a dataset."""

    def __init__(self, dataset: Any):
        self.elements: Any = None if dataset is None else iter(dataset._start())


def _boxed(value: Any) -> Any:
    box = np.empty((), object)
    box[()] = value
    return _native.tensor_of(box, dtypes.variant)


@public_methods
class GraphIterator:
    """An iterator whose elements are tensors of a graph.

    Args:
      dataset: what it goes over; None: `make_initializer` will say.
      started: whether it begins by itself, not by its initializer.
    """

    def __init__(self, dataset, started, spec=None, shared_name=None):
        graph = get_default_graph()
        self._dataset = dataset
        self._spec = dataset.element_spec if spec is None else spec
        attrs = {
            "resource": lambda: _boxed(_Pass(dataset if started else None)),
            "shared_name": shared_name or "",
        }
        kind = "OneShotIterator" if started else "IteratorV2"
        op = graph.add(kind, None, (), (), attrs, kind)
        self._handle = op.add_output(dtypes.variant, ())
        self._started = started

    def get_next(self, name=None):
        """The next element; its run raises OutOfRangeError at the end."""

        def run(handle):
            state = _state(handle)
            if state.elements is None:
                raise FailedPreconditionError(
                    None, None,
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                    "initializer operation for this iterator before getting the next element.",
                )  # fmt: skip
            try:
                value = next(state.elements)
            except StopIteration:
                raise OutOfRangeError(None, None, "End of sequence") from None
            return [convert_to_tensor(x) for x in nest.flatten(value, expand_composites=True)]

        leaves = nest.flatten(self._spec)
        flat = [s for leaf in leaves for s in getattr(leaf, "_component_specs", [leaf])]
        op = python_ops.node("IteratorGetNext", run, [self._handle], [(s.dtype, _dims(s.shape)) for s in flat], name)
        outputs = iter(op.outputs)
        filled = [
            leaf._from_components([next(outputs) for _ in leaf._component_specs])
            if hasattr(leaf, "_component_specs") else next(outputs)
            for leaf in leaves
        ]  # fmt: skip
        return nest.pack_sequence_as(self._spec, filled)

    @property
    def initializer(self):
        """The operation that starts the pass."""
        if self._started:
            raise ValueError(f"Iterator {self} does not have an initializer.")
        return self.make_initializer(self._dataset)

    def make_initializer(self, dataset, name=None):
        """The operation that lets the iterator go over `dataset` from its start."""
        if dataset is None:
            raise ValueError("Iterator does not have a dataset: use make_initializer(dataset).")

        def run(handle):
            _state(handle).elements = iter(dataset._start())
            return []

        return python_ops.node("MakeIterator", run, [self._handle], (), name)

    @property
    def element_spec(self):
        """The structure of specs of an element."""
        return self._spec

    @property
    def output_types(self):
        """The structure of dtypes of an element."""
        return nest.map_structure(lambda s: s.dtype, self._spec)

    @property
    def output_shapes(self):
        """The structure of shapes of an element."""
        return nest.map_structure(lambda s: s.shape, self._spec)

    @property
    def output_classes(self):
        """The structure of classes of an element."""
        return nest.map_structure(lambda s: s.value_type, self._spec)

    def string_handle(self, name=None):
        """A string tensor that stands for this iterator."""
        return convert_to_tensor(self._handle.op.name)


def _state(handle: Any) -> Any:
    found = handle.numpy()
    return found.item() if hasattr(found, "item") else found


def _dims(shape: Any) -> Any:
    known = TensorShape(shape)
    return None if known.rank is None else tuple(known.as_list())


def in_graph() -> bool:
    """Whether iterators are nodes here."""
    return not context.executing_eagerly()


for _kind in ("IteratorGetNext", "MakeIterator"):
    planning.emits(_kind)(python_ops._emit)
