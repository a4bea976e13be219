"""Ops of the first versions of TensorFlow, whose handles are references to strings: old graphs hold them.

Each does what an op with resources for handles does. Only graphs have them, as in TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.ops.array import stack
from tapeflow.ops.lookup import nodes as lookup_nodes
from tapeflow.ops.lookup import rows as lookup_rows
from tapeflow.ops.lookup import table_object
from tapeflow.ops.queue import reader  # noqa: F401 (likewise)
from tapeflow.ops.queue import rows as queue_rows  # noqa: F401 (its ops have old forms)
from tapeflow.ops.signature import dtype
from tapeflow.ops.state.resource_op import handle_of, old_handles, resource_op

_QUEUES = ("Enqueue", "EnqueueMany", "Dequeue", "DequeueMany", "DequeueUpTo", "Close", "Size", "IsClosed")
_READERS = (
    "Read", "ReadUpTo", "NumRecordsProduced", "NumWorkUnitsCompleted", "SerializeState", "RestoreState", "Reset"
)  # fmt: skip

for _name in (
    *(f"{kind}Queue" for kind in ("FIFO", "PaddingFIFO", "RandomShuffle", "Priority")),
    *(f"Queue{what}" for what in _QUEUES),
    *(f"{kind}Reader" for kind in ("WholeFile", "Identity", "TextLine", "TFRecord", "FixedLengthRecord")),
    *(f"Reader{what}" for what in _READERS),
    *("HashTable", "MutableHashTable", "MutableHashTableOfTensors"),
    *("StackPush", "StackPop", "StackClose"),
):
    _without = {"encoding": ""} if _name == "FixedLengthRecordReader" else {}
    old_handles(f"{_name}V2", _name, **_without)


# Its deleted entries had no key of their own.
resource_op("MutableDenseHashTable", "empty_key: key_dtype -> table_handle: resource", lookup_nodes.DENSE, makes=True,
            handles="string_ref")(lookup_nodes.MutableDenseHashTableV2.kernel)  # fmt: skip


def _old_row(row: Any, name: str) -> None:
    """Makes the op `name`, which does what a row with a resource for a handle does."""
    takes = [a.type for a in row.schema.inputs]

    def run(*inputs: Any, **attrs: Any) -> Any:
        known = {key: value for key, value in attrs.items() if key in row.attrs}
        arrays = [x if kind == "resource" else x.numpy() for x, kind in zip(inputs, takes, strict=True)]
        found = row.kernel(np, *(np.asarray(x, _kind(x)) for x in arrays), **known)
        return list(found) if isinstance(found, tuple) else found

    run.__doc__ = row.__doc__
    attrs = {**dict.fromkeys(row.types, dtype), **row.attrs}
    resource_op(name, row.signature, attrs, touches=row.touches, handles="string_ref")(run)


def _kind(value: Any) -> Any:
    return object if isinstance(value, (bytes, table_object.Table)) else None


for _row in (
    lookup_rows.InitializeTableFromTextFileV2, lookup_rows.InitializeTableV2, lookup_rows.LookupTableExportV2,
    lookup_rows.LookupTableFindV2, lookup_rows.LookupTableImportV2, lookup_rows.LookupTableInsertV2,
    lookup_rows.LookupTableSizeV2,
):  # fmt: skip
    _old_row(_row, _row.name.removesuffix("V2"))


@resource_op("Stack", "-> handle: resource", {"elem_type": dtype, "stack_name": ""},
             lambda attrs, inputs: [()], handles="string_ref")  # fmt: skip
def Stack(elem_type, stack_name):
    """A new stack, for any number of elements."""
    return handle_of(stack.Stack(stack_name or "Stack", elem_type, -1))
