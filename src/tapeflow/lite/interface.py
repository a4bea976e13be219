"""Models as objects of the schema, and the dtypes of the inputs and outputs of quantized ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.lite.importing import load

_IDENTIFIER = b"TFL3"


def unpacked(model: bytes) -> Any:
    """The `ModelT` of a model; its inputs and outputs, and those of its operators, are lists."""
    schema = load("ai_edge_litert.schema_py_generated")
    opened = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
    for graph in opened.subgraphs:
        graph.inputs, graph.outputs = list(graph.inputs), list(graph.outputs)
        for operator in graph.operators or ():
            operator.inputs, operator.outputs = list(operator.inputs), list(operator.outputs)
    return opened


def packed(model: Any) -> bytes:
    """The bytes of a `ModelT`."""
    builder = load("flatbuffers").Builder(1024)
    builder.Finish(model.Pack(builder), _IDENTIFIER)
    return bytes(builder.Output())


def op_name(model: Any, operator: Any) -> str:
    """The name of the op of an operator of a `ModelT`, such as "CONV_2D"."""
    codes = load("ai_edge_litert.schema_py_generated").BuiltinOperator
    entry = model.operatorCodes[operator.opcodeIndex]
    number = max(entry.builtinCode, entry.deprecatedBuiltinCode)
    if number == codes.CUSTOM:
        return str(entry.customCode, "utf-8") if isinstance(entry.customCode, bytes) else str(entry.customCode)
    return next(name for name, value in vars(codes).items() if value == number)


def tensor_name(tensor: Any) -> str:
    """The name of a `TensorT`."""
    return tensor.name.decode() if isinstance(tensor.name, bytes) else str(tensor.name)


def with_interface(model: Any, activations: DType, given: DType, returned: DType) -> None:
    """Gives inputs and outputs of a quantized `ModelT` other dtypes than that of the activations.

    Args:
      given, returned: uint8 or int16 in place of int8; float32 and `activations` itself change nothing.
    """
    for end, dtype in (("inputs", given), ("outputs", returned)):
        if dtype in (dtypes.float32, activations):
            continue
        for graph in _public(model):
            for place, number in enumerate(getattr(graph, end)):
                if graph.tensors[number].type == _kind(activations):
                    _requantize(model, graph, end, place, dtype)


def float_operators(model: Any) -> list[tuple[str, str]]:
    """The operators of a `ModelT` that compute with float32: the name of the op, and of its first output."""
    kind = _kind(dtypes.float32)
    found = []
    for graph in model.subgraphs:
        for operator in graph.operators or ():
            name = op_name(model, operator)
            touched = [*operator.inputs, *operator.outputs]
            if name in ("QUANTIZE", "DEQUANTIZE") or not any(i >= 0 and graph.tensors[i].type == kind for i in touched):
                continue
            found.append((name, tensor_name(graph.tensors[operator.outputs[0]])))
    return found


def _public(model: Any) -> Iterator[Any]:
    for number in sorted({each.subgraphIndex for each in model.signatureDefs or ()}):
        yield model.subgraphs[number]


def _requantize(model: Any, graph: Any, end: str, place: int, dtype: DType) -> None:
    """Puts a QUANTIZE between the model and its input or output, which gets the dtype."""
    schema = load("ai_edge_litert.schema_py_generated")
    inner = getattr(graph, end)[place]
    known = graph.tensors[inner]
    scale, zero = float(known.quantization.scale[0]), int(known.quantization.zeroPoint[0])
    quantization = schema.QuantizationParametersT()
    if dtype == dtypes.int16:  # symmetric: the larger end of the range
        limit = scale * max(127 - zero, zero + 128)
        quantization.scale, quantization.zeroPoint = np.array([limit / 32767], np.float32), np.array([0], np.int64)
    else:
        quantization.scale, quantization.zeroPoint = np.array([scale], np.float32), np.array([zero + 128], np.int64)
    tensor = schema.TensorT()
    tensor.shape, tensor.shapeSignature, tensor.hasRank = known.shape, known.shapeSignature, known.hasRank
    tensor.type, tensor.buffer, tensor.quantization = _kind(dtype), 0, quantization
    tensor.name = f"{tensor_name(known)}_{dtype.name}"
    graph.tensors.append(tensor)
    outer = len(graph.tensors) - 1
    getattr(graph, end)[place] = outer
    operator = schema.OperatorT()
    operator.opcodeIndex = _quantize_code(model, schema)
    operator.builtinOptionsType = schema.BuiltinOptions.QuantizeOptions
    operator.builtinOptions = schema.QuantizeOptionsT()
    operator.inputs, operator.outputs = ([outer], [inner]) if end == "inputs" else ([inner], [outer])
    graph.operators.insert(0 if end == "inputs" else len(graph.operators), operator)
    for signature in model.signatureDefs:
        if model.subgraphs[signature.subgraphIndex] is graph:
            for entry in getattr(signature, end):
                if entry.tensorIndex == inner:
                    entry.tensorIndex = outer


def _quantize_code(model: Any, schema: Any) -> int:
    number = schema.BuiltinOperator.QUANTIZE
    for i, entry in enumerate(model.operatorCodes):
        if entry.builtinCode == number:
            return i
    entry = schema.OperatorCodeT()
    entry.builtinCode = entry.deprecatedBuiltinCode = number
    entry.version = 2
    model.operatorCodes.append(entry)
    return len(model.operatorCodes) - 1


def _kind(dtype: DType) -> int:
    """The number of a dtype in the schema."""
    return int(getattr(load("ai_edge_litert.schema_py_generated").TensorType, dtype.name.upper()))
