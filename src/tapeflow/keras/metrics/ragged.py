"""Ragged labels and predictions: metrics see their values."""

from __future__ import annotations

from tapeflow.ops.control.assertions import assert_equal
from tapeflow.ops.ragged.tensor import RaggedTensor


def flat(y_true, y_pred, sample_weight=None):
    """The three as dense tensors; of ragged ones, the values.

    Raises TypeError where only one of labels and predictions is ragged, InvalidArgumentError where their
    rows are of different lengths.
    """
    given = [y_true, y_pred]
    if any(isinstance(y, RaggedTensor) for y in given):
        if not all(isinstance(y, RaggedTensor) for y in given):
            raise TypeError(f"Some of the inputs are not tf.RaggedTensor. Input received: {given}")
        splits = [y.nested_row_splits for y in given]
        message = f"Inputs must have identical ragged splits. Input received: {splits}"
        for of_labels, of_predictions in zip(*splits):
            assert_equal(of_labels, of_predictions, message)
        y_true, y_pred = y_true.flat_values, y_pred.flat_values
    if isinstance(sample_weight, RaggedTensor):
        sample_weight = sample_weight.flat_values
    return y_true, y_pred, sample_weight
