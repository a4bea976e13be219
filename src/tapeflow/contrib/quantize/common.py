"""What both rewrites share: the counter of steps, and edges that come from another tensor."""

from __future__ import annotations

import functools

from tapeflow.compat import v1

STEP = "fake_quantization_step"
# Operations of gradients and summaries, which stay as they are.
SKIPPED = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")


def CreateOrGetQuantizationStep():
    """The number of times that the graph has run, as a tensor; each run adds one to it."""
    graph = v1.get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{STEP}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = v1.get_variable(
            STEP, [], v1.int64, v1.zeros_initializer(), trainable=False,
            collections=[v1.GraphKeys.GLOBAL_VARIABLES], aggregation=v1.VariableAggregation.ONLY_FIRST_REPLICA,
        )  # fmt: skip
        with graph.name_scope(f"{STEP}/"):
            return v1.identity(v1.assign_add(step, 1))


def BatchNormGroups(graph):
    """The scopes of the batch normalizations of a graph that are written as sums and products.

    Args:
      graph: a graph.

    Returns:
      A list of strings: what the names of their operations have before "BatchNorm/batchnorm".
    """
    found = (op.name.rpartition("BatchNorm/batchnorm") for op in graph.get_operations())
    return list(dict.fromkeys(scope for scope, norm, _ in found if norm and not scope.startswith(SKIPPED)))


def RerouteTensor(t0, t1, can_modify=None):
    """Let those who use `t1` use `t0`.

    Args:
      t0: the tensor to use.
      t1: a tensor that is used.
      can_modify: the only operations to change; None for all.

    Returns:
      How many inputs have changed.
    """
    edges = [
        (op, i)
        for op in dict.fromkeys(t1.consumers())
        if can_modify is None or op in can_modify
        for i, x in enumerate(op.inputs)
        if x is t1
    ]
    for op, i in edges:
        op.update_input(i, t0)
    return len(edges)


def consumers(op):
    """The operations that use outputs of an operation, but for those of gradients and summaries."""
    found = dict.fromkeys(each for tensor in op.outputs for each in tensor.consumers())
    return [each for each in found if not each.name.startswith(SKIPPED)]


def either(condition, one, other, name):
    """One of two values; the tensor has the name that results of `tf.cond` have in 1.x.

    Args:
      condition: a tensor of one bool.
      one: a tensor, or a function that makes it.
      other: the same.
      name: the scope of the choice.

    Returns:
      A tensor.
    """
    functions = [each if callable(each) else functools.partial(v1.identity, each) for each in (one, other)]
    chosen = v1.cond(condition, *functions, name=name)
    with v1.name_scope(f"{chosen.op.name}/"):
        return v1.identity(chosen, name="Merge")
