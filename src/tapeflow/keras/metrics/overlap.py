"""Metrics of overlap between classes of labels and of predictions: intersection over union."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.metrics.base import Metric
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.statistics.confusion import confusion_matrix


class _Overlap(Metric):
    """A confusion matrix, and means over classes of it."""

    _direction = "up"

    def __init__(
        self, num_classes: int, name: str | None = None, dtype: DTypeLike | None = None,
        ignore_class: int | None = None, sparse_y_true: bool = True, sparse_y_pred: bool = True, axis: AxisLike = -1,
    ):  # fmt: skip
        super().__init__(dtype, name)
        state = self.__dict__
        state["num_classes"], state["ignore_class"] = num_classes, ignore_class
        state["sparse_y_true"], state["sparse_y_pred"] = sparse_y_true, sparse_y_pred
        state["axis"] = axis
        state["target_class_ids"] = list(range(num_classes))
        self.total_cm = self.add_weight(
            "total_confusion_matrix", (num_classes, num_classes), initializer="zeros"
        )

    def update_state(self, y_true, y_pred, sample_weight=None):
        if not self.sparse_y_true:
            y_true = argmax(y_true, axis=self.axis)
        if not self.sparse_y_pred:
            y_pred = argmax(y_pred, axis=self.axis)
        y_true = reshape(convert_to_tensor(y_true), [-1])
        y_pred = reshape(convert_to_tensor(y_pred), [-1])
        weights = None
        if sample_weight is not None:
            weights = reshape(cast(sample_weight, self._dtype), [-1])
        if self.ignore_class is not None:
            kept = not_equal(y_true, cast(self.ignore_class, y_true.dtype))
            counted = cast(kept, self._dtype)
            weights = counted if weights is None else weights * counted
            y_true, y_pred = (cast(y, dtypes.int64) * cast(kept, dtypes.int64)
                              for y in (y_true, y_pred))  # fmt: skip
        if not keras_2():  # what is no class counts nowhere
            classes = [cast(y, dtypes.int64) for y in (y_true, y_pred)]
            inside = functools.reduce(logical_and, [(y >= 0) & (y < self.num_classes) for y in classes])
            counted = cast(inside, self._dtype)
            weights = counted if weights is None else weights * counted
            y_true, y_pred = (y * cast(inside, dtypes.int64) for y in classes)
        matrix = confusion_matrix(
            cast(y_true, dtypes.int64), cast(y_pred, dtypes.int64), self.num_classes,
            weights=weights, dtype=self._dtype,
        )  # fmt: skip
        self.total_cm.assign_add(matrix)

    def _mean_over(self, classes: Sequence[int] | None):
        rows, columns = reduce_sum(self.total_cm, axis=0), reduce_sum(self.total_cm, axis=1)
        right = diag_part(convert_to_tensor(self.total_cm))
        whole = rows + columns - right
        if self._dtype.is_integer:  # as in files of Keras 3, which counts in integers
            right, whole = cast(right, dtypes.float32), cast(whole, dtypes.float32)
        if classes is not None:
            right, whole = gather(right, classes), gather(whole, classes)
        count = reduce_sum(cast(not_equal(whole, 0.0), whole.dtype))
        return divide_no_nan(reduce_sum(divide_no_nan(right, whole)), count)

    def reset_state(self):
        Metric.reset_state(self)

    def get_config(self):
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "ignore_class": self.ignore_class,
            "sparse_y_true": self.sparse_y_true,
            "sparse_y_pred": self.sparse_y_pred,
            "axis": self.axis,
        }


class IoU(_Overlap):
    """The mean over some classes of intersection over union, of what labels and predictions say to be of the class.

    Args:
      num_classes: the number of classes.
      target_class_ids: the numbers of the classes that count.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
      ignore_class: labels of this class do not count; None for none.
      sparse_y_true: whether labels are the numbers of classes; if not, the largest along `axis` is taken.
      sparse_y_pred: whether predictions are the numbers of classes; if not, the largest along `axis` is taken.
      axis: the axis of the classes where these are not sparse.

    Raises:
      ValueError: for a class out of range.

    >>> metric = tf.keras.metrics.IoU(num_classes=2, target_class_ids=[0])
    >>> metric.update_state([0, 0, 1, 1], [0, 1, 0, 1])
    >>> print(f"{metric.result():.4f}")
    0.3333
    """

    def __init__(
        self, num_classes: int, target_class_ids: Sequence[int], name: str | None = None,
        dtype: DTypeLike | None = None, ignore_class: int | None = None, sparse_y_true: bool = True,
        sparse_y_pred: bool = True, axis: AxisLike = -1,
    ):
        super().__init__(num_classes, name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis)
        if max(target_class_ids) >= num_classes:
            raise ValueError(
                f"Target class id {max(target_class_ids)} is out of range, which is [0, {num_classes})."
            )
        self.__dict__["target_class_ids"] = list(target_class_ids)

    def result(self):
        return self._mean_over(self.target_class_ids)

    def get_config(self):
        return {**super().get_config(), "target_class_ids": self.target_class_ids}


class BinaryIoU(IoU):
    """IoU of the two classes that y_pred >= threshold decides.

    Args:
      target_class_ids: which of the classes 0 and 1 count.
      threshold: the number from which on a prediction is of class 1.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
    """

    def __init__(
        self, target_class_ids: Sequence[int] = (0, 1), threshold: float = 0.5, name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(2, target_class_ids, name, dtype)
        self.__dict__["threshold"] = threshold

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = cast(y_pred, dtypes.float32 if self._dtype.is_integer else self._dtype)
        decided = cast(y_pred >= self.threshold, self._dtype)
        return super().update_state(y_true, decided, sample_weight)

    def get_config(self):
        return {
            "name": self.name,
            "dtype": self._dtype.name,
            "target_class_ids": self.target_class_ids,
            "threshold": self.threshold,
        }


class MeanIoU(_Overlap):
    """The mean over all classes of intersection over union; classes that do not occur do not count.

    Args:
      num_classes: the number of classes.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
      ignore_class: labels of this class do not count; None for none.
      sparse_y_true: whether labels are the numbers of classes; if not, the largest along `axis` is taken.
      sparse_y_pred: whether predictions are the numbers of classes; if not, the largest along `axis` is taken.
      axis: the axis of the classes where these are not sparse.
    """

    def result(self):
        return self._mean_over(None)


class OneHotIoU(IoU):
    """IoU of one-hot labels and of scores.

    Args:
      num_classes: the number of classes.
      target_class_ids: the numbers of the classes that count.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
      ignore_class: labels of this class do not count; None for none.
      sparse_y_pred: whether predictions are the numbers of classes instead of scores.
      axis: the axis of the classes.
    """

    def __init__(
        self, num_classes: int, target_class_ids, name: str | None = None, dtype: DTypeLike | None = None,
        ignore_class=None, sparse_y_pred: bool = False, axis: AxisLike = -1,
    ):  # fmt: skip
        super().__init__(
            num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis
        )

    def get_config(self):
        config = super().get_config()
        del config["sparse_y_true"]
        return config


class OneHotMeanIoU(MeanIoU):
    """MeanIoU of one-hot labels and of scores.

    Args:
      num_classes: the number of classes.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
      ignore_class: labels of this class do not count; None for none.
      sparse_y_pred: whether predictions are the numbers of classes instead of scores.
      axis: the axis of the classes.
    """

    def __init__(
        self, num_classes: int, name: str | None = None, dtype: DTypeLike | None = None, ignore_class=None,
        sparse_y_pred: bool = False, axis: int = -1,
    ):  # fmt: skip
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)

    def get_config(self):
        config = super().get_config()
        del config["sparse_y_true"]
        return config
