"""`tf.contrib.testing`: what tests of summaries need."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.compat import v1

__all__ = [
    "assert_summary", "latest_event_file", "latest_events", "latest_summaries", "simple_values_from_events",
    "to_summary_proto",
]  # fmt: skip


def assert_summary(expected_tags: Sequence[str], expected_simple_values: dict[str, Any], summary_proto):
    """Raises ValueError for other tags, AssertionError for values that differ in the second decimal place."""
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(
                value.simple_value, expected_simple_values[value.tag], decimal=2, err_msg=value.tag
            )
    expected, actual = set(expected_tags), {value.tag for value in summary_proto.value}
    if expected != actual:
        raise ValueError(f"Expected tags {expected}, got {actual}.")


def to_summary_proto(summary_str: bytes):
    """The Summary in bytes."""
    return protos.Summary.FromString(summary_str)


def latest_event_file(base_dir: str):
    """The newest file of events in a folder, or None."""
    paths = glob.glob(os.path.join(glob.escape(base_dir), "events.*"))
    return max(paths, default=None)


def latest_events(base_dir: str):
    """The events of the newest file."""
    path = latest_event_file(base_dir)
    return v1.train.summary_iterator(path) if path else []


def latest_summaries(base_dir: str):
    """Those of the newest events that have summaries."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events, tags: Sequence[str]):
    """The last value of each tag, by steps. Raises ValueError for summaries of other kinds."""
    found: dict[str, tuple[int, float]] = {}
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if value.tag not in found or event.step > found[value.tag][0]:
                found[value.tag] = (event.step, value.simple_value)
    return {tag: value for tag, (_, value) in found.items()}
