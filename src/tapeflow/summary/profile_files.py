"""Profiles as files: what the profile page of TensorBoard reads (XSpace), and Chrome's trace events.

The messages are those of tsl/profiler/protobuf/xplane.proto; times in them are picoseconds.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.files.wire import bytes_field, varint_field


class Span(NamedTuple):
    """Something that took time.

    Attributes:
      begin, end: in nanoseconds of the same clock.
      thread: whose line it is shown in.
      details: texts by name.
    """

    name: str
    begin: int
    end: int
    thread: str
    details: dict[str, str]


def write(folder: Any, spans: Sequence[Span]) -> str:
    """Writes a profile to a new run of a log folder; returns the folder of the run."""
    run = time.strftime("%Y_%m_%d_%H_%M_%S")
    base = target = os.path.join(local_path(folder), "plugins", "profile", run)
    count = 0
    while os.path.exists(target):  # several in one second
        count += 1
        target = f"{base}_{count}"
    os.makedirs(target)
    host = socket.gethostname()
    replace_file(os.path.join(target, f"{host}.xplane.pb"), xspace(spans, host))
    trace = gzip.compress(chrome_trace(spans).encode())
    replace_file(os.path.join(target, f"{host}.trace.json.gz"), trace)
    return target


def chrome_trace(spans: Sequence[Span]) -> str:
    """The spans as JSON for chrome://tracing, Perfetto and TensorBoard."""
    begin = min((span.begin for span in spans), default=0)
    threads = {name: i + 1 for i, name in enumerate(dict.fromkeys(s.thread for s in spans))}
    rows: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "/host:CPU"}}
    ]
    for name, number in threads.items():
        rows.append(
            {"name": "thread_name", "ph": "M", "pid": 1, "tid": number, "args": {"name": name}}
        )
    for span in spans:
        rows.append({
            "name": span.name, "ph": "X", "pid": 1, "tid": threads[span.thread],
            "ts": (span.begin - begin) / 1000, "dur": max(span.end - span.begin, 1) / 1000, "args": span.details,
        })  # fmt: skip
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": rows})


def xspace(spans: Sequence[Span], host: str) -> bytes:
    """The spans as an XSpace message with one plane, that of the host's CPU."""
    begin = min((span.begin for span in spans), default=0)
    names = {name: i + 1 for i, name in enumerate(dict.fromkeys(s.name for s in spans))}
    keys = dict.fromkeys(key for span in spans for key in span.details)
    stats = {key: i + 1 for i, key in enumerate(keys)}
    plane = varint_field(1, 0) + bytes_field(2, b"/host:CPU")
    for number, thread in enumerate(dict.fromkeys(span.thread for span in spans)):
        line = varint_field(1, number + 1) + bytes_field(2, thread.encode()) + varint_field(3, begin)
        for span in spans:
            if span.thread == thread:
                line += bytes_field(4, _event(span, begin, names, stats))
        plane += bytes_field(3, line)
    for field, table in ((4, names), (5, stats)):
        for name, number in table.items():
            value = varint_field(1, number) + bytes_field(2, name.encode())
            plane += bytes_field(field, varint_field(1, number) + bytes_field(2, value))
    return bytes_field(1, plane) + bytes_field(4, host.encode())


def _event(span: Span, begin: int, names: dict[str, int], stats: dict[str, int]) -> bytes:
    made = varint_field(1, names[span.name]) + varint_field(2, (span.begin - begin) * 1000)
    made += varint_field(3, max(span.end - span.begin, 1) * 1000)
    for key, text in span.details.items():
        made += bytes_field(4, varint_field(1, stats[key]) + bytes_field(5, text.encode()))
    return made
