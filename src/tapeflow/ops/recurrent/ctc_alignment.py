"""The sum over all alignments of a label sequence with the frames of a network: what CTC losses compute.

The forward-backward algorithm of Graves, Fernandez, Gomez, Schmidhuber, "Connectionist temporal classification",
2006, over whole batches. States alternate: a blank, the first label, a blank, ..., the last label, a blank.
"""

from __future__ import annotations

import numpy as np


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Along the last axis, in double precision."""
    x = logits.astype(np.float64)
    x = x - x.max(-1, keepdims=True, initial=-np.inf)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def _later(x: np.ndarray, by: int) -> np.ndarray:
    """`x` [batch, states] moved up by some states."""
    out = np.full_like(x, -np.inf)
    out[:, by:] = x[:, : x.shape[1] - by]
    return out


def _earlier(x: np.ndarray, by: int) -> np.ndarray:
    out = np.full_like(x, -np.inf)
    out[:, : x.shape[1] - by] = x[:, by:]
    return out


def loss_and_gradient(
    logits: np.ndarray,
    labels: list[list[int]],
    lengths: np.ndarray,
    blank: int,
    merge_repeated: bool = True,
    outside: float = -np.inf,
) -> tuple[np.ndarray, np.ndarray]:
    """-log p(labels | logits) [batch], and its gradient by the logits [time, batch, classes].

    Args:
      logits: [time, batch, classes]; frames from `lengths` on are not looked at.
      labels: the label sequence of each batch element.
      merge_repeated: whether equal labels in consecutive frames stand for one label.
      outside: the log-probability of an alignment to start or end where it must not.
    """
    time, batch, classes = logits.shape
    counts = np.array([len(row) for row in labels], np.int64)
    states = 2 * int(counts.max(initial=0)) + 1
    path = np.full((batch, states), blank, np.int64)
    for row, own in zip(path, labels, strict=True):
        row[1 : 2 * len(own) : 2] = own
    inside = np.arange(states) <= 2 * counts[:, None]
    is_label = (np.arange(states) % 2 == 1)[None]
    differs = np.ones((batch, states), bool)
    differs[:, 2:] = path[:, 2:] != path[:, :-2]
    may_skip = is_label & (differs | (not merge_repeated))
    may_stay = np.ones((batch, states), bool) if merge_repeated else np.broadcast_to(~is_label, path.shape)
    ends = (np.arange(states) >= 2 * counts[:, None] - 1) & inside
    last = np.where(ends, 0.0, outside)

    running = np.arange(time)[:, None] < lengths
    seen = np.where(running[:, :, None], logits, 0)
    log_p = log_softmax(seen)
    emitted = np.take_along_axis(log_p, np.broadcast_to(path, (time, batch, states)), 2)
    emitted = np.where(inside, emitted, -np.inf)

    def step(x: np.ndarray):
        """The log-probability of coming to each state from the states before, by `x`."""
        out = np.logaddexp(np.where(may_stay, x, -np.inf), _later(x, 1))
        return np.logaddexp(out, np.where(may_skip, _later(x, 2), -np.inf))

    alpha = np.full((time, batch, states), -np.inf)
    start = np.full((batch, states), outside)
    begin = np.where((np.arange(states) < 2) & inside, 0.0, -np.inf)
    for t in range(time):
        came = np.logaddexp(step(start), begin) if t == 0 else step(alpha[t - 1])
        alpha[t] = came + emitted[t]
    final = alpha[np.maximum(lengths - 1, 0), np.arange(batch)] if time else start
    total = np.logaddexp.reduce(final + last, axis=1) if states else np.zeros(batch)
    total = np.where(lengths == 0, np.where(counts == 0, 0.0, outside), total)

    occupied = np.zeros((time, batch, states))
    beta = np.full((batch, states), -np.inf)
    reachable = np.isfinite(total)
    safe = np.where(reachable, total, 0)[:, None]
    for t in range(time - 1, -1, -1):
        if t + 1 < time:
            ahead = beta + emitted[t + 1]
            came = np.logaddexp(np.where(may_stay, ahead, -np.inf), _earlier(ahead, 1))
            came = np.logaddexp(came, _earlier(np.where(may_skip, ahead, -np.inf), 2))
        else:
            came = beta
        at_end = (lengths - 1 == t)[:, None]
        beta = np.where(at_end, last, np.where((lengths - 1 > t)[:, None], came, -np.inf))
        occupied[t] = np.exp(alpha[t] + beta - safe)
    valid = running & reachable
    cells = (np.arange(time * batch).reshape(time, batch, 1) * classes + path).reshape(-1)
    taken = np.bincount(cells, occupied.reshape(-1), time * batch * classes).reshape(logits.shape)
    gradient = np.where(valid[:, :, None], np.exp(log_p) - taken, 0)
    return -total, gradient
