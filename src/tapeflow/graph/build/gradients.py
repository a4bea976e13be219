"""Gradients of tensors of a graph: `gradients` adds the operations that compute them.

It walks from the targets back to the sources and calls the gradient of each row, which is written in ops, so
that what it adds are operations that can be differentiated again.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.graph.jit_scope import as_marked
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import sorted_topologically
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import operators
from tapeflow.ops.array.broadcasting import sum_to_shape
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math.accumulate import AddN
from tapeflow.ops.state.rows import VariableShape

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

# Gradients of nodes without a row: type -> f(op, *gradients of outputs) -> gradients of inputs.
_GRADIENTS: dict[str, Callable[..., Any]] = {}
# Gradients that programs registered under a name, for gradient_override_map and types of their own.
registered: dict[str, Callable[..., Any] | None] = {}


def gradient_of(kind: str) -> Callable[[Any], Any]:
    """Decorates the gradient of nodes of type `kind` that have no row."""

    def register(function: Any) -> Any:
        _GRADIENTS[kind] = function
        return function

    return register


def differentiable(dtype: Any) -> bool:
    """Whether values of a dtype have gradients."""
    return dtype.is_floating or dtype.is_complex or dtype in (dtypes.resource, dtypes.variant)


class Call:
    """An operation as the gradient function of its row sees it."""

    __slots__ = ("_op", "_wanted", "_places")

    def __init__(self, op: Operation, wanted: Sequence[bool]):
        self._op = op
        self._wanted = wanted
        self._places: dict[str, tuple[int, int, bool, bool]] | None = None

    def _place(self, name: str) -> tuple[int, int, bool, bool]:
        """First position, count, whether it is a list, whether it is an input."""
        places = self._places
        if places is None:
            places = self._places = {}
            op = self._op
            schema = op.row.schema
            at = 0
            for argument, size in zip(schema.inputs, op.input_sizes, strict=True):
                count = 1 if size is None else size
                places[argument.name] = (at, count, size is not None, True)
                at += count
            at = 0
            for output, count in zip(schema.outputs, schema.output_counts(op.attrs, op.list_sizes), strict=True):
                places.setdefault(output.name, (at, count, output.is_list, False))
                at += count
        return places[name]

    def _tensors(self, name: str) -> Any:
        first, count, is_list, is_input = self._place(name)
        among = self._op.inputs if is_input else self._op.outputs
        return list(among[first : first + count]) if is_list else among[first]

    def __getattr__(self, name: str) -> Any:
        op = self._op
        if name in op.attrs:
            return op.attrs[name]
        if name in op.row.defaults:
            return op.row.defaults[name]
        try:
            return self._tensors(name)
        except KeyError:
            raise AttributeError(f"{op.type} has no input, output or attr '{name}'") from None

    def __getitem__(self, name: str) -> Any:
        return self.__getattr__(name)

    @property
    def op_name(self) -> str:
        return self._op.type

    def shape(self, name: str) -> Any:
        """The shape of a named input or output, as a vector."""
        found = self._tensors(name)
        return (
            [shape_vector(x) for x in found] if isinstance(found, list) else shape_vector(found)
        )

    def static_shape(self, name: str) -> Any:
        """What is known of it."""
        found = self._tensors(name)
        return [x.shape for x in found] if isinstance(found, list) else found.shape

    def dtype(self, name: str) -> Any:
        found = self._tensors(name)
        return [x.dtype for x in found] if isinstance(found, list) else found.dtype

    def beside(self, row: Any, name: str) -> Any:
        """`row` of an input or output, computed where the operation is, so that a loop keeps the result only."""
        op, tensor = self._op, self._tensors(name)
        graph = tensor.op.graph
        if graph is context.current_graph():
            return row(tensor)
        for known in graph.consumers_of(tensor):
            if known.type == row.name and len(known.inputs) == 1:
                return known.outputs[0]
        with graph.as_default(), graph.control_dependencies(None), graph.name_scope(None):
            result = row(tensor)
        if tensor.op is not op:
            result.op.index = graph.index_before(op)
        return result

    def wants(self, name: str) -> bool:
        """Whether the gradient for this input will be used."""
        first, count, _, _ = self._place(name)
        return any(self._wanted[first : first + count])


def shape_vector(tensor: SymbolicTensor) -> Any:
    shape = tensor.shape_tuple
    if tensor.dtype is dtypes.resource:
        shape = getattr(tensor, "handle_shape", None)
        if shape is None or None in shape:
            return VariableShape(tensor)
    if shape is not None and None not in shape:
        wide = any(d is not None and d >= 2**31 for d in shape)
        return convert_to_tensor(np.array(shape, np.int64 if wide else np.int32))
    return Shape(tensor)


class Sum:
    """The gradient of one tensor as it comes together from several uses."""

    __slots__ = ("parts",)

    def __init__(self, first: Any):
        self.parts = [first]

    def total(self, beside: Any = None) -> Any:
        """The sum; of several parts it is computed where they are, or where the operation `beside` is."""
        parts = self.parts
        if len(parts) == 1:
            return parts[0]
        if beside is not None and all(isinstance(p, SymbolicTensor) for p in parts):
            same = len({p.op.device for p in parts}) == 1
            with beside.graph.colocate_with(parts[-1].op if same else beside, ignore_existing=True):
                return self.total()
        if any(isinstance(p, IndexedSlices) for p in parts):
            total = parts[0]
            for part in parts[1:]:
                total = operators.accumulate(total, part)
        else:
            total = AddN(parts)
        self.parts = [total]
        return total


def gradients(
    ys: Sequence[SymbolicTensor],
    xs: Sequence[SymbolicTensor],
    grad_ys: Sequence[Any] | None = None,
    stop: Sequence[SymbolicTensor] = (),
    recorded: Callable[[Operation], bool] | None = None,
    colocate: bool = False,
) -> list[Any]:
    """The gradients of the sum of `ys` with respect to `xs`: tensors, slices or None.

    Args:
      ys: of one graph.
      xs: of the same graph.
      grad_ys: weights of the elements of `ys`; None, or None entries: ones.
      stop: tensors that are taken as constants.
      recorded: whether gradients flow through an operation.
      colocate: whether the gradient of an operation is computed on its device.

    Raises LookupError for an operation on the way whose op has no gradient.
    """
    stopped = {id(x) for x in stop}
    sources = {id(x) for x in xs}
    origin = Origins(sources)
    ys = [origin(y) for y in ys]
    way = _way(ys, xs, stopped, recorded, origin)
    sums: dict[int, Sum] = {}
    keep: list[Any] = []
    for i, y in enumerate(ys):
        weight = None if grad_ys is None else grad_ys[i]
        if weight is None:
            if not differentiable(y.dtype) and id(y) not in sources:
                continue
            weight = ones_like(y)
        _add(sums, y, weight)
    graph = context.current_graph()
    for op in reversed(_in_order(way)):
        dys = []
        for y in op.outputs:
            found = sums.get(id(y))
            dys.append(None if found is None else found.total())
            if found is not None and id(y) not in sources:
                keep.append(sums.pop(id(y)))
        if all(dy is None for dy in dys):
            continue
        inputs = [origin(x) for x in op.inputs]  # a loop may get more while it is differentiated
        wanted = [
            (id(x) in sources or x.op in way)
            and differentiable(x.dtype)
            and (id(x) not in stopped or id(x) in sources)
            for x in inputs
        ]
        if not any(wanted):
            continue
        scope = f"gradients/{op.name}_grad/" if graph is not None else None
        if scope is None or not hasattr(graph, "name_scope"):
            dxs = _of_op(op, dys, wanted)
        else:
            place = graph.colocate_with(op, ignore_existing=True) if colocate else contextlib.nullcontext()
            with graph.name_scope(scope), place, as_marked(graph, op):
                dxs = _of_op(op, dys, wanted)
        for dx in dxs:
            if isinstance(dx, SymbolicTensor) and dx.op.gradient_of is None and dx.op.graph is graph:
                dx.op.gradient_of = op
        for x, dx, want in zip(inputs, dxs, wanted, strict=True):
            if want and dx is not None:
                _add(sums, x, dx)
    result = []
    for x in xs:
        found = sums.get(id(x))
        result.append(None if found is None else found.total(x.op if colocate else None))
    return result


def _add(sums: dict[int, Sum], x: SymbolicTensor, dx: Any) -> None:
    found = sums.get(id(x))
    if found is None:
        sums[id(x)] = Sum(dx)
    else:
        found.parts.append(dx)


class Origins:
    """What a tensor is outside of the body that captured it, so that gradients reach through bodies being built.

    The sources themselves stay as they are.
    """

    def __init__(self, sources: set[int]):
        self._sources = sources
        self._outer: dict[int, dict[int, Any]] = {}

    def __call__(self, x: SymbolicTensor) -> SymbolicTensor:
        while x.op.type == "Placeholder" and id(x) not in self._sources:
            graph = x.op.graph
            captured = getattr(graph, "_captured", None)
            if not captured:
                break
            outer = self._outer.get(id(graph))
            if outer is None or len(outer) != len(captured):
                outer = self._outer[id(graph)] = {id(inner): o for o, inner in captured.values()}
            found = outer.get(id(x))
            if not isinstance(found, SymbolicTensor):
                break
            x = found
        return x


def _depth(graph: Graph) -> int:
    depth = 0
    while graph.enclosing_graph is not None:
        graph = graph.enclosing_graph
        depth += 1
    return depth


def _place(op: Operation) -> tuple[int, float]:
    """Where an operation is in the order of running: bodies come after what is around them."""
    graph = op.graph
    return (0 if graph.enclosing_graph is None else _depth(graph)), op.index


def _in_order(ops: set[Operation]) -> list[Operation]:
    """The operations as they run, also where inputs were changed to those of operations that were made later."""
    ordered = sorted(ops, key=_place)
    if not any(graph.reordered for graph in {op.graph for op in ops}):
        return ordered
    by_depth = itertools.groupby(ordered, key=lambda op: _place(op)[0])
    return [op for _, group in by_depth for op in sorted_topologically(list(group), set())]


def _way(ys: Any, xs: Any, stopped: set[int], recorded: Any, origin: Origins) -> set[Operation]:
    """The operations between the sources and the targets."""
    sources = {id(x) for x in xs}
    back: set[Operation] = set()
    todo = [y.op for y in ys if id(y) not in stopped]
    while todo:
        op = todo.pop()
        if op in back or (recorded is not None and not recorded(op)):
            continue
        back.add(op)
        for x in op.inputs:
            if id(x) not in stopped:
                source = origin(x).op
                if source not in back:
                    todo.append(source)
    reached: set[int] = set(sources)
    way: set[Operation] = set()
    for op in _in_order(back):
        hit = any(id(x) in reached and differentiable(x.dtype) and (id(x) not in stopped or id(x) in sources)
                  for x in map(origin, op.inputs))  # fmt: skip
        if hit:
            way.add(op)
            for y in op.outputs:
                if id(y) not in stopped:
                    reached.add(id(y))
    return way


def _of_op(op: Operation, dys: list[Any], wanted: list[bool]) -> list[Any]:
    """The gradients of an operation's inputs."""
    if op.row is Identity and isinstance(dys[0], IndexedSlices):
        return [dys[0]]
    if op.custom_gradient is not None:
        return _checked(op, op.custom_gradient(op, *dys))
    override = op.extra_attrs.get("_gradient_op_type")
    name = override.decode() if override is not None else op.type
    if name in registered:
        function = registered[name]
        if function is None:
            return [None] * len(op.inputs)
        return _checked(op, function(op, *_filled(op, dys)))
    if override is not None:
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {name})")
    special = _GRADIENTS.get(op.type)
    if special is not None:
        return special(op, *dys)
    row = op.row
    if row is None or not row.gradient_known:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}). In general every operation must have "
            "an associated `@tf.RegisterGradient` for correct autodiff, which this op is lacking."
        )
    function = row._gradient
    if function is None:
        return [None] * len(op.inputs)
    return _flat(op, wanted, _call(op, row, function, dys, wanted))


def _filled(op: Operation, dys: list[Any]) -> list[Any]:
    """Gradients with zeros for outputs that have none."""
    return [
        zeros_like(y) if dy is None and (y.dtype.is_floating or y.dtype.is_complex) else dy
        for dy, y in zip(dys, op.outputs, strict=True)
    ]


def _call(op: Operation, row: Any, function: Any, dys: list[Any], wanted: list[bool]) -> Any:
    if not row.none_gradients:
        dys = [
            zeros_like(y) if dy is None and (y.dtype.is_floating or y.dtype.is_complex) else dy
            for dy, y in zip(dys, op.outputs, strict=True)
        ]
    dense = [dy.to_dense() if isinstance(dy, IndexedSlices) else dy for dy in dys]
    counts = row.schema.output_counts(op.attrs, op.list_sizes)
    return function(Call(op, wanted), *row.schema.split(dense, counts))


def _flat(op: Operation, wanted: list[bool], result: Any) -> list[Any]:
    """One gradient for each flat input, from what a row's gradient returned; broadcasting is undone here."""
    row = op.row
    if len(op.input_sizes) == 1 and op.input_sizes[0] is None:
        parts: list[Any] = list(result) if isinstance(result, tuple) else [result]
    elif len(op.input_sizes) == 1 and isinstance(result, list):
        parts = [result]
    else:
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(parts) != len(op.input_sizes):
        raise ValueError(
            f"the gradient of {op.type} returned {len(parts)} gradients for {len(op.input_sizes)} inputs"
        )
    flat: list[Any] = []
    for part, size in zip(parts, op.input_sizes, strict=True):
        if size is None:
            flat.append(part)
        elif part is None:
            flat += [None] * size
        else:
            flat += list(part)
    if row.broadcasts:
        flat = [
            None if dx is None or not want else _summed(dx, x)
            for dx, x, want in zip(flat, op.inputs, wanted, strict=True)
        ]
    return flat


def _summed(dx: Any, x: SymbolicTensor) -> Any:
    if isinstance(dx, IndexedSlices):
        return dx

    dx = convert_to_tensor(dx)
    if (
        dx.shape.is_fully_defined()
        and x.shape.is_fully_defined()
        and dx.shape.as_list() == x.shape.as_list()
    ):
        return dx
    return sum_to_shape(dx, x.shape, shape_vector(x))


def _checked(op: Operation, result: Any) -> list[Any]:
    """What a function that a program gave has returned, as a list."""
    found = list(result) if isinstance(result, (list, tuple)) else [result]
    if len(found) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(found)} generated for op {op.node_def!r} do not match num inputs {len(op.inputs)}"
        )
    return [
        g if g is None or isinstance(g, (IndexedSlices, SymbolicTensor)) else convert_to_tensor(g)
        for g in found
    ]


def _aliases(op: Operation, *dys: Any) -> list[Any]:
    return list(dys)


for _kind in ("IdentityN", "RefIdentity"):
    _GRADIENTS[_kind] = _aliases


@gradient_of("PlaceholderWithDefault")
def _placeholder_with_default(op: Operation, dy: Any) -> list[Any]:
    return [dy]
