"""TensorFlow's dataset ops: how each makes a dataset of its inputs, when a graph runs.

Elements are flat there: one tensor, or a tuple of several.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.files.wire import bytes_field, fields, varint_field
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element, leaves
from tapeflow.data.building import build
from tapeflow.data.dataset import Dataset
from tapeflow.data.iteration.passes import Over
from tapeflow.data.options import Options
from tapeflow.data.parts import size_of, start_of
from tapeflow.data.sources import values as sources
from tapeflow.data.sources.records import TextLineDataset, TFRecordDataset
from tapeflow.data.transform import (
    batching,
    caching,
    combining,
    flattening,
    mapping,
    selecting,
    windows,
)
from tapeflow.data.transformations import assert_cardinality

# What makes the dataset of an op: (attrs, function, *inputs); inputs are datasets, eager tensors or lists of them.
KERNELS: dict[str, Callable[..., Any]] = {}


def _kernel(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        KERNELS.update(dict.fromkeys(kinds, function))
        return function

    return register


def packed(flat: Any) -> Any:
    """An element of a list of tensors or specs."""
    flat = tuple(flat)
    return flat[0] if len(flat) == 1 else flat


def unpacked(value: Any) -> list[Any]:
    """The tensors of an element of any dataset, as TensorFlow's ops have them: in the order of sorted keys."""
    if isinstance(value, Tensor):
        return [value]
    found: list[Any] = []
    for leaf in element.flatten(value):
        if hasattr(leaf, "from_recipe"):
            found.append(leaves.boxed_dataset(leaf))
        elif isinstance(leaf, element.COMPOSITES):
            raise UnimplementedError(
                None, None, f"Elements with a {type(leaf).__name__} do not go into nodes of TensorFlow's datasets"
            )
        else:
            found.append(convert_to_tensor(leaf))
    return found


def flat(dataset: Any) -> Any:
    """A dataset with flat elements."""
    spec = dataset.element_spec
    specs = element.flatten(spec)
    plain = all(isinstance(s, TensorSpec) for s in specs)
    if plain and (not element.is_structure(spec) or (type(spec) is tuple and len(spec) == len(specs) != 1)):
        return dataset
    kinds = packed(s if isinstance(s, TensorSpec) else TensorSpec((), dtypes.variant) for s in specs)
    return build(("Map", lambda: _Flat(start_of(dataset)()), kinds, size_of(dataset)), dataset)


class _Flat(Over):
    __slots__ = ()

    def __next__(self) -> Any:
        return packed(unpacked(next(self._input)))


def _int(x: Any) -> int:
    return int(x.numpy())


def _seeds(first: Any, second: Any) -> Any:
    """The seeds of a dataset; without any, its order differs from run to run."""
    found = _int(first), _int(second)
    return selecting.GraphSeeds(*(found if any(found) else (secrets.randbits(62), 1)))


# Sources.


@_kernel("RangeDataset")
def _range(attrs: Any, fn: Any, start: Any, stop: Any, step: Any) -> Any:
    made = sources.range_of((_int(start), _int(stop), _int(step)), output_type=attrs["output_types"][0])
    return build(made)


@_kernel("TensorDataset")
def _tensors(attrs: Any, fn: Any, components: Any) -> Any:
    return build(sources.from_tensors(packed(components)))


@_kernel("TensorSliceDataset")
def _slices(attrs: Any, fn: Any, components: Any) -> Any:
    return build(sources.from_tensor_slices(packed(components)))


@_kernel("RandomDataset", "RandomDatasetV2")
def _random(attrs: Any, fn: Any, seed: Any, seed2: Any, *generator: Any) -> Any:
    again = bool(attrs.get("rerandomize_each_iteration"))
    return build(sources.random_numbers(_seeds(seed, seed2), again))


@_kernel("TextLineDataset")
def _lines(attrs: Any, fn: Any, names: Any, compression: Any, buffer: Any) -> Any:
    return TextLineDataset(names, compression.numpy().decode(), _int(buffer))


@_kernel("TFRecordDataset", "TFRecordDatasetV2")
def _records(attrs: Any, fn: Any, names: Any, compression: Any, buffer: Any, *offsets: Any) -> Any:
    return TFRecordDataset(names, compression.numpy().decode(), _int(buffer))


# By functions.


@_kernel("MapDataset")
def _map(attrs: Any, fn: Any, dataset: Any) -> Any:
    return build(mapping.mapped(dataset, fn, None, None), dataset)


@_kernel("ParallelMapDataset", "ParallelMapDatasetV2")
def _parallel_map(attrs: Any, fn: Any, dataset: Any, calls: Any) -> Any:
    return build(mapping.mapped(dataset, fn, _int(calls), _ordered(attrs)), dataset)


def _ordered(attrs: Any) -> bool | None:
    """Whether elements come in their order; None: as the options say."""
    if attrs.get("sloppy"):
        return False
    return {"true": True, "false": False}.get(attrs.get("deterministic", ""))


@_kernel("FilterDataset")
def _filter(attrs: Any, fn: Any, dataset: Any) -> Any:
    return build(mapping.filtered(dataset, fn), dataset)


@_kernel("TakeWhileDataset")
def _take_while(attrs: Any, fn: Any, dataset: Any) -> Any:
    return build(mapping.taken_while(dataset, fn), dataset)


@_kernel("FlatMapDataset")
def _flat_map(attrs: Any, fn: Any, dataset: Any) -> Any:
    return flat(build(flattening.flat_mapped(dataset, fn), dataset))


@_kernel(
    "InterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3", "ParallelInterleaveDatasetV4"
)
def _interleave(attrs: Any, fn: Any, dataset: Any, cycle: Any, block: Any, *rest: Any) -> Any:
    calls = _int(rest[-1]) if rest else None
    made = flattening.interleaved(dataset, fn, _int(cycle), _int(block), calls, _ordered(attrs))
    return flat(build(made, dataset))


@_kernel("ScanDataset")
def _scan(attrs: Any, fn: Any, dataset: Any, state: Any) -> Any:
    return build(mapping.scanned(dataset, packed(state), fn), dataset)


@_kernel("MapAndBatchDataset")
def _map_and_batch(attrs: Any, fn: Any, dataset: Any, size: Any, calls: Any, drop: Any) -> Any:
    mapped = build(mapping.mapped(dataset, fn, _int(calls), None), dataset)
    return build(batching.batched_whole(mapped, _int(size), bool(drop)), mapped)


# Several elements at once.


@_kernel("BatchDataset", "BatchDatasetV2")
def _batch(attrs: Any, fn: Any, dataset: Any, size: Any, drop: Any = False) -> Any:
    return build(batching.batched(dataset, _int(size), bool(drop)), dataset)


@_kernel("ParallelBatchDataset")
def _parallel_batch(attrs: Any, fn: Any, dataset: Any, size: Any, calls: Any, drop: Any) -> Any:
    return build(batching.batched(dataset, _int(size), bool(drop), _int(calls)), dataset)


@_kernel("PaddedBatchDataset", "PaddedBatchDatasetV2")
def _padded(attrs: Any, fn: Any, dataset: Any, size: Any, shapes: Any, values: Any, drop: Any = False) -> Any:
    made = batching.padded(dataset, _int(size), packed(shapes), packed(values), bool(drop))
    return build(made, dataset)


@_kernel("WindowDataset")
def _window(attrs: Any, fn: Any, dataset: Any, size: Any, shift: Any, stride: Any, drop: Any) -> Any:
    made = windows.windows(dataset, _int(size), _int(shift), _int(stride), bool(drop))
    return flat(build(made, dataset))


@_kernel("UnbatchDataset")
def _unbatch(attrs: Any, fn: Any, dataset: Any) -> Any:
    return build(batching.unbatched(dataset), dataset)


# Which elements, in which order.


@_kernel("ShuffleDataset", "ShuffleDatasetV3")
def _shuffle(attrs: Any, fn: Any, dataset: Any, size: Any, seed: Any, seed2: Any, *generator: Any) -> Any:
    again = attrs["reshuffle_each_iteration"]
    return build(selecting.shuffled(dataset, _int(size), _seeds(seed, seed2), again), dataset)


@_kernel("ShuffleDatasetV2")
def _shuffle_2(attrs: Any, fn: Any, dataset: Any, size: Any, generator: Any) -> Any:
    seeds = selecting.GraphSeeds(secrets.randbits(62), 1)
    return build(selecting.shuffled(dataset, _int(size), seeds, True), dataset)


@_kernel("ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2")
def _shuffle_and_repeat(
    attrs: Any, fn: Any, dataset: Any, size: Any, seed: Any, seed2: Any, count: Any, *generator: Any
) -> Any:
    again = attrs["reshuffle_each_iteration"]
    made = build(selecting.shuffled(dataset, _int(size), _seeds(seed, seed2), again), dataset)
    return build(selecting.repeated(made, _int(count)), made)


@_kernel("RepeatDataset")
def _repeat(attrs: Any, fn: Any, dataset: Any, count: Any) -> Any:
    return build(selecting.repeated(dataset, _int(count)), dataset)


@_kernel("TakeDataset")
def _take(attrs: Any, fn: Any, dataset: Any, count: Any) -> Any:
    return build(selecting.taken(dataset, _int(count)), dataset)


@_kernel("SkipDataset")
def _skip(attrs: Any, fn: Any, dataset: Any, count: Any) -> Any:
    return build(selecting.skipped(dataset, _int(count)), dataset)


@_kernel("ShardDataset")
def _shard(attrs: Any, fn: Any, dataset: Any, shards: Any, index: Any) -> Any:
    return build(selecting.sharded(dataset, _int(shards), _int(index)), dataset)


@_kernel("UniqueDataset")
def _unique(attrs: Any, fn: Any, dataset: Any) -> Any:
    return build(selecting.unique(dataset), dataset)


@_kernel("IgnoreErrorsDataset")
def _ignore_errors(attrs: Any, fn: Any, dataset: Any) -> Any:
    return build(selecting.ignored_errors(dataset, attrs["log_warning"]), dataset)


@_kernel("CacheDataset", "CacheDatasetV2")
def _cache(attrs: Any, fn: Any, dataset: Any, name: Any, *memory: Any) -> Any:
    return build(caching.cached(dataset, name.numpy().decode()), dataset)


@_kernel("PrefetchDataset")
def _prefetch(attrs: Any, fn: Any, dataset: Any, size: Any) -> Any:
    return build(mapping.prefetched(dataset, _int(size)), dataset)


@_kernel("ZipDataset")
def _zip(attrs: Any, fn: Any, datasets: Any) -> Any:
    return flat(build(combining.zipped(tuple(datasets)), *datasets))


@_kernel("ConcatenateDataset")
def _concatenate(attrs: Any, fn: Any, dataset: Any, another: Any) -> Any:
    return build(combining.concatenated(dataset, another), dataset, another)


@_kernel("AssertCardinalityDataset")
def _assert_cardinality(attrs: Any, fn: Any, dataset: Any, size: Any) -> Any:
    return dataset.apply(assert_cardinality(_int(size)))


@_kernel(
    "FinalizeDataset", "MaxIntraOpParallelismDataset", "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2",
    "RewriteDataset",
)  # fmt: skip
def _same(attrs: Any, fn: Any, dataset: Any, *rest: Any) -> Any:
    """What only says how to run a dataset."""
    return dataset


@_kernel("PrivateThreadPoolDataset")
def _private_threads(attrs: Any, fn: Any, dataset: Any, size: Any) -> Any:
    found = Options()
    found.threading.private_threadpool_size = _int(size)
    return dataset.with_options(found)


# The numbers of these fields in TensorFlow's messages of options.
_DETERMINISTIC, _THREADING = 1, 5
_PRIVATE_THREADS = 2


def written_options(options: Any) -> bytes:
    """What changes the elements and their threads, of options, as TensorFlow's message."""
    kept, threads = options.deterministic, options.threading.private_threadpool_size
    written = b"" if kept is None else varint_field(_DETERMINISTIC, int(kept))
    if threads is not None:
        written += bytes_field(_THREADING, varint_field(_PRIVATE_THREADS, threads))
    return written


@_kernel("OptionsDataset")
def _options(attrs: Any, fn: Any, dataset: Any) -> Any:
    text = attrs["serialized_options"]
    found = Options()
    for number, _, value in fields(text.encode() if isinstance(text, str) else text):
        if number == _DETERMINISTIC:
            found.deterministic = bool(value)
        elif number == _THREADING and isinstance(value, bytes):
            threads = {inner: size for inner, _, size in fields(value)}
            size = threads.get(_PRIVATE_THREADS)
            if size is not None and not isinstance(size, int):
                raise InvalidArgumentError(None, None, "The size of a private thread pool is not an integer")
            found.threading.private_threadpool_size = size
    return dataset.with_options(found)


# Results.


def reduced(fn: Any, dataset: Any, state: Any) -> list[Any]:
    """The tensors of the last state of a fold."""
    return unpacked(mapping.reduced(dataset, packed(state), fn))


def dataset_of(tensor: Any) -> Any:
    """The dataset that a variant tensor holds, with flat elements."""
    found = leaves.unboxed(tensor)
    if not isinstance(found, Dataset):
        raise UnimplementedError(None, None, f"The variant holds no dataset, but a {type(found).__name__}")
    return flat(found)
