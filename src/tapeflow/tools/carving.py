"""A part of a graph, cut out and computed by something else, such as XLA, TensorFlow Lite or Python; and put back.

    part = carving.carve(graph, lambda op: op.name.startswith("tower/"))
    carving.compile_with_xla(part)     # or: part.replace(carving.in_python(part, compute))
    part.restore()
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import protos
from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.autodiff.tape import GradientTape, UnconnectedGradients
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public, public_methods
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.function import function as tracing
from tapeflow.graph.interchange.graph_util import copy_setting
from tapeflow.graph.interchange.importing import import_graph_def
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.lite.converter import TFLiteConverter
from tapeflow.lite.interpreter import Interpreter
from tapeflow.ops.control.py_functions import numpy_function, py_function

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

__all__ = ["Part", "carve", "compile_with_xla", "in_lite", "in_python"]


@public
def carve(graph: Graph, chosen: Iterable[str] | Callable[[Any], bool]) -> Part:
    """Choose a part of a graph; the graph stays as it is until the part is replaced.

    Args:
      graph: a `tf.Graph`.
      chosen: names of operations, or a function of an operation.

    Returns:
      The `Part`.

    Raises:
      KeyError: for a name that is not there.
      ValueError: for a part without operations, and for one that values leave and enter again, which no single call
        can compute.
    """
    if callable(chosen):
        inside = [op for op in graph.get_operations() if chosen(op)]
    else:
        names = dict.fromkeys(chosen)
        inside = [graph.get_operation_by_name(name) for name in names]
    if not inside:
        raise ValueError("The part has no operations")
    _refuse_detours(inside)
    return Part(graph, inside)


def _needs(op: Any) -> list[Any]:
    return [*(tensor.op for tensor in op.inputs), *op.control_inputs]


def _refuse_detours(inside: list[Any]) -> None:
    """Raise ValueError where an operation outside needs one inside, and is needed by another inside."""
    part = set(inside)
    above: dict[Any, bool] = {}  # operations outside, and whether they need the part
    for start in {source for op in inside for source in _needs(op)} - part:
        open_ = [start]
        while open_:
            op = open_[-1]
            waiting = [source for source in _needs(op) if source not in part and source not in above]
            if op not in above and waiting and op.type not in ("NextIteration", "Merge"):
                open_ += waiting
                continue
            above[op] = any(source in part or above.get(source, False) for source in _needs(op))
            open_.pop()
        if above[start]:
            raise ValueError(
                f"The part is not in one piece: '{start.name}' is outside, needs what is inside, and is needed inside"
            )


@public_methods
class Part:
    """Operations of a graph, with the tensors that go in and come out.

    Attributes:
      graph: the graph.
      operations: the operations of the part.
      inputs: the tensors of the rest that the part uses.
      outputs: the tensors of the part that the rest uses, or that nothing uses.
    """

    def __init__(self, graph: Any, operations: list[Any]):
        self.graph, self.operations = graph, operations
        inside = set(operations)
        self.inputs = list(dict.fromkeys(t for op in operations for t in op.inputs if t.op not in inside))
        made = [t for op in operations for t in op.outputs]
        self.outputs = [t for t in made if not t.consumers() or not inside.issuperset(t.consumers())]
        self._waits = list(dict.fromkeys(c for op in operations for c in op.control_inputs if c not in inside))
        self._changed: list[tuple[Any, int, Any]] = []
        self._waiting: list[tuple[Any, list[Any]]] = []

    @property
    def graph_def(self) -> Any:
        """The part as a `GraphDef` of its own, whose inputs are the placeholders "input_0", "input_1", ..."""
        whole = self.graph.as_graph_def()
        inside = {op.name for op in self.operations}
        made = protos.GraphDef()
        names = {}
        for i, tensor in enumerate(self.inputs):
            name = f"input_{i}"
            while name in inside:
                name += "_"
            names[tensor.name.removesuffix(":0")] = name
            node = made.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = tensor.dtype.as_datatype_enum
            node.attr["shape"].shape.CopyFrom(tensor.shape.as_proto())
        for source in whole.node:
            if source.name in inside:
                node = made.node.add()
                node.CopyFrom(source)
                del node.input[:]
                for text in source.input:
                    if not text.startswith("^"):
                        node.input.append(names.get(text, text))
                    elif text[1:] in inside:
                        node.input.append(text)
                node.attr.pop("_class", None)
        copy_setting(whole, made)
        return made

    def function(self) -> Callable[..., list[Any]]:
        """Make a function of the part's inputs that returns a list of its outputs, for use in other graphs."""
        definition, outputs = self.graph_def, [tensor.name for tensor in self.outputs]
        names = [f"{node.name}:0" for node in definition.node[: len(self.inputs)]]

        def part(*inputs):
            given = dict(zip(names, inputs, strict=True))
            return import_graph_def(definition, given, outputs, name="part")

        return part

    def replace(self, function: Callable[..., Any], name: str = "carved") -> list[Any]:
        """Let the rest of the graph use what a function computes of the part's inputs.

        Args:
          function: it takes the inputs as tensors of the graph, and returns a tensor, or a list with one for each
            output.
          name: a scope for what it adds to the graph.

        Returns:
          The tensors that took the places of the outputs.

        Raises:
          ValueError: where the part is replaced already, and for results of another number, dtype or shape.
        """
        if self._changed or self._waiting:
            raise ValueError("The part is replaced already; restore it first")
        before = set(self.graph.get_operations())
        with self.graph.as_default(), self.graph.name_scope(name), self.graph.control_dependencies(self._waits):
            results = function(*self.inputs)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            if len(results) != len(self.outputs):
                raise ValueError(f"The part has {len(self.outputs)} outputs, the function returned {len(results)}")
            types = [tensor.dtype for tensor in self.outputs]
            results = [convert_to_tensor(*each) for each in zip(results, types, strict=True)]
        for result, tensor in zip(results, self.outputs, strict=True):
            if not result.shape.is_compatible_with(tensor.shape):
                raise ValueError(f"{tensor.name} has the shape {tensor.shape}, not {result.shape} as the result")
            result.set_shape(tensor.shape)
        self._reroute(results, set(self.operations) | (set(self.graph.get_operations()) - before))
        return results

    def _reroute(self, results: list[Any], apart: set[Any]) -> None:
        inside = set(self.operations)
        for result, tensor in zip(results, self.outputs, strict=True):
            for op in dict.fromkeys(tensor.consumers()):
                if op not in apart:
                    self._changed += [(op, i, tensor) for i, t in enumerate(op.inputs) if t is tensor]
                    for i, t in enumerate(op.inputs):
                        if t is tensor:
                            op.update_input(i, result)
        for op in self.graph.get_operations():
            if op not in apart and not inside.isdisjoint(op.control_inputs):
                old = list(op.control_inputs)
                self._waiting.append((op, old))
                kept = [each for each in old if each not in inside]
                self._wait(op, list(dict.fromkeys([*kept, *(result.op for result in results)])))

    @staticmethod
    def _wait(op: Any, others: list[Any]) -> None:
        op.remove_control_inputs()
        op.add_control_inputs(others)

    def restore(self) -> None:
        """Let the rest of the graph use the part itself again."""
        for op, i, tensor in self._changed:
            op.update_input(i, tensor)
        for op, others in self._waiting:
            self._wait(op, others)
        self._changed, self._waiting = [], []


def _refuse_handles(part: Part) -> None:
    for tensor in (*part.inputs, *part.outputs):
        if tensor.dtype in (dtypes.resource, dtypes.variant):
            raise ValueError(f"{tensor.name} is a handle, which cannot leave its graph; leave out what reads it")


def _refuse_state(part: Part) -> None:
    """Raise ValueError for a part that only the session of its graph can compute."""
    for op in part.operations:
        if op_defs.op_def(op.type).is_stateful:
            raise ValueError(f"'{op.name}' ({op.type}) has effects or state; leave it out of the part")
    _refuse_handles(part)


@public
def compile_with_xla(part: Part) -> list[Any]:
    """Let XLA compute a part as one program. Gradients that are built later go through it.

    Args:
      part: the part; its operations need implementations in XLA.

    Returns:
      The tensors that took the places of the part's outputs.

    Raises:
      ValueError: for a part with operations that have effects or state, or with handles.
    """
    _refuse_state(part)
    function, count = part.function(), len(part.inputs)
    types, kinds = [t.dtype for t in part.outputs], [t.dtype for t in part.inputs]
    forward = tracing.function(function, jit_compile=True)

    @tracing.function(jit_compile=True)
    def backward(*values):
        inputs, upstream = values[:count], values[count:]
        with GradientTape() as tape:
            tape.watch([x for x in inputs if x.dtype.is_floating or x.dtype.is_complex])
            outputs = function(*inputs)
        return tape.gradient(outputs, list(inputs), list(upstream), UnconnectedGradients.ZERO)

    @custom_gradient
    def compiled(*inputs):
        def gradient(*upstream):
            found = py_function(backward, [*inputs, *upstream], kinds)
            return [x if x.dtype.is_floating or x.dtype.is_complex else None for x in found]

        return py_function(forward, list(inputs), types), gradient

    return part.replace(compiled)


@public
def in_python(part: Part, compute: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Make of a function of arrays one of tensors that can replace a part. It has no gradients.

    Args:
      part: the part.
      compute: it takes the values of the part's inputs as arrays, and returns an array, or a list with one for each
        output.

    Returns:
      A function for `Part.replace`.

    Raises:
      ValueError: for a part with handles.
    """
    _refuse_handles(part)
    types = [tensor.dtype for tensor in part.outputs]
    return lambda *inputs: numpy_function(compute, list(inputs), types)


@public
def in_lite(part: Part, **settings: Any) -> Callable[..., list[Any]]:
    """Convert a part to TensorFlow Lite and make of that a function that can replace it. It has no gradients.

    Args:
      part: the part; its operations need counterparts in TensorFlow Lite.
      **settings: attributes of the `tf.lite.TFLiteConverter`, such as `optimizations`.

    Returns:
      A function for `Part.replace`.

    Raises:
      ValueError: for a part with operations that have effects or state, or with handles.
    """
    _refuse_state(part)
    compute = part.function()
    specs = [TensorSpec(tensor.shape, tensor.dtype, f"input_{i}") for i, tensor in enumerate(part.inputs)]

    def named(*inputs):
        return {f"output_{i}": result for i, result in enumerate(compute(*inputs))}

    converter = TFLiteConverter.from_concrete_functions([tracing.function(named).get_concrete_function(*specs)])
    for name, value in settings.items():
        setattr(converter, name, value)
    runner, lock = Interpreter(model_content=converter.convert()).get_signature_runner(), threading.Lock()

    def invoke(*arrays):
        with lock:  # an interpreter has one place for each value
            found = runner(**{spec.name: array for spec, array in zip(specs, arrays, strict=True)})
            return [np.array(found[f"output_{i}"]) for i in range(len(part.outputs))]

    return in_python(part, invoke)
