"""tapeflow: TensorFlow's eager execution, `import tapeflow as tf`.

The names of TensorFlow 2.x; those of 1.x are in `tf.compat.v1`. Rooms that `import tapeflow` need not
load, such as `tf.keras`, are loaded when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tapeflow.core import openmp  # before the native core loads OpenMP

# isort: split
from tapeflow import autodiff, dtypes, errors, nest, version
from tapeflow._native import Tensor
from tapeflow.autodiff.aggregation import AggregationMethod
from tapeflow.autodiff.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from tapeflow.autodiff.tape import GradientTape, UnconnectedGradients
from tapeflow.core import device as _placement
from tapeflow.core import namespaces as _namespaces
from tapeflow.core.context import (
    device,
    executing_eagerly,
    get_current_name_scope,
    init_scope,
    name_scope,
)
from tapeflow.core.convert import (
    constant,
    convert_to_tensor,
    is_symbolic_tensor,
    is_tensor,
    register_tensor_conversion_function,
)
from tapeflow.core.device import DeviceSpec
from tapeflow.core.dtypes import (
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
from tapeflow.core.indexed_slices import IndexedSlices, IndexedSlicesSpec
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.specs.type_specs import type_spec_from_value
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.tracking.module import Module
from tapeflow.ops import operators as _operators
from tapeflow.ops import table as _table
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
    ones_like,
    range,
    sequence_mask,
    zeros,
    zeros_like,
)
from tapeflow.ops.array.gather import boolean_mask, gather, gather_nd
from tapeflow.ops.array.joining import concat, parallel_stack, split, stack, unstack
from tapeflow.ops.array.layout import bitcast, expand_dims, reshape, squeeze, transpose
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.partition import dynamic_partition, dynamic_stitch
from tapeflow.ops.array.reorder import reverse, reverse_sequence, roll
from tapeflow.ops.array.rows import (
    ensure_shape,
    guarantee_const,
    identity,
    identity_n,
    rank,
    shape,
    shape_n,
    size,
    stop_gradient,
)
from tapeflow.ops.array.scatter import (
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from tapeflow.ops.array.selection import searchsorted, unique, unique_with_counts
from tapeflow.ops.array.slicing import slice_ as slice
from tapeflow.ops.array.slicing import strided_slice
from tapeflow.ops.array.spatial import (
    batch_to_space,
    required_space_to_batch_paddings,
    space_to_batch_nd,
)
from tapeflow.ops.array.spatial import space_to_batch_nd as space_to_batch
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.array.unravel import unravel_index
from tapeflow.ops.control.assertions import (
    Assert,
    assert_equal,
    assert_greater,
    assert_less,
    assert_rank,
)
from tapeflow.ops.control.flow import (
    case,
    cond,
    control_dependencies,
    group,
    no_op,
    numpy_function,
    py_function,
    switch_case,
    while_loop,
)
from tapeflow.ops.control.flow import tuple_ as tuple
from tapeflow.ops.control.mapping import foldl, foldr, map_fn, scan
from tapeflow.ops.control.printing import print_ as print
from tapeflow.ops.linalg.decomposition import eig, eigvals
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.linalg.matmul import matmul, tensordot
from tapeflow.ops.linalg.matrix_function import norm
from tapeflow.ops.linalg.matrix_function import sqrtm as matrix_square_root
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.lists.tensor_array_spec import TensorArraySpec
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.argmax import argmax, argmin
from tapeflow.ops.math.arithmetic import (
    add,
    divide,
    maximum,
    minimum,
    multiply,
    pow,
    realdiv,
    scalar_mul,
    subtract,
    truediv,
    truncatediv,
    truncatemod,
)
from tapeflow.ops.math.casting import cast, saturate_cast
from tapeflow.ops.math.clip import clip_by_global_norm, clip_by_norm, clip_by_value
from tapeflow.ops.math.comparison import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
    where,
)
from tapeflow.ops.math.complex_numbers import complex
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.elementwise import abs, exp, floor, negative, round, sign, sqrt, square
from tapeflow.ops.math.histogram import histogram_fixed_width, histogram_fixed_width_bins
from tapeflow.ops.math.reduction import (
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
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
    sigmoid,
    sin,
    sinh,
    tan,
    tanh,
)
from tapeflow.ops.state.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    variable_creator_scope,
)
from tapeflow.ops.static import get_static_value
from tapeflow.ops.string.numbers import as_string

__version__ = "0.1.0"
__git_version__, __compiler_version__ = version.GIT_VERSION, version.COMPILER_VERSION

newaxis = None

if TYPE_CHECKING:
    from tapeflow import (
        bitwise,
        compat,
        config,
        contrib,
        data,
        debugging,
        experimental,
        keras,
        layers,
        linalg,
        math,
        nn,
        random,
        raw_ops,
        signal,
        strings,
        summary,
        test,
        train,
        types,
    )
    from tapeflow.keras import initializers, losses, metrics, optimizers

# Rooms and names that are loaded when they are first used, with the modules that hold them.
_LAZY_PACKAGES = {
    "__internal__": "tapeflow.__internal__",
    "__operators__": "tapeflow.__operators__",
    "audio": "tapeflow.audio",
    "autograph": "tapeflow.autograph",
    "bitwise": "tapeflow.bitwise",
    "compat": "tapeflow.compat",
    "config": "tapeflow.config",
    "contrib": "tapeflow.contrib",
    "data": "tapeflow.data",
    "debugging": "tapeflow.debugging",
    "distribute": "tapeflow.distribute",
    "estimator": "tapeflow.estimator",
    "experimental": "tapeflow.experimental",
    "feature_column": "tapeflow.feature_column",
    "graph_util": "tapeflow.graph_util",
    "image": "tapeflow.image",
    "initializers": "tapeflow.keras.initializers",
    "io": "tapeflow.io",
    "keras": "tapeflow.keras",
    "layers": "tapeflow.layers",
    "linalg": "tapeflow.linalg",
    "lite": "tapeflow.lite",
    "lookup": "tapeflow.lookup",
    "losses": "tapeflow.keras.losses",
    "math": "tapeflow.math",
    "metrics": "tapeflow.keras.metrics",
    "nn": "tapeflow.nn",
    "optimizers": "tapeflow.keras.optimizers",
    "profiler": "tapeflow.profiler",
    "quantization": "tapeflow.quantization",
    "queue": "tapeflow.queue",
    "ragged": "tapeflow.ragged",
    "random": "tapeflow.random",
    "raw_ops": "tapeflow.raw_ops",
    "sets": "tapeflow.sets",
    "signal": "tapeflow.signal",
    "sparse": "tapeflow.sparse",
    "strings": "tapeflow.strings",
    "saved_model": "tapeflow.saved_model",
    "summary": "tapeflow.summary",
    "sysconfig": "tapeflow.sysconfig",
    "test": "tapeflow.test",
    "tpu": "tapeflow.tpu",
    "train": "tapeflow.train",
    "types": "tapeflow.types",
    "xla": "tapeflow.xla",
}
_LAZY_NAMES = {
    "inside_function": ("tapeflow.graph.func_graph", "inside_function"),
    "approx_top_k": ("tapeflow.ops.math.approximate_top_k", "approx_top_k"),
    "conv": ("tapeflow.ops.convolution.any_rank", "conv"),
    "conv2d_backprop_filter_v2": ("tapeflow.ops.convolution.any_rank", "conv2d_backprop_filter_v2"),
    "conv2d_backprop_input_v2": ("tapeflow.ops.convolution.any_rank", "conv2d_backprop_input_v2"),
    "edit_distance": ("tapeflow.ops.string.edit_distance", "edit_distance"),
    "extract_volume_patches": ("tapeflow.ops.array.volume_patches", "extract_volume_patches"),
    "fftnd": ("tapeflow.ops.signal.spectral_nd", "raw_fftnd"),
    "ifftnd": ("tapeflow.ops.signal.spectral_nd", "raw_ifftnd"),
    "irfftnd": ("tapeflow.ops.signal.spectral_nd", "raw_irfftnd"),
    "random_index_shuffle": ("tapeflow.ops.random.index_shuffle", "random_index_shuffle"),
    "rfftnd": ("tapeflow.ops.signal.spectral_nd", "raw_rfftnd"),
    "ragged_fill_empty_rows": ("tapeflow.ops.ragged.rows", "ragged_fill_empty_rows"),
    "ragged_fill_empty_rows_grad": ("tapeflow.ops.ragged.rows", "ragged_fill_empty_rows_grad"),
    "NoneTensorSpec": ("tapeflow.core.specs.none_spec", "NoneTensorSpec"),
    "OptionalSpec": ("tapeflow.data.optional", "OptionalSpec"),
    "fingerprint": ("tapeflow.ops.string.fingerprint", "fingerprint"),
    "RaggedTensor": ("tapeflow.ops.ragged.math", "RaggedTensor"),
    "CriticalSection": ("tapeflow.ops.state.critical_section", "CriticalSection"),
    "RaggedTensorSpec": ("tapeflow.ops.ragged.math", "RaggedTensorSpec"),
    "SparseTensor": ("tapeflow.core.sparse_tensor", "SparseTensor"),
    "SparseTensorSpec": ("tapeflow.core.sparse_tensor", "SparseTensorSpec"),
    "Graph": ("tapeflow.graph.graph", "Graph"),
    "gradients": ("tapeflow.graph.build.derivatives", "gradients"),
    "hessians": ("tapeflow.graph.build.derivatives", "hessians"),
    "Operation": ("tapeflow.graph.operation", "Operation"),
    "function": ("tapeflow.function.function", "function"),
    "nondifferentiable_batch_function": ("tapeflow.function.batching", "nondifferentiable_batch_function"),
    "argsort": ("tapeflow.ops.math.sorting", "argsort"),
    "constant_initializer": ("tapeflow.keras.initializers", "Constant"),
    "get_logger": ("tapeflow.core.log", "get_logger"),
    "import_graph_def": ("tapeflow.graph.interchange.importing", "import_graph_def"),
    "make_ndarray": ("tapeflow.core.files.tensor_proto", "make_ndarray"),
    "make_tensor_proto": ("tapeflow.core.files.tensor_proto", "make_tensor_proto"),
    "RegisterGradient": ("tapeflow.v1.gradient_registry", "RegisterGradient"),
    "no_gradient": ("tapeflow.v1.gradient_registry", "no_gradient"),
    "ones_initializer": ("tapeflow.keras.initializers", "Ones"),
    "random_normal_initializer": ("tapeflow.keras.initializers", "random_normal_initializer"),
    "random_uniform_initializer": ("tapeflow.keras.initializers", "random_uniform_initializer"),
    "sort": ("tapeflow.ops.math.sorting", "sort"),
    "vectorized_map": ("tapeflow.autodiff.vectorized_map", "vectorized_map"),
    "timestamp": ("tapeflow.ops.control.timestamp", "timestamp"),
    "zeros_initializer": ("tapeflow.keras.initializers", "Zeros"),
    "install_as_tensorflow": ("tapeflow.alias", "install_as_tensorflow"),
}


def _find_accelerators() -> None:
    importlib.import_module("tapeflow.xla.accelerators").add()


_placement.on_first_look(_find_accelerators)


def _load_node_rows() -> None:
    for module in ("tapeflow.data.nodes.value_nodes", "tapeflow.testing.test_ops"):
        importlib.import_module(module)


_table.node_sources.append(_load_node_rows)


def __getattr__(name: str) -> Any:
    if name in _LAZY_PACKAGES:
        value = importlib.import_module(_LAZY_PACKAGES[name])
    elif name in _LAZY_NAMES:
        module, attribute = _LAZY_NAMES[name]
        value = getattr(importlib.import_module(module), attribute)
    else:
        raise AttributeError(f"module 'tapeflow' has no attribute {name!r}")
    globals()[name] = value
    return value


def _explain(module: Any, name: str) -> str:
    from tapeflow.alias import missing  # here, as programs without errors do not need it

    return missing.explain_here(module, name)


_namespaces.explain_missing_names(_explain)


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY_PACKAGES, *_LAZY_NAMES, "__version__"})


__all__ = [
    "AggregationMethod", "Assert", "DType", "DeviceSpec", "GradientTape", "IndexedSlices", "IndexedSlicesSpec",
    "Module", "Tensor", "TensorArray", "TensorArraySpec", "TensorShape", "TensorSpec", "TypeSpec",
    "UnconnectedGradients", "Variable", "VariableAggregation", "VariableSynchronization", "abs", "acos", "acosh",
    "add", "add_n", "approx_top_k", "argmax", "argmin", "as_dtype", "as_string", "asin", "asinh", "assert_equal",
    "assert_greater", "assert_less", "assert_rank", "atan", "atan2", "atanh", "autodiff", "batch_to_space",
    "bfloat16", "bitcast", "bitwise", "bool", "boolean_mask", "broadcast_dynamic_shape", "broadcast_static_shape",
    "broadcast_to", "case", "cast", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "complex", "complex128",
    "complex64", "concat", "cond", "config", "constant", "control_dependencies", "conv",
    "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2", "convert_to_tensor", "cos", "cosh", "cumsum",
    "custom_gradient", "debugging", "device", "divide", "double", "dtypes", "dynamic_partition", "dynamic_stitch",
    "edit_distance", "eig", "eigvals", "einsum", "ensure_shape", "equal", "errors", "executing_eagerly", "exp",
    "expand_dims", "experimental", "extract_volume_patches", "eye", "fftnd", "fill", "float16", "float32",
    "float64", "floor", "foldl", "foldr", "gather", "gather_nd", "get_current_name_scope", "get_static_value",
    "grad_pass_through", "greater", "greater_equal", "group", "guarantee_const", "half", "histogram_fixed_width",
    "histogram_fixed_width_bins", "identity", "identity_n", "ifftnd", "init_scope", "int16", "int32", "int64",
    "int8", "irfftnd", "is_symbolic_tensor", "is_tensor", "less", "less_equal", "linalg", "linspace", "logical_and",
    "logical_not", "logical_or", "map_fn", "math", "matmul", "matrix_square_root", "maximum", "meshgrid", "minimum",
    "multiply", "name_scope", "negative", "nest", "newaxis", "nn", "no_op", "norm", "not_equal", "numpy_function",
    "one_hot", "ones", "ones_like", "pad", "parallel_stack", "pow", "print", "py_function", "qint16", "qint32",
    "qint8", "quint16", "quint8", "random", "random_index_shuffle", "range", "rank", "realdiv", "recompute_grad",
    "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum", "register_tensor_conversion_function", "repeat", "required_space_to_batch_paddings", "reshape",
    "resource", "reverse", "reverse_sequence", "rfftnd", "roll", "round", "saturate_cast", "scalar_mul", "scan",
    "scatter_nd", "searchsorted", "sequence_mask", "shape", "shape_n", "sigmoid", "sign", "sin", "sinh", "size",
    "slice", "space_to_batch", "space_to_batch_nd", "split", "sqrt", "square", "squeeze", "stack", "stop_gradient",
    "strided_slice", "string", "strings", "subtract", "switch_case", "tan", "tanh", "tensor_scatter_nd_add",
    "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update",
    "tensordot", "test", "tile", "transpose", "truediv", "truncatediv", "truncatemod", "tuple",
    "type_spec_from_value", "types", "uint16", "uint32", "uint64", "uint8", "unique", "unique_with_counts",
    "unravel_index", "unstack", "variable_creator_scope", "variant", "version", "where",
    "while_loop", "zeros", "zeros_like",
]  # fmt: skip
