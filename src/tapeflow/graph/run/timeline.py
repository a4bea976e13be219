"""When the steps of a plan ran: as Chrome's trace events, and as the StepStats of run metadata."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

# The task of this process, as devices name it where there is no cluster.
TASK = "/job:localhost/replica:0/task:0"

# (name, label, start, duration in ns, depth), as `Plan.timeline` gives them.
Event = tuple[str, Any, int, int, int]


def chrome_trace(events: Sequence[Event]) -> str:
    """The events as JSON for chrome://tracing and Perfetto.

    Source: the Trace Event Format: complete events ("ph": "X"), times in microseconds.
    """
    begin = min((start for _, _, start, _, _ in events), default=0)
    rows = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "tapeflow"}}]
    for name, label, start, duration, depth in events:
        node = getattr(label, "name", "")
        file, line, function = getattr(label, "defined_at", ("", 0, ""))
        rows.append({
            "name": name, "cat": "op", "ph": "X", "pid": 0, "tid": 0,
            "ts": (start - begin) / 1000, "dur": duration / 1000,
            "args": {"node": node, "defined": f"{file}:{line} in {function}" if file else "", "depth": depth},
        })  # fmt: skip
    return json.dumps({"traceEvents": rows, "displayTimeUnit": "ns"})


def fill(step_stats: Any, events: Sequence[Event], task: str = TASK) -> None:
    """Add the events, which happened on the host of a task, to a StepStats message."""
    device = step_stats.dev_stats.add()
    device.device = f"{task}/device:CPU:0"
    for name, label, start, duration, _ in events:
        stats = device.node_stats.add()
        stats.node_name = getattr(label, "name", name)
        stats.timeline_label = f"{stats.node_name} = {name}()"
        stats.all_start_micros = start // 1000
        stats.op_end_rel_micros = stats.all_end_rel_micros = max(duration // 1000, 1)
        stats.all_start_nanos = start
        stats.op_end_rel_nanos = stats.all_end_rel_nanos = duration


class Timeline:
    """The steps of a run, from the step_stats of its metadata.

    Args:
      step_stats: a StepStats message.
    """

    def __init__(self, step_stats: Any, graph: Any = None):
        self._stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """JSON for chrome://tracing and Perfetto."""
        events = [
            (n.timeline_label.partition(" = ")[2].removesuffix("()") or n.node_name, _Named(n.node_name),
             n.all_start_nanos or n.all_start_micros * 1000, n.all_end_rel_nanos or n.all_end_rel_micros * 1000, 0)
            for d in self._stats.dev_stats for n in d.node_stats
        ]  # fmt: skip
        return chrome_trace(events)


class _Named:
    def __init__(self, name: str):
        self.name = name
