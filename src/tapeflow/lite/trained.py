"""Ranges that training measured: the operations that round as training with few bits does say how to quantize a model.

`FakeQuantWithMinMaxVars` and the like become pairs of QUANTIZE and DEQUANTIZE when they are converted; around constants
they are computed, and the constants are multiples of their steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.graph.operation import Operation
from tapeflow.graph.passes.folding import evaluate
from tapeflow.lite.emitter import Emitter, Known, emits
from tapeflow.lite.importing import load
from tapeflow.lite.integers import MOVES
from tapeflow.lite.interface import op_name, tensor_name, unpacked
from tapeflow.lite.values import Value
from tapeflow.ops.quantize.fake_quant import (
    FakeQuantWithMinMaxArgs,
    FakeQuantWithMinMaxVars,
    FakeQuantWithMinMaxVarsPerChannel,
)

Ranges = dict[str, dict[str, np.ndarray]]  # by the names of tensors: the ends, "min" and "max"

# The axis of the channels of the weights, the second input.
_CHANNELS = {"CONV_2D": 0, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 0, "DEPTHWISE_CONV_2D": 3}
# What they compute are all elements of their first input, or some of them.
_MOVING = MOVES | {"RESHAPE", "TRANSPOSE"}
_PASSING = _MOVING | {"MAX_POOL_2D", "SLICE", "STRIDED_SLICE", "GATHER", "PAD"}
_GREATEST = 127  # of the integers of weights, which are symmetric
# How far from an integer a weight may be, in steps: float32 keeps no more of a sum of a few hundred steps.
_INEXACT = 1e-3


@emits(FakeQuantWithMinMaxArgs, FakeQuantWithMinMaxVars, FakeQuantWithMinMaxVarsPerChannel)
def _rounding(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    emitter.module.trained = True
    if any(each.tensor is None for each in inputs):
        return emitter.plain(op, inputs)
    found = evaluate(op.row, op.attrs, [], [each.tensor for each in inputs])
    if found is None:  # an error, which is for the runtime to say
        return emitter.plain(op, inputs)
    limits = [each.constant_value() for each in inputs[1:]]
    low, high = limits or (op.attrs["min"], op.attrs["max"])
    count = 2 ** op.attrs["num_bits"] - 1 - op.attrs["narrow_range"]
    emitter.module.steps.update(((np.float64(high) - np.float64(low)) / count).ravel().tolist())
    return [Value.of(found[0])]


def take_ranges(model: Any, steps: Iterable[float]) -> Ranges:
    """Takes the pairs of QUANTIZE and DEQUANTIZE out of a float `ModelT`.

    Args:
      steps: of the roundings of constants.

    Returns:
      The ranges of the tensors between which there were pairs, and of weights that are multiples of steps.
    """
    ranges: Ranges = {}
    for graph in model.subgraphs:
        for operator in [each for each in graph.operators or () if op_name(model, each) == "QUANTIZE"]:
            _take_pair(model, graph, operator, ranges)
        for operator in graph.operators or ():
            _weights(model, graph, operator, sorted(steps, reverse=True), ranges)
        _spread(model, graph, ranges)
    return ranges


def _take_pair(model: Any, graph: Any, operator: Any, ranges: Ranges) -> None:
    (source,), (stored,) = operator.inputs, operator.outputs
    users = [each for each in graph.operators if stored in each.inputs]
    parameters = graph.tensors[stored].quantization
    if parameters.scale is None or len(parameters.scale) != 1 or stored in graph.outputs:
        return
    if any(op_name(model, each) != "DEQUANTIZE" for each in users):
        return
    kinds = load("ai_edge_litert.schema_py_generated").TensorType
    integers: dict[int, Any] = {kinds.UINT8: np.uint8, kinds.INT8: np.int8, kinds.INT16: np.int16}
    limits = np.iinfo(integers[graph.tensors[stored].type])
    scale, zero = np.float64(parameters.scale[0]), int(parameters.zeroPoint[0])
    for user in users:
        _replace(model, graph, user.outputs[0], source)
    dropped = {id(each) for each in (operator, *users)}
    graph.operators = [each for each in graph.operators if id(each) not in dropped]
    # The same tensor may be rounded twice, such as the input of two layers: to the wider of both ranges.
    low, high = (limits.min - zero) * scale, (limits.max - zero) * scale
    name = tensor_name(graph.tensors[source])
    before = ranges.get(name, ends(low, high))
    ranges[name] = {"min": np.minimum(before["min"], low), "max": np.maximum(before["max"], high)}


def ends(low: float, high: float) -> dict[str, np.ndarray]:
    """A range."""
    return {"min": np.array([low]), "max": np.array([high])}


def _replace(model: Any, graph: Any, old: int, new: int) -> None:
    """Lets those who read a tensor read another; an output of the graph keeps its name."""
    for each in graph.operators:
        each.inputs = [new if i == old else i for i in each.inputs]
    if old not in graph.outputs or new in graph.inputs:
        return
    graph.outputs = [new if i == old else i for i in graph.outputs]
    one, other = graph.tensors[old], graph.tensors[new]
    one.name, other.name = other.name, one.name
    for signature in model.signatureDefs or ():
        if model.subgraphs[signature.subgraphIndex] is graph:
            for entry in signature.outputs:
                entry.tensorIndex = new if entry.tensorIndex == old else entry.tensorIndex


def _spread(model: Any, graph: Any, ranges: Ranges) -> None:
    """Gives what operators only move the range of where it comes from, or goes to."""
    moving = [each for each in graph.operators or () if op_name(model, each) in _PASSING]
    before = -1
    while before != len(ranges):
        before = len(ranges)
        for each in moving:
            source, moved = (tensor_name(graph.tensors[i]) for i in (each.inputs[0], each.outputs[0]))
            if source in ranges:
                ranges.setdefault(moved, ranges[source])
            elif moved in ranges and op_name(model, each) in _MOVING:
                ranges[source] = ranges[moved]


def _weights(model: Any, graph: Any, operator: Any, steps: Sequence[float], ranges: Ranges) -> None:
    """Adds the range of a layer's weights: by channel the widest step of which all are multiples, if there is one."""
    axis = _CHANNELS.get(op_name(model, operator))
    if axis is None or not steps:
        return
    tensor = graph.tensors[operator.inputs[1]]
    data = model.buffers[tensor.buffer].data
    if tensor.type != load("ai_edge_litert.schema_py_generated").TensorType.FLOAT32 or data is None or not len(data):
        return
    values = np.frombuffer(bytes(data), np.float32).reshape(tensor.shape).astype(np.float64)
    others = tuple(i for i in range(values.ndim) if i != axis)
    greatest = np.abs(values).max(others, keepdims=True)
    limit, found = greatest, np.zeros(greatest.shape, bool)
    for step in steps:
        multiples = values / step
        fits = np.abs(multiples - np.round(multiples)).max(others, keepdims=True) < _INEXACT
        fits &= (greatest > 0.5 * step) & (greatest < (_GREATEST + 0.5) * step) & ~found
        limit, found = np.where(fits, step * _GREATEST, limit), found | fits
    ranges[tensor_name(tensor)] = {"min": -limit, "max": limit}


def _unknown(model: Any, ranges: Ranges) -> Iterator[tuple[Any, Any, list[str]]]:
    """The operators of a float `ModelT`, with their graphs, and the names of what they touch of unknown range."""
    kind = load("ai_edge_litert.schema_py_generated").TensorType.FLOAT32
    for graph in model.subgraphs:
        for operator in graph.operators or ():
            touched = [graph.tensors[i] for i in (*operator.inputs, *operator.outputs) if i >= 0]
            floats = [t for t in touched if t.type == kind and model.buffers[t.buffer].data is None]
            names = [name for t in floats if (name := tensor_name(t)) not in ranges]
            if names:
                yield graph, operator, names


def check_ends(model: bytes, ranges: Ranges, given: bool, returned: bool) -> None:
    """Raises ValueError if the range of a float input (if `given`) or output (if `returned`) is not known."""
    kind = load("ai_edge_litert.schema_py_generated").TensorType.FLOAT32
    for graph in unpacked(model).subgraphs:
        for number in [*graph.inputs] * given + [*graph.outputs] * returned:
            name = tensor_name(graph.tensors[number])
            if graph.tensors[number].type == kind and name not in ranges:
                raise ValueError(
                    f"The range of '{name}' is not known: neither does a FakeQuantWithMinMaxVars round it, nor is "
                    "there a representative dataset"
                )


def fill_ranges(model: Any, ranges: Ranges, default: tuple[float, float]) -> None:
    """Gives all of a `ModelT` whose range is not known this one."""
    ranges.update({name: ends(*default) for _, _, names in list(_unknown(model, ranges)) for name in names})


def without_range(model: Any, ranges: Ranges) -> list[str]:
    """Patterns of the names of operators of a float `ModelT` that read or compute numbers of unknown range."""
    return [
        "^" + re.escape("".join(f"{tensor_name(graph.tensors[i])};" for i in operator.outputs)) + "$"
        for graph, operator, _ in _unknown(model, ranges)
    ]
