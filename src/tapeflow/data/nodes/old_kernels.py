"""Kernels of dataset ops of early releases, and of those that methods of datasets seldom make."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.building import build
from tapeflow.data.iteration.passes import Counted, Over
from tapeflow.data.nodes.kernels import KERNELS, _int, _kernel, _same, flat, packed
from tapeflow.data.parts import size_of, start_of
from tapeflow.data.sources import records
from tapeflow.data.sources import values as sources
from tapeflow.data.sources.csv_reading import csv_records
from tapeflow.data.sources.files import matching
from tapeflow.data.sources.sql_reading import sql_rows
from tapeflow.data.transform import batching, combining, flattening, mapping, selecting

# What only says how to run a dataset, or measures its runs.
_kernel(
    "BytesProducedStatsDataset", "LatencyStatsDataset", "NonSerializableDataset", "SetStatsAggregatorDataset",
    "ThreadPoolDataset",
)(_same)  # fmt: skip


# Sources.


@_kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
def _fixed_length(
    attrs: Any, fn: Any, names: Any, header: Any, size: Any, footer: Any, buffer: Any, compression: Any = None
) -> Any:
    kind = "" if compression is None else compression.numpy().decode()
    made = records.fixed_length(names, _int(size), _int(header), _int(footer), _int(buffer), kind, None)
    return build(made)


@_kernel("MatchingFilesDataset")
def _matching(attrs: Any, fn: Any, patterns: Any) -> Any:
    texts = [text.decode() for text in np.ravel(patterns.numpy())]
    return build(("TensorSlice", lambda: Counted(lambda: matching(texts)), TensorSpec([], dtypes.string), -2))


@_kernel("ListDataset")
def _listed(attrs: Any, fn: Any, tensors: Any) -> Any:
    width = len(attrs["output_types"])
    if not tensors or len(tensors) % width:
        raise InvalidArgumentError(None, None, f"{len(tensors)} tensors are no elements of {width} components")
    return build(sources.from_list([packed(tensors[i : i + width]) for i in range(0, len(tensors), width)]))


@_kernel("CSVDataset", "CSVDatasetV2")
def _csv(
    attrs: Any, fn: Any, names: Any, compression: Any, buffer: Any, header: Any, delimiter: Any, quotes: Any,
    missing: Any, selected: Any, defaults: Any, excluded: Any = None,
) -> Any:  # fmt: skip
    columns, others = ([] if x is None else x.numpy().tolist() for x in (selected, excluded))
    # A default without elements only tells the dtype.
    known = [x if x.shape.num_elements() else x.dtype for x in defaults]
    made = csv_records(names, known, compression, buffer, bool(header), delimiter, bool(quotes), missing,
                       columns or None, others or None)  # fmt: skip
    return flat(build(made))


@_kernel("SqlDataset")
def _sql(attrs: Any, fn: Any, driver: Any, source: Any, query: Any) -> Any:
    return flat(build(sql_rows(driver, source, query, attrs["output_types"])))


# By functions.


@_kernel("ParallelFilterDataset")
def _parallel_filter(attrs: Any, fn: Any, dataset: Any, calls: Any) -> Any:
    return build(mapping.filtered(dataset, fn), dataset)


@_kernel("ParallelInterleaveDataset", "LegacyParallelInterleaveDatasetV2")
def _parallel_interleave(attrs: Any, fn: Any, dataset: Any, cycle: Any, block: Any, *rest: Any) -> Any:
    return flat(build(flattening.interleaved(dataset, fn, _int(cycle), _int(block), None, True), dataset))


# Several elements at once.


@_kernel("SlidingWindowDataset")
def _sliding(attrs: Any, fn: Any, dataset: Any, size: Any, shift: Any, stride: Any) -> Any:
    number, by, step = _int(size), _int(shift), _int(stride)
    if min(number, by, step) <= 0:
        raise InvalidArgumentError(None, None, "Window size, shift and stride must be greater than zero.")
    spec = dataset.batch(number).element_spec
    drop = attrs.get("drop_remainder", True)
    return build(("SlidingWindow", lambda: _Sliding(start_of(dataset)(), number, by, step, drop), spec, -2), dataset)


class _Sliding(Over):
    """Batches of elements `step` apart, each begun `shift` elements after the one before."""

    __slots__ = ("_drop", "_held", "_over", "_shift", "_size", "_skip", "_step")

    def __init__(self, values: Any, size: int, shift: int, step: int, drop: bool):
        super().__init__(values)
        self._size, self._shift, self._step, self._drop = size, shift, step, drop
        self._held: list[Any] = []
        self._skip, self._over = 0, False

    def __next__(self) -> Any:
        span = (self._size - 1) * self._step + 1
        while len(self._held) < span and not self._over:
            try:
                value = next(self._input)
            except StopIteration:
                self._over = True
                break
            if self._skip:
                self._skip -= 1
            else:
                self._held.append(value)
        if not self._held or (len(self._held) < span and self._drop):
            raise StopIteration
        made = batching.stack(self._held[: span : self._step])
        self._skip += max(self._shift - len(self._held), 0)
        self._held = self._held[self._shift :]
        return made


@_kernel("RebatchDatasetV2")
def _rebatch(attrs: Any, fn: Any, dataset: Any, sizes: Any, drop: Any) -> Any:
    found = sizes.numpy()
    return build(batching.rebatched(dataset, found.tolist() if found.ndim else int(found), bool(drop)), dataset)


# Which elements, in which order.


@_kernel("AutoShardDataset")
def _auto_shard(attrs: Any, fn: Any, dataset: Any, workers: Any, index: Any) -> Any:
    """By number; files are not given out one by one."""
    policy = attrs["auto_shard_policy"]
    if policy == -1:
        return dataset
    if policy not in (0, 2):
        raise UnimplementedError(None, None, f"auto_shard_policy {policy}: datasets are only sharded by elements")
    return build(selecting.sharded(dataset, _int(workers), _int(index)), dataset)


@_kernel("ChooseFastestDataset")
def _fastest(attrs: Any, fn: Any, datasets: Any) -> Any:
    """All of them have the same elements."""
    if not datasets:
        raise InvalidArgumentError(None, None, "ChooseFastestDataset needs at least one dataset")
    return datasets[0]


@_kernel("DirectedInterleaveDataset")
def _directed(attrs: Any, fn: Any, choice: Any, datasets: Any) -> Any:
    made = combining.chosen(list(datasets), choice, attrs.get("stop_on_empty_dataset", False))
    return flat(build(made, choice, *datasets))


@_kernel("SleepDataset")
def _slow(attrs: Any, fn: Any, dataset: Any, microseconds: Any) -> Any:
    seconds = _int(microseconds) / 1e6
    if seconds < 0:
        raise InvalidArgumentError(None, None, "`sleep_microseconds` must be >= 0")
    start = lambda: _Slow(start_of(dataset)(), seconds)  # noqa: E731
    return build(("Sleep", start, dataset.element_spec, size_of(dataset)), dataset)


class _Slow(Over):
    """Waits before each element."""

    __slots__ = ("_seconds",)

    def __init__(self, values: Any, seconds: float):
        super().__init__(values)
        self._seconds = seconds

    def __next__(self) -> Any:
        time.sleep(self._seconds)
        return next(self._input)


# The first names of ops that were experiments once.
OLD_NAMES = (
    "AutoShardDataset", "BytesProducedStatsDataset", "CSVDataset", "ChooseFastestDataset", "DirectedInterleaveDataset",
    "IgnoreErrorsDataset", "LatencyStatsDataset", "MapAndBatchDataset", "MapDataset", "MatchingFilesDataset",
    "MaxIntraOpParallelismDataset", "NonSerializableDataset", "ParallelInterleaveDataset", "PrivateThreadPoolDataset",
    "RandomDataset", "ScanDataset", "SetStatsAggregatorDataset", "SleepDataset", "SlidingWindowDataset", "SqlDataset",
    "TakeWhileDataset", "ThreadPoolDataset", "UnbatchDataset", "UniqueDataset",
)  # fmt: skip
KERNELS.update({f"Experimental{name}": KERNELS[name] for name in OLD_NAMES})
