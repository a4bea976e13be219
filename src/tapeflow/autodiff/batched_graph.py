"""Runs a graph that computes one element for a whole batch: each operation once, by the batching rule of its row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.graph.build import tracing
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import needed
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import batching, shapes, static
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import fill
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.control.mapping import map_fn
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.state.rows import ReadVariableOp

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

_ELEMENTWISE = {shapes.elementwise: batching.elementwise, shapes.broadcast_all: batching.broadcasting}


class CannotBatchError(Exception):
    """The graph has an operation that has no form for a whole batch."""


class Value(NamedTuple):
    """A tensor of the run. If it is `batched`, its first dimension counts the elements of the batch."""

    tensor: Any
    batched: bool


class Call:
    """A call of a row, where some inputs have the batch as an additional first dimension.

    Attributes:
      row: the row.
      inputs: flat list of tensors.
      batched: for each input, whether it has the batch.
      ranks: for each input, how many dimensions it has for one element; None: unknown.
      attrs: all attrs by name.
      size: of the batch, an int or a scalar tensor.
    """

    def __init__(self, op: Operation, values: Sequence[Value], size: Any):
        self.row = op.row
        self.inputs = [v.tensor for v in values]
        self.batched = [v.batched for v in values]
        self.ranks = [_rank(v) for v in values]
        self.attrs = {**op.row.defaults, **op.attrs}
        self.size = size
        self._given = op.attrs
        self._list_sizes = op.list_sizes

    def run(self, inputs: Sequence[Any], **attrs: Any) -> list[Any]:
        """The outputs of the row for these flat inputs; attrs are those of the call but for `attrs`."""
        return run(self.row, inputs, self._list_sizes, {**self._given, **attrs})

    @staticmethod
    def shared(x: TensorLike) -> Value:
        """An output that is the same for all elements."""
        return Value(x, False)

    # Positions.

    def positions(self, positions: Iterable[int]) -> list[int]:
        """Positions of inputs, of which negative ones count from the last."""
        return [i % len(self.inputs) for i in positions]

    def only(self, positions: Iterable[int]) -> bool:
        """Whether no other inputs have the batch."""
        return all(i in positions for i, batched in enumerate(self.batched) if batched)

    # Inputs.

    def with_batch(self, i: int) -> Any:
        """Input `i`, repeated for each element if it has no batch."""
        return repeated(Value(self.inputs[i], self.batched[i]), self.size)

    def aligned(self, i: int, rank: int) -> Any:
        """Input `i` with so many dimensions for one element, if it has a batch that must stay in front of them."""
        x, own = self.inputs[i], self.ranks[i]
        if own is None or not self.batched[i] or own == rank:
            return x
        first, *rest = static.sizes_of(x)
        return Reshape(x, static.as_shape([first, *[1] * (rank - own), *rest]))

    def like(self, i: int, model: int) -> Any:
        """Input `i` broadcast to the shape of another one, which has the most dimensions, with the batch."""
        x = self.aligned(i, self.ranks[model] or 0)
        sizes = static.sizes_of(self.inputs[model])[1 if self.batched[model] else 0 :]
        return broadcast_to(x, static.as_shape([self.size, *sizes]))

    @staticmethod
    def broadcast(x: Any, shape: Any) -> Any:
        """`x` broadcast to a shape."""
        return broadcast_to(x, shape)

    def count(self, i: int, dtype: Any) -> Any:
        """How many numbers input `i` has for one element, as a tensor."""
        return cast(static.product(static.sizes_of(self.inputs[i])[1 if self.batched[i] else 0 :]), dtype)

    def first_size(self, i: int) -> Any:
        """The first size of input `i` for one element."""
        return self.size_of(i, 0)

    def size_of(self, i: int, axis: int) -> Any:
        """The size of one dimension of input `i` for one element."""
        return static.sizes_of(self.inputs[i])[axis + 1 if self.batched[i] else axis]

    def folded(self, i: int, inner: Any) -> Any:
        """Input `i` with the batch and the first dimension, which is `inner`, as one."""
        x = self.with_batch(i)
        return Reshape(x, static.as_shape([self.size * inner, *static.sizes_of(x)[2:]]))

    def unfolded(self, y: TensorLike, inner: Any) -> Any:
        """An output of which the first dimension is that of all elements."""
        return Reshape(y, static.as_shape([self.size, inner, *static.sizes_of(y)[1:]]))

    def numbers(self, dtype: Any) -> Any:
        """The number of each element of the batch."""
        return range_of(cast(self.size, dtype))

    # Numbers for axes.

    def prepended(self, numbers: Any, value: int) -> Any:
        """A vector, or a matrix, of numbers for each axis with `value` for the batch."""
        numbers = convert_to_tensor(numbers)
        first = fill([1, *numbers.shape.as_list()[1:]], cast(value, numbers.dtype))
        return ConcatV2([first, numbers], 0)

    def with_size(self, sizes: Any) -> Any:
        """The sizes of an element with that of the batch."""
        return ConcatV2([_vector(self.size, sizes.dtype), sizes], 0)

    def folded_sizes(self, sizes: Any, inner: Any) -> Any:
        """The sizes of an element, of which `inner` is the first, with the batch in the first one."""
        return ConcatV2([_vector(self.size * inner, sizes.dtype), sizes[1:]], 0)

    @staticmethod
    def shifted(axes: Any) -> Any:
        """Axes of an element, where the batch stands before them; negative ones stay."""
        known = static.static_value(axes)
        if known is not None:
            return convert_to_tensor(known + (known >= 0).astype(known.dtype), axes.dtype)
        return where(axes >= 0, axes + 1, axes)


def _vector(number: Any, dtype: Any) -> Any:
    return Reshape(cast(number, dtype), [1])


def _rank(value: Value) -> int | None:
    rank = value.tensor.shape.rank
    return rank - 1 if value.batched and rank is not None else rank


def run(row: Any, inputs: Sequence[Any], list_sizes: Sequence[int], attrs: dict[str, Any]) -> list[Any]:
    """The outputs of a row, flat, for flat inputs."""
    return _flat(row(*row.schema.grouped(inputs, list_sizes), **attrs))


def _flat(result: Any) -> list[Any]:
    if isinstance(result, (list, tuple)):
        return [leaf for element in result for leaf in _flat(element)]
    return [] if result is None else [result]


def rule_of(row: Any) -> batching.Rule | None:
    """The batching rule of a row; None if it has none."""
    if row.batching_rule is not None:
        return row.batching_rule
    if row.broadcasts:
        return batching.broadcasting
    return batching.elementwise if row.shape_rule is shapes.elementwise else None


def batch(graph: FuncGraph, arguments: Sequence[Any], size: Any, whole: bool = False) -> list[Value]:
    """What `graph` returns for each element of a batch.

    Args:
      graph: computes one element.
      arguments: for each of its inputs, but for captures, a tensor with the batch as first dimension.
      size: of the batch.
      whole: whether operations without a batching rule are refused, and not called for each element.

    Raises:
      CannotBatchError: the graph has effects, or an operation that has no form for a whole batch. If not `whole`,
        nothing has run.
    """
    _check(graph)
    variables = {id(handle): variable for variable, handle in graph.variables_by_handle.items()}
    values = [Value(x, True) for x in arguments]
    values += [Value(variables.get(id(inner), outer), False) for outer, inner in graph.captures]
    return _body(graph, graph.outputs, values, size, whole)


def outputs(
    name: str, function: Callable[..., Any], like: Sequence[Any], arguments: Sequence[Any], size: Any
) -> list[Any]:
    """The tensors that `function` returns for tensors like these, each stacked for all elements of a batch.

    Raises CannotBatchError as `batch` does, and what the function raises when it is traced.
    """
    graph = tracing.body(name, function, like)
    return [repeated(value, size) for value in batch(graph, arguments, size)]


def repeated(value: Value, size: Any) -> Any:
    """A value as a tensor with the batch as first dimension."""
    x = value.tensor
    return x if value.batched else broadcast_to(x, static.as_shape([size, *static.sizes_of(x)]))


def _check(graph: Graph) -> None:
    for op in graph.operations:
        if op.row is None:
            if op.type == "PartitionedCall":
                _check(op.attrs["branches"][0].graph)
            elif op.type not in ("Const", "Placeholder"):
                raise CannotBatchError(op.type)
        elif op.effects and rule_of(op.row) is None:
            raise CannotBatchError(op.type)
        if op.custom_gradient is not None:
            raise CannotBatchError(f"a custom gradient of {op.type}")
        if any(y.dtype == dtypes.variant for y in op.outputs):
            raise CannotBatchError(op.type)


def _body(
    graph: Any, outputs: Sequence[SymbolicTensor], given: Sequence[Value], size: Any, whole: bool
) -> list[Value]:
    values: dict[int, Value] = dict(zip(map(id, graph.inputs), given, strict=True))
    for op in needed(graph, outputs, [], graph.inputs):
        if op.outputs and id(op.outputs[0]) not in values:
            inputs = [values[id(x)] for x in op.inputs]
            values.update(zip(map(id, op.outputs), _operation(op, inputs, size, whole), strict=True))
    return [values[id(y)] for y in outputs]


def _operation(op: Operation, inputs: list[Value], size: Any, whole: bool) -> Sequence[Value]:
    if op.type == "Const":
        return [Value(op.attrs["value"], False)]
    if op.row is None:
        body = op.attrs["branches"][0]
        return _body(body.graph, body.outputs, inputs, size, whole)
    if op.row is ReadVariableOp and isinstance(inputs[0].tensor, _native.Variable):
        return [Value(inputs[0].tensor.read_value(), False)]  # as a program reads it, so that tapes watch it
    if not any(x.batched for x in inputs) and not op.effects:
        return [Value(y, False) for y in run(op.row, [x.tensor for x in inputs], op.list_sizes, op.attrs)]
    rule = rule_of(op.row)
    outputs = None if rule is None else rule(Call(op, inputs, size))
    if outputs is None:
        if whole:
            raise CannotBatchError(op.type)
        return _one_by_one(op, inputs)
    return [y if isinstance(y, Value) else Value(y, True) for y in outputs]


def _one_by_one(op: Operation, inputs: list[Value]) -> list[Value]:
    """The outputs of an operation that has no rule, from a call for each element."""
    sizes = op.list_sizes

    def one(elements: list[Any]) -> list[Any]:
        rest = iter(elements)
        return run(op.row, [next(rest) if x.batched else x.tensor for x in inputs], sizes, op.attrs)

    signature = [TensorSpec(y.shape, y.dtype) for y in op.outputs]
    found = map_fn(one, [x.tensor for x in inputs if x.batched], fn_output_signature=signature)
    return [Value(y, True) for y in found]

