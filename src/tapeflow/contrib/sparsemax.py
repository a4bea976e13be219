"""`tf.contrib.sparsemax`: the projection onto the simplex, in place of softmax (Martins and Astudillo 2016)."""

from __future__ import annotations

from typing import Any

import tapeflow.compat.v1 as tf

__all__ = ["sparsemax", "sparsemax_loss"]


def sparsemax(logits, name: str | None = None):
    """The point of the simplex nearest to each row of `logits` [batch, classes], of a floating dtype.

    A row with a NaN or with no finite maximum becomes NaN.
    """
    with tf.name_scope(name, "sparsemax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        rows, classes = tf.shape(logits)[0], tf.shape(logits)[1]
        ordered, _ = tf.nn.top_k(logits, k=classes)
        total = tf.cumsum(ordered, axis=1)
        ranks = tf.cast(tf.range(classes) + 1, logits.dtype)
        support = tf.reduce_sum(tf.cast(1 + ranks * ordered > total, tf.int32), axis=1)
        last = tf.stack([tf.range(rows), tf.maximum(support, 1) - 1], axis=1)
        threshold = (tf.gather_nd(total, last) - 1) / tf.cast(support, logits.dtype)
        out = tf.maximum(tf.zeros([], logits.dtype), logits - threshold[:, None])
        lost = tf.logical_or(tf.equal(support, 0), tf.is_nan(total[:, -1]))
        return tf.where(lost, tf.fill([rows, classes], tf.constant(float("nan"), logits.dtype)), out)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None):
    """The loss of each row [batch] whose gradient is `sparsemax(logits) - labels`.

    Args:
      logits: [batch, classes], of a floating dtype.
      sparsemax: `sparsemax(logits)`.
      labels: [batch, classes] distributions.
    """
    with tf.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits, sparsemax, labels = (tf.convert_to_tensor(v) for v in (logits, sparsemax, labels))
        used = tf.logical_or(sparsemax > 0, tf.is_nan(sparsemax))
        own = tf.where(used, sparsemax * (logits - 0.5 * sparsemax), tf.zeros_like(sparsemax))
        theirs = labels * (0.5 * labels - logits)
        nothing = tf.logical_and(tf.equal(labels, 0), tf.is_inf(logits))
        return tf.reduce_sum(own + tf.where(nothing, tf.zeros_like(theirs), theirs), axis=1)
