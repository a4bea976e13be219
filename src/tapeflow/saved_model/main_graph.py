"""The graph of a SavedModel that sessions run: variables, signatures, and what saves, restores and fills them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.files import tensor_proto
from tapeflow.core.specs.protocol import type_spec_of
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.interchange import attributes
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.control.grouping import NoOp
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.ops.state.rows import AssignVariableOp, ReadVariableOp
from tapeflow.saved_model import structures
from tapeflow.saved_model.constants import PREDICT_METHOD_NAME


class Contents(NamedTuple):
    """How the contents of a table are saved: by functions, whose captures are tensors of the graph.

    Attributes:
      key: of the table in the checkpoint; `ends` is what the keys of its tensors add to it.
    """

    key: str
    ends: Sequence[str]
    save: str
    save_definition: Any
    save_captures: Sequence[str]
    restore: str
    restore_definition: Any
    restore_captures: Sequence[str]


class MainGraph:
    """A `GraphDef` in the making.

    Attributes:
      graph: the message.
      initializers: names of the nodes that run when a session loads the model.
      assets: pairs of the tensor that takes a file's path, and the file's name.
    """

    def __init__(self, graph_version: int):
        self.graph = protos.GraphDef()
        self.graph.versions.producer = graph_version
        self.graph.versions.min_consumer = 12
        self.initializers: list[str] = []
        self.assets: list[tuple[str, str]] = []
        self._taken: set[str] = set()

    # Nodes.

    def free_name(self, name: str) -> str:
        """`name`, with a number behind it if it is taken; letter case does not count, as for files."""
        found, count = name, 0
        while found.lower() in self._taken:
            count += 1
            found = f"{name}_{count}"
        self._taken.add(found.lower())
        return found

    def node(
        self,
        kind: str,
        name: str,
        inputs: Sequence[str] = (),
        shapes: Sequence[Any] | None = None,
        **attrs: tuple[Any, str],
    ) -> str:
        """Adds a node; attrs are pairs of a value and its kind. Returns the name it got."""
        made = self.graph.node.add(op=kind, name=self.free_name(name))
        made.input.extend(inputs)
        for key, (value, what) in attrs.items():
            made.attr[key].CopyFrom(attributes.of(value, what))
        if shapes is not None:
            made.attr["_output_shapes"].CopyFrom(
                attributes.of([TensorShape(s) for s in shapes], "list(shape)")
            )
        return made.name

    def constant(self, value: Any, name: str = "Const") -> str:
        """A constant, of an eager tensor or an array."""
        proto = (
            tensor_proto.make_tensor_proto(value)
            if isinstance(value, np.ndarray)
            else tensor_proto.of_tensor(value)
        )
        made = self.graph.node.add(op="Const", name=self.free_name(name))
        made.attr["dtype"].type = proto.dtype
        made.attr["value"].tensor.CopyFrom(proto)
        shape = attributes.shape_of(proto.tensor_shape, name)
        made.attr["_output_shapes"].CopyFrom(attributes.of([shape], "list(shape)"))
        return made.name

    def strings(self, values: Sequence[str], name: str) -> str:
        """A constant vector of strings."""
        return self.constant(np.array([v.encode() for v in values], object), name)

    def placeholder(self, dtype: Any, shape: Any, name: str) -> str:
        return self.node(
            "Placeholder", name, (), [shape], dtype=(dtype, "type"), shape=(TensorShape(shape), "shape")
        )  # fmt: skip

    def call(self, function: str, definition: Any, inputs: Sequence[str], shapes: Any = None) -> str:
        """A call of a function of the library."""
        signature = definition.signature
        made = self.graph.node.add(
            op="StatefulPartitionedCall", name=self.free_name("StatefulPartitionedCall")
        )
        made.input.extend(inputs)
        made.attr["Tin"].list.type.extend(a.type for a in signature.input_arg)
        made.attr["Tout"].list.type.extend(a.type for a in signature.output_arg)
        made.attr["Tin"].list.SetInParent()
        made.attr["Tout"].list.SetInParent()
        made.attr["f"].func.name = function
        if shapes is not None:
            made.attr["_output_shapes"].CopyFrom(
                attributes.of([TensorShape(s) for s in shapes], "list(shape)")
            )
        return made.name

    # Resources.

    def variable(self, name: str, dtype: Any, shape: Any, device: str = "") -> str:
        """The handle of a variable."""
        handle = self.node(
            VarHandleOp.name, name, (), [()], dtype=(dtype, "type"), shape=(TensorShape(shape), "shape"),
            shared_name=(name, "string"), container=("", "string"),
        )  # fmt: skip
        made = self.graph.node[-1]
        made.attr["shared_name"].s = handle.encode()
        made.device = device
        self.read(handle, dtype, shape)
        return handle

    def read(self, handle: str, dtype: Any, shape: Any) -> str:
        return self.node(
            ReadVariableOp.name, f"{handle}/Read/{ReadVariableOp.name}", [handle], [shape], dtype=(dtype, "type")
        )  # fmt: skip

    def asset(self, filename: str) -> tuple[str, str]:
        """The placeholder of a file's path, and the tensor of the path once the model is initialised."""
        placeholder = self.placeholder(dtypes.string, (), "asset_path_initializer")
        handle = self.variable("Variable", dtypes.string, ())
        self.initializers.append(
            self.node(AssignVariableOp.name, f"{handle}/Assign", [handle, placeholder], dtype=(dtypes.string, "type"))
        )  # fmt: skip
        self.assets.append((f"{placeholder}:0", filename))
        return placeholder, f"{handle}/Read/{ReadVariableOp.name}"

    def resource(self, definition: Any, inputs: Sequence[str]) -> str:
        """The nodes of the function that makes a resource, written out: a session keeps what they make."""
        given = {
            argument.name: text
            for argument, text in zip(definition.signature.input_arg, inputs, strict=True)
        }
        names: dict[str, str] = {}
        for node in definition.node_def:
            names[node.name] = self.free_name(node.name)
            copy = self.graph.node.add()
            copy.CopyFrom(node)
            copy.name = names[node.name]
            del copy.input[:]
            copy.input.extend(_outer(text, given, names) for text in node.input)
        return _outer(next(iter(definition.ret.values())), given, names)

    # Saving.

    def saver(self, saved: list[tuple[str, Any, Any, str]], contents: list[Contents]) -> Any:
        """The nodes that save and restore, as their `SaverDef`.

        Args:
          saved: key, dtype, shape and handle of each variable.
          contents: those of tables.
        """
        filename = self.placeholder(dtypes.string, (), "saver_filename")
        keys, values, kinds = [], [], []
        for key, dtype, shape, handle in saved:
            keys.append(key)
            kinds.append(dtype)
            values.append(self.read(handle, dtype, shape))
        for each in contents:
            key = self.constant(np.array(each.key.encode(), object), "checkpoint_key")
            node = self.call(each.save, each.save_definition, [key, *each.save_captures])
            keys += [each.key + end for end in each.ends]
            # Of each tensor the function returns its name, the part that it is, and itself.
            values += [_at(node, 3 * i + 2) for i in range(len(each.ends))]
            kinds += [as_dtype(a.type) for a in each.save_definition.signature.output_arg[2::3]]
        names = self.strings(keys, "SaveV2/tensor_names")
        slices = self.strings([""] * len(keys), "SaveV2/shape_and_slices")
        save = self.node(
            "SaveV2", "SaveV2", [filename, names, slices, *values], dtypes=(kinds, "list(type)")
        )  # fmt: skip
        done = self.node(Identity.name, Identity.name, [filename, f"^{save}"], [()], T=(dtypes.string, "type"))
        restore = self.node(
            "RestoreV2", "RestoreV2", [filename, names, slices], dtypes=(kinds, "list(type)")
        )
        assigned = []
        for i, (_, dtype, _, handle) in enumerate(saved):
            given = [handle, _at(restore, i)]
            assigned.append(self.node(AssignVariableOp.name, AssignVariableOp.name, given, dtype=(dtype, "type")))
        at = len(saved)
        for each in contents:
            given = [_at(restore, at + i) for i in range(len(each.ends))]
            at += len(each.ends)
            assigned.append(
                self.call(each.restore, each.restore_definition, [*given, *each.restore_captures])
            )
        group = self.node(NoOp.name, "restore_all", [f"^{name}" for name in assigned])
        return protos.SaverDef(
            filename_tensor_name=f"{filename}:0", save_tensor_name=f"{done}:0", restore_op_name=group,
            version=2,
        )  # fmt: skip

    # Signatures.

    def _input(self, name: str, x: Any, default: Any) -> str:
        """The placeholder of an input. Raises ValueError for a default that it cannot have."""
        name = _safe(name)
        if default is None:
            return self.placeholder(x.dtype, x.shape, name)
        if default.dtype != x.dtype or not x.shape.is_compatible_with(default.shape):
            raise ValueError(
                f"The default of '{name}' is {default.dtype.name} of shape {default.shape}, but it takes "
                f"{x.dtype.name} of shape {x.shape}."
            )
        value = self.constant(default, f"{name}/input")
        return self.node(
            "PlaceholderWithDefault", name, [value], [x.shape], dtype=(x.dtype, "type"),
            shape=(TensorShape(x.shape), "shape"),
        )  # fmt: skip

    def signature(
        self, key: str, concrete: Any, function: str, definition: Any, captured: Sequence[str]
    ) -> Any:
        """The nodes of a signature, as its `SignatureDef`."""
        made = protos.SignatureDef(method_name=PREDICT_METHOD_NAME)
        inputs = []
        for name, x in zip(concrete.argument_names, concrete.graph.inputs, strict=False):
            node = self._input(f"{key}_{name}", x, concrete.defaults.get(name))
            made.inputs[name].CopyFrom(_info(f"{node}:0", x))
            inputs.append(node)
            if name in concrete.defaults:
                made.defaults[name].CopyFrom(tensor_proto.of_tensor(concrete.defaults[name]))
        shapes = [y.shape for y in concrete.graph.outputs]
        node = self.call(function, definition, [*inputs, *captured], shapes)
        at = 0
        for name in sorted(concrete.graph.structured_outputs):  # the order in which dicts are flattened
            value = concrete.graph.structured_outputs[name]
            count = len(nest.flatten(value, expand_composites=True))
            parts = concrete.graph.outputs[at : at + count]
            infos = [_info(f"{node}:{at + i}", y) for i, y in enumerate(parts)]
            at += count
            if count == 1 and value is parts[0]:
                made.outputs[name].CopyFrom(infos[0])
            else:
                composite = made.outputs[name].composite_tensor
                spec = structures.encode(type_spec_of(value))
                composite.type_spec.CopyFrom(spec.type_spec_value)
                composite.components.extend(infos)
        return made


def _safe(name: str) -> str:
    """A name that a scope can have."""
    plain = re.sub(r"[^A-Za-z0-9_.\\-]", "_", name)
    return plain if re.match("[A-Za-z0-9.]", plain) else f".{plain}"


def _at(node: str, number: int) -> str:
    return f"{node}:{number}" if number else node


def _info(name: str, tensor: Any) -> Any:
    made = protos.TensorInfo(name=name, dtype=tensor.dtype.as_datatype_enum)
    made.tensor_shape.CopyFrom(attributes.of(TensorShape(tensor.shape), "shape").shape)
    return made


def _outer(text: str, given: dict[str, str], names: dict[str, str]) -> str:
    """An input of a node of a function as one of a graph. Only first outputs are referred to."""
    mark = "^" if text.startswith("^") else ""
    name, *rest = text.removeprefix("^").split(":")
    if name in given:
        return mark + given[name]
    number = rest[-1] if len(rest) > 1 else "0"
    return mark + (names[name] if number == "0" else f"{names[name]}:{number}")

