"""Progress in notebooks: an output that is replaced while a model trains: a bar, the last epochs, their losses."""

from __future__ import annotations

import math
import re
import sys
from collections import deque
from typing import Any

from tapeflow.core.display import notebook
from tapeflow.keras.utils.progress import Progbar, is_interactive_logging_enabled

_LAST_EPOCHS = 8  # in the table
_LAST_LINES = 100  # of the text
_MOST_POINTS = 300  # of a curve
_WIDTH, _HEIGHT, _EDGE = 360, 140, 12
_COLOURS = ("#3f51b5", "#e8710a", "#12883b", "#a142f4")


def in_notebook() -> bool:
    """Whether outputs can be replaced: in the kernel of a notebook, unless progress goes to the log."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None and is_interactive_logging_enabled()


class LiveOutput:
    """One output of a cell, for all epochs of a training."""

    def __init__(self) -> None:
        self.epochs: list[dict[str, float]] = []
        self._lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._handle: Any = None

    def progress(self, target: int | None, title: str, stateful_metrics: Any) -> LiveProgress:
        """The progress of the next loop, which this output shows."""
        return LiveProgress(self, target, title, stateful_metrics)

    def show(self, bar: str, text: str) -> None:
        """Replaces what is shown: a bar in HTML, and the same as text for what shows no HTML."""
        from IPython.display import display  # loaded: the program runs in it

        bundle = {"text/html": bar + self._course(), "text/plain": "\n".join([*self._lines, text])}
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)

    def end_of_epoch(self, logs: dict[str, float], text: str) -> None:
        """Keeps what the epoch that is shown has given."""
        self.epochs.append(logs)
        self._lines.append(text)

    def _course(self) -> str:
        """The last epochs, and the losses of all."""
        if len(self.epochs) < 2:
            return ""
        names = list(dict.fromkeys(name for logs in self.epochs for name in logs))
        numbered = list(enumerate(self.epochs, 1))[-_LAST_EPOCHS:]
        rows = [[str(i), *(_number(logs.get(name)) for name in names)] for i, logs in numbered]
        nan = float("nan")
        losses = {name: [logs.get(name, nan) for logs in self.epochs] for name in names if name in ("loss", "val_loss")}
        return curves(losses) + notebook.table(rows, ["epoch", *names])


class LiveProgress(Progbar):
    """Progress of a loop that a `LiveOutput` shows."""

    def __init__(self, output: LiveOutput, target: int | None, title: str, stateful_metrics: Any):
        super().__init__(target, interval=0.2, stateful_metrics=stateful_metrics)
        self._output, self._title = output, title

    def _write(self, current: int, now: float, finalize: bool) -> None:
        words = re.sub(r"\x1b\[\d+m|━", "", self._line(current, now, finalize)[0])
        words = re.sub(" +", " ", words).strip()
        place = f' value="{current}" max="{self.target}"' if self.target else ""
        title = f"<div>{notebook.escape(self._title)}</div>" if self._title else ""
        bar = f"{title}<div><progress{place}></progress> <code>{notebook.escape(words)}</code></div>"
        text = f"{self._title}\n{words}".lstrip("\n")
        self._output.show(bar, text)
        if finalize:
            numbers = {name: total / max(weight, 1) for name, (total, weight) in self._sums.items()}
            self._output.end_of_epoch(numbers, text)


def curves(courses: dict[str, list[float]]) -> str:
    """Curves of numbers, a point for each epoch, as SVG; where a number is not finite there is no point."""
    known = [y for course in courses.values() for y in course if math.isfinite(y)]
    if not known:
        return ""
    low, high = min(known), max(known)
    longest = max(map(len, courses.values()))
    every = -(-longest // _MOST_POINTS)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT + 16}" font-size="11">']
    for i, (name, course) in enumerate(courses.items()):
        points = " ".join(
            f"{_EDGE + (_WIDTH - 2 * _EDGE) * at / max(longest - 1, 1):.1f},"
            f"{_EDGE + (_HEIGHT - 2 * _EDGE) * (high - y) / ((high - low) or 1.0):.1f}"
            for at, y in enumerate(course) if at % every == 0 and math.isfinite(y)
        )  # fmt: skip
        colour = _COLOURS[i % len(_COLOURS)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<text x="{_EDGE + 80 * i}" y="{_HEIGHT + 12}" fill="{colour}">{notebook.escape(name)}</text>')
    parts.append(f'<text x="{_WIDTH - _EDGE}" y="10" text-anchor="end" fill="#888">{high:.4g}</text>')
    parts.append(f'<text x="{_WIDTH - _EDGE}" y="{_HEIGHT}" text-anchor="end" fill="#888">{low:.4g}</text>')
    return "".join([*parts, "</svg>"])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if 1e-3 < abs(value) < 1e6 else f"{value:.4e}"
