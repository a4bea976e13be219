"""Operations that only move or measure numbers, on integers: the quantizer leaves them on floats.

A DEQUANTIZE before such an operation goes after it, and what is dequantized only to be quantized again stays integer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.lite.importing import load
from tapeflow.lite.interface import op_name, tensor_name

# What they return are elements of their first input.
MOVES = frozenset(
    ["EXPAND_DIMS", "SQUEEZE", "TILE", "REVERSE_V2", "DEPTH_TO_SPACE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"]
)


def keep_integers(model: Any) -> None:
    """Changes a `ModelT`."""
    for graph in model.subgraphs:
        _Graph(model, graph).run()


class _Graph:
    """A subgraph while it is changed."""

    def __init__(self, model: Any, graph: Any):
        self._model = model
        self._graph = graph
        self._schema = load("ai_edge_litert.schema_py_generated")

    def run(self) -> None:
        place = 0
        while place < len(self._graph.operators or ()):
            operator = self._graph.operators[place]
            name = op_name(self._model, operator)
            source = self._source(operator, "DEQUANTIZE") if operator.inputs else None
            if name == "SHAPE" and source is not None:
                operator.inputs[0] = source.inputs[0]
            elif name in MOVES and source is not None:
                self._move(place, operator, source)
            elif name == "QUANTIZE":
                self._quantize(operator, source)
            place += 1
        self._drop_unused()

    def _maker(self, tensor: int) -> Any:
        return next((each for each in self._graph.operators if tensor in each.outputs), None)

    def _source(self, operator: Any, kind: str) -> Any:
        """What computes the first input of an operator, if it is of this op."""
        made = self._maker(operator.inputs[0])
        return made if made is not None and op_name(self._model, made) == kind else None

    def _move(self, place: int, operator: Any, source: Any) -> None:
        inner, outer = self._graph.tensors[source.inputs[0]], operator.outputs[0]
        known = self._graph.tensors[outer]
        tensor = self._schema.TensorT()
        tensor.shape, tensor.shapeSignature, tensor.hasRank = known.shape, known.shapeSignature, known.hasRank
        tensor.name = tensor_name(known) + "_quantized"
        tensor.type, tensor.quantization, tensor.buffer = inner.type, inner.quantization, 0
        self._graph.tensors.append(tensor)
        operator.inputs[0], operator.outputs[0] = source.inputs[0], len(self._graph.tensors) - 1
        again = self._schema.OperatorT()
        again.opcodeIndex = source.opcodeIndex
        again.builtinOptionsType, again.builtinOptions = source.builtinOptionsType, source.builtinOptions
        again.inputs, again.outputs = [operator.outputs[0]], [outer]
        self._graph.operators.insert(place + 1, again)

    def _quantize(self, operator: Any, source: Any) -> None:
        """Integers are taken as they are; what fills a tensor is quantized in its place."""
        fill = self._source(operator, "FILL")
        if source is not None:
            operator.inputs[0] = source.inputs[0]
        elif fill is not None:
            value, target = self._graph.tensors[fill.inputs[1]], self._graph.tensors[operator.outputs[0]]
            data = self._model.buffers[value.buffer].data
            if data is None or not len(data):
                return
            number = np.frombuffer(bytes(data), np.float32)[0]
            operator.inputs = [fill.inputs[0], self._constant(number, target)]
            operator.opcodeIndex = fill.opcodeIndex
            operator.builtinOptionsType, operator.builtinOptions = fill.builtinOptionsType, fill.builtinOptions

    def _constant(self, number: float, like: Any) -> int:
        """The tensor of a scalar that is quantized as another tensor is."""
        kinds = self._schema.TensorType
        dtype: Any = np.int8 if like.type == kinds.INT8 else np.int16
        limits = np.iinfo(dtype)
        stored = np.round(number / like.quantization.scale[0]) + like.quantization.zeroPoint[0]
        buffer = self._schema.BufferT()
        buffer.data = np.frombuffer(dtype(np.clip(stored, limits.min, limits.max)).tobytes(), np.uint8)
        self._model.buffers.append(buffer)
        tensor = self._schema.TensorT()
        tensor.shape, tensor.hasRank, tensor.type = [], True, like.type
        tensor.buffer, tensor.quantization = len(self._model.buffers) - 1, like.quantization
        tensor.name = f"constant_{len(self._graph.tensors)}"
        self._graph.tensors.append(tensor)
        return len(self._graph.tensors) - 1

    def _drop_unused(self) -> None:
        while True:
            used = {i for each in self._graph.operators or () for i in each.inputs} | set(self._graph.outputs)
            kept = [
                each
                for each in self._graph.operators or ()
                if op_name(self._model, each) not in ("DEQUANTIZE", "FILL") or used & set(each.outputs)
            ]
            if len(kept) == len(self._graph.operators or ()):
                return
            self._graph.operators = kept
