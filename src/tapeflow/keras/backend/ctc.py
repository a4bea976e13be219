"""`keras.backend`: connectionist temporal classification."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.keras import settings
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array import sizes as array_sizes
from tapeflow.ops.array.one_hot import sequence_mask
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.math import elementwise
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.recurrent.ctc_decoding import ctc_beam_search_decoder, ctc_greedy_decoder
from tapeflow.ops.recurrent.ctc_functions import ctc_loss_v1
from tapeflow.ops.sparse.functions import to_dense as dense


@computes_tensors
def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths):
    """Make a sparse tensor of the labels that count.

    Args:
      labels: a tensor `(batch, longest)`.
      label_lengths: how many of each row count, `(batch,)`.

    Returns:
      A `SparseTensor`.
    """
    labels = convert_to_tensor(labels)
    sizes = array_sizes.shape(labels)
    mask = sequence_mask(label_lengths, sizes[1])
    indices = where(mask)
    return SparseTensor(indices, gather_nd(labels, indices), cast(sizes, dtypes.int64))


@computes_tensors
def ctc_batch_cost(y_true: TensorLike, y_pred: TensorLike, input_length, label_length):
    """Compute the CTC loss of probabilities; the last class is the blank.

    Args:
      y_true: labels, `(batch, longest)`.
      y_pred: probabilities, `(batch, time, classes)`.
      input_length: the number of steps of each example, `(batch, 1)`.
      label_length: the number of labels of each example, `(batch, 1)`.

    Returns:
      The losses, `(batch, 1)`.
    """

    label_length = cast(layout.squeeze(convert_to_tensor(label_length), [-1]), dtypes.int32)
    input_length = cast(layout.squeeze(convert_to_tensor(input_length), [-1]), dtypes.int32)
    labels = cast(ctc_label_dense_to_sparse(y_true, label_length), dtypes.int32)
    scores = elementwise.log(transposing.transpose(y_pred, [1, 0, 2]) + settings.epsilon())
    loss = ctc_loss_v1(inputs=scores, labels=labels, sequence_length=input_length)
    return layout.expand_dims(loss, 1)


@computes_tensors
def ctc_decode(y_pred: TensorLike, input_length, greedy: bool = True, beam_width: int = 100, top_paths: int = 1):
    """Find the label sequences that probabilities over time say; the last class is the blank.

    Args:
      y_pred: probabilities, `(batch, time, classes)`.
      input_length: the number of steps of each example, `(batch,)`.
      greedy: take the best class of each step instead of searching.
      beam_width: how many sequences the search keeps.
      top_paths: how many sequences it gives.

    Returns:
      ([the sequences, -1 where they end], their log probabilities).
    """

    y_pred = convert_to_tensor(y_pred)
    scores = elementwise.log(transposing.transpose(y_pred, [1, 0, 2]) + settings.epsilon())
    lengths = cast(input_length, dtypes.int32)
    if greedy:
        decoded, log_prob = ctc_greedy_decoder(scores, lengths)
    else:
        decoded, log_prob = ctc_beam_search_decoder(
            scores, lengths, beam_width=beam_width, top_paths=top_paths
        )
    batch, steps = array_sizes.shape(y_pred)[0], array_sizes.shape(y_pred)[1]
    size = cast(layout.reshape([batch, steps], [2]), dtypes.int64)
    found = [dense(SparseTensor(s.indices, s.values, size), default_value=-1) for s in decoded]
    return found, log_prob


boundaries(globals())
