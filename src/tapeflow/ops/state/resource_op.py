"""Ops of objects behind handles, such as queues: their inputs and outputs may be lists of several dtypes.

`resource_op` makes the row of one of a signature and a Python kernel. Eagerly a call runs the kernel; while a graph is
built, `build`, which the `graph` package provides, makes a node of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InternalError, InvalidArgumentError
from tapeflow.core.spelling import snake_case
from tapeflow.ops.binder import dtypes_of
from tapeflow.ops.control import staging
from tapeflow.ops.node_rows import NODES, NodeRow, kinds_of
from tapeflow.ops.signature import Argument, Kind

_kept_of_process: dict[tuple[str, ...], Any] = {}
# Objects by the names that GraphDefs were written with: a converter asks for what is behind such a name.
WRITTEN: WeakValueDictionary[str, Any] = WeakValueDictionary()
# Makes a node: (op, inputs, attrs, name) -> its outputs; set by the `graph` package.
build: Any = None


def register_build(function: Callable[..., Any]) -> None:
    """Say what makes nodes of these ops."""
    global build
    build = function


class ResourceOp(NodeRow):
    """The row of an op whose kernel works on objects.

    Attributes:
      shapes: (attrs, inputs) -> the shapes of the outputs, as tuples, or None where not known.
      makes: whether the result is a handle that a session keeps, by its name.
      keeps: makes the object that a node keeps for its runs and that the kernel takes first; nodes of one
        `shared_name` share it. None for an op without one.
      patience: 0 for an op that does not wait; else it runs after those with less, where the order is free.
      reads_only: whether it leaves the object as it is, as in rows.
      handles: what its definition says that handles are: "resource", "string", or "string_ref" for an op of the first
        versions that only graphs have.
    """

    def __init__(
        self,
        name: str,
        signature: str,
        attrs: Mapping[str, Kind],
        kernel: Callable[..., Any],
        shapes: Callable[..., Any] | None,
        makes: bool,
        patience: int,
        touches: str = "",
        keeps: Callable[[], Any] | None = None,
        handles: str = "resource",
        reads_only: bool = False,
    ):
        super().__init__(name, signature, attrs, touches=touches)
        self.stateful = handles == "resource" or all(a.type != "resource" for a in self.inputs)
        self.kernel, self.shapes, self.makes, self.patience = kernel, shapes, makes, patience
        self.keeps, self.handles = keeps, handles
        self.reads_only = reads_only
        self.__doc__ = kernel.__doc__

    def output_types(self, attrs: Mapping[str, Any]) -> list[Any]:
        """The dtypes of the outputs; None for one whose attr was not given."""
        known = {**dict.fromkeys(self.attrs), **attrs}
        return [kind for argument in self.outputs for kind in dtypes_of(argument, known)]

    def output_shapes(self, attrs: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
        if self.shapes is not None:
            return list(self.shapes(attrs, inputs))
        return [None] * len(self.output_types(attrs))

    def run(self, flat: Sequence[Any], attrs: Mapping[str, Any], kept: Any = None) -> list[Any]:
        """The outputs, eager tensors, for eager tensors; `kept`: the handle of what the node keeps."""
        given: list[Any] = [] if kept is None else [object_of(kept)]
        counts = self.schema.counts(attrs, len(flat))
        rest = iter(flat)
        for argument, count in zip(self.inputs, counts, strict=True):
            parts = [next(rest) for _ in range(count)]
            if argument.is_list:
                given.append(parts)
            else:
                given.append(object_of(parts[0]) if argument.type == "resource" else parts[0])
        known = {**self.defaults, **{key: value for key, value in attrs.items() if key in self.attrs}}
        if kept is not None:
            known.pop("container", None)
            known.pop("shared_name", None)
        with context.eager_mode(), context.pause_recording():
            found = self.kernel(*given, **known)
            if not self.outputs:
                return []
            found = found if isinstance(found, list) else [found]
            kinds = self.output_types(attrs)
            made = [_tensor(y, kind) for y, kind in zip(found, kinds, strict=True)]
        for i, (y, kind) in enumerate(zip(made, kinds, strict=True)):
            if kind is not None and y.dtype != kind:
                raise InternalError(
                    None, None, f"Output {i} of type {y.dtype.name} does not match declared output type {kind.name}"
                )
        return made

    def make(self, name: str, attrs: Mapping[str, Any]) -> Any:
        """A handle of a new object."""
        if self.keeps is not None:
            return handle_of(self.keeps())
        known = {**self.defaults, **{key: value for key, value in attrs.items() if key in self.attrs}}
        known.pop("container", None)
        known.pop("shared_name", None)
        return handle_of(self.kernel(name, **known))

    def __call__(self, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        """None, a tensor, or a list where the op has several outputs or one that is a list."""
        if self.handles == "string_ref":
            check_reference(self)
        flat: list[Any] = []
        staged = staging.staged(*inputs, *(y for x in inputs if isinstance(x, list) for y in x))
        for argument, x in zip(self.inputs, inputs, strict=True):
            if argument.is_list:
                parts = [convert_to_tensor(y) for y in x]
                attrs.setdefault(argument.kinds, [y.dtype.base_dtype for y in parts])
                flat += parts
            else:
                if self.handles == "string_ref" and argument.type == "resource":
                    _check_handle(self, argument, x)
                flat.append(convert_to_tensor(x, attrs.get(argument.variable) if argument.variable else argument.fixed))
                if argument.variable:
                    attrs.setdefault(argument.variable, flat[-1].dtype.base_dtype)
        if staged:
            op = build(self, flat, attrs, name)
            outputs: Any = list(op.outputs)
            if not outputs and not self.outputs:
                return op
        elif self.makes:
            outputs = [self._made_eagerly(name or self.name, attrs)]
        else:
            outputs = self.run(flat, attrs, self._kept_eagerly(name, attrs))
        if not self.outputs:
            return None
        single = len(self.outputs) == 1 and not self.outputs[0].is_list
        return outputs[0] if single else outputs

    def _made_eagerly(self, name: str, attrs: Mapping[str, Any]) -> Any:
        """A handle of a new object, or of the one that has the same `shared_name`."""
        shared = attrs.get("shared_name")
        if not shared:
            return self.make(name, attrs)
        shared = shared.decode() if isinstance(shared, bytes) else shared
        known = WRITTEN.get(shared)
        if known is not None:
            return handle_of(known)
        key = self.name, attrs.get("container") or "", shared
        if key not in _kept_of_process:
            _kept_of_process.setdefault(key, self.make(name, attrs))
        return _kept_of_process[key]

    def _kept_eagerly(self, name: str | None, attrs: Mapping[str, Any]) -> Any:
        """What eager calls of this name share, as TensorFlow's do: the process keeps it."""
        if self.keeps is None:
            return None
        key = (attrs.get("container") or "", attrs.get("shared_name") or name or self.name)
        if key not in _kept_of_process:
            _kept_of_process.setdefault(key, self.make("", {}))
        return _kept_of_process[key]


def _check_handle(op: ResourceOp, argument: Argument, value: Any) -> None:
    if getattr(value, "dtype", None) != dtypes.resource:
        raise TypeError(
            f"'{op.name}' Op requires that input '{argument.name}' be a mutable tensor (e.g.: a tf.Variable)"
        )


def old_handles(kind: str, name: str, **attrs: Any) -> ResourceOp:
    """Makes the op `name`, which does what `kind` does, with references to strings for handles.

    Args:
      attrs: those that the old op lacks, with the values that it has for them.
    """
    new = row_of(kind)
    assert new is not None, kind
    kernel = functools.partial(new.kernel, **attrs) if attrs else new.kernel
    own = {key: spec for key, spec in new.attrs.items() if key not in attrs}
    made = ResourceOp(
        name, new.signature, own, kernel, new.shapes, new.makes, new.patience, new.touches, new.keeps, "string_ref",
        new.reads_only,
    )  # fmt: skip
    made.__doc__ = new.__doc__
    NODES[name] = made
    return made


def row_of(kind: str) -> ResourceOp | None:
    """The row of an op of objects; None for any other op."""
    row = NODES.get(kind)
    return row if isinstance(row, ResourceOp) else None


def resource_op(
    name: str,
    signature: str,
    attrs: Mapping[str, Any] | None = None,
    shapes: Callable[..., Any] | None = None,
    makes: bool = False,
    patience: int = 0,
    touches: str = "",
    keeps: Callable[[], Any] | None = None,
    handles: str = "resource",
    reads_only: bool = False,
) -> Callable[[Callable[..., Any]], ResourceOp]:
    """Makes the op of the decorated kernel, which takes objects for handles, tensors, lists of these, and attrs.

    A kernel that makes an object takes its name and returns it; others return tensors, arrays or lists of these.
    """

    def register(kernel: Callable[..., Any]) -> ResourceOp:
        NODES[name] = made = ResourceOp(
            name, signature, kinds_of(attrs or {}), kernel, shapes, makes, patience, touches, keeps, handles, reads_only
        )
        return made

    return register


def check_reference(op: Any) -> None:
    """Raises RuntimeError while nothing is staged, for an op that takes or makes a reference to a handle."""
    if staging.staged():
        return
    last = [a.name for a in (*op.inputs, *op.outputs) if a.type == "resource"][-1]
    raise RuntimeError(f"{snake_case(op.name)} op does not support eager execution. Arg '{last}' is a ref.")


def handle_of(value: Any) -> Any:
    """A resource tensor that holds an object."""
    box = np.empty((), object)
    box[()] = value
    return _native.tensor_of(box, dtypes.resource)


def object_of(tensor: Any) -> Any:
    """The object that a resource tensor holds."""
    found = tensor.numpy()
    if isinstance(found, np.ndarray):
        if found.ndim:
            raise InvalidArgumentError(
                None, None, f"A handle must be a scalar, got shape {list(found.shape)}"
            )
        found = found[()]
    return found


def expect(value: Any, cls: type, what: str) -> Any:
    """The object, which must be of a class. Raises InvalidArgumentError if it is not."""
    if not isinstance(value, cls):
        raise InvalidArgumentError(
            None, None, f"The handle is not that of a {what}, but {type(value).__name__}"
        )
    return value


def _tensor(value: Any, kind: Any) -> Any:
    if isinstance(value, _native.Tensor):
        return value
    return convert_to_tensor(value, kind)
