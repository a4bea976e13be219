"""The operations of 1.x that initialise variables, and say which are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.errors import FailedPreconditionError
from tapeflow.core.public import public
from tapeflow.core.variables import graph_parts
from tapeflow.graph.build import building
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control import grouping, staging
from tapeflow.ops.indexing.boolean_mask import boolean_mask
from tapeflow.ops.math.logic import logical_not
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.ops.state import rows as state


@api(v1="variables_initializer")
@public
def variables_initializer(var_list: Sequence[Any], name: str | None = "init"):
    """An operation that gives the variables their initial values; eagerly they have them."""
    if var_list and not context.executing_eagerly():
        return grouping.group(*[v.initializer for v in var_list], name=name)
    return grouping.group(name=name)


@api(v1="global_variables_initializer")
@public
def global_variables_initializer():
    """An operation that initialises the variables of the default graph."""
    if context.executing_eagerly():
        return grouping.no_op(name="global_variables_initializer")
    return variables_initializer(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))


@api(v1="local_variables_initializer")
@public
def local_variables_initializer():
    """An operation that initialises the local variables of the default graph."""
    if context.executing_eagerly():
        return grouping.no_op(name="local_variables_initializer")
    return variables_initializer(get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES))


@api(v1="initialize_all_variables")
@public
def initialize_all_variables():
    """The old name of `global_variables_initializer`."""
    return global_variables_initializer()


@api(v1="initialize_local_variables")
@public
def initialize_local_variables():
    """The old name of `local_variables_initializer`."""
    return local_variables_initializer()


@api(v1="initialize_variables")
@public
def initialize_variables(var_list: Sequence[Any], name: str | None = "init"):
    """The old name of `variables_initializer`."""
    return variables_initializer(var_list, name)


@api(v1="is_variable_initialized")
@public
def is_variable_initialized(variable):
    """A bool tensor: whether the variable has a value."""
    if isinstance(variable, SymbolicTensor) and variable.dtype == dtypes.resource:
        return building.call(
            variable.graph, state.VarIsInitializedOp, (variable,), {}, "IsVariableInitialized"
        ).outputs[0]
    return variable.is_initialized()


@api(v1="report_uninitialized_variables")
@public
def report_uninitialized_variables(var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"):
    """A string tensor: the names of the variables that have no value."""
    if var_list is None:
        graph = get_default_graph()
        var_list = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(
            GraphKeys.LOCAL_VARIABLES
        )
    with context.name_scope(name):
        if not var_list:
            return building.convert.constant([], dtype=dtypes.string)
        unset = logical_not(stack([v.is_initialized() for v in var_list]))
        names = building.convert.constant(
            [v.op.name if graph_parts(v) is not None else v.name[:-2] for v in var_list]
        )
        return boolean_mask(names, unset)


@api(v1="assert_variables_initialized")
@public
def assert_variables_initialized(var_list: Sequence[Any] | None = None):
    """An operation that raises FailedPreconditionError where a variable has no value; None without variables."""
    if var_list is None:
        graph = get_default_graph()
        var_list = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(
            GraphKeys.LOCAL_VARIABLES
        )
    if not var_list:
        return None

    names = [v.name.removesuffix(":0") for v in var_list]

    def check(given: list[Any]) -> None:
        for name, there in zip(names, given[1].numpy(), strict=True):
            if not there:
                raise FailedPreconditionError(
                    None, None, f"Attempting to use uninitialized value {name}"
                )

    known = stack([v.is_initialized() for v in var_list])
    return staging.nodes.effect(
        "Assert", check, [reduce_all(known), known], "assert_variables_initialized"
    )
