"""`Operation`: a node of a graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import device as placement
from tapeflow.core import public
from tapeflow.core.annotations import Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.files.tensor_proto import make_tensor_proto
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.graph import tensor as tensors
from tapeflow.graph.interchange import attributes
from tapeflow.graph.op_defs import messages
from tapeflow.graph.services import services
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.node_rows import acts
from tapeflow.ops.state.resource_op import row_of
from tapeflow.ops.table import REGISTRY

if TYPE_CHECKING:
    from tapeflow.graph.func_graph import FuncGraph
    from tapeflow.graph.graph import Graph

PACKAGE = public.PACKAGE_DIRECTORY
_CONTROL_FLOW = ("If", "Case", "While", "PartitionedCall")
# Runs an operation in a session: (operation, feeds, session) -> None; set by `graph.session`.
run_operation: Any = None


def register_run(run: Callable[[Any, Any, Any], None]) -> None:
    """Say what runs an operation."""
    global run_operation
    run_operation = run


def user_frame() -> tuple[str, int, str]:
    """File, line and function of the innermost frame outside of this package."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return code.co_filename, frame.f_lineno, code.co_name
        frame = frame.f_back
    return "<unknown>", 0, "<unknown>"


@api("Operation")
class Operation:
    """A node: an op, its inputs, its attrs.

    Attributes:
      graph: where it is.
      name: unique in the graph.
      type: the name of the op.
      row: the op's row, or None for the few nodes that only graphs have, such as Placeholder.
      inputs: tuple of tensors, lists spread out.
      input_sizes: for each input of the row None, or the length of the list that it is.
      attrs: the row's attrs that were given, as Python values.
      outputs: list of tensors.
      control_inputs: operations that run before this one.
      device: what tf.device said, or "".
      defined_at: file, line and function of the user's code that made it.
      custom_gradient: None, or f(op, *gradients of the outputs) -> gradients of the inputs.
    """

    __slots__ = (
        "graph", "name", "type", "row", "inputs", "input_sizes", "attrs", "outputs", "control_inputs",
        "device", "defined_at", "custom_gradient", "index", "_extra", "gradient_of", "composite",
        "__weakref__", "__dict__",  # programs give operations attributes of their own
    )  # fmt: skip
    graph: Any
    type: Any
    row: Any
    inputs: Any
    input_sizes: Any
    attrs: Any
    name: Any
    device: Any
    control_inputs: Any
    custom_gradient: Any
    defined_at: Any
    outputs: list[SymbolicTensor]
    index: float  # its place in the order in which operations run
    _extra: dict[str, Any] | None
    gradient_of: Operation | None  # the one whose gradient it computes
    composite: Any  # what its row is composed of, once it was written

    def __new__(
        cls, node_def: Any, g: Any, inputs: Any = None, output_types: Any = None, control_inputs: Any = None,
        input_types: Any = None, original_op: Any = None, op_def: Any = None,
    ) -> Operation:  # fmt: skip
        """Add the operation that a `NodeDef` describes to a graph.

        Args:
          node_def: a `NodeDef`; the inputs that it names are left out of account.
          g: the graph.
          inputs: list of tensors of the graph. Where there are none, those that the op needs can follow, by
            `_add_input`, until it runs.
          output_types: the dtypes of the outputs, which are checked.
          control_inputs: operations, or tensors, that run before it.
          input_types: not used: the op says which they are.
          original_op: the operation whose gradient it computes.
          op_def: not used: the ops are known.

        Returns:
          The operation.

        Raises:
          TypeError: for arguments of the wrong type.
          ValueError: for a node that cannot be in the graph.
        """
        return services().library_nodes().from_node_def(node_def, g, inputs, output_types, control_inputs, original_op)

    @classmethod
    def from_node_def(cls, *args: Any, **kwargs: Any) -> Operation:
        """Add the operation that a `NodeDef` describes to a graph; the arguments are those of the class.

        Returns:
          The operation.
        """
        return cls(*args, **kwargs)

    @classmethod
    def make(
        cls, graph: FuncGraph | Graph, kind, row: Callable[..., Any] | None, inputs: Sequence[Tensor],
        input_sizes: Sequence[Any], attrs: dict[str, Any], name: str, device: str, control_inputs: Sequence[Any],
    ):
        """A new operation, which its graph has still to take."""
        self = object.__new__(cls)
        self.graph = graph
        self.type = kind
        self.row = row
        self.inputs = inputs
        self.input_sizes = input_sizes
        self.attrs = attrs
        self.name = name
        self.device = device
        self.control_inputs = control_inputs
        self.outputs = []
        self.custom_gradient = None
        self.defined_at = user_frame()
        self.index = -1
        self._extra = None
        self.gradient_of = None
        self.composite = None
        return self

    def _control_flow_post_processing(self, input_tensors: Any = None) -> None:
        """Nothing is left to do for an operation that was added."""

    def _get_control_flow_context(self) -> None:
        """None: branches and loops have graphs of their own."""

    def _set_control_flow_context(self, ctx: None) -> None:
        """Takes None, what `_get_control_flow_context` gives. Raises ValueError for another one."""
        if ctx is not None:
            raise ValueError("Branches and loops have graphs of their own: there is no context of control flow.")

    _is_stateful = property(lambda self: bool(self.effects))

    @property
    def _output_types(self) -> list[Any]:
        return [y.dtype.as_datatype_enum for y in self.outputs]

    def add_output(self, dtype: DType, shape: tuple[int | None, ...] | None) -> SymbolicTensor:
        """Give the operation one more output; return its tensor."""
        tensor = tensors.output_of(self, len(self.outputs), dtype, shape)
        self.outputs.append(tensor)
        return tensor

    @property
    def stateful(self) -> bool:
        """Whether a run of it has effects, or results that differ from run to run."""
        if self.row is not None:
            return self.row.stateful
        if self.type in ("If", "Case", "PartitionedCall"):
            return any(
                op.stateful for body in self.attrs["branches"] for op in body.graph.operations
            )
        if self.type == "While":
            bodies = (self.attrs["cond"], self.attrs["body"])
            return any(op.stateful for body in bodies for op in body.graph.operations)
        row = REGISTRY.get(self.type)
        if row is not None:
            return row.stateful
        if self.type in _STATEFUL or row_of(self.type) is not None or acts(self.type):
            return True
        return bool(self.attrs.get("stateful"))

    @property
    def forwards(self) -> bool:
        """Whether its outputs are its inputs."""
        return self.row.forwards if self.row is not None else messages.forwards(self.type)

    @property
    def effects(self) -> bool:
        """Whether a run of it is noticed by others, so that it runs though nobody needs its outputs."""
        if self.type in ("If", "Case", "PartitionedCall"):
            return any(
                op.effects for body in self.attrs["branches"] for op in body.graph.operations
            )
        if self.type == "While":
            bodies = (self.attrs["cond"], self.attrs["body"])
            return any(op.effects for body in bodies for op in body.graph.operations)
        row = self.row or REGISTRY.get(self.type)
        return self.stateful if row is None else row.effects

    @property
    def reads_only(self) -> bool:
        """Whether it leaves resources that it takes as they are."""
        definition = self.row or row_of(self.type)
        return not self.effects or (definition is not None and definition.reads_only)

    @property
    def traceback(self) -> list[Any]:
        import traceback

        file, line, function = self.defined_at
        return [traceback.FrameSummary(file, line, function)]

    _original_op = property(lambda self: self.gradient_of)

    _id = property(lambda self: self.index)

    @property
    def op_def(self) -> Any:
        return services().graph_def().op_def(self)

    @property
    def node_def(self) -> Any:
        return services().graph_def().node_def(self)

    # Attrs.

    def get_attr(self, name: str) -> Any:
        """The value of an attr. Raises ValueError if there is none of this name."""
        extra = self._extra
        if extra is not None and name in extra:
            return extra[name]
        if name in self.attrs and self.type not in _CONTROL_FLOW:
            value = _plain(self.attrs[name])
            return value.encode() if isinstance(value, str) and row_of(self.type) is not None else value
        row = self.row
        if row is not None:
            if name in row.defaults:
                return _plain(row.defaults[name])
            found = self.inferred_attrs().get(name)
            if found is not None:
                return found
        elif self.type in _CONTROL_FLOW:
            known = self.graph.written_nodes()[self.name].attr
            if name in known:
                return attributes.own_value(known[name])
        elif name in ("T", "dtype") and self.outputs:
            return self.outputs[0].dtype
        raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")

    def inferred_attrs(self) -> dict[str, Any]:
        """Those that follow from the inputs: type variables, and lengths of lists."""
        return self.row.schema.inferred([x.dtype.base_dtype for x in self.inputs], self.input_sizes)

    @property
    def list_sizes(self) -> list[int]:
        """The length of each input that is a list."""
        return [size for size in self.input_sizes if size is not None]

    def set_attr(self, name: str, value: Any) -> None:
        """Give it an attr that its row does not know."""
        if self._extra is None:
            self._extra = {}
        if hasattr(value, "WhichOneof"):  # an AttrValue
            value = attributes.own_value(value)
        self._extra[name] = value

    _set_attr = set_attr  # as TensorFlow spells it, like the methods below

    def take_attrs(self, attrs: Mapping[str, Any]) -> None:
        """Give it all of these attrs in the place of those that its row does not know."""
        self._extra = dict(attrs)

    @property
    def extra_attrs(self) -> dict[str, Any]:
        """Attrs that the row does not know, such as `_class`."""
        return self._extra or {}

    def _set_device(self, device: Any) -> None:
        self.device = placement.canonical_name(device)

    # Edges.

    def _add_control_input(self, op: Operation) -> None:
        self.add_control_inputs([op])

    def add_control_inputs(self, ops: list[Operation]) -> None:
        """Let it run after other operations of its graph. Raises ValueError for one of another graph."""
        for op in ops:
            if op.graph is not self.graph:
                raise ValueError(f"{op.name} must be from the same graph as {self.name}.")
            if op not in self.control_inputs:
                self.control_inputs.append(op)
                if op.index > self.index:
                    self.graph.reordered = True
        self.graph.edited()

    _add_control_inputs = add_control_inputs

    def remove_control_inputs(self) -> None:
        """Let it wait for its inputs alone."""
        self.control_inputs = []
        self.graph.edited()

    _remove_all_control_inputs = remove_control_inputs

    def _add_input(self, tensor: SymbolicTensor, dtype: Any = None) -> None:
        """Gives an operation that was described without its inputs the next of them."""
        services().library_nodes().add_input(self, tensor)

    def update_input(self, index: int, tensor: SymbolicTensor) -> None:
        """Give it another tensor of its graph as an input; raises an error for a shape that does not fit."""
        if not 0 <= index < len(self.inputs):
            raise OutOfRangeError(None, None, f"Cannot update edge. Input index [{index}] is greater than the "
                                  f"number of total inputs [{len(self.inputs)}].")  # fmt: skip
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor.name} must be from the same graph as {self.name}.")
        inputs = list(self.inputs)
        before = inputs[index]
        if not tensor.shape.is_compatible_with(before.shape):
            raise InvalidArgumentError(
                None,
                None,
                f"Cannot update edge, incompatible shapes: {_bracketed(tensor)} and {_bracketed(before)}.",
            )
        self.graph.mistyped.pop(self, None)
        if tensor.dtype != before.dtype:
            self.graph.mistyped[self] = (
                f"Input {index} of node {self.name} was passed {tensor.dtype.name} from {tensor.name} incompatible "
                f"with expected {before.dtype.name}."
            )
        inputs[index] = tensor
        self.inputs = tuple(inputs)
        if tensor.op.index >= self.index:
            self.graph.reordered = True
        self.graph.edited()

    _update_input = update_input

    @property
    def _control_outputs(self) -> list[Operation]:
        return [op for op in self.graph.operations if self in op.control_inputs]

    def values(self) -> tuple[SymbolicTensor, ...]:
        """The outputs."""
        return tuple(self.outputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs it in `session` or the default one."""
        run_operation(self, feed_dict, session)

    def colocation_groups(self) -> list[bytes]:
        """The names of the operations that this one is placed with, as b"loc:@NAME"."""
        return list(self.extra_attrs.get("_class", [b"loc:@" + self.name.encode()]))

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)

    def __copy__(self) -> Operation:
        return self

    def __deepcopy__(self, memo: Any) -> Operation:
        return self


def _bracketed(x: SymbolicTensor) -> str:
    sizes = x.shape_tuple
    return (
        "<unknown>"
        if sizes is None
        else "[" + ",".join("?" if d is None else str(d) for d in sizes) + "]"
    )


_STATEFUL = frozenset(["EagerPyFunc", "PyFunc", "Assert", "PrintV2", "Print"])


def _plain(value: Any) -> Any:
    if isinstance(value, TensorShape):
        return as_shape(value).as_proto() if hasattr(value, "as_proto") else value
    if isinstance(value, _native.EagerTensor):
        return make_tensor_proto(value.numpy(), value.dtype)
    return value
