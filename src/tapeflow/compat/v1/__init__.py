"""tf.compat.v1: the names and signatures of TensorFlow 1.x."""

import importlib
from typing import Any

from tapeflow import autodiff, config, types, version
from tapeflow._native import Tensor
from tapeflow.autodiff.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from tapeflow.autodiff.tape import GradientTape, UnconnectedGradients
from tapeflow.autodiff.vectorized_map import vectorized_map
from tapeflow.compat.v1 import bitwise, debugging, dtypes, errors, linalg, math, nn, random, strings
from tapeflow.core.context import device_v1 as device
from tapeflow.core.context import (
    disable_tensor_equality,
    enable_eager_execution,
    enable_tensor_equality,
    executing_eagerly,
    init_scope,
)
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import constant_v1 as constant
from tapeflow.core.convert import convert_to_tensor_v1 as convert_to_tensor
from tapeflow.core.convert import is_symbolic_tensor, is_tensor, register_tensor_conversion_function
from tapeflow.core.device import DeviceSpecV1 as DeviceSpec
from tapeflow.core.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from tapeflow.core.errors import OpError
from tapeflow.core.indexed_slices import IndexedSlices, IndexedSlicesSpec
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.specs.type_specs import type_spec_from_value
from tapeflow.core.tensor_shape import (
    Dimension,
    TensorShape,
    dimension_at_index,
    dimension_value,
    disable_v2_tensorshape,
    enable_v2_tensorshape,
)
from tapeflow.ops.array.broadcasting import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    broadcast_to,
    repeat,
    tile,
)
from tapeflow.ops.array.construction import (
    fill,
    linspace,
    meshgrid,
    one_hot,
    ones,
    range,
    sequence_mask,
    zeros,
)
from tapeflow.ops.array.construction import linspace as lin_space
from tapeflow.ops.array.construction import ones_like_v1 as ones_like
from tapeflow.ops.array.construction import zeros_like_v1 as zeros_like
from tapeflow.ops.array.diagonal import band_part as matrix_band_part
from tapeflow.ops.array.diagonal import diag as matrix_diag
from tapeflow.ops.array.diagonal import diag_part as matrix_diag_part
from tapeflow.ops.array.diagonal import set_diag as matrix_set_diag
from tapeflow.ops.array.diagonal import trace
from tapeflow.ops.array.gather import batch_gather
from tapeflow.ops.array.gather import boolean_mask_v1 as boolean_mask
from tapeflow.ops.array.gather import gather_nd_v1 as gather_nd
from tapeflow.ops.array.gather import gather_v1 as gather
from tapeflow.ops.array.joining import concat, parallel_stack, split, stack, unstack
from tapeflow.ops.array.layout import bitcast, invert_permutation, reshape
from tapeflow.ops.array.layout import expand_dims_v1 as expand_dims
from tapeflow.ops.array.layout import squeeze_v1 as squeeze
from tapeflow.ops.array.layout import transpose_v1 as transpose
from tapeflow.ops.array.padding import pad_v1 as pad
from tapeflow.ops.array.partition import dynamic_partition, dynamic_stitch
from tapeflow.ops.array.reorder import reverse, roll
from tapeflow.ops.array.reorder import reverse as reverse_v2
from tapeflow.ops.array.reorder import reverse_sequence_v1 as reverse_sequence
from tapeflow.ops.array.rows import (
    ensure_shape,
    guarantee_const,
    identity,
    identity_n,
    rank,
    shape_n,
    stop_gradient,
)
from tapeflow.ops.array.rows import shape_v1 as shape
from tapeflow.ops.array.rows import size_v1 as size
from tapeflow.ops.array.scatter import (
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from tapeflow.ops.array.scatter import tensor_scatter_nd_add as tensor_scatter_add
from tapeflow.ops.array.scatter import tensor_scatter_nd_sub as tensor_scatter_sub
from tapeflow.ops.array.scatter import tensor_scatter_nd_update as tensor_scatter_update
from tapeflow.ops.array.selection import searchsorted, setdiff1d, unique, unique_with_counts
from tapeflow.ops.array.slicing import slice_ as slice
from tapeflow.ops.array.slicing import strided_slice
from tapeflow.ops.array.spatial import batch_to_space as batch_to_space_nd
from tapeflow.ops.array.spatial import batch_to_space_v1 as batch_to_space
from tapeflow.ops.array.spatial import depth_to_space_v1 as depth_to_space
from tapeflow.ops.array.spatial import required_space_to_batch_paddings, space_to_batch_nd
from tapeflow.ops.array.spatial import space_to_batch_v1 as space_to_batch
from tapeflow.ops.array.spatial import space_to_depth_v1 as space_to_depth
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.array.tensor_diagonal import tensor_diag as diag
from tapeflow.ops.array.tensor_diagonal import tensor_diag_part as diag_part
from tapeflow.ops.array.unravel import unravel_index
from tapeflow.ops.array.volume_patches import extract_volume_patches
from tapeflow.ops.control.assertions import (
    Assert,
    assert_integer,
    assert_proper_iterable,
    assert_same_float_dtype,
    assert_scalar,
    assert_type,
    is_numeric_tensor,
)
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_greater_equal_v1 as assert_greater_equal
from tapeflow.ops.control.assertions import assert_greater_v1 as assert_greater
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.control.assertions import assert_less_v1 as assert_less
from tapeflow.ops.control.assertions import assert_near_v1 as assert_near
from tapeflow.ops.control.assertions import assert_negative_v1 as assert_negative
from tapeflow.ops.control.assertions import assert_non_negative_v1 as assert_non_negative
from tapeflow.ops.control.assertions import assert_non_positive_v1 as assert_non_positive
from tapeflow.ops.control.assertions import assert_none_equal_v1 as assert_none_equal
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.control.assertions import assert_rank_at_least_v1 as assert_rank_at_least
from tapeflow.ops.control.assertions import assert_rank_in_v1 as assert_rank_in
from tapeflow.ops.control.assertions import assert_rank_v1 as assert_rank
from tapeflow.ops.control.flow import (
    case,
    control_dependencies,
    group,
    no_op,
    numpy_function,
    py_func,
    py_function,
    switch_case,
)
from tapeflow.ops.control.flow import cond_v1 as cond
from tapeflow.ops.control.flow import tuple_v1 as tuple
from tapeflow.ops.control.flow import while_loop_v1 as while_loop
from tapeflow.ops.control.mapping import foldl, foldr, scan
from tapeflow.ops.control.mapping import map_fn_v1 as map_fn
from tapeflow.ops.control.printing import Print
from tapeflow.ops.control.printing import print_ as print
from tapeflow.ops.convolution.any_rank import (
    conv,
    conv2d_backprop_filter_v2,
    conv2d_backprop_input_v2,
)
from tapeflow.ops.linalg.cross import cross
from tapeflow.ops.linalg.decomposition import cholesky, qr, svd
from tapeflow.ops.linalg.decomposition import eigh as self_adjoint_eig
from tapeflow.ops.linalg.decomposition import eigvalsh as self_adjoint_eigvals
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.linalg.matmul import matmul, sparse_matmul, tensordot
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.linalg.matrix_function import norm_v1 as norm
from tapeflow.ops.linalg.matrix_function import sqrtm as matrix_square_root
from tapeflow.ops.linalg.solve import cholesky_solve
from tapeflow.ops.linalg.solve import det as matrix_determinant
from tapeflow.ops.linalg.solve import inv as matrix_inverse
from tapeflow.ops.linalg.solve import lstsq as matrix_solve_ls
from tapeflow.ops.linalg.solve import solve as matrix_solve
from tapeflow.ops.linalg.solve import triangular_solve as matrix_triangular_solve
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.lists.tensor_array_spec import TensorArraySpec
from tapeflow.ops.math.accumulate import accumulate_n, add_n
from tapeflow.ops.math.approximate_top_k import approx_top_k
from tapeflow.ops.math.argmax import arg_max, arg_min
from tapeflow.ops.math.argmax import argmax_v1 as argmax
from tapeflow.ops.math.argmax import argmin_v1 as argmin
from tapeflow.ops.math.arithmetic import (
    add,
    div,
    divide,
    floordiv,
    floormod,
    maximum,
    minimum,
    multiply,
    pow,
    realdiv,
    scalar_mul,
    squared_difference,
    subtract,
    truediv,
    truncatediv,
    truncatemod,
)
from tapeflow.ops.math.arithmetic import floordiv as floor_div
from tapeflow.ops.math.arithmetic import floormod as mod
from tapeflow.ops.math.casting import (
    cast,
    saturate_cast,
    to_bfloat16,
    to_complex64,
    to_complex128,
    to_double,
    to_float,
    to_int32,
    to_int64,
)
from tapeflow.ops.math.check import assert_all_finite_v1 as verify_tensor_all_finite
from tapeflow.ops.math.check import check_numerics
from tapeflow.ops.math.clip import (
    clip_by_average_norm,
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    global_norm,
)
from tapeflow.ops.math.comparison import (
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    is_non_decreasing,
    is_strictly_increasing,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from tapeflow.ops.math.comparison import where as where_v2
from tapeflow.ops.math.comparison import where_v1 as where
from tapeflow.ops.math.complex_numbers import angle, complex, imag, real
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.cumulative import cumprod, cumsum
from tapeflow.ops.math.division_no_nan import divide_no_nan as div_no_nan
from tapeflow.ops.math.elementwise import (
    abs,
    ceil,
    exp,
    expm1,
    floor,
    log,
    log1p,
    negative,
    reciprocal,
    rint,
    round,
    rsqrt,
    sign,
    sqrt,
    square,
)
from tapeflow.ops.math.histogram import bincount_v1 as bincount
from tapeflow.ops.math.histogram import confusion_matrix_v1 as confusion_matrix
from tapeflow.ops.math.histogram import histogram_fixed_width, histogram_fixed_width_bins
from tapeflow.ops.math.reduction import count_nonzero_v1 as count_nonzero
from tapeflow.ops.math.reduction import reduce_all_v1 as reduce_all
from tapeflow.ops.math.reduction import reduce_any_v1 as reduce_any
from tapeflow.ops.math.reduction import reduce_logsumexp_v1 as reduce_logsumexp
from tapeflow.ops.math.reduction import reduce_max_v1 as reduce_max
from tapeflow.ops.math.reduction import reduce_mean_v1 as reduce_mean
from tapeflow.ops.math.reduction import reduce_min_v1 as reduce_min
from tapeflow.ops.math.reduction import reduce_prod_v1 as reduce_prod
from tapeflow.ops.math.reduction import reduce_sum_v1 as reduce_sum
from tapeflow.ops.math.segment import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from tapeflow.ops.math.special import (
    betainc,
    digamma,
    erf,
    erfc,
    igamma,
    igammac,
    lbeta,
    lgamma,
    polygamma,
    zeta,
)
from tapeflow.ops.math.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    log_sigmoid,
    sigmoid,
    sin,
    sinh,
    tan,
    tanh,
)
from tapeflow.ops.random.distributions import gamma as random_gamma
from tapeflow.ops.random.distributions import multinomial, random_crop, truncated_normal
from tapeflow.ops.random.distributions import normal as random_normal
from tapeflow.ops.random.distributions import poisson_v1 as random_poisson
from tapeflow.ops.random.distributions import shuffle as random_shuffle
from tapeflow.ops.random.distributions import uniform as random_uniform
from tapeflow.ops.random.index_shuffle import random_index_shuffle
from tapeflow.ops.random.seed import get_seed
from tapeflow.ops.random.seed import set_seed as set_random_seed
from tapeflow.ops.signal.spectral_nd import raw_fftnd as fftnd
from tapeflow.ops.signal.spectral_nd import raw_ifftnd as ifftnd
from tapeflow.ops.signal.spectral_nd import raw_irfftnd as irfftnd
from tapeflow.ops.signal.spectral_nd import raw_rfftnd as rfftnd
from tapeflow.ops.sparse.segment import sparse_segment_mean_v1 as sparse_segment_mean
from tapeflow.ops.sparse.segment import sparse_segment_sqrt_n_v1 as sparse_segment_sqrt_n
from tapeflow.ops.sparse.segment import sparse_segment_sum_v1 as sparse_segment_sum
from tapeflow.ops.state.variable import (
    VariableAggregation,
    VariableSynchronization,
    variable_creator_scope,
)
from tapeflow.ops.state.variable import VariableV1 as Variable
from tapeflow.ops.state.variable_scatter import (
    scatter_add,
    scatter_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_nd_add,
    scatter_nd_sub,
    scatter_nd_update,
    scatter_sub,
    scatter_update,
)
from tapeflow.ops.string.edit_distance import edit_distance
from tapeflow.ops.string.hashing import to_hash_bucket_fast as string_to_hash_bucket_fast
from tapeflow.ops.string.numbers import as_string
from tapeflow.ops.string.numbers import to_number_v1 as string_to_number
from tapeflow.ops.string.regex import decode_base64, encode_base64, regex_replace
from tapeflow.ops.string.rows import join as string_join
from tapeflow.ops.string.rows import reduce_join_v1 as reduce_join
from tapeflow.ops.string.rows import strip as string_strip
from tapeflow.ops.string.rows import substr_v1 as substr
from tapeflow.v1.modes import (
    control_flow_v2_enabled,
    disable_control_flow_v2,
    disable_eager_execution,
    disable_resource_variables,
    disable_v2_behavior,
    enable_control_flow_v2,
    enable_resource_variables,
    enable_v2_behavior,
    executing_eagerly_outside_functions,
    resource_variables_enabled,
)

newaxis = None
__version__ = VERSION = version.VERSION
__compiler_version__ = COMPILER_VERSION = version.COMPILER_VERSION
__git_version__ = GIT_VERSION = version.GIT_VERSION
GRAPH_DEF_VERSION = version.GRAPH_DEF_VERSION
GRAPH_DEF_VERSION_MIN_CONSUMER = version.GRAPH_DEF_VERSION_MIN_CONSUMER
GRAPH_DEF_VERSION_MIN_PRODUCER = version.GRAPH_DEF_VERSION_MIN_PRODUCER
CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD = 1, 202002, 0

_LAZY_PACKAGES = {
    "__internal__": "tapeflow.__internal__",
    "__operators__": "tapeflow.__operators__",
    "app": "tapeflow.compat.v1.app",
    "audio": "tapeflow.audio",
    "autograph": "tapeflow.compat.v1.autograph",
    "compat": "tapeflow.compat",
    "contrib": "tapeflow.contrib",
    "data": "tapeflow.compat.v1.data",
    "distribute": "tapeflow.compat.v1.distribute",
    "distributions": "tapeflow.compat.v1.distributions",
    "estimator": "tapeflow.compat.v1.estimator",
    "experimental": "tapeflow.compat.v1.experimental",
    "feature_column": "tapeflow.compat.v1.feature_column",
    "flags": "tapeflow.compat.v1.flags",
    "gfile": "tapeflow.compat.v1.gfile",
    "graph_util": "tapeflow.compat.v1.graph_util",
    "image": "tapeflow.compat.v1.image",
    "initializers": "tapeflow.v1.initializers",
    "io": "tapeflow.compat.v1.io",
    "keras": "tapeflow.compat.v1.keras",
    "layers": "tapeflow.layers",
    "lite": "tapeflow.compat.v1.lite",
    "logging": "tapeflow.compat.v1.logging",
    "lookup": "tapeflow.lookup",
    "losses": "tapeflow.compat.v1.losses",
    "metrics": "tapeflow.compat.v1.metrics",
    "mixed_precision": "tapeflow.compat.v1.mixed_precision",
    "nest": "tapeflow.nest",
    "python_io": "tapeflow.compat.v1.python_io",
    "quantization": "tapeflow.quantization",
    "queue": "tapeflow.queue",
    "ragged": "tapeflow.compat.v1.ragged",
    "raw_ops": "tapeflow.raw_ops",
    "resource_loader": "tapeflow.compat.v1.resource_loader",
    "signal": "tapeflow.signal",
    "test": "tapeflow.compat.v1.test",
    "manip": "tapeflow.compat.v1.manip",
    "sets": "tapeflow.compat.v1.sets",
    "sparse": "tapeflow.compat.v1.sparse",
    "spectral": "tapeflow.v1.spectral",
    "saved_model": "tapeflow.compat.v1.saved_model",
    "summary": "tapeflow.compat.v1.summary",
    "sysconfig": "tapeflow.sysconfig",
    "tpu": "tapeflow.compat.v1.tpu",
    "train": "tapeflow.train",
    "user_ops": "tapeflow.compat.v1.user_ops",
    "xla": "tapeflow.xla",
}
# Names that are loaded when they are first used, with the modules that hold them.
_LAZY_NAMES = {
    "NoneTensorSpec": "tapeflow.core.specs.none_spec",
    "initialize_all_tables": "tapeflow.ops.lookup.tables",
    "ragged_fill_empty_rows": "tapeflow.ops.ragged.rows",
    "ragged_fill_empty_rows_grad": "tapeflow.ops.ragged.rows",
    "OptionalSpec": "tapeflow.data.optional:OptionalSpec",
    "serialize_many_sparse": "tapeflow.v1.text_names",
    "serialize_sparse": "tapeflow.v1.text_names",
    "deserialize_many_sparse": "tapeflow.ops.sparse.serialization",
    "quantize": "tapeflow.ops.quantize.rows",
    "quantize_v2": "tapeflow.ops.quantize.rows",
    "dequantize": "tapeflow.ops.quantize.rows",
    "quantized_concat": "tapeflow.ops.quantize.rows",
    "decode_compressed": "tapeflow.ops.io.raw_bytes",
    "string_split": "tapeflow.v1.text_names",
    "string_to_hash_bucket": "tapeflow.v1.text_names",
    "string_to_hash_bucket_strong": "tapeflow.v1.text_names",
    "fingerprint": "tapeflow.ops.string.fingerprint",
    "fixed_size_partitioner": "tapeflow.v1.partitioned",
    "min_max_variable_partitioner": "tapeflow.v1.partitioned",
    "variable_axis_size_partitioner": "tapeflow.v1.partitioned",
    "count_up_to": "tapeflow.ops.state.variable_scatter",
    "Graph": "tapeflow.graph.graph",
    "GraphKeys": "tapeflow.graph.build.collections",
    "InteractiveSession": "tapeflow.graph.run.session",
    "Operation": "tapeflow.graph.operation",
    "RegisterGradient": "tapeflow.v1.gradient_registry",
    "Session": "tapeflow.graph.run.session",
    "add_to_collection": "tapeflow.graph.build.collections",
    "add_to_collections": "tapeflow.graph.build.collections",
    "all_variables": "tapeflow.graph.build.collections",
    "assert_variables_initialized": "tapeflow.graph.build.variables",
    "colocate_with": "tapeflow.v1.scopes",
    "container": "tapeflow.v1.scopes",
    "function": "tapeflow.function.function",
    "get_all_collection_keys": "tapeflow.graph.build.collections",
    "get_collection": "tapeflow.graph.build.collections",
    "get_collection_ref": "tapeflow.graph.build.collections",
    "get_default_graph": "tapeflow.graph.graph",
    "get_default_session": "tapeflow.graph.run.session",
    "global_variables": "tapeflow.graph.build.collections",
    "global_variables_initializer": "tapeflow.graph.build.variables",
    "gradients": "tapeflow.graph.build.derivatives:gradients_v1",
    "hessians": "tapeflow.graph.build.derivatives:hessians_v1",
    "import_graph_def": "tapeflow.graph.interchange.importing",
    "initialize_all_variables": "tapeflow.graph.build.variables",
    "initialize_local_variables": "tapeflow.graph.build.variables",
    "initialize_variables": "tapeflow.graph.build.variables",
    "is_variable_initialized": "tapeflow.graph.build.variables",
    "local_variables": "tapeflow.graph.build.collections",
    "local_variables_initializer": "tapeflow.graph.build.variables",
    "make_template": "tapeflow.v1.variable_getting",
    "model_variables": "tapeflow.graph.build.collections",
    "moving_average_variables": "tapeflow.graph.build.collections",
    "op_scope": "tapeflow.v1.scopes",
    "placeholder": "tapeflow.graph.build.placeholders",
    "placeholder_with_default": "tapeflow.graph.build.placeholders",
    "report_uninitialized_variables": "tapeflow.graph.build.variables",
    "reset_default_graph": "tapeflow.graph.graph",
    "trainable_variables": "tapeflow.graph.build.collections",
    "variables_initializer": "tapeflow.graph.build.variables",
    "wrap_function": "tapeflow.function.wrapping",
    "AUTO_REUSE": "tapeflow.v1.variable_scoping",
    "AggregationMethod": "tapeflow.autodiff.aggregation",
    "Module": "tapeflow.core.tracking.module",
    "NoGradient": "tapeflow.v1.gradient_registry",
    "NotDifferentiable": "tapeflow.v1.gradient_registry",
    "VariableScope": "tapeflow.v1.variable_scoping",
    "argsort": "tapeflow.ops.math.sorting",
    "assign": "tapeflow.ops.state.assignment",
    "assign_add": "tapeflow.ops.state.assignment",
    "assign_sub": "tapeflow.ops.state.assignment",
    "decode_csv": "tapeflow.compat.v1.io",
    "decode_json_example": "tapeflow.compat.v1.io",
    "decode_raw": "tapeflow.compat.v1.io",
    "extract_image_patches": "tapeflow.compat.v1.image",
    "fft": "tapeflow.ops.signal.spectral",
    "fft2d": "tapeflow.ops.signal.spectral",
    "fft3d": "tapeflow.ops.signal.spectral",
    "get_local_variable": "tapeflow.v1.variable_getting",
    "get_static_value": "tapeflow.ops.static",
    "get_variable": "tapeflow.v1.variable_getting",
    "get_variable_scope": "tapeflow.v1.variable_scoping",
    "ifft": "tapeflow.ops.signal.spectral",
    "ifft2d": "tapeflow.ops.signal.spectral",
    "ifft3d": "tapeflow.ops.signal.spectral",
    "make_ndarray": "tapeflow.core.files.tensor_proto",
    "make_tensor_proto": "tapeflow.core.files.tensor_proto",
    "matching_files": "tapeflow.ops.io.file",
    "nondifferentiable_batch_function": "tapeflow.function.batching",
    "no_gradient": "tapeflow.v1.gradient_registry",
    "no_regularizer": "tapeflow.v1.variable_getting",
    "parse_tensor": "tapeflow.ops.io.raw_bytes",
    "read_file": "tapeflow.ops.io.file",
    "CriticalSection": "tapeflow.ops.state.critical_section",
    "delete_session_tensor": "tapeflow.graph.run.session_handles",
    "get_session_handle": "tapeflow.graph.run.session_handles",
    "get_session_tensor": "tapeflow.graph.run.session_handles",
    "FixedLengthRecordReader": "tapeflow.ops.queue.reader",
    "IdentityReader": "tapeflow.ops.queue.reader",
    "LMDBReader": "tapeflow.ops.queue.reader",
    "ReaderBase": "tapeflow.ops.queue.reader",
    "TFRecordReader": "tapeflow.ops.queue.reader",
    "TextLineReader": "tapeflow.ops.queue.reader",
    "WholeFileReader": "tapeflow.ops.queue.reader",
    "ConditionalAccumulator": "tapeflow.ops.queue.accumulator",
    "ConditionalAccumulatorBase": "tapeflow.ops.queue.accumulator",
    "SparseConditionalAccumulator": "tapeflow.ops.queue.accumulator",
    "FIFOQueue": "tapeflow.ops.queue.queues",
    "PaddingFIFOQueue": "tapeflow.ops.queue.queues",
    "PriorityQueue": "tapeflow.ops.queue.queues",
    "QueueBase": "tapeflow.ops.queue.queues",
    "RandomShuffleQueue": "tapeflow.ops.queue.queues",
    "serialize_tensor": "tapeflow.ops.io.raw_bytes",
    "sort": "tapeflow.ops.math.sorting",
    "RaggedTensor": "tapeflow.ops.ragged.math",
    "RaggedTensorSpec": "tapeflow.ops.ragged.tensor",
    "SparseTensor": "tapeflow.v1.sparse_names",
    "SparseTensorSpec": "tapeflow.core.sparse_tensor",
    "SparseTensorValue": "tapeflow.v1.sparse_names",
    "sparse_add": "tapeflow.v1.sparse_names",
    "sparse_concat": "tapeflow.v1.sparse_names",
    "sparse_fill_empty_rows": "tapeflow.v1.sparse_names",
    "sparse_mask": "tapeflow.v1.sparse_names",
    "sparse_maximum": "tapeflow.v1.sparse_names",
    "sparse_merge": "tapeflow.v1.sparse_names",
    "sparse_minimum": "tapeflow.v1.sparse_names",
    "sparse_placeholder": "tapeflow.v1.sparse_names",
    "sparse_reduce_max": "tapeflow.v1.sparse_names",
    "sparse_reduce_max_sparse": "tapeflow.v1.sparse_names",
    "sparse_reduce_sum": "tapeflow.v1.sparse_names",
    "sparse_reduce_sum_sparse": "tapeflow.v1.sparse_names",
    "sparse_reorder": "tapeflow.v1.sparse_names",
    "sparse_reset_shape": "tapeflow.v1.sparse_names",
    "sparse_reshape": "tapeflow.v1.sparse_names",
    "sparse_retain": "tapeflow.v1.sparse_names",
    "sparse_slice": "tapeflow.v1.sparse_names",
    "sparse_softmax": "tapeflow.v1.sparse_names",
    "sparse_split": "tapeflow.v1.sparse_names",
    "sparse_tensor_dense_matmul": "tapeflow.v1.sparse_names",
    "sparse_tensor_to_dense": "tapeflow.v1.sparse_names",
    "sparse_to_dense": "tapeflow.v1.sparse_names",
    "sparse_to_indicator": "tapeflow.v1.sparse_names",
    "sparse_transpose": "tapeflow.v1.sparse_names",
    "tables_initializer": "tapeflow.ops.lookup.tables",
    "batch_scatter_update": "tapeflow.ops.state.variable_scatter",
    "inside_function": "tapeflow.graph.func_graph",
    "convert_to_tensor_or_indexed_slices": "tapeflow.v1.conversions",
    "convert_to_tensor_or_sparse_tensor": "tapeflow.v1.conversions",
    "create_partitioned_variables": "tapeflow.v1.partitioned",
    "get_logger": "tapeflow.core.log",
    "timestamp": "tapeflow.ops.control.timestamp",
    "add_check_numerics_ops": "tapeflow.v1.numeric_checks",
    "FixedLenFeature": "tapeflow.compat.v1.io",
    "FixedLenSequenceFeature": "tapeflow.compat.v1.io",
    "RaggedFeature": "tapeflow.compat.v1.io",
    "SparseFeature": "tapeflow.compat.v1.io",
    "VarLenFeature": "tapeflow.compat.v1.io",
    "parse_example": "tapeflow.compat.v1.io",
    "parse_sequence_example": "tapeflow.compat.v1.io",
    "parse_single_example": "tapeflow.compat.v1.io",
    "parse_single_sequence_example": "tapeflow.compat.v1.io",
    "fake_quant_with_min_max_args": "tapeflow.quantization",
    "fake_quant_with_min_max_args_gradient": "tapeflow.quantization",
    "fake_quant_with_min_max_vars": "tapeflow.quantization",
    "fake_quant_with_min_max_vars_gradient": "tapeflow.quantization",
    "fake_quant_with_min_max_vars_per_channel": "tapeflow.quantization",
    "fake_quant_with_min_max_vars_per_channel_gradient": "tapeflow.quantization",
    "variable_op_scope": "tapeflow.v1.variable_scoping",
    "variable_scope": "tapeflow.v1.variable_scoping",
    "write_file": "tapeflow.ops.io.file",
}
_MESSAGES = {
    "AttrValue", "ConfigProto", "Event", "GPUOptions", "GraphDef", "GraphOptions", "HistogramProto",
    "LogMessage", "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions", "RunMetadata",
    "RunOptions", "SessionLog", "Summary", "SummaryMetadata", "TensorInfo",
}  # fmt: skip
_INITIALIZERS = {
    "constant_initializer",
    "glorot_normal_initializer",
    "glorot_uniform_initializer",
    "ones_initializer",
    "orthogonal_initializer",
    "random_normal_initializer",
    "random_uniform_initializer",
    "truncated_normal_initializer",
    "uniform_unit_scaling_initializer",
    "variance_scaling_initializer",
    "zeros_initializer",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY_PACKAGES:
        value = importlib.import_module(_LAZY_PACKAGES[name])
    elif name in _LAZY_NAMES:
        module, _, attribute = _LAZY_NAMES[name].partition(":")
        value = getattr(importlib.import_module(module), attribute or name)
    elif name in _MESSAGES:
        value = getattr(importlib.import_module("tapeflow.protos"), name)
    elif name in _INITIALIZERS:
        value = getattr(importlib.import_module("tapeflow.v1.initializers"), name)
    else:
        raise AttributeError(f"module 'tapeflow.compat.v1' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY_PACKAGES, *_LAZY_NAMES, *_MESSAGES, *_INITIALIZERS})


__all__ = [
    "Assert", "DType", "DeviceSpec", "Dimension", "GradientTape", "IndexedSlices", "IndexedSlicesSpec", "OpError",
    "Print", "QUANTIZED_DTYPES", "Tensor", "TensorArray", "TensorArraySpec", "TensorShape", "TensorSpec",
    "TypeSpec", "UnconnectedGradients", "Variable", "VariableAggregation", "VariableSynchronization", "abs",
    "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "approx_top_k", "arg_max", "arg_min", "argmax",
    "argmin", "as_dtype", "as_string", "asin", "asinh", "assert_equal", "assert_greater", "assert_greater_equal",
    "assert_integer", "assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank",
    "assert_rank_at_least", "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_type", "atan",
    "atan2", "atanh", "autodiff", "batch_gather", "batch_to_space", "batch_to_space_nd", "betainc", "bfloat16",
    "bincount", "bitcast", "bitwise", "bool", "boolean_mask", "broadcast_dynamic_shape", "broadcast_static_shape",
    "broadcast_to", "case", "cast", "ceil", "check_numerics", "cholesky", "cholesky_solve", "clip_by_average_norm",
    "clip_by_global_norm", "clip_by_norm", "clip_by_value", "complex", "complex128", "complex64", "concat", "cond",
    "config", "confusion_matrix", "conj", "constant", "control_dependencies", "conv", "conv2d_backprop_filter_v2",
    "conv2d_backprop_input_v2", "convert_to_tensor", "cos", "cosh", "count_nonzero", "cross", "cumprod", "cumsum",
    "custom_gradient", "debugging", "decode_base64", "depth_to_space", "device", "diag", "diag_part", "digamma",
    "dimension_at_index", "dimension_value", "disable_eager_execution", "disable_tensor_equality",
    "disable_v2_behavior", "disable_v2_tensorshape", "div", "div_no_nan", "divide", "double", "dtypes",
    "dynamic_partition", "dynamic_stitch", "edit_distance", "einsum", "enable_eager_execution",
    "enable_tensor_equality", "enable_v2_behavior", "enable_v2_tensorshape", "encode_base64", "ensure_shape",
    "equal", "erf", "erfc", "errors", "executing_eagerly", "exp", "expand_dims", "expm1", "extract_volume_patches",
    "eye", "fftnd", "fill", "float16", "float32", "float64", "floor", "floor_div", "floordiv", "floormod", "foldl",
    "foldr", "gather", "gather_nd", "get_seed", "global_norm", "grad_pass_through", "greater", "greater_equal",
    "group", "guarantee_const", "half", "histogram_fixed_width", "histogram_fixed_width_bins", "identity",
    "identity_n", "ifftnd", "igamma", "igammac", "imag", "init_scope", "int16", "int32", "int64", "int8",
    "invert_permutation", "irfftnd", "is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing", "is_symbolic_tensor", "is_tensor", "lbeta", "less", "less_equal", "lgamma",
    "lin_space", "linalg", "linspace", "log", "log1p", "log_sigmoid", "logical_and", "logical_not", "logical_or",
    "logical_xor", "map_fn", "math", "matmul", "matrix_band_part", "matrix_determinant", "matrix_diag",
    "matrix_diag_part", "matrix_inverse", "matrix_set_diag", "matrix_solve", "matrix_solve_ls",
    "matrix_square_root", "matrix_transpose", "matrix_triangular_solve", "maximum", "meshgrid", "minimum", "mod",
    "multinomial", "multiply", "name_scope", "negative", "newaxis", "nn", "no_op", "norm", "not_equal",
    "numpy_function", "one_hot", "ones", "ones_like", "pad", "parallel_stack", "polygamma", "pow", "print",
    "py_func", "py_function", "qint16", "qint32", "qint8", "qr", "quint16", "quint8", "random", "random_crop",
    "random_gamma", "random_index_shuffle", "random_normal", "random_poisson", "random_shuffle", "random_uniform",
    "range", "rank", "real", "realdiv", "reciprocal", "recompute_grad", "reduce_all", "reduce_any", "reduce_join",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "regex_replace",
    "register_tensor_conversion_function", "repeat", "required_space_to_batch_paddings", "reshape", "resource",
    "reverse", "reverse_sequence", "reverse_v2", "rfftnd", "rint", "roll", "round", "rsqrt", "saturate_cast",
    "scalar_mul", "scan", "scatter_add", "scatter_div", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd",
    "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update", "searchsorted",
    "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum", "self_adjoint_eig",
    "self_adjoint_eigvals", "sequence_mask", "set_random_seed", "setdiff1d", "shape", "shape_n", "sigmoid", "sign",
    "sin", "sinh", "size", "slice", "space_to_batch", "space_to_batch_nd", "space_to_depth", "sparse_matmul",
    "sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum", "split", "sqrt", "square",
    "squared_difference", "squeeze", "stack", "stop_gradient", "strided_slice", "string", "string_join",
    "string_strip", "string_to_hash_bucket_fast", "string_to_number", "strings", "substr", "subtract", "svd",
    "switch_case", "tan", "tanh", "tensor_scatter_add", "tensor_scatter_nd_add", "tensor_scatter_nd_max",
    "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "tensor_scatter_sub",
    "tensor_scatter_update", "tensordot", "tile", "to_bfloat16", "to_complex128", "to_complex64", "to_double",
    "to_float", "to_int32", "to_int64", "trace", "transpose", "truediv", "truncated_normal", "truncatediv",
    "truncatemod", "tuple", "type_spec_from_value", "types", "uint16", "uint32", "uint64", "uint8", "unique",
    "unique_with_counts", "unravel_index", "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum", "unstack", "variant",
    "vectorized_map", "verify_tensor_all_finite", "version", "where", "where_v2", "while_loop", "zeros",
    "zeros_like", "zeta",
]  # fmt: skip
