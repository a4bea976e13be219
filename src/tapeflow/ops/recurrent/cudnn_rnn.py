"""cuDNN's recurrent networks: stacks of layers in one or both directions over sequences of different lengths.

They run anywhere, on `RecurrentSequence`. What a network keeps for its gradient is its `reserve_space`, so that it
belongs to the backward op of the same version.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Array
from tapeflow.ops import shapes
from tapeflow.ops.random import distributions as random
from tapeflow.ops.random import philox
from tapeflow.ops.recurrent.cudnn_layout import NETWORK_ATTRS, Layout, layout
from tapeflow.ops.recurrent.rows import RecurrentSequence
from tapeflow.ops.recurrent.sequence_gradient import RecurrentSequenceGrad
from tapeflow.ops.recurrent.steps import KEPT
from tapeflow.ops.table import FLOATING, op
from tapeflow.ops.validate import invalid, known, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, ShapeCall


def _run(row: Any, xp: Any, *inputs: Any, **attrs: Any) -> list[Any]:
    """Another row on arrays, by its native kernel where it has one."""
    if xp is not np:
        return list(row.kernel(xp, *inputs, **attrs))
    with context.eager_mode():
        return [np.asarray(y) for y in row(*inputs, **attrs)]


class _Network(NamedTuple):
    """The inputs of a call, by time, and what they say."""

    xp: Any
    layout: Layout
    x: Any  # [steps, batch, inputs]
    h: Any  # [cells, batch, units]
    c: Any  # as h, of LSTMs
    params: Any
    mask: Any  # [steps, batch], the steps that count; None: all
    time_major: bool

    def cell(self, number: int) -> tuple[bool, Any, Any, Any]:
        """Whether a cell goes backwards; its mask, its initial h and c."""
        backwards = bool(number % self.layout.directions)
        mask = np.zeros((0, 0), bool) if self.mask is None else self.turned(self.mask, backwards)
        h = self.h[number]
        c = self.c[number] if self.layout.cell == "LSTM" else self.xp.zeros((0, 0), h.dtype)
        return backwards, mask, h, c

    def turned(self, x: Any, backwards: bool) -> Any:
        return self.xp.flip(x, 0) if backwards else x

    def counted(self, x: Any) -> Any:
        """`x` with zeros behind the ends of the sequences."""
        return x if self.mask is None else self.xp.where(self.mask[:, :, None], x, x.dtype.type(0))

    def sums(self, x: Any, kernel: Any) -> Any:
        """An input times its weights, which a first layer that skips them has none of."""
        if not kernel.size and self.layout.skip:
            return self.xp.concatenate([x] * self.layout.gates, 2)
        flat = x.reshape(-1, x.shape[2]) @ kernel
        return flat.reshape(*x.shape[:2], kernel.shape[1])

    def by_caller(self, *arrays: Any) -> list[Any]:
        """Arrays with the axes in the caller's order."""
        return [a if self.time_major or a.ndim < 3 else self.xp.swapaxes(a, 0, 1) for a in arrays]


def _network(
    xp: ModuleType, input: Array, input_h: Array, input_c: Array, params: Array, sequence_lengths,
    rnn_mode: str, input_mode: str, direction: str, time_major: bool = True, num_proj: int = 0, **_,
):  # fmt: skip
    for name, value, rank in (("input", input, 3), ("input_h", input_h, 3), ("params", params, 1)):
        if value.ndim != rank:
            raise invalid(f"{name} must be {rank}-D, but got shape {shape_text(value.shape)}")
    if rnn_mode == "lstm" and input_c.shape != input_h.shape:
        raise invalid(
            f"input_c must have the shape {shape_text(input_h.shape)} of input_h, but got shape "
            f"{shape_text(input_c.shape)}"
        )
    kind = np.dtype(np.float64 if params.dtype == np.float64 else np.float32)
    x, h, c, params = (each.astype(kind) for each in (input, input_h, input_c, params))
    if not time_major:
        x, h = xp.swapaxes(x, 0, 1), xp.swapaxes(h, 0, 1)
        c = xp.swapaxes(c, 0, 1) if rnn_mode == "lstm" else c
    steps, batch, inputs = x.shape
    directions = 2 if direction == "bidirectional" else 1
    if h.shape[1] != batch or h.shape[0] % directions:
        order = "layers * directions, batch" if time_major else "batch, layers * directions"
        raise invalid(
            f"input_h must have shape [{order}, units] for a batch of {batch} and {directions} "
            f"direction(s), but got shape {shape_text(input_h.shape)}"
        )
    own = layout(
        rnn_mode, input_mode, direction, h.shape[0] // directions, h.shape[2], inputs, num_proj
    )
    if params.size != own.size:
        raise invalid(
            f"params must have {own.size} elements, but got shape {shape_text(params.shape)}"
        )
    mask = None
    if sequence_lengths is not None:
        if sequence_lengths.shape != (batch,):
            raise invalid(
                f"sequence_lengths must have shape [{batch}], but got shape "
                f"{shape_text(sequence_lengths.shape)}"
            )
        certain = known(sequence_lengths)
        if certain and ((sequence_lengths < 0) | (sequence_lengths > steps)).any():
            raise invalid(
                f"sequence_lengths must be in [0, {steps}], got {sequence_lengths.tolist()}"
            )
        if not certain or (sequence_lengths < steps).any():
            mask = xp.arange(steps)[:, None] < sequence_lengths[None, :]
    return _Network(xp, own, x, h, c, params, mask, time_major)


def _forward(net: _Network, draw: Any) -> tuple[Any, Any, Any, list[Any]]:
    """(output, output_h, output_c, what the gradient needs); `draw(layer, shape)`: the factors of dropout, or None."""
    xp, own, x = net.xp, net.layout, net.x
    weights = own.unpacked(xp, net.params)
    last_h, last_c, kept, masks = [], [], [], []
    for layer in range(own.layers):
        if layer:
            factors = draw(x.shape)
            if factors is not None:
                masks.append(factors)
                x = x * factors
        outputs = []
        for number in range(layer * own.directions, (layer + 1) * own.directions):
            kernel, recurrent, bias = weights[number]
            backwards, mask, h, c = net.cell(number)
            z = net.turned(net.sums(x, kernel), backwards)
            all_h, all_c, gates, end_h, end_c = _run(
                RecurrentSequence, xp, z, recurrent, bias, h, c, mask, cell=own.cell, time_major=True
            )
            kept += [all_h, all_c, gates]
            last_h.append(end_h)
            last_c.append(end_c)
            outputs.append(net.counted(net.turned(all_h, backwards)))
        x = outputs[0] if len(outputs) == 1 else xp.concatenate(outputs, 2)
    output_c = xp.stack(last_c) if own.cell == "LSTM" else xp.zeros((), x.dtype)
    return (*net.by_caller(x, xp.stack(last_h), output_c), [*kept, *masks])


def _backward(net: _Network, kept: list[Any], masks: list[Any], dy: Any, dh: np.ndarray, dc: np.ndarray) -> list[Any]:
    """The gradients of input, input_h, input_c and params; of what `_forward` computed, by time."""
    xp, own = net.xp, net.layout
    weights, lstm, n = own.unpacked(xp, net.params), own.cell == "LSTM", own.units
    found: list[Any] = [None] * own.cells
    for layer in reversed(range(own.layers)):
        x = net.x
        if layer:
            below = range((layer - 1) * own.directions, layer * own.directions)
            x = xp.concatenate(
                [
                    net.counted(net.turned(kept[3 * number], bool(number % own.directions)))
                    for number in below
                ],
                2,
            )
            x = x * masks[layer - 1] if masks else x
        total = 0
        dy = net.counted(dy)
        for place in range(own.directions):
            number = layer * own.directions + place
            kernel, recurrent, bias = weights[number]
            backwards, mask, h, c = net.cell(number)
            # Of the sums themselves the gradient only needs the shape.
            z = xp.zeros((*x.shape[:2], recurrent.shape[1]), x.dtype)
            dz, d_recurrent, d_bias, d_h, d_c = _run(
                RecurrentSequenceGrad, xp, z, recurrent, bias, h, c, mask,
                *kept[3 * number : 3 * number + 3], net.turned(dy[:, :, place * n : (place + 1) * n], backwards),
                dh[number], dc[number] if lstm else xp.zeros((0, 0), x.dtype),
                cell=own.cell, time_major=True,
            )  # fmt: skip
            flat = net.turned(dz, backwards).reshape(-1, dz.shape[2])
            d_kernel = x.reshape(-1, x.shape[2]).T @ flat if kernel.size else kernel
            if not kernel.size and own.skip and not layer:
                dx = flat.reshape(-1, own.gates, n).sum(1)
            else:
                dx = flat @ kernel.T
            total = total + dx.reshape(x.shape)
            found[number] = (d_kernel, d_recurrent, d_bias), d_h, d_c
        dy = total * masks[layer - 1] if layer and masks else total
    params = own.packed(xp, [each[0] for each in found])
    d_h = xp.stack([each[1] for each in found])
    d_c = xp.stack([each[2] for each in found]) if lstm else xp.zeros(net.c.shape, net.x.dtype)
    return [*net.by_caller(dy, d_h, d_c), params]


def _split_reserve(net: _Network, reserve: Any, dropout: float) -> tuple[list[Any], list[Any]]:
    """What `_forward` kept: of each cell three arrays, and the masks."""
    own = net.layout
    steps, batch = net.x.shape[:2]
    sizes = own.sizes_of_reserve(steps, batch, dropout)
    if reserve.shape != (sum(sizes),):
        raise invalid(
            f"reserve_space must have shape [{sum(sizes)}], as the forward op of the same inputs and attributes "
            f"returns it while it trains, but got shape {shape_text(reserve.shape)}"
        )
    parts, at = [], 0
    for number, size in enumerate(sizes):
        if number < 3 * own.cells:
            width = own.units * (1, int(own.cell == "LSTM"), KEPT[own.cell])[number % 3]
        else:
            width = own.width(1)
        part = reserve[at : at + size].astype(net.x.dtype)
        parts.append(part.reshape(steps, batch, width))
        at += size
    return parts[: 3 * own.cells], parts[3 * own.cells :]


def _rule(call: ShapeCall, version: int):
    """The shapes of the outputs of a forward op."""
    ranks = (3, 3, 3 if call.attr("rnn_mode") == "lstm" else None, 1, *[1] * (version == 3))
    shapes.require_ranks(call, *ranks)
    time_major = version < 3 or call.attr("time_major")
    directions = 2 if call.attr("direction") == "bidirectional" else 1
    x, h = (call.shape(i) or (None,) * 3 for i in range(2))
    projected = version == 3 and call.attr("num_proj") > 0
    output = (*x[:2], None if projected else shapes.times(h[2], directions))
    c: shapes.Shape = ()
    if call.attr("rnn_mode") == "lstm":
        c = call.shape(2) if projected else shapes.merge(call.shape(2), call.shape(1))
    steps, batch = x[:2] if time_major else x[1::-1]
    cells = h[0 if time_major else 1]
    sizes: list[Any] = [steps, batch, cells, h[2], x[2]]
    reserve: int | None = None
    if not call.attr("is_training"):
        reserve = 0
    elif None not in sizes and not projected and cells and h[2]:
        mode, input_mode, direction = (call.attr(name) for name in ("rnn_mode", "input_mode", "direction"))
        own = layout(mode, input_mode, direction, sizes[2] // directions, *sizes[3:])
        reserve = own.size_of_reserve(sizes[0], sizes[1], call.attr("dropout"))
    found = [output, call.shape(1), c, (reserve,)]
    return found if version == 1 else [*found, (0,)]


_INPUTS = "input: T, input_h: T, input_c: T, params: T"
_OUTPUTS = "output: T, output_h: T, output_c: T"


def _forward_row(version: int) -> Any:
    name = "CudnnRNN" + ("" if version == 1 else f"V{version}")
    lengths = ", sequence_lengths: int32" if version == 3 else ""
    host = "" if version == 1 else ", host_reserved: int8"
    attrs: dict[str, Any] = {**NETWORK_ATTRS}
    if version == 3:
        attrs["num_proj"] = 0
    attrs["is_training"] = True
    if version == 3:
        attrs["time_major"] = True

    @op(
        name,
        f"{_INPUTS}{lengths} -> {_OUTPUTS}, reserve_space: T{host}",
        types={"T": FLOATING},
        attrs=attrs,
        shape=lambda call: _rule(call, version),
    )
    def row(
        xp: ModuleType, input: Array, input_h: Array, input_c: Array, params: Array, sequence_lengths=None,
        **attrs,
    ):
        net = _network(xp, input, input_h, input_c, params, sequence_lengths, **attrs)
        dropout, kind = attrs["dropout"], input.dtype
        if not 0 <= dropout <= 1:
            raise invalid(f"dropout must be in [0, 1], got {dropout}")

        def draw(shape: Sequence[Any]):
            if not dropout or not attrs["is_training"]:
                return None
            count = int(np.prod(shape))
            blocks = count * philox.STRETCH
            own = dtypes.as_dtype(net.x.dtype)
            g = random.reserve(name, own, None, attrs["seed"], attrs["seed2"], blocks)
            kept = philox.uniform(g, count, np.dtype(net.x.dtype)).reshape(shape) >= dropout
            return kept * net.x.dtype.type(0 if dropout == 1 else 1 / (1 - dropout))

        output, h, c, kept = _forward(net, draw)
        reserve = xp.zeros(0, kind)
        if attrs["is_training"]:
            reserve = xp.concatenate([each.reshape(-1) for each in kept])
        outputs = [each.astype(kind) for each in (output, h, c, reserve)]
        return outputs if version == 1 else [*outputs, np.zeros(0, np.int8)]

    return row


def _backward_row(version: int, forward: Any) -> Any:
    name = "CudnnRNNBackprop" + ("" if version == 1 else f"V{version}")
    lengths = ", sequence_lengths: int32" if version == 3 else ""
    host = "" if version == 1 else ", host_reserved: int8"
    attrs = {**NETWORK_ATTRS, **({"num_proj": 0, "time_major": True} if version == 3 else {})}
    upstream = "output_backprop: T, output_h_backprop: T, output_c_backprop: T"

    def kernel(
        xp: ModuleType, input: Array, input_h: Array, input_c: Array, params: Array, output: Array, output_h: Array,
        output_c: Array, dy: Array, dh: Array, dc: Array, reserve_space: Array, *,
        sequence_lengths: Array | None = None, **attrs,
    ):  # fmt: skip
        net = _network(xp, input, input_h, input_c, params, sequence_lengths, **attrs)
        kind = input.dtype
        pairs = {"output_backprop": (dy, output), "output_h_backprop": (dh, output_h)}
        if net.layout.cell == "LSTM":
            pairs["output_c_backprop"] = (dc, output_c)
        steps, batch = net.x.shape[:2]
        wanted = [(steps, batch, net.layout.directions * net.layout.units), net.h.shape, net.h.shape]
        for (key, (gradient, value)), shape in zip(pairs.items(), wanted, strict=False):
            own = shape if net.time_major else (shape[1], shape[0], shape[2])
            if gradient.shape != own or value.shape != own:
                raise invalid(
                    f"{key} and its output must have shape {shape_text(own)}, but got shapes "
                    f"{shape_text(gradient.shape)} and {shape_text(value.shape)}"
                )
        kept = _split_reserve(net, reserve_space, attrs["dropout"])
        given = net.by_caller(*(each.astype(net.x.dtype) for each in (dy, dh, dc)))
        return [each.astype(kind) for each in _backward(net, *kept, *given)]

    @op(
        name,
        f"{_INPUTS}{lengths}, {_OUTPUTS}, {upstream}, reserve_space: T{host} -> "
        "input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T",
        types={"T": FLOATING},
        attrs=attrs,
        shape=lambda call: [call.shape(i) for i in range(4)],
    )
    def row(xp: ModuleType, *inputs, **attrs):
        own = list(inputs)
        lengths = own.pop(4) if version == 3 else None
        return kernel(xp, *own[:11], sequence_lengths=lengths, **attrs)

    keys = [key for key in row.inputs if not key.endswith("_backprop")]

    @forward.gradient(needs=keys)
    def _(call: GradientCall, *upstream):
        if not call.is_training:
            raise ValueError(
                f"To use {forward.name} in gradients, is_training must be set to True."
            )
        values = {key: getattr(call, key) for key in keys}
        given = [values[key] for key in keys if key not in ("reserve_space", "host_reserved")]
        rest = [values[key] for key in keys if key in ("reserve_space", "host_reserved")]
        attrs = {key: getattr(call, key) for key in row.attrs}
        found = row(*given, *upstream[:3], *rest, **attrs)
        return [*found, None] if version == 3 else list(found)

    return row


CudnnRNN, CudnnRNNV2, CudnnRNNV3 = (_forward_row(version) for version in (1, 2, 3))
CudnnRNNBackprop = _backward_row(1, CudnnRNN)
CudnnRNNBackpropV2 = _backward_row(2, CudnnRNNV2)
CudnnRNNBackpropV3 = _backward_row(3, CudnnRNNV3)
