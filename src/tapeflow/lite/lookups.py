"""Lookup tables, and searches in sorted numbers.

TensorFlow Lite has tables from strings to int64, and from int64 to strings. Others become the place of each key and a
table of values by place: strings are found by a table, numbers by comparing them with every key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike
from tapeflow.graph.operation import Operation
from tapeflow.lite.emitter import Emitter, Known, emits, refused
from tapeflow.lite.mlir_text import element_type, quoted
from tapeflow.lite.values import Value
from tapeflow.ops.array.layout import ExpandDims
from tapeflow.ops.indexing.gather import GatherV2
from tapeflow.ops.indexing.selection import LowerBound, UpperBound
from tapeflow.ops.lookup.rows import LookupTableExportV2, LookupTableFindV2, LookupTableSizeV2
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.math.arithmetic import Mul
from tapeflow.ops.math.casting import Cast
from tapeflow.ops.math.choice import SelectV2
from tapeflow.ops.math.comparison import Equal, Less, LessEqual
from tapeflow.ops.math.reduction import Sum
from tapeflow.ops.state.resource_op import object_of

_OF_THE_RUNTIME = {(dtypes.string, dtypes.int64), (dtypes.int64, dtypes.string)}


@emits(LookupTableFindV2)
def _find(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    table, keys, default = _table(emitter, op, inputs), inputs[1], inputs[2]
    if table.key_shape:
        raise refused(emitter, op, "has keys that are vectors")
    its_keys, values = table.export()
    known = default.constant_value()
    one = known is not None and known.shape == table.value_shape
    if one and (table.key_dtype, table.value_dtype) in _OF_THE_RUNTIME:
        return [_looked_up(emitter, op, table, values, keys, default)]
    place = _place(emitter, op, table, its_keys, keys)
    missing = known if one else np.zeros(table.value_shape, values.dtype)
    if not one and table.value_dtype == dtypes.string:
        missing = np.full(table.value_shape, b"", object)
    every = Value.of_array(np.concatenate([np.asarray(missing, values.dtype)[None], values]), table.value_dtype)
    shape = None if keys.shape_tuple is None else (*keys.shape_tuple, *table.value_shape)
    axis = Value.of_array(0, dtypes.int32)
    found = emitter.op(GatherV2, [every, place, axis], table.value_dtype, shape, op, batch_dims="0 : i64")
    if one:
        return [found]
    if table.value_shape:
        raise refused(emitter, op, "has vectors for defaults that are not constant")
    lacks = emitter.op(Equal, [place, Value.of_array(0, dtypes.int64)], dtypes.bool, keys.shape_tuple, op)
    return [emitter.op(SelectV2, [lacks, default, found], table.value_dtype, shape, op)]


@emits(LookupTableSizeV2)
def _size(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    return [Value.of_array(len(_table(emitter, op, inputs).contents()), dtypes.int64)]


@emits(LookupTableExportV2)
def _export(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    table = _table(emitter, op, inputs)
    return [Value.of_array(x, y.dtype) for x, y in zip(table.export(), op.outputs, strict=True)]


@emits(LowerBound, UpperBound)
def _bound(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    """How many of the sorted numbers are less, by comparing each with each."""
    (rows, count), (_, wanted) = ((None, None) if x.shape_tuple is None else x.shape_tuple for x in inputs)
    row = _wider(emitter, op, inputs[0], 1, (rows, 1, count))
    column = _wider(emitter, op, inputs[1], 2, (rows, wanted, 1))
    kind = Less if op.row is LowerBound else LessEqual
    less = emitter.op(kind, [row, column], dtypes.bool, (rows, wanted, count), op)
    return [_count(emitter, op, emitter.op(Cast, [less], op.outputs[0].dtype, less.shape_tuple, op))]


def _table(emitter: Emitter, op: Operation, inputs: Sequence[Value]) -> Table:
    """The table that an operation reads."""
    table = None if inputs[0].tensor is None else object_of(inputs[0].tensor)
    if not isinstance(table, Table):
        raise refused(emitter, op, "reads a table whose contents are not known")
    return table


def _looked_up(emitter: Emitter, op: Operation, table: Table, values: np.ndarray, keys: Value, default: Value) -> Value:
    """What a table of the runtime finds that has these values for the keys of `table`."""
    kinds, tables = [keys.dtype, default.dtype], emitter.module.tables
    constants = [Value.of_array(table.export()[0], kinds[0]), Value.of_array(values, kinds[1])]
    attrs = {
        "key_dtype": element_type(kinds[0]), "value_dtype": element_type(kinds[1]), "container": '""',
        "shared_name": quoted(tables.setdefault(id(table), f"table_{len(tables)}")), "use_node_name_sharing": "false",
    }  # fmt: skip
    # The runtime fills a table once: another import, by a later call or another function, does nothing.
    (handle,) = emitter.instruction("tf.HashTableV2", [], attrs, [Value(dtypes.resource, ())], op)
    emitter.instruction("tf.LookupTableImportV2", [handle, *constants], {}, [], op)
    return emitter.op(LookupTableFindV2, [handle, keys, default], kinds[1], keys.shape_tuple, op)


def _place(emitter: Emitter, op: Operation, table: Table, keys: np.ndarray, asked: Value) -> Value:
    """Which of the keys of a table the ones asked for are, from 1; 0 for others."""
    places, shape = np.arange(1, len(keys) + 1), asked.shape_tuple
    if table.key_dtype == dtypes.string:
        return _looked_up(emitter, op, table, places, asked, Value.of_array(0, dtypes.int64))
    if shape is None:
        raise refused(emitter, op, "has keys of unknown rank")
    whole = (*shape, len(keys))
    column = _wider(emitter, op, asked, -1, (*shape, 1))
    same = emitter.op(Equal, [column, Value.of_array(keys, table.key_dtype)], dtypes.bool, whole, op)
    numbers = emitter.op(Cast, [same], dtypes.int64, whole, op)
    return _count(
        emitter, op, emitter.op(Mul, [numbers, Value.of_array(places, dtypes.int64)], dtypes.int64, whole, op)
    )


def _wider(emitter: Emitter, op: Operation, x: Value, axis: int, shape: ShapeLike) -> Value:
    return emitter.op(ExpandDims, [x, Value.of_array(axis, dtypes.int32)], x.dtype, shape, op)


def _count(emitter: Emitter, op: Operation, x: Value) -> Value:
    """The sums over the last axis."""
    assert x.shape_tuple is not None
    return emitter.op(
        Sum, [x, Value.of_array(-1, dtypes.int32)], x.dtype, x.shape_tuple[:-1], op, keep_dims="false"
    )
