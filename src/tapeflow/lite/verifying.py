"""Whether bytes are a model that the runtime may be given: it trusts much of what a model says of itself.

A FlatBuffer is read here with Python's own bounds checks; the runtime's verifier, which looks at the rest of its
structure, comes after it.
"""

from __future__ import annotations

import itertools
import math
import struct
from typing import Any

import numpy as np

from tapeflow.lite.importing import load

_IDENTIFIER = b"TFL3"
_MOST_DIMENSIONS = 8
_MOST_ELEMENTS = 1 << 31
# The sizes of elements in bits, by the name of the type in the schema; strings have none.
_BITS = {
    "FLOAT32": 32, "FLOAT16": 16, "INT32": 32, "UINT8": 8, "INT64": 64, "BOOL": 8, "INT16": 16, "COMPLEX64": 64,
    "INT8": 8, "FLOAT64": 64, "COMPLEX128": 128, "UINT64": 64, "UINT32": 32, "UINT16": 16, "INT4": 4, "BFLOAT16": 16,
    "INT2": 2, "UINT4": 4, "FLOAT8_E4M3FN": 8, "FLOAT8_E5M2": 8,
}  # fmt: skip
# Options of operators that divide by them, or step through memory with them.
_POSITIVE = ("StrideW", "StrideH", "StrideD", "DilationWFactor", "DilationHFactor", "DilationDFactor", "FilterWidth",
             "FilterHeight", "DepthMultiplier", "BlockSize")  # fmt: skip
# The options of operators that run other subgraphs, and their fields that say which.
_CALLS = {
    "IfOptions": ("ThenSubgraphIndex", "ElseSubgraphIndex"),
    "WhileOptions": ("CondSubgraphIndex", "BodySubgraphIndex"),
    "CallOnceOptions": ("InitSubgraphIndex",),
    "CallOptions": ("Subgraph",),
}
# By op: from which input on a number of -1 says that an input was left out.
_OPTIONAL_FROM = {
    "FULLY_CONNECTED": 2, "CONV_2D": 2, "DEPTHWISE_CONV_2D": 2, "TRANSPOSE_CONV": 3, "CONV_3D": 2,
    "CONV_3D_TRANSPOSE": 3, "LSTM": 1, "UNIDIRECTIONAL_SEQUENCE_LSTM": 1, "BIDIRECTIONAL_SEQUENCE_LSTM": 1, "SVDF": 3,
    "BIDIRECTIONAL_SEQUENCE_RNN": 8, "CUSTOM": 0,
}  # fmt: skip


class _InvalidError(Exception):
    pass


def verify(model: bytes) -> None:
    """Raises ValueError if `model` is no well-formed model of TensorFlow Lite."""
    try:
        _Verifier(model).run()
    except _InvalidError as error:
        raise ValueError(f"The model is not a valid Flatbuffer buffer: {error}") from None
    except (struct.error, IndexError, TypeError, AttributeError, ValueError, OverflowError, AssertionError) as error:
        raise ValueError(f"The model is not a valid Flatbuffer buffer: {error}") from None


def _require(holds: Any, message: str) -> None:
    if not holds:
        raise _InvalidError(message)


class _Verifier:
    """A check of one model."""

    def __init__(self, data: bytes):
        self._schema = load("ai_edge_litert.schema_py_generated")
        self._data = data
        self._calls: dict[int, set[int]] = {}

    def run(self) -> None:
        _require(len(self._data) >= 8 and self._data[4:8] == _IDENTIFIER, f"it does not begin with {_IDENTIFIER!r}")
        model = self._schema.Model.GetRootAs(self._data, 0)
        self._model = model
        for count in (model.OperatorCodesLength, model.SubgraphsLength, model.BuffersLength, model.SignatureDefsLength):
            self._listed(count())
        _require(model.SubgraphsLength(), "it has no subgraph")
        self._sizes = [self._buffer(model.Buffers(i)) for i in range(model.BuffersLength())]
        for number in range(model.SubgraphsLength()):
            self._subgraph(number, model.Subgraphs(number))
        self._no_recursion()
        for i in range(model.SignatureDefsLength()):
            self._signature(model.SignatureDefs(i))

    def _listed(self, count: int) -> int:
        """The length of a list, which cannot be longer than the model."""
        _require(0 <= count <= len(self._data), f"a list has {count} elements")
        return count

    def _numbers(self, count: int, get: Any) -> list[int]:
        return [int(get(i)) for i in range(self._listed(count))]

    def _buffer(self, buffer: Any) -> int:
        size = self._listed(buffer.DataLength())
        if size:
            table = buffer._tab
            at = table.Vector(table.Offset(4))
            _require(at + size <= len(self._data), "a buffer reaches beyond the end")
        offset, outside = buffer.Offset(), buffer.Size()
        _require(not outside or 0 <= offset <= offset + outside <= len(self._data), "a buffer lies beyond the end")
        return int(outside or size)

    # Subgraphs.

    def _subgraph(self, number: int, graph: Any) -> None:
        count = self._listed(graph.TensorsLength())
        tensors = [graph.Tensors(i) for i in range(count)]
        constant = [self._tensor(i, tensor) for i, tensor in enumerate(tensors)]
        ends = {
            "inputs": self._numbers(graph.InputsLength(), graph.Inputs),
            "outputs": self._numbers(graph.OutputsLength(), graph.Outputs),
        }
        for end, listed in ends.items():
            _require(all(0 <= i < count for i in listed), f"subgraph {number} has {end} {listed} of {count} tensors")
        ready = set(ends["inputs"]) | {i for i, known in enumerate(constant) if known or tensors[i].IsVariable()}
        self._calls[number] = set()
        for place in range(self._listed(graph.OperatorsLength())):
            what = f"operator {place} of subgraph {number}"
            self._operator(what, number, graph.Operators(place), count, ready, constant)
        missing = [i for i in ends["outputs"] if i not in ready]
        _require(not missing, f"nothing computes the outputs {missing} of subgraph {number}")

    def _tensor(self, number: int, tensor: Any) -> bool:
        """Checks a tensor; whether it is a constant."""
        what = f"tensor {number}"
        rank = tensor.ShapeLength()
        _require(rank <= _MOST_DIMENSIONS, f"{what} has {rank} dimensions")
        shape = self._numbers(rank, tensor.Shape)
        _require(all(d >= 0 for d in shape), f"{what} has the shape {shape}")
        _require(math.prod(shape) < _MOST_ELEMENTS, f"{what} has the shape {shape}")
        signature = self._numbers(tensor.ShapeSignatureLength(), tensor.ShapeSignature)
        _require(not signature or len(signature) == rank, f"{what} has the shapes {shape} and {signature}")
        _require(all(d >= -1 for d in signature), f"{what} has the shape {signature}")
        kind = next((name for name, value in vars(self._schema.TensorType).items() if value == tensor.Type()), None)
        _require(kind is not None, f"{what} has the type {tensor.Type()}")
        _require(0 <= tensor.Buffer() < len(self._sizes), f"{what} has the buffer {tensor.Buffer()}")
        size = self._sizes[tensor.Buffer()]
        if size and kind in _BITS and tensor.Sparsity() is None:
            wanted = (math.prod(shape) * _BITS[kind] + 7) // 8
            _require(size == wanted, f"{what} has {size} bytes, its shape and type need {wanted}")
        if size and kind == "STRING":
            self._strings(what, self._model.Buffers(tensor.Buffer()), math.prod(shape))
        self._quantization(what, tensor.Quantization(), shape)
        return bool(size) or (rank > 0 and 0 in shape and -1 not in signature)

    def _strings(self, what: str, buffer: Any, count: int) -> None:
        """Checks a buffer of strings: their number, where each begins and the last ends, then their bytes."""
        data = buffer.DataAsNumpy().tobytes() if buffer.DataLength() else self._data[buffer.Offset() :][: buffer.Size()]
        stored = int.from_bytes(data[:4], "little")
        _require(stored == count, f"{what} has {stored} strings, its shape needs {count}")
        places = struct.unpack_from(f"<{count + 1}i", data, 4)
        steps = all(a <= b for a, b in itertools.pairwise(places))
        fine = steps and places[0] == 4 * (count + 2) and places[-1] == len(data)
        _require(fine, f"{what} has strings that lie beyond its end")

    def _quantization(self, what: str, known: Any, shape: list[int]) -> None:
        if known is None:
            return
        scales = known.ScaleLength()
        self._listed(scales)
        if scales:
            values = np.array([known.Scale(i) for i in range(scales)])
            fine = np.isfinite(values).all() and (values >= 0).all()
            _require(fine, f"{what} has a scale that is no positive number")
        zeros = self._listed(known.ZeroPointLength())
        _require(zeros in (0, 1, scales), f"{what} has {zeros} zero points and {scales} scales")
        for i in range(zeros):
            _require(-(1 << 31) <= known.ZeroPoint(i) < 1 << 31, f"{what} has the zero point {known.ZeroPoint(i)}")
        if scales > 1:
            axis = known.QuantizedDimension()
            _require(0 <= axis < len(shape) and shape[axis] == scales, f"{what} has {scales} scales along axis {axis}")

    # Operators.

    def _operator(
        self, what: str, graph: int, operator: Any, count: int, ready: set[int], constant: list[bool]
    ) -> None:
        code = operator.OpcodeIndex()
        _require(0 <= code < self._model.OperatorCodesLength(), f"{what} has the code {code}")
        inputs = self._numbers(operator.InputsLength(), operator.Inputs)
        outputs = self._numbers(operator.OutputsLength(), operator.Outputs)
        between = self._numbers(operator.IntermediatesLength(), operator.Intermediates)
        first = _OPTIONAL_FROM.get(self._op_name(code), len(inputs))
        least = [0 if place < first else -1 for place in range(len(inputs))]
        fine = all(a <= i < count for a, i in zip(least, inputs, strict=True))
        _require(fine, f"{what} has inputs {inputs} of {count} tensors")
        _require(all(0 <= i < count for i in [*outputs, *between]), f"{what} has outputs {outputs} of {count} tensors")
        early = [i for i in inputs if i >= 0 and i not in ready]
        _require(not early, f"{what} uses the tensors {early} before they are computed")
        _require(not any(constant[i] for i in outputs), f"{what} writes into constants")
        _require(len(set(outputs)) == len(outputs), f"{what} writes a tensor twice")
        ready.update(outputs)
        self._options(what, self._op_name(code), graph, operator)

    def _op_name(self, code: int) -> str:
        entry = self._model.OperatorCodes(code)
        number = max(entry.BuiltinCode(), entry.DeprecatedBuiltinCode())
        names = vars(self._schema.BuiltinOperator)
        return next((name for name, value in names.items() if value == number), "")

    def _options(self, what: str, op: str, graph: int, operator: Any) -> None:
        kinds = vars(self._schema.BuiltinOptions)
        kind = next((name for name, value in kinds.items() if value == operator.BuiltinOptionsType()), None)
        table = operator.BuiltinOptions()
        if kind in (None, "NONE") or table is None:
            return
        own = op.replace("_", "").lower() + "options"  # most kinds of operators have options of their own
        if own in map(str.lower, kinds):
            _require(str(kind).lower() == own, f"{what}, a {op}, has {kind}")
        options = getattr(self._schema, str(kind))()
        options.Init(table.Bytes, table.Pos)
        for field in _POSITIVE:
            get = getattr(options, field, None)
            if get is not None:
                least = 0 if kind == "DepthwiseConv2DOptions" and field == "DepthMultiplier" else 1
                _require(least <= get() < 1 << 16, f"{what} has {field} {get()}")
        for field in _CALLS.get(str(kind), ()):
            called = getattr(options, field)()
            _require(0 <= called < self._model.SubgraphsLength(), f"{what} calls subgraph {called}")
            self._calls[graph].add(called)

    def _no_recursion(self) -> None:
        done: set[int] = set()
        while len(done) < len(self._calls):
            ready = [g for g, called in self._calls.items() if g not in done and called <= done]
            _require(ready, "subgraphs call each other in a circle")
            done.update(ready)

    def _signature(self, signature: Any) -> None:
        number = signature.SubgraphIndex()
        _require(0 <= number < self._model.SubgraphsLength(), f"a signature is of subgraph {number}")
        count = self._model.Subgraphs(number).TensorsLength()
        for length, get in (
            (signature.InputsLength(), signature.Inputs),
            (signature.OutputsLength(), signature.Outputs),
        ):
            for i in range(self._listed(length)):
                _require(0 <= get(i).TensorIndex() < count, f"a signature names tensor {get(i).TensorIndex()}")
                _require(get(i).Name() is not None, "a signature has a tensor without a name")
