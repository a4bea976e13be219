"""The steps of a recurrent cell over sequences, which the row and its gradient share."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.ops.recurrent.steps import CELLS, GATES, KEPT
from tapeflow.ops.signature import one_of
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

TYPES = {"T": (dtypes.float32, dtypes.float64)}
ATTRS = {"cell": one_of(*CELLS), "time_major": False}
INPUTS = ("x", "recurrent", "bias", "initial_h", "initial_c", "mask")
RANKS = (3, 2, 1, 2, 2, 2)


def check(cell, time_major: bool, *inputs) -> None:
    for name, value, rank in zip(INPUTS, inputs, RANKS, strict=True):
        if value.ndim != rank:
            raise invalid(f"{name} must have rank {rank}, but got shape {shape_text(value.shape)}")
    x, recurrent, bias, h, c, mask = inputs
    width, n = x.shape[2], recurrent.shape[0]
    if width % GATES[cell] or recurrent.shape != (width // GATES[cell], width):
        raise invalid(
            f"recurrent must have shape [{width // GATES[cell]},{width}] for x of shape {shape_text(x.shape)}, "
            f"but got shape {shape_text(recurrent.shape)}"
        )
    biases = 2 * width if cell == "GRU" else width
    if bias.size not in (0, biases):
        raise invalid(f"bias must have {biases} elements, but got shape {shape_text(bias.shape)}")
    state = (x.shape[1 if time_major else 0], n)
    for name, value in (("initial_h", h), ("initial_c", c)):
        if value.shape != state and (name == "initial_h" or cell == "LSTM"):
            raise invalid(
                f"{name} must have shape {shape_text(state)}, but got shape {shape_text(value.shape)}"
            )
    if mask.size and mask.shape != x.shape[:2]:
        raise invalid(
            f"mask must have shape {shape_text(x.shape[:2])}, but got shape {shape_text(mask.shape)}"
        )


def loop(xp: ModuleType, body, carry, inputs, backwards=False):
    """body(carry, inputs of a step) -> (carry, outputs of the step), over all steps; the outputs stacked."""
    if xp is not np:
        scan = importlib.import_module("jax").lax.scan
        return scan(body, carry, tuple(inputs), reverse=backwards)
    steps = len(inputs[0])
    outputs: list[Any] = [None] * steps
    for t in reversed(range(steps)) if backwards else range(steps):
        carry, outputs[t] = body(carry, [each[t] for each in inputs])
    return carry, [np.stack(each) for each in zip(*outputs, strict=True)] if steps else None


def by_time(xp: ModuleType, time_major, *sequences):
    return [each if time_major else xp.swapaxes(each, 0, 1) for each in sequences]


def generated(
    rng: SampleGenerator, cell: str, steps: int = 3, batch: int = 2, units: int = 2, bias: bool = True,
    masked: bool = False,
    time_major: bool = False,
):
    """The inputs of a sample."""
    width = GATES[cell] * units
    lead = (steps, batch) if time_major else (batch, steps)
    mask = np.zeros((0, 0), bool)
    if masked:
        mask = np.arange(steps * batch).reshape(lead) % 3 != 1
    return (
        rng.normal(*lead, width),
        rng.normal(units, width),
        rng.normal(width * (2 if cell == "GRU" else 1) if bias else 0),
        rng.normal(batch, units),
        rng.normal(batch, units) if cell == "LSTM" else rng.normal(0, 0),
        mask,
    )


CASES: tuple[dict[str, Any], ...] = (
    *({"cell": cell} for cell in CELLS),
    *({"cell": cell, "masked": True, "time_major": True, "bias": False} for cell in CELLS),
    *({"cell": cell, "batch": 1, "steps": 4, "masked": cell == "GRU"} for cell in CELLS),
    *({"cell": cell, "batch": 3, "steps": 1, "units": 1} for cell in CELLS),
    {"cell": "LSTM", "steps": 0},
    {"cell": "GRU", "batch": 0},
)


def unrolled(
    x, recurrent: np.ndarray, bias: np.ndarray, initial_h: np.ndarray, initial_c: np.ndarray,
    mask: np.ndarray, cell: str, time_major: bool,
):
    """One row of the batch after the other, by the formulas as they are printed; of complex numbers too."""

    def sigmoid(z: np.ndarray):
        return 1 / (1 + np.exp(-z))

    steps, batch = x.shape[:2] if time_major else x.shape[1::-1]
    n, kind = recurrent.shape[0], np.result_type(x, recurrent, bias, initial_h, initial_c)
    lead = x.shape[:2]
    h_all, c_all = np.zeros((*lead, n), kind), np.zeros((*lead, n if cell == "LSTM" else 0), kind)
    kept = np.zeros((*lead, KEPT[cell] * n), kind)
    last_h, last_c = (
        np.zeros((batch, n), kind),
        np.zeros((batch, n) if cell == "LSTM" else (0, 0), kind),
    )
    if not bias.size:
        bias = np.zeros(6 * n)
    for b in range(batch):
        h = initial_h[b]
        c = initial_c[b] if cell == "LSTM" else None
        for t in range(steps):
            at = (t, b) if time_major else (b, t)
            z = [x[at][k * n : (k + 1) * n] + bias[k * n : (k + 1) * n] for k in range(GATES[cell])]
            u = [recurrent[:, k * n : (k + 1) * n] for k in range(GATES[cell])]
            if cell == "LSTM":
                i, f, o = (sigmoid(z[k] + h.dot(u[k])) for k in (0, 1, 3))
                g = np.tanh(z[2] + h.dot(u[2]))
                new_c = f * c + i * g
                new_h, values = o * np.tanh(new_c), [i, f, g, o]
            elif cell == "GRU":
                s = [h.dot(u[k]) + bias[(3 + k) * n : (4 + k) * n] for k in range(3)]
                new_c, update, reset = c, sigmoid(z[0] + s[0]), sigmoid(z[1] + s[1])
                g = np.tanh(z[2] + reset * s[2])
                new_h, values = g + update * (h - g), [update, reset, g, s[2]]
            elif cell == "GRUResetBefore":
                new_c, update, reset = c, sigmoid(z[0] + h.dot(u[0])), sigmoid(z[1] + h.dot(u[1]))
                g = np.tanh(z[2] + (reset * h).dot(u[2]))
                new_h, values = g + update * (h - g), [update, reset, g, reset * h]
            else:
                s = z[0] + h.dot(u[0])
                new_c, new_h, values = c, np.tanh(s) if cell == "tanh" else s * (s.real > 0), []
            if values:
                kept[at] = np.concatenate(values)
            if not mask.size or mask[at]:
                h, c = new_h, new_c
            h_all[at] = h
            if cell == "LSTM":
                c_all[at] = c
        last_h[b] = h
        if cell == "LSTM":
            last_c[b] = c
    return h_all, c_all, kept, last_h, last_c
