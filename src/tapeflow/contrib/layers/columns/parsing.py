"""The raw features of columns: parsed from examples, or placeholders for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.contrib.layers.columns.base import (
    Features,
    _FeatureColumn,
    check_feature_columns,
    in_order,
)
from tapeflow.core.annotations import TensorLike
from tapeflow.graph.build.placeholders import placeholder
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.io.example_features import FixedLenSequenceFeature, VarLenFeature
from tapeflow.ops.io.parsing import parse_example, parse_single_sequence_example
from tapeflow.v1.sparse_names import sparse_placeholder


def create_feature_spec_for_parsing(feature_columns):
    """The argument `features` of `tf.io.parse_example` for columns. Raises TypeError for what is no column."""
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    spec = {}
    for column in feature_columns:
        if not isinstance(column, _FeatureColumn):
            raise TypeError(
                f"feature_columns should only contain instances of _FeatureColumn. Given column is {column}"
            )
        spec.update(column.config)
    return spec


def _create_sequence_feature_spec_for_parsing(
    sequence_feature_columns, allow_missing_by_default: bool = False
):
    """The argument `sequence_features` of `tf.io.parse_single_sequence_example` for columns.

    A feature with a default value may be missing; the value itself is ignored.
    """
    spec = create_feature_spec_for_parsing(sequence_feature_columns)
    for key, feature in spec.items():
        if not isinstance(feature, VarLenFeature):
            missing = allow_missing_by_default or feature.default_value is not None
            spec[key] = FixedLenSequenceFeature(feature.shape, feature.dtype, missing)
    return spec


def make_place_holder_tensors_for_base_features(feature_columns: Sequence[Any]):
    """A placeholder for each raw feature of the columns, by key."""
    made = {}
    for key, feature in create_feature_spec_for_parsing(feature_columns).items():
        name = f"Placeholder_{key}"
        if isinstance(feature, VarLenFeature):
            made[key] = sparse_placeholder(feature.dtype, name=name)
        else:
            made[key] = placeholder(feature.dtype, (None, feature.shape[0]), name=name)
    return made


def parse_feature_columns_from_examples(
    serialized: Sequence[bytes], feature_columns: Sequence[Any], name: str | None = None,
    example_names: Sequence[str] | None = None,
):
    """The raw features of a batch of `Example` messages, by key, and the tensors of the columns, by column."""
    check_feature_columns(feature_columns)
    spec = create_feature_spec_for_parsing(feature_columns)
    features = Features(parse_example(serialized, spec, example_names, name))
    for column in in_order(feature_columns):
        features.get(column)
    return features.tensors


def parse_feature_columns_from_sequence_examples(
    serialized: TensorLike, context_feature_columns, sequence_feature_columns, name: str | None = None,
    example_name=None,
):
    """(context features, feature lists), by key, of one `SequenceExample` message.

    Raises ValueError for several messages.
    """
    try:
        serialized = reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must be done after parsing for sequence "
            f"examples. Error: {error}"
        ) from error
    context_columns, sequence_columns = (
        context_feature_columns or [],
        sequence_feature_columns or [],
    )
    check_feature_columns(context_columns)
    check_feature_columns(sequence_columns)
    return parse_single_sequence_example(
        serialized,
        create_feature_spec_for_parsing(context_columns),
        _create_sequence_feature_spec_for_parsing(sequence_columns),
        example_name,
        name,
    )


def transform_features(features, feature_columns: Sequence[Any]):
    """The tensors of the columns, by column; `features` has raw features by key."""
    check_feature_columns(feature_columns)
    made = Features(features.copy())
    for column in in_order(feature_columns):
        made.get(column)
    return {key: tensor for key, tensor in made.tensors.items() if key in feature_columns}
