"""Where each public name is, by namespace. Made by `make api-names`; do not edit."""

# For each namespace, a line for each module that names come from: `name`, or `name=attribute`.
NAMES: dict[str, str] = {
    "": """\
alias: install_as_tensorflow
autodiff.aggregation: AggregationMethod
autodiff.custom_gradient: custom_gradient grad_pass_through recompute_grad
autodiff.tape: GradientTape
autodiff.vectorized_map: vectorized_map
core.binding: Tensor
core.context: device executing_eagerly get_current_name_scope init_scope name_scope
core.convert: constant convert_to_tensor is_symbolic_tensor is_tensor register_tensor_conversion_function
core.device: DeviceSpec
core.dtypes: DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half int16 int32 int64
core.dtypes: int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8 variant
core.files.libraries: load_library load_op_library
core.files.tensor_proto: make_ndarray make_tensor_proto
core.indexed_slices: IndexedSlices IndexedSlicesSpec
core.log: get_logger
core.release: __compiler_version__=COMPILER_VERSION __git_version__=GIT_VERSION __version__=VERSION
core.sparse_tensor: SparseTensor SparseTensorSpec
core.specs.none_spec: NoneTensorSpec
core.specs.tensor_spec: TensorSpec TypeSpec
core.specs.type_specs: type_spec_from_value
core.tensor_shape: TensorShape
core.tracking.module: Module
data.optional: OptionalSpec
function.batching: nondifferentiable_batch_function
function.function: function
graph.build.derivatives: gradients hessians
graph.func_graph: inside_function
graph.graph: Graph
graph.interchange.importing: import_graph_def
graph.operation: Operation
keras.initializers: constant_initializer=Constant ones_initializer=Ones zeros_initializer=Zeros
keras.redrawing_initializers: random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform
ops.array.bitcast: bitcast
ops.array.broadcasting: broadcast_dynamic_shape broadcast_static_shape broadcast_to
ops.array.construction: fill ones ones_like zeros zeros_like
ops.array.joining: concat split
ops.array.layout: expand_dims reshape squeeze
ops.array.one_hot: one_hot sequence_mask
ops.array.padding: pad
ops.array.ranges: linspace meshgrid range
ops.array.reorder: reverse reverse_sequence roll
ops.array.rows: ensure_shape guarantee_const identity identity_n stop_gradient
ops.array.sizes: rank shape shape_n size
ops.array.spatial: batch_to_space required_space_to_batch_paddings space_to_batch=space_to_batch_nd space_to_batch_nd
ops.array.stacking: parallel_stack stack unstack
ops.array.tensor_diagonal: eye
ops.array.tiling: repeat tile
ops.array.transposing: transpose
ops.array.volume_patches: extract_volume_patches
ops.control.assert_op: Assert
ops.control.assertions: assert_equal assert_greater assert_less
ops.control.flow: case cond switch_case while_loop
ops.control.grouping: control_dependencies group no_op tuple=tuple_
ops.control.mapping: foldl foldr map_fn scan
ops.control.printing: print=print_
ops.control.py_functions: numpy_function py_function
ops.control.shape_assertions: assert_rank
ops.control.timestamp: timestamp
ops.convolution.any_rank: conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2
ops.gradient_arguments: UnconnectedGradients
ops.indexing.boolean_mask: boolean_mask
ops.indexing.gather: gather
ops.indexing.gather_nd: gather_nd
ops.indexing.partition: dynamic_partition dynamic_stitch
ops.indexing.scatter: scatter_nd
ops.indexing.selection: searchsorted
ops.indexing.slicing: newaxis slice=slice_
ops.indexing.strided_slice: strided_slice
ops.indexing.tensor_scatter: tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub
ops.indexing.tensor_scatter: tensor_scatter_nd_update
ops.indexing.unique: unique unique_with_counts
ops.indexing.unravel: unravel_index
ops.linalg.eigen: eig eigvals
ops.linalg.einsum: einsum
ops.linalg.matmul: matmul
ops.linalg.matrix_function: matrix_square_root=sqrtm
ops.linalg.norms: norm
ops.linalg.tensordot: tensordot
ops.lists.tensor_array: TensorArray
ops.lists.tensor_array_spec: TensorArraySpec
ops.math.accumulate: add_n
ops.math.approximate_top_k: approx_top_k
ops.math.argmax: argmax argmin
ops.math.arithmetic: add maximum minimum multiply pow scalar_mul subtract
ops.math.casting: cast saturate_cast
ops.math.choice: where
ops.math.clip: clip_by_global_norm clip_by_norm clip_by_value
ops.math.comparison: equal greater greater_equal less less_equal not_equal
ops.math.complex_numbers: complex
ops.math.cumulative: cumsum
ops.math.division: divide realdiv truediv truncatediv truncatemod
ops.math.elementwise: abs exp negative sign sqrt square
ops.math.logic: logical_and logical_not logical_or
ops.math.reductions: reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum
ops.math.rounding: floor round
ops.math.sorting: argsort sort
ops.math.trigonometric: acos acosh asin asinh atan atan2 atanh cos cosh sigmoid sin sinh tan tanh
ops.ragged.math: RaggedTensor RaggedTensorSpec
ops.ragged.rows: ragged_fill_empty_rows ragged_fill_empty_rows_grad
ops.random.index_shuffle: random_index_shuffle
ops.signal.fft_functions_nd: fftnd=raw_fftnd ifftnd=raw_ifftnd irfftnd=raw_irfftnd rfftnd=raw_rfftnd
ops.state.critical_section: CriticalSection
ops.state.variable: Variable VariableAggregation VariableSynchronization variable_creator_scope
ops.static: get_static_value
ops.statistics.histogram: histogram_fixed_width histogram_fixed_width_bins
ops.string.edit_distance: edit_distance
ops.string.fingerprint: fingerprint
ops.string.numbers: as_string
v1.gradient_registry: RegisterGradient no_gradient
""",
    "__operators__": """\
ops.operator_methods: add eq getitem ne ragged_getitem
""",
    "audio": """\
ops.signal.audio: decode_wav encode_wav
""",
    "autograph": """\
function.autograph.convert: to_code to_graph
function.autograph.verbosity: set_verbosity trace
""",
    "autograph.experimental": """\
function.autograph.convert: do_not_convert
function.autograph.options: Feature set_loop_options
""",
    "bitwise": """\
ops.math.bitwise: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
""",
    "compat.v1": """\
autodiff.aggregation: AggregationMethod
autodiff.custom_gradient: custom_gradient grad_pass_through recompute_grad
autodiff.tape: GradientTape
autodiff.vectorized_map: vectorized_map
core.binding: Tensor
core.context: device=device_v1 disable_tensor_equality enable_eager_execution enable_tensor_equality executing_eagerly
core.context: init_scope name_scope=name_scope_v1
core.convert: constant=constant_v1 convert_to_tensor=convert_to_tensor_v1 is_symbolic_tensor is_tensor
core.convert: register_tensor_conversion_function
core.device: DeviceSpec=DeviceSpecV1
core.dtypes: DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half
core.dtypes: int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8
core.dtypes: variant
core.errors: OpError
core.files.libraries: load_library load_op_library
core.files.tensor_proto: make_ndarray make_tensor_proto
core.indexed_slices: IndexedSlices IndexedSlicesSpec
core.log: get_logger
core.release: COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
core.release: GRAPH_DEF_VERSION_MIN_PRODUCER VERSION __compiler_version__=COMPILER_VERSION __git_version__=GIT_VERSION
core.release: __version__=VERSION
core.scope_state: AUTO_REUSE
core.sparse_tensor: SparseTensor SparseTensorSpec SparseTensorValue
core.specs.none_spec: NoneTensorSpec
core.specs.tensor_spec: TensorSpec TypeSpec
core.specs.type_specs: type_spec_from_value
core.tensor_shape: Dimension TensorShape dimension_at_index dimension_value disable_v2_tensorshape
core.tensor_shape: enable_v2_tensorshape
core.tracking.module: Module
data.optional: OptionalSpec
function.batching: nondifferentiable_batch_function
function.function: function
function.template: make_template
function.wrapping: wrap_function
graph.build.collections: GraphKeys add_to_collection add_to_collections all_variables get_all_collection_keys
graph.build.collections: get_collection get_collection_ref global_variables local_variables model_variables
graph.build.collections: moving_average_variables trainable_variables
graph.build.derivatives: gradients=gradients_v1 hessians=hessians_v1
graph.build.placeholders: placeholder placeholder_with_default
graph.build.variable_initializers: assert_variables_initialized global_variables_initializer initialize_all_variables
graph.build.variable_initializers: initialize_local_variables initialize_variables is_variable_initialized
graph.build.variable_initializers: local_variables_initializer report_uninitialized_variables variables_initializer
graph.default_graph: get_default_graph reset_default_graph
graph.func_graph: inside_function
graph.graph: Graph
graph.interchange.importing: import_graph_def
graph.operation: Operation
graph.run.session: InteractiveSession Session get_default_session
graph.run.session_handles: delete_session_tensor get_session_handle get_session_tensor
ops.array.band: matrix_band_part=band_part trace
ops.array.bitcast: bitcast
ops.array.broadcasting: broadcast_dynamic_shape broadcast_static_shape broadcast_to
ops.array.construction: fill ones ones_like=ones_like_v1 zeros zeros_like=zeros_like_v1
ops.array.depth: depth_to_space=depth_to_space_v1 space_to_depth=space_to_depth_v1
ops.array.diagonal: matrix_diag_part=diag_part matrix_set_diag=set_diag
ops.array.diagonal_matrix: matrix_diag=diag
ops.array.joining: concat split
ops.array.layout: expand_dims=expand_dims_v1 reshape squeeze=squeeze_v1
ops.array.one_hot: one_hot sequence_mask
ops.array.padding: pad=pad_v1
ops.array.ranges: lin_space=linspace linspace meshgrid range
ops.array.reorder: reverse reverse_sequence=reverse_sequence_v1 reverse_v2=reverse roll
ops.array.rows: ensure_shape guarantee_const identity identity_n stop_gradient
ops.array.sizes: rank shape=shape_v1 shape_n size=size_v1
ops.array.spatial: batch_to_space_nd=batch_to_space required_space_to_batch_paddings space_to_batch_nd
ops.array.square_blocks: batch_to_space=batch_to_space_v1 space_to_batch=space_to_batch_v1
ops.array.stacking: parallel_stack stack unstack
ops.array.tensor_diagonal: diag=tensor_diag diag_part=tensor_diag_part eye
ops.array.tiling: repeat tile
ops.array.transposing: invert_permutation transpose=transpose_v1
ops.array.volume_patches: extract_volume_patches
ops.control.assert_op: Assert
ops.control.assertions: assert_equal=assert_equal_v1 assert_greater=assert_greater_v1
ops.control.assertions: assert_greater_equal=assert_greater_equal_v1 assert_less=assert_less_v1
ops.control.assertions: assert_less_equal=assert_less_equal_v1 assert_near=assert_near_v1
ops.control.assertions: assert_negative=assert_negative_v1 assert_non_negative=assert_non_negative_v1
ops.control.assertions: assert_non_positive=assert_non_positive_v1 assert_none_equal=assert_none_equal_v1
ops.control.assertions: assert_positive=assert_positive_v1
ops.control.flow: case cond=cond_v1 switch_case while_loop=while_loop_v1
ops.control.grouping: control_dependencies group no_op tuple=tuple_v1
ops.control.mapping: foldl foldr map_fn=map_fn_v1 scan
ops.control.printing: Print print=print_
ops.control.py_functions: numpy_function py_func py_function
ops.control.shape_assertions: assert_rank=assert_rank_v1 assert_rank_at_least=assert_rank_at_least_v1
ops.control.shape_assertions: assert_rank_in=assert_rank_in_v1 assert_scalar
ops.control.timestamp: timestamp
ops.control.type_assertions: assert_integer assert_proper_iterable assert_same_float_dtype assert_type
ops.control.type_assertions: is_numeric_tensor
ops.convolution.any_rank: conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2
ops.gradient_arguments: UnconnectedGradients
ops.image.patches: extract_image_patches=extract_image_patches_v1
ops.indexing.boolean_mask: boolean_mask=boolean_mask_v1
ops.indexing.gather: batch_gather gather=gather_v1
ops.indexing.gather_nd: gather_nd=gather_nd_v1
ops.indexing.partition: dynamic_partition dynamic_stitch
ops.indexing.scatter: scatter_nd
ops.indexing.selection: searchsorted
ops.indexing.slicing: newaxis slice=slice_
ops.indexing.strided_slice: strided_slice
ops.indexing.tensor_scatter: tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_nd_add tensor_scatter_nd_max
ops.indexing.tensor_scatter: tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update
ops.indexing.tensor_scatter: tensor_scatter_sub=tensor_scatter_nd_sub tensor_scatter_update=tensor_scatter_nd_update
ops.indexing.unique: setdiff1d unique unique_with_counts
ops.indexing.unravel: unravel_index
ops.io.csv: decode_csv=decode_csv_v1
ops.io.example_features: FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature
ops.io.file: matching_files read_file write_file
ops.io.json_example: decode_json_example
ops.io.parsing: parse_example=parse_example_v1 parse_sequence_example parse_single_example=parse_single_example_v1
ops.io.parsing: parse_single_sequence_example
ops.io.raw_bytes: decode_compressed decode_raw=decode_raw_v1 parse_tensor serialize_tensor
ops.linalg.cross: cross
ops.linalg.decomposition: cholesky qr svd
ops.linalg.eigen: self_adjoint_eig=eigh self_adjoint_eigvals=eigvalsh
ops.linalg.einsum: einsum
ops.linalg.inverse: matrix_determinant=det matrix_inverse=inv
ops.linalg.matmul: matmul sparse_matmul
ops.linalg.matrix_function: matrix_square_root=sqrtm matrix_transpose
ops.linalg.norms: norm=norm_v1
ops.linalg.solve: cholesky_solve matrix_solve=solve matrix_solve_ls=lstsq matrix_triangular_solve=triangular_solve
ops.linalg.tensordot: tensordot
ops.lists.tensor_array: TensorArray
ops.lists.tensor_array_spec: TensorArraySpec
ops.lookup.tables: initialize_all_tables tables_initializer
ops.math.accumulate: accumulate_n add_n
ops.math.approximate_top_k: approx_top_k
ops.math.argmax: arg_max arg_min argmax=argmax_v1 argmin=argmin_v1
ops.math.arithmetic: add maximum minimum multiply pow scalar_mul squared_difference subtract
ops.math.casting: cast saturate_cast to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64
ops.math.check: check_numerics verify_tensor_all_finite=assert_all_finite_v1
ops.math.choice: where=where_v1 where_v2=where
ops.math.clip: clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm
ops.math.comparison: equal greater greater_equal less less_equal not_equal
ops.math.complex_numbers: angle complex imag real
ops.math.conjugate: conj
ops.math.cumulative: cumprod cumsum
ops.math.division: div divide floor_div=floordiv floordiv floormod mod=floormod realdiv truediv truncatediv truncatemod
ops.math.division_no_nan: div_no_nan=divide_no_nan
ops.math.elementwise: abs exp expm1 log log1p negative reciprocal rsqrt sign sqrt square
ops.math.float_kinds: is_finite is_inf is_nan
ops.math.logic: logical_and logical_not logical_or logical_xor
ops.math.monotonic: is_non_decreasing is_strictly_increasing
ops.math.reductions_v1: count_nonzero=count_nonzero_v1 reduce_all=reduce_all_v1 reduce_any=reduce_any_v1
ops.math.reductions_v1: reduce_logsumexp=reduce_logsumexp_v1 reduce_max=reduce_max_v1 reduce_mean=reduce_mean_v1
ops.math.reductions_v1: reduce_min=reduce_min_v1 reduce_prod=reduce_prod_v1 reduce_sum=reduce_sum_v1
ops.math.rounding: ceil floor rint round
ops.math.segment_functions: segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max
ops.math.segment_functions: unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
ops.math.segment_functions: unsorted_segment_sum
ops.math.sorting: argsort sort
ops.math.trigonometric: acos acosh asin asinh atan atan2 atanh cos cosh log_sigmoid sigmoid sin sinh tan tanh
ops.quantize.fake_quant_functions: fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
ops.quantize.fake_quant_functions: fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
ops.quantize.fake_quant_functions: fake_quant_with_min_max_vars_per_channel
ops.quantize.fake_quant_functions: fake_quant_with_min_max_vars_per_channel_gradient
ops.quantize.functions: dequantize quantize quantize_v2 quantized_concat
ops.queue.accumulator: ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator
ops.queue.queues: FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
ops.queue.reader: FixedLengthRecordReader IdentityReader LMDBReader ReaderBase TFRecordReader TextLineReader
ops.queue.reader: WholeFileReader
ops.ragged.math: RaggedTensor RaggedTensorSpec
ops.ragged.rows: ragged_fill_empty_rows ragged_fill_empty_rows_grad
ops.random.functions: multinomial random_crop random_gamma=gamma random_normal=normal random_poisson=poisson_v1
ops.random.functions: random_shuffle=shuffle random_uniform=uniform truncated_normal
ops.random.index_shuffle: random_index_shuffle
ops.random.seed: get_seed set_random_seed=set_seed
ops.signal.fft_functions: fft fft2d fft3d ifft ifft2d ifft3d
ops.signal.fft_functions_nd: fftnd=raw_fftnd ifftnd=raw_ifftnd irfftnd=raw_irfftnd rfftnd=raw_rfftnd
ops.sparse.arithmetic: sparse_add=add_v1 sparse_maximum=maximum sparse_minimum=minimum sparse_reduce_max=reduce_max_v1
ops.sparse.arithmetic: sparse_reduce_max_sparse=reduce_max_sparse sparse_reduce_sum=reduce_sum_v1
ops.sparse.arithmetic: sparse_reduce_sum_sparse=reduce_sum_sparse sparse_softmax=softmax
ops.sparse.arithmetic: sparse_tensor_dense_matmul=sparse_dense_matmul
ops.sparse.functions: sparse_mask=mask sparse_merge sparse_tensor_to_dense=to_dense sparse_to_dense
ops.sparse.functions: sparse_to_indicator=to_indicator
ops.sparse.segment: sparse_segment_mean=sparse_segment_mean_v1 sparse_segment_sqrt_n=sparse_segment_sqrt_n_v1
ops.sparse.segment: sparse_segment_sum=sparse_segment_sum_v1
ops.sparse.serialization: deserialize_many_sparse serialize_many_sparse=serialize_many_sparse_v1
ops.sparse.serialization: serialize_sparse=serialize_sparse_v1
ops.sparse.shaping: sparse_concat=concat_v1 sparse_fill_empty_rows=fill_empty_rows sparse_reorder=reorder
ops.sparse.shaping: sparse_reset_shape=reset_shape sparse_reshape=reshape sparse_retain=retain sparse_slice=slice_
ops.sparse.shaping: sparse_split=split_v1 sparse_transpose=transpose
ops.special.functions: digamma erf erfc lgamma polygamma zeta
ops.special.incomplete: betainc igamma igammac lbeta
ops.state.assignment: assign assign_add assign_sub
ops.state.critical_section: CriticalSection
ops.state.variable: Variable=VariableV1 VariableAggregation VariableSynchronization variable_creator_scope
ops.state.variable_scatter: batch_scatter_update count_up_to scatter_add scatter_div scatter_max scatter_min
ops.state.variable_scatter: scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update
ops.static: get_static_value
ops.statistics.bincount: bincount=bincount_v1
ops.statistics.confusion: confusion_matrix=confusion_matrix_v1
ops.statistics.histogram: histogram_fixed_width histogram_fixed_width_bins
ops.string.edit_distance: edit_distance
ops.string.fingerprint: fingerprint
ops.string.hashing: string_to_hash_bucket_fast=to_hash_bucket_fast
ops.string.hashing_keyed: string_to_hash_bucket=to_hash_bucket_v1 string_to_hash_bucket_strong=to_hash_bucket_strong
ops.string.joining: reduce_join=reduce_join_v1 string_join=join
ops.string.numbers: as_string string_to_number=to_number_v1
ops.string.regex: decode_base64 encode_base64 regex_replace
ops.string.rows: string_strip=strip substr=substr_v1
ops.string.split: string_split
protos: AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto LogMessage MetaGraphDef
protos: NameAttrList NodeDef OptimizerOptions RunMetadata RunOptions SessionLog Summary SummaryMetadata TensorInfo
sysconfig: CXX11_ABI_FLAG CXX_VERSION MONOLITHIC_BUILD
v1.conversions: convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor
v1.gradient_registry: NoGradient NotDifferentiable RegisterGradient no_gradient
v1.initializers: constant_initializer glorot_normal_initializer glorot_uniform_initializer ones_initializer
v1.initializers: orthogonal_initializer random_normal_initializer random_uniform_initializer
v1.initializers: truncated_normal_initializer uniform_unit_scaling_initializer variance_scaling_initializer
v1.initializers: zeros_initializer
v1.modes: control_flow_v2_enabled disable_control_flow_v2 disable_eager_execution disable_resource_variables
v1.modes: disable_v2_behavior enable_control_flow_v2 enable_resource_variables enable_v2_behavior
v1.modes: executing_eagerly_outside_functions resource_variables_enabled
v1.numeric_checks: add_check_numerics_ops
v1.partitioned: create_partitioned_variables fixed_size_partitioner min_max_variable_partitioner
v1.partitioned: variable_axis_size_partitioner
v1.scopes: colocate_with container op_scope
v1.sparse_names: sparse_placeholder
v1.variable_getting: get_local_variable get_variable no_regularizer
v1.variable_scoping: VariableScope get_variable_scope variable_op_scope variable_scope
""",
    "compat.v1.bitwise": """\
ops.math.bitwise: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
""",
    "compat.v1.debugging": """\
core.tracebacks: disable_traceback_filtering enable_traceback_filtering is_traceback_filtering_enabled
graph.run.call_watching: disable_check_numerics enable_check_numerics get_log_device_placement set_log_device_placement
ops.control.assert_op: Assert
ops.control.assertions: assert_equal=assert_equal_v1 assert_greater=assert_greater_v1
ops.control.assertions: assert_greater_equal=assert_greater_equal_v1 assert_less=assert_less_v1
ops.control.assertions: assert_less_equal=assert_less_equal_v1 assert_near=assert_near_v1
ops.control.assertions: assert_negative=assert_negative_v1 assert_non_negative=assert_non_negative_v1
ops.control.assertions: assert_non_positive=assert_non_positive_v1 assert_none_equal=assert_none_equal_v1
ops.control.assertions: assert_positive=assert_positive_v1
ops.control.shape_assertions: assert_rank=assert_rank_v1 assert_rank_at_least=assert_rank_at_least_v1
ops.control.shape_assertions: assert_rank_in=assert_rank_in_v1 assert_scalar assert_shapes
ops.control.type_assertions: assert_integer assert_proper_iterable assert_same_float_dtype assert_type
ops.control.type_assertions: is_numeric_tensor
ops.math.check: assert_all_finite=assert_all_finite_v1 check_numerics
ops.math.float_kinds: is_finite is_inf is_nan
ops.math.monotonic: is_non_decreasing is_strictly_increasing
""",
    "compat.v1.graph_util": """\
graph.interchange.freezing: convert_variables_to_constants
graph.interchange.graph_util: extract_sub_graph must_run_on_cpu remove_training_nodes tensor_shape_from_node_def_name
graph.interchange.importing: import_graph_def
""",
    "compat.v1.image": """\
ops.image.adjusting: adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation convert_image_dtype
ops.image.adjusting: per_image_standardization
ops.image.bmp: decode_bmp
ops.image.bounding_box: draw_bounding_boxes=draw_bounding_boxes_v1
ops.image.color: hsv_to_rgb rgb_to_hsv
ops.image.color_spaces: grayscale_to_rgb rgb_to_grayscale rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb
ops.image.crop: crop_and_resize=crop_and_resize_v1
ops.image.decoding: decode_image
ops.image.distorted_boxes: sample_distorted_bounding_box=sample_distorted_bounding_box_v1
ops.image.geometry: central_crop crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box
ops.image.geometry: resize_image_with_crop_or_pad=resize_with_crop_or_pad resize_with_crop_or_pad rot90 transpose
ops.image.geometry: transpose_image=transpose
ops.image.gif: decode_gif
ops.image.glimpses: extract_glimpse=extract_glimpse_v1
ops.image.jpeg: adjust_jpeg_quality decode_and_crop_jpeg decode_jpeg encode_jpeg extract_jpeg_shape is_jpeg
ops.image.patches: extract_image_patches=extract_image_patches_v1 extract_patches
ops.image.png: decode_png encode_png
ops.image.quality: image_gradients psnr sobel_edges ssim ssim_multiscale total_variation
ops.image.random: random_brightness random_contrast random_flip_left_right random_flip_up_down random_hue
ops.image.random: random_jpeg_quality random_saturation
ops.image.resizing: ResizeMethod=ResizeMethodV1 resize=resize_v1 resize_area resize_bicubic resize_bilinear
ops.image.resizing: resize_image_with_pad=resize_with_pad_v1 resize_images=resize_v1 resize_nearest_neighbor
ops.image.suppression_functions: combined_non_max_suppression non_max_suppression non_max_suppression_overlaps
ops.image.suppression_functions: non_max_suppression_padded non_max_suppression_with_scores
ops.image.webp: decode_webp
ops.random.functions: random_crop
""",
    "compat.v1.io": """\
core.files.tf_record: TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator
graph.file_names: match_filenames_once
graph.interchange.writing: write_graph
ops.image.bmp: decode_bmp
ops.image.decoding: decode_image
ops.image.gif: decode_gif
ops.image.jpeg: decode_and_crop_jpeg decode_jpeg encode_jpeg extract_jpeg_shape is_jpeg
ops.image.png: decode_png encode_png
ops.image.webp: decode_webp
ops.io.csv: decode_csv=decode_csv_v1
ops.io.example_features: FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature
ops.io.file: matching_files read_file write_file
ops.io.json_example: decode_json_example
ops.io.parsing: parse_example=parse_example_v1 parse_sequence_example parse_single_example=parse_single_example_v1
ops.io.parsing: parse_single_sequence_example
ops.io.proto_messages: decode_proto encode_proto
ops.io.raw_bytes: decode_compressed decode_raw=decode_raw_v1 parse_tensor serialize_tensor
ops.queue.queues: PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
ops.sparse.serialization: deserialize_many_sparse serialize_many_sparse=serialize_many_sparse_v1
ops.sparse.serialization: serialize_sparse=serialize_sparse_v1
ops.string.regex: decode_base64 encode_base64
""",
    "compat.v1.linalg": """\
ops.array.band: band_part trace
ops.array.diagonal: diag_part set_diag
ops.array.diagonal_matrix: diag
ops.array.tensor_diagonal: eye tensor_diag tensor_diag_part
ops.linalg.cross: cross
ops.linalg.decomposition: cholesky qr svd
ops.linalg.eigen: eigh eigvalsh
ops.linalg.einsum: einsum
ops.linalg.inverse: det inv logdet slogdet
ops.linalg.lu: lu lu_matrix_inverse lu_reconstruct lu_solve
ops.linalg.matmul: matmul matvec
ops.linalg.matrix_function: adjoint eigh_tridiagonal expm logm matrix_rank matrix_transpose pinv sqrtm
ops.linalg.matrix_function: transpose=matrix_transpose
ops.linalg.norms: norm=norm_v1 normalize
ops.linalg.solve: cholesky_solve lstsq solve triangular_solve
ops.linalg.tensordot: tensordot
ops.linalg.tridiagonal_functions: tridiagonal_matmul tridiagonal_solve
ops.linear_operator.algebra: LinearOperatorAdjoint LinearOperatorComposition LinearOperatorInversion
ops.linear_operator.algebra: LinearOperatorKronecker
ops.linear_operator.base: LinearOperator
ops.linear_operator.blocks: LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular
ops.linear_operator.circulant: LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D
ops.linear_operator.identity: LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorZeros
ops.linear_operator.low_rank: LinearOperatorLowRankUpdate
ops.linear_operator.matrix: LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorLowerTriangular
ops.linear_operator.structured: LinearOperatorHouseholder LinearOperatorPermutation LinearOperatorToeplitz
ops.linear_operator.structured: LinearOperatorTridiag
ops.math.clip: global_norm
ops.nn.normalization: l2_normalize
""",
    "compat.v1.manip": """\
ops.array.layout: reshape
ops.array.reorder: reverse roll
ops.array.spatial: batch_to_space_nd=batch_to_space space_to_batch_nd
ops.array.tiling: tile
ops.indexing.gather_nd: gather_nd=gather_nd_v1
ops.indexing.scatter: scatter_nd
""",
    "compat.v1.math": """\
ops.array.transposing: invert_permutation
ops.indexing.top_k: in_top_k=in_top_k_v1 top_k
ops.math.accumulate: accumulate_n add_n
ops.math.approximate_top_k: approx_max_k approx_min_k
ops.math.argmax: argmax=argmax_v1 argmin=argmin_v1
ops.math.arithmetic: add maximum minimum multiply pow scalar_mul squared_difference subtract
ops.math.comparison: equal greater greater_equal less less_equal not_equal
ops.math.complex_numbers: angle imag real
ops.math.conjugate: conj
ops.math.cumulative: cumprod cumsum cumulative_logsumexp
ops.math.division: divide floordiv floormod mod=floormod truediv
ops.math.division_no_nan: divide_no_nan multiply_no_nan reciprocal_no_nan xdivy xlog1py xlogy
ops.math.elementwise: abs exp expm1 log log1p negative reciprocal rsqrt sign sqrt square
ops.math.float_kinds: is_finite is_inf is_nan
ops.math.logic: logical_and logical_not logical_or logical_xor
ops.math.monotonic: is_non_decreasing is_strictly_increasing
ops.math.reductions: reduce_euclidean_norm reduce_std reduce_variance
ops.math.reductions_v1: count_nonzero=count_nonzero_v1 reduce_all=reduce_all_v1 reduce_any=reduce_any_v1
ops.math.reductions_v1: reduce_logsumexp=reduce_logsumexp_v1 reduce_max=reduce_max_v1 reduce_mean=reduce_mean_v1
ops.math.reductions_v1: reduce_min=reduce_min_v1 reduce_prod=reduce_prod_v1 reduce_sum=reduce_sum_v1
ops.math.rounding: ceil floor rint round
ops.math.segment_functions: segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max
ops.math.segment_functions: unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
ops.math.segment_functions: unsorted_segment_sum
ops.math.trigonometric: acos acosh asin asinh atan atan2 atanh cos cosh log_sigmoid sigmoid sin sinh tan tanh
ops.nn.normalization: l2_normalize zero_fraction
ops.nn.softmax: log_softmax=log_softmax_v1 softmax=softmax_v1
ops.nn.softplus: softplus softsign
ops.random.sobol: sobol_sample
ops.special.bessel: bessel_i0 bessel_i0e bessel_i1 bessel_i1e
ops.special.functions: digamma erf erfc erfcinv erfinv lgamma ndtri nextafter polygamma polyval zeta
ops.special.incomplete: betainc igamma igammac lbeta
ops.statistics.bincount: bincount=bincount_v1
ops.statistics.confusion: confusion_matrix=confusion_matrix_v1
""",
    "compat.v1.nn": """\
ops.array.depth: depth_to_space=depth_to_space_v1 space_to_depth=space_to_depth_v1
ops.array.square_blocks: space_to_batch=space_to_batch_v1
ops.convolution.depthwise_functions: depthwise_conv2d=depthwise_conv2d_v1 depthwise_conv2d_backprop_filter
ops.convolution.depthwise_functions: depthwise_conv2d_backprop_input depthwise_conv2d_native
ops.convolution.depthwise_functions: depthwise_conv2d_native_backprop_filter=depthwise_conv2d_backprop_filter
ops.convolution.depthwise_functions: depthwise_conv2d_native_backprop_input=depthwise_conv2d_backprop_input
ops.convolution.depthwise_functions: separable_conv2d=separable_conv2d_v1
ops.convolution.dilated: with_space_to_batch
ops.convolution.fractional_functions: fractional_avg_pool=fractional_avg_pool_v1
ops.convolution.fractional_functions: fractional_max_pool=fractional_max_pool_v1
ops.convolution.functions: conv2d=conv2d_v1 conv2d_backprop_filter conv2d_backprop_input
ops.convolution.functions: conv2d_transpose=conv2d_transpose_v1
ops.convolution.functions_1d: conv1d=conv1d_v1 conv1d_transpose
ops.convolution.functions_3d: conv3d=conv3d_v1 conv3d_backprop_filter conv3d_backprop_filter_v2=conv3d_backprop_filter
ops.convolution.functions_3d: conv3d_transpose=conv3d_transpose_v1
ops.convolution.functions_any_rank: atrous_conv2d atrous_conv2d_transpose conv_transpose convolution=convolution_v1
ops.convolution.morphology: dilation2d=dilation2d_v1 erosion2d=erosion2d_v1
ops.convolution.pool_functions: avg_pool=avg_pool_v1 avg_pool_v2=avg_pool max_pool=max_pool_v1 max_pool_v2=max_pool
ops.convolution.pool_functions: max_pool_with_argmax=max_pool_with_argmax_v1 pool=pool_v1
ops.convolution.pool_functions_by_rank: avg_pool1d avg_pool2d=avg_pool2d_v1 avg_pool3d max_pool1d max_pool2d max_pool3d
ops.indexing.top_k: in_top_k=in_top_k_v1 top_k
ops.math.approximate_top_k: approx_max_k approx_min_k
ops.math.trigonometric: sigmoid tanh
ops.nn.activation: crelu=crelu_v1 elu leaky_relu relu relu6 relu_layer selu silu swish=silu
ops.nn.bias: bias_add xw_plus_b
ops.nn.candidate_functions: all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler
ops.nn.candidate_functions: learned_unigram_candidate_sampler log_uniform_candidate_sampler uniform_candidate_sampler
ops.nn.dropout: dropout=dropout_v1
ops.nn.embedding: embedding_lookup=embedding_lookup_v1
ops.nn.embedding_sparse: embedding_lookup_sparse=embedding_lookup_sparse_v1
ops.nn.embedding_sparse: safe_embedding_lookup_sparse=safe_embedding_lookup_sparse_v1
ops.nn.l2_loss: l2_loss
ops.nn.local_response: local_response_normalization lrn=local_response_normalization
ops.nn.loss: softmax_cross_entropy_with_logits=softmax_cross_entropy_with_logits_v1
ops.nn.loss: softmax_cross_entropy_with_logits_v2=softmax_cross_entropy_with_logits_v2_v1
ops.nn.loss: sparse_softmax_cross_entropy_with_logits=sparse_softmax_cross_entropy_with_logits_v1
ops.nn.normalization: batch_norm_with_global_normalization=batch_norm_with_global_normalization_v1 batch_normalization
ops.nn.normalization: fused_batch_norm l2_normalize moments=moments_v1 normalize_moments
ops.nn.normalization: sufficient_statistics=sufficient_statistics_v1 weighted_moments=weighted_moments_v1 zero_fraction
ops.nn.sampled_loss: nce_loss=nce_loss_v1 sampled_softmax_loss=sampled_softmax_loss_v1
ops.nn.sigmoid_loss: log_poisson_loss sigmoid_cross_entropy_with_logits
ops.nn.sigmoid_loss: weighted_cross_entropy_with_logits=weighted_cross_entropy_with_logits_v1
ops.nn.softmax: log_softmax=log_softmax_v1 softmax=softmax_v1
ops.nn.softplus: softplus softsign
ops.quantize.products: quantized_avg_pool quantized_conv2d quantized_max_pool quantized_relu_x
ops.recurrent.ctc_decoding: ctc_beam_search_decoder=ctc_beam_search_decoder_v1
ops.recurrent.ctc_decoding: ctc_beam_search_decoder_v2=ctc_beam_search_decoder ctc_greedy_decoder
ops.recurrent.ctc_functions: collapse_repeated ctc_loss=ctc_loss_v1 ctc_loss_v2 ctc_unique_labels
ops.state.loss_scaling: compute_average_loss scale_regularization_loss
v1.graph_callable: graph_callable
v1.rnn.loops: bidirectional_dynamic_rnn dynamic_rnn raw_rnn
v1.rnn.static: static_bidirectional_rnn static_rnn static_state_saving_rnn
""",
    "compat.v1.profiler": """\
v1.profiler.options: ProfileOptionBuilder
v1.profiler.profiling: GraphNodeProto MultiGraphNodeProto profile
""",
    "compat.v1.random": """\
ops.nn.candidate_functions: all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
ops.nn.candidate_functions: log_uniform_candidate_sampler uniform_candidate_sampler
ops.random.binomial: stateless_binomial
ops.random.functions: categorical gamma multinomial normal poisson=poisson_v1 shuffle truncated_normal uniform
ops.random.generator: Generator create_rng_state get_global_generator set_global_generator
ops.random.seed: get_seed set_random_seed=set_seed
ops.random.stateless: Algorithm
ops.random.stateless_choice: stateless_categorical stateless_gamma stateless_multinomial stateless_poisson
ops.random.stateless_functions: fold_in split stateless_normal stateless_truncated_normal stateless_uniform
ops.random.truncated: stateless_parameterized_truncated_normal
""",
    "compat.v1.sparse": """\
core.sparse_tensor: SparseTensor
ops.math.counting: bincount=sparse_bincount
ops.queue.accumulator: SparseConditionalAccumulator
ops.ragged.cross: cross=sparse_cross cross_hashed=sparse_cross_hashed
ops.sparse.arithmetic: add=add_v1 matmul=sparse_dense_matmul maximum minimum reduce_max=reduce_max_v1 reduce_max_sparse
ops.sparse.arithmetic: reduce_sum=reduce_sum_v1 reduce_sum_sparse softmax sparse_dense_matmul
ops.sparse.functions: eye from_dense mask merge=sparse_merge to_dense to_indicator
ops.sparse.segment: segment_mean=sparse_segment_mean_v1 segment_sqrt_n=sparse_segment_sqrt_n_v1
ops.sparse.segment: segment_sum=sparse_segment_sum_v1
ops.sparse.shaping: concat=concat_v1 expand_dims fill_empty_rows reorder reset_shape reshape retain slice=slice_
ops.sparse.shaping: split=split_v1 transpose
v1.sparse_names: placeholder=sparse_placeholder
""",
    "compat.v1.strings": """\
ops.string.code_points: unicode_decode unicode_decode_with_offsets unicode_encode unicode_script unicode_split
ops.string.code_points: unicode_split_with_offsets unicode_transcode
ops.string.hashing: to_hash_bucket_fast
ops.string.hashing_keyed: to_hash_bucket=to_hash_bucket_v1 to_hash_bucket_strong
ops.string.joining: format=format_ join reduce_join=reduce_join_v1
ops.string.ngrams: ngrams
ops.string.numbers: as_string to_number=to_number_v1
ops.string.regex: regex_full_match regex_replace
ops.string.rows: length=length_v1 lower strip substr=substr_v1 upper
ops.string.segment_join: unsorted_segment_join
ops.string.split: bytes_split split=split_v1
""",
    "config": """\
core.config: LogicalDevice LogicalDeviceConfiguration PhysicalDevice
core.config: experimental_functions_run_eagerly=functions_run_eagerly
core.config: experimental_run_functions_eagerly=run_functions_eagerly functions_run_eagerly
core.config: get_logical_device_configuration get_soft_device_placement get_visible_devices list_logical_devices
core.config: list_physical_devices run_functions_eagerly set_logical_device_configuration set_soft_device_placement
core.config: set_visible_devices
distribute.remote: experimental_connect_to_cluster experimental_connect_to_host
""",
    "config.experimental": """\
core.config: VirtualDeviceConfiguration enable_op_determinism enable_tensor_float_32_execution get_device_details
core.config: get_device_policy get_memory_growth get_memory_info get_memory_usage get_synchronous_execution
core.config: get_virtual_device_configuration=get_logical_device_configuration get_visible_devices list_logical_devices
core.config: list_physical_devices reset_memory_stats set_device_policy set_memory_growth set_synchronous_execution
core.config: set_virtual_device_configuration=set_logical_device_configuration set_visible_devices
core.config: tensor_float_32_execution_enabled
""",
    "config.optimizer": """\
core.config: get_experimental_options get_jit set_experimental_options set_jit
""",
    "config.threading": """\
core.config: get_inter_op_parallelism_threads get_intra_op_parallelism_threads set_inter_op_parallelism_threads
core.config: set_intra_op_parallelism_threads
""",
    "debugging": """\
core.tracebacks: disable_traceback_filtering enable_traceback_filtering is_traceback_filtering_enabled
graph.run.call_watching: disable_check_numerics enable_check_numerics get_log_device_placement set_log_device_placement
ops.control.assert_op: Assert
ops.control.assertions: assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near
ops.control.assertions: assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive
ops.control.assertions_v2: assert_integer assert_shapes assert_type
ops.control.shape_assertions: assert_rank assert_rank_at_least assert_rank_in assert_scalar=assert_scalar_v2
ops.control.type_assertions: assert_proper_iterable assert_same_float_dtype is_numeric_tensor
ops.math.check: assert_all_finite check_numerics
""",
    "dtypes": """\
core.dtypes: DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half
core.dtypes: int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8
core.dtypes: variant
ops.math.casting: cast saturate_cast
ops.math.complex_numbers: complex
""",
    "dtypes.experimental": """\
core.dtypes: float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz int2 int4 uint2
core.dtypes: uint4
""",
    "errors": """\
core.errors: ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS
core.errors: DEADLINE_EXCEEDED DataLossError DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError INTERNAL
core.errors: INVALID_ARGUMENT InternalError InvalidArgumentError NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError
core.errors: OperatorNotAllowedInGraphError OutOfRangeError PERMISSION_DENIED PermissionDeniedError RESOURCE_EXHAUSTED
core.errors: ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED UNKNOWN UnauthenticatedError
core.errors: UnavailableError UnimplementedError UnknownError
""",
    "graph_util": """\
graph.interchange.importing: import_graph_def
""",
    "image": """\
ops.image.adjusting: adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation convert_image_dtype
ops.image.adjusting: per_image_standardization
ops.image.bmp: decode_bmp
ops.image.bounding_box: draw_bounding_boxes
ops.image.color: hsv_to_rgb rgb_to_hsv
ops.image.color_spaces: grayscale_to_rgb rgb_to_grayscale rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb
ops.image.crop: crop_and_resize
ops.image.decoding: decode_image
ops.image.distorted_boxes: sample_distorted_bounding_box stateless_sample_distorted_bounding_box
ops.image.geometry: central_crop crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box
ops.image.geometry: resize_with_crop_or_pad rot90 transpose
ops.image.gif: decode_gif
ops.image.glimpses: extract_glimpse
ops.image.jpeg: adjust_jpeg_quality decode_and_crop_jpeg decode_jpeg encode_jpeg extract_jpeg_shape is_jpeg
ops.image.patches: extract_patches
ops.image.png: decode_png encode_png
ops.image.quality: image_gradients psnr sobel_edges ssim ssim_multiscale total_variation
ops.image.random: random_brightness random_contrast random_flip_left_right random_flip_up_down random_hue
ops.image.random: random_jpeg_quality random_saturation stateless_random_brightness stateless_random_contrast
ops.image.random: stateless_random_crop stateless_random_flip_left_right stateless_random_flip_up_down
ops.image.random: stateless_random_hue stateless_random_jpeg_quality stateless_random_saturation
ops.image.resizing: ResizeMethod resize resize_with_pad
ops.image.suppression_functions: combined_non_max_suppression non_max_suppression non_max_suppression_overlaps
ops.image.suppression_functions: non_max_suppression_padded non_max_suppression_with_scores
ops.image.webp: decode_webp
ops.random.functions: random_crop
""",
    "io": """\
core.files.tf_record: TFRecordOptions TFRecordWriter
graph.file_names: match_filenames_once
graph.interchange.writing: write_graph
ops.image.bmp: decode_bmp
ops.image.decoding: decode_image
ops.image.gif: decode_gif
ops.image.jpeg: decode_and_crop_jpeg decode_jpeg encode_jpeg extract_jpeg_shape is_jpeg
ops.image.png: decode_png encode_png
ops.image.webp: decode_webp
ops.io.csv: decode_csv
ops.io.example_features: FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature
ops.io.file: matching_files read_file write_file
ops.io.json_example: decode_json_example
ops.io.parsing: parse_example parse_sequence_example parse_single_example parse_single_sequence_example
ops.io.proto_messages: decode_proto encode_proto
ops.io.raw_bytes: decode_compressed decode_raw parse_tensor serialize_tensor
ops.sparse.serialization: deserialize_many_sparse serialize_many_sparse serialize_sparse
ops.string.regex: decode_base64 encode_base64
""",
    "linalg": """\
ops.array.band: band_part trace
ops.array.diagonal: diag_part set_diag
ops.array.diagonal_matrix: diag
ops.array.tensor_diagonal: eye tensor_diag tensor_diag_part
ops.linalg.banded: banded_triangular_solve
ops.linalg.cross: cross
ops.linalg.decomposition: cholesky qr svd
ops.linalg.eigen: eig eigh eigvals eigvalsh
ops.linalg.einsum: einsum
ops.linalg.inverse: det inv logdet slogdet
ops.linalg.lu: lu lu_matrix_inverse lu_reconstruct lu_solve
ops.linalg.matmul: matmul matvec
ops.linalg.matrix_function: adjoint eigh_tridiagonal expm logm matrix_rank matrix_transpose pinv sqrtm
ops.linalg.norms: norm normalize
ops.linalg.solve: cholesky_solve lstsq solve triangular_solve
ops.linalg.tensordot: tensordot
ops.linalg.tridiagonal_functions: tridiagonal_matmul tridiagonal_solve
ops.linear_operator.algebra: LinearOperatorAdjoint LinearOperatorComposition LinearOperatorInversion
ops.linear_operator.algebra: LinearOperatorKronecker
ops.linear_operator.base: LinearOperator
ops.linear_operator.blocks: LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular
ops.linear_operator.circulant: LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D
ops.linear_operator.identity: LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorZeros
ops.linear_operator.low_rank: LinearOperatorLowRankUpdate
ops.linear_operator.matrix: LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorLowerTriangular
ops.linear_operator.structured: LinearOperatorHouseholder LinearOperatorPermutation LinearOperatorToeplitz
ops.linear_operator.structured: LinearOperatorTridiag
ops.math.clip: global_norm
ops.nn.normalization: l2_normalize
""",
    "linalg.experimental": """\
ops.linalg.conjugate_gradient: conjugate_gradient
""",
    "lookup": """\
ops.lookup.initializers: KeyValueTensorInitializer TextFileIndex TextFileInitializer
ops.lookup.tables: StaticHashTable StaticVocabularyTable
""",
    "lookup.experimental": """\
ops.lookup.growing: DenseHashTable MutableHashTable
""",
    "math": """\
ops.array.transposing: invert_permutation
ops.indexing.top_k: in_top_k top_k
ops.math.accumulate: accumulate_n add_n
ops.math.approximate_top_k: approx_max_k approx_min_k
ops.math.argmax: argmax argmin
ops.math.arithmetic: add maximum minimum multiply pow scalar_mul squared_difference subtract
ops.math.comparison: equal greater greater_equal less less_equal not_equal
ops.math.complex_numbers: angle imag real
ops.math.conjugate: conj
ops.math.cumulative: cumprod cumsum cumulative_logsumexp
ops.math.division: divide floordiv floormod mod=floormod truediv
ops.math.division_no_nan: divide_no_nan multiply_no_nan reciprocal_no_nan xdivy xlog1py xlogy
ops.math.elementwise: abs exp expm1 log log1p negative reciprocal rsqrt sign sqrt square
ops.math.float_kinds: is_finite is_inf is_nan
ops.math.logic: logical_and logical_not logical_or logical_xor
ops.math.monotonic: is_non_decreasing is_strictly_increasing
ops.math.reductions: count_nonzero reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean
ops.math.reductions: reduce_min reduce_prod reduce_std reduce_sum reduce_variance
ops.math.rounding: ceil floor rint round
ops.math.segment_functions: segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max
ops.math.segment_functions: unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
ops.math.segment_functions: unsorted_segment_sum
ops.math.trigonometric: acos acosh asin asinh atan atan2 atanh cos cosh log_sigmoid sigmoid sin sinh tan tanh
ops.nn.normalization: l2_normalize zero_fraction
ops.nn.softmax: log_softmax softmax
ops.nn.softplus: softplus softsign
ops.random.sobol: sobol_sample
ops.special.bessel: bessel_i0 bessel_i0e bessel_i1 bessel_i1e
ops.special.functions: digamma erf erfc erfcinv erfinv lgamma ndtri nextafter polygamma polyval zeta
ops.special.incomplete: betainc igamma igammac lbeta
ops.statistics.bincount: bincount
ops.statistics.confusion: confusion_matrix
""",
    "math.special": """\
ops.special.bessel: bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1
ops.special.bessel: bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence
""",
    "nest": """\
core.structures.nest: assert_same_structure map_structure
core.structures.structure: flatten is_nested pack_sequence_as
""",
    "nn": """\
keras.layers.rnn.cell_wrappers: RNNCellDeviceWrapper RNNCellDropoutWrapper RNNCellResidualWrapper
ops.array.depth: depth_to_space space_to_depth
ops.array.spatial: space_to_batch=space_to_batch_nd
ops.convolution.depthwise_functions: depthwise_conv2d depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input
ops.convolution.depthwise_functions: separable_conv2d
ops.convolution.dilated: with_space_to_batch
ops.convolution.fractional_functions: fractional_avg_pool fractional_max_pool
ops.convolution.functions: conv2d conv2d_transpose
ops.convolution.functions_1d: conv1d conv1d_transpose
ops.convolution.functions_3d: conv3d conv3d_transpose
ops.convolution.functions_any_rank: atrous_conv2d atrous_conv2d_transpose conv_transpose convolution
ops.convolution.morphology: dilation2d erosion2d
ops.convolution.pool_functions: avg_pool max_pool max_pool_with_argmax pool
ops.convolution.pool_functions_by_rank: avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d
ops.indexing.top_k: in_top_k top_k
ops.math.approximate_top_k: approx_max_k approx_min_k
ops.math.trigonometric: sigmoid tanh
ops.nn.activation: crelu elu leaky_relu relu relu6 selu silu swish=silu
ops.nn.bias: bias_add
ops.nn.candidate_functions: all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler
ops.nn.candidate_functions: learned_unigram_candidate_sampler
ops.nn.dropout: dropout
ops.nn.embedding: embedding_lookup
ops.nn.embedding_sparse: embedding_lookup_sparse safe_embedding_lookup_sparse
ops.nn.gelu: gelu
ops.nn.isotonic: isotonic_regression
ops.nn.l2_loss: l2_loss
ops.nn.local_response: local_response_normalization lrn=local_response_normalization
ops.nn.loss: softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits
ops.nn.normalization: batch_norm_with_global_normalization batch_normalization l2_normalize moments normalize_moments
ops.nn.normalization: sufficient_statistics weighted_moments zero_fraction
ops.nn.sampled_loss: nce_loss sampled_softmax_loss
ops.nn.sigmoid_loss: log_poisson_loss sigmoid_cross_entropy_with_logits weighted_cross_entropy_with_logits
ops.nn.softmax: log_softmax softmax
ops.nn.softplus: softplus softsign
ops.recurrent.ctc_decoding: ctc_beam_search_decoder ctc_greedy_decoder
ops.recurrent.ctc_functions: collapse_repeated ctc_loss ctc_unique_labels
ops.state.loss_scaling: compute_average_loss scale_regularization_loss
v1.graph_callable: graph_callable
""",
    "nn.experimental": """\
ops.nn.dropout: general_dropout stateless_dropout
""",
    "profiler": """\
""",
    "profiler.experimental": """\
summary.profiling: Profile ProfilerOptions Trace start stop
""",
    "quantization": """\
ops.quantize.fake_quant_functions: fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
ops.quantize.fake_quant_functions: fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
ops.quantize.fake_quant_functions: fake_quant_with_min_max_vars_per_channel
ops.quantize.fake_quant_functions: fake_quant_with_min_max_vars_per_channel_gradient
ops.quantize.functions: dequantize quantize quantized_concat
ops.quantize.quantize_and_dequantize: quantize_and_dequantize quantize_and_dequantize_v2
""",
    "queue": """\
ops.queue.queues: FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
""",
    "random": """\
ops.nn.candidate_functions: all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
ops.nn.candidate_functions: log_uniform_candidate_sampler uniform_candidate_sampler
ops.random.binomial: stateless_binomial
ops.random.functions: categorical gamma normal poisson shuffle truncated_normal uniform
ops.random.generator: Generator create_rng_state get_global_generator set_global_generator
ops.random.seed: set_seed
ops.random.stateless: Algorithm
ops.random.stateless_choice: stateless_categorical stateless_gamma stateless_poisson
ops.random.stateless_functions: fold_in split stateless_normal stateless_truncated_normal stateless_uniform
ops.random.truncated: stateless_parameterized_truncated_normal
""",
    "random.experimental": """\
ops.random.generator: Generator create_rng_state get_global_generator set_global_generator
ops.random.index_shuffle: index_shuffle
ops.random.stateless: Algorithm
ops.random.stateless_choice: stateless_shuffle
ops.random.stateless_functions: stateless_fold_in=fold_in stateless_split=split
""",
    "sets": """\
ops.sparse.sets: difference intersection size union
""",
    "signal": """\
ops.signal.cosine: dct idct inverse_mdct mdct
ops.signal.fft_functions: fft fft2d fft3d fftshift ifft ifft2d ifft3d ifftshift irfft irfft2d irfft3d rfft rfft2d
ops.signal.fft_functions: rfft3d
ops.signal.fft_functions_nd: fftnd ifftnd irfftnd rfftnd
ops.signal.frames: frame inverse_stft inverse_stft_window_fn overlap_and_add stft
ops.signal.mel: linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms
ops.signal.windows: hamming_window hann_window kaiser_bessel_derived_window kaiser_window vorbis_window
""",
    "sparse": """\
core.sparse_tensor: SparseTensor
ops.math.counting: bincount=sparse_bincount
ops.ragged.cross: cross=sparse_cross cross_hashed=sparse_cross_hashed
ops.sparse.arithmetic: add maximum minimum reduce_max reduce_sum softmax sparse_dense_matmul
ops.sparse.functions: eye from_dense map_values mask to_dense to_indicator
ops.sparse.sampled: sampled_addmm
ops.sparse.segment: segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n
ops.sparse.segment: segment_sum=sparse_segment_sum
ops.sparse.shaping: concat expand_dims fill_empty_rows reorder reset_shape reshape retain slice=slice_ split transpose
""",
    "strings": """\
ops.string.code_points: unicode_decode unicode_decode_with_offsets unicode_encode unicode_script unicode_split
ops.string.code_points: unicode_split_with_offsets unicode_transcode
ops.string.hashing: to_hash_bucket_fast
ops.string.hashing_keyed: to_hash_bucket to_hash_bucket_strong
ops.string.joining: format=format_ join reduce_join
ops.string.ngrams: ngrams
ops.string.numbers: as_string to_number
ops.string.regex: regex_full_match regex_replace
ops.string.rows: length lower strip substr upper
ops.string.segment_join: unsorted_segment_join
ops.string.split: bytes_split split
""",
    "types": """\
""",
    "version": """\
core.release: COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
core.release: GRAPH_DEF_VERSION_MIN_PRODUCER VERSION
""",
}
