"""Collective operations: what all processes of a group call, each with a value of its own.

A process that belongs to no group is the only one. In a step that is one program over a mesh they are XLA's.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.control import process_group
from tapeflow.ops.control.cross_replica import AXIS, outside_of_replicas
from tapeflow.ops.signature import one_of
from tapeflow.ops.table import NUMERIC, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

# What each is to a process group.
_MERGES = {"Min": "min", "Max": "max", "Mul": "product", "Add": "sum"}


@op("CollectiveReduceV2", "input: T, group_size: int32, group_key: int32, instance_key: int32 -> data: T",
    types={"T": NUMERIC}, attrs={"merge_op": one_of(*_MERGES), "final_op": one_of("Id", "Div")},
    shape=shapes.same_as_first, stateful=True)  # fmt: skip
def CollectiveReduceV2(
    xp: ModuleType, input: Array, group_size: Array, group_key: Array, instance_key: Array, merge_op: str,
    final_op: str,
):
    """What `merge_op` makes of the values of all; "Div" divides it by their number."""
    group = process_group.current()
    count = 1 if group is None else group.size
    _check_size(group_size, count)
    total = np.array(input) if group is None else group.all_reduce(np.asarray(input), _MERGES[merge_op])
    return _divided(np, total, count, final_op)


def _check_size(asked, count: int):
    if int(asked) != count:
        raise InvalidArgumentError(None, None, f"group_size is {int(asked)}, but the group has {count} members")


def _divided(xp: ModuleType, total, count: int, final_op: str):
    if final_op == "Id":
        return total
    whole = np.issubdtype(total.dtype, np.integer)
    return (total // count if whole else total / total.dtype.type(count)).astype(total.dtype)


@CollectiveReduceV2.compiled(static="group_size")
def _(
    xp: ModuleType, input: Array, group_size: Array, group_key: Array, instance_key: Array, merge_op: str,
    final_op: str,
):
    from jax import lax

    try:
        count = int(lax.axis_size(AXIS))
    except NameError:
        return outside_of_replicas(input)
    _check_size(group_size, count)
    if merge_op == "Mul":
        total = xp.prod(lax.all_gather(input, AXIS), axis=0, dtype=input.dtype)
    else:
        total = {"Add": lax.psum, "Min": lax.pmin, "Max": lax.pmax}[merge_op](input, AXIS)
    return _divided(xp, total, count, final_op)


@CollectiveReduceV2.gradient
def _(call: GradientCall, dy: Tensor):
    if call.merge_op != "Add":
        raise LookupError(f"No gradient is defined for CollectiveReduceV2 with merge_op {call.merge_op}")
    return CollectiveReduceV2(dy, call.group_size, call.group_key, call.instance_key, "Add", call.final_op), *[None] * 3


CollectiveReduceV2.reference(lambda input, group_size, group_key, instance_key, merge_op, final_op: input)  # of one


@CollectiveReduceV2.samples
def _(rng: SampleGenerator):
    for merge in _MERGES:
        yield Sample(rng.normal(2, 3), 1, 0, 0, merge_op=merge, final_op="Id", differentiable=merge == "Add")
    yield Sample(rng.normal(3), 1, 0, 1, merge_op="Add", final_op="Div")
    yield Sample(rng.normal(3), 2, 0, 1, merge_op="Add", final_op="Id", raises=InvalidArgumentError)


def _gathered(call: ShapeCall):
    shape, size = call.shape(0), shapes.scalar_value(call, 1)
    alone = size is not None and int(size) == 1
    return [shape if shape is None or alone else (None, *shape[1:])]


@op("CollectiveGatherV2", "input: T, group_size: int32, group_key: int32, instance_key: int32 -> data: T",
    types={"T": NUMERIC}, shape=_gathered, ranks="input: 1+", stateful=True)  # fmt: skip
def CollectiveGatherV2(xp: ModuleType, input: Array, group_size: Array, group_key: Array, instance_key: Array):
    """The values of all, one after another along the first axis, of which they may have different lengths."""
    group = process_group.current()
    _check_size(group_size, 1 if group is None else group.size)
    return np.array(input) if group is None else np.concatenate(group.all_gather(np.asarray(input)))


@CollectiveGatherV2.compiled(static="group_size")
def _(xp: ModuleType, input: Array, group_size: Array, group_key: Array, instance_key: Array):
    from jax import lax

    try:
        _check_size(group_size, int(lax.axis_size(AXIS)))
    except NameError:
        return outside_of_replicas(input)
    return lax.all_gather(input, AXIS, tiled=True)


CollectiveGatherV2.gradient(None)
CollectiveGatherV2.reference(lambda input, group_size, group_key, instance_key: input)  # of one


@CollectiveGatherV2.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), 1, 0, 0)
    yield Sample(rng.normal(3), 2, 0, 1, raises=InvalidArgumentError)
