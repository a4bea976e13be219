"""`quantize_nodes`: operations on floats become such on integers of 8 bits, between conversions."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from tapeflow import protos
from tapeflow.core.dtypes import DType, float32, int32, qint32, quint8
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.math.reduction import Max, Min
from tapeflow.ops.quantize.arithmetic import RequantizationRange, Requantize
from tapeflow.ops.quantize.rows import Dequantize, QuantizeV2
from tapeflow.ops.table import REGISTRY
from tapeflow.tools.graph_transforms.registry import Call, invalid, transform
from tapeflow.tools.graph_transforms.stripping import merge_duplicate_nodes
from tapeflow.tools.nodes import Nodes, constant, data_inputs, made, parts_of


class _Counterpart(NamedTuple):
    """The op on integers for an op on floats: its attrs, those it has of the other, and how many inputs are floats."""

    op: str
    types: dict[str, DType]
    copied: tuple[str, ...]
    floats: int
    wide: bool  # whether the result has 32 bits


def _counterpart(row: Any) -> _Counterpart:
    """What its signature says of a row on integers."""
    inputs, outputs = row.schema.inputs, row.schema.outputs
    types = {name: quint8 for name, allowed in row.types.items() if quint8 in allowed}
    floats = sum(argument.type in types for argument in inputs)
    copied = tuple(name for name in (*row.types, *row.attrs) if name not in types)
    result = outputs[0].type
    wide = result not in types and row.defaults.get(result) is not quint8
    return _Counterpart(row.name, {**types, result: qint32} if wide else types, copied, floats, wide)


@functools.cache
def _counterparts() -> dict[str, _Counterpart]:
    """By the ops on floats."""
    load_all_rows()
    return {op: _counterpart(row) for row in REGISTRY.values() for op in row.quantizes}


_MODE: dict[str, Any] = {"T": quint8, "mode": "MIN_FIRST"}


@transform
def quantize_nodes(graph_def: protos.GraphDef, call: Call) -> Any:
    """Compute in integers of 8 bits what has an op for them; ranges are measured where nothing says them.

    `input_min` and `input_max` say the range of the placeholders, which take integers then; `fallback_min` and
    `fallback_max` the range of results of 32 bits. Dense layouts with the channels last, of float32, are meant.

    Raises InvalidArgumentError for one end of a range without the other.
    """
    nodes = Nodes(graph_def, call.ends)
    given, fallback = (_range(call, *names) for names in (("input_min", "input_max"), ("fallback_min", "fallback_max")))
    if given is not None:
        _quantize_placeholders(nodes, given)
    for node in nodes:
        counterpart = _counterparts().get(node.op)
        if counterpart is None or node.attr["T"].type != float32.as_datatype_enum:
            continue
        if node.attr["data_format"].s not in (b"", b"NHWC") or set(node.attr["dilations"].list.i) - {1}:
            continue
        _quantize(nodes, node, counterpart, fallback)
    _join(nodes)
    return merge_duplicate_nodes(nodes.graph_def(), call)


def _range(call: Call, low: str, high: str) -> tuple[float, float] | None:
    if low not in call.parameters and high not in call.parameters:
        return None
    if low not in call.parameters or high not in call.parameters:
        raise invalid(f"You must pass both {low} and {high} into quantize_nodes")
    return call.number(low, 0.0), call.number(high, 0.0)


def _scalars(nodes: Nodes, prefix: str, values: tuple[float, float]) -> list[str]:
    names = [f"{prefix}/min", f"{prefix}/max"]
    nodes.put(*(constant(name, np.float32(value)) for name, value in zip(names, values, strict=True)))
    return names


def _quantize_placeholders(nodes: Nodes, limits: tuple[float, float]) -> None:
    """Let placeholders of floats take integers, and whoever uses them the floats that these stand for."""
    floats = {}
    for node in nodes:
        if node.op == "Placeholder" and node.attr["dtype"].type == float32.as_datatype_enum:
            floats[node.name] = f"{node.name}_eightbit/dequantize"
            node.attr["dtype"].type = quint8.as_datatype_enum
    nodes.redirect(lambda name, output: floats[name] if name in floats and output == 0 else None)
    for name, made_float in floats.items():
        ends = _scalars(nodes, f"{name}_eightbit", limits)
        nodes.put(made(Dequantize.name, made_float, [name, *ends], **_MODE))


def _quantize(
    nodes: Nodes, node: protos.NodeDef, counterpart: _Counterpart, fallback: tuple[float, float] | None
) -> None:
    """Put the counterpart of an operation between conversions; the last one has the operation's name."""
    prefix, values = f"{node.name}_eightbit", data_inputs(node)
    waits = list(node.input[len(values) :])
    inputs, ends = [], []
    for i, text in enumerate(values[: counterpart.floats]):
        name = f"{prefix}/input_{i}"
        nodes.put(
            constant(f"{name}/shape", np.array([-1], np.int32)),
            made(Reshape.name, f"{name}/flat", [text, f"{name}/shape"], T=float32, Tshape=int32),
            constant(f"{name}/axes", np.array([0], np.int32)),
            made(Min.name, f"{name}/min", [f"{name}/flat", f"{name}/axes"], T=float32, Tidx=int32, keep_dims=False),
            made(Max.name, f"{name}/max", [f"{name}/flat", f"{name}/axes"], T=float32, Tidx=int32, keep_dims=False),
            made(QuantizeV2.name, f"{name}/quantize", [text, f"{name}/min", f"{name}/max"], **_MODE),
        )
        inputs.append(f"{name}/quantize")
        ends += [f"{name}/quantize:1", f"{name}/quantize:2"]
    inputs += values[counterpart.floats :]
    main = made(counterpart.op, f"{prefix}/quantized", [*inputs, *ends, *waits], node, counterpart.copied)
    for key, kind in counterpart.types.items():
        main.attr[key].type = kind.as_datatype_enum
    nodes.put(main)
    result = [main.name, f"{main.name}:1", f"{main.name}:2"]
    if counterpart.wide:
        result = _narrowed(nodes, prefix, result, fallback)
    nodes.put(made(Dequantize.name, node.name, result, **_MODE))


def _narrowed(nodes: Nodes, prefix: str, wide: list[str], fallback: tuple[float, float] | None) -> list[str]:
    """A result of 32 bits as one of 8, in the range that it has, or in that of the call."""
    if fallback is not None:
        ends = _scalars(nodes, f"{prefix}/requant_range", fallback)
    else:
        ends = [f"{prefix}/requant_range", f"{prefix}/requant_range:1"]
        nodes.put(made(RequantizationRange.name, ends[0], wide, Tinput=qint32))
    name = f"{prefix}/requantize"
    nodes.put(made(Requantize.name, name, [*wide, *ends], Tinput=qint32, out_type=quint8))
    return [name, f"{name}:1", f"{name}:2"]


def _join(nodes: Nodes) -> None:
    """Let integers that are made of floats that are made of integers be those integers."""
    same: dict[str, list[str]] = {}
    for node in nodes:
        source = nodes.get(node.input[0]) if node.op == QuantizeV2.name else None
        if source is not None and source.op == Dequantize.name and node.name.endswith("/quantize"):
            same[node.name] = list(source.input[:3])
    left = [text for name in same for text in nodes.get(name).input]
    nodes.remove(*same)
    while any(parts_of(text)[1] in same for node in nodes for text in node.input):
        nodes.redirect(lambda name, output: same[name][max(output, 0)] if name in same else None)
    nodes.prune(left)
