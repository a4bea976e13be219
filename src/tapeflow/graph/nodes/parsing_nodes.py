"""How TensorFlow's nodes that parse `Example` and `SequenceExample` messages run: all features by one node.

Here each feature is a row of its own, so a node calls the rows of its features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.nodes.node_kinds import SPECIAL
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.ops.binder import dtypes_of
from tapeflow.ops.io.example_rows import (
    ParseExampleDenseFeature,
    ParseExampleRaggedFeature,
    ParseExampleSparseFeature,
    ParseSequenceDenseList,
    ParseSequenceRaggedList,
    ParseSequenceSparseList,
)
from tapeflow.ops.node_rows import NODES

if TYPE_CHECKING:
    from tapeflow.graph.nodes.from_node_def import NodeMaker

_Features = Callable[[dict[str, list[Any]], dict[str, Any]], dict[str, Any]]


def _elements(tensor: Any) -> list[bytes]:
    return np.asarray(tensor.numpy(), object).ravel().tolist()


def _texts(values: Sequence[Any]) -> list[str]:
    """Keys: one tensor of them, a tensor for each, or an attr."""
    found: list[Any] = []
    for value in values:
        found += _elements(value) if hasattr(value, "numpy") else [value]
    return [key.decode("utf-8", "surrogateescape") if isinstance(key, bytes) else key for key in found]


def _paired(name: str, keys: Sequence[Any], *others: Sequence[Any]) -> list[tuple[Any, ...]]:
    for other in others:
        if len(other) != len(keys):
            raise InvalidArgumentError(
                None, None, f"Expected len({name}) == {len(other)}, but got: {len(keys)}"
            )
    return list(zip(keys, *others, strict=True))


def _of_examples(
    messages: Any, names: Any, sparse: Any, dense: Any, ragged: Any, sequence: bool = False
) -> list[list[Any]]:
    """Indices, values and shapes of sparse features, values of dense ones, values and splits of ragged ones.

    Args:
      sparse: (key, dtype) of each.
      dense: (key, default, shape) of each; a shape may begin with None.
      ragged: (key, dtype, dtype of splits) of each.
    """
    common = {"sequence": sequence}
    sparse = [ParseExampleSparseFeature(messages, names, key=k, dtype=t, **common) for k, t in sparse]
    found = []
    for key, default, shape in dense:
        sizes = shape.as_list()
        variable = bool(sizes) and sizes[0] is None
        required = not variable and default.shape.num_elements() == 0
        found.append(ParseExampleDenseFeature(
            messages, names, default, key=key, feature_shape=tuple(sizes[variable:]), variable=variable,
            required=required, **common,
        ))  # fmt: skip
    ragged = [
        ParseExampleRaggedFeature(messages, names, key=k, dtype=t, splits_dtype=s, **common)
        for k, t, s in ragged
    ]
    return [
        *([x[i] for x in sparse] for i in range(3)),
        found,
        *([x[i] for x in ragged] for i in range(2)),
    ]


def _of_lists(messages: Any, names: Any, sparse: Any, dense: Any, ragged: Any) -> list[list[Any]]:
    """Indices, values and shapes of sparse lists of features, values and lengths of dense, values and splits of ragged.

    Args:
      sparse: (key, dtype) of each.
      dense: (key, dtype, shape, whether it may be missing) of each.
      ragged: (key, dtype, dtype of splits) of each.
    """
    sparse = [ParseSequenceSparseList(messages, names, key=k, dtype=t) for k, t in sparse]
    dense = [
        ParseSequenceDenseList(
            messages, names, key=k, dtype=t, feature_shape=tuple(shape.as_list()), allow_missing=bool(missing)
        )
        for k, t, shape, missing in dense
    ]
    ragged = [
        ParseSequenceRaggedList(messages, names, key=k, dtype=t, splits_dtype=s) for k, t, s in ragged
    ]
    found = (sparse, 3), (dense, 2), (ragged, 3)
    return [[x[i] for x in rows] for rows, outputs in found for i in range(outputs)]


_NO_NAMES = np.zeros(0, object)


def _example_features(given: dict[str, list[Any]], attrs: dict[str, Any]) -> dict[str, Any]:
    """The outputs of `ParseExample`, `ParseExampleV2` and `ParseSingleExample`, by name."""
    names = given["names"][0] if "names" in given else convert_to_tensor(_NO_NAMES, dtypes.string)
    sparse, dense, ragged = (
        _texts(given.get(f"{kind}_keys", attrs.get(f"{kind}_keys", ()))) for kind in ("sparse", "dense", "ragged")
    )
    found = _of_examples(
        given["serialized"][0],
        names,
        _paired("sparse_keys", sparse, attrs["sparse_types"]),
        _paired("dense_keys", dense, given["dense_defaults"], attrs["dense_shapes"]),
        _paired(
            "ragged_keys", ragged, attrs.get("ragged_value_types", ()), attrs.get("ragged_split_types", ())
        ),
    )
    outputs = "sparse_indices", "sparse_values", "sparse_shapes", "dense_values", "ragged_values", "ragged_row_splits"
    return dict(zip(outputs, found, strict=True))


def _sequence_features(given: dict[str, list[Any]], attrs: dict[str, Any]) -> dict[str, Any]:
    """The outputs of `ParseSequenceExample`, `ParseSequenceExampleV2` and `ParseSingleSequenceExample`, by name."""

    def keys(name: str) -> list[str]:
        return _texts(given.get(name, attrs.get(name, ())))

    messages, names = given["serialized"][0], given["debug_name"][0]
    if _elements(names) == [b""]:
        names = convert_to_tensor(_NO_NAMES, dtypes.string)
    missing = "feature_list_dense_missing_assumed_empty"
    lists = keys("feature_list_dense_keys")
    if missing in given and given[missing][0].dtype == dtypes.bool:
        empty = given[missing][0].numpy().tolist()
    else:
        listed = set(keys(missing))
        empty = [key in listed for key in lists]
    of_context = _of_examples(
        messages,
        names,
        _paired("context_sparse_keys", keys("context_sparse_keys"), attrs["context_sparse_types"]),
        _paired(
            "context_dense_keys",
            keys("context_dense_keys"), given["context_dense_defaults"], attrs["context_dense_shapes"],
        ),
        _paired(
            "context_ragged_keys",
            keys("context_ragged_keys"),
            attrs.get("context_ragged_value_types", ()),
            attrs.get("context_ragged_split_types", ()),
        ),
        sequence=True,
    )  # fmt: skip
    of_lists = _of_lists(
        messages,
        names,
        _paired(
            "feature_list_sparse_keys", keys("feature_list_sparse_keys"), attrs["feature_list_sparse_types"]
        ),
        _paired(
            "feature_list_dense_keys",
            lists, attrs["feature_list_dense_types"], attrs["feature_list_dense_shapes"], empty,
        ),
        _paired(
            "feature_list_ragged_keys",
            keys("feature_list_ragged_keys"),
            attrs.get("feature_list_ragged_value_types", ()),
            attrs.get("feature_list_ragged_split_types", ()),
        ),
    )  # fmt: skip
    context = "sparse_indices", "sparse_values", "sparse_shapes", "dense_values", "ragged_values", "ragged_row_splits"
    lists_of = (
        "sparse_indices", "sparse_values", "sparse_shapes", "dense_values", "dense_lengths", "ragged_values",
        "ragged_outer_splits", "ragged_inner_splits",
    )
    return {
        **{f"context_{name}": found for name, found in zip(context, of_context, strict=True)},
        **{f"feature_list_{name}": found for name, found in zip(lists_of, of_lists, strict=True)},
    }  # fmt: skip


def make(
    kind: str, features: _Features, inputs: Sequence[Any], name: str, attrs: dict[str, Any]
) -> Operation:
    """The operation of a node: `features` gives its outputs, by the names of the op's outputs."""
    schema = NODES[kind].schema

    def run(*given: Any) -> list[Any]:
        by_name = dict(
            zip((a.name for a in schema.inputs), NODES[kind].grouped(attrs, given), strict=True)
        )
        found = features(by_name, attrs)
        return [y for a in schema.outputs for y in found.get(a.name, ())]

    batch = () if kind.startswith("ParseSingle") else inputs[0].shape_tuple
    outputs: list[tuple[Any, Any]] = []
    for argument in schema.outputs:
        kinds = dtypes_of(argument, attrs)
        shapes = _shapes(argument.name, batch, len(kinds), attrs)
        outputs += zip(kinds, shapes, strict=True)
    return python_ops.node(kind, run, inputs, outputs, name, False, **attrs)


def _shapes(output: str, batch: Any, count: int, attrs: dict[str, Any]) -> list[Any]:
    """What is known of the shapes of the tensors of an output."""
    lists = output.startswith("feature_list_")
    rank = None if batch is None else len(batch) + 1 + lists
    if output.endswith("sparse_indices"):
        return [(None, rank)] * count
    if output.endswith("sparse_shapes"):
        return [(rank,)] * count
    if not output.endswith(("dense_values", "dense_lengths")):
        return [(None,)] * count
    if output.endswith("lengths"):
        return [batch] * count
    given = attrs[output.replace("dense_values", "dense_shapes")]
    if batch is None:
        return [None] * count
    return [(*batch, *((None,) if lists else ()), *shape.as_list()) for shape in given]


_FEATURES: dict[str, _Features] = {
    "ParseExample": _example_features,
    "ParseExampleV2": _example_features,
    "ParseSingleExample": _example_features,
    "ParseSequenceExample": _sequence_features,
    "ParseSequenceExampleV2": _sequence_features,
    "ParseSingleSequenceExample": _sequence_features,
}


def _imported(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    return make(node.op, _FEATURES[node.op], inputs, name + "/", attrs)


def outputs_of(kind: str, inputs: Sequence[Any], **attrs: Any) -> Sequence[Any]:
    """The outputs of a new node with these inputs and attrs; attrs that are left out are empty lists and 0."""
    for attr in op_defs.op_def(kind).attr:
        attrs.setdefault(attr.name, 0 if attr.type == "int" else [])
    return make(kind, _FEATURES[kind], [convert_to_tensor(x) for x in inputs], kind, attrs).outputs


for _kind in _FEATURES:
    SPECIAL[_kind] = _imported
    planning.emits(_kind)(python_ops.emit)
