"""Ranges that training measured: the operations that round as training with few bits does say how to quantize a model.

`FakeQuantWithMinMaxVars` and the like become FAKE_QUANT when they are converted, which rounds floats to any number of
bits; around constants they are computed, and the constants are multiples of their steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.graph.operation import Operation
from tapeflow.graph.passes.folding import evaluate
from tapeflow.lite.emitter import Emitter, Known, emits
from tapeflow.lite.importing import load
from tapeflow.lite.integers import MOVES
from tapeflow.lite.interface import op_name, tensor_name, unpacked
from tapeflow.lite.lowering import ConverterError
from tapeflow.lite.mlir_text import number
from tapeflow.lite.values import Value
from tapeflow.ops.math.arithmetic import AddV2, Maximum, Minimum, Mul, Sub
from tapeflow.ops.math.division import RealDiv
from tapeflow.ops.math.rounding import Floor
from tapeflow.ops.quantize.fake_quant import (
    FakeQuantWithMinMaxArgs,
    FakeQuantWithMinMaxVars,
    FakeQuantWithMinMaxVarsPerChannel,
    nudged,
)

Ranges = dict[str, dict[str, np.ndarray]]  # by the names of tensors: the ends, "min" and "max"

# The axis of the channels of the weights, the second input.
_CHANNELS = {"CONV_2D": 0, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 0, "DEPTHWISE_CONV_2D": 3}
# What they compute are all elements of their first input; some of them, or numbers between them.
_MOVING = MOVES | {"RESHAPE", "TRANSPOSE"}
_PASSING = _MOVING | {
    "MAX_POOL_2D", "SLICE", "STRIDED_SLICE", "GATHER", "PAD", "MEAN", "AVERAGE_POOL_2D", "REDUCE_MAX", "REDUCE_MIN",
    "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR",
}  # fmt: skip
_GREATEST = 127  # of the integers of weights, which are symmetric
# How far from an integer a weight may be, in steps: float32 keeps no more of a sum of a few hundred steps.
_INEXACT = 1e-3


@emits(FakeQuantWithMinMaxArgs, FakeQuantWithMinMaxVars, FakeQuantWithMinMaxVarsPerChannel)
def _rounding(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    emitter.module.trained = True
    bits, narrow = op.attrs["num_bits"], op.attrs["narrow_range"]
    limits = [each.constant_value() for each in inputs[1:]] or [op.attrs["min"], op.attrs["max"]]
    if any(each is None for each in limits):
        return emitter.plain(op, inputs)
    low, high = limits
    bottom, top, step = nudged(np, low, high, bits, narrow)
    if not np.all(np.isfinite(step) & (step > 0)):
        return emitter.plain(op, inputs)
    x = inputs[0]
    if x.tensor is not None:
        found = evaluate(op.row, op.attrs, [], [each.tensor for each in inputs])
        if found is not None:
            count = 2**bits - 1 - narrow
            widths = (np.float64(high) - np.float64(low)) / count
            emitter.module.steps.update(widths.ravel().tolist())
            return [Value.of(found[0])]
    if np.ndim(step):
        return [_by_channel(emitter, op, x, bottom, top, step)]
    if narrow:  # the runtime's FAKE_QUANT always has the lowest level, but does not reach it after this
        x = _float(emitter, op, Maximum, x, bottom)
        bottom = bottom - step
    attrs = {"min": f"{number(bottom)} : f32", "max": f"{number(top)} : f32", "num_bits": f"{bits} : i32"}
    attrs["narrow_range"] = "false"
    return emitter.instruction("tfl.fake_quant", [x], attrs, [Value(x.dtype, x.shape_tuple)], op)


def _by_channel(emitter: Emitter, op: Operation, x: Value, bottom: Any, top: Any, step: Any) -> Value:
    """The rounding by operations on floats: FAKE_QUANT has one range."""
    y = _float(emitter, op, Minimum, _float(emitter, op, Maximum, x, bottom), top)
    y = _float(emitter, op, RealDiv, _float(emitter, op, Sub, y, bottom), step)
    y = emitter.op(Floor, [_float(emitter, op, AddV2, y, 0.5)], x.dtype, x.shape_tuple, op)
    return _float(emitter, op, AddV2, _float(emitter, op, Mul, y, step), bottom)


def _float(emitter: Emitter, op: Operation, row: Any, x: Value, other: Any) -> Value:
    return emitter.op(row, [x, Value.of_array(other, dtypes.float32)], x.dtype, x.shape_tuple, op)


def take_ranges(model: Any, steps: Iterable[float], most_bits: int, kept: set[str]) -> tuple[set[str], Ranges]:
    """Takes FAKE_QUANT out of a float `ModelT`.

    Args:
      steps: of the roundings of constants.
      most_bits: of the integers that the model is to compute with.
      kept: the names of tensors whose rounding stays.

    Returns:
      The names of the tensors that were rounded, and the ranges of these and of weights that are multiples of steps.

    Raises:
      ConverterError: training had more bits.
    """
    ranges: Ranges = {}
    for graph in model.subgraphs:
        for operator in [each for each in graph.operators or () if op_name(model, each) == "FAKE_QUANT"]:
            _take(model, graph, operator, ranges, most_bits, kept)
    taken = set(ranges)
    for graph in model.subgraphs:
        for operator in graph.operators or ():
            _weights(model, graph, operator, sorted(steps, reverse=True), ranges)
        _spread(model, graph, ranges)
    return taken, ranges


def _take(model: Any, graph: Any, operator: Any, ranges: Ranges, most_bits: int, kept: set[str]) -> None:
    (rounded,), options = operator.outputs, operator.builtinOptions
    source, dropped = _unlimited(model, graph, operator)
    both = {tensor_name(graph.tensors[i]) for i in (source, rounded)}  # taking it may swap their names
    if both & kept or (source in graph.inputs and rounded in graph.outputs):
        return
    if options.numBits > most_bits:
        raise ConverterError(
            f"Training rounded '{tensor_name(graph.tensors[source])}' to {options.numBits} bits, which integers of "
            f"{most_bits} bits do not keep: convert without `optimizations`, or for activations of int16"
        )
    _replace(model, graph, rounded, source)
    graph.operators = [each for each in graph.operators if not any(each is other for other in dropped)]
    # The same tensor may be rounded twice, such as the input of two layers: to the wider of both ranges.
    low, high, name = np.float64(options.min), np.float64(options.max), tensor_name(graph.tensors[source])
    before = ranges.get(name, ends(low, high))
    ranges[name] = {"min": np.minimum(before["min"], low), "max": np.maximum(before["max"], high)}


def _unlimited(model: Any, graph: Any, operator: Any) -> tuple[int, list[Any]]:
    """What a FAKE_QUANT rounds, and the operators of the rounding: MAXIMUM keeps it from the lowest level."""
    (source,), options = operator.inputs, operator.builtinOptions
    before = next((each for each in graph.operators if source in each.outputs), None)
    used = sum(source in each.inputs for each in graph.operators) + (source in graph.outputs)
    if before is None or op_name(model, before) != "MAXIMUM" or used > 1:
        return source, [operator]
    x, limit = before.inputs
    data = model.buffers[graph.tensors[limit].buffer].data
    second = options.min + (options.max - options.min) / (2**options.numBits - 1)
    if data is None or len(data) != 4 or not np.isclose(np.frombuffer(bytes(data), "<f4")[0], second, rtol=1e-5):
        return source, [operator]
    return x, [before, operator]


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


def without_integers(model: bytes, names: set[str]) -> set[str]:
    """Which of these tensors of a quantized model are floats that nothing makes integers of, or makes of integers."""
    opened = unpacked(model)
    floats, touched = set(), set()
    kind = load("ai_edge_litert.schema_py_generated").TensorType.FLOAT32
    for graph in opened.subgraphs:
        floats |= {tensor_name(t) for t in graph.tensors if t.type == kind}
        for each in graph.operators or ():
            if op_name(opened, each) in ("QUANTIZE", "DEQUANTIZE"):
                touched |= {tensor_name(graph.tensors[i]) for i in (*each.inputs, *each.outputs)}
    return names & floats - touched


def check_ends(model: bytes, ranges: Ranges, given: bool, returned: bool) -> None:
    """Raises ValueError if the range of a float input (if `given`) or output (if `returned`) is not known."""
    kind = load("ai_edge_litert.schema_py_generated").TensorType.FLOAT32
    for graph in unpacked(model).subgraphs:
        for i in [*graph.inputs] * given + [*graph.outputs] * returned:
            name = tensor_name(graph.tensors[i])
            if graph.tensors[i].type == kind and name not in ranges:
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
