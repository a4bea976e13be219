"""Transforms of the constants: values in steps, which compress well, and integers of 8 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core.dtypes import float32, quint8
from tapeflow.ops.quantize.rows import Dequantize
from tapeflow.tools.graph_transforms.registry import Call, transform
from tapeflow.tools.nodes import Nodes, constant, made, value_of


def _weights(nodes: Nodes, least: int) -> Iterator[tuple[Any, np.ndarray]]:
    """The constants of floats that have so many elements, with their values."""
    for node in nodes:
        if node.op == "Const" and node.attr["dtype"].type == protos.DataType.DT_FLOAT:
            value = value_of(node)
            if value.size >= least:
                yield node, value


@transform
def round_weights(graph_def: protos.GraphDef, call: Call) -> Any:
    """Let constants of at least 16 floats have only `num_steps` (256) values."""
    nodes, steps = Nodes(graph_def), call.whole("num_steps", 256)
    for node, value in _weights(nodes, 16):
        low, high = _range(value)
        width = np.float32((high - low) / np.float32(steps))
        rounded = low + width * (np.floor((value - low) / width) + np.float32(0.5))
        nodes.put(constant(node.name, rounded.astype(np.float32)))
    return nodes.graph_def()


def _range(value: np.ndarray) -> tuple[np.float32, np.float32]:
    """The least and the greatest value; not the same."""
    low, high = value.min(), value.max()
    if low != high:
        return low, high
    if abs(low) < 1e-6:
        return low, low + np.float32(1)
    return (low, 2 * low) if low > 0 else (2 * low, low)


@transform
def quantize_weights(graph_def: protos.GraphDef, call: Call) -> Any:
    """Keep constants of at least `minimum_size` (1024) floats as integers of 8 bits, which nodes make floats of."""
    nodes = Nodes(graph_def)
    for node, value in _weights(nodes, call.whole("minimum_size", 1024)):
        low, high = np.float32(min(value.min(), 0)), np.float32(max(value.max(), 0))
        if low == high:
            high = low + np.float32(1)
        quantized, least, greatest = (f"{node.name}_quantized_{what}" for what in ("const", "min", "max"))
        nodes.put(
            levels_constant(quantized, value, low, high),
            constant(least, low, float32),
            constant(greatest, high, float32),
            made(Dequantize.name, node.name, [quantized, least, greatest], T=quint8, mode="MIN_FIRST"),
        )
    return nodes.graph_def()


def levels_constant(name: str, value: np.ndarray, low: np.float32, high: np.float32) -> Any:
    """Floats as a constant of 8 bits whose 255 steps are the range."""
    step = (float(high) - float(low)) / 255
    levels = np.round(value / step) - np.round(float(low) / step)
    node = protos.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = quint8.as_datatype_enum
    tensor = node.attr["value"].tensor
    tensor.dtype = quint8.as_datatype_enum
    for size in value.shape:
        tensor.tensor_shape.dim.add(size=size)
    tensor.tensor_shape.SetInParent()
    tensor.tensor_content = np.clip(levels, 0, 255).astype(np.uint8).tobytes()
    return node
