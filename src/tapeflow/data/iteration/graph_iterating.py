"""Iterators of 1.x in a graph: `get_next()` is a node that takes the next element each time it runs.

Each session makes passes of its own. What a dataset takes from the graph is an input of the node that begins a pass.
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from types import ModuleType
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.context import init_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError
from tapeflow.core.public import public_methods
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import dataset_class, element, leaves
from tapeflow.data.iteration import saveable
from tapeflow.data.iteration.iterating import Iterator, class_of
from tapeflow.data.iteration.passes import begun, close_pass
from tapeflow.data.nodes import nodes as dataset_nodes
from tapeflow.data.nodes import results
from tapeflow.data.optional import Optional
from tapeflow.data.parts import parts_of
from tapeflow.function.autograph.operators import dataset_loop
from tapeflow.function.compiled import Compiled
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.run import planning
from tapeflow.graph.run.session import get_default_session
from tapeflow.ops.state.resource_op import handle_of


def _writing() -> ModuleType:
    from tapeflow.data.nodes import writing  # a circle: it is made of this module

    return writing


# Passes by their string handles.
_passes: weakref.WeakValueDictionary[str, Pass] = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Pass:
    """Where a session is in a dataset."""

    def __init__(self, start: Any = None, spec: Any = None):
        self.spec = spec
        self.start = start  # of a one-shot iterator: begins the pass when the first element is wanted
        self.elements: Any = None
        self.made: Any = None  # begins a pass over the dataset of the last initializer
        self.dataset: Any = None  # that dataset
        self.lock = threading.RLock()
        self.name = f"iterator_{next(_numbers)}"
        _passes[self.name] = self

    def _begin(self) -> None:
        if self.elements is None and self.start is not None:
            self.elements = begun(self.start)

    def save(self) -> Any:
        """Where it is, and of which dataset that is known to be."""
        with self.lock:
            self._begin()
            return None if self.elements is None else self.elements.save()

    def restore(self, state: Any) -> None:
        """Goes where `save` was called. Raises FailedPreconditionError where it was not initialized."""
        with self.lock:
            if state is None:
                self.elements = None
                return
            if self.made is not None or self.start is not None:
                self.elements = begun(self.made or self.start)
            if self.elements is None:
                raise FailedPreconditionError(
                    None, None, "An iterator must be initialized before its state is restored."
                )
            self.elements.restore(state)

    def next(self) -> Any:
        """The next element. Raises StopIteration at the end, FailedPreconditionError before the start."""
        with self.lock:
            self._begin()
            if self.elements is None:
                raise FailedPreconditionError(
                    None, None,
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                    "initializer operation for this iterator before getting the next element.",
                )  # fmt: skip
            return next(self.elements)

    def __del__(self) -> None:
        if self.elements is not None and close_pass is not None:  # None at the interpreter's end
            close_pass(self.elements)


# The collection of the iterators of a graph.
ITERATORS = "iterators"


@public_methods
class GraphIterator(Iterator):
    """An iterator whose elements are tensors of a graph.

    Args:
      dataset: what it goes over; None: `make_initializer` will say.
      started: whether it begins by itself, not by its initializer.
      handle: the tensor of an iterator that is there already.

    Raises ValueError for an iterator that begins by itself over a dataset of placeholders or of a session's values.
    """

    @classmethod
    def over(cls, dataset, started, spec=None, shared_name=None, handle=None):
        """One over a dataset."""
        made = cls.__new__(cls)
        made._set(dataset, started, spec, shared_name, handle)
        return made

    def __init__(self, iterator_resource, initializer, output_types, output_shapes, output_classes):
        spec = spec_from(output_types, output_shapes, output_classes)
        self._set(None, initializer is None, spec, None, iterator_resource)
        self._initializer = initializer

    def _set(self, dataset, started, spec, shared_name, handle):
        self._initializer = None
        self._string = None
        self._dataset = dataset
        self._spec = dataset.element_spec if spec is None else spec
        self._started = started
        self._handle = handle
        if handle is None:
            factory = _Factory(dataset) if started else None
            start = _start_by_value(dataset, factory) if started else None
            spec = self._spec
            attrs = {
                "resource": lambda: handle_of(Pass(start, spec)),
                "shared_name": shared_name or "",
                "container": "",
                **_types(spec),
            }
            if started:
                attrs["dataset_factory"] = factory
            kind = "OneShotIterator" if started else "IteratorV2"
            graph = get_default_graph()
            op = graph.add(kind, None, (), (), attrs, kind)
            self._handle = op.add_output(dtypes.resource, ())
            graph.add_to_collection(ITERATORS, self._handle)
        self._string = self.string_handle("IteratorToStringHandle")

    def get_next(self, name: str | None = None):
        """The next element; its run raises OutOfRangeError at the end."""
        from tapeflow.data.iteration import staged_passes

        return staged_passes.over(self, self._handle).next(name)

    _next_internal = get_next

    def get_next_as_optional(self):
        """The next element in an Optional, which is empty at the end."""

        there, value = dataset_loop.next_if_any(self)
        return Optional(value, self._spec, there)

    @property
    def initializer(self):
        """The operation that starts the pass."""
        if self._initializer is not None:
            return self._initializer
        if self._started or self._dataset is None:
            raise ValueError(f"Iterator {self} does not have an initializer.")
        return self.make_initializer(self._dataset)

    def make_initializer(self, dataset, name: str | None = None):
        """The operation that lets the iterator go over `dataset` from its start.

        Raises TypeError for a dataset with elements of another type.
        """
        if dataset is None:
            raise ValueError("Iterator does not have a dataset: use make_initializer(dataset).")
        _check_same(self._spec, dataset.element_spec)
        dataset_writing = _writing()
        return dataset_nodes.add("MakeIterator", [dataset_writing.variant(dataset), self._handle], {}, name)

    @property
    def element_spec(self):
        """The structure of specs of an element."""
        return self._spec

    @property
    def _iterator_resource(self):
        return self._handle

    def _save(self):
        """The state in the default session, where checkpoints of objects read it."""

        return _session().run(saveable.serialized(self._handle))

    def _restore(self, state):
        with self._handle.op.graph.as_default():
            _session().run(saveable.deserialized(self._handle, convert_to_tensor(bytes(state))))

    @property
    def output_types(self):
        """The structure of dtypes of an element."""
        return element.map_leaves(lambda s: s.dtype, self._spec)

    @property
    def output_shapes(self):
        """The structure of shapes of an element."""
        return element.map_leaves(lambda s: s.shape, self._spec)

    @property
    def output_classes(self):
        """The structure of classes of an element."""
        return element.map_leaves(class_of, self._spec)

    def string_handle(self, name: str | None = None):
        """A string tensor that stands for this iterator; the same one for each call without a name."""
        if name is None:
            return self._string

        def run(handle):
            return [convert_to_tensor(leaves.unboxed(handle).name)]

        kinds = [(dtypes.string, ())]
        return python_ops.node("IteratorToStringHandle", run, [self._handle], kinds, name).outputs[0]


def _session():
    found = get_default_session()
    if found is None:
        raise RuntimeError(
            "Iterators of a graph are saved and restored in a session: make one the default."
        )
    return found


def _types(spec):
    """The attrs of an iterator's node."""
    kinds = leaves.outputs(spec)
    return {"output_types": [kind for kind, _ in kinds], "output_shapes": [TensorShape(shape) for _, shape in kinds]}


class _Factory:
    """The body of a function that makes a dataset, traced when it is written."""

    def __init__(self, dataset):
        self._dataset = dataset

    @functools.cached_property
    def graph(self):
        """The function's graph."""
        dataset_writing = _writing()
        with init_scope():
            graph = FuncGraph("_make_dataset")
        with graph.as_default():
            graph.outputs = [dataset_writing.variant(self._dataset)]
        return graph

    def start(self):
        """Begins a pass over a dataset of its own."""
        return parts_of(leaves.unboxed(Compiled(self.graph, self.outputs).plan()[0])).start()

    @property
    def outputs(self):
        """Its only result."""
        return self.graph.outputs


def _start_by_value(dataset, factory):
    """What begins a pass over a dataset that needs no session."""
    try:
        values = results.values_of(dataset)
    except ValueError as error:
        raise ValueError(
            f"Failed to create a one-shot iterator for a dataset. `tf.compat.v1.data.make_initializable_iterator()` "
            f"takes datasets that capture placeholders, variables and other state: {error}"
        ) from None
    if parts_of(dataset).captured:
        return lambda: parts_of(dataset_class.with_inputs(dataset, values())).start()
    return factory.start


def _check_same(spec, other):
    try:
        element.map_leaves(lambda *_: None, other, spec)
        element.map_leaves(lambda *_: None, spec, other)
    except (TypeError, ValueError):
        raise ValueError(
            f"Expected elements of the structure {spec!r} but got a dataset of {other!r}."
        ) from None

    def check(a, b):
        if getattr(a, "dtype", None) != getattr(b, "dtype", None):
            raise TypeError(
                f"Expected output types {spec!r} but got dataset with output types {other!r}."
            )
        if a is not None and hasattr(a, "shape") and not a.shape.is_compatible_with(b.shape):
            raise TypeError(
                f"Expected output shapes compatible with {spec!r} but got dataset with output shapes {other!r}."
            )

    element.map_leaves(check, spec, other)


def _check_handle(wanted, found):
    """Raises InvalidArgumentError where an iterator's elements are not as those that were asked for."""
    mine, its = leaves.outputs(wanted), leaves.outputs(found)
    if len(mine) != len(its):
        raise InvalidArgumentError(
            None, None, f"Number of components does not match: expected {len(mine)} types but got {len(its)}."
        )
    for number, ((a, shape), (b, other)) in enumerate(zip(mine, its)):
        if a != b:
            raise InvalidArgumentError(
                None, None, f"Data type mismatch at component {number}: expected {a.name} but got {b.name}."
            )
        if not TensorShape(shape).is_compatible_with(other):
            raise InvalidArgumentError(
                None, None, f"Incompatible shapes at component {number}: expected {shape} but got {other}."
            )


def spec_from(types, shapes, classes):
    """The structure of specs that the three structures of 1.x describe."""
    types = element.map_leaves(dtypes.as_dtype, types)
    if shapes is None:
        return element.map_leaves(lambda t: TensorSpec(None, t), types)

    def made(t, shape: ShapeLike, cls=None):
        if cls is not None and issubclass(cls, element.SparseTensor):
            return leaves.SparseTensorSpec(shape, t)
        return TensorSpec(shape, t)

    return _along(made, types, shapes) if classes is None else _along(made, types, shapes, classes)


def _along(fn, types, *others):
    """`fn` on the leaves of `types` and what stands at their places in the others, where a shape may be a list."""
    if not element.is_structure(types):
        return fn(types, *others)
    for other in others:
        if isinstance(other, TensorShape) or not hasattr(other, "__len__"):
            raise TypeError(
                f"The two structures don't have the same sequence type: {types!r} and {other!r}."
            )
        if isinstance(other, list):
            raise TypeError(
                f"The two structures don't have the same sequence type: {types!r} and {other!r}, a list."
            )
        if len(other) != len(types):
            raise ValueError(
                f"The two structures don't have the same number of elements: {types!r} and {other!r}."
            )
    keys = list(types) if hasattr(types, "keys") else range(len(types))
    return element.rebuild(types, [_along(fn, types[k], *[other[k] for other in others]) for k in keys])


def from_structure(types, shapes=None, shared_name=None, classes=None):
    """An iterator without a dataset: `make_initializer` gives it one."""
    return GraphIterator.over(None, False, spec_from(types, shapes, classes), shared_name)


def pass_named(name):
    """Where an iterator is, by the string tensor that stands for it."""
    found = _passes.get(name.numpy().decode())
    if found is None:
        raise InvalidArgumentError(None, None, f"There is no iterator with the handle {name.numpy()!r}.")
    return found


def from_string_handle(string_handle, types, shapes=None, classes=None):
    """The iterator that a string tensor stands for when the graph runs."""

    def run(name: str):
        found = pass_named(name)
        _check_handle(wanted, found.spec)
        return [handle_of(found)]

    given = convert_to_tensor(string_handle)
    wanted = spec_from(types, shapes, classes)
    kinds = [(dtypes.resource, ())]
    handle = python_ops.node(
        "IteratorFromStringHandleV2", run, [given], kinds, None, **_types(wanted)
    ).outputs[0]
    return GraphIterator.over(None, False, spec_from(types, shapes, classes), handle=handle)


for _kind in ("IteratorToStringHandle", "IteratorFromStringHandleV2"):
    planning.emits(_kind)(python_ops.emit)
