"""Maps over batches of rows: a function that treats every number by itself runs once for a whole batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.autodiff import batched_graph
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.sources.rows import RowStream
from tapeflow.data.transform.mapped_pass import Mapped
from tapeflow.data.transform.tracing import Traced
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.operation import Operation
from tapeflow.ops import batching
from tapeflow.ops.static import size_of


class MappedRows:
    """A row stream whose elements go through a function; batches of them through its form for batches.

    It is used as a `RowStream`: what is asked of the rows, such as their order, is asked of those before the map.
    """

    held = False  # the results are not in memory

    def __init__(self, rows: RowStream | MappedRows, fn: Traced, of_batches: Traced):
        self._rows = rows
        self._fn = fn
        self._of_batches = of_batches
        self.seeds: Any = rows.seeds
        self.blocks: Any = rows.blocks

    def with_blocks(self, blocks: Any, *seeds: Any) -> MappedRows:
        """The same rows, visited in another order."""
        return MappedRows(self._rows.with_blocks(blocks, *seeds), self._fn, self._of_batches)

    def start(self) -> Any:
        """A new pass, element by element."""
        return Mapped(self._fn, self._rows.start())

    def start_batches(self, size: int, drop_remainder: bool) -> Any:
        """A new pass, `size` elements at a time."""
        return Mapped(self._of_batches, self._rows.start_batches(size, drop_remainder))


def mapped_rows(rows: Any, fn: Callable[..., Any]) -> MappedRows | None:
    """The rows mapped by a traced function; None where only its calls for each element will do."""
    if rows is None or not isinstance(fn, Traced) or fn.inputs or not fn.plain or not _by_number(fn.graph):
        return None
    specs = [TensorSpec([None, *spec.shape], spec.dtype) for spec in fn.specs]

    def run(*columns: Any) -> Any:
        found = batched_graph.batch(fn.graph, columns, size_of(columns[0], 0), whole=True)
        tensors = [batched_graph.repeated(value, size_of(columns[0], 0)) for value in found]
        return element.unflatten(fn.spec, iter(tensors))

    try:
        return MappedRows(rows, fn, Traced(run, specs, fn.transformation, fn.spread))
    except Exception:  # it has no form for a batch, or fails, which the call for an element says
        return None


def _by_number(graph: FuncGraph) -> bool:
    """Whether a graph computes or moves numbers one by one, so that a batch gives the same and no element can fail."""
    if not graph.inputs or any(x.shape.rank is None for x in graph.inputs):
        return False
    constant = {id(x) for x in graph.internal_captures}
    for op in graph.operations:
        if op.type == "Placeholder":
            continue
        if all(id(x) in constant for x in op.inputs) and not op.stateful and (op.row is not None or op.type == "Const"):
            constant.update(map(id, op.outputs))
        elif op.row is None or op.stateful or not _harmless(op, [x for x in op.inputs if id(x) not in constant]):
            return False
    return True


def _harmless(op: Operation, varying: list[Any]) -> bool:
    """Whether an operation on inputs of which these vary works number by number, and cannot fail."""
    numbers = all(x.dtype.is_bool or x.dtype.is_integer or x.dtype.is_floating for x in (*op.inputs, *op.outputs))
    if not numbers or op.row.checks:
        return False
    if op.row.moves and batched_graph.rule_of(op.row) is not None:
        return len(varying) == 1 and varying[0] is op.inputs[0]  # no indices that vary
    if batched_graph.rule_of(op.row) not in (batching.elementwise, batching.broadcasting):
        return False
    return len(op.inputs) == 1 or all(y.dtype.is_floating or y.dtype.is_bool for y in op.outputs)
