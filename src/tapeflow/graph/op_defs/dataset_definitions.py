"""Definitions of ops of datasets and iterators. The `data` package says how they run: see `NodeMaker.make`.

A line is as in `definitions`.
"""

TABLE = """
RangeDataset! start: int64, stop: int64, step: int64 -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""; replicate_on_split bool false
TensorSliceDataset! components: Toutput_types -> handle: variant; Toutput_types list(type); output_shapes list(shape); is_files bool false; metadata string ""; replicate_on_split bool false
TensorDataset! components: Toutput_types -> handle: variant; Toutput_types list(type); output_shapes list(shape); metadata string ""
TextLineDataset!@files filenames: string, compression_type: string, buffer_size: int64 -> handle: variant; metadata string ""
TFRecordDataset!@files filenames: string, compression_type: string, buffer_size: int64 -> handle: variant; metadata string ""
TFRecordDatasetV2!@files filenames: string, compression_type: string, buffer_size: int64, byte_offsets: int64 -> handle: variant; metadata string ""
FixedLengthRecordDataset!@files filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64 -> handle: variant; metadata string ""
FixedLengthRecordDatasetV2!@files filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64, compression_type: string -> handle: variant; metadata string ""
RandomDataset! seed: int64, seed2: int64 -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
RandomDatasetV2! seed: int64, seed2: int64, seed_generator: resource -> handle: variant; rerandomize_each_iteration bool false; output_types list(type); output_shapes list(shape); metadata string ""
MapDataset input_dataset: variant, other_arguments: Targuments -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); use_inter_op_parallelism bool true; preserve_cardinality bool false; force_synchronous bool false; metadata string ""
ParallelMapDataset input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32 -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); use_inter_op_parallelism bool true; sloppy bool false; preserve_cardinality bool false; metadata string ""
ParallelMapDatasetV2 input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64 -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); use_inter_op_parallelism bool true; deterministic string "default"; preserve_cardinality bool false; use_unbounded_threadpool bool false; metadata string ""
FilterDataset input_dataset: variant, other_arguments: Targuments -> handle: variant; predicate func; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
FlatMapDataset input_dataset: variant, other_arguments: Targuments -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
InterleaveDataset input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64 -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
ParallelInterleaveDatasetV2 input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64 -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); sloppy bool false; metadata string ""
ParallelInterleaveDatasetV3 input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, num_parallel_calls: int64 -> handle: variant; f func; deterministic string "default"; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
ParallelInterleaveDatasetV4 input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64, num_parallel_calls: int64 -> handle: variant; f func; deterministic string "default"; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
ScanDataset input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> handle: variant; f func; Tstate list(type); Targuments list(type); output_types list(type); output_shapes list(shape); preserve_cardinality bool false; use_default_device bool true; metadata string ""
TakeWhileDataset input_dataset: variant, other_arguments: Targuments -> handle: variant; predicate func; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
BatchDataset input_dataset: variant, batch_size: int64 -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
BatchDatasetV2 input_dataset: variant, batch_size: int64, drop_remainder: bool -> handle: variant; parallel_copy bool false; output_types list(type); output_shapes list(shape); metadata string ""
ParallelBatchDataset input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool -> handle: variant; parallel_copy bool false; output_types list(type); output_shapes list(shape); deterministic string "default"; metadata string ""
PaddedBatchDataset input_dataset: variant, batch_size: int64, padded_shapes: N*int64, padding_values: Toutput_types -> handle: variant; Toutput_types list(type); output_shapes list(shape); N int; metadata string ""
PaddedBatchDatasetV2 input_dataset: variant, batch_size: int64, padded_shapes: N*int64, padding_values: Toutput_types, drop_remainder: bool -> handle: variant; parallel_copy bool false; Toutput_types list(type); output_shapes list(shape); N int; metadata string ""
MapAndBatchDataset input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); preserve_cardinality bool false; metadata string ""
ShuffleDataset input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64 -> handle: variant; reshuffle_each_iteration bool true; output_types list(type); output_shapes list(shape); metadata string ""
ShuffleDatasetV2! input_dataset: variant, buffer_size: int64, seed_generator: resource -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
ShuffleDatasetV3! input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, seed_generator: resource -> handle: variant; reshuffle_each_iteration bool true; output_types list(type); output_shapes list(shape); metadata string ""
ShuffleAndRepeatDataset input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64 -> handle: variant; output_types list(type); output_shapes list(shape); reshuffle_each_iteration bool true; metadata string ""
ShuffleAndRepeatDatasetV2! input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64, seed_generator: resource -> handle: variant; reshuffle_each_iteration bool true; output_types list(type); output_shapes list(shape); metadata string ""
RepeatDataset input_dataset: variant, count: int64 -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
TakeDataset input_dataset: variant, count: int64 -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
SkipDataset input_dataset: variant, count: int64 -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
ShardDataset input_dataset: variant, num_shards: int64, index: int64 -> handle: variant; require_non_empty bool false; output_types list(type); output_shapes list(shape); metadata string ""
CacheDataset@files input_dataset: variant, filename: string -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
CacheDatasetV2!@files input_dataset: variant, filename: string, cache: resource -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
PrefetchDataset input_dataset: variant, buffer_size: int64 -> handle: variant; output_types list(type); output_shapes list(shape); slack_period int 0; legacy_autotune bool true; buffer_size_min int 0; metadata string ""
ZipDataset input_datasets: N*variant -> handle: variant; output_types list(type); output_shapes list(shape); N int; metadata string ""
ConcatenateDataset input_dataset: variant, another_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
WindowDataset input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
UnbatchDataset input_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
UniqueDataset input_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape); metadata string ""
IgnoreErrorsDataset input_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape); log_warning bool false
AssertCardinalityDataset input_dataset: variant, cardinality: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
OptionsDataset input_dataset: variant -> handle: variant; serialized_options string; output_types list(type); output_shapes list(shape); metadata string ""
ModelDataset input_dataset: variant -> handle: variant; algorithm int 0; cpu_budget int 0; ram_budget int 0; output_types list(type); output_shapes list(shape)
OptimizeDataset input_dataset: variant, optimizations: string -> handle: variant; output_types list(type); output_shapes list(shape); optimization_configs list(string) []
OptimizeDatasetV2= input_dataset: variant, optimizations_enabled: string, optimizations_disabled: string, optimizations_default: string -> handle: variant; output_types list(type); output_shapes list(shape); optimization_configs list(string) []
RewriteDataset input_dataset: variant, rewrite_name: string -> handle: variant; output_types list(type); output_shapes list(shape)
FinalizeDataset input_dataset: variant -> handle: variant; has_captured_ref bool false; output_types list(type); output_shapes list(shape)
MaxIntraOpParallelismDataset input_dataset: variant, max_intra_op_parallelism: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
PrivateThreadPoolDataset input_dataset: variant, num_threads: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
ReduceDataset! input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> components: output_types; f func; Tstate list(type); Targuments list(type); output_types list(type); output_shapes list(shape); use_inter_op_parallelism bool true; metadata string ""
DatasetCardinality input_dataset: variant -> cardinality: int64; cardinality_options string ""
DatasetToSingleElement! dataset: variant -> components: output_types; output_types list(type); output_shapes list(shape); metadata string ""
Iterator! -> handle: resource; shared_name string; container string; output_types list(type); output_shapes list(shape)
IteratorV2! -> handle: resource; shared_name string; container string; output_types list(type); output_shapes list(shape)
AnonymousIterator! -> handle: resource; output_types list(type); output_shapes list(shape)
AnonymousIteratorV2! -> handle: resource, deleter: variant; output_types list(type); output_shapes list(shape)
AnonymousIteratorV3! -> handle: resource; output_types list(type); output_shapes list(shape)
OneShotIterator! -> handle: resource; dataset_factory func; output_types list(type); output_shapes list(shape); container string ""; shared_name string ""
MakeIterator! dataset: variant, iterator: resource ->
IteratorGetNext! iterator: resource -> components: output_types; output_types list(type); output_shapes list(shape)
IteratorGetNextSync! iterator: resource -> components: output_types; output_types list(type); output_shapes list(shape)
IteratorGetNextAsOptional! iterator: resource -> optional: variant; output_types list(type); output_shapes list(shape)
DeleteIterator! handle: resource, deleter: variant ->
IteratorToStringHandle! resource_handle: resource -> string_handle: string
IteratorFromStringHandleV2!@process string_handle: string -> resource_handle: resource; output_types list(type) []; output_shapes list(shape) []
OptionalFromValue components: Toutput_types -> optional: variant; Toutput_types list(type)
OptionalNone -> optional: variant
OptionalHasValue optional: variant -> has_value: bool
OptionalGetValue optional: variant -> components: output_types; output_types list(type); output_shapes list(shape)
DummySeedGenerator! -> handle: resource
AnonymousSeedGenerator! seed: int64, seed2: int64, reshuffle: bool -> handle: resource, deleter: variant
DeleteSeedGenerator! handle: resource, deleter: variant ->
DummyMemoryCache! -> handle: resource
AnonymousMemoryCache! -> handle: resource, deleter: variant
DeleteMemoryCache! handle: resource, deleter: variant ->
AnonymousRandomSeedGenerator! seed: int64, seed2: int64 -> handle: resource, deleter: variant
AutoShardDataset input_dataset: variant, num_workers: int64, index: int64 -> handle: variant; auto_shard_policy int 0; output_types list(type); output_shapes list(shape); num_replicas int 0
BytesProducedStatsDataset input_dataset: variant, tag: string -> handle: variant; output_types list(type); output_shapes list(shape)
CSVDataset!@files filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types -> handle: variant; output_types list(type); output_shapes list(shape)
CSVDatasetV2!@files filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types, exclude_cols: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
ChooseFastestDataset input_datasets: N*variant -> handle: variant; N int; num_experiments int; output_types list(type); output_shapes list(shape)
CompressElement components: input_types -> compressed: variant; input_types list(type)
ComputeBatchSize input_dataset: variant -> batch_size: int64
DatasetFingerprint input_dataset: variant -> fingerprint: uint64
DatasetToTFRecord!@files input_dataset: variant, filename: string, compression_type: string ->
DeleteRandomSeedGenerator! handle: resource, deleter: variant ->
DirectedInterleaveDataset selector_input_dataset: variant, data_input_datasets: N*variant -> handle: variant; output_types list(type); output_shapes list(shape); N int; stop_on_empty_dataset bool false
DummyIterationCounter! -> handle: resource
ExperimentalAutoShardDataset input_dataset: variant, num_workers: int64, index: int64 -> handle: variant; auto_shard_policy int 0; output_types list(type); output_shapes list(shape)
ExperimentalBytesProducedStatsDataset input_dataset: variant, tag: string -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalCSVDataset!@files filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalChooseFastestDataset input_datasets: N*variant -> handle: variant; N int; num_experiments int; output_types list(type); output_shapes list(shape)
ExperimentalDatasetCardinality input_dataset: variant -> cardinality: int64
ExperimentalDatasetToTFRecord!@files input_dataset: variant, filename: string, compression_type: string ->
ExperimentalDirectedInterleaveDataset selector_input_dataset: variant, data_input_datasets: N*variant -> handle: variant; output_types list(type); output_shapes list(shape); N int
ExperimentalIgnoreErrorsDataset input_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape); log_warning bool false
ExperimentalIteratorGetDevice! resource: resource -> device: string
ExperimentalLatencyStatsDataset input_dataset: variant, tag: string -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalMapAndBatchDataset input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); preserve_cardinality bool false
ExperimentalMapDataset input_dataset: variant, other_arguments: Targuments -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); use_inter_op_parallelism bool true; preserve_cardinality bool false; force_synchronous bool false
ExperimentalMatchingFilesDataset!@files patterns: string -> handle: variant
ExperimentalMaxIntraOpParallelismDataset input_dataset: variant, max_intra_op_parallelism: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalNonSerializableDataset input_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalParallelInterleaveDataset input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64 -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape)
ExperimentalPrivateThreadPoolDataset input_dataset: variant, num_threads: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalRandomDataset! seed: int64, seed2: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalScanDataset input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> handle: variant; f func; Tstate list(type); Targuments list(type); output_types list(type); output_shapes list(shape); preserve_cardinality bool false
ExperimentalSetStatsAggregatorDataset! input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalSleepDataset input_dataset: variant, sleep_microseconds: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalSlidingWindowDataset input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalSqlDataset!@files driver_name: string, data_source_name: string, query: string -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalStatsAggregatorHandle! -> handle: resource; container string ""; shared_name string ""
ExperimentalTakeWhileDataset input_dataset: variant, other_arguments: Targuments -> handle: variant; predicate func; Targuments list(type); output_types list(type); output_shapes list(shape)
ExperimentalThreadPoolDataset! input_dataset: variant, thread_pool: resource -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalThreadPoolHandle! -> handle: resource; num_threads int; max_intra_op_parallelism int 1; display_name string; container string ""; shared_name string ""
ExperimentalUnbatchDataset input_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape)
ExperimentalUniqueDataset input_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape)
GetElementAtIndex dataset: variant, index: int64 -> components: output_types; output_types list(type); output_shapes list(shape)
GetOptions input_dataset: variant -> serialized_options: string
InitializeTableFromDataset! table_handle: resource, dataset: variant ->
IteratorFromStringHandle!@process string_handle: string -> resource_handle: resource; output_types list(type) []; output_shapes list(shape) []
IteratorGetDevice! resource: resource -> device: string
LatencyStatsDataset input_dataset: variant, tag: string -> handle: variant; output_types list(type); output_shapes list(shape)
LegacyParallelInterleaveDatasetV2 input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, buffer_output_elements: int64, prefetch_input_elements: int64 -> handle: variant; f func; deterministic string "default"; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
ListDataset! tensors: Tinput_types -> handle: variant; Tinput_types list(type); output_types list(type); output_shapes list(shape); metadata string ""
MatchingFilesDataset!@files patterns: string -> handle: variant
NonSerializableDataset input_dataset: variant -> handle: variant; output_types list(type); output_shapes list(shape)
ParallelFilterDataset input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64 -> handle: variant; predicate func; deterministic string "default"; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
ParallelInterleaveDataset input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64 -> handle: variant; f func; Targuments list(type); output_types list(type); output_shapes list(shape); metadata string ""
RebatchDatasetV2 input_dataset: variant, batch_sizes: int64, drop_remainder: bool -> handle: variant; output_types list(type); output_shapes list(shape)
SetStatsAggregatorDataset! input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string -> handle: variant; output_types list(type); output_shapes list(shape)
SleepDataset input_dataset: variant, sleep_microseconds: int64 -> handle: variant; output_types list(type); output_shapes list(shape)
SlidingWindowDataset input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64 -> handle: variant; drop_remainder bool true; output_types list(type); output_shapes list(shape)
SqlDataset!@files driver_name: string, data_source_name: string, query: string -> handle: variant; output_types list(type); output_shapes list(shape)
StatsAggregatorHandle! -> handle: resource; container string ""; shared_name string ""
StatsAggregatorHandleV2! -> handle: resource; container string ""; shared_name string ""
ThreadPoolDataset! input_dataset: variant, thread_pool: resource -> handle: variant; output_types list(type); output_shapes list(shape)
ThreadPoolHandle! -> handle: resource; num_threads int; max_intra_op_parallelism int 1; display_name string; container string ""; shared_name string ""
UncompressElement compressed: variant -> components: output_types; output_types list(type); output_shapes list(shape)
UnwrapDatasetVariant input_handle: variant -> output_handle: variant
WrapDatasetVariant input_handle: variant -> output_handle: variant
"""  # noqa: E501

KINDS = frozenset(line.split(" ", 1)[0].partition("@")[0].rstrip("!") for line in TABLE.strip().splitlines())
