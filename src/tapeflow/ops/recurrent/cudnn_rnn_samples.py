"""Samples of cuDNN's recurrent networks, and the formulas of its documentation, for one sequence after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.ops.recurrent.cudnn_rnn import (
    CudnnRNN,
    CudnnRNNBackprop,
    CudnnRNNBackpropV2,
    CudnnRNNBackpropV3,
    CudnnRNNV2,
    CudnnRNNV3,
)
from tapeflow.ops.table import Sample

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_GATES = {"lstm": 4, "gru": 3, "rnn_relu": 1, "rnn_tanh": 1}


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _cell(mode, x, h, c, w, r, bw, br):
    """The states after a step; of each gate its matrices and its biases."""
    a = [w[k] @ x + bw[k] for k in range(len(w))]
    b = [r[k] @ h + br[k] for k in range(len(w))]
    if mode == "lstm":
        i, f, o = (_sigmoid(a[k] + b[k]) for k in (0, 1, 3))
        c = f * c + i * np.tanh(a[2] + b[2])
        return o * np.tanh(c), c
    if mode == "gru":
        reset, update = _sigmoid(a[0] + b[0]), _sigmoid(a[1] + b[1])
        candidate = np.tanh(a[2] + reset * b[2])
        return (1 - update) * candidate + update * h, c
    z = a[0] + b[0]
    return (np.tanh(z) if mode == "rnn_tanh" else np.where(z.real > 0, z, 0)), c


def _network(input, input_h, input_c, params, lengths, mode, input_mode, direction, time_major: bool):
    """(output, output_h, output_c), of complex numbers too."""
    if not time_major:
        input, input_h = input.swapaxes(0, 1), input_h.swapaxes(0, 1)
        input_c = input_c.swapaxes(0, 1) if mode == "lstm" else input_c
    steps, batch, width = input.shape
    both, gates, n = 1 + (direction == "bidirectional"), _GATES[mode], input_h.shape[2]
    cells = input_h.shape[0]
    skip = input_mode == "skip_input" or (input_mode == "auto_select" and width == n)
    at, weights = 0, []

    def take(*shape):
        nonlocal at
        found = params[at : at + int(np.prod(shape))].reshape(shape)
        at += found.size
        return found

    for cell in range(cells):
        inputs = width if cell < both else n * both
        own = np.stack([np.eye(n)] * gates) if skip and cell < both else take(gates, n, inputs)
        weights.append((own, take(gates, n, n)))
    biases = [(take(gates, n), take(gates, n)) for _ in range(cells)]
    assert at == params.size
    kind = np.result_type(input, input_h, input_c, params)
    x = input.astype(kind)
    last_h, last_c = input_h.astype(kind), input_c.astype(kind)
    for layer in range(cells // both):
        y = np.zeros((steps, batch, n * both), kind)
        for place in range(both):
            cell = layer * both + place
            for b in range(batch):
                h, c = input_h[cell, b], input_c[cell, b] if mode == "lstm" else None
                count = steps if lengths is None else lengths[b]
                for t in range(count) if place == 0 else reversed(range(count)):
                    h, c = _cell(mode, x[t, b], h, c, *weights[cell], *biases[cell])
                    y[t, b, place * n : (place + 1) * n] = h
                last_h[cell, b] = h
                if mode == "lstm":
                    last_c[cell, b] = c
        x = y
    if mode != "lstm":
        last_c = np.zeros((), kind)
    if time_major:
        return x, last_h, last_c
    return x.swapaxes(0, 1), last_h.swapaxes(0, 1), last_c.swapaxes(0, 1) if mode == "lstm" else last_c


def generated(rng: Any, mode: str, layers: int = 1, direction: str = "unidirectional", steps: int = 3,
              batch: int = 2, width: int = 3, units: int = 2, time_major: bool = True,
              skip: bool = False) -> list[Any]:  # fmt: skip
    """input, input_h, input_c and params of a network."""
    both, gates = 1 + (direction == "bidirectional"), _GATES[mode]
    count = 0
    for layer in range(layers):
        inputs = units * both if layer else (0 if skip else width)
        count += both * gates * units * (inputs + units + 2)
    lead = (layers * both, batch) if time_major else (batch, layers * both)
    return [
        rng.normal(*((steps, batch) if time_major else (batch, steps)), width),
        rng.normal(*lead, units),
        rng.normal(*lead, units) if mode == "lstm" else np.zeros(()),
        rng.normal(count),
    ]


_CASES: tuple[dict[str, Any], ...] = (
    *({"rnn_mode": mode} for mode in _GATES),
    *({"rnn_mode": mode, "direction": "bidirectional", "layers": 2, "steps": 2} for mode in _GATES),
    {"rnn_mode": "lstm", "layers": 3, "width": 1, "steps": 2},
    {"rnn_mode": "gru", "input_mode": "skip_input", "width": 2, "layers": 2},
    {"rnn_mode": "lstm", "input_mode": "auto_select", "width": 2, "direction": "bidirectional"},
    {"rnn_mode": "rnn_tanh", "input_mode": "auto_select"},
    {"rnn_mode": "gru", "steps": 1, "batch": 1},
    {"rnn_mode": "lstm", "steps": 0},
)
_LENGTHS: tuple[dict[str, Any], ...] = (
    {"rnn_mode": "lstm", "lengths": (1, 3)},
    {"rnn_mode": "gru", "lengths": (3, 0), "direction": "bidirectional", "layers": 2},
    {"rnn_mode": "lstm", "lengths": (2, 3), "direction": "bidirectional", "time_major": False},
    {"rnn_mode": "rnn_relu", "lengths": (3, 2), "time_major": False, "layers": 2},
)


def _call(rng: Any, case: dict[str, Any], version: int):
    """The inputs and attrs of a case."""
    case = dict(case)
    lengths = case.pop("lengths", None)
    attrs = {key: case[key] for key in ("rnn_mode", "input_mode", "direction", "time_major") if key in case}
    input_mode = case.pop("input_mode", "linear_input")
    skip = input_mode != "linear_input" and case.get("width", 3) == case.get("units", 2)
    inputs = generated(rng, case.pop("rnn_mode"), skip=skip, **case)
    if version == 3:
        steps, batch = case.get("steps", 3), case.get("batch", 2)
        inputs.append(np.array(lengths or [steps] * batch, np.int32))
    return inputs, attrs


def _bad(rng: SampleGenerator):
    """Calls that are refused, as the inputs of version 2 and attrs."""
    good = generated(rng, "lstm")
    for i, bad in enumerate((rng.normal(2, 3), rng.normal(1, 3, 2), rng.normal(1, 2, 3), rng.normal(5))):
        yield [*good[:i], bad, *good[i + 1 :]], {}
    yield good, {"direction": "bidirectional"}
    yield good, {"input_mode": "skip_input"}
    yield good, {"rnn_mode": "rnn"}
    yield good, {"dropout": 1.5}
    yield [good[0], rng.normal(0, 2, 2), rng.normal(0, 2, 2), rng.normal(0)], {}


def _for_forward(row, version: int):
    @row.samples
    def _(rng: SampleGenerator):
        for case in _CASES + (_LENGTHS if version == 3 else ()):
            inputs, attrs = _call(rng, case, version)
            # What training keeps is no function that has derivatives; tests differentiate the rest.
            yield Sample(*inputs, **attrs, is_training=False, differentiable=False)
        for inputs, attrs in _bad(rng):
            own = [*inputs, np.full(2, 3, np.int32)] if version == 3 else inputs
            yield Sample(*own, **attrs, raises=InvalidArgumentError)
        if version == 3:
            good = generated(rng, "lstm")
            for lengths in ([3, 4], [3, -1], [3]):
                yield Sample(*good, np.array(lengths, np.int32), raises=InvalidArgumentError)
            yield Sample(*good, np.array([3, 3], np.int32), num_proj=1, raises=UnimplementedError)

    @row.reference
    def _(
        input: np.ndarray, input_h, input_c, params: np.ndarray, *rest, rnn_mode, input_mode, direction,
        time_major: bool = True, **_,
    ):
        outputs = _network(
            input, input_h, input_c, params, rest[0] if rest else None, rnn_mode, input_mode, direction,
            time_major,
        )  # fmt: skip
        return (*outputs, np.zeros(0), *([np.zeros(0, np.int8)] if version > 1 else []))


def _for_backward(row, forward, version: int):
    @row.samples
    def _(rng: SampleGenerator):
        for case in _CASES + (_LENGTHS if version == 3 else ()):
            inputs, attrs = _call(rng, case, version)
            defaults = {**forward.defaults, **attrs, "is_training": True}
            output, h, c, reserve, *host = forward.kernel(np, *map(np.asarray, inputs), **defaults)
            given = [rng.normal(*y.shape) for y in (output, h, c)]
            yield Sample(*inputs, output, h, c, *given, reserve, *host, **attrs, differentiable=False)
        inputs, attrs = _call(rng, _CASES[0], version)
        output, h, c, reserve, *host = forward.kernel(
            np, *map(np.asarray, inputs), **{**forward.defaults, **attrs}
        )
        good = [*inputs, output, h, c, output, h, c]
        yield Sample(*good, reserve[:-1], *host, **attrs, raises=InvalidArgumentError)
        yield Sample(*good[:-3], output[:1], h, c, reserve, *host, **attrs, raises=InvalidArgumentError)

    @row.reference
    def _(input, input_h, input_c, params, *rest, rnn_mode, input_mode, direction, time_major=True, **_):
        """By the complex step: f(x + ih) has f'(x) h as its imaginary part."""
        lengths, rest = (rest[0], rest[1:]) if version == 3 else (None, rest)
        upstream, tiny, found = rest[3:6], 1e-30, []
        values = [np.asarray(a, np.complex128) for a in (input, input_h, input_c, params)]
        for a in values:
            gradient = np.zeros(a.shape)
            for at in np.ndindex(a.shape) if a.ndim else ():
                a[at] += 1j * tiny
                outputs = _network(*values, lengths, rnn_mode, input_mode, direction, time_major)
                gradient[at] = sum(
                    (y.imag * dy).sum() for y, dy in zip(outputs, upstream, strict=True)
                ) / tiny
                a[at] -= 1j * tiny
            found.append(gradient)
        return tuple(found)


for _version, _row, _backprop in (
    (1, CudnnRNN, CudnnRNNBackprop),
    (2, CudnnRNNV2, CudnnRNNBackpropV2),
    (3, CudnnRNNV3, CudnnRNNBackpropV3),
):
    _for_forward(_row, _version)
    _for_backward(_backprop, _row, _version)
