"""Datasets as nodes of TensorFlow's ops in the graph being built, by the methods that made them.

What has no such op, or elements that are more than dense tensors, stays Python of this process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.data import element, leaves
from tapeflow.data.dataset_class import with_inputs
from tapeflow.data.element import DatasetSpec
from tapeflow.data.nodes.nodes import add
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import CAPTURED, Form, is_plain, known, replaced
from tapeflow.data.transform.tracing import Traced
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.func_graph import FuncGraph, copy_handle
from tapeflow.graph.interchange.inlining import inline
from tapeflow.graph.nodes import python_ops
from tapeflow.ops.math.casting import cast
from tapeflow.ops.node_rows import NodeRow
from tapeflow.ops.signature import Argument, func
from tapeflow.ops.state.resource_op import object_of


class NoOpForIt(Exception):
    """A dataset that TensorFlow's ops cannot make as it is here."""


def node_of(dataset: Any) -> Any:
    """The variant tensor of a dataset, in the graph being built. Raises NoOpForIt where no op makes it."""
    if parts_of(dataset).kind == "Variant" and parts_of(dataset).captured:
        return parts_of(dataset).captured[0]
    if not is_plain(dataset.element_spec):
        raise NoOpForIt(f"elements of {dataset.element_spec}")
    known_node = parts_of(dataset).node
    if known_node is not None:
        kind, attrs, values = known_node
        return add(kind, [_node_of_value(x) for x in values], attrs).outputs[0]
    if not parts_of(dataset).record:
        raise NoOpForIt(parts_of(dataset).kind)
    record, arguments = parts_of(dataset).record
    given = replaced(arguments, known)
    for form in record.forms:
        values = form.values(given)
        if values is not None:
            return _written(form, values, dataset.element_spec)
    raise NoOpForIt(record.name)


def _written(form: Form, values: dict[str, Any], spec: Any) -> Any:
    """The variant tensor of a node: its attrs follow from its inputs, its function and the spec of elements."""
    attrs = {key: values[key] for key in form.row.attrs if key in values}
    elements = types_of(spec)
    elements["Toutput_types"] = elements["output_types"]
    attrs |= {key: elements[key] for key in form.row.attrs if key in elements}
    inputs: list[Any] = []
    for argument in form.row.inputs:
        if argument.name == CAPTURED:
            assert form.function is not None
            body, found = body_of(values[form.function])
            attrs |= {key: body for key, kind in form.row.attrs.items() if kind == func}
        else:
            name = "dataset" if argument.name == "input_dataset" else argument.name
            value: Any = values.get(name)
            parts: list[Any] = value if argument.is_list else [value]
            found = [_input(form.row, argument, x) for x in parts]
        inputs += found
        if argument.length:
            attrs[argument.length] = len(found)
        elif argument.type in form.row.attrs:
            attrs[argument.type] = [x.dtype for x in found]
    return add(form.row.name, inputs, attrs).outputs[0]


def _input(row: NodeRow, argument: Argument, value: Any) -> Any:
    if argument.type == "variant":
        return node_of(value)
    if argument.type == "resource":
        return add("DummySeedGenerator", (), {}).outputs[0]
    kind = None if argument.type in row.attrs else dtypes.as_dtype(argument.type)
    if not isinstance(value, (_native.Tensor, np.ndarray, np.generic)):
        return convert_to_tensor(value, kind)
    return convert_to_tensor(value) if kind is None or kind == dtypes.string else cast(value, kind)




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
        return [leaves.boxed(with_inputs(dataset, values))]

    kinds = [(dtypes.variant, ())]
    return python_ops.node("PyFunc", run, parts_of(dataset).captured, kinds, "Dataset", False).outputs[0]


def types_of(spec: Any) -> dict[str, Any]:
    """The attrs that tell what elements are."""
    flat = element.flatten(spec)
    return {"output_types": [s.dtype for s in flat], "output_shapes": [s.shape for s in flat]}


def body_of(traced: Any) -> tuple[Body, list[Any]]:
    """A function with an argument for each tensor of an element, and what it captured; and these captures.

    Elements are flat in TensorFlow's order, which is that of sorted keys.
    """
    if not isinstance(traced, Traced) or traced.debugging:
        raise NoOpForIt("a function that is no graph")
    inner = traced.graph
    made = isinstance(traced.spec, DatasetSpec)
    if not all(map(is_plain, traced.specs)) or not (made or is_plain(traced.spec)):
        raise NoOpForIt(f"a function of {traced.specs}")
    outputs = list(inner.outputs)
    if made:
        with inner.as_default():
            outputs = [node_of(traced.result)]
    captures = inner.inputs[len(inner.inputs) - inner.num_captures :]
    with context.init_scope():
        graph = FuncGraph(inner.name)
    with graph.as_default():
        given: list[Any] = []
        for spec in traced.specs:
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
