"""`tf.contrib.deprecated`: summaries as they were before `tf.summary`: their tags are no names of ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.ops.io import summary_rows as rows
from tapeflow.ops.old_rows import AudioSummary

__all__ = [
    "audio_summary", "histogram_summary", "image_summary", "merge_all_summaries", "merge_summary", "scalar_summary",
]  # fmt: skip


def _collected(summary: Tensor, collections: Collections | None):
    for key in [tf.GraphKeys.SUMMARIES] if collections is None else collections:
        tf.add_to_collection(key, summary)
    return summary


def scalar_summary(
    tags: Sequence[str], values: Sequence[float], collections: Collections | None = None, name: str | None = None
):
    """A summary of numbers, each with its tag; it goes into `collections`, or else into that of all summaries."""
    with tf.name_scope(name, rows.ScalarSummary.name, [tags, values]) as scope:
        return _collected(tf.raw_ops.ScalarSummary(tags=tags, values=values, name=scope), collections)


def histogram_summary(
    tag: str, values: Sequence[float], collections: Sequence[str] | None = None, name: str | None = None
):
    """A summary of the distribution of `values`."""
    with tf.name_scope(name, rows.HistogramSummary.name, [tag, values]) as scope:
        return _collected(tf.raw_ops.HistogramSummary(tag=tag, values=values, name=scope), collections)


def image_summary(
    tag: str, tensor: Tensor, max_images: int = 3, collections: Sequence[Any] | None = None, name: str | None = None
):
    """A summary of at most `max_images` of the images [batch, height, width, 1, 3 or 4], of uint8 or floating dtype."""
    with tf.name_scope(name, rows.ImageSummary.name, [tag, tensor]) as scope:
        summary = tf.raw_ops.ImageSummary(tag=tag, tensor=tensor, max_images=max_images, name=scope)
        return _collected(summary, collections)


def audio_summary(
    tag: str, tensor: TensorLike, sample_rate: float, max_outputs: int = 3, collections: Sequence[Any] | None = None,
    name: str | None = None,
):
    """A summary of at most `max_outputs` sounds [batch, frames] or [batch, frames, channels], between -1 and 1."""
    with tf.name_scope(name, AudioSummary.name, [tag, tensor]) as scope:
        rate = tf.convert_to_tensor(sample_rate, tf.float32, name="sample_rate")
        summary = tf.raw_ops.AudioSummaryV2(
            tag=tag, tensor=tensor, max_outputs=max_outputs, sample_rate=rate, name=scope
        )
        return _collected(summary, collections)


def merge_summary(inputs: TensorLike, collections=None, name: str | None = None):
    """One summary of several; it goes into `collections`, if any."""
    with tf.name_scope(name, rows.MergeSummary.name, inputs):
        return _collected(tf.summary.merge(inputs), collections or [])


def merge_all_summaries(key: str = tf.GraphKeys.SUMMARIES):
    """All summaries of a collection as one; None if there are none."""
    summaries = tf.get_collection(key)
    return merge_summary(summaries) if summaries else None
