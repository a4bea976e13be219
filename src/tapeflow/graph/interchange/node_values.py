"""The values of the attrs of a node."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build import tracing
from tapeflow.graph.control_flow import conditional
from tapeflow.graph.interchange import attributes, written_loops
from tapeflow.graph.interchange.written_as import composition, is_composed
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.operation import Operation
from tapeflow.ops.binder import Schema

# What nodes that call Python functions are written with. Nothing looks a function up by it.
_tokens = itertools.count()


def values_of(op: Operation, definition: Any) -> dict[str, Any]:
    """The Python value of each attr of the definition."""
    special = _composite if is_composed(op.row) else _BODIES.get(op.type)
    if special is not None:
        return special(op)
    if not op_defs.known(definition.name):
        return dict(op.attrs)
    schema = op_defs.schema(definition.name)
    found = schema.inferred([x.dtype.base_dtype for x in op.inputs], _counts(op, schema))
    for name in {a.kinds for a in schema.outputs if a.kinds} - found.keys():
        found[name] = op.attrs[name] if name in op.attrs else [y.dtype for y in op.outputs]
    for attr in definition.attr:
        name = attr.name
        if name in op.attrs and name not in found:
            found[name] = _plain(op.attrs[name], attr.type)
        elif name not in found:
            found[name] = _otherwise(op, attr)
    return {
        name: found[name] for name in (a.name for a in definition.attr) if found[name] is not None
    }


def _plain(value: Any, kind: str) -> Any:
    return TensorShape(None) if value is None and kind == "shape" else value


def _otherwise(op: Operation, attr: Any) -> Any:
    """The value of an attr that was not given: its default."""
    if attr.HasField("default_value"):
        return attributes.value_of(attr.default_value, attr.type, attr.name)
    if attr.type == "type":
        allowed = attr.allowed_values.list.type
        return dtypes.as_dtype(allowed[0]) if len(allowed) else None
    if attr.name == "token":
        return op.attrs.setdefault("token", f"pyfunc_{next(_tokens)}")
    if attr.type == "shape":
        return TensorShape(None)
    return None


def _counts(op: Operation, schema: Schema) -> Sequence[int | None]:
    """How many tensors each input of an op is."""
    if op.row is not None and op.row.schema is schema:
        return op.input_sizes
    return schema.counts(op.attrs, len(op.inputs))


def _branches(op: Operation) -> dict[str, Any]:
    bodies = op.attrs["branches"]
    shared = {
        "Tin": [x.dtype for x in op.inputs[1:]],
        "Tout": [y.dtype for y in op.outputs],
        "output_shapes": [TensorShape(y.shape_tuple) for y in op.outputs],
    }
    if op.type == "Case":
        return {**shared, "branches": bodies}
    return {
        **shared,
        "Tcond": op.inputs[0].dtype,
        "then_branch": bodies[0],
        "else_branch": bodies[1],
    }


def _call(op: Operation) -> dict[str, Any]:
    return _call_of(op, op.attrs["branches"][0])


def _composite(op: Operation) -> dict[str, Any]:
    """A call of what the row is composed of, as only this library knows the row."""
    if op.composite is None:
        attrs = {**op.row.defaults, **op.attrs}
        compose = composition(op.row)
        with context.init_scope():
            made = tracing.body(op.type, lambda *own: compose(*own, **attrs), op.inputs)
        op.composite = conditional.Body(made, list(made.outputs))
    return _call_of(op, op.composite)


def _call_of(op: Operation, body: Callable[..., Any]) -> dict[str, Any]:
    return {
        "Tin": [x.dtype for x in op.inputs],
        "Tout": [y.dtype for y in op.outputs],
        "f": body,
        "config": "",
        "config_proto": "",
        "executor_type": "",
    }


_BODIES: dict[str, Callable[[Operation], dict[str, Any]]] = {
    "If": _branches, "Case": _branches, "While": written_loops.values, "PartitionedCall": _call,
}  # fmt: skip
