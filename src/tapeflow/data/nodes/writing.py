"""Datasets as nodes of TensorFlow's ops in the graph being built, by the methods that made them.

What has no such op, or elements that are more than dense tensors, stays Python of this process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element, leaves
from tapeflow.data.element import DatasetSpec
from tapeflow.data.nodes import deferring
from tapeflow.data.nodes.kernels import written_options
from tapeflow.data.nodes.nodes import add
from tapeflow.data.parts import captured_by
from tapeflow.data.sources import records
from tapeflow.data.transform import selecting
from tapeflow.data.transform.tracing import Traced
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.func_graph import FuncGraph, copy_handle
from tapeflow.graph.interchange.inlining import inline
from tapeflow.graph.nodes import python_ops
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state.resource_op import object_of

_WRITERS: dict[str, Callable[..., Any]] = {}


class NoOpForIt(Exception):
    """A dataset that TensorFlow's ops cannot make as it is here."""


def _writes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _WRITERS.update(dict.fromkeys(names, function))
        return function

    return register


def is_plain(spec: Any) -> bool:
    """Whether elements are dense tensors, which nodes take as they are."""
    return all(
        isinstance(leaf, TensorSpec) and leaf.dtype not in (dtypes.variant, dtypes.resource)
        for leaf in element.flatten(spec)
    )


def node_of(dataset: Any) -> Any:
    """The variant tensor of a dataset, in the graph being built. Raises NoOpForIt where no op makes it."""
    if dataset._kind == "Variant" and captured_by(dataset):
        return captured_by(dataset)[0]
    if not is_plain(dataset.element_spec):
        raise NoOpForIt(f"elements of {dataset.element_spec}")
    if "_of_node" in dataset.__dict__:
        kind, attrs, values = dataset._of_node
        return add(kind, [_node_of_value(x) for x in values], attrs).outputs[0]
    name, arguments = dataset._made_of or ("", {})
    writer = _WRITERS.get(name)
    if writer is None:
        raise NoOpForIt(name or dataset._kind)
    known = {key: deferring.replaced(value, deferring.known) for key, value in arguments.items()}
    return writer(dataset, **known)


def _node_of_value(tensor: Any) -> Any:
    """An input of a node for the value that it had in another run."""
    if tensor.dtype == dtypes.variant:
        return node_of(leaves.unboxed(tensor))
    if tensor.dtype == dtypes.resource and not isinstance(tensor, _native.Variable) and object_of(tensor) is None:
        return add("DummySeedGenerator", (), {}).outputs[0]
    return tensor


def variant(dataset: Any) -> Any:
    """The variant tensor of a dataset in the graph being built, by a Python function where no op makes it."""
    try:
        return node_of(dataset)
    except NoOpForIt:
        pass

    def run(*values: Any) -> list[Any]:
        return [leaves.boxed(dataset.with_inputs(values))]

    kinds = [(dtypes.variant, ())]
    return python_ops.node("PyFunc", run, captured_by(dataset), kinds, "Dataset", False).outputs[0]


def types_of(spec: Any) -> dict[str, Any]:
    """The attrs that tell what elements are."""
    flat = element.flatten(spec)
    return {"output_types": [s.dtype for s in flat], "output_shapes": [s.shape for s in flat]}


def body_of(traced: Any) -> tuple[Body, list[Any]]:
    """A function with an argument for each tensor of an element, and what it captured; and these captures.

    Elements are flat in TensorFlow's order, which is that of sorted keys.
    """
    if not isinstance(traced, Traced) or traced._debugging:
        raise NoOpForIt("a function that is no graph")
    inner = traced._compiled.graph
    made = isinstance(traced.spec, DatasetSpec)
    if not all(map(is_plain, traced._specs)) or not (made or is_plain(traced.spec)):
        raise NoOpForIt(f"a function of {traced._specs}")
    outputs = list(inner.outputs)
    if made:
        with inner.as_default():
            outputs = [node_of(traced._result)]
    captures = inner.inputs[len(inner.inputs) - inner.num_captures :]
    with context.init_scope():
        graph = FuncGraph(inner.name)
    with graph.as_default():
        given: list[Any] = []
        for spec in traced._specs:
            inputs = [graph.add_input(s.dtype, leaves.dims(s.shape), "args") for s in element.flatten(spec)]
            given += leaves.to_tensors(spec, element.unflatten(spec, iter(inputs)))
        for x in captures:
            own = graph.add_input(x.dtype, x.shape_tuple, x.op.name)
            copy_handle(x, own)
            given.append(own)
        found = inline(inner, outputs, given)
        if not made:
            found = element.flatten(leaves.from_tensors(traced.spec, found))
    graph.outputs = list(found)
    outer = {id(own): x for x, own in inner.captures}
    return Body(graph, graph.outputs), [outer[id(x)] for x in captures]


def _by_function(
    kind: str, dataset: Any, inputs: list[Any], traced: Any, rest: Any = (), key: str = "f", **attrs: Any
) -> Any:
    body, captured = body_of(traced)
    known = {key: body, "Targuments": [x.dtype for x in captured], **types_of(dataset.element_spec), **attrs}
    return add(kind, [*inputs, *captured, *rest], known).outputs[0]


def _int(value: Any, default: int = 0) -> Any:
    return convert_to_tensor(default if value is None else value, dtypes.int64)


def _calls(value: Any) -> Any:
    return cast(value, dtypes.int64)


def _simple(kind: str, dataset: Any, *inputs: Any, **attrs: Any) -> Any:
    return add(kind, inputs, {**types_of(dataset.element_spec), **attrs}).outputs[0]


# Sources.


@_writes("range")
def _range(made: Any, args: Any = (), kwargs: Any = None) -> Any:
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    return _simple("RangeDataset", made, *map(_calls, (start, stop, step)))


def _components(tensors: Any) -> list[Any]:
    return [convert_to_tensor(x) for x in element.flatten(element.to_element(tensors))]


@_writes("from_tensors")
def _from_tensors(made: Any, tensors: Any, name: Any = None) -> Any:
    flat = _components(tensors)
    attrs = {"Toutput_types": [x.dtype for x in flat], "output_shapes": types_of(made.element_spec)["output_shapes"]}
    return add("TensorDataset", flat, attrs).outputs[0]


@_writes("from_tensor_slices")
def _from_tensor_slices(made: Any, tensors: Any, name: Any = None) -> Any:
    flat = _components(tensors)
    attrs = {"Toutput_types": [x.dtype for x in flat], "output_shapes": types_of(made.element_spec)["output_shapes"]}
    return add("TensorSliceDataset", flat, attrs).outputs[0]


@_writes("text_lines", "tf_records")
def _files(
    made: Any, filenames: Any, compression_type: Any, num_parallel_reads: Any, buffer_size: Any = None
) -> Any:
    if hasattr(filenames, "from_recipe") or num_parallel_reads is not None:
        raise NoOpForIt("files that are read side by side")
    kind = "TextLineDataset" if made._made_of[0] == "text_lines" else "TFRecordDataset"
    compression = convert_to_tensor(records.text_of(compression_type))
    given = [convert_to_tensor(filenames, dtypes.string), compression, _int(buffer_size)]
    return add(kind, given, {}).outputs[0]


# By functions.


@_writes("map", "map_with_legacy_function")
def _map(
    made: Any, self: Any, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None, **_: Any
) -> Any:
    inputs = [node_of(self)]
    if num_parallel_calls is None:
        return _by_function("MapDataset", made, inputs, map_func, preserve_cardinality=True)
    order = "default" if deterministic is None else str(bool(deterministic)).lower()
    return _by_function(
        "ParallelMapDatasetV2", made, inputs, map_func, [_calls(num_parallel_calls)], preserve_cardinality=True,
        deterministic=order,
    )  # fmt: skip


@_writes("filter", "filter_with_legacy_function")
def _filter(made: Any, self: Any, predicate: Any, name: Any = None) -> Any:
    return _by_function("FilterDataset", made, [node_of(self)], predicate, key="predicate")


@_writes("take_while")
def _take_while(made: Any, self: Any, predicate: Any, name: Any = None) -> Any:
    return _by_function("TakeWhileDataset", made, [node_of(self)], predicate, key="predicate")


@_writes("flat_map")
def _flat_map(made: Any, self: Any, map_func: Any, name: Any = None) -> Any:
    return _by_function("FlatMapDataset", made, [node_of(self)], map_func)


@_writes("interleave")
def _interleave(
    made: Any, self: Any, map_func: Any, cycle_length: Any = None, block_length: Any = None,
    num_parallel_calls: Any = None, deterministic: Any = None, name: Any = None,
) -> Any:  # fmt: skip
    cycle, block = _int(cycle_length, -1), _int(block_length, 1)
    if num_parallel_calls is None:
        return _by_function("InterleaveDataset", made, [node_of(self)], map_func, [cycle, block])
    order = "default" if deterministic is None else str(bool(deterministic)).lower()
    rest = [cycle, block, _int(-1), _int(-1), _calls(num_parallel_calls)]
    return _by_function(
        "ParallelInterleaveDatasetV4", made, [node_of(self)], map_func, rest, deterministic=order
    )


@_writes("scan")
def _scan(made: Any, self: Any, initial_state: Any, scan_func: Any, name: Any = None) -> Any:
    state = _components(initial_state)
    if not is_plain(element.spec_of(initial_state)):
        raise NoOpForIt("a state of more than dense tensors")
    return _by_function(
        "ScanDataset", made, [node_of(self), *state], scan_func, Tstate=[x.dtype for x in state],
        preserve_cardinality=True,
    )  # fmt: skip


# Several elements at once.


@_writes("batch")
def _batch(
    made: Any, self: Any, batch_size: Any, drop_remainder: Any = False, num_parallel_calls: Any = None, **_: Any
) -> Any:
    size, drop = _calls(batch_size), convert_to_tensor(drop_remainder, dtypes.bool)
    if num_parallel_calls is None:
        return _simple("BatchDatasetV2", made, node_of(self), size, drop)
    return _simple("ParallelBatchDataset", made, node_of(self), size, _calls(num_parallel_calls), drop)


@_writes("unbatch")
def _unbatch(made: Any, self: Any, name: Any = None) -> Any:
    return _simple("UnbatchDataset", made, node_of(self))


@_writes("zip")
def _zip(made: Any, args: Any = (), datasets: Any = None, name: Any = None) -> Any:
    given = datasets if datasets is not None else args[0] if len(args) == 1 else args
    flat = element.flatten(given)
    return _simple("ZipDataset", made, *map(node_of, flat), N=len(flat))


@_writes("concatenate")
def _concatenate(made: Any, self: Any, dataset: Any, name: Any = None) -> Any:
    return _simple("ConcatenateDataset", made, node_of(self), node_of(dataset))


# Which elements, in which order.


@_writes("shuffle")
def _shuffle(
    made: Any, self: Any, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = None, name: Any = None
) -> Any:
    if isinstance(seed, selecting.GraphSeeds):
        seeds = (seed.first or 0, seed.second or 0)
    else:
        seeds = selecting.graph_and_op_seed(seed) if seed is not None else (0, 0)
    generator = add("DummySeedGenerator", (), {}).outputs[0]
    return _simple(
        "ShuffleDatasetV3", made, node_of(self), _calls(buffer_size), *map(_int, seeds), generator,
        reshuffle_each_iteration=reshuffle_each_iteration in (None, True),
    )  # fmt: skip


@_writes("repeat")
def _repeat(made: Any, self: Any, count: Any = None, name: Any = None) -> Any:
    return _simple("RepeatDataset", made, node_of(self), _calls(-1 if count is None else count))


@_writes("take")
def _take(made: Any, self: Any, count: Any, name: Any = None) -> Any:
    return _simple("TakeDataset", made, node_of(self), _calls(count))


@_writes("skip")
def _skip(made: Any, self: Any, count: Any, name: Any = None) -> Any:
    return _simple("SkipDataset", made, node_of(self), _calls(count))


@_writes("shard")
def _shard(made: Any, self: Any, num_shards: Any, index: Any, name: Any = None) -> Any:
    return _simple("ShardDataset", made, node_of(self), _calls(num_shards), _calls(index))


@_writes("prefetch")
def _prefetch(made: Any, self: Any, buffer_size: Any, name: Any = None) -> Any:
    return _simple("PrefetchDataset", made, node_of(self), _calls(-1 if buffer_size is None else buffer_size))


@_writes("cache")
def _cache(made: Any, self: Any, filename: Any = "", name: Any = None) -> Any:
    return _simple("CacheDataset", made, node_of(self), convert_to_tensor(filename, dtypes.string))


@_writes("with_options")
def _with_options(made: Any, self: Any, options: Any, name: Any = None) -> Any:
    return _simple("OptionsDataset", made, node_of(self), serialized_options=written_options(made._options))


@_writes("unique")
def _unique(made: Any, self: Any, name: Any = None) -> Any:
    return _simple("UniqueDataset", made, node_of(self))
