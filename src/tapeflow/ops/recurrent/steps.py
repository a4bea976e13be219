"""Steps of recurrent cells, for arrays and for tensors; sequences of them by a loop over ops.

A step is given the inputs of one time as they are after the product with their weights. Gates stand side by
side: LSTM input, forget, candidate, output; GRU update, reset, candidate. The biases of a GRU are those of inputs
and, where it resets after the product with the recurrent weights, behind them those of states.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.flow import cond, while_loop
from tapeflow.ops.derived import vjp
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math import choice
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.activation import relu

CELLS = ("LSTM", "GRU", "GRUResetBefore", "tanh", "relu")
GATES = {"LSTM": 4, "GRU": 3, "GRUResetBefore": 3, "tanh": 1, "relu": 1}
# Values of a unit that the way back needs besides the states.
KEPT = {"LSTM": 4, "GRU": 4, "GRUResetBefore": 4, "tanh": 0, "relu": 0}


def _units(h: Tensor):
    n = h.shape[1]
    return shape_of(h)[1] if n is None else n


_OPS = SimpleNamespace(
    units=_units,
    sigmoid=sigmoid,
    tanh=tanh,
    relu=relu,
    concat=lambda parts: concat(parts, 1),
)


def arrays(xp: Any) -> SimpleNamespace:
    """What steps are made of, for NumPy or its like."""
    return SimpleNamespace(
        units=lambda h: h.shape[1],
        sigmoid=lambda x: xp.tanh(x * x.dtype.type(0.5)) * x.dtype.type(0.5) + x.dtype.type(0.5),
        tanh=xp.tanh,
        relu=lambda x: xp.maximum(x, 0),
        concat=lambda parts: xp.concatenate(parts, 1),
    )


def step(
    m: SimpleNamespace, cell: str, x: Any, recurrent: Any, bias: Any, h: Any, c: Any
) -> tuple[Any, Any, Any]:
    """The states h and c after a step, and what the way back needs. `bias`: None for none."""
    n = m.units(h)
    if cell == "LSTM":
        z = x + h @ recurrent
        z = z if bias is None else z + bias
        i, f, o = m.sigmoid(z[:, :n]), m.sigmoid(z[:, n : 2 * n]), m.sigmoid(z[:, 3 * n :])
        candidate = m.tanh(z[:, 2 * n : 3 * n])
        c = f * c + i * candidate
        return o * m.tanh(c), c, m.concat([i, f, candidate, o])
    if GATES[cell] == 1:
        z = x + h @ recurrent
        z = z if bias is None else z + bias
        h = m.tanh(z) if cell == "tanh" else m.relu(z)
        return h, c, h[:, :0]
    if bias is not None:
        x = x + bias[: 3 * n]
    if cell == "GRU":
        inner = h @ recurrent
        inner = inner if bias is None else inner + bias[3 * n :]
        update, reset = (
            m.sigmoid(x[:, :n] + inner[:, :n]),
            m.sigmoid(x[:, n : 2 * n] + inner[:, n : 2 * n]),
        )
        last = inner[:, 2 * n :]
        candidate = m.tanh(x[:, 2 * n :] + reset * last)
    else:
        inner = h @ recurrent[:, : 2 * n]
        update, reset = (
            m.sigmoid(x[:, :n] + inner[:, :n]),
            m.sigmoid(x[:, n : 2 * n] + inner[:, n:]),
        )
        last = reset * h
        candidate = m.tanh(x[:, 2 * n :] + last @ recurrent[:, 2 * n :])
    return update * h + (1 - update) * candidate, c, m.concat([update, reset, candidate, last])


def _given(x: Any, shape: Any) -> Any:
    """x, or None if it has no elements, which says that it was not given. Zeros if only the run can tell that.

    What was not given has no elements along any axis: a known size that is positive says that it was.
    """
    sizes = [None] if x.shape.rank is None else x.shape.as_list()
    if 0 in sizes:
        return None
    return x if any(sizes) else cond(size(x) > 0, lambda: x, lambda: zeros(shape(), x.dtype))


def sequence(
    x: Tensor, recurrent: Tensor, bias: Tensor, initial_h: Tensor, initial_c: Tensor, mask: Tensor, cell: str,
    time_major: bool,
):
    """The outputs of `RecurrentSequence` by a loop over ops, which every program that reads graphs knows."""
    bias = _given(bias, lambda: shape_of(x)[2:] * (2 if cell == "GRU" else 1))
    omitted = _given(~mask, lambda: shape_of(x)[:2])
    if not time_major:
        x = transpose(x, [1, 0, 2])
    steps = shape_of(x)[0]
    inputs = TensorArray(x.dtype, size=steps).unstack(x)
    masks = None
    if omitted is not None:
        omitted = omitted if time_major else transpose(omitted, [1, 0])
        masks = TensorArray(omitted.dtype, size=steps).unstack(omitted)
    lstm = cell == "LSTM"
    if not lstm:
        initial_c = zeros([shape_of(x)[1], 0], x.dtype)

    def body(t: Tensor, h: Tensor, c: Tensor, *written):
        new_h, new_c, kept = step(_OPS, cell, inputs.read(t), recurrent, bias, h, c)
        if masks is not None:
            left = expand_dims(masks.read(t), 1)
            new_h, new_c = choice.where(left, h, new_h), choice.where(left, c, new_c)
        for new, old in ((new_h, h), (new_c, c)):
            if hasattr(new, "set_shape"):
                new.set_shape(old.shape)
        parts = zip(written, (new_h, new_c, kept), strict=True)
        return (t + 1, new_h, new_c, *(array.write(t, y) for array, y in parts))

    n = initial_h.shape[1]
    widths = (n, n if lstm else 0, KEPT[cell] and n and KEPT[cell] * n)
    made = [
        TensorArray(x.dtype, size=steps, element_shape=[initial_h.shape[0], width])
        for width in widths
    ]
    state_shapes = [initial_h.shape, initial_c.shape]
    _, last_h, last_c, *written = while_loop(
        lambda t, *_: t < steps,
        body,
        (steps * 0, initial_h, initial_c, *made),
        maximum_iterations=steps,
    )
    for state, shape in zip((last_h, last_c), state_shapes, strict=True):
        if hasattr(state, "set_shape"):
            state.set_shape(shape)
    outputs = [array.stack() for array in written]
    if not time_major:
        outputs = [transpose(y, [1, 0, 2]) for y in outputs]
    return (*outputs, last_h, last_c if lstm else zeros([0, 0], x.dtype))


def sequence_gradient(
    x: Tensor, recurrent: Tensor, bias: Tensor, initial_h: Tensor, initial_c: Tensor, mask: Tensor, h: Tensor | None,
    c: Tensor | None, reserve: Tensor | None, dh: Tensor, dlast_h: Tensor, dlast_c: Tensor, cell: str,
    time_major: bool,
):
    """The outputs of `RecurrentSequenceGrad` by the gradient of that loop."""

    def forward(*floats):
        outputs = sequence(*floats, mask, cell, time_major)
        return outputs[0], outputs[3], outputs[4]

    def of_output():
        return concat([shape_of(x)[:2], shape_of(initial_h)[1:]], 0)

    upstream = [
        _given(dh, of_output),
        _given(dlast_h, lambda: shape_of(initial_h)),
        _given(dlast_c, lambda: shape_of(initial_c if cell == "LSTM" else zeros([0, 0], x.dtype))),
    ]
    return tuple(vjp(forward, [x, recurrent, bias, initial_h, initial_c], upstream))
