"""Variables that all replicas read, and assign together."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow.core import replicas
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.public import boundaries
from tapeflow.distribute.reducing import OwnValue, ReduceOp
from tapeflow.ops.state.variable import Variable, VariableAggregation


class MirroredVariable(Variable):
    """A variable that all replicas read. What replicas assign is aggregated first; once, for all of them."""

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
                found = strategy.reduce(op, values, axis=None)
            method(found, *args, **kwargs)
            return self

        own = value if is_tensor(value) else convert_to_tensor(value, self.dtype)
        return replicas.state.replica.merge_call(once, (own,))

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


@functools.cache
def mirrored_kind(kind: Any) -> Any:
    """The class of variables of a subclass of `Variable` that replicas share."""
    metaclass: Any = type(kind)
    return metaclass(kind.__name__, (MirroredVariable, kind), {})


def is_mirrored(variable: Any) -> bool:
    return isinstance(variable, MirroredVariable)


boundaries(globals())
