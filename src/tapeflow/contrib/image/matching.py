"""Connected components of images, and pairs of least distance."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import numpy as np

import tapeflow.compat.v1 as tf

BipartiteMatch = collections.namedtuple(
    "BipartiteMatch", ["row_to_col_match_indices", "col_to_row_match_indices"]
)


def _roots(count: int, pairs):
    """For each of `count` places the least one that it is joined with by pairs of places."""
    roots = np.arange(count)
    while True:
        ends = np.sort(roots[pairs], 0)
        if (ends[0] == ends[1]).all():
            return roots
        np.minimum.at(roots, ends[1], ends[0])
        while not (roots == roots[roots]).all():
            roots = roots[roots]


def _labelled(images):
    """Numbers of components from 1 on, in the order of their first pixels; 0 for pixels that are nothing."""
    if not images.size:
        return np.zeros(images.shape, np.int32)
    something = images != (b"" if images.dtype.kind in "OS" else 0)
    places = np.arange(images.size).reshape(images.shape)
    pairs = []
    for here, there in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:, :, :-1], np.s_[:, :, 1:])):
        joined = (images[here] == images[there]) & something[here]
        pairs.append(np.stack([places[here][joined], places[there][joined]]))
    roots = _roots(images.size, np.concatenate(pairs, 1))
    out = np.zeros(images.size, np.int32)
    chosen = something.ravel()
    out[chosen] = np.unique(roots[chosen], return_inverse=True)[1] + 1
    return out.reshape(images.shape)


def connected_components(images):
    """Numbers of the areas of adjacent pixels of the same value other than 0 (False, ""), which get 0: int32.

    Areas are counted from 1 on through all images in the order of their first pixels; pixels touch by their edges.

    Args:
      images: [height, width] or [batch, height, width], of any dtype of numbers, bool or string.

    Raises TypeError for another rank.
    """
    with tf.name_scope("connected_components"):
        images = tf.convert_to_tensor(images, name="images")
        rank = images.shape.ndims
        if rank not in (2, 3):
            raise TypeError(f"images should have rank 2 (HW) or 3 (NHWC). Static shape is {images.shape}")
        batch = images[None] if rank == 2 else images
        labels = tf.numpy_function(_labelled, [batch], tf.int32)
        labels.set_shape(batch.shape)
        return labels[0] if rank == 2 else labels


def _matched(distances: np.ndarray, valid_rows: Any, top_k: Any):
    rows, columns = distances.shape
    valid = valid_rows.reshape(-1)
    if valid.size != 1:
        raise tf.errors.InvalidArgumentError(
            None, None, f"num_valid_rows argument should be a tensor with 1 element, but got {valid.size}"
        )
    used = int(valid[0] + 0.1) if valid[0] >= 0 else rows
    if used > rows:
        raise tf.errors.InvalidArgumentError(
            None, None, f"There should be at least {used} rows in distance_mat, but only got {rows} rows."
        )
    to_column, to_row = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    wanted = int(top_k) if top_k > 0 else used * columns
    for place in np.argsort(distances[:used], axis=None, kind="stable"):
        row, column = divmod(int(place), columns)
        if to_column[row] == -1 and to_row[column] == -1 and wanted > 0:
            to_column[row], to_row[column] = column, row
            wanted -= 1
    return to_column, to_row


def bipartite_match(
    distance_mat: Sequence[Any], num_valid_rows: Sequence[float] | int, top_k: int = -1, name: str = "bipartite_match"
):
    """Rows matched with columns greedily, the least distance first.

    Args:
      distance_mat: [rows, columns] of float32.
      num_valid_rows: so many of the first rows take part; all if it is negative.
      top_k: at most so many pairs; as many as there are if it is not positive.

    Returns:
      (for each row its column, for each column its row), int32; -1 where there is none.
    """
    with tf.name_scope(name):
        distances = tf.convert_to_tensor(distance_mat, tf.float32)
        if distances.shape.ndims not in (None, 2):
            raise tf.errors.InvalidArgumentError(
                None, None, f"distance_mat should be 2-dimensional, but got {distances.shape}"
            )
        valid = tf.convert_to_tensor(num_valid_rows, tf.float32)
        found = tf.numpy_function(_matched, [distances, valid, top_k], [tf.int32, tf.int32])
        sizes = distances.shape.as_list() if distances.shape.ndims else [None, None]
        for each, size in zip(found, sizes, strict=True):
            each.set_shape([size])
        return BipartiteMatch(*found)
