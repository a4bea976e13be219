"""N-grams: runs of neighbouring strings of each row, joined."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import Shape as shape_of
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.signature import Preferring, boolean, integer, ints, string
from tapeflow.ops.static import joined
from tapeflow.ops.string.rows import attr_bytes, texts
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text


def _check(data, splits, widths, pad_width):
    if data.ndim != 1 or splits.ndim != 1:
        raise invalid(
            f"data and data_splits must be vectors, got shapes {shape_text(data.shape)} and "
            f"{shape_text(splits.shape)}"
        )
    for width in widths:
        if width <= 0:
            raise invalid(f"ngram widths must be greater than 0, got {width}")
    if pad_width < -1:
        raise invalid(f"Pad width should be >= -1, got {pad_width}")
    if not len(splits):
        if len(data):
            raise invalid("Splits are empty, but data is not")
        return
    if splits[0] != 0:
        raise invalid(f"First split value must be 0, got {splits[0]}")
    fallen = np.flatnonzero(np.diff(splits) < 0)
    if len(fallen):
        i = int(fallen[0])
        raise invalid(
            f"Invalid split value {splits[i + 1]}, must be in [{splits[i]}, {len(data)}]"
        )
    if splits[-1] != len(data):
        raise invalid(f"Last split value must be data size. Expected {len(data)}, got {splits[-1]}")


def _of_row(row, width: int, left, right, pad, glue):
    """The n-grams of one width: those that begin in the padding, with at least one string or pad at each place."""
    padded = [left] * pad + list(row) + [right] * pad
    return [glue.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]


@op("StringNGrams",
    "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits",
    types={"Tsplits": Preferring(INDEX[::-1])},
    attrs={"separator": string, "ngram_widths": ints, "left_pad": string, "right_pad": string,
           "pad_width": integer, "preserve_short_sequences": boolean},
    ranks="data: 1",
    shape=lambda call: [(None,), shapes.with_rank(call.shape(1), 1)])  # fmt: skip
def StringNGrams(
    xp: ModuleType, data: Array, data_splits: Array, separator: str, ngram_widths: Sequence[int],
    left_pad: str, right_pad: str, pad_width: int, preserve_short_sequences: bool,
):
    _check(data, data_splits, ngram_widths, pad_width)
    glue, left, right = (attr_bytes(text) for text in (separator, left_pad, right_pad))
    out: list[bytes] = []
    if not len(data):  # nothing but padding is no n-gram
        return np.empty(0, object), np.zeros(data_splits.shape, data_splits.dtype)
    counts = [0]
    for start, stop in itertools.pairwise(data_splits):
        row, before = data[start:stop], len(out)
        for width in ngram_widths:
            pad = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            out += _of_row(row, width, left, right, pad, glue)
        if preserve_short_sequences and len(out) == before and len(row):
            pad = max(pad_width, 0)
            out.append(glue.join([left] * pad + list(row) + [right] * pad))
        counts.append(len(out))
    grams = np.empty(len(out), object)
    grams[:] = out
    return grams, np.array(counts, data_splits.dtype)


StringNGrams.gradient(None)


@StringNGrams.samples
def _(rng):
    data, splits = texts("a", "b", "c", "d"), np.array([0, 3, 4, 4])
    rest = {"left_pad": "L", "right_pad": "R", "preserve_short_sequences": False}
    yield Sample(data, splits, separator=" ", ngram_widths=[2], pad_width=0, **rest,
                 expect=(texts("a b", "b c"), np.array([0, 2, 2, 2])))  # fmt: skip
    yield Sample(data, splits, separator="", ngram_widths=[2], pad_width=-1, **rest,
                 expect=(texts("La", "ab", "bc", "cR", "Ld", "dR", "LR"), np.array([0, 4, 6, 7])))  # fmt: skip
    yield Sample(data, splits, separator="", ngram_widths=[1, 3], pad_width=0, **rest,
                 expect=(texts("a", "b", "c", "abc", "d"), np.array([0, 4, 5, 5])))  # fmt: skip
    short = {**rest, "preserve_short_sequences": True}
    yield Sample(data, splits, separator="", ngram_widths=[3], pad_width=0, **short,
                 expect=(texts("abc", "d"), np.array([0, 1, 2, 2])))  # fmt: skip
    for none in ([], [0], [0, 0]):
        yield Sample(texts(), np.array(none, np.int64), separator="", ngram_widths=[2], pad_width=-1, **short,
                     expect=(texts(), np.zeros(len(none), np.int64)))  # fmt: skip
    for wrong in ([1, 4], [0, 3], [0, 9], [0, 3, 2, 4]):
        yield Sample(data, np.array(wrong), separator="", ngram_widths=[2], pad_width=0, **rest,
                     raises=InvalidArgumentError)  # fmt: skip
    yield Sample(data, splits, separator="", ngram_widths=[0], pad_width=0, **rest,
                 raises=InvalidArgumentError)  # fmt: skip


def _pads(pad_values, padding_width, widths):
    """(the strings that pad rows on both sides, how many of them at most)."""
    if pad_values is None:
        if padding_width is not None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        return ("", ""), 0
    if isinstance(pad_values, (str, bytes)):
        pad_values = (pad_values, pad_values)
    if not isinstance(pad_values, (list, tuple)):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    left, right = pad_values[0], pad_values[1]
    if not all(isinstance(text, (str, bytes)) for text in (left, right)):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    if padding_width is None:
        return (left, right), -1
    if padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    return (left, right), padding_width


@api("strings.ngrams")
@tensor_function
def ngrams(
    data,
    ngram_width,
    separator=" ",
    pad_values=None,
    padding_width=None,
    preserve_short_sequences=False,
    name: str | None = None,
):
    """Join runs of strings along the last dimension.

    Args:
      data: a string tensor or `tf.RaggedTensor` of rank 1 at least.
      ngram_width: how many strings a run has, an int or a list of ints.
      separator: what stands between them.
      pad_values: the string, or the pair for left and right, that rows are filled up with on both sides (optional).
      padding_width: how many of these at most; None: one less than the width.
      preserve_short_sequences: whether a row too short for any n-gram is joined as a whole.
      name: a name for the operation (optional).

    Returns:
      A `tf.RaggedTensor` of strings; of a vector, a vector.

    Raises:
      ValueError: for a scalar, a width below one, and a padding width without pad values.

    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy()
    array([b'a b', b'b c'], dtype=object)
    """
    data = as_ragged_or_tensor(data, dtypes.string)
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    if any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    (left, right), pad_width = _pads(pad_values, padding_width, widths)
    rank = data.shape.rank
    if rank == 0:
        raise ValueError("Data must have rank>0")
    dense = not isinstance(data, RaggedTensor)
    if dense and rank == 1:
        one = RaggedTensor.from_tensor(data[None])
        return _of_rows(one, separator, widths, left, right, pad_width, preserve_short_sequences)[0]
    ragged = RaggedTensor.from_tensor(data, ragged_rank=rank - 1) if dense else data
    if not dense and ragged.flat_values.shape.rank != 1:
        inner = RaggedTensor.from_tensor(
            ragged.flat_values, ragged_rank=ragged.flat_values.shape.rank - 1
        )
        ragged = ragged.with_flat_values(inner)
    out = _of_rows(ragged, separator, widths, left, right, pad_width, preserve_short_sequences)
    return reshape(out.flat_values, joined(shape_of(data)[:-1], [-1])) if dense else out


def _of_rows(ragged, separator, widths, left, right, pad_width, preserve):
    if isinstance(ragged.values, RaggedTensor):
        inner = _of_rows(ragged.values, separator, widths, left, right, pad_width, preserve)
        return ragged.with_values(inner)
    made, splits = StringNGrams(
        reshape(ragged.values, [-1]),
        ragged.row_splits,
        separator=separator,
        ngram_widths=widths,
        left_pad=left,
        right_pad=right,
        pad_width=pad_width,
        preserve_short_sequences=preserve,
    )
    return RaggedTensor.from_row_splits(made, splits, validate=False)
