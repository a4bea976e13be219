"""`tf.data.experimental`."""

from __future__ import annotations

from tapeflow.data import service
from tapeflow.data.dataset import AUTOTUNE, INFINITE_CARDINALITY
from tapeflow.data.grouping_functions import (
    Reducer,
    bucket_by_sequence_length,
    dense_to_ragged_batch,
    dense_to_sparse_batch,
    group_by_reducer,
    group_by_window,
    map_and_batch,
    map_and_batch_with_legacy_function,
    pad_to_cardinality,
)
from tapeflow.data.iteration.checkpoint_hook import CheckpointInputPipelineHook
from tapeflow.data.iteration.saveable import make_saveable_from_iterator
from tapeflow.data.optional import Optional
from tapeflow.data.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from tapeflow.data.parts import UNKNOWN_CARDINALITY
from tapeflow.data.sources.csv_batches import make_csv_dataset
from tapeflow.data.sources.csv_reading import CsvDataset
from tapeflow.data.sources.feature_batches import (
    make_batched_features_dataset,
    parse_example_dataset,
)
from tapeflow.data.sources.record_writing import TFRecordWriter
from tapeflow.data.sources.sql_reading import SqlDataset
from tapeflow.data.sources.tables import (
    DatasetInitializer,
    index_table_from_dataset,
    table_from_dataset,
)
from tapeflow.data.transform.tracing import enable_debug_mode
from tapeflow.data.transformations import (
    Counter,
    RandomDataset,
    assert_cardinality,
    at,
    cardinality,
    choose_from_datasets,
    copy_to_device,
    enumerate_dataset,
    from_list,
    from_variant,
    get_next_as_optional,
    get_single_element,
    get_structure,
    ignore_errors,
    load,
    parallel_interleave,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    save,
    scan,
    shuffle_and_repeat,
    snapshot,
    take_while,
    to_variant,
    unbatch,
    unique,
)

SHARD_HINT = -1

__all__ = [
    "CheckpointInputPipelineHook",
    "service",
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DatasetInitializer",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "Reducer",
    "ServiceOptions",
    "SqlDataset",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enable_debug_mode",
    "enumerate_dataset",
    "from_list",
    "from_variant",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "index_table_from_dataset",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "map_and_batch_with_legacy_function",
    "pad_to_cardinality",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "table_from_dataset",
    "take_while",
    "to_variant",
    "unbatch",
    "unique",
]
