"""A line in the terminal that shows how far a loop is, and means of its numbers."""

from __future__ import annotations

import sys
import time


class Progbar:
    """Progress of a loop of `target` steps (None: unknown).

    Args:
      verbose: 0 silent, 1 a bar, 2 one line at the end.
      stateful_metrics: names of values to show as they are rather than as their mean.
    """

    def __init__(
        self, target, width=30, verbose=1, interval=0.05, stateful_metrics=None, unit_name="step"
    ):
        self.target, self.width, self.verbose, self.interval = target, width, verbose, interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._sums: dict[str, list[float]] = {}
        self._seen = 0
        self._shown = 0
        self._start = time.time()
        self._last = 0.0

    def is_due(self):
        """Whether an update now would be shown."""
        return time.time() - self._last >= self.interval

    def update(self, current, values=None, finalize=None):
        """Says that `current` steps are done, with (name, value) pairs of the steps since then."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for name, value in values or ():
            if name in self.stateful_metrics:
                self._sums[name] = [float(value), 1]
            else:
                total = self._sums.setdefault(name, [0.0, 0])
                weight = max(current - self._seen, 1)
                total[0] += float(value) * weight
                total[1] += weight
        self._seen = current
        now = time.time()
        if self.verbose == 0 or (self.verbose == 2 and not finalize):
            return
        if not finalize and now - self._last < self.interval:
            return
        self._last = now
        line = self._line(current, now, finalize)
        if self.verbose == 1:
            sys.stdout.write("\r" + line.ljust(self._shown))
            self._shown = len(line)
            if finalize:
                sys.stdout.write("\n")
        else:
            sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def add(self, n, values=None):
        """Says that n more steps are done."""
        self.update(self._seen + n, values)

    def _line(self, current, now, finalize):
        parts = []
        if self.target:
            digits = len(str(self.target))
            parts.append(f"{current:{digits}d}/{self.target}")
            if self.verbose == 1:
                done = min(int(self.width * current / self.target), self.width)
                arrow = "=" * done if done == self.width else ("=" * max(done - 1, 0) + ">")
                parts.append(f"[{arrow.ljust(self.width, '.')}]")
        else:
            parts.append(f"{current:7d}/Unknown")
        spent = now - self._start
        per_step = spent / current if current else 0.0
        if finalize or not self.target:
            parts.append(f"- {spent:.0f}s {_duration(per_step)}/{self.unit_name}")
        else:
            parts.append(f"- ETA: {_clock(per_step * (self.target - current))}")
        for name, (total, weight) in self._sums.items():
            mean = total / max(weight, 1)
            parts.append(f"- {name}: {mean:.4f}" if abs(mean) > 1e-3 else f"- {name}: {mean:.4e}")
        return " ".join(parts)


def _duration(seconds):
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.0f}s"
    return f"{seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us"


def _clock(seconds):
    seconds = int(seconds)
    if seconds > 3600:
        return f"{seconds // 3600}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
    return f"{seconds // 60}:{seconds % 60:02d}" if seconds > 60 else f"{seconds}s"
