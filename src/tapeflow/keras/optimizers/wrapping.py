"""What may be wrapped around an optimizer's step: loss scale, accumulation, weight decay, moving averages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from tapeflow.keras.optimizers.rules import SGD, Adam, Adamax

_AVERAGE = "average"
_SUM = "gradient_accumulator"


def build(optimizer: Adam | Adamax | SGD, trained: Any):
    """Makes the slots that averaging and accumulation need."""
    for wanted, name in ((optimizer.use_ema, _AVERAGE), (optimizer.gradient_accumulation_steps, _SUM)):
        for var in trained if wanted else ():
            optimizer._slot(var, name)


def replaced(optimizer, pairs: Sequence[Any]):
    """Replaces the variables that say so by their gradients; returns the other pairs.

    Where gradients are accumulated, by the greatest of them.
    """
    many = optimizer.gradient_accumulation_steps
    for grad, var in pairs:
        if not getattr(var, "overwrite_with_gradient", False):
            continue
        value = cast(convert_to_tensor(grad), dtype_of(var))
        if many:
            kept = optimizer._slot(var, _SUM)
            due = equal((optimizer._counter + 1) % int(many), 0)
            value = maximum(value, kept)
            kept.assign(where(due, zeros_like(value), value))
            value = where(due, value, var)
        var.assign(value)
    return [(grad, var) for grad, var in pairs if not getattr(var, "overwrite_with_gradient", False)]


def update(optimizer: Any, pairs: Sequence[Any]):
    """A step with all that is wrapped around it; returns the number of calls so far."""
    factor = optimizer.loss_scale_factor
    if factor is not None:
        pairs = [(_scaled(grad, 1.0 / factor), var) for grad, var in pairs]
    many = optimizer.gradient_accumulation_steps
    if not many:
        return _decayed_step(optimizer, pairs)
    return _accumulated(optimizer, pairs, int(many))


def _accumulated(optimizer: SGD, pairs: Sequence[Any], many: int):
    sums = [optimizer._slot(var, _SUM) for _, var in pairs]
    for total, (grad, var) in zip(sums, pairs):
        total.assign_add(cast(convert_to_tensor(grad), dtype_of(var)))
    trained = [var for _, var in pairs]
    if keras_2():
        optimizer.build(trained)  # slots must be there before a branch is traced
    calls = _calls(optimizer) if keras_2() else optimizer._counter

    def step():
        _decayed_step(optimizer, [(s.read_value() / many, v) for s, v in zip(sums, trained)])
        if keras_2():
            optimizer._count()
        for total in sums:
            total.assign(zeros_like(total))
        return convert_to_tensor(1)

    due = equal((calls + 1) % many, 0)
    if context.executing_eagerly():
        if bool(due):
            step()
    else:
        cond(due, step, lambda: convert_to_tensor(0))
    if optimizer.use_ema and not keras_2():  # at each call, whether it changes the variables or not
        number = optimizer.iterations
        _average(optimizer, trained, equal(number, 0), number + 1)
    calls.assign_add(1)
    return optimizer.iterations


def _calls(optimizer):
    found = optimizer.__dict__.get("_accumulated_calls")
    if found is None:
        found = variables.make(lambda: convert_to_tensor(0), f"{optimizer.name}/calls", "int32")
        optimizer.__dict__["_accumulated_calls"] = found
    return found


def _decayed_step(optimizer: Any, pairs: Sequence[Any]):
    for _, var in pairs:
        decay = optimizer._weight_decay_of(var)
        if decay and _is_decayed(optimizer, var):
            var.assign_sub(var * cast(decay, dtype_of(var)) * optimizer._rate(dtype_of(var)))
    if not optimizer.use_ema or (optimizer.gradient_accumulation_steps and not keras_2()):
        return optimizer._update_once(pairs)
    first = equal(optimizer.iterations, 0)
    result = optimizer._update_once(pairs)
    _average(optimizer, [var for _, var in pairs], first, optimizer.iterations)
    return result


def _is_decayed(optimizer, var):
    excluded, patterns = optimizer._no_decay
    return id(var) not in excluded and not any(re.search(p, var.name) for p in patterns)


def _average(optimizer, trained, first, number):
    """Updates the averages; `number` is that of the update, and decides whether they replace the variables."""
    momentum = optimizer.ema_momentum
    for var in trained:
        average = optimizer._slot(var, _AVERAGE)
        kept = momentum * (1 - cast(first, dtype_of(var)))
        average.assign(kept * average + (1 - kept) * var)
    frequency = optimizer.ema_overwrite_frequency
    if not frequency:
        return
    due = equal(number % frequency, 0)

    def replace():
        overwrite(optimizer, trained)
        return convert_to_tensor(1)

    if context.executing_eagerly():
        if bool(due):
            replace()
    else:
        cond(due, replace, lambda: convert_to_tensor(0))


def overwrite(optimizer, trained):
    """Sets variables to their moving averages."""
    for var in trained:
        average = optimizer._slots.get(var, _AVERAGE)
        if average is not None:
            var.assign(average)


def _scaled(grad: Tensor, factor: float):
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * cast(factor, grad.dtype)
