"""Frozen functions as functions of MLIR in TensorFlow's dialect.

What follows from constants and known shapes is computed here: a loop whose number of steps is known becomes its steps,
and lists of tensors become tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.graph.operation import Operation
from tapeflow.graph.passes.folding import evaluate
from tapeflow.graph.run.order import needed
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.lite import mlir_text
from tapeflow.lite.lowering import ConverterError
from tapeflow.lite.values import Call, ListValue, Value
from tapeflow.ops import partial_values, shape_inference, shapes
from tapeflow.ops.control.grouping import NoOp

# Checks of values, which the runtime of TensorFlow Lite does not have.
_DROPPED = frozenset(["Assert", NoOp.name])
# Larger constants are left to the converter, which need not store them.
_LARGEST_FOLDED = 4096

Known = Value | ListValue
NODES: dict[str, Callable[[Any, Operation, list[Any]], Sequence[Known]]] = {}


def emits(*kinds: Any) -> Callable[[Any], Any]:
    """Decorates what converts nodes of some rows, or types without one: f(emitter, op, inputs) -> outputs."""

    def register(function: Any) -> Any:
        NODES.update((kind if isinstance(kind, str) else kind.name, function) for kind in kinds)
        return function

    return register


def refused(emitter: Emitter, op: Operation, why: str) -> ConverterError:
    """The error for an operation that does something which TensorFlow Lite cannot do."""
    file, line = emitter.module.place_of(op.name) or ("<unknown>", 0)
    return ConverterError(
        f"{op.type} (node '{op.name}', defined at {file}:{line}) {why}, which TensorFlow Lite cannot do"
    )


class Module:
    """The functions of a module.

    Args:
      place_of: gives the file and line of the program that made an operation, by its name; None where it is not known.
      custom: types of operations that become custom ones of TensorFlow Lite.
    """

    def __init__(self, place_of: Callable[[str], tuple[str, int] | None], custom: Sequence[str] = ()):
        self.place_of = place_of
        self.custom = frozenset(custom)
        self.functions: list[str] = []
        self.labels: dict[str, str] = {}  # of tensors that are results: the operations that compute them
        self.trained = False  # whether it has operations that round as training with few bits does
        self.steps: set[float] = set()  # of the roundings of constants
        self.tables: dict[int, str] = {}  # the names of lookup tables, by their ids
        self._named = 0

    def place_of_tensor(self, name: str) -> tuple[str, int] | None:
        """As `place_of`, for a tensor of the model: it may be made of several operations, and have a number."""
        for part in self.labels.get(name, name).split(";"):
            found = self.place_of(part) or self.place_of(part.rstrip("0123456789"))
            if found is not None:
                return found
        return None

    def new_name(self, kind: str) -> str:
        """The name of a function of a branch or loop."""
        self._named += 1
        return f"{kind}_{self._named}"

    def text(self) -> str:
        return "\n".join(["module attributes {tf.versions = {producer = 2000 : i32}} {", *self.functions, "}\n"])


class Emitter:
    """One function of a module while it is written.

    Args:
      inputs: dtypes and shapes of the arguments.
      name: of the function.
      public: whether it is called from outside, and not by a branch or loop.

    Attributes:
      arguments: the values of the arguments.
    """

    def __init__(self, module: Module, inputs: Sequence[Value], name: str, public: bool = False):
        self.module = module
        self.name = name
        self.public = public
        self.arguments = [Value(x.dtype, x.shape_tuple, f"%arg{i}") for i, x in enumerate(inputs)]
        self._constants: list[str] = []
        self._lines: list[str] = []
        self._count = 0

    def finish(self, results: Sequence[Value]) -> None:
        """Adds the function to the module."""
        given = ", ".join(f"{x.name}: {x.type}" for x in self.arguments)
        names = ", ".join(self.named(y) for y in results)
        kinds = ", ".join(y.type for y in results)
        head = f"func.func @{self.name}({given}) -> ({kinds}) {{"
        if not self.public:
            head = f"func.func private @{self.name}({given}) -> ({kinds}) attributes {{no_inline}} {{"
        end = f"  return {names} : {kinds}" if results else "  return"
        self.module.functions.append("\n".join([head, *self._constants, *self._lines, end, "}"]))

    # Graphs.

    def body(self, graph: Any, outputs: Sequence[SymbolicTensor], inputs: Sequence[Known]) -> list[Known]:
        """The values of `outputs` where the inputs of `graph` have these values."""
        values: dict[int, Known] = dict(zip(map(id, graph.inputs), inputs, strict=True))
        effects = [op for op in graph.operations if op.effects and op.type not in _DROPPED]
        for op in needed(graph, outputs, effects, graph.inputs):
            if op.type in _DROPPED or (op.outputs and id(op.outputs[0]) in values):
                continue
            given = [values[id(x)] for x in op.inputs]
            for y, value in zip(op.outputs, self._operation(op, given), strict=True):
                values[id(y)] = value
        return [values[id(y)] for y in outputs]

    def _operation(self, op: Operation, inputs: list[Any]) -> Sequence[Known]:
        if op.type == "Const":
            return [Value.of(op.attrs["value"])]
        if op.forwards:
            return inputs
        if op.type in NODES:
            return NODES[op.type](self, op, inputs)
        return self._folded(op, inputs) or self.plain(op, inputs)

    def _folded(self, op: Operation, inputs: Sequence[Value]) -> list[Value] | None:
        """The outputs of an operation as far as they are known without running it."""
        if op.row is None or op.stateful:
            return None
        if op.row.of_shape is not None and all(x.shape_tuple is not None for x in inputs):
            found = [op.row.of_shape(x.shape_tuple) for x in inputs]
            if None not in found:
                return [Value.of_array(sizes, y.dtype) for sizes, y in zip(found, op.outputs, strict=True)]
        if not inputs or any(x.tensor is None for x in inputs):
            return None
        if any((y.shape.num_elements() or 0) > _LARGEST_FOLDED for y in op.outputs):
            return None
        results = evaluate(op.row, op.attrs, op.list_sizes, [x.tensor for x in inputs])
        return None if results is None else [Value.of(y) for y in results]

    def plain(self, op: Operation, inputs: Sequence[Value]) -> list[Value]:
        """An operation as an instruction of the same op."""
        if any(x.dtype is dtypes.resource for x in inputs):
            raise refused(self, op, "changes a table or another resource")
        node, definition = op.node_def, op.op_def
        derived = {a.number_attr for a in (*definition.input_arg, *definition.output_arg)}
        attrs = {}
        for name, value in sorted(node.attr.items()):
            text = None if name in derived or name.startswith("_") else mlir_text.attribute(value)
            if text is not None:
                attrs[name] = text
        kind = f"tf.{node.op}"
        if node.op in self.module.custom:
            kind, attrs = "tfl.custom", mlir_text.custom(node)
        made = self.instruction(kind, inputs, attrs, self._results(op, inputs), op)
        call = Call(op.type, list(inputs), op.attrs, made)
        for i, y in enumerate(made):
            y.op = call if len(made) == 1 else None
            known: Any = partial_values.elements(y) if y.dtype in (dtypes.int32, dtypes.int64) else None
            if known is not None and None not in known and y.shape_tuple is not None:
                made[i] = Value.of_array(np.reshape(known, y.shape_tuple), y.dtype)
        return made

    @staticmethod
    def _results(op: Operation, inputs: Sequence[Value]) -> list[Value]:
        """Dtypes and shapes of the outputs; shapes may be better known than where the operation was traced."""
        found = [y.shape_tuple for y in op.outputs]
        if op.row is not None and any(shape is None or None in shape for shape in found):
            try:
                fresh = shape_inference.infer(op.row, inputs, op.attrs, op.list_sizes)
                found = [shapes.merge(a, b) for a, b in zip(fresh, found, strict=True)]
            except InvalidArgumentError:
                pass  # what is wrong with the call is for its run to say
        return [Value(y.dtype, shape) for y, shape in zip(op.outputs, found, strict=True)]

    # Instructions.

    def instruction(
        self, kind: str, inputs: Sequence[Value], attrs: dict[str, str], results: Sequence[Value], op: Operation
    ) -> list[Value]:
        """Adds an instruction.

        Args:
          attrs: as MLIR spells them.
          results: dtypes and shapes of the results.
          op: the operation that it belongs to.
        """
        listed = ", ".join(f"{name} = {text}" for name, text in attrs.items())
        return self._add(f'"{kind}"', f"{{{listed}}}", inputs, results, op)

    def loop(
        self, cond: str, body: str, inputs: Sequence[Value], variables: Sequence[Value], op: Operation
    ) -> list[Value]:
        """Adds a loop of two functions of the module; the last values of its variables.

        It is in the form in which the converter writes loops: others it would have to outline first.
        """
        kinds = ", ".join(x.type for x in variables)
        names = ", ".join(f"%b{i}" for i in range(len(variables)))
        given = ", ".join(f"%b{i}: {x.type}" for i, x in enumerate(variables))
        after = ", ".join(f"%r#{i}" for i in range(len(variables))) if len(variables) > 1 else "%r"
        count = f":{len(variables)}" if len(variables) > 1 else ""
        regions = (
            f"({{ ^bb0({given}): %r = func.call @{cond}({names}) : ({kinds}) -> tensor<i1>\n"
            f'"tfl.yield"(%r) : (tensor<i1>) -> () }}, {{ ^bb0({given}): '
            f"%r{count} = func.call @{body}({names}) : ({kinds}) -> ({kinds})\n"
            f'"tfl.yield"({after}) : ({kinds}) -> () }}) {{is_stateless = false}}'
        )
        return self._add('"tfl.while"', regions, inputs, variables, op)

    def _add(
        self, head: str, tail: str, inputs: Sequence[Value], results: Sequence[Value], op: Operation
    ) -> list[Value]:
        made = [Value(y.dtype, y.shape_tuple, f"%{self._count + i}") for i, y in enumerate(results)]
        self._count += len(made)
        left = ", ".join(str(y.name) for y in made) + " = " if made else ""
        names = ", ".join(self.named(x) for x in inputs)
        types = f"({', '.join(x.type for x in inputs)}) -> ({', '.join(y.type for y in made)})"
        name = op.name if self.public else f"{self.name}/{op.name}"
        place = mlir_text.location(name, self.module.place_of(op.name))
        self._lines.append(f"  {left}{head}({names}) {tail} : {types} {place}")
        return made

    def op(self, row: Any, inputs: Sequence[Value], dtype: Any, shape: Any, op: Operation, **attrs: str) -> Value:
        """The result of an instruction of one of TensorFlow's ops."""
        return self.instruction(f"tf.{row.name}", inputs, attrs, [Value(dtype, shape)], op)[0]

    def named(self, value: Value) -> str:
        """The name of a value; a constant gets its instruction when it is first asked for."""
        if value.name is None:
            value.name = f"%c{len(self._constants)}"
            text = mlir_text.elements(np.asarray(value.tensor), value.dtype)
            self._constants.append(f'  {value.name} = "tf.Const"() {{value = {text}}} : () -> {value.type}')
        return value.name

    def mark(self) -> tuple[int, int]:
        """A position to come back to."""
        return len(self._lines), len(self.module.functions)

    def back(self, position: tuple[int, int]) -> None:
        """Drops the instructions, and the functions that they call, since `mark` gave the position."""
        del self._lines[position[0] :]
        del self.module.functions[position[1] :]
