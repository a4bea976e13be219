"""`tf.feature_column.make_parse_example_spec`: which raw features columns need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.public import public
from tapeflow.feature_column.column import FeatureColumn


def spec_of(feature_columns: Sequence[Any], kinds: Any, kind: str) -> dict[str, Any]:
    """What `tf.io.parse_example` needs for the columns; see `make_parse_example_spec`."""
    spec: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, kinds):
            raise ValueError(f"All feature_columns must be {kind} instances. Given: {column}")
        for key, feature in column.parse_example_spec.items():
            if spec.setdefault(key, feature) != feature:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. "
                    f"Given {feature} and {spec[key]}"
                )
    return spec


@public
def make_parse_example_spec(feature_columns: Sequence[Any]):
    """The argument `features` of `tf.io.parse_example` for the columns.

    Raises ValueError for what is no column, and for columns that need a feature in different forms.
    """
    return spec_of(feature_columns, FeatureColumn, "FeatureColumn")
