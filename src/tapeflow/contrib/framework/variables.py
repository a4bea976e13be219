"""Variables of models: made, found by their names, and set from values or from checkpoints."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.checkpoint.reading import load_checkpoint
from tapeflow.checkpoint.saver import Saver
from tapeflow.contrib.framework.scoping import add_arg_scope
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Collections, DTypeLike, ShapeLike, Variable
from tapeflow.core.device import DeviceSpec
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.build.placeholders import placeholder
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.control.grouping import group
from tapeflow.ops.state.variable import VariableAggregation, VariableSynchronization, VariableV1
from tapeflow.train.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
)
from tapeflow.v1.variable_getting import get_variable

if TYPE_CHECKING:
    from tapeflow.graph.operation import Operation

__all__ = [
    "VariableDeviceChooser", "add_model_variable", "assert_global_step", "assert_or_get_global_step",
    "assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn",
    "create_global_step", "filter_variables", "get_global_step", "get_local_variables",
    "get_model_variables", "get_or_create_global_step", "get_trainable_variables", "get_unique_variable",
    "get_variable_full_name", "get_variables", "get_variables_by_name", "get_variables_by_suffix",
    "get_variables_to_restore", "global_variable", "local_variable", "model_variable", "variable",
    "zero_initializer",
]  # fmt: skip


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer"):
    """Sets a variable to zeros."""
    return ref.assign(zeros(ref.shape, ref.dtype.base_dtype), name=name)


def assert_or_get_global_step(graph: Graph | None = None, global_step_tensor=None):
    """The global step that is given, once it is known to be one; else that of the graph."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def local_variable(
    initial_value: float, validate_shape: bool = True, name: str | None = None,
    use_resource: bool | None = None,
):
    """A variable that is not saved and not trained."""
    return VariableV1(
        initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape, name=name, use_resource=use_resource,
    )  # fmt: skip


def global_variable(
    initial_value: float, validate_shape: bool = True, name: str | None = None,
    use_resource: bool | None = None,
):
    """A variable that is saved and not trained."""
    return VariableV1(
        initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
        validate_shape=validate_shape, name=name, use_resource=use_resource,
    )  # fmt: skip


@add_arg_scope
def variable(
    name: str, shape: ShapeLike | None = None, dtype: DTypeLike | None = None, initializer=None,
    regularizer: Callable[..., Any] | None = None, trainable: bool = True, collections: Sequence[str] | None = None,
    caching_device: str | Callable[..., Any] | None = None, device=None, partitioner: Callable[..., Any] | None = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource=None, synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
):  # fmt: skip
    """The variable of that name in the variable scope, made where there is none; on `device`, or as it chooses."""
    collections = list(collections if collections is not None else [GraphKeys.GLOBAL_VARIABLES])
    if GraphKeys.GLOBAL_VARIABLES not in collections and GraphKeys.LOCAL_VARIABLES not in collections:
        collections.append(GraphKeys.GLOBAL_VARIABLES)
    with context.device_v1(device) if device else contextlib.nullcontext():
        return get_variable(
            name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
            trainable=trainable, collections=list(dict.fromkeys(collections)),
            caching_device=caching_device, partitioner=partitioner, custom_getter=custom_getter,
            use_resource=use_resource, synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip


@add_arg_scope
def model_variable(
    name: str, shape: ShapeLike | None = None, dtype: DTypeLike = dtypes.float32, initializer=None,
    regularizer: Callable[..., Any] | None = None, trainable: bool = True, collections: Collections | None = None,
    caching_device: str | Callable[..., Any] | None = None, device=None, partitioner: Callable[..., Any] | None = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource=None, synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
):  # fmt: skip
    """`variable`, which joins the collection of the model's variables too."""
    collections = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(
        name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
        trainable=trainable, collections=collections, caching_device=caching_device, device=device,
        partitioner=partitioner, custom_getter=custom_getter, use_resource=use_resource,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip


def add_model_variable(var: Variable):
    """Puts a variable into the collection of the model's variables."""
    found = get_default_graph().get_collection_ref(GraphKeys.MODEL_VARIABLES)
    if not any(each is var for each in found):
        found.append(var)


def get_variables(scope: str | None = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES):
    """The variables of a collection, whose names begin with the scope and end with the suffix."""
    if scope is not None and not isinstance(scope, str):
        scope = scope.name
    if suffix is not None:
        if ":" not in suffix:
            suffix += ":"
        scope = (scope or "") + ".*" + suffix
    return get_default_graph().get_collection(collection, scope)


def get_model_variables(scope: str | None = None, suffix: str | None = None):
    """The variables of the model."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: str | None = None, suffix: str | None = None):
    """The local variables."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: str | None = None, suffix: str | None = None):
    """The trainable variables."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_to_restore(include=None, exclude=None):
    """The variables of the scopes to include, without those of the scopes to exclude.

    Raises TypeError for scopes that are no list.
    """
    if include is None:
        wanted = get_variables()
    else:
        if not isinstance(include, (list, tuple)):
            raise TypeError("include is provided but is not a list or a tuple.")
        wanted = [each for scope in include for each in get_variables(scope)]
    if exclude is None:
        return wanted
    if not isinstance(exclude, (list, tuple)):
        raise TypeError("exclude is provided but is not a list or a tuple.")
    without = {id(each) for scope in exclude for each in get_variables(scope)}
    return [each for each in wanted if id(each) not in without]


def get_variables_by_suffix(suffix: str, scope: str | None = None):
    """The variables whose names end so."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope: str | None = None):
    """The variables whose names end with this one, in a scope or without."""
    suffix = "/" + given_name + ":|^" + given_name + ":"
    return get_variables(scope=scope, suffix=suffix)


def get_unique_variable(var_op_name: str):
    """The variable of that name. Raises ValueError for none and for several."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variable_full_name(var):
    """The name under which a variable is saved."""
    return var.op.name


def filter_variables(var_list: Sequence[Any], include_patterns=None, exclude_patterns=None, reg_search: bool = True):
    """The variables whose names match a pattern to include, and none to exclude."""
    match = re.search if reg_search else re.match

    def any_of(patterns, var):
        return any(match(pattern, var.op.name) for pattern in patterns)

    found = list(var_list)
    if include_patterns is not None:
        found = [var for var in found if any_of(include_patterns, var)]
    if exclude_patterns is not None:
        found = [var for var in found if not any_of(exclude_patterns, var)]
    return found


def assign_from_values(var_names_to_values: dict[str, Any]):
    """(the operation that assigns, what to feed it): variables by their names, set to values."""
    feeds, assignments = {}, []
    for name, value in var_names_to_values.items():
        var = get_unique_variable(name)
        with context.name_scope_v1(None, "assign_from_values"):
            source = placeholder(var.dtype.base_dtype, name="placeholder_for_" + var.op.name)
            assignments.append(var.assign(source))
        feeds[source] = value.reshape(var.shape.as_list())
    return group(*assignments), feeds


def assign_from_values_fn(var_names_to_values: dict[str, Any]):
    """A function of a session that assigns the values."""
    assign_op, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign_op, feeds)


def _by_saved_name(var_list: Sequence[Any]):
    """{name in the checkpoint: [variables]}."""
    if isinstance(var_list, dict):
        return {
            name: list(value) if isinstance(value, (list, tuple)) else [value]
            for name, value in var_list.items()
        }
    found: dict[str, list[Any]] = {}
    for var in var_list:
        found.setdefault(get_variable_full_name(var), []).append(var)
    return found


def assign_from_checkpoint(model_path, var_list: Sequence[Any], ignore_missing_vars: bool = False):
    """(the operation that assigns, what to feed it): variables, set from a checkpoint.

    Raises ValueError for a variable that the checkpoint lacks (unless these are ignored), or has in another shape.
    """
    reader = load_checkpoint(model_path)
    feeds, assignments = {}, []
    for saved_name, variables in _by_saved_name(var_list).items():
        if not reader.has_tensor(saved_name):
            if ignore_missing_vars:
                continue
            raise ValueError(f"Checkpoint is missing variable [{saved_name}]")
        value = reader.get_tensor(saved_name)
        for var in variables:
            shape = var.shape.as_list()
            if value.size != var.shape.num_elements():
                raise ValueError(
                    f"Total size of new array must be unchanged for {saved_name} lh_shape: "
                    f"[{list(value.shape)}], rh_shape: [{shape}]"
                )
            with context.name_scope_v1(None, "assign_from_checkpoint"):
                source = placeholder(var.dtype.base_dtype, name="placeholder_for_" + var.op.name)
                assignments.append(var.assign(source))
            feeds[source] = value.reshape(shape)
    return group(*assignments), feeds


def assign_from_checkpoint_fn(
    model_path: str, var_list, ignore_missing_vars: bool = False, reshape_variables: bool = False
):
    """A function of a session that sets the variables from a checkpoint. Raises ValueError for an empty list."""
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = load_checkpoint(model_path)
        if isinstance(var_list, dict):
            var_list = {name: v for name, v in var_list.items() if reader.has_tensor(name)}
        else:
            var_list = [v for v in var_list if reader.has_tensor(get_variable_full_name(v))]
    if not var_list:
        return None
    if reshape_variables:
        assign_op, feeds = assign_from_checkpoint(model_path, var_list)
        return lambda session: session.run(assign_op, feeds)
    saver = Saver(var_list, reshape=False, write_version=2)
    return lambda session: saver.restore(session, model_path)


class VariableDeviceChooser:
    """A function of an operation that places variables on parameter servers, one after another."""

    def __init__(
        self, num_tasks: int = 0, job_name: str = "ps", device_type: str = "CPU", device_index: int = 0, replica=None
    ):
        self._job_name = job_name if num_tasks else None
        self._num_tasks, self._device_type = num_tasks, device_type
        self._device_index, self._replica = device_index, replica
        self._next = 0

    def __call__(self, op: Operation):
        task = None
        if self._num_tasks:
            task, self._next = self._next, (self._next + 1) % self._num_tasks
        return DeviceSpec(
            job=self._job_name, replica=self._replica, task=task, device_type=self._device_type,
            device_index=self._device_index,
        ).to_string()  # fmt: skip
