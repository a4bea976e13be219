"""`do_quantize_training_on_graphdef`: graphs whose products take numbers rounded to few bits, while they train."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from tapeflow.core.files.tensor_proto import make_tensor_proto
from tapeflow.core.public import public
from tapeflow.graph.build.placeholders import placeholder
from tapeflow.graph.graph import Graph
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import Range
from tapeflow.ops.array.rows import Identity, identity
from tapeflow.ops.array.sizes import Rank
from tapeflow.ops.control.flow import cond
from tapeflow.ops.convolution.pooling import AvgPool, MaxPool
from tapeflow.ops.convolution.pooling_3d import AvgPool3D, MaxPool3D
from tapeflow.ops.convolution.rows import Conv2D
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.math.reduction import Max, Min
from tapeflow.ops.math.trigonometric import Sigmoid, Tanh
from tapeflow.ops.nn.activation import Relu, Relu6
from tapeflow.ops.quantize.quantize_and_dequantize import QuantizeAndDequantizeV2
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.ops.state.rows import AssignVariableOp, ReadVariableOp, VarIsInitializedOp
from tapeflow.ops.state.variable import VariableV1

_PRODUCTS = (MatMul.name, Conv2D.name)
# What hands on the numbers of its first input.
_PASSING = [row.name for row in (Reshape, ConcatV2, Identity, MaxPool, AvgPool, MaxPool3D, AvgPool3D)]
# The ranges of what operations compute; None where only their sign is known.
_RANGES: dict[str, tuple[float, float] | None] = {
    Relu.name: None, Relu6.name: (0.0, 6.0), Sigmoid.name: (0.0, 1.0), Tanh.name: (-1.0, 1.0),
}  # fmt: skip
_DECAY = 0.999


@public
def do_quantize_training_on_graphdef(input_graph, num_bits: int):
    """Rewrite a graph so that the inputs of its products are rounded to few bits.

    The inputs of `MatMul` and `Conv2D` go through `QuantizeAndDequantizeV2`, in the range of the operation that
    computes them where that is known (`Relu6`, `Sigmoid`, `Tanh`), and else in moving averages of the least and the
    greatest value, which are variables that begin with those of the first step.

    Args:
      input_graph: a `GraphDef`, before gradients and savers are added; nodes below "gradients" stay as they are.
      num_bits: how many bits, from 1 to 63.

    Returns:
      A new `GraphDef`.

    Raises:
      OutOfRangeError: for another number of bits.
      UnimplementedError: for a graph with nodes that save variables, to which those of ranges do not belong.
      InvalidArgumentError: for a node whose input is not there.
    """
    if not 1 <= num_bits <= 63:
        raise OutOfRangeError(None, None, f"num_bits should be in range [1, 63] but is: {num_bits}")
    for node in input_graph.node:
        if node.op in ("SaveV2", "RestoreV2"):
            raise UnimplementedError(
                None, None, f"Node '{node.name}' ({node.op}) is of a saver: a saver is to be added after the rewrite"
            )
    rewriter = _Rewriter(input_graph, num_bits)
    rewriter.run()
    return rewriter.graph


def _choice() -> tuple[Any, Any]:
    """The node, by the names of its inputs, that moves an average, or begins it; and the functions of its branches."""
    with Graph().as_default() as graph:
        kept = VariableV1(np.float32(0), name="kept", use_resource=True)
        begun = placeholder(dtypes.bool, [], name="begun")
        value, decay = (placeholder(dtypes.float32, [], name=name) for name in ("value", "decay"))
        cond(begun, lambda: kept - (kept - value) * (1.0 - decay), lambda: identity(value))
    definition = graph.as_graph_def()
    return next(node for node in definition.node if node.op in ("If", "StatelessIf")), definition.library


class _Rewriter:
    def __init__(self, graph: Any, bits: int):
        self.graph = protos.GraphDef()
        self.graph.CopyFrom(graph)
        self._bits = bits
        self._known = {node.name: node for node in self.graph.node}
        self._rounded: dict[str, str] = {}  # by the tensors that are rounded
        self._choice: Any = None

    def run(self) -> None:
        for node in list(self.graph.node):
            if node.op in _PRODUCTS and not node.name.startswith("gradients"):
                if node.attr["T"].type != dtypes.float32.as_datatype_enum:
                    raise InvalidArgumentError(None, None, f"Node {node.name} is not of float32.")
                for i, source in enumerate(node.input):
                    if not source.startswith("^"):
                        node.input[i] = self._round(source)

    def _round(self, tensor: str) -> str:
        """The name of the tensor, rounded."""
        if tensor not in self._rounded:
            signed, limits = self._range(tensor)
            op, base = QuantizeAndDequantizeV2.name, tensor.partition(":")[0]
            if f"{base}/{op}" in self._known:  # another output of the node
                base = tensor.replace(":", "_")
            if limits is None:
                ends = self._measured(tensor, base)
            else:
                ends = [self._constant(f"{base}/Input{end}", value) for end, value in zip(("Min", "Max"), limits)]
            self._rounded[tensor] = self._add(
                f"{base}/{op}", op, [tensor, *ends], T=dtypes.float32, signed_input=signed, num_bits=self._bits,
                range_given=True, narrow_range=False, axis=-1, round_mode=b"HALF_TO_EVEN",
            )  # fmt: skip
        return self._rounded[tensor]

    def _range(self, tensor: str) -> tuple[bool, tuple[float, float] | None]:
        """Whether numbers may be negative, and their range, where it is known."""
        while True:
            name = tensor.partition(":")[0]
            if name not in self._known:
                raise InvalidArgumentError(None, None, f"The graph has no node '{name}'")
            node = self._known[name]
            if node.op not in _PASSING:
                limits = _RANGES.get(node.op)
                return node.op not in _RANGES or (limits is not None and limits[0] < 0), limits
            tensor = node.input[0]

    def _measured(self, tensor: str, base: str) -> list[str]:
        """The names of the moving averages of the least and the greatest value of a tensor."""
        decay = self._constant(f"{base}/Decay", _DECAY)
        scope = f"{base}/ReductionAxes"
        start = self._constant(f"{scope}/RangeStart", 0, dtypes.int32)
        step = self._constant(f"{scope}/RangeDelta", 1, dtypes.int32)
        rank = self._add(f"{scope}/InputRank", Rank.name, [tensor], T=dtypes.float32)
        axes = self._add(f"{scope}/ReductionAxes", Range.name, [start, rank, step], Tidx=dtypes.int32)
        return [self._average(f"{base}/{kind}", kind, tensor, axes, decay) for kind in (Min.name, Max.name)]

    def _average(self, scope: str, kind: str, tensor: str, axes: str, decay: str) -> str:
        """A moving average of what a tensor is reduced to, which begins with the first value; assigned, then read."""
        value = self._add(
            scope, kind, [tensor, axes], T=dtypes.float32, Tidx=dtypes.int32, keep_dims=False
        )
        shape: dict[str, Any] = {"dtype": dtypes.float32, "shape": ()}
        kept = self._add(
            f"{scope}/Variable", VarHandleOp.name, [], **shape, container=b"", shared_name=f"{scope}/Variable".encode()
        )
        begun = self._add(f"{scope}/IsInitialized", VarIsInitializedOp.name, [kept])
        inputs = {"begun": begun, "kept": kept, "value": value, "decay": decay}
        if self._choice is None:
            self._choice, library = _choice()
            self.graph.library.function.extend(library.function)
        moved = self._add(f"{scope}/EMA", "If", [inputs[name] for name in self._choice.input])
        for key, attr in self._choice.attr.items():
            self._known[moved].attr[key].CopyFrom(attr)
        assigned = self._add(f"{scope}/Assign", AssignVariableOp.name, [kept, moved], dtype=dtypes.float32)
        return self._add(f"{scope}/AssignValue", ReadVariableOp.name, [kept, f"^{assigned}"], dtype=dtypes.float32)

    def _constant(self, name: str, value: float, dtype: Any = dtypes.float32) -> str:
        node = make_tensor_proto(np.asarray(value, dtype.as_numpy_dtype))
        return self._add(name, "Const", [], dtype=dtype, value=node)

    def _add(self, name: str, op: str, inputs: list[str], **attrs: Any) -> str:
        """Adds a node; its name."""
        if name in self._known:
            raise InvalidArgumentError(None, None, f"The graph has a node '{name}' already")
        node = self.graph.node.add(name=name, op=op, input=inputs)
        self._known[name] = node
        for key, value in attrs.items():
            attr = node.attr[key]
            if isinstance(value, bool):
                attr.b = value
            elif isinstance(value, int):
                attr.i = value
            elif isinstance(value, bytes):
                attr.s = value
            elif isinstance(value, tuple):
                attr.shape.SetInParent()
            elif isinstance(value, dtypes.DType):
                attr.type = int(value)
            else:
                attr.tensor.CopyFrom(value)
        return name
