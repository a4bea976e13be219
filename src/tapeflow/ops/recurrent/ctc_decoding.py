"""Connectionist temporal classification: from the frames of a network to label sequences."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import FailedPreconditionError
from tapeflow.core.public import tensor_function
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops import shapes
from tapeflow.ops.recurrent.ctc import checked_lengths
from tapeflow.ops.recurrent.ctc_alignment import log_softmax
from tapeflow.ops.signature import Preferring, integer
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_TYPES = (dtypes.float32, dtypes.float64)


def _unmet(text: str) -> FailedPreconditionError:
    return FailedPreconditionError(None, None, text)


def _sparse_rows(rows: list[list[int]]):
    """Indices, values and shape of a sparse matrix with these rows."""
    indices = [(b, i) for b, row in enumerate(rows) for i in range(len(row))]
    values = [v for row in rows for v in row]
    width = max((len(row) for row in rows), default=0)
    return (
        np.array(indices, np.int64).reshape(-1, 2),
        np.array(values, np.int64),
        np.array([len(rows), width], np.int64),
    )


def _greedy_rule(call: ShapeCall):
    batch = shapes.with_rank(call.shape(0), 3)[1]
    batch = shapes.same_dimension(batch, shapes.vector_length(call, 1))
    return [(None, 2), (None,), (2,), (batch, 1)]


@op(
    "CTCGreedyDecoder",
    "inputs: T, sequence_length: int32 -> "
    "decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T",
    types={"T": Preferring(_TYPES)},
    attrs={"merge_repeated": False, "blank_index": -1},
    shape=_greedy_rule,
)
def CTCGreedyDecoder(
    xp: ModuleType, inputs: np.ndarray, sequence_length: Array, merge_repeated: bool, blank_index: int
):
    lengths = checked_lengths(inputs, sequence_length, _unmet)
    classes = inputs.shape[2]
    if not -classes <= blank_index < classes:
        raise _unmet(f"blank_index expected to be between {-classes} and {classes - 1} but was {blank_index}")
    blank = blank_index % classes
    best = inputs.argmax(2) if inputs.size else np.zeros(inputs.shape[:2], np.int64)
    rows = []
    scores = np.zeros((inputs.shape[1], 1), inputs.dtype)
    for b, n in enumerate(lengths.tolist()):
        path = best[:n, b].tolist()
        scores[b] = -sum(inputs[t, b, k] for t, k in enumerate(path))
        if merge_repeated:
            path = [k for k, _ in itertools.groupby(path)]
        rows.append([k for k in path if k != blank])
    return (*_sparse_rows(rows), scores)


CTCGreedyDecoder.gradient(None)
CTCGreedyDecoder.compiled(never="how many labels it finds depends on the values")


@CTCGreedyDecoder.samples
def _(rng: SampleGenerator):
    x = rng.normal(6, 2, 3)
    lengths = np.array([6, 4], np.int32)
    yield Sample(x, lengths)
    yield Sample(x, lengths, merge_repeated=True)
    yield Sample(x, lengths, merge_repeated=True, blank_index=0)
    yield Sample(x, np.array([0, 0], np.int32))
    yield Sample(x, np.array([7, 0], np.int32), raises=FailedPreconditionError)
    yield Sample(x, np.array([7], np.int32), raises=FailedPreconditionError)
    yield Sample(x[0], lengths, raises=InvalidArgumentError)
    yield Sample(x, lengths[None], raises=InvalidArgumentError)


@CTCGreedyDecoder.reference
def _(inputs: np.ndarray, lengths: np.ndarray, merge_repeated: bool, blank_index: int):
    rows = []
    for b, n in enumerate(lengths):
        labels, before = [], None
        for t in range(n):
            k = int(np.argmax(inputs[t, b]))
            if k != blank_index % inputs.shape[2] and not (merge_repeated and k == before):
                labels.append(k)
            before = k
        rows.append(labels)
    score = [[-sum(inputs[t, b].max() for t in range(n))] for b, n in enumerate(lengths)]
    return (*_sparse_rows(rows), np.array(score))


def _beam_rule(call: ShapeCall):
    batch = shapes.with_rank(call.shape(0), 3)[1]
    batch = shapes.same_dimension(batch, shapes.vector_length(call, 1))
    paths = call.attr("top_paths")
    return [(None, 2)] * paths + [(None,)] * paths + [(2,)] * paths + [(batch, paths)]


@op(
    "CTCBeamSearchDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: top_paths>=1*int64, decoded_values: top_paths>=1*int64, "
    "decoded_shape: top_paths>=1*int64, log_probability: T",
    types={"T": Preferring(_TYPES)},
    attrs={"beam_width": integer, "top_paths": integer, "merge_repeated": True},
    shape=_beam_rule,
)
def CTCBeamSearchDecoder(
    xp: ModuleType, inputs: Array, sequence_length: Array, beam_width: int, top_paths: int,
    merge_repeated: bool,
):
    if beam_width < 1 or top_paths < 1:
        raise invalid(f"beam_width and top_paths must be at least 1, got {beam_width} and {top_paths}")
    lengths = checked_lengths(inputs, sequence_length, _unmet)
    if top_paths > beam_width:
        raise invalid("requested more paths than the beam width.")
    log_p = log_softmax(np.where(np.arange(len(inputs))[:, None, None] < lengths[None, :, None], inputs, 0))
    rows: list[list[list[int]]] = [[] for _ in range(top_paths)]
    scores = np.zeros((inputs.shape[1], top_paths), inputs.dtype)
    for b, n in enumerate(lengths.tolist()):
        classes = inputs.shape[2]
        frames = np.ascontiguousarray(log_p[:n, b], np.float64)
        found = _native.beam_search(frames, classes, classes - 1, beam_width, top_paths)
        if len(found) < top_paths:
            raise invalid("Less leaves in the beam search than requested.")
        for i, (labels, score) in enumerate(found):
            rows[i].append([k for k, _ in itertools.groupby(labels)] if merge_repeated else labels)
            scores[b, i] = score
    indices, values, sizes = zip(*(_sparse_rows(r) for r in rows), strict=True)
    return list(indices), list(values), list(sizes), scores


CTCBeamSearchDecoder.gradient(None)
CTCBeamSearchDecoder.compiled(never="how many labels it finds depends on the values")


@CTCBeamSearchDecoder.samples
def _(rng: SampleGenerator):
    x = rng.normal(4, 2, 3).astype(np.float32)
    lengths = np.array([4, 3], np.int32)
    # Wide enough to keep every sequence, so that the search is exact.
    yield Sample(x, lengths, beam_width=100, top_paths=3, merge_repeated=False)
    yield Sample(x, lengths, beam_width=100, top_paths=2)
    yield Sample(rng.normal(6, 1, 3), lengths[:1] + 2, beam_width=1000, top_paths=3)
    yield Sample(x, lengths, beam_width=1, top_paths=2, raises=InvalidArgumentError)
    yield Sample(x, np.array([4, 0], np.int32), beam_width=4, top_paths=2, raises=InvalidArgumentError)
    yield Sample(x, lengths[:1], beam_width=4, top_paths=2, raises=FailedPreconditionError)
    yield Sample(x, lengths + 1, beam_width=4, top_paths=2, raises=FailedPreconditionError)


@CTCBeamSearchDecoder.reference
def _(inputs: np.ndarray, lengths: np.ndarray, beam_width: int, top_paths: int, merge_repeated: bool):
    blank = inputs.shape[2] - 1
    found = []
    for b, n in enumerate(lengths):
        p = np.exp(inputs[:n, b].astype(np.float64))
        p /= p.sum(1, keepdims=True)
        sums: dict[tuple[int, ...], float] = {}
        for path in itertools.product(range(blank + 1), repeat=int(n)):
            read = tuple(k for k, _ in itertools.groupby(path) if k != blank)
            sums[read] = sums.get(read, 0) + float(np.prod([p[t, k] for t, k in enumerate(path)]))
        found.append(sorted(sums.items(), key=lambda item: -item[1])[:top_paths])

    def shown(read):
        return [k for k, _ in itertools.groupby(read)] if merge_repeated else list(read)

    paths = [_sparse_rows([shown(found[b][i][0]) for b in range(len(found))]) for i in range(top_paths)]
    scores = np.log([[p for _, p in row] for row in found])
    return *(list(part) for part in zip(*paths, strict=True)), scores


@api("nn.ctc_greedy_decoder")
@tensor_function
def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: Sequence[int], merge_repeated: bool = True, blank_index: int | None = None
):
    """Read the labels off the most likely class at each time.

    Args:
      inputs: logits `[time, batch, classes]` of float32 or float64.
      sequence_length: how many times each example has, int32 `[batch]`.
      merge_repeated: whether runs of one class without a blank between them are one label.
      blank_index: the class of the blank; None: the last.

    Returns:
      ([a `tf.SparseTensor` `[batch, labels]`], minus the sums of the largest logits, `[batch, 1]`).

    >>> inputs = tf.constant([[[3.0, 0.0]], [[3.0, 0.0]], [[0.0, 3.0]]])
    >>> (labels,), score = tf.nn.ctc_greedy_decoder(inputs, [3])
    >>> labels.values.numpy(), score.numpy()
    (array([0]), array([[-9.]], dtype=float32))
    """
    indices, values, shape, scores = CTCGreedyDecoder(
        inputs, sequence_length, merge_repeated, -1 if blank_index is None else blank_index
    )
    return [SparseTensor(indices, values, shape)], scores


@api(v1="nn.ctc_beam_search_decoder")
@tensor_function
def ctc_beam_search_decoder_v1(
    inputs: TensorLike, sequence_length: Sequence[int], beam_width: int = 100, top_paths: int = 1,
    merge_repeated: bool = True,
):
    """`ctc_beam_search_decoder` of 1.x; `merge_repeated` also makes equal labels that stand side by side one."""
    indices, values, sizes, scores = CTCBeamSearchDecoder(
        inputs, sequence_length, beam_width, top_paths, merge_repeated
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, sizes, strict=True)], scores


@api(v1="nn.ctc_beam_search_decoder_v2", v2="nn.ctc_beam_search_decoder")
@tensor_function
def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: Sequence[int], beam_width: int = 100, top_paths: int = 1
):
    """Search the most likely sequences of labels with a beam.

    Args:
      inputs: logits `[time, batch, classes]` of float32 or float64; the last class is the blank.
      sequence_length: how many times each example has, int32 `[batch]`.
      beam_width: how many candidates are kept at each time.
      top_paths: how many sequences to return.

    Returns:
      (a list of `top_paths` `tf.SparseTensor`s `[batch, labels]`, log-probabilities `[batch, top_paths]`).

    Raises:
      InvalidArgumentError: where there are fewer sequences than `top_paths`.
    """
    return ctc_beam_search_decoder_v1(inputs, sequence_length, beam_width, top_paths, False)
