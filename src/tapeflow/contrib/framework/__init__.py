"""`tf.contrib.framework`: arg_scope, variables of models, checkpoints, checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tapeflow import train
from tapeflow.checkpoint.reading import list_variables, load_checkpoint, load_variable
from tapeflow.contrib.framework import audio_ops, nest
from tapeflow.contrib.framework.checks import (
    assert_scalar_int,
    convert_to_tensor_or_sparse_tensor,
    reduce_sum_n,
    smart_case,
    smart_cond,
    with_same_shape,
    with_shape,
)
from tapeflow.contrib.framework.fusing import fuse_op
from tapeflow.contrib.framework.orthogonal import (
    convolutional_delta_orthogonal,
    convolutional_orthogonal_1d,
    convolutional_orthogonal_2d,
    convolutional_orthogonal_3d,
)
from tapeflow.contrib.framework.remapping import (
    load_and_remap_matrix_initializer,
    load_embedding_initializer,
    load_linear_multiclass_bias_initializer,
    load_variable_slot_initializer,
)
from tapeflow.contrib.framework.scoping import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from tapeflow.contrib.framework.variables import (
    VariableDeviceChooser,
    add_model_variable,
    assert_global_step,
    assert_or_get_global_step,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    create_global_step,
    filter_variables,
    get_global_step,
    get_local_variables,
    get_model_variables,
    get_or_create_global_step,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
    zero_initializer,
)
from tapeflow.core.annotations import PathLike, Tensor
from tapeflow.core.context import current_name_scope
from tapeflow.core.convert import is_tensor
from tapeflow.core.specs.bounded_tensor_spec import BoundedTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.ops.control.py_functions import py_func
from tapeflow.ops.control.shape_assertions import assert_scalar
from tapeflow.ops.control.type_assertions import assert_same_float_dtype, is_numeric_tensor
from tapeflow.ops.math.monotonic import is_non_decreasing, is_strictly_increasing
from tapeflow.ops.math.sorting import argsort, sort
from tapeflow.ops.static import get_static_value as smart_constant_value
from tapeflow.v1.metrics.weighting import squeezed as remove_squeezable_dimensions


def get_placeholders(graph: Graph):
    """The outputs of the placeholders of a graph. Raises TypeError for what is no graph."""
    if not hasattr(graph, "get_operations"):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def get_name_scope():
    """The name scope that is open, "" where there is none."""
    return current_name_scope().rstrip("/")


def get_graph_from_inputs(op_input_list: Sequence[Tensor], graph: Graph | None = None):
    """The graph of tensors, or the default one.

    Raises ValueError for tensors of different graphs, or of another one than `graph`.
    """

    first = None
    for each in op_input_list:
        own = getattr(each, "graph", None)
        if own is None:
            continue
        if graph is not None and own is not graph:
            raise ValueError(f"{each} is not from the passed-in graph.")
        if first is not None and own is not first.graph:
            raise ValueError(f"{each} must be from the same graph as {first}.")
        first = each if first is None else first
    return graph or (get_default_graph() if first is None else first.graph)


def prepend_name_scope(name: str, import_scope: str):
    """A name below a scope."""
    return f"{import_scope.rstrip('/')}/{name}" if import_scope else name


def strip_name_scope(name: str, export_scope: str):
    """A name without the scope that it begins with."""
    scope = f"{export_scope.rstrip('/')}/" if export_scope else ""
    return name[len(scope) :] if scope and name.startswith(scope) else name


def _left_as_it_is(*args, **kwargs):
    """A decorator that leaves what it decorates as it is."""
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return lambda each: each


deprecated = deprecated_args = deprecated_arg_values = _left_as_it_is


def init_from_checkpoint(checkpoint_dir: PathLike, assignment_map):
    """Lets variables begin with what a checkpoint has; see `tf.train.init_from_checkpoint`."""

    return train.init_from_checkpoint(checkpoint_dir, assignment_map)
