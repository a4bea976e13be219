"""From a `NodeDef` and the tensors that are its inputs to an operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core import device as placement
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import NotFoundError, OpError, UnimplementedError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build import building
from tapeflow.graph.control_flow import (
    calls,  # noqa: F401 (says how calls run)
    tensor_array_gradients,  # noqa: F401 (says what gradients are)
)
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import attributes
from tapeflow.graph.nodes import (  # noqa: F401 (likewise)
    crossing,
    parsing_nodes,
    ragged_nodes,
    record_nodes,
    reference_nodes,
    resource_nodes,
)
from tapeflow.graph.nodes.node_kinds import SPECIAL
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import node_rows
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.binder import MOST_OUTPUTS, Schema, dtypes_of
from tapeflow.ops.state.resource_op import handle_of, row_of
from tapeflow.ops.table import REGISTRY
from tapeflow.ops.validate import type_text

# Bytes that constants may take altogether which do not stand in the GraphDef, but repeat a value that does.
_MOST_REPEATED = 1 << 31


class NodeMaker:
    """Makes operations of a graph.

    Args:
      functions: gives the bodies that nodes name.
      producer: the version of GraphDef that the nodes were written with.
      producer_defaults: by op, the defaults of attrs of who wrote them.
    """

    def __init__(
        self, graph: Graph, functions: Any, producer: int = 0, producer_defaults: Any = None
    ):
        self.graph = graph
        self.functions = functions
        self.producer = producer
        self.producer_defaults = producer_defaults or {}
        self.repeated = 0

    def check_known(self, node: protos.NodeDef) -> None:
        """Raises NotFoundError or UnimplementedError for an op that cannot be made."""
        kind = node.op
        if not (op_defs.has_row(kind) or kind in SPECIAL or kind in self.functions):
            load_all_rows()
            if op_defs.known(kind):
                return
            raise NotFoundError(
                node, None,
                f"Op type not registered '{kind}' in the op table (node '{node.name}'). Make sure the "
                "Op and Kernel are registered in the binary running in this process. Note that if you "
                "are loading a saved graph which used ops from tf.contrib (e.g. "
                "`tf.contrib.resampler`), accessing should be done before importing the graph, as "
                "contrib ops are lazily registered when the module is first accessed.",
            )  # fmt: skip

    def make(self, node: protos.NodeDef, inputs: Sequence[SymbolicTensor], name: str) -> Operation:
        """The operation, named `name`.

        Raises ValueError for attrs and inputs that are wrong.
        """
        kind = node.op
        try:
            if not op_defs.known(kind):
                op = self.call(node, inputs, name, {"f": protos.NameAttrList(name=kind)})
                definition = None
            else:
                definition, schema = op_defs.op_def(kind), op_defs.schema(kind)
                values = self._attrs(node, definition, inputs, name)
                _check_inputs(schema, values, inputs, name)
                _check_outputs(schema, values, name)
                if node_rows.has_kernel(kind) and kind not in SPECIAL:
                    node_rows.load_all()
                special = SPECIAL.get(kind)
                if special is not None:
                    op = special(self, node, inputs, name, values)
                elif op_defs.has_row(kind):
                    op = _row(self.graph, schema, inputs, values, name)
                else:
                    op = _defined(self.graph, schema, inputs, values, name)
        except OpError as error:
            if isinstance(error, (NotFoundError, UnimplementedError)):
                raise
            raise ValueError(f"{error.message} for node '{name}'") from None
        except TypeError as error:
            raise ValueError(f"{error} for node '{name}' ({kind})") from None
        except (ValueError, RecursionError, MemoryError):
            raise
        except Exception as error:  # a shape rule that an impossible attr took by surprise
            raise ValueError(f"{type(error).__name__} in node '{name}' ({kind}): {error}") from None
        self._finish(op, node, definition)
        return op

    def _finish(self, op: Operation, node: protos.NodeDef, definition: Any) -> None:
        known = {a.name for a in definition.attr} if definition is not None else ()
        defaults = self.producer_defaults.get(node.op, {})
        for key, attr in node.attr.items():
            if key == "_output_shapes":
                _set_shapes(op, attr)
            elif key not in known and not (key in defaults and defaults[key] == attr):
                op.set_attr(key, attributes.own_value(attr))
        if node.device:
            given = placement.DeviceSpec.from_string(placement.canonical_name(node.device))
            around = (
                placement.DeviceSpec.from_string(op.device) if op.device else placement.DeviceSpec()
            )
            op.device = given.make_merged_spec(around).to_string()

    def _attrs(
        self, node: protos.NodeDef, definition: Any, inputs: Sequence[Any], name: str
    ) -> dict[str, Any]:
        """The values of all attrs of the definition; defaults and types of inputs where they were left out."""
        values: dict[str, Any] = {}
        missing = []
        for attr in definition.attr:
            if attr.name in node.attr:
                value = self._value(node, attr, definition, name)
            elif attr.HasField("default_value"):
                value = attributes.value_of(attr.default_value, attr.type, attr.name)
            elif attr.type == "type":
                missing.append(attr.name)
                continue
            else:
                raise _missing(attr.name, definition, name)
            if attr.has_minimum and attr.type == "int" and value < attr.minimum:
                raise ValueError(
                    f"Value for attr '{attr.name}' of {value} must be at least minimum {attr.minimum}\n\t; NodeDef: "
                    f"{{{{node {name}}}}}; {op_defs.short(definition)}"
                )
            values[attr.name] = value
        if missing:
            schema = op_defs.schema(node.op)
            found = schema.inferred([x.dtype for x in inputs], schema.counts(values))
            for attr in missing:
                if attr not in found:
                    raise _missing(attr, definition, name)
                values[attr] = found[attr]
        return values

    def _value(self, node: protos.NodeDef, attr: Any, definition: Any, name: str) -> Any:
        proto = node.attr[attr.name]
        if attr.type == "tensor" and proto.tensor.dtype == dtypes.resource.as_datatype_enum:
            return handle_of(None)  # what it stood for was in another process
        try:
            value = attributes.value_of(proto, attr.type, attr.name)
        except ValueError as error:
            raise ValueError(
                f"{error}\n\t; NodeDef: {{{{node {name}}}}}; {op_defs.short(definition)}"
            ) from None
        if attr.type == "tensor":
            self.repeated += max(0, value.nbytes - proto.ByteSize())
            if self.repeated > _MOST_REPEATED:
                raise ValueError(
                    f"Constants up to node '{name}' take more than 2GB that are not in the GraphDef."
                )
        allowed = attr.allowed_values.list
        if attr.type == "type" and len(allowed.type) and value.as_datatype_enum not in allowed.type:
            choices = ", ".join(type_text(dtypes.as_dtype(t)) for t in allowed.type)
            raise ValueError(
                f"Value for attr '{attr.name}' of {type_text(value)} is not in the list of allowed "
                f"values: {choices}\n\t; NodeDef: "
                f"{{{{node {name}}}}}; {op_defs.short(definition)}"
            )
        if attr.type == "string" and len(allowed.s) and proto.s not in allowed.s:
            choices = ", ".join(f'"{s.decode()}"' for s in allowed.s)
            raise ValueError(
                f"Value for attr '{attr.name}' of \"{value}\" is not in the list of allowed "
                f"values: {choices}\n\t; NodeDef: "
                f"{{{{node {name}}}}}; {op_defs.short(definition)}"
            )
        return value

    def body(
        self,
        function: Any,
        given: Sequence[SymbolicTensor],
        results: Sequence[DType] | None,
        name: str,
    ) -> Any:
        """The body of a function for these arguments, with results of these dtypes. Raises ValueError if it is not."""
        body = self.functions.body(function.name, name, given)
        body = Body(body.graph, list(body.outputs))  # a node's gradient may add outputs to its own
        for what, have, want in (
            ("arguments", [x.dtype for x in body.graph.inputs], [x.dtype for x in given]),
            (
                "results",
                [y.dtype for y in body.outputs],
                None if results is None else list(results),
            ),
        ):
            if want is not None and have != want:
                raise ValueError(
                    f"Function '{function.name}' of node '{name}' has {what} of types {[t.name for t in have]}, but "
                    f"{[t.name for t in want]} are expected."
                )
        return body

    def call(
        self, node: protos.NodeDef, inputs: Sequence[Any], name: str, values: dict[str, Any]
    ) -> Operation:
        """A call of a function: `PartitionedCall`, whatever it was written as."""
        body = self.body(values["f"], inputs, values.get("Tout"), name)
        op = self.graph.add(
            "PartitionedCall",
            None,
            tuple(inputs),
            (None,) * len(inputs),
            {"branches": [body]},
            name + "/",
        )
        for y in body.outputs:
            op.add_output(y.dtype, y.shape_tuple)
        return op


def _missing(attr: str, definition: Any, name: str) -> ValueError:
    return ValueError(
        f"NodeDef missing attr '{attr}' from {op_defs.short(definition)}; NodeDef: {{{{node {name}}}}}"
    )


def _check_inputs(schema: Schema, values: dict[str, Any], inputs: Sequence[Any], name: str) -> None:
    expected = schema.expected(values, len(inputs))
    if len(expected) != len(inputs):
        kinds = ", ".join("..." if t is None else type_text(t) for t in expected)
        raise ValueError(
            f"NodeDef expected inputs '{kinds}' do not match {len(inputs)} inputs specified; "
            f"{op_defs.short(op_defs.op_def(schema.name))}; "
            f"NodeDef: {{{{node {name}}}}}"
        )
    for i, (want, x) in enumerate(zip(expected, inputs, strict=True)):
        if want is not None and x.dtype.base_dtype != want.base_dtype:
            raise ValueError(
                f"Input {i} of node {name} was passed {type_text(x.dtype)} from {x.name} "
                f"incompatible with expected {type_text(want)}."
            )


def _check_outputs(schema: Schema, values: dict[str, Any], name: str) -> None:
    for argument in schema.outputs:
        count = values[argument.length] if argument.length else 0
        if not 0 <= count <= MOST_OUTPUTS:
            raise ValueError(f"Node '{name}' cannot have {count} outputs, as its attr '{argument.length}' says")


def _set_shapes(op: Operation, attr: Any) -> None:
    """Takes what `_output_shapes` tells of outputs. Raises ValueError if it contradicts what is known."""
    shapes = attributes.value_of(attr, "list(shape)", "_output_shapes")
    if len(shapes) != len(op.outputs):
        return
    for i, (y, shape) in enumerate(zip(op.outputs, shapes, strict=True)):
        try:
            y.set_shape(shape)
        except ValueError as error:
            raise ValueError(
                f"Node '{op.name}' has an _output_shapes attribute inconsistent with the GraphDef "
                f"for output #{i}: {error}"
            ) from None


def _defined(graph: Graph, schema: Schema, inputs: Sequence[Any], values: dict[str, Any], name: str) -> Operation:
    """An operation that can be in a graph, but not run."""
    op = graph.add(schema.name, None, tuple(inputs), (None,) * len(inputs), values, name + "/")
    if row_of(schema.name) is not None:
        return resource_nodes.finish(op)
    for argument in schema.outputs:
        for dtype in dtypes_of(argument, values):
            op.add_output(dtype, None)
    return op


def _row(graph: Graph, schema: Schema, inputs: Sequence[Any], values: dict[str, Any], name: str) -> Operation:
    row = REGISTRY[schema.name]
    own = {}
    for key, value in values.items():
        if key in row.attrs:
            own[key] = None if isinstance(value, TensorShape) and value.rank is None else value
    sizes = tuple(values[a.length] if a.length else None for a in schema.inputs)
    try:
        return building.node(graph, row, tuple(inputs), sizes, schema.checked(own), name + "/")
    except ValueError as error:
        raise ValueError(str(error).replace(f"{name}/}}}}", f"{name}}}}}")) from None
