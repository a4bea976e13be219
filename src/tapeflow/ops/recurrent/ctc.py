"""Connectionist temporal classification: losses of unaligned label sequences."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.ops import shapes
from tapeflow.ops.array import layout
from tapeflow.ops.recurrent.ctc_alignment import loss_and_gradient
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_TYPES = (dtypes.float32, dtypes.float64)
_FLAGS = {
    "preprocess_collapse_repeated": False,
    "ctc_merge_repeated": True,
    "ignore_longer_outputs_than_inputs": False,
}
_NO_SECOND = (
    "Gradient explicitly disabled. Reason: b\"Currently there is no way to take the second derivative of ctc_loss "
    "due to the fused implementation's interaction with tf.gradients()\""
)


def _loss_rule(call):
    inputs = shapes.with_rank(call.shape(0), 3)
    shapes.require_ranks(call, 3, 2, 1, 1)
    shapes.same_dimension(shapes.with_rank(call.shape(1), 2)[0], call.shape(2) and call.shape(2)[0])
    batch = shapes.same_dimension(inputs[1], shapes.vector_length(call, 3))
    return [(batch,), (inputs[0], batch, inputs[2])]


def checked_lengths(inputs: Any, sequence_length: Any, error: Callable[..., Any] = invalid) -> np.ndarray:
    """The lengths of the sequences in `inputs` [time, batch, classes]."""
    if inputs.ndim != 3:
        raise invalid("inputs is not a 3-Tensor")
    time, batch, classes = inputs.shape
    if sequence_length.ndim != 1:
        raise invalid("sequence_length is not a vector")
    if not batch:
        raise error("batch_size must not be 0")
    if not classes:
        raise error("num_classes must not be 0")
    if len(sequence_length) != batch:
        raise error(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(sequence_length)} "
            f"batch_size: {batch}"
        )
    for b, length in enumerate(sequence_length.tolist()):
        if length < 0:
            raise error(f"seq_len({b}) < 0")
        if length > time:
            raise error(f"sequence_length({b}) <= {time}")
    return sequence_length.astype(np.int64)


def _label_rows(indices: np.ndarray, values: np.ndarray, batch: int) -> list[list[int]]:
    """The labels of each batch element, from the parts of a sparse matrix."""
    if indices.ndim != 2:
        raise invalid("labels_indices is not a matrix")
    if values.ndim != 1:
        raise invalid("labels_values is not a vector")
    if len(indices) != len(values):
        raise invalid(
            "labels_indices and labels_values must contain the same number of rows, but saw shapes: "
            f"{shape_text(indices.shape)} vs. {shape_text(values.shape)}"
        )
    if indices.shape[1] != 2:
        raise invalid("label SparseTensor is not valid: Order length must be SparseTensor rank.")
    rows: list[list[int]] = [[] for _ in range(batch)]
    before = (-1, -1)
    for i, (place, value) in enumerate(zip(indices.tolist(), values.tolist(), strict=True)):
        at = tuple(place)
        if not 0 <= at[0] < batch or at[1] < 0:
            raise invalid(
                f"label SparseTensor is not valid: indices[{i}] = {shape_text(at)} is out of bounds: need "
                f"0 <= index < [{batch},{int(indices[:, 1].max()) + 1}]"
            )
        if at <= before:
            what = "repeated" if at == before else "out of order"
            raise invalid(
                f"label SparseTensor is not valid: indices[{i}] = {shape_text(at)} is {what}. Many sparse ops "
                "require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
            )
        before = at
        rows[at[0]].append(value)
    return rows


def _real_labels(row: list[int], b: int, classes: int, collapse: bool) -> list[int]:
    """The labels before the first null label. Raises InvalidArgumentError for others behind it, and for bad ones."""
    if not row:
        raise invalid(f"Labels length is zero in batch {b}")
    text = ",".join(map(str, row))
    kept: list[int] = []
    ended = False
    for i, label in enumerate(row):
        if collapse and i and row[i - 1] == label:
            continue
        if label >= classes - 1:
            ended = True
            continue
        if ended:
            raise invalid(
                f"Saw a non-null label (index >= num_classes - 1) following a null label, batch: {b} num_classes: "
                f"{classes} labels: {text} labels seen so far: {','.join(map(str, kept))}"
            )
        kept.append(label)
    if min(kept, default=0) < 0:
        raise invalid(f"All labels must be nonnegative integers, batch: {b} labels: {text}")
    return kept


def _ctc(
    inputs: Any, indices: Any, values: Any, sequence_length: Any, preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool, ignore: bool,
):
    lengths = checked_lengths(inputs, sequence_length)
    classes = inputs.shape[2]
    rows = [
        _real_labels(row, b, classes, preprocess_collapse_repeated)
        for b, row in enumerate(_label_rows(indices, values, inputs.shape[1]))
    ]
    for b, (row, length) in enumerate(zip(rows, lengths.tolist(), strict=True)):
        if len(row) > length and not ignore:
            raise invalid(
                f"Not enough time for target transition sequence (required: {len(row)}, available: {length}){b}You can "
                "turn this error into a warning by using the flag ignore_longer_outputs_than_inputs"
            )
    loss, gradient = loss_and_gradient(inputs, rows, lengths, classes - 1, ctc_merge_repeated)
    loss = np.where(lengths == 0, 0, loss)
    return loss.astype(inputs.dtype), gradient.astype(inputs.dtype)


def _backward(call: GradientCall, dloss: Any, dgradient):
    if dgradient is not None:
        raise LookupError(_NO_SECOND)
    return layout.reshape(dloss, [1, -1, 1]) * call.gradient


def _enumerated(inputs, rows, lengths, blank, merge_repeated: bool = True):
    """The loss as a sum over every single alignment, and its numeric gradient by the inputs."""
    import itertools

    def read(path):
        if merge_repeated:
            path = [k for k, _ in itertools.groupby(path)]
        return [k for k in path if k != blank]

    def loss(logits):
        out = []
        for b, row in enumerate(rows):
            n = int(lengths[b])
            p = np.exp(logits[:n, b])
            p = p / p.sum(1, keepdims=True)
            paths = itertools.product(range(logits.shape[2]), repeat=n)
            total = sum(
                np.prod([p[t, k] for t, k in enumerate(path)]) for path in paths if read(path) == row
            )
            out.append(-np.log(total) if n else 0.0)
        return np.array(out)

    x = inputs.astype(np.float64)
    gradient = np.zeros_like(x)
    for at in np.ndindex(*x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][at] += 1e-6
        moved[1][at] -= 1e-6
        gradient[at] = (loss(moved[0]) - loss(moved[1]))[at[1]] / 2e-6
    return loss(x), gradient


@op(
    "CTCLoss",
    "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, gradient: T",
    types={"T": Preferring(_TYPES)},
    attrs=_FLAGS,
    shape=_loss_rule,
)
def CTCLoss(
    xp: ModuleType, inputs: Array, labels_indices: Array, labels_values: Array, sequence_length: Array,
    preprocess_collapse_repeated: bool, ctc_merge_repeated: bool, ignore_longer_outputs_than_inputs: bool,
):
    return _ctc(inputs, labels_indices, labels_values, sequence_length, preprocess_collapse_repeated,
                ctc_merge_repeated, ignore_longer_outputs_than_inputs)  # fmt: skip


CTCLoss.compiled(never="it reads the labels one by one")


@CTCLoss.gradient(needs="gradient", none=True)
def _(call: GradientCall, dloss: Tensor | None, dgradient: Tensor | None):
    return _backward(call, dloss, dgradient), None, None, None


_PLACES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int64)


@CTCLoss.samples
def _(rng):
    labels = np.array([1, 0, 1, 1], np.int32)
    x = rng.normal(4, 2, 3).astype(np.float32)
    # The second output, the gradient, has itself no gradient.
    fixed = {"differentiable": False}
    yield Sample(x, _PLACES, labels, np.array([4, 3], np.int32), **fixed)
    yield Sample(x, _PLACES, labels, np.array([2, 4], np.int32), preprocess_collapse_repeated=True, **fixed)
    yield Sample(x, _PLACES, labels, np.array([3, 2], np.int32), ctc_merge_repeated=False, **fixed)
    yield Sample(x, _PLACES, np.array([1, 2, 1, 0], np.int32), np.array([3, 2], np.int32), **fixed)
    for bad in ([4, 1], [5, 4], [-1, 4], [4]):
        yield Sample(x, _PLACES, labels, np.array(bad, np.int32), raises=InvalidArgumentError)
    full = np.array([4, 4], np.int32)
    yield Sample(x, _PLACES, np.array([-1, 0, 1, 1], np.int32), full, raises=InvalidArgumentError)
    yield Sample(x, _PLACES, np.array([2, 0, 1, 1], np.int32), full, raises=InvalidArgumentError)
    yield Sample(x, _PLACES[::-1].copy(), labels, full, raises=InvalidArgumentError)
    yield Sample(x, _PLACES[:3], labels, full, raises=InvalidArgumentError)
    yield Sample(x, _PLACES + 1, labels, full, raises=InvalidArgumentError)
    yield Sample(x[0], _PLACES, labels, full, raises=InvalidArgumentError)
    yield Sample(x, _PLACES, labels, full[None], raises=InvalidArgumentError)
    yield Sample(rng.normal(4, 0, 3), _PLACES[:0], labels[:0], full[:0], raises=InvalidArgumentError)


@CTCLoss.reference
def _(
    inputs: np.ndarray, indices: np.ndarray, values: np.ndarray, lengths: np.ndarray,
    preprocess_collapse_repeated: bool, ctc_merge_repeated: bool, **_,
):
    blank = inputs.shape[2] - 1
    rows = [
        [v for (b, _), v in zip(indices, values, strict=True) if b == i and v != blank] for i in range(2)
    ]
    if preprocess_collapse_repeated:
        rows = [[v for i, v in enumerate(r) if not i or r[i - 1] != v] for r in rows]
    return _enumerated(inputs, rows, lengths, blank, ctc_merge_repeated)


# The log-probability that TensorFlow gives an alignment that starts or ends in a state where none may.
_OUTSIDE = float(np.log(1e-307))


def _dense_rule(call: ShapeCall):
    logits = shapes.with_rank(call.shape(0), 3)
    labels = shapes.with_rank(call.shape(1), 2)
    batch = shapes.same_dimension(logits[1], labels[0])
    for i in (2, 3):
        batch = shapes.same_dimension(batch, shapes.vector_length(call, i))
    return [(batch,), (logits[0], batch, logits[2])]


@op(
    "DenseCTCLoss",
    "logits: T, labels: Tlabels, label_length: Tlabel_length, logit_length: Tlogit_length -> loss: T, gradient: T",
    types={"T": _TYPES, "Tlabels": INDEX, "Tlabel_length": INDEX, "Tlogit_length": INDEX},
    attrs={"blank_index": 0},
    shape=_dense_rule,
    composed_in="ctc",
)
def DenseCTCLoss(
    xp: ModuleType, logits: np.ndarray, labels: Array, label_length: Array, logit_length: Array,
    blank_index: int,
):
    """The loss for labels in a padded matrix; a sequence that does not fit has a large loss, but a finite one."""
    lengths = checked_lengths(logits, logit_length)
    classes = logits.shape[2]
    if labels.ndim != 2 or len(labels) != len(lengths):
        raise invalid(
            f"labels must be a matrix of {len(lengths)} rows, got shape {shape_text(labels.shape)}"
        )
    if label_length.shape != lengths.shape:
        raise invalid(
            f"label_length must be a vector of {len(lengths)}, got shape {shape_text(label_length.shape)}"
        )
    rows = []
    for b, n in enumerate(label_length.tolist()):
        if not 0 <= n <= labels.shape[1]:
            raise invalid(f"label_length({b}) = {n} is not in [0, {labels.shape[1]}]")
        row = labels[b, :n].tolist()
        for label in row:
            if not 0 <= label < classes:
                raise invalid(f"label {label} of batch {b} is not in [0, {classes})")
        rows.append(row)
    loss, gradient = loss_and_gradient(logits, rows, lengths, blank_index, outside=_OUTSIDE)
    return loss.astype(logits.dtype), gradient.astype(logits.dtype)


DenseCTCLoss.compiled(never="it reads the labels one by one")


@DenseCTCLoss.gradient(needs="gradient", none=True)
def _(call: GradientCall, dloss: Tensor | None, dgradient: Tensor | None):
    return _backward(call, dloss, dgradient), None, None, None


@DenseCTCLoss.samples
def _(rng: SampleGenerator):
    x = rng.normal(4, 3, 3)
    labels, full = np.array([[1, 2], [2, 0], [0, 0]]), np.array([4, 3, 2])
    yield Sample(x, labels, np.array([2, 1, 0]), full, differentiable=False)
    other = np.array([[0, 1], [1, 1], [0, 0]])
    yield Sample(x, other, np.array([2, 2, 1]), full, blank_index=2, differentiable=False)
    yield Sample(x, labels, np.array([3, 1, 0]), full, raises=InvalidArgumentError)
    yield Sample(x, labels, np.array([2, 1]), full, raises=InvalidArgumentError)
    yield Sample(x, labels + 5, np.array([2, 1, 0]), full, raises=InvalidArgumentError)
    yield Sample(x, labels, np.array([2, 1, 0]), full + 1, raises=InvalidArgumentError)
    yield Sample(x, labels[:2], np.array([2, 1, 0]), full, raises=InvalidArgumentError)


@DenseCTCLoss.reference
def _(logits: np.ndarray, labels: np.ndarray, label_length: np.ndarray, logit_length: np.ndarray, blank_index: int):
    rows = [labels[b, :n].tolist() for b, n in enumerate(label_length)]
    return _enumerated(logits, rows, logit_length, blank_index)
