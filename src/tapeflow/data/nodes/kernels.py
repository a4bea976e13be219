"""Nodes of datasets that no method makes: of early releases, of several steps in one, of steps that do nothing here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.building import build
from tapeflow.data.iteration.passes import Counted, Over
from tapeflow.data.parts import parts_of
from tapeflow.data.sources.files import matching
from tapeflow.data.transform import batching, mapping, selecting, shuffling
from tapeflow.data.transform.record import ELEMENTS, plain
from tapeflow.ops.node_rows import node
from tapeflow.ops.signature import func, integer, strings, type_list


def _same(attrs: Mapping[str, Any], fn: Callable[..., Any], dataset: Any, *rest: Any) -> Any:
    """The same dataset, for a node that only says how it is run, or measures that."""
    return dataset


_OLD = "Experimental"
node(
    "FinalizeDataset", "input_dataset: variant -> handle: variant", {"has_captured_ref": False, **ELEMENTS}
).runs(_same)
node(
    "ModelDataset", "input_dataset: variant -> handle: variant",
    {"algorithm": 0, "cpu_budget": 0, "ram_budget": 0, **ELEMENTS},
).runs(_same)  # fmt: skip
node(
    "OptimizeDataset", "input_dataset: variant, optimizations: string -> handle: variant",
    {**ELEMENTS, "optimization_configs": strings([])},
).runs(_same)  # fmt: skip
node(
    "OptimizeDatasetV2",
    "input_dataset: variant, optimizations_enabled: string, optimizations_disabled: string, "
    "optimizations_default: string -> handle: variant",
    {**ELEMENTS, "optimization_configs": strings([])}, forwards=True,
).runs(_same)  # fmt: skip
node("RewriteDataset", "input_dataset: variant, rewrite_name: string -> handle: variant", ELEMENTS).runs(_same)
for _name, _inputs, _stateful in (
    ("MaxIntraOpParallelismDataset", ", max_intra_op_parallelism: int64", False),
    ("BytesProducedStatsDataset", ", tag: string", False),
    ("LatencyStatsDataset", ", tag: string", False),
    ("NonSerializableDataset", "", False),
    ("SetStatsAggregatorDataset", ", stats_aggregator: resource, tag: string, counter_prefix: string", True),
    ("ThreadPoolDataset", ", thread_pool: resource", True),
):
    _row = node(_name, f"input_dataset: variant{_inputs} -> handle: variant", ELEMENTS, stateful=_stateful)
    _row.runs(_same).also(_OLD + _name)


@node("MatchingFilesDataset", "patterns: string -> handle: variant", stateful=True, touches="files").runs
def _matching(attrs: Mapping[str, Any], fn: Callable[..., Any], patterns: Any) -> Any:
    texts = [text.decode() for text in np.ravel(patterns.numpy())]
    return build(("TensorSlice", lambda: Counted(lambda: matching(texts)), TensorSpec([], dtypes.string), -2))


_matching.also("ExperimentalMatchingFilesDataset")


# Several steps at once.


@node(
    "MapAndBatchDataset",
    "input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, "
    "drop_remainder: bool -> handle: variant",
    {"f": func, "Targuments": type_list, **ELEMENTS, "preserve_cardinality": False, "metadata": ""},
).runs
def _map_and_batch(
    attrs: Mapping[str, Any], fn: Callable[..., Any], dataset: Any, size: Any, calls: Any, drop: Any,
) -> Any:
    return batching.batched_whole(mapping.mapped(dataset, fn, plain(calls)), plain(size), plain(drop))


_map_and_batch.also("ExperimentalMapAndBatchDataset")


def _shuffle_and_repeat(
    attrs: Any, fn: Callable[..., Any], dataset: Any, size: Any, seed: Any, seed2: Any, count: Any, *generator: Any
) -> Any:
    seeds = shuffling.node_seeds(attrs, {"seed": plain(seed), "seed2": plain(seed2)})["seed"]
    made = shuffling.shuffled(dataset, plain(size), seeds, attrs["reshuffle_each_iteration"])
    return selecting.repeated(made, plain(count))


_INPUTS = "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64"
node(
    "ShuffleAndRepeatDataset", f"{_INPUTS} -> handle: variant",
    {**ELEMENTS, "reshuffle_each_iteration": True, "metadata": ""},
).runs(_shuffle_and_repeat)  # fmt: skip
node(
    "ShuffleAndRepeatDatasetV2", f"{_INPUTS}, seed_generator: resource -> handle: variant",
    {"reshuffle_each_iteration": True, **ELEMENTS, "metadata": ""}, stateful=True,
).runs(_shuffle_and_repeat)  # fmt: skip


# Windows of early releases.


@node(
    "SlidingWindowDataset",
    "input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64 -> handle: variant",
    {"drop_remainder": True, **ELEMENTS},
).runs
def _sliding(attrs: Mapping[str, Any], fn: Callable[..., Any], dataset: Any, size: Any, shift: Any, stride: Any) -> Any:
    number, by, step = plain(size), plain(shift), plain(stride)
    if min(number, by, step) <= 0:
        raise InvalidArgumentError(None, None, "Window size, shift and stride must be greater than zero.")
    spec = dataset.batch(number).element_spec
    drop = attrs.get("drop_remainder", True)
    start = parts_of(dataset).start
    return build(("SlidingWindow", lambda: _Sliding(start(), number, by, step, drop), spec, -2), dataset)


_sliding.also("ExperimentalSlidingWindowDataset", without=("drop_remainder",))


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


# Which elements, and when.


@node(
    "AutoShardDataset", "input_dataset: variant, num_workers: int64, index: int64 -> handle: variant",
    {"auto_shard_policy": 0, **ELEMENTS, "num_replicas": 0},
).runs  # fmt: skip
def _auto_shard(attrs: Mapping[str, Any], fn: Callable[..., Any], dataset: Any, workers: Any, index: Any) -> Any:
    """By number; files are not given out one by one."""
    policy = attrs["auto_shard_policy"]
    if policy == -1:
        return dataset
    if policy not in (0, 2):
        raise UnimplementedError(None, None, f"auto_shard_policy {policy}: datasets are only sharded by elements")
    return selecting.sharded(dataset, plain(workers), plain(index))


_auto_shard.also("ExperimentalAutoShardDataset", without=("num_replicas",))


@node(
    "ChooseFastestDataset", "input_datasets: N>=2*variant -> handle: variant",
    {"N": integer, "num_experiments": integer, **ELEMENTS},
).runs  # fmt: skip
def _fastest(attrs: Mapping[str, Any], fn: Callable[..., Any], datasets: Any) -> Any:
    """All of them have the same elements."""
    if not datasets:
        raise InvalidArgumentError(None, None, "ChooseFastestDataset needs at least one dataset")
    return datasets[0]


_fastest.also("ExperimentalChooseFastestDataset")


@node("SleepDataset", "input_dataset: variant, sleep_microseconds: int64 -> handle: variant", ELEMENTS).runs
def _slow(attrs: Mapping[str, Any], fn: Callable[..., Any], dataset: Any, microseconds: Any) -> Any:
    seconds = plain(microseconds) / 1e6
    if seconds < 0:
        raise InvalidArgumentError(None, None, "`sleep_microseconds` must be >= 0")
    start = lambda: _Slow(parts_of(dataset).start(), seconds)  # noqa: E731
    return build(("Sleep", start, dataset.element_spec, parts_of(dataset).size), dataset)


_slow.also("ExperimentalSleepDataset")


class _Slow(Over):
    """Waits before each element."""

    __slots__ = ("_seconds",)

    def __init__(self, values: Any, seconds: float):
        super().__init__(values)
        self._seconds = seconds

    def __next__(self) -> Any:
        time.sleep(self._seconds)
        return next(self._input)
