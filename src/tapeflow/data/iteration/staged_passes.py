"""Passes over datasets in functions: nodes that begin one, and that take the next element each time they run."""

from __future__ import annotations

from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import OutOfRangeError
from tapeflow.data import element, leaves
from tapeflow.data.dataset_class import with_inputs
from tapeflow.data.iteration.passes import begun, close_pass
from tapeflow.data.nodes.nodes import add
from tapeflow.data.nodes.writing import NoOpForIt, is_plain, node_of, types_of
from tapeflow.data.parts import parts_of
from tapeflow.graph.nodes import python_ops

_END: Any = object()


def variant_of(dataset: Any) -> Any:
    """The variant tensor of a dataset for nodes of the graph being built.

    Functions capture a dataset that is there already; it is made by nodes where the graph is all that there is, or
    where it depends on tensors of the graph. Raises NoOpForIt where no op can make it.
    """
    graph = context.current_graph()
    while graph is not None and graph.building_function:
        graph = graph.enclosing_graph
    if parts_of(dataset).captured or graph is not None:
        return node_of(dataset)
    made = dataset.__dict__.get("_boxed")
    if made is None:
        made = dataset.__dict__["_boxed"] = leaves.boxed(dataset)
    return made


def begin(dataset: Any) -> NodePass | PythonPass:
    """A pass over a dataset, a new one in each run."""
    spec = dataset.element_spec
    if is_plain(spec):
        try:
            variant = variant_of(dataset)
        except NoOpForIt:
            pass
        else:
            handle = add("AnonymousIteratorV3", (), types_of(spec)).outputs[0]
            add("MakeIterator", [variant, handle], {})
            return NodePass(handle, spec)

    def run(*values: Any) -> list[Any]:
        return [leaves.boxed(_Elements(with_inputs(dataset, values)))]

    return PythonPass(_node(run, list(parts_of(dataset).captured), [(dtypes.variant, ())])[0], None, spec)


def of(source: Any) -> NodePass | PythonPass:
    """A pass over a dataset, or what is left of that of an iterator, by nodes of the graph that is being built."""
    found: NodePass | PythonPass = source._staged_pass()
    return found


def over(iterator: Any, handle: Any) -> NodePass | PythonPass:
    """What is left of the pass of an iterator, which the tensor `handle` holds in a graph."""
    if handle is not None and handle.dtype == dtypes.resource and is_plain(iterator.element_spec):
        return NodePass(handle, iterator.element_spec)
    return PythonPass(handle, iterator, iterator.element_spec)


class _Elements:
    """One pass, as an iterator."""

    def __init__(self, dataset: Any):
        self._elements = begun(parts_of(dataset).start)

    def __next__(self) -> Any:
        return next(self._elements)

    def __del__(self) -> None:
        close_pass(self._elements)


class NodePass:
    """A pass by TensorFlow's ops.

    Attributes:
      handle: the resource tensor of the iterator.
      spec: the structure of specs of an element.

    A step is whether there is an element, and what `value` takes to give it.
    """

    def __init__(self, handle: Any, spec: Any):
        self.handle, self.spec = handle, spec

    def step(self) -> list[Any]:
        """Takes the next element, if there is one."""
        optional = add("IteratorGetNextAsOptional", [self.handle], types_of(self.spec)).outputs[0]
        return [add("OptionalHasValue", [optional], {}).outputs[0], optional]

    def value(self, optional: Any) -> Any:
        """The element of a step; InvalidArgumentError when it runs where there is none."""
        found = add("OptionalGetValue", [optional], types_of(self.spec)).outputs
        return element.unflatten(self.spec, iter(found))

    def nothing(self) -> list[Any]:
        """A step in the place of the one after the last."""
        return [convert_to_tensor(False), add("OptionalNone", (), {}).outputs[0]]

    def blank(self) -> Any:
        """What stands for an element where there is none."""
        return element.unflatten(self.spec, iter(leaves.blank(self.spec)))

    def next(self, name: str | None = None) -> Any:
        """The next element; OutOfRangeError when it runs at the end."""
        found = add("IteratorGetNext", [self.handle], types_of(self.spec), name).outputs
        return element.unflatten(self.spec, iter(found))


class PythonPass:
    """A pass by Python of this process.

    Attributes:
      handle: the variant tensor of an iterator; None for `iterator` itself.
      spec: the structure of specs of an element.
    """

    def __init__(self, handle: Any, iterator: Any, spec: Any):
        self.handle, self._iterator, self.spec = handle, iterator, spec

    def _inputs(self) -> list[Any]:
        return [] if self.handle is None else [self.handle]

    def _taken(self, held: Any) -> Any:
        source = self._iterator if held is None else leaves.unboxed(held)
        try:
            return source.next() if hasattr(source, "made") else next(source, _END)
        except StopIteration:
            return _END

    def step(self) -> list[Any]:
        def run(held: Any = None) -> list[Any]:
            value = self._taken(held)
            if value is _END:
                return [convert_to_tensor(False), *leaves.blank(self.spec)]
            return [convert_to_tensor(True), *leaves.to_tensors(self.spec, value)]

        return _node(run, self._inputs(), [(dtypes.bool, ()), *leaves.outputs(self.spec)])

    def value(self, *tensors: Any) -> Any:
        return leaves.from_tensors(self.spec, tensors)

    def nothing(self) -> list[Any]:
        return [convert_to_tensor(False), *leaves.blank(self.spec)]

    def blank(self) -> Any:
        return leaves.from_tensors(self.spec, leaves.blank(self.spec))

    def next(self, name: str | None = None) -> Any:
        def run(held: Any = None) -> list[Any]:
            value = self._taken(held)
            if value is _END:
                raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext]")
            return leaves.to_tensors(self.spec, value)

        return leaves.from_tensors(
            self.spec, _node(run, self._inputs(), leaves.outputs(self.spec), name)
        )


def _node(run: Any, inputs: list[Any], outputs: list[Any], name: str | None = None) -> list[Any]:
    return list(python_ops.node("PyFunc", run, inputs, outputs, name or "IteratorGetNext").outputs)
