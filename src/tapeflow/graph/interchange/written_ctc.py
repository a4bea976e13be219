"""The loss of dense labels as a loop over steps: TensorFlow's op has no finite loss for labels that do not fit."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import fill, ones_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.flow import while_loop
from tapeflow.ops.derived import vjp
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.reductions import reduce_logsumexp
from tapeflow.ops.nn.softmax import log_softmax
from tapeflow.ops.recurrent.ctc import _OUTSIDE, DenseCTCLoss

_NEVER = -1e30  # finite, so that gradients are numbers


def _loss(logits: Any, labels: TensorLike, counts: Any, lengths: Any, blank: int) -> Any:
    """-log p(labels | logits), as ops/recurrent/ctc_alignment.py has it."""

    def constant(value: float, width: Any) -> Any:
        return fill(stack([batch, width]), convert_to_tensor(value, logits.dtype))

    def later(x: TensorLike, by: int) -> Any:
        return concat([constant(_NEVER, by), x], 1)[:, :states]

    def never_but(condition: Any, x: TensorLike) -> Any:
        return where(condition, x, constant(_NEVER, states))

    sizes = shape_of(logits, dtypes.int32)
    time, batch = sizes[0], sizes[1]
    most = shape_of(labels, dtypes.int32)[1]
    states = 2 * most + 1
    labels = where(range_(most)[None] < cast(counts, dtypes.int32)[:, None], cast(labels, dtypes.int32), blank)
    blanks = fill(stack([batch, most + 1]), blank)
    path = concat([reshape(stack([blanks[:, :-1], labels], 2), [batch, 2 * most]), blanks[:, :1]], 1)
    before = concat([fill(stack([batch, 2]), -1), path], 1)[:, :states]
    place = range_(states)[None]
    end = 2 * cast(counts, dtypes.int32)[:, None]
    inside = place <= end
    may_skip = (place % 2 == 1) & (path != before)
    last = where((place >= end - 1) & inside, constant(0.0, states), constant(_OUTSIDE, states))
    begin = never_but((place < 2) & inside, constant(0.0, states))
    steps = cast(lengths, dtypes.int32)
    running = expand_dims(range_(time)[:, None] < steps, 2)
    log_p = log_softmax(where(running, logits, cast(0, logits.dtype)))
    emitted = gather(log_p, broadcast_to(path, stack([time, batch, states])), batch_dims=2, axis=2)

    def body(t: Any, alpha: Any, final: Any) -> Any:
        ways = [alpha, later(alpha, 1), never_but(may_skip, later(alpha, 2))]
        ways.append(where(t > 0, constant(_NEVER, states), begin))
        alpha = reduce_logsumexp(stack(ways), 0) + never_but(inside, gather(emitted, t))
        return t + 1, alpha, where(steps[:, None] == t + 1, alpha, final)

    outside = constant(_OUTSIDE, states)
    final = while_loop(lambda t, alpha, final: t < time, body, [0, outside, outside])[2]
    nothing = where(counts == 0, constant(0.0, 1)[:, 0], constant(_OUTSIDE, 1)[:, 0])
    return -where(steps == 0, nothing, reduce_logsumexp(final + last, 1))


def _loss_and_gradient(logits: Any, labels: TensorLike, counts: Any, lengths: Any, blank_index: int) -> Any:
    loss = _loss(logits, labels, counts, lengths, blank_index)
    own = vjp(lambda x: [_loss(x, labels, counts, lengths, blank_index)], [logits], [ones_like(loss)])
    return [loss, *own]


ROWS = {DenseCTCLoss: _loss_and_gradient}
