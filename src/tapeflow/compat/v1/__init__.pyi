# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow import __internal__ as __internal__
from tapeflow import __operators__ as __operators__
from tapeflow import audio as audio
from tapeflow import autodiff as autodiff
from tapeflow import compat as compat
from tapeflow import config as config
from tapeflow import contrib as contrib
from tapeflow import layers as layers
from tapeflow import lookup as lookup
from tapeflow import nest as nest
from tapeflow import quantization as quantization
from tapeflow import queue as queue
from tapeflow import raw_ops as raw_ops
from tapeflow import signal as signal
from tapeflow import sysconfig as sysconfig
from tapeflow import train as train
from tapeflow import types as types
from tapeflow import version as version
from tapeflow import xla as xla
from tapeflow.autodiff.aggregation import AggregationMethod as AggregationMethod
from tapeflow.autodiff.custom_gradient import custom_gradient as custom_gradient
from tapeflow.autodiff.custom_gradient import grad_pass_through as grad_pass_through
from tapeflow.autodiff.custom_gradient import recompute_grad as recompute_grad
from tapeflow.autodiff.tape import GradientTape as GradientTape
from tapeflow.autodiff.vectorized_map import vectorized_map as vectorized_map
from tapeflow.compat.v1 import app as app
from tapeflow.compat.v1 import autograph as autograph
from tapeflow.compat.v1 import bitwise as bitwise
from tapeflow.compat.v1 import data as data
from tapeflow.compat.v1 import debugging as debugging
from tapeflow.compat.v1 import distribute as distribute
from tapeflow.compat.v1 import distributions as distributions
from tapeflow.compat.v1 import dtypes as dtypes
from tapeflow.compat.v1 import errors as errors
from tapeflow.compat.v1 import estimator as estimator
from tapeflow.compat.v1 import experimental as experimental
from tapeflow.compat.v1 import feature_column as feature_column
from tapeflow.compat.v1 import flags as flags
from tapeflow.compat.v1 import gfile as gfile
from tapeflow.compat.v1 import graph_util as graph_util
from tapeflow.compat.v1 import image as image
from tapeflow.compat.v1 import io as io
from tapeflow.compat.v1 import keras as keras
from tapeflow.compat.v1 import linalg as linalg
from tapeflow.compat.v1 import lite as lite
from tapeflow.compat.v1 import logging as logging
from tapeflow.compat.v1 import losses as losses
from tapeflow.compat.v1 import manip as manip
from tapeflow.compat.v1 import math as math
from tapeflow.compat.v1 import metrics as metrics
from tapeflow.compat.v1 import mixed_precision as mixed_precision
from tapeflow.compat.v1 import nn as nn
from tapeflow.compat.v1 import profiler as profiler
from tapeflow.compat.v1 import python_io as python_io
from tapeflow.compat.v1 import ragged as ragged
from tapeflow.compat.v1 import random as random
from tapeflow.compat.v1 import resource_loader as resource_loader
from tapeflow.compat.v1 import saved_model as saved_model
from tapeflow.compat.v1 import sets as sets
from tapeflow.compat.v1 import sparse as sparse
from tapeflow.compat.v1 import strings as strings
from tapeflow.compat.v1 import summary as summary
from tapeflow.compat.v1 import test as test
from tapeflow.compat.v1 import tpu as tpu
from tapeflow.compat.v1 import user_ops as user_ops
from tapeflow.core.binding import Tensor as Tensor
from tapeflow.core.context import device_v1 as device
from tapeflow.core.context import disable_tensor_equality as disable_tensor_equality
from tapeflow.core.context import enable_eager_execution as enable_eager_execution
from tapeflow.core.context import enable_tensor_equality as enable_tensor_equality
from tapeflow.core.context import executing_eagerly as executing_eagerly
from tapeflow.core.context import init_scope as init_scope
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import constant_v1 as constant
from tapeflow.core.convert import convert_to_tensor_v1 as convert_to_tensor
from tapeflow.core.convert import is_symbolic_tensor as is_symbolic_tensor
from tapeflow.core.convert import is_tensor as is_tensor
from tapeflow.core.convert import register_tensor_conversion_function as register_tensor_conversion_function
from tapeflow.core.device import DeviceSpecV1 as DeviceSpec
from tapeflow.core.dtypes import DType as DType
from tapeflow.core.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
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
from tapeflow.core.errors import OpError as OpError
from tapeflow.core.files.libraries import load_library as load_library
from tapeflow.core.files.libraries import load_op_library as load_op_library
from tapeflow.core.files.tensor_proto import make_ndarray as make_ndarray
from tapeflow.core.files.tensor_proto import make_tensor_proto as make_tensor_proto
from tapeflow.core.indexed_slices import IndexedSlices as IndexedSlices
from tapeflow.core.indexed_slices import IndexedSlicesSpec as IndexedSlicesSpec
from tapeflow.core.log import get_logger as get_logger
from tapeflow.core.release import COMPILER_VERSION as COMPILER_VERSION
from tapeflow.core.release import COMPILER_VERSION as __compiler_version__
from tapeflow.core.release import GIT_VERSION as GIT_VERSION
from tapeflow.core.release import GIT_VERSION as __git_version__
from tapeflow.core.release import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from tapeflow.core.release import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from tapeflow.core.release import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from tapeflow.core.release import VERSION as VERSION
from tapeflow.core.release import VERSION as __version__
from tapeflow.core.scope_state import AUTO_REUSE as AUTO_REUSE
from tapeflow.core.sparse_tensor import SparseTensor as SparseTensor
from tapeflow.core.sparse_tensor import SparseTensorSpec as SparseTensorSpec
from tapeflow.core.sparse_tensor import SparseTensorValue as SparseTensorValue
from tapeflow.core.specs.none_spec import NoneTensorSpec as NoneTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec as TensorSpec
from tapeflow.core.specs.tensor_spec import TypeSpec as TypeSpec
from tapeflow.core.specs.type_specs import type_spec_from_value as type_spec_from_value
from tapeflow.core.tensor_shape import Dimension as Dimension
from tapeflow.core.tensor_shape import TensorShape as TensorShape
from tapeflow.core.tensor_shape import dimension_at_index as dimension_at_index
from tapeflow.core.tensor_shape import dimension_value as dimension_value
from tapeflow.core.tensor_shape import disable_v2_tensorshape as disable_v2_tensorshape
from tapeflow.core.tensor_shape import enable_v2_tensorshape as enable_v2_tensorshape
from tapeflow.core.tracking.module import Module as Module
from tapeflow.data.optional import OptionalSpec as OptionalSpec
from tapeflow.function.batching import nondifferentiable_batch_function as nondifferentiable_batch_function
from tapeflow.function.function import function as function
from tapeflow.function.template import make_template as make_template
from tapeflow.function.wrapping import wrap_function as wrap_function
from tapeflow.graph.build.collections import GraphKeys as GraphKeys
from tapeflow.graph.build.collections import add_to_collection as add_to_collection
from tapeflow.graph.build.collections import add_to_collections as add_to_collections
from tapeflow.graph.build.collections import all_variables as all_variables
from tapeflow.graph.build.collections import get_all_collection_keys as get_all_collection_keys
from tapeflow.graph.build.collections import get_collection as get_collection
from tapeflow.graph.build.collections import get_collection_ref as get_collection_ref
from tapeflow.graph.build.collections import global_variables as global_variables
from tapeflow.graph.build.collections import local_variables as local_variables
from tapeflow.graph.build.collections import model_variables as model_variables
from tapeflow.graph.build.collections import moving_average_variables as moving_average_variables
from tapeflow.graph.build.collections import trainable_variables as trainable_variables
from tapeflow.graph.build.derivatives import gradients_v1 as gradients
from tapeflow.graph.build.derivatives import hessians_v1 as hessians
from tapeflow.graph.build.placeholders import placeholder as placeholder
from tapeflow.graph.build.placeholders import placeholder_with_default as placeholder_with_default
from tapeflow.graph.build.variable_initializers import assert_variables_initialized as assert_variables_initialized
from tapeflow.graph.build.variable_initializers import global_variables_initializer as global_variables_initializer
from tapeflow.graph.build.variable_initializers import initialize_all_variables as initialize_all_variables
from tapeflow.graph.build.variable_initializers import initialize_local_variables as initialize_local_variables
from tapeflow.graph.build.variable_initializers import initialize_variables as initialize_variables
from tapeflow.graph.build.variable_initializers import is_variable_initialized as is_variable_initialized
from tapeflow.graph.build.variable_initializers import local_variables_initializer as local_variables_initializer
from tapeflow.graph.build.variable_initializers import report_uninitialized_variables as report_uninitialized_variables
from tapeflow.graph.build.variable_initializers import variables_initializer as variables_initializer
from tapeflow.graph.default_graph import get_default_graph as get_default_graph
from tapeflow.graph.default_graph import reset_default_graph as reset_default_graph
from tapeflow.graph.func_graph import inside_function as inside_function
from tapeflow.graph.graph import Graph as Graph
from tapeflow.graph.interchange.importing import import_graph_def as import_graph_def
from tapeflow.graph.operation import Operation as Operation
from tapeflow.graph.run.session import InteractiveSession as InteractiveSession
from tapeflow.graph.run.session import Session as Session
from tapeflow.graph.run.session import get_default_session as get_default_session
from tapeflow.graph.run.session_handles import delete_session_tensor as delete_session_tensor
from tapeflow.graph.run.session_handles import get_session_handle as get_session_handle
from tapeflow.graph.run.session_handles import get_session_tensor as get_session_tensor
from tapeflow.ops.array.band import band_part as matrix_band_part
from tapeflow.ops.array.band import trace as trace
from tapeflow.ops.array.bitcast import bitcast as bitcast
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape as broadcast_dynamic_shape
from tapeflow.ops.array.broadcasting import broadcast_static_shape as broadcast_static_shape
from tapeflow.ops.array.broadcasting import broadcast_to as broadcast_to
from tapeflow.ops.array.construction import fill as fill
from tapeflow.ops.array.construction import ones as ones
from tapeflow.ops.array.construction import ones_like_v1 as ones_like
from tapeflow.ops.array.construction import zeros as zeros
from tapeflow.ops.array.construction import zeros_like_v1 as zeros_like
from tapeflow.ops.array.depth import depth_to_space_v1 as depth_to_space
from tapeflow.ops.array.depth import space_to_depth_v1 as space_to_depth
from tapeflow.ops.array.diagonal import diag_part as matrix_diag_part
from tapeflow.ops.array.diagonal import set_diag as matrix_set_diag
from tapeflow.ops.array.diagonal_matrix import diag as matrix_diag
from tapeflow.ops.array.joining import concat as concat
from tapeflow.ops.array.joining import split as split
from tapeflow.ops.array.layout import expand_dims_v1 as expand_dims
from tapeflow.ops.array.layout import reshape as reshape
from tapeflow.ops.array.layout import squeeze_v1 as squeeze
from tapeflow.ops.array.one_hot import one_hot as one_hot
from tapeflow.ops.array.one_hot import sequence_mask as sequence_mask
from tapeflow.ops.array.padding import pad_v1 as pad
from tapeflow.ops.array.ranges import linspace as lin_space
from tapeflow.ops.array.ranges import linspace as linspace
from tapeflow.ops.array.ranges import meshgrid as meshgrid
from tapeflow.ops.array.ranges import range as range
from tapeflow.ops.array.reorder import reverse as reverse
from tapeflow.ops.array.reorder import reverse as reverse_v2
from tapeflow.ops.array.reorder import reverse_sequence_v1 as reverse_sequence
from tapeflow.ops.array.reorder import roll as roll
from tapeflow.ops.array.rows import ensure_shape as ensure_shape
from tapeflow.ops.array.rows import guarantee_const as guarantee_const
from tapeflow.ops.array.rows import identity as identity
from tapeflow.ops.array.rows import identity_n as identity_n
from tapeflow.ops.array.rows import stop_gradient as stop_gradient
from tapeflow.ops.array.sizes import rank as rank
from tapeflow.ops.array.sizes import shape_n as shape_n
from tapeflow.ops.array.sizes import shape_v1 as shape
from tapeflow.ops.array.sizes import size_v1 as size
from tapeflow.ops.array.spatial import batch_to_space as batch_to_space_nd
from tapeflow.ops.array.spatial import required_space_to_batch_paddings as required_space_to_batch_paddings
from tapeflow.ops.array.spatial import space_to_batch_nd as space_to_batch_nd
from tapeflow.ops.array.square_blocks import batch_to_space_v1 as batch_to_space
from tapeflow.ops.array.square_blocks import space_to_batch_v1 as space_to_batch
from tapeflow.ops.array.stacking import parallel_stack as parallel_stack
from tapeflow.ops.array.stacking import stack as stack
from tapeflow.ops.array.stacking import unstack as unstack
from tapeflow.ops.array.tensor_diagonal import eye as eye
from tapeflow.ops.array.tensor_diagonal import tensor_diag as diag
from tapeflow.ops.array.tensor_diagonal import tensor_diag_part as diag_part
from tapeflow.ops.array.tiling import repeat as repeat
from tapeflow.ops.array.tiling import tile as tile
from tapeflow.ops.array.transposing import invert_permutation as invert_permutation
from tapeflow.ops.array.transposing import transpose_v1 as transpose
from tapeflow.ops.array.volume_patches import extract_volume_patches as extract_volume_patches
from tapeflow.ops.control.assert_op import Assert as Assert
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
from tapeflow.ops.control.flow import case as case
from tapeflow.ops.control.flow import cond_v1 as cond
from tapeflow.ops.control.flow import switch_case as switch_case
from tapeflow.ops.control.flow import while_loop_v1 as while_loop
from tapeflow.ops.control.grouping import control_dependencies as control_dependencies
from tapeflow.ops.control.grouping import group as group
from tapeflow.ops.control.grouping import no_op as no_op
from tapeflow.ops.control.grouping import tuple_v1 as tuple
from tapeflow.ops.control.mapping import foldl as foldl
from tapeflow.ops.control.mapping import foldr as foldr
from tapeflow.ops.control.mapping import map_fn_v1 as map_fn
from tapeflow.ops.control.mapping import scan as scan
from tapeflow.ops.control.printing import Print as Print
from tapeflow.ops.control.printing import print_ as print
from tapeflow.ops.control.py_functions import numpy_function as numpy_function
from tapeflow.ops.control.py_functions import py_func as py_func
from tapeflow.ops.control.py_functions import py_function as py_function
from tapeflow.ops.control.shape_assertions import assert_rank_at_least_v1 as assert_rank_at_least
from tapeflow.ops.control.shape_assertions import assert_rank_in_v1 as assert_rank_in
from tapeflow.ops.control.shape_assertions import assert_rank_v1 as assert_rank
from tapeflow.ops.control.shape_assertions import assert_scalar as assert_scalar
from tapeflow.ops.control.timestamp import timestamp as timestamp
from tapeflow.ops.control.type_assertions import assert_integer as assert_integer
from tapeflow.ops.control.type_assertions import assert_proper_iterable as assert_proper_iterable
from tapeflow.ops.control.type_assertions import assert_same_float_dtype as assert_same_float_dtype
from tapeflow.ops.control.type_assertions import assert_type as assert_type
from tapeflow.ops.control.type_assertions import is_numeric_tensor as is_numeric_tensor
from tapeflow.ops.convolution.any_rank import conv as conv
from tapeflow.ops.convolution.any_rank import conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2
from tapeflow.ops.convolution.any_rank import conv2d_backprop_input_v2 as conv2d_backprop_input_v2
from tapeflow.ops.gradient_arguments import UnconnectedGradients as UnconnectedGradients
from tapeflow.ops.image.patches import extract_image_patches_v1 as extract_image_patches
from tapeflow.ops.indexing.boolean_mask import boolean_mask_v1 as boolean_mask
from tapeflow.ops.indexing.gather import batch_gather as batch_gather
from tapeflow.ops.indexing.gather import gather_v1 as gather
from tapeflow.ops.indexing.gather_nd import gather_nd_v1 as gather_nd
from tapeflow.ops.indexing.partition import dynamic_partition as dynamic_partition
from tapeflow.ops.indexing.partition import dynamic_stitch as dynamic_stitch
from tapeflow.ops.indexing.scatter import scatter_nd as scatter_nd
from tapeflow.ops.indexing.selection import searchsorted as searchsorted
from tapeflow.ops.indexing.slicing import newaxis as newaxis
from tapeflow.ops.indexing.slicing import slice_ as slice
from tapeflow.ops.indexing.strided_slice import strided_slice as strided_slice
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_add as tensor_scatter_add
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_sub as tensor_scatter_sub
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update as tensor_scatter_update
from tapeflow.ops.indexing.unique import setdiff1d as setdiff1d
from tapeflow.ops.indexing.unique import unique as unique
from tapeflow.ops.indexing.unique import unique_with_counts as unique_with_counts
from tapeflow.ops.indexing.unravel import unravel_index as unravel_index
from tapeflow.ops.io.csv import decode_csv_v1 as decode_csv
from tapeflow.ops.io.example_features import FixedLenFeature as FixedLenFeature
from tapeflow.ops.io.example_features import FixedLenSequenceFeature as FixedLenSequenceFeature
from tapeflow.ops.io.example_features import RaggedFeature as RaggedFeature
from tapeflow.ops.io.example_features import SparseFeature as SparseFeature
from tapeflow.ops.io.example_features import VarLenFeature as VarLenFeature
from tapeflow.ops.io.file import matching_files as matching_files
from tapeflow.ops.io.file import read_file as read_file
from tapeflow.ops.io.file import write_file as write_file
from tapeflow.ops.io.json_example import decode_json_example as decode_json_example
from tapeflow.ops.io.parsing import parse_example_v1 as parse_example
from tapeflow.ops.io.parsing import parse_sequence_example as parse_sequence_example
from tapeflow.ops.io.parsing import parse_single_example_v1 as parse_single_example
from tapeflow.ops.io.parsing import parse_single_sequence_example as parse_single_sequence_example
from tapeflow.ops.io.raw_bytes import decode_compressed as decode_compressed
from tapeflow.ops.io.raw_bytes import decode_raw_v1 as decode_raw
from tapeflow.ops.io.raw_bytes import parse_tensor as parse_tensor
from tapeflow.ops.io.raw_bytes import serialize_tensor as serialize_tensor
from tapeflow.ops.linalg.cross import cross as cross
from tapeflow.ops.linalg.decomposition import cholesky as cholesky
from tapeflow.ops.linalg.decomposition import qr as qr
from tapeflow.ops.linalg.decomposition import svd as svd
from tapeflow.ops.linalg.eigen import eigh as self_adjoint_eig
from tapeflow.ops.linalg.eigen import eigvalsh as self_adjoint_eigvals
from tapeflow.ops.linalg.einsum import einsum as einsum
from tapeflow.ops.linalg.inverse import det as matrix_determinant
from tapeflow.ops.linalg.inverse import inv as matrix_inverse
from tapeflow.ops.linalg.matmul import matmul as matmul
from tapeflow.ops.linalg.matmul import sparse_matmul as sparse_matmul
from tapeflow.ops.linalg.matrix_function import matrix_transpose as matrix_transpose
from tapeflow.ops.linalg.matrix_function import sqrtm as matrix_square_root
from tapeflow.ops.linalg.norms import norm_v1 as norm
from tapeflow.ops.linalg.solve import cholesky_solve as cholesky_solve
from tapeflow.ops.linalg.solve import lstsq as matrix_solve_ls
from tapeflow.ops.linalg.solve import solve as matrix_solve
from tapeflow.ops.linalg.solve import triangular_solve as matrix_triangular_solve
from tapeflow.ops.linalg.tensordot import tensordot as tensordot
from tapeflow.ops.lists.tensor_array import TensorArray as TensorArray
from tapeflow.ops.lists.tensor_array_spec import TensorArraySpec as TensorArraySpec
from tapeflow.ops.lookup.tables import initialize_all_tables as initialize_all_tables
from tapeflow.ops.lookup.tables import tables_initializer as tables_initializer
from tapeflow.ops.math.accumulate import accumulate_n as accumulate_n
from tapeflow.ops.math.accumulate import add_n as add_n
from tapeflow.ops.math.approximate_top_k import approx_top_k as approx_top_k
from tapeflow.ops.math.argmax import arg_max as arg_max
from tapeflow.ops.math.argmax import arg_min as arg_min
from tapeflow.ops.math.argmax import argmax_v1 as argmax
from tapeflow.ops.math.argmax import argmin_v1 as argmin
from tapeflow.ops.math.arithmetic import add as add
from tapeflow.ops.math.arithmetic import maximum as maximum
from tapeflow.ops.math.arithmetic import minimum as minimum
from tapeflow.ops.math.arithmetic import multiply as multiply
from tapeflow.ops.math.arithmetic import pow as pow
from tapeflow.ops.math.arithmetic import scalar_mul as scalar_mul
from tapeflow.ops.math.arithmetic import squared_difference as squared_difference
from tapeflow.ops.math.arithmetic import subtract as subtract
from tapeflow.ops.math.casting import cast as cast
from tapeflow.ops.math.casting import saturate_cast as saturate_cast
from tapeflow.ops.math.casting import to_bfloat16 as to_bfloat16
from tapeflow.ops.math.casting import to_complex128 as to_complex128
from tapeflow.ops.math.casting import to_complex64 as to_complex64
from tapeflow.ops.math.casting import to_double as to_double
from tapeflow.ops.math.casting import to_float as to_float
from tapeflow.ops.math.casting import to_int32 as to_int32
from tapeflow.ops.math.casting import to_int64 as to_int64
from tapeflow.ops.math.check import assert_all_finite_v1 as verify_tensor_all_finite
from tapeflow.ops.math.check import check_numerics as check_numerics
from tapeflow.ops.math.choice import where as where_v2
from tapeflow.ops.math.choice import where_v1 as where
from tapeflow.ops.math.clip import clip_by_average_norm as clip_by_average_norm
from tapeflow.ops.math.clip import clip_by_global_norm as clip_by_global_norm
from tapeflow.ops.math.clip import clip_by_norm as clip_by_norm
from tapeflow.ops.math.clip import clip_by_value as clip_by_value
from tapeflow.ops.math.clip import global_norm as global_norm
from tapeflow.ops.math.comparison import equal as equal
from tapeflow.ops.math.comparison import greater as greater
from tapeflow.ops.math.comparison import greater_equal as greater_equal
from tapeflow.ops.math.comparison import less as less
from tapeflow.ops.math.comparison import less_equal as less_equal
from tapeflow.ops.math.comparison import not_equal as not_equal
from tapeflow.ops.math.complex_numbers import angle as angle
from tapeflow.ops.math.complex_numbers import complex as complex
from tapeflow.ops.math.complex_numbers import imag as imag
from tapeflow.ops.math.complex_numbers import real as real
from tapeflow.ops.math.conjugate import conj as conj
from tapeflow.ops.math.cumulative import cumprod as cumprod
from tapeflow.ops.math.cumulative import cumsum as cumsum
from tapeflow.ops.math.division import div as div
from tapeflow.ops.math.division import divide as divide
from tapeflow.ops.math.division import floordiv as floor_div
from tapeflow.ops.math.division import floordiv as floordiv
from tapeflow.ops.math.division import floormod as floormod
from tapeflow.ops.math.division import floormod as mod
from tapeflow.ops.math.division import realdiv as realdiv
from tapeflow.ops.math.division import truediv as truediv
from tapeflow.ops.math.division import truncatediv as truncatediv
from tapeflow.ops.math.division import truncatemod as truncatemod
from tapeflow.ops.math.division_no_nan import divide_no_nan as div_no_nan
from tapeflow.ops.math.elementwise import abs as abs
from tapeflow.ops.math.elementwise import exp as exp
from tapeflow.ops.math.elementwise import expm1 as expm1
from tapeflow.ops.math.elementwise import log as log
from tapeflow.ops.math.elementwise import log1p as log1p
from tapeflow.ops.math.elementwise import negative as negative
from tapeflow.ops.math.elementwise import reciprocal as reciprocal
from tapeflow.ops.math.elementwise import rsqrt as rsqrt
from tapeflow.ops.math.elementwise import sign as sign
from tapeflow.ops.math.elementwise import sqrt as sqrt
from tapeflow.ops.math.elementwise import square as square
from tapeflow.ops.math.float_kinds import is_finite as is_finite
from tapeflow.ops.math.float_kinds import is_inf as is_inf
from tapeflow.ops.math.float_kinds import is_nan as is_nan
from tapeflow.ops.math.logic import logical_and as logical_and
from tapeflow.ops.math.logic import logical_not as logical_not
from tapeflow.ops.math.logic import logical_or as logical_or
from tapeflow.ops.math.logic import logical_xor as logical_xor
from tapeflow.ops.math.monotonic import is_non_decreasing as is_non_decreasing
from tapeflow.ops.math.monotonic import is_strictly_increasing as is_strictly_increasing
from tapeflow.ops.math.reductions_v1 import count_nonzero_v1 as count_nonzero
from tapeflow.ops.math.reductions_v1 import reduce_all_v1 as reduce_all
from tapeflow.ops.math.reductions_v1 import reduce_any_v1 as reduce_any
from tapeflow.ops.math.reductions_v1 import reduce_logsumexp_v1 as reduce_logsumexp
from tapeflow.ops.math.reductions_v1 import reduce_max_v1 as reduce_max
from tapeflow.ops.math.reductions_v1 import reduce_mean_v1 as reduce_mean
from tapeflow.ops.math.reductions_v1 import reduce_min_v1 as reduce_min
from tapeflow.ops.math.reductions_v1 import reduce_prod_v1 as reduce_prod
from tapeflow.ops.math.reductions_v1 import reduce_sum_v1 as reduce_sum
from tapeflow.ops.math.rounding import ceil as ceil
from tapeflow.ops.math.rounding import floor as floor
from tapeflow.ops.math.rounding import rint as rint
from tapeflow.ops.math.rounding import round as round
from tapeflow.ops.math.segment_functions import segment_max as segment_max
from tapeflow.ops.math.segment_functions import segment_mean as segment_mean
from tapeflow.ops.math.segment_functions import segment_min as segment_min
from tapeflow.ops.math.segment_functions import segment_prod as segment_prod
from tapeflow.ops.math.segment_functions import segment_sum as segment_sum
from tapeflow.ops.math.segment_functions import unsorted_segment_max as unsorted_segment_max
from tapeflow.ops.math.segment_functions import unsorted_segment_mean as unsorted_segment_mean
from tapeflow.ops.math.segment_functions import unsorted_segment_min as unsorted_segment_min
from tapeflow.ops.math.segment_functions import unsorted_segment_prod as unsorted_segment_prod
from tapeflow.ops.math.segment_functions import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from tapeflow.ops.math.segment_functions import unsorted_segment_sum as unsorted_segment_sum
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
from tapeflow.ops.math.trigonometric import log_sigmoid as log_sigmoid
from tapeflow.ops.math.trigonometric import sigmoid as sigmoid
from tapeflow.ops.math.trigonometric import sin as sin
from tapeflow.ops.math.trigonometric import sinh as sinh
from tapeflow.ops.math.trigonometric import tan as tan
from tapeflow.ops.math.trigonometric import tanh as tanh
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
from tapeflow.ops.quantize.functions import dequantize as dequantize
from tapeflow.ops.quantize.functions import quantize as quantize
from tapeflow.ops.quantize.functions import quantize_v2 as quantize_v2
from tapeflow.ops.quantize.functions import quantized_concat as quantized_concat
from tapeflow.ops.queue.accumulator import ConditionalAccumulator as ConditionalAccumulator
from tapeflow.ops.queue.accumulator import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from tapeflow.ops.queue.accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
from tapeflow.ops.queue.queues import FIFOQueue as FIFOQueue
from tapeflow.ops.queue.queues import PaddingFIFOQueue as PaddingFIFOQueue
from tapeflow.ops.queue.queues import PriorityQueue as PriorityQueue
from tapeflow.ops.queue.queues import QueueBase as QueueBase
from tapeflow.ops.queue.queues import RandomShuffleQueue as RandomShuffleQueue
from tapeflow.ops.queue.reader import FixedLengthRecordReader as FixedLengthRecordReader
from tapeflow.ops.queue.reader import IdentityReader as IdentityReader
from tapeflow.ops.queue.reader import LMDBReader as LMDBReader
from tapeflow.ops.queue.reader import ReaderBase as ReaderBase
from tapeflow.ops.queue.reader import TFRecordReader as TFRecordReader
from tapeflow.ops.queue.reader import TextLineReader as TextLineReader
from tapeflow.ops.queue.reader import WholeFileReader as WholeFileReader
from tapeflow.ops.ragged.math import RaggedTensor as RaggedTensor
from tapeflow.ops.ragged.math import RaggedTensorSpec as RaggedTensorSpec
from tapeflow.ops.ragged.rows import ragged_fill_empty_rows as ragged_fill_empty_rows
from tapeflow.ops.ragged.rows import ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad
from tapeflow.ops.random.functions import gamma as random_gamma
from tapeflow.ops.random.functions import multinomial as multinomial
from tapeflow.ops.random.functions import normal as random_normal
from tapeflow.ops.random.functions import poisson_v1 as random_poisson
from tapeflow.ops.random.functions import random_crop as random_crop
from tapeflow.ops.random.functions import shuffle as random_shuffle
from tapeflow.ops.random.functions import truncated_normal as truncated_normal
from tapeflow.ops.random.functions import uniform as random_uniform
from tapeflow.ops.random.index_shuffle import random_index_shuffle as random_index_shuffle
from tapeflow.ops.random.seed import get_seed as get_seed
from tapeflow.ops.random.seed import set_seed as set_random_seed
from tapeflow.ops.signal.fft_functions import fft as fft
from tapeflow.ops.signal.fft_functions import fft2d as fft2d
from tapeflow.ops.signal.fft_functions import fft3d as fft3d
from tapeflow.ops.signal.fft_functions import ifft as ifft
from tapeflow.ops.signal.fft_functions import ifft2d as ifft2d
from tapeflow.ops.signal.fft_functions import ifft3d as ifft3d
from tapeflow.ops.signal.fft_functions_nd import raw_fftnd as fftnd
from tapeflow.ops.signal.fft_functions_nd import raw_ifftnd as ifftnd
from tapeflow.ops.signal.fft_functions_nd import raw_irfftnd as irfftnd
from tapeflow.ops.signal.fft_functions_nd import raw_rfftnd as rfftnd
from tapeflow.ops.sparse.arithmetic import add_v1 as sparse_add
from tapeflow.ops.sparse.arithmetic import maximum as sparse_maximum
from tapeflow.ops.sparse.arithmetic import minimum as sparse_minimum
from tapeflow.ops.sparse.arithmetic import reduce_max_sparse as sparse_reduce_max_sparse
from tapeflow.ops.sparse.arithmetic import reduce_max_v1 as sparse_reduce_max
from tapeflow.ops.sparse.arithmetic import reduce_sum_sparse as sparse_reduce_sum_sparse
from tapeflow.ops.sparse.arithmetic import reduce_sum_v1 as sparse_reduce_sum
from tapeflow.ops.sparse.arithmetic import softmax as sparse_softmax
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul as sparse_tensor_dense_matmul
from tapeflow.ops.sparse.functions import mask as sparse_mask
from tapeflow.ops.sparse.functions import sparse_merge as sparse_merge
from tapeflow.ops.sparse.functions import sparse_to_dense as sparse_to_dense
from tapeflow.ops.sparse.functions import to_dense as sparse_tensor_to_dense
from tapeflow.ops.sparse.functions import to_indicator as sparse_to_indicator
from tapeflow.ops.sparse.segment import sparse_segment_mean_v1 as sparse_segment_mean
from tapeflow.ops.sparse.segment import sparse_segment_sqrt_n_v1 as sparse_segment_sqrt_n
from tapeflow.ops.sparse.segment import sparse_segment_sum_v1 as sparse_segment_sum
from tapeflow.ops.sparse.serialization import deserialize_many_sparse as deserialize_many_sparse
from tapeflow.ops.sparse.serialization import serialize_many_sparse_v1 as serialize_many_sparse
from tapeflow.ops.sparse.serialization import serialize_sparse_v1 as serialize_sparse
from tapeflow.ops.sparse.shaping import concat_v1 as sparse_concat
from tapeflow.ops.sparse.shaping import fill_empty_rows as sparse_fill_empty_rows
from tapeflow.ops.sparse.shaping import reorder as sparse_reorder
from tapeflow.ops.sparse.shaping import reset_shape as sparse_reset_shape
from tapeflow.ops.sparse.shaping import reshape as sparse_reshape
from tapeflow.ops.sparse.shaping import retain as sparse_retain
from tapeflow.ops.sparse.shaping import slice_ as sparse_slice
from tapeflow.ops.sparse.shaping import split_v1 as sparse_split
from tapeflow.ops.sparse.shaping import transpose as sparse_transpose
from tapeflow.ops.special.functions import digamma as digamma
from tapeflow.ops.special.functions import erf as erf
from tapeflow.ops.special.functions import erfc as erfc
from tapeflow.ops.special.functions import lgamma as lgamma
from tapeflow.ops.special.functions import polygamma as polygamma
from tapeflow.ops.special.functions import zeta as zeta
from tapeflow.ops.special.incomplete import betainc as betainc
from tapeflow.ops.special.incomplete import igamma as igamma
from tapeflow.ops.special.incomplete import igammac as igammac
from tapeflow.ops.special.incomplete import lbeta as lbeta
from tapeflow.ops.state.assignment import assign as assign
from tapeflow.ops.state.assignment import assign_add as assign_add
from tapeflow.ops.state.assignment import assign_sub as assign_sub
from tapeflow.ops.state.critical_section import CriticalSection as CriticalSection
from tapeflow.ops.state.variable import VariableAggregation as VariableAggregation
from tapeflow.ops.state.variable import VariableSynchronization as VariableSynchronization
from tapeflow.ops.state.variable import VariableV1 as Variable
from tapeflow.ops.state.variable import variable_creator_scope as variable_creator_scope
from tapeflow.ops.state.variable_scatter import batch_scatter_update as batch_scatter_update
from tapeflow.ops.state.variable_scatter import count_up_to as count_up_to
from tapeflow.ops.state.variable_scatter import scatter_add as scatter_add
from tapeflow.ops.state.variable_scatter import scatter_div as scatter_div
from tapeflow.ops.state.variable_scatter import scatter_max as scatter_max
from tapeflow.ops.state.variable_scatter import scatter_min as scatter_min
from tapeflow.ops.state.variable_scatter import scatter_mul as scatter_mul
from tapeflow.ops.state.variable_scatter import scatter_nd_add as scatter_nd_add
from tapeflow.ops.state.variable_scatter import scatter_nd_sub as scatter_nd_sub
from tapeflow.ops.state.variable_scatter import scatter_nd_update as scatter_nd_update
from tapeflow.ops.state.variable_scatter import scatter_sub as scatter_sub
from tapeflow.ops.state.variable_scatter import scatter_update as scatter_update
from tapeflow.ops.static import get_static_value as get_static_value
from tapeflow.ops.statistics.bincount import bincount_v1 as bincount
from tapeflow.ops.statistics.confusion import confusion_matrix_v1 as confusion_matrix
from tapeflow.ops.statistics.histogram import histogram_fixed_width as histogram_fixed_width
from tapeflow.ops.statistics.histogram import histogram_fixed_width_bins as histogram_fixed_width_bins
from tapeflow.ops.string.edit_distance import edit_distance as edit_distance
from tapeflow.ops.string.fingerprint import fingerprint as fingerprint
from tapeflow.ops.string.hashing import to_hash_bucket_fast as string_to_hash_bucket_fast
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_strong as string_to_hash_bucket_strong
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_v1 as string_to_hash_bucket
from tapeflow.ops.string.joining import join as string_join
from tapeflow.ops.string.joining import reduce_join_v1 as reduce_join
from tapeflow.ops.string.numbers import as_string as as_string
from tapeflow.ops.string.numbers import to_number_v1 as string_to_number
from tapeflow.ops.string.regex import decode_base64 as decode_base64
from tapeflow.ops.string.regex import encode_base64 as encode_base64
from tapeflow.ops.string.regex import regex_replace as regex_replace
from tapeflow.ops.string.rows import strip as string_strip
from tapeflow.ops.string.rows import substr_v1 as substr
from tapeflow.ops.string.split import string_split as string_split
from tapeflow.protos import AttrValue as AttrValue
from tapeflow.protos import ConfigProto as ConfigProto
from tapeflow.protos import Event as Event
from tapeflow.protos import GPUOptions as GPUOptions
from tapeflow.protos import GraphDef as GraphDef
from tapeflow.protos import GraphOptions as GraphOptions
from tapeflow.protos import HistogramProto as HistogramProto
from tapeflow.protos import LogMessage as LogMessage
from tapeflow.protos import MetaGraphDef as MetaGraphDef
from tapeflow.protos import NameAttrList as NameAttrList
from tapeflow.protos import NodeDef as NodeDef
from tapeflow.protos import OptimizerOptions as OptimizerOptions
from tapeflow.protos import RunMetadata as RunMetadata
from tapeflow.protos import RunOptions as RunOptions
from tapeflow.protos import SessionLog as SessionLog
from tapeflow.protos import Summary as Summary
from tapeflow.protos import SummaryMetadata as SummaryMetadata
from tapeflow.protos import TensorInfo as TensorInfo
from tapeflow.sysconfig import CXX11_ABI_FLAG as CXX11_ABI_FLAG
from tapeflow.sysconfig import CXX_VERSION as CXX_VERSION
from tapeflow.sysconfig import MONOLITHIC_BUILD as MONOLITHIC_BUILD
from tapeflow.v1 import initializers as initializers
from tapeflow.v1 import spectral as spectral
from tapeflow.v1.conversions import convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices
from tapeflow.v1.conversions import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from tapeflow.v1.gradient_registry import NoGradient as NoGradient
from tapeflow.v1.gradient_registry import NotDifferentiable as NotDifferentiable
from tapeflow.v1.gradient_registry import RegisterGradient as RegisterGradient
from tapeflow.v1.gradient_registry import no_gradient as no_gradient
from tapeflow.v1.initializers import constant_initializer as constant_initializer
from tapeflow.v1.initializers import glorot_normal_initializer as glorot_normal_initializer
from tapeflow.v1.initializers import glorot_uniform_initializer as glorot_uniform_initializer
from tapeflow.v1.initializers import ones_initializer as ones_initializer
from tapeflow.v1.initializers import orthogonal_initializer as orthogonal_initializer
from tapeflow.v1.initializers import random_normal_initializer as random_normal_initializer
from tapeflow.v1.initializers import random_uniform_initializer as random_uniform_initializer
from tapeflow.v1.initializers import truncated_normal_initializer as truncated_normal_initializer
from tapeflow.v1.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling_initializer
from tapeflow.v1.initializers import variance_scaling_initializer as variance_scaling_initializer
from tapeflow.v1.initializers import zeros_initializer as zeros_initializer
from tapeflow.v1.modes import control_flow_v2_enabled as control_flow_v2_enabled
from tapeflow.v1.modes import disable_control_flow_v2 as disable_control_flow_v2
from tapeflow.v1.modes import disable_eager_execution as disable_eager_execution
from tapeflow.v1.modes import disable_resource_variables as disable_resource_variables
from tapeflow.v1.modes import disable_v2_behavior as disable_v2_behavior
from tapeflow.v1.modes import enable_control_flow_v2 as enable_control_flow_v2
from tapeflow.v1.modes import enable_resource_variables as enable_resource_variables
from tapeflow.v1.modes import enable_v2_behavior as enable_v2_behavior
from tapeflow.v1.modes import executing_eagerly_outside_functions as executing_eagerly_outside_functions
from tapeflow.v1.modes import resource_variables_enabled as resource_variables_enabled
from tapeflow.v1.numeric_checks import add_check_numerics_ops as add_check_numerics_ops
from tapeflow.v1.partitioned import create_partitioned_variables as create_partitioned_variables
from tapeflow.v1.partitioned import fixed_size_partitioner as fixed_size_partitioner
from tapeflow.v1.partitioned import min_max_variable_partitioner as min_max_variable_partitioner
from tapeflow.v1.partitioned import variable_axis_size_partitioner as variable_axis_size_partitioner
from tapeflow.v1.scopes import colocate_with as colocate_with
from tapeflow.v1.scopes import container as container
from tapeflow.v1.scopes import op_scope as op_scope
from tapeflow.v1.sparse_names import sparse_placeholder as sparse_placeholder
from tapeflow.v1.variable_getting import get_local_variable as get_local_variable
from tapeflow.v1.variable_getting import get_variable as get_variable
from tapeflow.v1.variable_getting import no_regularizer as no_regularizer
from tapeflow.v1.variable_scoping import VariableScope as VariableScope
from tapeflow.v1.variable_scoping import get_variable_scope as get_variable_scope
from tapeflow.v1.variable_scoping import variable_op_scope as variable_op_scope
from tapeflow.v1.variable_scoping import variable_scope as variable_scope
__all__ = [
    "AUTO_REUSE",
    "AggregationMethod",
    "Assert",
    "AttrValue",
    "COMPILER_VERSION",
    "CXX11_ABI_FLAG",
    "CXX_VERSION",
    "ConditionalAccumulator",
    "ConditionalAccumulatorBase",
    "ConfigProto",
    "CriticalSection",
    "DType",
    "DeviceSpec",
    "Dimension",
    "Event",
    "FIFOQueue",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "FixedLengthRecordReader",
    "GIT_VERSION",
    "GPUOptions",
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
    "GradientTape",
    "Graph",
    "GraphDef",
    "GraphKeys",
    "GraphOptions",
    "HistogramProto",
    "IdentityReader",
    "IndexedSlices",
    "IndexedSlicesSpec",
    "InteractiveSession",
    "LMDBReader",
    "LogMessage",
    "MONOLITHIC_BUILD",
    "MetaGraphDef",
    "Module",
    "NameAttrList",
    "NoGradient",
    "NodeDef",
    "NoneTensorSpec",
    "NotDifferentiable",
    "OpError",
    "Operation",
    "OptimizerOptions",
    "OptionalSpec",
    "PaddingFIFOQueue",
    "Print",
    "PriorityQueue",
    "QUANTIZED_DTYPES",
    "QueueBase",
    "RaggedFeature",
    "RaggedTensor",
    "RaggedTensorSpec",
    "RandomShuffleQueue",
    "ReaderBase",
    "RegisterGradient",
    "RunMetadata",
    "RunOptions",
    "Session",
    "SessionLog",
    "SparseConditionalAccumulator",
    "SparseFeature",
    "SparseTensor",
    "SparseTensorSpec",
    "SparseTensorValue",
    "Summary",
    "SummaryMetadata",
    "TFRecordReader",
    "Tensor",
    "TensorArray",
    "TensorArraySpec",
    "TensorInfo",
    "TensorShape",
    "TensorSpec",
    "TextLineReader",
    "TypeSpec",
    "UnconnectedGradients",
    "VERSION",
    "VarLenFeature",
    "Variable",
    "VariableAggregation",
    "VariableScope",
    "VariableSynchronization",
    "WholeFileReader",
    "abs",
    "accumulate_n",
    "acos",
    "acosh",
    "add",
    "add_check_numerics_ops",
    "add_n",
    "add_to_collection",
    "add_to_collections",
    "all_variables",
    "angle",
    "app",
    "approx_top_k",
    "arg_max",
    "arg_min",
    "argmax",
    "argmin",
    "argsort",
    "as_dtype",
    "as_string",
    "asin",
    "asinh",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_type",
    "assert_variables_initialized",
    "assign",
    "assign_add",
    "assign_sub",
    "atan",
    "atan2",
    "atanh",
    "audio",
    "autodiff",
    "autograph",
    "batch_gather",
    "batch_scatter_update",
    "batch_to_space",
    "batch_to_space_nd",
    "betainc",
    "bfloat16",
    "bincount",
    "bitcast",
    "bitwise",
    "bool",
    "boolean_mask",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "case",
    "cast",
    "ceil",
    "check_numerics",
    "cholesky",
    "cholesky_solve",
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "colocate_with",
    "compat",
    "complex",
    "complex128",
    "complex64",
    "concat",
    "cond",
    "config",
    "confusion_matrix",
    "conj",
    "constant",
    "constant_initializer",
    "container",
    "contrib",
    "control_dependencies",
    "control_flow_v2_enabled",
    "conv",
    "conv2d_backprop_filter_v2",
    "conv2d_backprop_input_v2",
    "convert_to_tensor",
    "convert_to_tensor_or_indexed_slices",
    "convert_to_tensor_or_sparse_tensor",
    "cos",
    "cosh",
    "count_nonzero",
    "count_up_to",
    "create_partitioned_variables",
    "cross",
    "cumprod",
    "cumsum",
    "custom_gradient",
    "data",
    "debugging",
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "delete_session_tensor",
    "depth_to_space",
    "dequantize",
    "deserialize_many_sparse",
    "device",
    "diag",
    "diag_part",
    "digamma",
    "dimension_at_index",
    "dimension_value",
    "disable_control_flow_v2",
    "disable_eager_execution",
    "disable_resource_variables",
    "disable_tensor_equality",
    "disable_v2_behavior",
    "disable_v2_tensorshape",
    "distribute",
    "distributions",
    "div",
    "div_no_nan",
    "divide",
    "double",
    "dtypes",
    "dynamic_partition",
    "dynamic_stitch",
    "edit_distance",
    "einsum",
    "enable_control_flow_v2",
    "enable_eager_execution",
    "enable_resource_variables",
    "enable_tensor_equality",
    "enable_v2_behavior",
    "enable_v2_tensorshape",
    "encode_base64",
    "ensure_shape",
    "equal",
    "erf",
    "erfc",
    "errors",
    "estimator",
    "executing_eagerly",
    "executing_eagerly_outside_functions",
    "exp",
    "expand_dims",
    "experimental",
    "expm1",
    "extract_image_patches",
    "extract_volume_patches",
    "eye",
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
    "feature_column",
    "fft",
    "fft2d",
    "fft3d",
    "fftnd",
    "fill",
    "fingerprint",
    "fixed_size_partitioner",
    "flags",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_div",
    "floordiv",
    "floormod",
    "foldl",
    "foldr",
    "function",
    "gather",
    "gather_nd",
    "get_all_collection_keys",
    "get_collection",
    "get_collection_ref",
    "get_default_graph",
    "get_default_session",
    "get_local_variable",
    "get_logger",
    "get_seed",
    "get_session_handle",
    "get_session_tensor",
    "get_static_value",
    "get_variable",
    "get_variable_scope",
    "gfile",
    "global_norm",
    "global_variables",
    "global_variables_initializer",
    "glorot_normal_initializer",
    "glorot_uniform_initializer",
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
    "ifft",
    "ifft2d",
    "ifft3d",
    "ifftnd",
    "igamma",
    "igammac",
    "imag",
    "image",
    "import_graph_def",
    "init_scope",
    "initialize_all_tables",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "initializers",
    "inside_function",
    "int16",
    "int32",
    "int64",
    "int8",
    "invert_permutation",
    "io",
    "irfftnd",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_non_decreasing",
    "is_numeric_tensor",
    "is_strictly_increasing",
    "is_symbolic_tensor",
    "is_tensor",
    "is_variable_initialized",
    "keras",
    "layers",
    "lbeta",
    "less",
    "less_equal",
    "lgamma",
    "lin_space",
    "linalg",
    "linspace",
    "lite",
    "load_library",
    "load_op_library",
    "local_variables",
    "local_variables_initializer",
    "log",
    "log1p",
    "log_sigmoid",
    "logging",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lookup",
    "losses",
    "make_ndarray",
    "make_template",
    "make_tensor_proto",
    "manip",
    "map_fn",
    "matching_files",
    "math",
    "matmul",
    "matrix_band_part",
    "matrix_determinant",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_inverse",
    "matrix_set_diag",
    "matrix_solve",
    "matrix_solve_ls",
    "matrix_square_root",
    "matrix_transpose",
    "matrix_triangular_solve",
    "maximum",
    "meshgrid",
    "metrics",
    "min_max_variable_partitioner",
    "minimum",
    "mixed_precision",
    "mod",
    "model_variables",
    "moving_average_variables",
    "multinomial",
    "multiply",
    "name_scope",
    "negative",
    "nest",
    "newaxis",
    "nn",
    "no_gradient",
    "no_op",
    "no_regularizer",
    "nondifferentiable_batch_function",
    "norm",
    "not_equal",
    "numpy_function",
    "one_hot",
    "ones",
    "ones_initializer",
    "ones_like",
    "op_scope",
    "orthogonal_initializer",
    "pad",
    "parallel_stack",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "placeholder",
    "placeholder_with_default",
    "polygamma",
    "pow",
    "print",
    "profiler",
    "py_func",
    "py_function",
    "python_io",
    "qint16",
    "qint32",
    "qint8",
    "qr",
    "quantization",
    "quantize",
    "quantize_v2",
    "quantized_concat",
    "queue",
    "quint16",
    "quint8",
    "ragged",
    "ragged_fill_empty_rows",
    "ragged_fill_empty_rows_grad",
    "random",
    "random_crop",
    "random_gamma",
    "random_index_shuffle",
    "random_normal",
    "random_normal_initializer",
    "random_poisson",
    "random_shuffle",
    "random_uniform",
    "random_uniform_initializer",
    "range",
    "rank",
    "raw_ops",
    "read_file",
    "real",
    "realdiv",
    "reciprocal",
    "recompute_grad",
    "reduce_all",
    "reduce_any",
    "reduce_join",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "regex_replace",
    "register_tensor_conversion_function",
    "repeat",
    "report_uninitialized_variables",
    "required_space_to_batch_paddings",
    "reset_default_graph",
    "reshape",
    "resource",
    "resource_loader",
    "resource_variables_enabled",
    "reverse",
    "reverse_sequence",
    "reverse_v2",
    "rfftnd",
    "rint",
    "roll",
    "round",
    "rsqrt",
    "saturate_cast",
    "saved_model",
    "scalar_mul",
    "scan",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "searchsorted",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "self_adjoint_eig",
    "self_adjoint_eigvals",
    "sequence_mask",
    "serialize_many_sparse",
    "serialize_sparse",
    "serialize_tensor",
    "set_random_seed",
    "setdiff1d",
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
    "space_to_depth",
    "sparse",
    "sparse_add",
    "sparse_concat",
    "sparse_fill_empty_rows",
    "sparse_mask",
    "sparse_matmul",
    "sparse_maximum",
    "sparse_merge",
    "sparse_minimum",
    "sparse_placeholder",
    "sparse_reduce_max",
    "sparse_reduce_max_sparse",
    "sparse_reduce_sum",
    "sparse_reduce_sum_sparse",
    "sparse_reorder",
    "sparse_reset_shape",
    "sparse_reshape",
    "sparse_retain",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
    "sparse_slice",
    "sparse_softmax",
    "sparse_split",
    "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense",
    "sparse_to_dense",
    "sparse_to_indicator",
    "sparse_transpose",
    "spectral",
    "split",
    "sqrt",
    "square",
    "squared_difference",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "string",
    "string_join",
    "string_split",
    "string_strip",
    "string_to_hash_bucket",
    "string_to_hash_bucket_fast",
    "string_to_hash_bucket_strong",
    "string_to_number",
    "strings",
    "substr",
    "subtract",
    "summary",
    "svd",
    "switch_case",
    "sysconfig",
    "tables_initializer",
    "tan",
    "tanh",
    "tensor_scatter_add",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensor_scatter_sub",
    "tensor_scatter_update",
    "tensordot",
    "test",
    "tile",
    "timestamp",
    "to_bfloat16",
    "to_complex128",
    "to_complex64",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "tpu",
    "trace",
    "train",
    "trainable_variables",
    "transpose",
    "truediv",
    "truncated_normal",
    "truncated_normal_initializer",
    "truncatediv",
    "truncatemod",
    "tuple",
    "type_spec_from_value",
    "types",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uniform_unit_scaling_initializer",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
    "unstack",
    "user_ops",
    "variable_axis_size_partitioner",
    "variable_creator_scope",
    "variable_op_scope",
    "variable_scope",
    "variables_initializer",
    "variance_scaling_initializer",
    "variant",
    "vectorized_map",
    "verify_tensor_all_finite",
    "version",
    "where",
    "where_v2",
    "while_loop",
    "wrap_function",
    "write_file",
    "xla",
    "zeros",
    "zeros_initializer",
    "zeros_like",
    "zeta",
]
