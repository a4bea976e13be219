"""What may be wrapped around an optimizer's step: loss scale, accumulation, weight decay, moving averages."""

from __future__ import annotations

import re

from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import equal
from tapeflow.ops.construction import zeros_like
from tapeflow.ops.control import cond
from tapeflow.train.slots import make_slot

_AVERAGE = "average"
_SUM = "gradient_accumulator"


def build(optimizer, variables):
    """Makes the slots that averaging and accumulation need."""
    for var in variables:
        if optimizer.use_ema:
            optimizer._slot(var, _AVERAGE)
        if optimizer.gradient_accumulation_steps:
            optimizer._slot(var, _SUM)


def update(optimizer, pairs):
    """A step with all that is wrapped around it; returns the number of calls so far."""
    factor = optimizer.loss_scale_factor
    if factor is not None:
        pairs = [(_scaled(grad, 1.0 / factor), var) for grad, var in pairs]
    many = optimizer.gradient_accumulation_steps
    if not many:
        return _decayed_step(optimizer, pairs)
    return _accumulated(optimizer, pairs, int(many))


def _accumulated(optimizer, pairs, many):
    calls = _calls(optimizer)
    sums = [optimizer._slot(var, _SUM) for _, var in pairs]
    for total, (grad, var) in zip(sums, pairs):
        total.assign_add(cast(convert_to_tensor(grad), var.dtype))
    variables = [var for _, var in pairs]
    optimizer.build(variables)  # slots must be there before a branch is traced

    def step():
        _decayed_step(optimizer, [(s.read_value() / many, v) for s, v in zip(sums, variables)])
        for total in sums:
            total.assign(zeros_like(total))
        return convert_to_tensor(1)

    calls.assign_add(1)
    due = equal(calls % many, 0)
    if context.executing_eagerly():
        if bool(due):
            step()
    else:
        cond(due, step, lambda: convert_to_tensor(0))
    return optimizer.iterations


def _calls(optimizer):
    found = optimizer.__dict__.get("_accumulated_calls")
    if found is None:
        found = make_slot(lambda: convert_to_tensor(0), f"{optimizer.name}/calls", "int32")
        optimizer.__dict__["_accumulated_calls"] = found
    return found


def _decayed_step(optimizer, pairs):
    for _, var in pairs:
        decay = optimizer._weight_decay_of(var)
        if decay and _is_decayed(optimizer, var):
            var.assign_sub(var * cast(decay, var.dtype) * optimizer._rate(var.dtype))
    first = equal(optimizer.iterations, 0) if optimizer.use_ema else None
    result = optimizer._update_once(pairs)
    if optimizer.use_ema:
        _average(optimizer, [var for _, var in pairs], first)
    return result


def _is_decayed(optimizer, var):
    excluded, patterns = optimizer._no_decay
    return id(var) not in excluded and not any(re.search(p, var.name) for p in patterns)


def _average(optimizer, variables, first):
    momentum = optimizer.ema_momentum
    for var in variables:
        average = optimizer._slot(var, _AVERAGE)
        kept = momentum * (1 - cast(first, var.dtype))
        average.assign(kept * average + (1 - kept) * var)
    frequency = optimizer.ema_overwrite_frequency
    if not frequency:
        return
    due = equal(optimizer.iterations % frequency, 0)

    def replace():
        overwrite(optimizer, variables)
        return convert_to_tensor(1)

    if context.executing_eagerly():
        if bool(due):
            replace()
    else:
        cond(due, replace, lambda: convert_to_tensor(0))


def overwrite(optimizer, variables):
    """Sets variables to their moving averages."""
    for var in variables:
        average = optimizer._slots.get(var, _AVERAGE)
        if average is not None:
            var.assign(average)


def _scaled(grad, factor):
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * cast(factor, grad.dtype)


def in_order(optimizer):
    """The variables as files of Keras 3 have them: iteration, learning rate, then slots variable by variable."""
    rate = None
    if not callable(optimizer._hyper.get("learning_rate", len)):
        rate = optimizer._hyper_variable("learning_rate")
    slots = optimizer._slots
    known = optimizer._known
    if known is None:
        own = slots.all()
    else:
        own = []
        for var in known:
            own += slots.of(var).values()
    more = [optimizer.__dict__.get("_momentum_product")]
    return [
        optimizer.iterations,
        *([] if rate is None else [rate]),
        *own,
        *(variable for variable in more if variable is not None),
    ]
