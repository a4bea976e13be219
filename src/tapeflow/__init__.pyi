# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow import __internal__ as __internal__
from tapeflow import __operators__ as __operators__
from tapeflow import audio as audio
from tapeflow import autodiff as autodiff
from tapeflow import autograph as autograph
from tapeflow import bitwise as bitwise
from tapeflow import compat as compat
from tapeflow import config as config
from tapeflow import contrib as contrib
from tapeflow import data as data
from tapeflow import debugging as debugging
from tapeflow import distribute as distribute
from tapeflow import dtypes as dtypes
from tapeflow import errors as errors
from tapeflow import estimator as estimator
from tapeflow import experimental as experimental
from tapeflow import feature_column as feature_column
from tapeflow import graph_util as graph_util
from tapeflow import image as image
from tapeflow import io as io
from tapeflow import keras as keras
from tapeflow import layers as layers
from tapeflow import linalg as linalg
from tapeflow import lite as lite
from tapeflow import lookup as lookup
from tapeflow import math as math
from tapeflow import nest as nest
from tapeflow import nn as nn
from tapeflow import profiler as profiler
from tapeflow import quantization as quantization
from tapeflow import queue as queue
from tapeflow import ragged as ragged
from tapeflow import random as random
from tapeflow import raw_ops as raw_ops
from tapeflow import saved_model as saved_model
from tapeflow import sets as sets
from tapeflow import signal as signal
from tapeflow import sparse as sparse
from tapeflow import strings as strings
from tapeflow import summary as summary
from tapeflow import sysconfig as sysconfig
from tapeflow import test as test
from tapeflow import tpu as tpu
from tapeflow import train as train
from tapeflow import types as types
from tapeflow import version as version
from tapeflow import xla as xla
from tapeflow.alias import install_as_tensorflow as install_as_tensorflow
from tapeflow.autodiff.aggregation import AggregationMethod as AggregationMethod
from tapeflow.autodiff.custom_gradient import custom_gradient as custom_gradient
from tapeflow.autodiff.custom_gradient import grad_pass_through as grad_pass_through
from tapeflow.autodiff.custom_gradient import recompute_grad as recompute_grad
from tapeflow.autodiff.tape import GradientTape as GradientTape
from tapeflow.autodiff.vectorized_map import vectorized_map as vectorized_map
from tapeflow.core.binding import Tensor as Tensor
from tapeflow.core.context import device as device
from tapeflow.core.context import executing_eagerly as executing_eagerly
from tapeflow.core.context import get_current_name_scope as get_current_name_scope
from tapeflow.core.context import init_scope as init_scope
from tapeflow.core.context import name_scope as name_scope
from tapeflow.core.convert import constant as constant
from tapeflow.core.convert import convert_to_tensor as convert_to_tensor
from tapeflow.core.convert import is_symbolic_tensor as is_symbolic_tensor
from tapeflow.core.convert import is_tensor as is_tensor
from tapeflow.core.convert import register_tensor_conversion_function as register_tensor_conversion_function
from tapeflow.core.device import DeviceSpec as DeviceSpec
from tapeflow.core.dtypes import DType as DType
from tapeflow.core.dtypes import as_dtype as as_dtype
from tapeflow.core.dtypes import bfloat16 as bfloat16
from tapeflow.core.dtypes import bool as bool
from tapeflow.core.dtypes import complex128 as complex128
from tapeflow.core.dtypes import complex64 as complex64
from tapeflow.core.dtypes import double as double
from tapeflow.core.dtypes import float16 as float16
from tapeflow.core.dtypes import float32 as float32
from tapeflow.core.dtypes import float64 as float64
from tapeflow.core.dtypes import half as half
from tapeflow.core.dtypes import int16 as int16
from tapeflow.core.dtypes import int32 as int32
from tapeflow.core.dtypes import int64 as int64
from tapeflow.core.dtypes import int8 as int8
from tapeflow.core.dtypes import qint16 as qint16
from tapeflow.core.dtypes import qint32 as qint32
from tapeflow.core.dtypes import qint8 as qint8
from tapeflow.core.dtypes import quint16 as quint16
from tapeflow.core.dtypes import quint8 as quint8
from tapeflow.core.dtypes import resource as resource
from tapeflow.core.dtypes import string as string
from tapeflow.core.dtypes import uint16 as uint16
from tapeflow.core.dtypes import uint32 as uint32
from tapeflow.core.dtypes import uint64 as uint64
from tapeflow.core.dtypes import uint8 as uint8
from tapeflow.core.dtypes import variant as variant
from tapeflow.core.files.libraries import load_library as load_library
from tapeflow.core.files.libraries import load_op_library as load_op_library
from tapeflow.core.files.tensor_proto import make_ndarray as make_ndarray
from tapeflow.core.files.tensor_proto import make_tensor_proto as make_tensor_proto
from tapeflow.core.indexed_slices import IndexedSlices as IndexedSlices
from tapeflow.core.indexed_slices import IndexedSlicesSpec as IndexedSlicesSpec
from tapeflow.core.log import get_logger as get_logger
from tapeflow.core.release import COMPILER_VERSION as __compiler_version__
from tapeflow.core.release import GIT_VERSION as __git_version__
from tapeflow.core.release import VERSION as __version__
from tapeflow.core.sparse_tensor import SparseTensor as SparseTensor
from tapeflow.core.sparse_tensor import SparseTensorSpec as SparseTensorSpec
from tapeflow.core.specs.none_spec import NoneTensorSpec as NoneTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec as TensorSpec
from tapeflow.core.specs.tensor_spec import TypeSpec as TypeSpec
from tapeflow.core.specs.type_specs import type_spec_from_value as type_spec_from_value
from tapeflow.core.tensor_shape import TensorShape as TensorShape
from tapeflow.core.tracking.module import Module as Module
from tapeflow.data.optional import OptionalSpec as OptionalSpec
from tapeflow.function.batching import nondifferentiable_batch_function as nondifferentiable_batch_function
from tapeflow.function.function import function as function
from tapeflow.graph.build.derivatives import gradients as gradients
from tapeflow.graph.build.derivatives import hessians as hessians
from tapeflow.graph.func_graph import inside_function as inside_function
from tapeflow.graph.graph import Graph as Graph
from tapeflow.graph.interchange.importing import import_graph_def as import_graph_def
from tapeflow.graph.operation import Operation as Operation
from tapeflow.keras import initializers as initializers
from tapeflow.keras import losses as losses
from tapeflow.keras import metrics as metrics
from tapeflow.keras import optimizers as optimizers
from tapeflow.keras.initializers import Constant as constant_initializer
from tapeflow.keras.initializers import Ones as ones_initializer
from tapeflow.keras.initializers import Zeros as zeros_initializer
from tapeflow.keras.redrawing_initializers import RandomNormal as random_normal_initializer
from tapeflow.keras.redrawing_initializers import RandomUniform as random_uniform_initializer
from tapeflow.ops.array.bitcast import bitcast as bitcast
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape as broadcast_dynamic_shape
from tapeflow.ops.array.broadcasting import broadcast_static_shape as broadcast_static_shape
from tapeflow.ops.array.broadcasting import broadcast_to as broadcast_to
from tapeflow.ops.array.construction import fill as fill
from tapeflow.ops.array.construction import ones as ones
from tapeflow.ops.array.construction import ones_like as ones_like
from tapeflow.ops.array.construction import zeros as zeros
from tapeflow.ops.array.construction import zeros_like as zeros_like
from tapeflow.ops.array.joining import concat as concat
from tapeflow.ops.array.joining import split as split
from tapeflow.ops.array.layout import expand_dims as expand_dims
from tapeflow.ops.array.layout import reshape as reshape
from tapeflow.ops.array.layout import squeeze as squeeze
from tapeflow.ops.array.one_hot import one_hot as one_hot
from tapeflow.ops.array.one_hot import sequence_mask as sequence_mask
from tapeflow.ops.array.padding import pad as pad
from tapeflow.ops.array.ranges import linspace as linspace
from tapeflow.ops.array.ranges import meshgrid as meshgrid
from tapeflow.ops.array.ranges import range as range
from tapeflow.ops.array.reorder import reverse as reverse
from tapeflow.ops.array.reorder import reverse_sequence as reverse_sequence
from tapeflow.ops.array.reorder import roll as roll
from tapeflow.ops.array.rows import ensure_shape as ensure_shape
from tapeflow.ops.array.rows import guarantee_const as guarantee_const
from tapeflow.ops.array.rows import identity as identity
from tapeflow.ops.array.rows import identity_n as identity_n
from tapeflow.ops.array.rows import stop_gradient as stop_gradient
from tapeflow.ops.array.sizes import rank as rank
from tapeflow.ops.array.sizes import shape as shape
from tapeflow.ops.array.sizes import shape_n as shape_n
from tapeflow.ops.array.sizes import size as size
from tapeflow.ops.array.spatial import batch_to_space as batch_to_space
from tapeflow.ops.array.spatial import required_space_to_batch_paddings as required_space_to_batch_paddings
from tapeflow.ops.array.spatial import space_to_batch_nd as space_to_batch
from tapeflow.ops.array.spatial import space_to_batch_nd as space_to_batch_nd
from tapeflow.ops.array.stacking import parallel_stack as parallel_stack
from tapeflow.ops.array.stacking import stack as stack
from tapeflow.ops.array.stacking import unstack as unstack
from tapeflow.ops.array.tensor_diagonal import eye as eye
from tapeflow.ops.array.tiling import repeat as repeat
from tapeflow.ops.array.tiling import tile as tile
from tapeflow.ops.array.transposing import transpose as transpose
from tapeflow.ops.array.volume_patches import extract_volume_patches as extract_volume_patches
from tapeflow.ops.control.assert_op import Assert as Assert
from tapeflow.ops.control.assertions import assert_equal as assert_equal
from tapeflow.ops.control.assertions import assert_greater as assert_greater
from tapeflow.ops.control.assertions import assert_less as assert_less
from tapeflow.ops.control.flow import case as case
from tapeflow.ops.control.flow import cond as cond
from tapeflow.ops.control.flow import switch_case as switch_case
from tapeflow.ops.control.flow import while_loop as while_loop
from tapeflow.ops.control.grouping import control_dependencies as control_dependencies
from tapeflow.ops.control.grouping import group as group
from tapeflow.ops.control.grouping import no_op as no_op
from tapeflow.ops.control.grouping import tuple_ as tuple
from tapeflow.ops.control.mapping import foldl as foldl
from tapeflow.ops.control.mapping import foldr as foldr
from tapeflow.ops.control.mapping import map_fn as map_fn
from tapeflow.ops.control.mapping import scan as scan
from tapeflow.ops.control.printing import print_ as print
from tapeflow.ops.control.py_functions import numpy_function as numpy_function
from tapeflow.ops.control.py_functions import py_function as py_function
from tapeflow.ops.control.shape_assertions import assert_rank as assert_rank
from tapeflow.ops.control.timestamp import timestamp as timestamp
from tapeflow.ops.convolution.any_rank import conv as conv
from tapeflow.ops.convolution.any_rank import conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2
from tapeflow.ops.convolution.any_rank import conv2d_backprop_input_v2 as conv2d_backprop_input_v2
from tapeflow.ops.gradient_arguments import UnconnectedGradients as UnconnectedGradients
from tapeflow.ops.indexing.boolean_mask import boolean_mask as boolean_mask
from tapeflow.ops.indexing.gather import gather as gather
from tapeflow.ops.indexing.gather_nd import gather_nd as gather_nd
from tapeflow.ops.indexing.partition import dynamic_partition as dynamic_partition
from tapeflow.ops.indexing.partition import dynamic_stitch as dynamic_stitch
from tapeflow.ops.indexing.scatter import scatter_nd as scatter_nd
from tapeflow.ops.indexing.selection import searchsorted as searchsorted
from tapeflow.ops.indexing.slicing import newaxis as newaxis
from tapeflow.ops.indexing.slicing import slice_ as slice
from tapeflow.ops.indexing.strided_slice import strided_slice as strided_slice
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
from tapeflow.ops.indexing.unique import unique as unique
from tapeflow.ops.indexing.unique import unique_with_counts as unique_with_counts
from tapeflow.ops.indexing.unravel import unravel_index as unravel_index
from tapeflow.ops.linalg.eigen import eig as eig
from tapeflow.ops.linalg.eigen import eigvals as eigvals
from tapeflow.ops.linalg.einsum import einsum as einsum
from tapeflow.ops.linalg.matmul import matmul as matmul
from tapeflow.ops.linalg.matrix_function import sqrtm as matrix_square_root
from tapeflow.ops.linalg.norms import norm as norm
from tapeflow.ops.linalg.tensordot import tensordot as tensordot
from tapeflow.ops.lists.tensor_array import TensorArray as TensorArray
from tapeflow.ops.lists.tensor_array_spec import TensorArraySpec as TensorArraySpec
from tapeflow.ops.math.accumulate import add_n as add_n
from tapeflow.ops.math.approximate_top_k import approx_top_k as approx_top_k
from tapeflow.ops.math.argmax import argmax as argmax
from tapeflow.ops.math.argmax import argmin as argmin
from tapeflow.ops.math.arithmetic import add as add
from tapeflow.ops.math.arithmetic import maximum as maximum
from tapeflow.ops.math.arithmetic import minimum as minimum
from tapeflow.ops.math.arithmetic import multiply as multiply
from tapeflow.ops.math.arithmetic import pow as pow
from tapeflow.ops.math.arithmetic import scalar_mul as scalar_mul
from tapeflow.ops.math.arithmetic import subtract as subtract
from tapeflow.ops.math.casting import cast as cast
from tapeflow.ops.math.casting import saturate_cast as saturate_cast
from tapeflow.ops.math.choice import where as where
from tapeflow.ops.math.clip import clip_by_global_norm as clip_by_global_norm
from tapeflow.ops.math.clip import clip_by_norm as clip_by_norm
from tapeflow.ops.math.clip import clip_by_value as clip_by_value
from tapeflow.ops.math.comparison import equal as equal
from tapeflow.ops.math.comparison import greater as greater
from tapeflow.ops.math.comparison import greater_equal as greater_equal
from tapeflow.ops.math.comparison import less as less
from tapeflow.ops.math.comparison import less_equal as less_equal
from tapeflow.ops.math.comparison import not_equal as not_equal
from tapeflow.ops.math.complex_numbers import complex as complex
from tapeflow.ops.math.cumulative import cumsum as cumsum
from tapeflow.ops.math.division import divide as divide
from tapeflow.ops.math.division import realdiv as realdiv
from tapeflow.ops.math.division import truediv as truediv
from tapeflow.ops.math.division import truncatediv as truncatediv
from tapeflow.ops.math.division import truncatemod as truncatemod
from tapeflow.ops.math.elementwise import abs as abs
from tapeflow.ops.math.elementwise import exp as exp
from tapeflow.ops.math.elementwise import negative as negative
from tapeflow.ops.math.elementwise import sign as sign
from tapeflow.ops.math.elementwise import sqrt as sqrt
from tapeflow.ops.math.elementwise import square as square
from tapeflow.ops.math.logic import logical_and as logical_and
from tapeflow.ops.math.logic import logical_not as logical_not
from tapeflow.ops.math.logic import logical_or as logical_or
from tapeflow.ops.math.reductions import reduce_all as reduce_all
from tapeflow.ops.math.reductions import reduce_any as reduce_any
from tapeflow.ops.math.reductions import reduce_logsumexp as reduce_logsumexp
from tapeflow.ops.math.reductions import reduce_max as reduce_max
from tapeflow.ops.math.reductions import reduce_mean as reduce_mean
from tapeflow.ops.math.reductions import reduce_min as reduce_min
from tapeflow.ops.math.reductions import reduce_prod as reduce_prod
from tapeflow.ops.math.reductions import reduce_sum as reduce_sum
from tapeflow.ops.math.rounding import floor as floor
from tapeflow.ops.math.rounding import round as round
from tapeflow.ops.math.sorting import argsort as argsort
from tapeflow.ops.math.sorting import sort as sort
from tapeflow.ops.math.trigonometric import acos as acos
from tapeflow.ops.math.trigonometric import acosh as acosh
from tapeflow.ops.math.trigonometric import asin as asin
from tapeflow.ops.math.trigonometric import asinh as asinh
from tapeflow.ops.math.trigonometric import atan as atan
from tapeflow.ops.math.trigonometric import atan2 as atan2
from tapeflow.ops.math.trigonometric import atanh as atanh
from tapeflow.ops.math.trigonometric import cos as cos
from tapeflow.ops.math.trigonometric import cosh as cosh
from tapeflow.ops.math.trigonometric import sigmoid as sigmoid
from tapeflow.ops.math.trigonometric import sin as sin
from tapeflow.ops.math.trigonometric import sinh as sinh
from tapeflow.ops.math.trigonometric import tan as tan
from tapeflow.ops.math.trigonometric import tanh as tanh
from tapeflow.ops.ragged.math import RaggedTensor as RaggedTensor
from tapeflow.ops.ragged.math import RaggedTensorSpec as RaggedTensorSpec
from tapeflow.ops.ragged.rows import ragged_fill_empty_rows as ragged_fill_empty_rows
from tapeflow.ops.ragged.rows import ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad
from tapeflow.ops.random.index_shuffle import random_index_shuffle as random_index_shuffle
from tapeflow.ops.signal.fft_functions_nd import raw_fftnd as fftnd
from tapeflow.ops.signal.fft_functions_nd import raw_ifftnd as ifftnd
from tapeflow.ops.signal.fft_functions_nd import raw_irfftnd as irfftnd
from tapeflow.ops.signal.fft_functions_nd import raw_rfftnd as rfftnd
from tapeflow.ops.state.critical_section import CriticalSection as CriticalSection
from tapeflow.ops.state.variable import Variable as Variable
from tapeflow.ops.state.variable import VariableAggregation as VariableAggregation
from tapeflow.ops.state.variable import VariableSynchronization as VariableSynchronization
from tapeflow.ops.state.variable import variable_creator_scope as variable_creator_scope
from tapeflow.ops.static import get_static_value as get_static_value
from tapeflow.ops.statistics.histogram import histogram_fixed_width as histogram_fixed_width
from tapeflow.ops.statistics.histogram import histogram_fixed_width_bins as histogram_fixed_width_bins
from tapeflow.ops.string.edit_distance import edit_distance as edit_distance
from tapeflow.ops.string.fingerprint import fingerprint as fingerprint
from tapeflow.ops.string.numbers import as_string as as_string
from tapeflow.v1.gradient_registry import RegisterGradient as RegisterGradient
from tapeflow.v1.gradient_registry import no_gradient as no_gradient
__all__ = [
    "AggregationMethod",
    "Assert",
    "CriticalSection",
    "DType",
    "DeviceSpec",
    "GradientTape",
    "Graph",
    "IndexedSlices",
    "IndexedSlicesSpec",
    "Module",
    "NoneTensorSpec",
    "Operation",
    "OptionalSpec",
    "RaggedTensor",
    "RaggedTensorSpec",
    "RegisterGradient",
    "SparseTensor",
    "SparseTensorSpec",
    "Tensor",
    "TensorArray",
    "TensorArraySpec",
    "TensorShape",
    "TensorSpec",
    "TypeSpec",
    "UnconnectedGradients",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "approx_top_k",
    "argmax",
    "argmin",
    "argsort",
    "as_dtype",
    "as_string",
    "asin",
    "asinh",
    "assert_equal",
    "assert_greater",
    "assert_less",
    "assert_rank",
    "atan",
    "atan2",
    "atanh",
    "audio",
    "autodiff",
    "autograph",
    "batch_to_space",
    "bfloat16",
    "bitcast",
    "bitwise",
    "bool",
    "boolean_mask",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "case",
    "cast",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "compat",
    "complex",
    "complex128",
    "complex64",
    "concat",
    "cond",
    "config",
    "constant",
    "constant_initializer",
    "contrib",
    "control_dependencies",
    "conv",
    "conv2d_backprop_filter_v2",
    "conv2d_backprop_input_v2",
    "convert_to_tensor",
    "cos",
    "cosh",
    "cumsum",
    "custom_gradient",
    "data",
    "debugging",
    "device",
    "distribute",
    "divide",
    "double",
    "dtypes",
    "dynamic_partition",
    "dynamic_stitch",
    "edit_distance",
    "eig",
    "eigvals",
    "einsum",
    "ensure_shape",
    "equal",
    "errors",
    "estimator",
    "executing_eagerly",
    "exp",
    "expand_dims",
    "experimental",
    "extract_volume_patches",
    "eye",
    "feature_column",
    "fftnd",
    "fill",
    "fingerprint",
    "float16",
    "float32",
    "float64",
    "floor",
    "foldl",
    "foldr",
    "function",
    "gather",
    "gather_nd",
    "get_current_name_scope",
    "get_logger",
    "get_static_value",
    "grad_pass_through",
    "gradients",
    "graph_util",
    "greater",
    "greater_equal",
    "group",
    "guarantee_const",
    "half",
    "hessians",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "identity",
    "identity_n",
    "ifftnd",
    "image",
    "import_graph_def",
    "init_scope",
    "initializers",
    "inside_function",
    "install_as_tensorflow",
    "int16",
    "int32",
    "int64",
    "int8",
    "io",
    "irfftnd",
    "is_symbolic_tensor",
    "is_tensor",
    "keras",
    "layers",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "lite",
    "load_library",
    "load_op_library",
    "logical_and",
    "logical_not",
    "logical_or",
    "lookup",
    "losses",
    "make_ndarray",
    "make_tensor_proto",
    "map_fn",
    "math",
    "matmul",
    "matrix_square_root",
    "maximum",
    "meshgrid",
    "metrics",
    "minimum",
    "multiply",
    "name_scope",
    "negative",
    "nest",
    "newaxis",
    "nn",
    "no_gradient",
    "no_op",
    "nondifferentiable_batch_function",
    "norm",
    "not_equal",
    "numpy_function",
    "one_hot",
    "ones",
    "ones_initializer",
    "ones_like",
    "optimizers",
    "pad",
    "parallel_stack",
    "pow",
    "print",
    "profiler",
    "py_function",
    "qint16",
    "qint32",
    "qint8",
    "quantization",
    "queue",
    "quint16",
    "quint8",
    "ragged",
    "ragged_fill_empty_rows",
    "ragged_fill_empty_rows_grad",
    "random",
    "random_index_shuffle",
    "random_normal_initializer",
    "random_uniform_initializer",
    "range",
    "rank",
    "raw_ops",
    "realdiv",
    "recompute_grad",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "register_tensor_conversion_function",
    "repeat",
    "required_space_to_batch_paddings",
    "reshape",
    "resource",
    "reverse",
    "reverse_sequence",
    "rfftnd",
    "roll",
    "round",
    "saturate_cast",
    "saved_model",
    "scalar_mul",
    "scan",
    "scatter_nd",
    "searchsorted",
    "sequence_mask",
    "sets",
    "shape",
    "shape_n",
    "sigmoid",
    "sign",
    "signal",
    "sin",
    "sinh",
    "size",
    "slice",
    "sort",
    "space_to_batch",
    "space_to_batch_nd",
    "sparse",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "string",
    "strings",
    "subtract",
    "summary",
    "switch_case",
    "sysconfig",
    "tan",
    "tanh",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensordot",
    "test",
    "tile",
    "timestamp",
    "tpu",
    "train",
    "transpose",
    "truediv",
    "truncatediv",
    "truncatemod",
    "tuple",
    "type_spec_from_value",
    "types",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unstack",
    "variable_creator_scope",
    "variant",
    "vectorized_map",
    "version",
    "where",
    "while_loop",
    "xla",
    "zeros",
    "zeros_initializer",
    "zeros_like",
]
