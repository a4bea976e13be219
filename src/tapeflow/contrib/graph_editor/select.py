"""Operations and tensors by name, by kind and by place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.graph_editor import util

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph


def can_be_regex(obj):
    """Whether it is a string or a pattern."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj):
    """The pattern of a string. Raises ValueError for other objects."""
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def _inputs(ops):
    return util.unique(*(op.inputs for op in ops))


def _outputs(ops):
    return [tensor for op in ops for tensor in op.outputs]


def filter_ts(ops: Graph, positive_filter: Callable[..., Any]):
    """The inputs and outputs of operations that a function takes; True: all."""
    ops = util.make_list_of_op(ops)
    found = util.unique(_inputs(ops), _outputs(ops))
    return found if positive_filter is True else [t for t in found if positive_filter(t)]


def filter_ts_from_regex(ops: Graph, regex):
    """The inputs and outputs whose names have a pattern in them."""
    pattern = make_regex(regex)
    return filter_ts(ops, lambda tensor: pattern.search(tensor.name))


def filter_ops(ops, positive_filter: Callable[..., Any]):
    """The operations that a function takes; True: all."""
    ops = util.make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


def filter_ops_from_regex(ops: Graph, regex: Any):
    """The operations whose names have a pattern in them."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def get_name_scope_ops(ops, scope: str):
    """The operations in a scope."""
    return filter_ops_from_regex(ops, f"^{scope.removesuffix('/')}(/.*)?$")


def check_cios(control_inputs: bool = False, control_outputs=None, control_ios=None):
    """(whether control inputs are meant, ControlOutputs or None); `control_ios` stands for both.

    Raises TypeError for other objects, ValueError for both of the last two.
    """
    for given in (control_outputs, control_ios):
        if given is not None and not isinstance(given, util.ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(given)}")
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


def get_ops_ios(ops, control_inputs: bool = False, control_outputs=None, control_ios: Sequence[Any] | None = None):
    """The operations right before and after operations, each once."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found: list = []
    for op in util.make_list_of_op(ops):
        found += [tensor.op for tensor in op.inputs]
        for tensor in op.outputs:
            found += tensor.consumers()
        if control_outputs is not None:
            found += control_outputs.get(op)
        if control_inputs:
            found += op.control_inputs
    return util.unique(found)


def compute_boundary_ts(ops: Sequence[Any]):
    """(inputs from outside, outputs that are not used inside only, inputs from inside) of operations."""
    ops = util.make_list_of_op(ops)
    inputs, outputs, inside = _inputs(ops), _outputs(ops), set(ops)
    made = set(outputs)
    within = [tensor for tensor in inputs if tensor in made]
    only = {tensor for tensor in within if inside.issuperset(tensor.consumers())}
    return (
        [tensor for tensor in inputs if tensor not in made],
        [tensor for tensor in outputs if tensor not in only],
        within,
    )


def _selected(args: Sequence[Any], kind: str, graph, positive_filter, marked_only: bool):
    """What regexes, operations and tensors stand for; `(?#ops)` and `(?#ts)` mark what a regex is for."""
    if graph is not None and not isinstance(graph, v1.Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    mine, other = ("(?#ops)", "(?#ts)") if kind == "ops" else ("(?#ts)", "(?#ops)")
    by_name, listed = (
        (filter_ops_from_regex, lambda x: util.make_list_of_op(x, ignore_ts=True))
        if kind == "ops"
        else (filter_ts_from_regex, lambda x: util.make_list_of_t(x, ignore_ops=True))
    )
    found: list = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            pattern = make_regex(arg)
            start = pattern.pattern
            if not start.startswith(other) and (start.startswith(mine) or not marked_only):
                found += by_name(graph, pattern)
        else:
            found += listed(arg)
    return util.unique(x for x in found if positive_filter is None or positive_filter(x))


def _check_words(kwargs: dict[str, Any]):
    for name in kwargs:
        if name not in ("restrict_ops_regex", "restrict_ts_regex"):
            raise ValueError(f"Wrong keywords argument: {name}.")


def select_ops(*args, graph: Graph | None = None, positive_filter=None, **kwargs):
    """The operations that the arguments stand for, each once.

    Args:
      *args: regexes of names, operations, tensors, graphs, or lists.
      graph: where regexes look.
      positive_filter: a function of an operation.
      restrict_ops_regex: whether only regexes that begin with `(?#ops)` are meant.

    Raises ValueError for regexes without a graph and for other words, TypeError for another graph.
    """
    _check_words(kwargs)
    return _selected(args, "ops", graph, positive_filter, kwargs.get("restrict_ops_regex", False))


def select_ts(*args, graph: Graph | None = None, positive_filter=None, **kwargs):
    """The tensors that the arguments stand for, each once; see `select_ops`. Regexes for them begin with `(?#ts)`."""
    _check_words(kwargs)
    return _selected(args, "ts", graph, positive_filter, kwargs.get("restrict_ts_regex", False))


def select_ops_and_ts(*args, **kwargs):
    """(operations, tensors); regexes are for operations unless they begin with `(?#ts)`."""
    return (
        select_ops(*args, **{**kwargs, "restrict_ops_regex": False}),
        select_ts(*args, **{**kwargs, "restrict_ts_regex": True}),
    )
