"""Nodes of iterators, of what they share, and of optionals: a list of tensors in a box, or None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.files.tensor_bytes import VariantData
from tapeflow.data import leaves
from tapeflow.data.iteration import outside_state, state_coding
from tapeflow.data.iteration.graph_iterating import Pass, pass_named
from tapeflow.data.iteration.passes import begun
from tapeflow.data.nodes.nodes import node as add_node
from tapeflow.data.nodes.nodes import register, spec_of
from tapeflow.data.nodes.variants import dataset_of, unpacked
from tapeflow.data.options import ExternalStatePolicy
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS
from tapeflow.function.compiled import Compiled
from tapeflow.graph.operation import Operation
from tapeflow.ops.node_rows import NodeRow, node
from tapeflow.ops.signature import func, integer, shape_list, string, type_list
from tapeflow.ops.state.resource_op import expect, handle_of, object_of

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

Attrs = Mapping[str, Any]


# What only its handle stands for.


def _anonymous(attrs: Attrs, *given: Any) -> list[Any]:  # shuffles read seeds that are given themselves
    return [handle_of(Pass(None, spec_of(attrs)) if "output_types" in attrs else None)]


def _with_deleter(attrs: Attrs, *given: Any) -> list[Any]:
    return [*_anonymous(attrs), leaves.boxed(None)]


def _nothing(attrs: Attrs, *given: Any) -> list[Any]:
    """What is freed when nothing holds it."""
    return []


_NAMED = {"container": "", "shared_name": ""}
_DELETED = "-> handle: resource, deleter: variant"
for _name, _signature, _attrs in (
    ("AnonymousIterator", "-> handle: resource", ELEMENTS),
    ("AnonymousIteratorV3", "-> handle: resource", ELEMENTS),
    ("DummySeedGenerator", "-> handle: resource", {}),
    ("DummyMemoryCache", "-> handle: resource", {}),
    ("DummyIterationCounter", "-> handle: resource", {}),
    ("StatsAggregatorHandle", "-> handle: resource", _NAMED),
    ("StatsAggregatorHandleV2", "-> handle: resource", _NAMED),
    (
        "ThreadPoolHandle",
        "-> handle: resource",
        {"num_threads": integer, "max_intra_op_parallelism": 1, "display_name": string, **_NAMED},
    ),
):
    _row = node(_name, _signature, _attrs, stateful=True).runs(_anonymous)
    if _name in ("StatsAggregatorHandle", "ThreadPoolHandle"):
        _row.also(f"Experimental{_name}")
for _name, _signature, _attrs in (
    ("AnonymousIteratorV2", _DELETED, ELEMENTS),
    ("AnonymousSeedGenerator", f"seed: int64, seed2: int64, reshuffle: bool {_DELETED}", {}),
    ("AnonymousRandomSeedGenerator", f"seed: int64, seed2: int64 {_DELETED}", {}),
    ("AnonymousMemoryCache", _DELETED, {}),
):
    node(_name, _signature, _attrs, stateful=True).runs(_with_deleter)
for _name in ("DeleteIterator", "DeleteSeedGenerator", "DeleteRandomSeedGenerator", "DeleteMemoryCache"):
    node(_name, "handle: resource, deleter: variant ->", stateful=True).runs(_nothing)


# Iterators.


def _named(graph: Graph, row: NodeRow, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    """An iterator that a session, or the function that it is in, keeps."""
    start = None
    if "dataset_factory" in attrs:
        body = attrs["dataset_factory"]
        compiled = Compiled(body.graph, body.outputs)

        def start() -> Any:
            return parts_of(dataset_of(compiled.plan()[0])).start()

    op = add_node(graph, row, None, inputs, name, attrs)
    op.attrs["resource"] = lambda: handle_of(Pass(start, spec_of(attrs)))
    return op


def _emit_named(emitter: Any, op: Operation) -> None:
    value = emitter.resolve(op) if emitter.resolve is not None else None
    if value is None:
        value = op.attrs.get("kept")
        if value is None:
            value = op.attrs["kept"] = op.attrs["resource"]()
    emitter.constant(op.outputs[0], value)


for _name in ("Iterator", "IteratorV2"):
    _attrs = {"shared_name": string, "container": string, **ELEMENTS}
    register(node(_name, "-> handle: resource", _attrs, stateful=True), _named, _emit_named)
register(
    node("OneShotIterator", "-> handle: resource", {"dataset_factory": func, **ELEMENTS, **_NAMED}, stateful=True),
    _named,
    _emit_named,
)


def pass_of(handle: Any) -> Pass:
    """The pass that the handle of an iterator stands for."""
    return expect(object_of(handle), Pass, "iterator")


@node("MakeIterator", "dataset: variant, iterator: resource ->", stateful=True).runs
def _begin(attrs: Attrs, dataset: Any, handle: Any) -> list[Any]:
    state, made = pass_of(handle), leaves.unboxed(dataset)
    with state.lock:
        state.made, state.dataset = parts_of(made).start, made
        state.elements = begun(parts_of(made).start)
    return []


def _next(attrs: Attrs, handle: Any) -> list[Any]:
    try:
        return unpacked(pass_of(handle).next())
    except StopIteration:
        raise OutOfRangeError(None, None, "End of sequence") from None


for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    node(_name, "iterator: resource -> components: output_types", ELEMENTS, stateful=True).runs(_next)


@node("IteratorGetNextAsOptional", "iterator: resource -> optional: variant", ELEMENTS, stateful=True).runs
def _next_if_any(attrs: Attrs, handle: Any) -> list[Any]:
    try:
        return [leaves.boxed(unpacked(pass_of(handle).next()))]
    except StopIteration:
        return [leaves.boxed(None)]


@node("IteratorToStringHandle", "resource_handle: resource -> string_handle: string", stateful=True).runs
def _to_string(attrs: Attrs, handle: Any) -> list[Any]:
    return [convert_to_tensor(pass_of(handle).name)]


def _from_string(attrs: Attrs, handle: Any) -> list[Any]:
    return [handle_of(pass_named(handle))]


for _name in ("IteratorFromStringHandle", "IteratorFromStringHandleV2"):
    node(
        _name, "string_handle: string -> resource_handle: resource",
        {"output_types": type_list([]), "output_shapes": shape_list([])}, stateful=True, touches="process",
    ).runs(_from_string)  # fmt: skip


@node(
    "SerializeIterator", "resource_handle: resource -> serialized: variant", {"external_state_policy": 0}, stateful=True
).runs
def _serialize(attrs: Attrs, handle: Any) -> list[Any]:
    state = pass_of(handle)
    outside_state.heed(state.dataset, ExternalStatePolicy(attrs["external_state_policy"] or 0))
    return [leaves.boxed(VariantData("tensorflow::Iterator", state_coding.encode(state.save())))]


@node("DeserializeIterator", "resource_handle: resource, serialized: variant ->", stateful=True).runs
def _deserialize(attrs: Attrs, handle: Any, serialized: Any) -> list[Any]:
    found = leaves.unboxed(serialized)
    if not isinstance(found, VariantData):
        raise InvalidArgumentError(None, None, "DeserializeIterator is given what is not the state of an iterator.")
    pass_of(handle).restore(state_coding.decode(found.metadata))
    return []


@node("IteratorGetDevice", "resource: resource -> device: string", stateful=True).runs
def _device(attrs: Attrs, handle: Any) -> list[Any]:
    pass_of(handle)
    return [convert_to_tensor("/job:localhost/replica:0/task:0/device:CPU:0")]


_device.also("ExperimentalIteratorGetDevice")


# Optionals.


@node("OptionalFromValue", "components: Toutput_types -> optional: variant", {"Toutput_types": type_list}).runs
def _some(attrs: Attrs, *values: Any) -> list[Any]:
    return [leaves.boxed(list(values))]


@node("OptionalNone", "-> optional: variant").runs
def _none(attrs: Attrs) -> list[Any]:
    return [leaves.boxed(None)]


with context.init_scope(), context.eager_mode():
    _NO, _YES = [convert_to_tensor(False)], [convert_to_tensor(True)]


@node("OptionalHasValue", "optional: variant -> has_value: bool").runs
def _has_value(attrs: Attrs, optional: Any) -> list[Any]:
    return _NO if leaves.unboxed(optional) is None else _YES


@node("OptionalGetValue", "optional: variant -> components: output_types", ELEMENTS).runs
def _value(attrs: Attrs, optional: Any) -> list[Any]:
    found = leaves.unboxed(optional)
    if found is None:
        raise InvalidArgumentError(None, None, "The given optional does not have a value.")
    return found
