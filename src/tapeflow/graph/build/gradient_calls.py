"""What a gradient function of a graph gets: the call, and sums of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import operators
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math.accumulate import AddN
from tapeflow.ops.state.rows import VariableShape


class Call:
    """An operation as the gradient function of its row sees it."""

    __slots__ = ("_op", "_wanted", "_places")

    def __init__(self, op: Operation, wanted: Sequence[bool]):
        self._op = op
        self._wanted = wanted
        self._places: dict[str, tuple[int, int, bool, bool]] | None = None

    def _place(self, name: str) -> tuple[int, int, bool, bool]:
        """First position, count, whether it is a list, whether it is an input."""
        places = self._places
        if places is None:
            places = self._places = {}
            op = self._op
            schema = op.row.schema
            at = 0
            for argument, size in zip(schema.inputs, op.input_sizes, strict=True):
                count = 1 if size is None else size
                places[argument.name] = (at, count, size is not None, True)
                at += count
            at = 0
            for output, count in zip(schema.outputs, schema.output_counts(op.attrs, op.list_sizes), strict=True):
                places.setdefault(output.name, (at, count, output.is_list, False))
                at += count
        return places[name]

    def _tensors(self, name: str) -> Any:
        first, count, is_list, is_input = self._place(name)
        among = self._op.inputs if is_input else self._op.outputs
        return list(among[first : first + count]) if is_list else among[first]

    def __getattr__(self, name: str) -> Any:
        op = self._op
        if name in op.attrs:
            return op.attrs[name]
        if name in op.row.defaults:
            return op.row.defaults[name]
        try:
            return self._tensors(name)
        except KeyError:
            raise AttributeError(f"{op.type} has no input, output or attr '{name}'") from None

    def __getitem__(self, name: str) -> Any:
        return self.__getattr__(name)

    @property
    def op_name(self) -> str:
        return self._op.type

    def shape(self, name: str) -> Any:
        """The shape of a named input or output, as a vector."""
        found = self._tensors(name)
        return (
            [shape_vector(x) for x in found] if isinstance(found, list) else shape_vector(found)
        )

    def static_shape(self, name: str) -> Any:
        """What is known of it."""
        found = self._tensors(name)
        return [x.shape for x in found] if isinstance(found, list) else found.shape

    def dtype(self, name: str) -> Any:
        found = self._tensors(name)
        return [x.dtype for x in found] if isinstance(found, list) else found.dtype

    def beside(self, row: Any, name: str) -> Any:
        """`row` of an input or output, computed where the operation is, so that a loop keeps the result only."""
        op, tensor = self._op, self._tensors(name)
        graph = tensor.op.graph
        if graph is context.current_graph():
            return row(tensor)
        for known in graph.consumers_of(tensor):
            if known.type == row.name and len(known.inputs) == 1:
                return known.outputs[0]
        with graph.as_default(), graph.control_dependencies(None), graph.name_scope(None):
            result = row(tensor)
        if tensor.op is not op:
            result.op.index = graph.index_before(op)
        return result

    def wants(self, name: str) -> bool:
        """Whether the gradient for this input will be used."""
        first, count, _, _ = self._place(name)
        return any(self._wanted[first : first + count])


def shape_vector(tensor: SymbolicTensor) -> Any:
    shape = tensor.shape_tuple
    if tensor.dtype is dtypes.resource:
        shape = getattr(tensor, "handle_shape", None)
        if shape is None or None in shape:
            return VariableShape(tensor)
    if shape is not None and None not in shape:
        wide = any(d is not None and d >= 2**31 for d in shape)
        return convert_to_tensor(np.array(shape, np.int64 if wide else np.int32))
    return Shape(tensor)


class Sum:
    """The gradient of one tensor as it comes together from several uses."""

    __slots__ = ("parts",)

    def __init__(self, first: Any):
        self.parts = [first]

    def total(self, beside: Any = None) -> Any:
        """The sum; of several parts it is computed where they are, or where the operation `beside` is."""
        parts = self.parts
        if len(parts) == 1:
            return parts[0]
        if beside is not None and all(isinstance(p, SymbolicTensor) for p in parts):
            same = len({p.op.device for p in parts}) == 1
            with beside.graph.colocate_with(parts[-1].op if same else beside, ignore_existing=True):
                return self.total()
        if any(isinstance(p, IndexedSlices) for p in parts):
            total = parts[0]
            for part in parts[1:]:
                total = operators.accumulate(total, part)
        else:
            total = AddN(parts)
        self.parts = [total]
        return total
