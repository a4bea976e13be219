"""A line in the terminal that shows how far a loop is, and means of its numbers."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2

_state = {"interactive": True}


def enable_interactive_logging():
    """Lets progress be printed to stdout."""
    _state["interactive"] = True


def disable_interactive_logging():
    """Lets progress go to the log (stderr) rather than to stdout."""
    _state["interactive"] = False


def is_interactive_logging_enabled():
    """Whether progress is printed to stdout."""
    return _state["interactive"]


def _out():
    return sys.stdout if _state["interactive"] else sys.stderr


def in_order_of_release(logs: dict[str, Any]):
    """Logs in the order in which they are shown: by name in Keras 3, as they are in Keras 2."""
    return logs if keras_2() else dict(sorted(logs.items()))


class Progbar:
    """Progress of a loop of `target` steps.

    Args:
      target: the number of steps; None for unknown.
      width: the length of the bar in characters.
      verbose: 0 silent, 1 a bar, 2 one line at the end.
      interval: the least number of seconds between two updates of the bar.
      stateful_metrics: names of values to show as they are rather than as their mean.
      stateless_metrics: names of the only values to show as their mean; not with `stateful_metrics`.
      unit_name: what steps are called, as "step".

    Raises:
      ValueError: for both kinds of names.
    """

    def __init__(
        self, target: int | None, width: int = 20, verbose: int = 1, interval: float = 0.05,
        stateful_metrics: Any = None, stateless_metrics: Sequence[str] | None = None, unit_name: str = "step",
    ):  # fmt: skip
        if stateful_metrics is not None and stateless_metrics is not None:
            raise ValueError("Only one of `stateful_metrics` and `stateless_metrics` can be given.")
        self.target, self.width, self.verbose, self.interval = target, width, verbose, interval
        self.unit_name = unit_name
        self.stateful_metrics = None if stateless_metrics is not None else set(stateful_metrics or ())
        self.stateless_metrics = None if stateless_metrics is None else set(stateless_metrics)
        self._sums: dict[str, list[float]] = {}
        self._seen = 0
        self._shown = 0
        self._start = time.time()
        self._after_first = None  # the time after the first step, which is slower than others
        self._last = 0.0

    def is_due(self):
        """Whether an update now would be shown."""
        return time.time() - self._last >= self.interval

    def show_as_they_are(self, names):
        """Says that the values of these names are no means of steps: they are shown as they are."""
        if self.stateful_metrics is not None:
            self.stateful_metrics |= set(names)

    def _is_stateful(self, name):
        if self.stateless_metrics is not None:
            return name not in self.stateless_metrics
        return name in self.stateful_metrics

    def update(self, current, values=None, finalize=None):
        """Says that `current` steps are done, with (name, value) pairs of the steps since then."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for name, value in values or ():
            value = float(np.mean(value))
            # At the end Keras 3 is given what holds for all steps.
            if self._is_stateful(name) or (finalize and not keras_2()):
                self._sums[name] = [value, 1]
            else:
                total = self._sums.setdefault(name, [0.0, 0])
                weight = max(current - self._seen, 1)
                total[0] += value * weight
                total[1] += weight
        self._seen = current
        now = time.time()
        if self._after_first is None and current > 0:
            self._after_first = (current, now)
        if self.verbose == 0 or (self.verbose == 2 and not (finalize and (self.target or keras_2()))):
            return
        if not finalize and now - self._last < self.interval:
            return
        self._last = now
        self._write(current, now, finalize)

    def _write(self, current: int, now: float, finalize: bool):
        """Shows how far the loop is."""
        line, plain = self._line(current, now, finalize)
        out = _out()
        if self.verbose == 1:
            out.write("\r" + line + " " * max(self._shown - plain, 0))
            self._shown = plain
            if finalize:
                out.write("\n")
        else:
            out.write(line + "\n")
        out.flush()

    def add(self, n: int, values=None):
        """Says that n more steps are done."""
        self.update(self._seen + n, values)

    def _line(self, current: int, now: float, finalize: bool):
        """The line, and how wide it is on the screen."""
        bar = self.verbose == 1
        if self.target:
            count = f"{current:{len(str(self.target))}d}/{self.target}"
            done = min(int(self.width * current / self.target), self.width)
        else:
            count = f"{current:7d}/Unknown"
            done = 0
        parts = [_bold(count) if bar else count]
        if bar and self.target:
            full = f"\x1b[32m{'━' * done}\x1b[0m" if done else ""
            parts.append(f"{full}\x1b[37m{'━' * (self.width - done)}\x1b[0m")
        per_step = self._per_step(current, now)
        if finalize or not self.target:
            spent = f"{now - self._start:.0f}s"
        else:
            spent = _clock(per_step * (self.target - current))
        dash = "" if bar else "- "
        parts.append(_bold(spent) if bar else f"- {spent}")
        old = keras_2() and not bar  # of which the times per epoch and step come last
        if not old:
            parts.append(f"{dash}{_duration(per_step)}/{self.unit_name}")
        for name, (total, weight) in self._sums.items():
            mean = total / max(weight, 1)
            size = abs(mean) if bar or keras_2() else mean  # Keras 3 writes negative numbers of lines with exponents
            parts.append(f"- {name}: {mean:.4f}" if size > 1e-3 else f"- {name}: {mean:.4e}")
        if old:
            parts += [f"- {_duration(now - self._start)}/epoch", f"- {_duration(per_step)}/{self.unit_name}"]
        line = " ".join(parts)
        codes = line.count("\x1b[0m") * 4 + sum(line.count(c) * n for c, n in _CODES)
        return line, len(line) - codes

    def _per_step(self, current: int, now: float):
        """Seconds of a step: of those after the first, once there are some."""
        if not current:
            return 0.0
        first = self._after_first
        if first is not None and current > first[0]:
            return (now - first[1]) / (current - first[0])
        return (now - self._start) / current


_CODES = (("\x1b[1m", 4), ("\x1b[32m", 5), ("\x1b[37m", 5))


def _bold(text: str):
    return f"\x1b[1m{text}\x1b[0m"


def _duration(seconds: float):
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.0f}s"
    return f"{seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us"


def _clock(seconds: float):
    seconds = int(seconds)
    if seconds > 3600:
        return f"{seconds // 3600}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
    return f"{seconds // 60}:{seconds % 60:02d}" if seconds > 60 else f"{seconds}s"


boundaries(globals())
