"""The operations and tensors of a graph by their names."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.public import boundaries
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.state.rows import ReadVariableOp


class Elements:
    """How a `Graph` finds its operations and tensors."""

    _by_name: dict[str, Operation]

    def get_operation_by_name(self, name: str) -> Operation:
        """Raises ValueError or KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """Raises ValueError or KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return value_of_reference(self.as_graph_element(name, allow_tensor=True, allow_operation=False))

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The operation or tensor that `obj` is, names or stands for.

        Raises TypeError, ValueError or KeyError if it is none of this graph.
        """
        if allow_tensor and allow_operation:
            wanted = "Tensor or Operation"
        elif allow_tensor:
            wanted = "Tensor"
        elif allow_operation:
            wanted = "Operation"
        else:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        element = getattr(obj, "_as_graph_element", None)
        if element is not None and not isinstance(obj, str):
            converted = element()
            obj = obj if converted is None else converted
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, SymbolicTensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, number = name.partition(":")
            if not number.isdigit() or not op_name:
                raise ValueError(
                    f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of "
                    'the form "<op_name>:<output_index>".'
                )
            op = self._by_name.get(op_name)
            if op is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does "
                    "not exist in the graph."
                )
            if int(number) >= len(op.outputs):
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists "
                    f"but only has {len(op.outputs)} outputs."
                )
            return op.outputs[int(number)]
        if ":" in name:
            raise ValueError(f"The name {name!r} appears to refer to a Tensor, not a Operation.")
        if not allow_operation:
            if name in self._by_name:
                raise ValueError(
                    f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of the form "
                    '"<op_name>:<output_index>".'
                )
            raise ValueError(
                f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the "
                'form "<op_name>:<output_index>".'
            )
        if name not in self._by_name:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return self._by_name[name]


def value_of_reference(tensor: SymbolicTensor) -> SymbolicTensor:
    """The value of a reference variable of 1.x, whose own tensor is its handle here; any other tensor as it is."""
    if tensor.dtype is not dtypes.resource or not tensor.of_reference:
        return tensor
    return next((op.outputs[0] for op in tensor.consumers() if op.row is ReadVariableOp), tensor)


boundaries(globals())
