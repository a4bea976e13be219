"""Nodes of datasets that are no datasets themselves: what is asked or written of one, elements by number.

With them the rows of all nodes of this package are registered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, NotFoundError
from tapeflow.core.files.tf_record import TFRecordWriter
from tapeflow.data import leaves, transformations
from tapeflow.data.batch_size import compute_batch_size
from tapeflow.data.fingerprint import fingerprint
from tapeflow.data.iteration import outside_state
from tapeflow.data.nodes import kernels  # noqa: F401 (its rows)
from tapeflow.data.nodes.iterators import Attrs
from tapeflow.data.nodes.nodes import fold_of, register, register_kernels
from tapeflow.data.nodes.nodes import node as add_node
from tapeflow.data.nodes.variants import dataset_of, packed, unpacked
from tapeflow.data.options import ExternalStatePolicy
from tapeflow.data.parts import parts_of
from tapeflow.data.transform import mapping
from tapeflow.data.transform.optioning import written_options
from tapeflow.data.transform.record import ELEMENTS
from tapeflow.function.compiled import Compiled
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange.importing import import_graph_def
from tapeflow.graph.operation import Operation
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.node_rows import NodeRow, node
from tapeflow.ops.signature import func, strings, type_list
from tapeflow.ops.state.resource_op import expect, object_of


def _reduce(graph: Graph, row: NodeRow, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    fold = fold_of(row, attrs)

    def run(*values: Any) -> list[Any]:
        fn, dataset, state = fold(values)
        return unpacked(mapping.reduced(dataset, packed(state), fn))

    return add_node(graph, row, run, inputs, name, attrs)


register(
    node(
        "ReduceDataset",
        "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> components: output_types",
        {"f": func, "Tstate": type_list, "Targuments": type_list, **ELEMENTS, "use_inter_op_parallelism": True,
         "metadata": ""},
        stateful=True,
    ),
    _reduce,
)  # fmt: skip


@node(
    "DatasetToSingleElement", "dataset: variant -> components: output_types", {**ELEMENTS, "metadata": ""},
    stateful=True,
).runs  # fmt: skip
def _single(attrs: Attrs, dataset: Any) -> list[Any]:
    return unpacked(dataset_of(dataset).get_single_element())


@node("DatasetCardinality", "input_dataset: variant -> cardinality: int64", {"cardinality_options": ""}).runs
def _cardinality(attrs: Attrs, dataset: Any) -> list[Any]:
    return [dataset_of(dataset).cardinality()]


_cardinality.also("ExperimentalDatasetCardinality", without=("cardinality_options",))


@node("ComputeBatchSize", "input_dataset: variant -> batch_size: int64").runs
def _batch_size(attrs: Attrs, dataset: Any) -> list[Any]:
    return [compute_batch_size(dataset_of(dataset))]


@node("DatasetFingerprint", "input_dataset: variant -> fingerprint: uint64").runs
def _fingerprint(attrs: Attrs, dataset: Any) -> list[Any]:
    return [fingerprint(dataset_of(dataset))]


@node("GetOptions", "input_dataset: variant -> serialized_options: string").runs
def _options(attrs: Attrs, dataset: Any) -> list[Any]:
    return [convert_to_tensor(np.array(written_options(dataset_of(dataset).options()), object), dtypes.string)]


def _graph_of(attrs: Attrs, dataset: Any) -> list[Any]:
    policy = attrs.get("external_state_policy", 2 if not attrs.get("allow_stateful", True) else 0)
    outside_state.heed(dataset_of(dataset), ExternalStatePolicy(policy))
    return [dataset_of(dataset)._as_serialized_graph()]


node(
    "DatasetToGraph", "input_dataset: variant -> graph: string",
    {"stateful_whitelist": strings([]), "allow_stateful": False, "strip_device_assignment": False},
).runs(_graph_of)  # fmt: skip
node(
    "DatasetToGraphV2", "input_dataset: variant -> graph: string",
    {"external_state_policy": 0, "strip_device_assignment": False},
).runs(_graph_of)  # fmt: skip


@node("DatasetFromGraph", "graph_def: string -> handle: variant").runs
def _of_graph(attrs: Attrs, spec: Any, text: Any) -> Any:
    definition = protos.GraphDef()
    try:
        definition.ParseFromString(text.numpy())
    except DecodeError:
        raise InvalidArgumentError(None, None, "Could not parse the GraphDef of a dataset") from None
    returned = [each for each in definition.node if each.op == "_Retval" and each.input]
    if len(returned) != 1:
        raise NotFoundError(None, None, f"A GraphDef of a dataset has one node that returns it, not {len(returned)}")
    source = returned[0].input[0]
    definition.node.remove(returned[0])
    graph = FuncGraph("DatasetFromGraph")
    with graph.as_default():
        graph.outputs = import_graph_def(definition, return_elements=[source if ":" in source else f"{source}:0"])
    return dataset_of(Compiled(graph).plan()[0])


@node("GetElementAtIndex", "dataset: variant, index: int64 -> components: output_types", ELEMENTS).runs
def _at(attrs: Attrs, dataset: Any, index: Any) -> list[Any]:
    if index.shape.rank:
        raise InvalidArgumentError(None, None, "index must be a scalar")
    return unpacked(transformations.at(dataset_of(dataset), index))


@node(
    "DatasetToTFRecord", "input_dataset: variant, filename: string, compression_type: string ->", stateful=True,
    touches="files",
).runs  # fmt: skip
def _write(attrs: Attrs, dataset: Any, filename: Any, compression: Any) -> list[Any]:
    values = dataset_of(dataset)
    if getattr(values.element_spec, "dtype", None) != dtypes.string:
        raise InvalidArgumentError(
            None, None, f"DatasetToTFRecord writes scalar strings, not elements of {values.element_spec}"
        )
    with TFRecordWriter(filename.numpy().decode(), compression.numpy().decode()) as file:
        for value in parts_of(values).start():
            if value.shape.rank:
                raise InvalidArgumentError(None, None, f"DatasetToTFRecord writes scalars, got shape {value.shape}")
            file.write(value.numpy())
    return []


_write.also("ExperimentalDatasetToTFRecord")


@node("InitializeTableFromDataset", "table_handle: resource, dataset: variant ->", stateful=True).runs
def _fill_table(attrs: Attrs, handle: Any, dataset: Any) -> list[Any]:
    table = expect(object_of(handle), Table, "lookup table")
    pairs = [unpacked(value) for value in parts_of(dataset_of(dataset)).start()]
    if not pairs or any(len(pair) != 2 or any(x.shape.rank for x in pair) for pair in pairs):
        raise InvalidArgumentError(None, None, "A table is filled from a dataset of pairs of scalars")
    table.fill(*(_column([pair[i] for pair in pairs]) for i in (0, 1)))
    return []


def _column(tensors: list[Any]) -> np.ndarray:
    kind = object if tensors[0].dtype == dtypes.string else tensors[0].dtype.as_numpy_dtype
    return np.array([x.numpy() for x in tensors], kind)


# An element in a box. Nothing is gained by making it smaller where it never leaves the process.


@node("CompressElement", "components: input_types -> compressed: variant", {"input_types": type_list}).runs
def _compress(attrs: Attrs, *components: Any) -> list[Any]:
    return [leaves.boxed(list(components))]


@node("UncompressElement", "compressed: variant -> components: output_types", ELEMENTS).runs
def _uncompress(attrs: Attrs, box: Any) -> list[Any]:
    found = leaves.unboxed(box)
    if not isinstance(found, list) or [x.dtype for x in found] != list(attrs["output_types"]):
        raise InvalidArgumentError(None, None, "The variant holds no compressed element of these types")
    return found


def _same_box(attrs: Attrs, box: Any) -> list[Any]:
    dataset_of(box)
    return [box]


for _name in ("WrapDatasetVariant", "UnwrapDatasetVariant"):
    node(_name, "input_handle: variant -> output_handle: variant").runs(_same_box)
register_kernels("Optional")
