"""What examples in files have to hold for an estimator: features, and the label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.ops.io.parsing import FixedLenFeature
from tapeflow.v1.feature_column import make_parse_example_spec


def _with_label(columns: Sequence[Any], label: str, feature: FixedLenFeature, weight_column: Any) -> dict[str, Any]:
    found = make_parse_example_spec(columns)
    if label in found:
        raise ValueError(
            f"label should not be used as feature. label_key: {label}, features: {found.keys()}"
        )
    found[label] = feature
    if weight_column is not None:
        if isinstance(weight_column, str):
            found[weight_column] = FixedLenFeature((1,), dtypes.float32)
        else:
            found.update(make_parse_example_spec([weight_column]))
    return found


def classifier_parse_example_spec(
    feature_columns: Sequence[Any], label_key: str, label_dtype: DType = dtypes.int64, label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Make the `features` of `tf.io.parse_example` for a classifier.

    Args:
      feature_columns: the columns of the features.
      label_key: the name of the label in the examples.
      label_dtype: int64, or string for the names of classes.
      label_default: the label of examples without one; None: they raise.
      weight_column: the name of the examples' weight, or a numeric column; None for none.

    Raises:
      ValueError: for a label that is a feature too.
    """
    return _with_label(feature_columns, label_key, FixedLenFeature((1,), label_dtype, label_default), weight_column)


def regressor_parse_example_spec(
    feature_columns: Sequence[Any], label_key: str, label_dtype: DType = dtypes.float32, label_default: Any = None,
    label_dimension: int = 1, weight_column: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Make the `features` of `tf.io.parse_example` for a regressor.

    Args:
      feature_columns, label_key, label_default, weight_column: as for `classifier_parse_example_spec`.
      label_dtype: of the numbers of the label.
      label_dimension: how many numbers a label has.

    Raises:
      ValueError: for a label that is a feature too.
    """
    feature = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, feature, weight_column)


boundaries(globals())
