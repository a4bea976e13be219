"""Variables that all replicas read, and assign together."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow.core import context, replicas
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundaries
from tapeflow.distribute.reducing import OwnValue, ReduceOp
from tapeflow.ops.array.rows import identity
from tapeflow.ops.state.scatter_rows import ResourceScatterAdd, ResourceScatterSub
from tapeflow.ops.state.variable import Variable, VariableAggregation

# What adds slices up, and so is an addition of the whole: what replicas add can be aggregated.
_SUMS = {ResourceScatterAdd.name: "assign_add", ResourceScatterSub.name: "assign_sub"}


class MirroredVariable(Variable):
    """A variable that all replicas read. What replicas assign is aggregated first; once, for all of them."""

    # Operations read the cell.
    _reads_by_class = False

    def read_value(self):
        found = super().read_value()
        # Of the same object in all replicas, `run` would make one value.
        return identity(found) if replicas.several() and context.executing_eagerly() else found

    def _merged(self, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        method = getattr(super(), name)
        aggregation = self.aggregation
        if aggregation == VariableAggregation.NONE:
            raise ValueError(
                "You must specify an aggregation method to update a MirroredVariable in Replica Context. "
                "You can do so by passing an explicit value for argument `aggregation` to "
                "tf.Variable(..). e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)`"
                "`tf.VariableAggregation` lists the possible aggregation methods."
            )

        def once(strategy: Any, values: Any) -> Any:
            if aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
                found = strategy.experimental_local_results(values)[0]
                if not isinstance(values, OwnValue):
                    found = strategy.extended.processes.first(found)
            else:
                op = ReduceOp.from_variable_aggregation(aggregation)
                found = strategy.extended.reduced(op, values, None)
            method(found, *args, **kwargs)
            return self

        own = value if is_tensor(value) else convert_to_tensor(value, self.dtype)
        return replicas.state.replica.merge_call(once, (own,))

    def _assign_part(self, key, value, name=None):
        if replicas.several():
            raise _not_in_a_replica("Assigning a part")
        return super()._assign_part(key, value, name)

    def _scatter(self, row, sparse_delta):
        if not replicas.several():
            return super()._scatter(row, sparse_delta)
        method = _SUMS.get(row.name)
        if method is None or not isinstance(sparse_delta, IndexedSlices):
            raise _not_in_a_replica(row.name)
        return self._merged(method, convert_to_tensor(sparse_delta, self.dtype))

    def _scatter_nd(self, row, indices, updates):
        if replicas.several():
            raise _not_in_a_replica(row.name)
        return super()._scatter_nd(row, indices, updates)

    def assign(self, value, *args, **kwargs):
        if replicas.several():
            return self._merged("assign", value, *args, **kwargs)
        return super().assign(value, *args, **kwargs)

    def assign_add(self, delta, *args, **kwargs):
        if replicas.several():
            return self._merged("assign_add", delta, *args, **kwargs)
        return super().assign_add(delta, *args, **kwargs)

    def assign_sub(self, delta, *args, **kwargs):
        if replicas.several():
            return self._merged("assign_sub", delta, *args, **kwargs)
        return super().assign_sub(delta, *args, **kwargs)


def _not_in_a_replica(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{what} of a MirroredVariable is not supported in a replica of several, whose values would have to be "
        "aggregated first: use assign, assign_add, assign_sub, scatter_add or scatter_sub, or a merge_call."
    )


@functools.cache
def mirrored_kind(kind: Any) -> Any:
    """The class of variables of a subclass of `Variable` that replicas share."""
    metaclass: Any = type(kind)
    return metaclass(kind.__name__, (MirroredVariable, kind), {})


def is_mirrored(variable: Any) -> bool:
    return isinstance(variable, MirroredVariable)


boundaries(globals())
