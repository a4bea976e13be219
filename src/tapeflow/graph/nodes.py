"""From a `NodeDef` and the tensors that are its inputs to an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core import device as placement
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import NotFoundError, OpError, UnimplementedError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph import (
    attributes,
    building,
    calls,  # noqa: F401 (says how calls run)
    op_defs,
    python_ops,
)
from tapeflow.graph.conditional import Body, relaxed
from tapeflow.graph.func_graph import copy_handle
from tapeflow.graph.graph import Graph
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import assertions
from tapeflow.ops.table import REGISTRY

# Nodes of loops and conditions as TensorFlow wrote them before these were functions.
_FRAMES = frozenset(
    ["Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond", "_SwitchN"]
)
# Bytes that constants may take altogether which do not stand in the GraphDef, but repeat a value that does.
_MOST_REPEATED = 1 << 31


class NodeMaker:
    """Makes operations of a graph.

    Args:
      functions: gives the bodies that nodes name.
      producer: the version of GraphDef that the nodes were written with.
      producer_defaults: by op, the defaults of attrs of who wrote them.
    """

    def __init__(self, graph: Graph, functions: Any, producer: int = 0, producer_defaults: Any = None):
        self.graph = graph
        self.functions = functions
        self.producer = producer
        self.producer_defaults = producer_defaults or {}
        self.repeated = 0

    def check_known(self, node: Any) -> None:
        """Raises NotFoundError or UnimplementedError for an op that cannot be made."""
        kind = node.op
        if kind in _FRAMES:
            raise UnimplementedError(
                node, None,
                f"Node '{node.name}' is a {kind}: control flow of Switch, Merge, Enter, Exit and NextIteration nodes is not "
                "supported. Write the graph with tf.compat.v1.enable_control_flow_v2(), which makes If and While nodes.",
            )  # fmt: skip
        if not op_defs.known(kind) and kind not in self.functions:
            load_all_rows()
            if op_defs.known(kind):
                return
            raise NotFoundError(
                node, None,
                f"Op type not registered '{kind}' in the op table (node '{node.name}'). Make sure the Op and Kernel are "
                "registered in the binary running in this process. Note that if you are loading a saved graph which used "
                "ops from tf.contrib (e.g. `tf.contrib.resampler`), accessing should be done before importing the graph, "
                "as contrib ops are lazily registered when the module is first accessed.",
            )  # fmt: skip

    def make(self, node: Any, inputs: Sequence[SymbolicTensor], name: str) -> Operation:
        """The operation, named `name`.

        Raises ValueError for attrs and inputs that are wrong.
        """
        kind = node.op
        try:
            if not op_defs.known(kind):
                op = self._call(node, inputs, name, {"f": protos.NameAttrList(name=kind)})
                definition = None
            else:
                definition = op_defs.op_def(kind)
                values = self._attrs(node, definition, inputs, name)
                _check_inputs(definition, values, inputs, name, node)
                special = _SPECIAL.get(kind)
                if special is None:
                    op = _row(self.graph, kind, inputs, values, definition, name)
                else:
                    op = special(self, node, inputs, name, values)
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

    def _finish(self, op: Operation, node: Any, definition: Any) -> None:
        known = {a.name for a in definition.attr} if definition is not None else ()
        defaults = self.producer_defaults.get(node.op, {})
        for key, attr in node.attr.items():
            if key == "_output_shapes":
                _set_shapes(op, attr)
            elif key not in known and not (key in defaults and defaults[key] == attr):
                op._set_attr(key, attributes.own_value(attr))
        if node.device:
            given = placement.DeviceSpec.from_string(placement.canonical_name(node.device))
            around = placement.DeviceSpec.from_string(op.device) if op.device else placement.DeviceSpec()
            op.device = given.make_merged_spec(around).to_string()

    def _attrs(self, node: Any, definition: Any, inputs: Sequence[Any], name: str) -> dict[str, Any]:
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
            _infer_types(definition, values, inputs)
            for attr in missing:
                if attr not in values:
                    raise _missing(attr, definition, name)
        return values

    def _value(self, node: Any, attr: Any, definition: Any, name: str) -> Any:
        proto = node.attr[attr.name]
        try:
            value = attributes.value_of(proto, attr.type, attr.name)
        except ValueError as error:
            raise ValueError(f"{error}\n\t; NodeDef: {{{{node {name}}}}}; {op_defs.short(definition)}") from None
        if attr.type == "tensor":
            self.repeated += max(0, value.nbytes - proto.ByteSize())
            if self.repeated > _MOST_REPEATED:
                raise ValueError(f"Constants up to node '{name}' take more than 2GB that are not in the GraphDef.")
        allowed = attr.allowed_values.list
        if attr.type == "type" and len(allowed.type) and value.as_datatype_enum not in allowed.type:
            choices = ", ".join(dtypes.as_dtype(t).name for t in allowed.type)
            raise ValueError(
                f"Value for attr '{attr.name}' of {value.name} is not in the list of allowed values: {choices}\n\t; NodeDef: "
                f"{{{{node {name}}}}}; {op_defs.short(definition)}"
            )
        if attr.type == "string" and len(allowed.s) and proto.s not in allowed.s:
            choices = ", ".join(f'"{s.decode()}"' for s in allowed.s)
            raise ValueError(
                f'Value for attr \'{attr.name}\' of "{value}" is not in the list of allowed values: {choices}\n\t; NodeDef: '
                f"{{{{node {name}}}}}; {op_defs.short(definition)}"
            )
        return value

    def body(self, function: Any, given: Sequence[SymbolicTensor], results: Sequence[DType] | None, name: str) -> Any:
        """The body of a function for these arguments, with results of these dtypes. Raises ValueError if it is not."""
        body = self.functions.body(function.name, name, given)
        body = Body(body.graph, list(body.outputs))  # a node's gradient may add outputs to its own
        for what, have, want in (
            ("arguments", [x.dtype for x in body.graph.inputs], [x.dtype for x in given]),
            ("results", [y.dtype for y in body.outputs], None if results is None else list(results)),
        ):
            if want is not None and have != want:
                raise ValueError(
                    f"Function '{function.name}' of node '{name}' has {what} of types {[t.name for t in have]}, but "
                    f"{[t.name for t in want]} are expected."
                )
        return body

    def _call(self, node: Any, inputs: Sequence[Any], name: str, values: dict[str, Any]) -> Operation:
        """A call of a function: `PartitionedCall`, whatever it was written as."""
        body = self.body(values["f"], inputs, values.get("Tout"), name)
        op = self.graph.add("PartitionedCall", None, tuple(inputs), (None,) * len(inputs), {"branches": [body]}, name + "/")
        for y in body.outputs:
            op.add_output(y.dtype, y.shape_tuple)
        return op


def load_all_rows() -> None:
    """Imports all modules of rows: which are needed is not known before."""
    import importlib
    import pkgutil

    import tapeflow.ops

    for module in pkgutil.iter_modules(tapeflow.ops.__path__):
        importlib.import_module(f"tapeflow.ops.{module.name}")


def _missing(attr: str, definition: Any, name: str) -> ValueError:
    return ValueError(f"NodeDef missing attr '{attr}' from {op_defs.short(definition)}; NodeDef: {{{{node {name}}}}}")


def _infer_types(definition: Any, values: dict[str, Any], inputs: Sequence[Any]) -> None:
    at = 0
    for argument in definition.input_arg:
        if argument.type_list_attr:
            count = len(values.get(argument.type_list_attr, ()))
        else:
            count = values.get(argument.number_attr, 0) if argument.number_attr else 1
        if argument.type_attr and argument.type_attr not in values and count and at < len(inputs):
            values[argument.type_attr] = inputs[at].dtype
        at += count


def _check_inputs(definition: Any, values: dict[str, Any], inputs: Sequence[Any], name: str, node: Any) -> None:
    expected: list[DType] = []
    for argument in definition.input_arg:
        if argument.number_attr and values[argument.number_attr] > len(inputs):
            expected += [None] * (len(inputs) + 1)  # type: ignore[list-item]
        else:
            expected += op_defs.dtypes_of(argument, values)
    if len(expected) != len(inputs):
        kinds = ", ".join("..." if t is None else t.name for t in expected)
        raise ValueError(
            f"NodeDef expected inputs '{kinds}' do not match {len(inputs)} inputs specified; {op_defs.short(definition)}; "
            f"NodeDef: {{{{node {name}}}}}"
        )
    for i, (want, x) in enumerate(zip(expected, inputs, strict=True)):
        if x.dtype.base_dtype != want.base_dtype:
            raise ValueError(
                f"Input {i} of node {name} was passed {x.dtype.name} from {x.name} incompatible with expected {want.name}."
            )


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
                f"Node '{op.name}' has an _output_shapes attribute inconsistent with the GraphDef for output #{i}: {error}"
            ) from None


def _row(graph: Graph, kind: str, inputs: Sequence[Any], values: dict[str, Any], definition: Any, name: str) -> Operation:
    row = REGISTRY[kind]
    own = {}
    for key, value in values.items():
        if key in row.attrs:
            own[key] = None if isinstance(value, TensorShape) and value.rank is None else value
    sizes = tuple(values[a.number_attr] if a.number_attr else None for a in definition.input_arg)
    try:
        return building.node(graph, row, tuple(inputs), sizes, building._checked_attrs(row, own), name + "/")
    except ValueError as error:
        raise ValueError(str(error).replace(f"{name}/}}}}", f"{name}}}}}")) from None


# Nodes without a row.

_Maker = Callable[[NodeMaker, Any, Sequence[SymbolicTensor], str, dict[str, Any]], Operation]
_SPECIAL: dict[str, _Maker] = {}


def _makes(*kinds: str) -> Callable[[_Maker], _Maker]:
    def register(function: _Maker) -> _Maker:
        _SPECIAL.update(dict.fromkeys(kinds, function))
        return function

    return register


def _tuple(shape: TensorShape) -> tuple[int | None, ...] | None:
    return None if shape.rank is None else tuple(shape.as_list())


@_makes("Const")
def _const(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    value = values["value"]
    if value.dtype != values["dtype"]:
        raise ValueError(
            f"Node '{name}': the value of the constant has dtype {value.dtype.name}, its attr dtype is {values['dtype'].name}"
        )
    return building.constant(maker.graph, value, name + "/").op


@_makes("Placeholder", "PlaceholderV2")
def _placeholder(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    shape = _tuple(values["shape"])
    if shape == () and node.op == "Placeholder" and maker.producer < 24:
        shape = None  # where a shape was not known, old writers left out its dimensions
    return building.placeholder(maker.graph, values["dtype"], shape, name + "/").op


@_makes("PlaceholderWithDefault")
def _placeholder_with_default(maker: NodeMaker, node: Any, inputs: Any, name: str, values: Any) -> Operation:
    op = _plain(maker, node.op, inputs, name, {"dtype": values["dtype"], "shape": values["shape"]})
    op.add_output(values["dtype"], _tuple(values["shape"]))
    return op


def _plain(maker: NodeMaker, kind: str, inputs: Sequence[Any], name: str, attrs: dict[str, Any]) -> Operation:
    return maker.graph.add(kind, None, tuple(inputs), (None,) * len(inputs), attrs, name + "/")


@_makes("NoOp", "ControlTrigger")
def _no_op(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    return _plain(maker, "NoOp", inputs, name, {})


@_makes("IdentityN")
def _identity_n(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    op = _plain(maker, "IdentityN", inputs, name, {})
    for x in inputs:
        op.add_output(x.dtype, x.shape_tuple)
    return op


@_makes("VarHandleOp")
def _variable_handle(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    op = _plain(maker, "VarHandleOp", (), name, values)
    handle = op.add_output(dtypes.resource, ())
    handle.handle_shape = _tuple(values["shape"])
    handle.handle_dtype = values["dtype"]
    return op


@_makes("Assert")
def _assert(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    summarize = values["summarize"]

    def run(condition: Any, *data: Any) -> list[Any]:
        assertions.check(condition, list(data), summarize)
        return []

    op = python_ops.node("Assert", run, inputs, (), name + "/", summarize=summarize)
    return op


@_makes("EagerPyFunc", "PyFunc", "PyFuncStateless")
def _python(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    raise UnimplementedError(
        node, None, f"Node '{name}' ({node.op}) calls a Python function, which is not in the GraphDef."
    )  # fmt: skip


# Nodes with bodies.


@_makes("PartitionedCall", "StatefulPartitionedCall")
def _call(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    return maker._call(node, inputs, name, values)


@_makes("If", "StatelessIf", "Case", "StatelessCase")
def _branches(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    case = node.op.endswith("Case")
    functions = values["branches"] if case else [values["then_branch"], values["else_branch"]]
    if not functions:
        raise ValueError(f"Node '{name}' has no branches")
    bodies = [maker.body(f, inputs[1:], values["Tout"], name) for f in functions]
    op = _plain(maker, "Case" if case else "If", inputs, name, {"branches": bodies})
    shapes = _shapes(values, len(values["Tout"]))
    for i, dtype in enumerate(values["Tout"]):
        shape = bodies[0].outputs[i].shape_tuple
        for other in bodies[1:]:
            shape = relaxed(shape, other.outputs[i].shape_tuple)
        op.add_output(dtype, shape if shapes is None else _merged(shapes[i], shape, name))
    return op


def _merged(shape: TensorShape, known: Any, name: str) -> tuple[int | None, ...] | None:
    try:
        return _tuple(shape.merge_with(TensorShape(known)))
    except ValueError as error:
        raise ValueError(f"output_shapes of node '{name}' contradict its functions: {error}") from None


def _shapes(values: dict[str, Any], count: int) -> list[TensorShape] | None:
    shapes = values["output_shapes"]
    return shapes if len(shapes) == count else None


@_makes("While", "StatelessWhile")
def _while(maker: NodeMaker, node: Any, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    kinds = values["T"]
    cond = maker.body(values["cond"], inputs, [dtypes.bool], name)
    body = maker.body(values["body"], inputs, kinds, name)
    op = _plain(maker, "While", inputs, name, {"cond": cond, "body": body, "n_vars": len(kinds)})
    shapes = _shapes(values, len(kinds))
    for i, x in enumerate(inputs):
        shape = relaxed(x.shape_tuple, body.outputs[i].shape_tuple) if shapes is None else _tuple(shapes[i])
        made = op.add_output(x.dtype, shape)
        copy_handle(x, made)
    return op
