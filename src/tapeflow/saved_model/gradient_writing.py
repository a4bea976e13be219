"""Gradients that programs defined, traced so that they can be written to a SavedModel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.graph.build import building
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.interchange import written_loops
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import needed
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.state.rows import ReadVariableOp
from tapeflow.saved_model import structures

# The attr by which nodes name their gradient functions.
TYPE_ATTR = "_gradient_op_type"


class CapturedTensor(NamedTuple):
    """What a gradient function takes of the function that it belongs to.

    Attributes:
      name: of the tensor, "node:number" or "argument:0".
      function: the name of the function that has it.
    """

    name: str
    function: str


class _GradientGraph(FuncGraph):
    """A graph that captures tensors of others, wherever they are, and lets none of these capture anything."""

    def __init__(self, name: str):
        super().__init__(name)
        self.enclosing_graph = None

    def _from_outer(self, tensor: SymbolicTensor) -> SymbolicTensor:
        return tensor


class TracedGradient:
    """The gradient of an operation as a graph: of the gradients of all its inputs, as `IdentityN` has them as outputs.

    Attributes:
      graph: the graph, of which the results that are None are no outputs.
      captured: for each of its captures, in their order, a tensor of the operation's graph or an eager one.
      complete: whether all that it captures is there when the graph of the operation is all that is known.

    Raises ValueError where the program's function raises.
    """

    def __init__(self, op: Operation):
        self.op = op
        with op.graph.as_default():
            self.graph = _GradientGraph("internal_grad_fn")
        try:
            self._trace()
        except Exception as error:
            raise ValueError(
                f"Error when tracing gradients for SavedModel: {error}\nThe gradient function of operation "
                f"'{op.name}' could not be traced. Change it, or save without gradient functions, with "
                "tf.saved_model.SaveOptions(experimental_custom_gradients=False)."
            ) from error
        captures = [(outer, inner) for outer, inner in self.graph.captures]
        outer_of = {id(inner): self._own(outer) for outer, inner in captures}
        self.captured = [outer_of[id(x)] for x in self.graph.inputs if id(x) in outer_of]
        self.complete = all(x is not None for x in self.captured)

    @property
    def kept(self) -> list[SymbolicTensor]:
        """The captured tensors that are results in the graph of the operation."""
        return [x for x in self.captured if isinstance(x, SymbolicTensor)]

    def _trace(self) -> None:
        op, graph = self.op, self.graph
        with graph.as_default():
            dys = [
                graph.add_input(value_dtype(x), _value_shape(x), f"result_grads_{i}") for i, x in enumerate(op.inputs)
            ]
            found = op.custom_gradient(op, *dys[: len(op.outputs)])
            results = [None if dx is None else self._result(dx) for dx in found]
        if len(results) != len(op.inputs):
            raise ValueError(f"it returned {len(results)} gradients for {len(op.inputs)} inputs")
        graph.structured_outputs = results
        graph.outputs = [y for y in nest.flatten(results, expand_composites=True) if y is not None]

    def _result(self, dx: Any) -> Any:
        if isinstance(dx, IndexedSlices):
            dx = dx.to_dense()
        return building.as_symbolic(self.graph, convert_to_tensor(dx))

    def _own(self, tensor: Any) -> Any:
        """What stands for a captured tensor where the operation is; None if nothing does."""
        if isinstance(tensor, SymbolicTensor) and tensor.op.graph is not self.op.graph:
            known = getattr(self.op.graph, "_captured", {}).get(id(tensor))
            tensor = _eager(tensor) if known is None else known[1]
        if isinstance(tensor, SymbolicTensor) and tensor.dtype in (dtypes.resource, dtypes.variant):
            return _eager(tensor)
        return tensor

    def message(self, bound: Sequence[int]) -> Any:
        """The `SavedConcreteFunction`, given the numbers of the objects behind the captures."""
        made = protos.SavedConcreteFunction(bound_inputs=bound)
        count = len(self.op.inputs)
        specs = [TensorSpec(x.shape, x.dtype, f"result_grads_{i}") for i, x in enumerate(self.graph.inputs[:count])]
        made.canonicalized_input_signature.CopyFrom(structures.encode(((None, *specs), {})))
        results = [
            None if y is None else TensorSpec(y.shape, y.dtype, f"tensor_{i}")
            for i, y in enumerate(self.graph.structured_outputs)
        ]
        made.output_signature.CopyFrom(structures.encode(results))
        return made


def traced(graph: Any, outputs: Sequence[SymbolicTensor]) -> dict[Operation, TracedGradient]:
    """The gradients of all operations that a function needs for `outputs`, its effects and these gradients."""
    found: dict[Operation, TracedGradient] = {}
    while True:
        kept = [x for each in found.values() if each.complete for x in each.kept]
        effects = [op for op in graph.operations if op.effects]
        ops = needed(graph, [*outputs, *kept], effects, graph.inputs)
        fresh = [op for op in ops if op.custom_gradient is not None and op not in found]
        if not fresh:
            return found
        found |= {op: TracedGradient(op) for op in fresh}


def read_variables(op: Operation, node: Any, nodes: Any) -> None:
    """Lets the `NodeDef` of an operation take the values of variables in place of their handles.

    Args:
      nodes: where the nodes that read go.
    """
    data = [text for text in node.input if not text.startswith("^")]
    waited = [text for text in node.input if text.startswith("^")]
    taken = {each.name for each in nodes}
    for i, x in enumerate(op.inputs):
        if x.dtype != dtypes.resource:
            continue
        base = name = f"{op.name}/{ReadVariableOp.name}"
        count = 0
        while name in taken:
            count += 1
            name = f"{base}_{count}"
        taken.add(name)
        read = nodes.add(name=name, op=ReadVariableOp.name, input=[data[i], *waited])
        read.attr["dtype"].type = value_dtype(x).as_datatype_enum
        node.attr["T"].list.type[i] = read.attr["dtype"].type
        data[i] = f"{name}:value:0"
    del node.input[:]
    node.input.extend([*data, *waited])


def tensor_name(x: SymbolicTensor, arguments: dict[int, str]) -> str:
    """The name that a tensor of a function has when its `FunctionDef` is made a graph again.

    Args:
      arguments: the names of the arguments, by the identity of their tensors.
    """
    if id(x) in arguments:
        return f"{arguments[id(x)]}:0"
    first = written_loops.leading(x.op) if x.op.type == "While" else 0
    return f"{x.op.name}:{first + x.value_index}"


def value_dtype(x: SymbolicTensor) -> Any:
    """The dtype of a tensor; of a variable's handle, that of its value."""
    return getattr(x, "handle_dtype", None) or x.dtype


def _value_shape(x: SymbolicTensor) -> Any:
    return getattr(x, "handle_shape", None) if x.dtype == dtypes.resource else x.shape_tuple


def _eager(tensor: SymbolicTensor) -> Any:
    """What the outermost function has captured as `tensor`; None if that is computed."""
    found: Any = tensor
    while isinstance(found, SymbolicTensor):
        outer = [x for x, inner in getattr(found.op.graph, "captures", ()) if inner is found]
        if not outer:
            return None
        found = outer[0]
    return found
