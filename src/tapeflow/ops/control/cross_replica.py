"""Operations across the replicas of a step that is one program: their sum, and the number of each.

Anywhere else each process of a group is a replica; alone there is one, with number 0.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import UnimplementedError
from tapeflow.ops import shapes
from tapeflow.ops.control import process_group
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

# The axis of the mesh that the replicas are on.
AXIS = "replicas"
_SUMMED = (
    dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16, dtypes.int32, dtypes.uint32, dtypes.int64,
)  # fmt: skip


def outside_of_replicas(value):
    """What a compiled operation returns that is in no replica: its value, if this process works alone.

    Raises UnimplementedError for one of several: only the host exchanges values there.
    """
    if process_group.current() is not None:
        raise UnimplementedError(None, None, "Processes exchange values in steps of strategies, or on the host")
    return value


@op("CrossReplicaSum", "input: T, group_assignment: int32 -> output: T", types={"T": _SUMMED},
    shape=shapes.same_as_first, stateful=True)  # fmt: skip
def CrossReplicaSum(xp: ModuleType, input: Array, group_assignment: Array):
    """The sum over the replicas of each group, a row of numbers; without rows over all."""
    group = process_group.current()
    if group is None:
        return np.array(input)
    if len(group_assignment) > 1:
        raise UnimplementedError(None, None, "Sums over some of the processes are not supported")
    return group.all_reduce(np.asarray(input), "sum")


@CrossReplicaSum.compiled(static="group_assignment")
def _(xp: ModuleType, input: Array, group_assignment: Array):
    from jax import lax

    groups = group_assignment.tolist() if len(group_assignment) > 1 else None
    try:
        return lax.psum(input, AXIS, axis_index_groups=groups)
    except NameError:
        return outside_of_replicas(input)


@CrossReplicaSum.gradient(needs="group_assignment")
def _(call: GradientCall, dy: Tensor):
    return CrossReplicaSum(dy, call.group_assignment), None


CrossReplicaSum.reference(lambda input, group_assignment: input)  # of one replica


@CrossReplicaSum.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3).astype(np.float32), np.array([[0]], np.int32))
    yield Sample(np.arange(3, dtype=np.int32), np.zeros((0, 1), np.int32))


@op("XlaReplicaId", "-> id: int32", shape=lambda call: [()], stateful=True)
def XlaReplicaId(xp: ModuleType):
    """The number of the replica."""
    group = process_group.current()
    return np.int32(0 if group is None else group.rank)


@XlaReplicaId.compiled
def _(xp: ModuleType):
    from jax import lax

    try:
        return lax.axis_index(AXIS).astype(np.int32)
    except NameError:
        return outside_of_replicas(np.int32(0))


XlaReplicaId.gradient(None)


@XlaReplicaId.samples
def _(rng: SampleGenerator):
    yield Sample(expect=np.int32(0))
