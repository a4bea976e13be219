"""The CTC losses that programs call, and what they do to labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array import transposing
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.one_hot import sequence_mask
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.mapping import map_fn
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.indexing.scatter import scatter_nd
from tapeflow.ops.indexing.unique import unique
from tapeflow.ops.math import casting, choice, comparison, logic
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.reductions import reduce_max, reduce_sum
from tapeflow.ops.recurrent.ctc import CTCLoss, DenseCTCLoss
from tapeflow.ops.static import size_of
from tapeflow.ops.table import INDEX


@api(v1="nn.ctc_loss")
@tensor_function
def ctc_loss_v1(
    labels: SparseTensor, inputs: Any = None, sequence_length: Sequence[int] | None = None,
    preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True, logits: TensorLike | None = None,
):
    """CTC losses [batch] of sparse int32 `labels` [batch, labels] by `inputs` [time, batch, classes].

    The last class is the blank. Raises InvalidArgumentError for labels that do not fit into `sequence_length`
    frames, unless `ignore_longer_outputs_than_inputs`; TypeError unless `labels` is a SparseTensor.
    """
    if inputs is not None and logits is not None:
        raise ValueError("Cannot specify both 'logits' and 'inputs'")
    inputs = logits if inputs is None else inputs
    if not isinstance(labels, SparseTensor):
        raise TypeError(
            f"Expected argument `labels` to be a SparseTensor. Received labels={labels} of type: "
            f"{type(labels).__name__}"
        )
    inputs = convert_to_tensor(inputs)
    if not time_major:
        inputs = transposing.transpose(inputs, [1, 0, 2])
    narrow = inputs.dtype in (dtypes.bfloat16, dtypes.float16)
    kind = inputs.dtype
    loss = CTCLoss(
        casting.cast(inputs, dtypes.float32) if narrow else inputs,
        labels.indices,
        labels.values,
        casting.cast(sequence_length, dtypes.int32),
        preprocess_collapse_repeated,
        ctc_merge_repeated,
        ignore_longer_outputs_than_inputs,
    )[0]
    return casting.cast(loss, kind) if narrow else loss


def _blank_of(blank_index: int, classes: int):
    return blank_index + classes if isinstance(blank_index, int) and blank_index < 0 else blank_index


def _sparse_loss(labels: SparseTensor, logits, logit_length, logits_time_major: bool, blank_index: int | None):
    if blank_index is None:
        raise ValueError("Argument `blank_index` must be provided when `labels` is a `SparseTensor`.")
    logits = convert_to_tensor(logits)
    classes = size_of(logits, 2)
    blank = _blank_of(blank_index, classes)
    if not (isinstance(classes, int) and blank == classes - 1):
        last = [logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]]
        logits = concat(last, 2)
        values = choice.where(labels.values < blank, labels.values, labels.values - 1)
        labels = SparseTensor(labels.indices, values, labels.dense_shape)
    return ctc_loss_v1(labels, logits, logit_length, time_major=logits_time_major)


@api(v2="nn.ctc_loss")
@tensor_function
def ctc_loss(
    labels: Any, logits: Any, label_length: TensorLike | None, logit_length: TensorLike,
    logits_time_major: bool = True, unique: bool | None = None, blank_index=None, name: str | None = None,
):
    """Compute the losses of connectionist temporal classification (Graves et al., 2006).

    Args:
      labels: a padded int32 or int64 matrix `[batch, most labels]`, or an int32 `tf.SparseTensor`.
      logits: a floating tensor `[time, batch, classes]`.
      label_length: how many labels each row has, `[batch]`; not used for sparse labels.
      logit_length: how many times each example has, `[batch]`.
      logits_time_major: whether time comes first; else logits are `[batch, time, classes]`.
      unique: not used; it changes nothing.
      blank_index: the class of the blank, negative ones from the end; None: 0. It has to be given for sparse
        labels.
      name: a name for the operation (optional).

    Returns:
      Losses `[batch]`, minus the logarithms of the probabilities of the labels.

    Raises:
      ValueError: for sparse labels without `blank_index`.

    >>> logits = tf.zeros([2, 1, 2])
    >>> tf.nn.ctc_loss([[1]], logits, [1], [2]).numpy().round(4)
    array([0.2877], dtype=float32)
    """
    if isinstance(labels, SparseTensor):
        return _sparse_loss(labels, logits, logit_length, logits_time_major, blank_index)
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    if not logits_time_major:
        logits = transposing.transpose(logits, [1, 0, 2])
    blank = _blank_of(0 if blank_index is None else blank_index, size_of(logits, 2))
    narrow = logits.dtype in (dtypes.bfloat16, dtypes.float16)
    kind = logits.dtype
    if not isinstance(blank, int):  # a class counted from the end of an unknown number: put it first
        logits = concat([logits[:, :, blank : blank + 1], logits[:, :, :blank], logits[:, :, blank + 1 :]], 2)
        labels = choice.where(labels < casting.cast(blank, labels.dtype), labels + 1, labels)
        blank = 0
    lengths = [
        x if x.dtype in INDEX else casting.cast(x, dtypes.int64)
        for x in (convert_to_tensor(label_length), convert_to_tensor(logit_length))
    ]
    labels = labels if labels.dtype in INDEX else casting.cast(labels, dtypes.int64)
    logits = casting.cast(logits, dtypes.float32) if narrow else logits
    loss = DenseCTCLoss(logits, labels, *lengths, blank)[0]
    return casting.cast(loss, kind) if narrow else loss


@api(v1="nn.ctc_loss_v2")
@tensor_function
def ctc_loss_v2(
    labels: TensorLike, logits: TensorLike, label_length, logit_length, logits_time_major: bool = True,
    unique: bool | None = None, blank_index=None, name: str | None = None,
):
    """`tf.nn.ctc_loss` under its 1.x name."""
    return ctc_loss(
        labels, logits, label_length, logit_length, logits_time_major, unique, blank_index, name
    )


@api("nn.collapse_repeated")
@tensor_function
def collapse_repeated(labels: TensorLike, seq_length, name: str | None = None):
    """Make runs of equal labels one label.

    Args:
      labels: an integer matrix `[batch, time]`.
      seq_length: how many labels each row has, `[batch]`.
      name: a name for the operation (optional).

    Returns:
      (labels, lengths): a matrix as wide as the longest row has become, padded with zeros, and the new lengths.

    >>> labels, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2], [1, 2, 1, 2]], [4, 3])
    >>> labels
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 2, 0],
           [1, 2, 1]], dtype=int32)>
    """
    labels, seq_length = convert_to_tensor(labels), convert_to_tensor(seq_length)
    first = ones_like(labels[:, :1], dtypes.bool)
    new = concat([first, comparison.not_equal(labels[:, 1:], labels[:, :-1])], 1)
    width = size_of(labels, 1)
    kept = logic.logical_and(new, sequence_mask(seq_length, width))
    counted = casting.cast(kept, dtypes.int32)
    lengths = reduce_sum(counted, 1)
    places = choice.where_v1(kept)
    columns = gather_nd(cumsum(counted, 1) - 1, places)
    at = stack([places[:, 0], casting.cast(columns, dtypes.int64)], 1)
    rows = shape_of(labels, out_type=dtypes.int64)[0]
    shape = stack([rows, casting.cast(reduce_max(lengths), dtypes.int64)])
    collapsed = scatter_nd(at, gather_nd(labels, places), shape)
    return collapsed, casting.cast(lengths, seq_length.dtype)


@api("nn.ctc_unique_labels")
@tensor_function
@graph_scope("ctc_unique_labels")
def ctc_unique_labels(labels, name=None):
    """The distinct labels of each row of `labels` [batch, labels], padded with zeros, and the place of each label
    among them (int32).
    """
    labels = casting.cast(labels, dtypes.int64)
    width = size_of(labels, 1)

    def of_row(row: Tensor):
        values, places = unique(row)
        return pad(values, [[0, width - size_of(values, 0)]]), places

    return list(map_fn(of_row, labels, dtype=(dtypes.int64, dtypes.int32)))
