"""What both integrators ask of their arguments."""

from __future__ import annotations

from typing import Any

import tapeflow.compat.v1 as tf


def check_types(y0: Any, t: Any, dt=None):
    """Raise TypeError for a state or times of another dtype than can be integrated."""
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    if not t.dtype.is_floating:
        raise TypeError("`t` must have a floating point dtype")
    if dt is not None and not dt.dtype.is_floating:
        raise TypeError("`dt` must have a floating point dtype")


def increasing(t: Any):
    """`t`, once it is known to increase. Raises InvalidArgumentError otherwise."""
    check = tf.Assert(tf.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])
    with tf.control_dependencies([] if check is None else [check]):
        return tf.identity(t)
