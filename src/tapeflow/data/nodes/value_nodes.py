"""Nodes of datasets that are no datasets themselves: what is asked or written of one, elements by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.files.tf_record import TFRecordWriter
from tapeflow.data import leaves, transformations
from tapeflow.data.batch_size import compute_batch_size
from tapeflow.data.fingerprint import fingerprint
from tapeflow.data.nodes.kernels import dataset_of, unpacked, written_options
from tapeflow.data.nodes.nodes import (
    _anonymous,
    _cardinality,
    _from_string,
    _node,
    _nothing,
    _pass_of,
    register,
    spec_of,
)
from tapeflow.graph.operation import Operation
from tapeflow.ops.lookup.rows import Table
from tapeflow.ops.state.resource_op import expect, object_of

_Run = Callable[..., Sequence[Any]]


def _computing(run: _Run, outputs: Any = (), stateful: bool = False) -> Any:
    """What makes nodes that call `run`, and have these outputs: a list, or a function of attrs that gives one."""

    def make(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
        known = outputs(attrs) if callable(outputs) else outputs
        return _node(graph, kind, run, inputs, known, name, attrs, stateful)

    return make


def _elements(attrs: Any) -> Any:
    return leaves.outputs(spec_of(attrs))


def _scalar(dtype: Any) -> list[Any]:
    return [(dtype, ())]


def _batch_size(dataset: Any) -> list[Any]:
    return [compute_batch_size(dataset_of(dataset))]


def _fingerprint(dataset: Any) -> list[Any]:
    return [fingerprint(dataset_of(dataset))]


def _options(dataset: Any) -> list[Any]:
    return [convert_to_tensor(np.array(written_options(dataset_of(dataset).options()), object), dtypes.string)]


def _at(dataset: Any, index: Any) -> list[Any]:
    if index.shape.rank:
        raise InvalidArgumentError(None, None, "index must be a scalar")
    return unpacked(transformations.at(dataset_of(dataset), index))


def _write(dataset: Any, filename: Any, compression: Any) -> list[Any]:
    values = dataset_of(dataset)
    if getattr(values.element_spec, "dtype", None) != dtypes.string:
        raise InvalidArgumentError(
            None, None, f"DatasetToTFRecord writes scalar strings, not elements of {values.element_spec}"
        )
    with TFRecordWriter(filename.numpy().decode(), compression.numpy().decode()) as file:
        for value in values._start():
            if value.shape.rank:
                raise InvalidArgumentError(None, None, f"DatasetToTFRecord writes scalars, got shape {value.shape}")
            file.write(value.numpy())
    return []


def _fill_table(handle: Any, dataset: Any) -> list[Any]:
    table = expect(object_of(handle), Table, "lookup table")
    pairs = [unpacked(value) for value in dataset_of(dataset)._start()]
    if not pairs or any(len(pair) != 2 or any(x.shape.rank for x in pair) for pair in pairs):
        raise InvalidArgumentError(None, None, "A table is filled from a dataset of pairs of scalars")
    table.fill(*(_column([pair[i] for pair in pairs]) for i in (0, 1)))
    return []


def _column(tensors: list[Any]) -> np.ndarray:
    kind = object if tensors[0].dtype == dtypes.string else tensors[0].dtype.as_numpy_dtype
    return np.array([x.numpy() for x in tensors], kind)


def _device(handle: Any) -> list[Any]:
    _pass_of(handle)
    return [convert_to_tensor("/job:localhost/replica:0/task:0/device:CPU:0")]


# An element in a box. Nothing is gained by making it smaller where it never leaves the process.


def _compress(*components: Any) -> list[Any]:
    return [leaves.boxed(list(components))]


def _uncompress_as(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    types = attrs["output_types"]

    def run(box: Any) -> list[Any]:
        found = leaves.unboxed(box)
        if not isinstance(found, list) or [x.dtype for x in found] != list(types):
            raise InvalidArgumentError(None, None, "The variant holds no compressed element of these types")
        return found

    return _node(graph, kind, run, inputs, _elements(attrs), name, attrs, False)


def _same_box(box: Any) -> list[Any]:
    dataset_of(box)
    return [box]


register(
    {
        **dict.fromkeys(("DatasetToTFRecord", "ExperimentalDatasetToTFRecord"), _computing(_write, stateful=True)),
        "ExperimentalDatasetCardinality": _cardinality,
        "ComputeBatchSize": _computing(_batch_size, _scalar(dtypes.int64)),
        "DatasetFingerprint": _computing(_fingerprint, _scalar(dtypes.uint64)),
        "GetOptions": _computing(_options, _scalar(dtypes.string)),
        "GetElementAtIndex": _computing(_at, _elements),
        "InitializeTableFromDataset": _computing(_fill_table, stateful=True),
        **dict.fromkeys(
            ("IteratorGetDevice", "ExperimentalIteratorGetDevice"), _computing(_device, _scalar(dtypes.string))
        ),
        "IteratorFromStringHandle": _from_string,
        **dict.fromkeys(
            ("AnonymousRandomSeedGenerator", "DummyIterationCounter", "StatsAggregatorHandle",
             "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle", "ThreadPoolHandle",
             "ExperimentalThreadPoolHandle"), _anonymous,
        ),
        "DeleteRandomSeedGenerator": _nothing,
        "CompressElement": _computing(_compress, _scalar(dtypes.variant)),
        "UncompressElement": _uncompress_as,
        **dict.fromkeys(("WrapDatasetVariant", "UnwrapDatasetVariant"), _computing(_same_box, _scalar(dtypes.variant))),
    }
)  # fmt: skip
