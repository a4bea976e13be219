"""What may be wrapped around an optimizer's step: loss scale, accumulation, weight decay, moving averages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.release import keras_2
from tapeflow.core.variables import dtype_of
from tapeflow.keras.optimizers import variables
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.control.flow import cond
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal

_AVERAGE = "average"
_SUM = "gradient_accumulator"


class Wrapped:
    """What may be wrapped around the steps of an optimizer."""

    def _build_wrapped(self: Any, trained: Any):
        """Makes the slots that averaging and accumulation need."""
        for wanted, name in ((self.use_ema, _AVERAGE), (self.gradient_accumulation_steps, _SUM)):
            for var in trained if wanted else ():
                self._slot(var, name)

    def _without_replaced(self: Any, pairs: Sequence[Any]):
        """Replaces the variables that say so by their gradients; returns the other pairs.

        Where gradients are accumulated, by the greatest of them.
        """
        many = self.gradient_accumulation_steps
        for grad, var in pairs:
            if not getattr(var, "overwrite_with_gradient", False):
                continue
            value = cast(convert_to_tensor(grad), dtype_of(var))
            if many:
                kept = self._slot(var, _SUM)
                due = equal((self._counter + 1) % int(many), 0)
                value = maximum(value, kept)
                kept.assign(where(due, zeros_like(value), value))
                value = where(due, value, var)
            var.assign(value)
        return [(grad, var) for grad, var in pairs if not getattr(var, "overwrite_with_gradient", False)]

    def _wrapped_update(self: Any, pairs: Sequence[Any]):
        """A step with all that is wrapped around it; returns the number of calls so far."""
        factor = self.loss_scale_factor
        if factor is not None:
            pairs = [(_scaled(grad, 1.0 / factor), var) for grad, var in pairs]
        many = self.gradient_accumulation_steps
        if not many:
            return self._decayed_step(pairs)
        return self._accumulated_step(pairs, int(many))

    def _accumulated_step(self: Any, pairs: Sequence[Any], many: int):
        sums = [self._slot(var, _SUM) for _, var in pairs]
        for total, (grad, var) in zip(sums, pairs):
            total.assign_add(cast(convert_to_tensor(grad), dtype_of(var)))
        trained = [var for _, var in pairs]
        if keras_2():
            self.build(trained)  # slots must be there before a branch is traced
        calls = self._accumulated_calls_variable() if keras_2() else self._counter

        def step():
            self._decayed_step([(s.read_value() / many, v) for s, v in zip(sums, trained)])
            if keras_2():
                self._count()
            for total in sums:
                total.assign(zeros_like(total))
            return convert_to_tensor(1)

        due = equal((calls + 1) % many, 0)
        if context.executing_eagerly():
            if bool(due):
                step()
        else:
            cond(due, step, lambda: convert_to_tensor(0))
        if self.use_ema and not keras_2():  # at each call, whether it changes the variables or not
            number = self.iterations
            self._update_averages(trained, equal(number, 0), number + 1)
        calls.assign_add(1)
        return self.iterations

    def _accumulated_calls_variable(self: Any):
        found = self.__dict__.get("_accumulated_calls")
        if found is None:
            found = variables.make(lambda: convert_to_tensor(0), f"{self.name}/calls", "int32")
            self.__dict__["_accumulated_calls"] = found
        return found

    def _decayed_step(self: Any, pairs: Sequence[Any]):
        for _, var in pairs:
            decay = self._weight_decay_of(var)
            if decay and self._is_decayed(var):
                var.assign_sub(var * cast(decay, dtype_of(var)) * self._rate(dtype_of(var)))
        if not self.use_ema or (self.gradient_accumulation_steps and not keras_2()):
            return self._update_once(pairs)
        first = equal(self.iterations, 0)
        result = self._update_once(pairs)
        self._update_averages([var for _, var in pairs], first, self.iterations)
        return result

    def _is_decayed(self: Any, var):
        excluded, patterns = self._no_decay
        return id(var) not in excluded and not any(re.search(p, var.name) for p in patterns)

    def _update_averages(self: Any, trained, first, number):
        """Updates the averages; `number` is that of the update, and decides whether they replace the variables."""
        momentum = self.ema_momentum
        for var in trained:
            average = self._slot(var, _AVERAGE)
            kept = momentum * (1 - cast(first, dtype_of(var)))
            average.assign(kept * average + (1 - kept) * var)
        frequency = self.ema_overwrite_frequency
        if not frequency:
            return
        due = equal(number % frequency, 0)

        def replace():
            self._overwrite_by_averages(trained)
            return convert_to_tensor(1)

        if context.executing_eagerly():
            if bool(due):
                replace()
        else:
            cond(due, replace, lambda: convert_to_tensor(0))

    def _overwrite_by_averages(self: Any, trained):
        """Sets variables to their moving averages."""
        for var in trained:
            average = self._slots.get(var, _AVERAGE)
            if average is not None:
                var.assign(average)


def _scaled(grad: Tensor, factor: float):
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * cast(factor, grad.dtype)
