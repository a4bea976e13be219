"""Records of datasets: one for each way to make a dataset, with all that the package knows of it.

A record is made by decorating the function that says how a pass over the dataset starts:

    @record("take_while", functions={"predicate": of_element}, spec=same_spec)
    def taken_while(dataset, predicate):
        ...
        return "TakeWhile", lambda: _TakenWhile(predicate, parts_of(dataset).start()), spec_of(dataset)

    taken_while.node("TakeWhileDataset", "input_dataset: variant, other_arguments: Targuments -> handle: variant", ...)

Called with its arguments, a record traces the functions among them and makes the dataset: at once, or, where tensors
of a graph are among the arguments, as a recipe for their values. Until then only the spec of the elements is known.
The nodes are rows of TensorFlow's ops that make the same dataset: a graph that holds one makes it by the record, and
datasets are written as them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.data import element
from tapeflow.data.arguments import GraphSeeds, require_callable
from tapeflow.data.building import build
from tapeflow.data.dataset_class import (
    dataset_from_recipe,
    dataset_of,
    is_dataset,
    not_yet,
    with_inputs,
)
from tapeflow.data.iteration.passes import Raising
from tapeflow.data.nodes.variants import flat, packed
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.tracing import Traced
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.node_rows import NodeRow, node
from tapeflow.ops.signature import shape_list, type_list
from tapeflow.ops.state.variable import Variable

# The attrs of nodes that say what elements are.
ELEMENTS = {"output_types": type_list, "output_shapes": shape_list}
# The input of nodes that is what their function captured.
CAPTURED = "other_arguments"

Arguments = dict[str, Any]
# Traces an argument that is a function, of the name of the record and all arguments: gives it traced.
Tracing = Callable[[str, Arguments, Any], Any]


class Form(NamedTuple):
    """A node as which datasets of a record are written.

    Attributes:
      row: of the node.
      values: gives, for the arguments of a dataset, those of the node by the names of its inputs and attrs; None where
        the dataset is not written as it.
      function: the argument that is the function of the node, if it has one.
    """

    row: NodeRow
    values: Callable[[Arguments], Arguments | None]
    function: str | None


class Record:
    """A way to make datasets.

    Attributes:
      name: that of the method of Dataset, which errors show.
      functions: the arguments that are functions, and what traces them: `of_element` and so on.
      spec: gives the spec of elements for arguments with tensors of a graph; None: it is found out by trying values.
      datasets: the arguments that are datasets, or structures of these, which it is made of.
      flattens: whether its function gives datasets, of which the elements are those of its datasets.
      forms: the nodes as which its datasets are written.
    """

    def __init__(
        self, name: str, start: Callable[..., Any], functions: Mapping[str, Tracing],
        spec: Callable[[Arguments], Any] | None, datasets: tuple[str, ...], flattens: bool,
    ):  # fmt: skip
        self.name, self.functions, self.spec, self.datasets, self.flattens = name, functions, spec, datasets, flattens
        self.forms: list[Form] = []
        self.__doc__ = start.__doc__
        self._start = start
        self._signature = inspect.signature(start)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The dataset of these arguments."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments: Arguments = dict(bound.arguments)
        for key, traced in self.functions.items():
            if not hasattr(arguments[key], "begun"):  # it is not traced yet
                arguments[key] = traced(self.name, arguments, arguments[key])
        if context.executing_eagerly() and not any(map(_depends_on_graph, arguments.values())):
            made = self.made(arguments)
        else:
            made = self._in_graph(arguments)
        parts_of(made).record = (self, arguments)
        if any(isinstance(x, Traced) and x.runs_python for x in arguments.values()):
            parts_of(made).has_effects = True
        return made

    def made(self, arguments: Arguments) -> Any:
        """The dataset of arguments that do not depend on a graph, with functions that are traced."""
        found = self._start(**arguments)
        if not isinstance(found, tuple):
            return found
        parents = [x for key in self.datasets for x in element.flatten(arguments[key]) if is_dataset(x)]
        return build(found, *parents)

    def _in_graph(self, arguments: Arguments) -> Any:
        """The dataset of arguments while a graph is built: at once where none of them is known when it runs only."""
        given = replaced(arguments, known)
        places: list[Any] = []

        def noted(place: Any) -> Any:
            places.append(place)
            return place

        replaced(given, noted)
        if not places:
            with context.eager_mode():
                return self.made(given)
        inputs = [x for place in places for x in _inputs_of(place)]

        def filled(*values: Any) -> Any:
            rest = iter(values)
            own = replaced(given, lambda x: _filled(x, rest))
            with context.eager_mode():
                try:
                    return self.made(own)
                except (ValueError, TypeError) as error:  # it is the values that do not fit: the pass says so
                    failed = InvalidArgumentError(None, None, str(error))
                    return dataset_of(kind, lambda: Raising(failed), spec)

        spec = self.spec(given) if self.spec is not None else self._spec_of_trials(given)
        kind = "".join(word.capitalize() for word in self.name.split("_"))
        return dataset_from_recipe(kind, inputs, filled, spec)

    def _spec_of_trials(self, arguments: Arguments) -> Any:
        """What the specs have in common that come of two values for each tensor."""
        found: Any = None
        for size, number in ((2, 2**20), (3, 2**20 + 1)):
            with context.eager_mode():
                tried = replaced(arguments, lambda x: _trial(x, size, number))  # noqa: B023 - used at once
                spec = self.made(tried).element_spec
            found = spec if found is None else element.map_leaves(element.merge_specs, found, spec)
        return found

    # Nodes

    def node(
        self, kind: str, signature: str, attrs: Mapping[str, Any], stateful: bool = False, touches: str = "",
        reads: Callable[[Any, Arguments], Arguments] | None = None,
        writes: Callable[[Arguments], Arguments | None] | None = None, written: bool = True,
        absent: Mapping[str, Any] | None = None,
    ) -> NodeRow:  # fmt: skip
        """Make the row of a node that makes datasets of this record.

        Inputs and attrs that are named as arguments are these; `input_dataset` is the argument `dataset`, and the
        attr that is a function the one in `functions`.

        Args:
          kind: the op.
          signature: its inputs and its output.
          attrs: as those of rows.
          stateful: as in rows.
          touches: as in rows.
          reads: gives the arguments where they differ: of the attrs of a node, and what is named as arguments.
          writes: gives the inputs and attrs for arguments; None where the dataset is not written as this node.
          written: whether datasets are written as it at all.
          absent: the values that stand for arguments which are None.
        """
        row = node(kind, signature, attrs, stateful=stateful, touches=touches)
        function = next(iter(self.functions), None)
        accepted = self._signature.parameters.keys()

        def kernel(values: Mapping[str, Any], traced: Any, *inputs: Any) -> Any:
            names = [_ARGUMENTS.get(a.name, a.name) for a in row.inputs if a.name != CAPTURED]
            given = {k: v for k, v in values.items() if k not in _ABOUT_ELEMENTS}
            given |= {key: plain(x) for key, x in zip(names, inputs)}
            if function is not None:
                given[function] = traced
            if reads is not None:
                given = reads(values, given)
            return flat(self.made({key: x for key, x in given.items() if key in accepted}))

        def values_of(arguments: Arguments) -> Arguments | None:
            found = arguments if writes is None else writes(arguments)
            if found is None or not absent:
                return found
            return {**found, **{key: x for key, x in absent.items() if found[key] is None}}

        row.kernel, row.flattens = kernel, self.flattens
        if written:
            self.forms.append(Form(row, values_of, function))
        return row


_ARGUMENTS = {"input_dataset": "dataset"}
_ABOUT_ELEMENTS = frozenset({*ELEMENTS, "Toutput_types"})


def record(
    name: str, functions: Mapping[str, Tracing] | None = None, spec: Callable[[Arguments], Any] | None = None,
    datasets: Sequence[str] = ("dataset",), flattens: bool = False,
) -> Callable[[Callable[..., Any]], Record]:  # fmt: skip
    """Decorate what starts the datasets of a record: it takes the arguments, and returns those of `dataset_of`.

    Args:
      name: as `Record.name`.
      functions: as `Record.functions`.
      spec: as `Record.spec`.
      datasets: as `Record.datasets`; arguments that are not there are left out.
      flattens: as `Record.flattens`.
    """

    def decorate(start: Callable[..., Any]) -> Record:
        own = tuple(key for key in datasets if key in inspect.signature(start).parameters)
        return Record(name, start, functions or {}, spec, own, flattens)

    return decorate


# Functions among the arguments.


def spread_specs(dataset: Any) -> tuple[list[Any], bool]:
    """The specs of the arguments of a function of an element, and whether there is one for each of its items."""
    spec = dataset.element_spec
    return (list(spec), True) if type(spec) is tuple else ([spec], False)


def of_element(name: str, arguments: Arguments, function: Any, dtype: Any = None) -> Traced:
    """Trace a function of the items of an element that is a tuple, and of the element otherwise."""
    require_callable(function)
    specs, spread = spread_specs(arguments["dataset"])
    return Traced(function, specs, name, spread, dtype)


def to_key(name: str, arguments: Arguments, function: Any) -> Traced:
    """Trace such a function, which gives an int64."""
    return of_element(name, arguments, function, dtypes.int64)


def as_they_are(name: str, arguments: Arguments, function: Any) -> Any:
    """Leave a function as it is."""
    return function


def same_spec(arguments: Arguments) -> Any:
    """The spec of elements that are those of the dataset which is transformed."""
    return arguments["dataset"].element_spec


# What nodes say of the order of elements.


def with_order(attrs: Mapping[str, Any], given: Arguments) -> Arguments:
    """The arguments of a node whose attr `deterministic` is a text."""
    return {**given, "deterministic": {"true": True, "false": False}.get(attrs["deterministic"])}


def written_order(deterministic: Any) -> str:
    """That attr."""
    return "default" if deterministic is None else str(bool(deterministic)).lower()


# Arguments that depend on a graph.


def _depends_on_graph(value: Any) -> bool:
    """Whether a dataset or a function was made of tensors of a graph."""
    if isinstance(value, Traced):
        return bool(value.inputs)
    return is_dataset(value) and bool(parts_of(value).captured)


def _inputs_of(place: Any) -> list[Any]:
    if isinstance(place, SymbolicTensor):
        return [place]
    return list(parts_of(place).captured) if hasattr(place, "_inputs") else place.inputs


def _filled(place: Any, given: Any) -> Any:
    if isinstance(place, SymbolicTensor):
        return next(given)
    values = [next(given) for _ in _inputs_of(place)]
    return with_inputs(place, values) if hasattr(place, "_inputs") else place.bound(values)


def known(place: Any) -> Any:
    """The value of a constant in place of its tensor."""
    if not isinstance(place, SymbolicTensor):
        return place
    value = place.constant_value()
    if value is None or place.dtype in (dtypes.variant, dtypes.resource):
        return place
    with context.eager_mode():
        return value if isinstance(value, _native.EagerTensor) else convert_to_tensor(value, place.dtype)


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with `change` of each tensor, dataset and function in it that depends on the graph."""
    if isinstance(value, Variable):
        value = convert_to_tensor(value)
    if isinstance(value, SymbolicTensor):
        return change(value)
    if is_dataset(value):
        return change(value) if parts_of(value).captured else value
    if isinstance(value, Traced):
        return change(value) if value.inputs else value
    if isinstance(value, GraphSeeds):
        return value
    if element.is_structure(value):
        return element.rebuild(value, [replaced(x, change) for x in element.children(value)])
    if isinstance(value, list):
        return [replaced(x, change) for x in value]
    if isinstance(value, element.COMPOSITES):
        parts = nest.flatten(value, expand_composites=True)
        if any(isinstance(x, SymbolicTensor) for x in parts):
            return nest.pack_sequence_as(value, [replaced(x, change) for x in parts], expand_composites=True)
    return value


def _trial(place: Any, size: int, number: int) -> Any:
    """A value for a tensor of a graph, of which unknown sizes are `size`, and elements `number`."""
    if isinstance(place, Traced):
        return place
    if not isinstance(place, SymbolicTensor):
        return dataset_of(parts_of(place).kind, not_yet, place.element_spec)
    shape = [size if d is None else d for d in (place.shape.as_list() if place.shape.rank is not None else [])]
    kind = place.dtype.as_numpy_dtype
    if place.dtype == dtypes.string:
        return convert_to_tensor(np.full(shape, b"", object), dtypes.string)
    if place.dtype.is_integer:
        number = min(number, np.iinfo(kind).max)
    return convert_to_tensor(np.full(shape, number).astype(kind), place.dtype)


# Inputs of nodes.


def plain(value: Any) -> Any:
    """An input of a node as records take their arguments: scalars are those of Python, lists of tensors elements."""
    if isinstance(value, list):
        return packed(value)
    if not isinstance(value, _native.EagerTensor) or value.shape.rank != 0:
        return value
    if value.dtype == dtypes.string:
        return value.numpy().decode()
    if value.dtype in (dtypes.int64, dtypes.int32):
        return int(value.numpy())
    return bool(value) if value.dtype == dtypes.bool else value


def is_plain(spec: Any) -> bool:
    """Whether elements are dense tensors, which nodes take as they are."""
    return all(
        isinstance(leaf, TensorSpec) and leaf.dtype not in (dtypes.variant, dtypes.resource)
        for leaf in element.flatten(spec)
    )
