"""Rows that are this library's own, and the ops of TensorFlow that GraphDefs have for them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes

# By the name of the row: the op, and what gives its inputs and attrs for an operation (None: those of the op).
WRITTEN_AS: dict[str, tuple[str, Callable[[Any], tuple[list[Any], dict[str, Any] | None]]]] = {}

# By the name of the row: the module with a function, in its `ROWS`, that makes the row's outputs of its inputs and
# attrs by nodes that TensorFlow knows. GraphDefs have a call of it.
COMPOSED = {
    **dict.fromkeys(
        (
            "ParseExampleDenseFeature",
            "ParseExampleRaggedFeature",
            "ParseExampleSparseFeature",
            "ParseSequenceDenseList",
            "ParseSequenceSparseList",
        ),
        "written_parsing",
    ),
    "DenseCTCLoss": "written_ctc",
    **dict.fromkeys(("DecodeCSVColumn", "DecodeProtoField", "EncodeProtoField"), "written_records"),
    **dict.fromkeys(
        (
            "ResourceApplyKerasAdagrad",
            "ResourceApplyKerasCenteredRMSProp",
            "ResourceApplyKerasRMSProp",
            "ResourceApplyLion",
            "ResourceApplyNadam",
            "ResourceSparseApplyKerasAdagrad",
        ),
        "written_training",
    ),
}
# By the name of the row: why GraphDefs with it can only be read here. Nothing else may be one of TensorFlow's ops only
# by its name: tests/graph/test_rows_of_our_own.py.
ONLY_HERE = {"CompareAndBitpack": "TensorFlow had the op, and has removed it"}
_TRAINING = ("ResourceMultiApply", "ResourceRowsApply")


def is_composed(row: str) -> bool:
    """Whether GraphDefs have a call for a row, of nodes that TensorFlow knows."""
    return row in COMPOSED or row.startswith(_TRAINING)


def composition(row: str) -> Callable[..., Any]:
    """The function for a row that is composed."""
    module = COMPOSED.get(row, "written_training")
    return importlib.import_module(f"tapeflow.graph.interchange.{module}").ROWS[row]


def _writes(row: str, kind: str) -> Callable[[Any], Any]:
    """Decorates what gives the inputs and attrs of the op `kind`, of the same outputs, for an operation of `row`."""

    def register(function: Any) -> Any:
        WRITTEN_AS[row] = (kind, function)
        return function

    return register


@_writes("EagerPyFuncGrad", "EagerPyFunc")
def _python_gradient(op: Any) -> tuple[list[Any], dict[str, Any] | None]:
    """TensorFlow's gradients of Python functions are Python functions as well."""
    return list(op.inputs), None


@_writes("RaggedCrossColumns", "RaggedCross")
def _crossing(op: Any) -> tuple[list[Any], dict[str, Any]]:
    """The inputs and attrs of a `RaggedCross` of ragged columns only, in the order of ours."""
    texts, numbers, _ = op.input_sizes
    given = {"S": iter(op.inputs[:texts]), "N": iter(op.inputs[texts : texts + numbers])}
    splits = op.inputs[texts + numbers :]
    order = op.get_attr("input_order")
    order = order.decode() if isinstance(order, bytes) else order
    values = [next(given[letter]) for letter in order]
    attrs = {name: op.get_attr(name) for name in ("hashed_output", "num_buckets", "hash_key", "out_values_type")}
    return [*values, *splits], {
        **attrs,
        "Nsparse": 0,
        "input_order": "R" * len(values),
        "ragged_values_types": [x.dtype for x in values],
        "ragged_splits_types": [x.dtype for x in splits],
        "sparse_values_types": [],
        "dense_types": [],
        "out_row_splits_type": dtypes.int64,
    }
