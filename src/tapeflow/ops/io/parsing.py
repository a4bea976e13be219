"""`tf.io.parse_example` and related functions: dictionaries of tensors from serialized examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.io import ragged_features
from tapeflow.ops.io.example_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tapeflow.ops.io.example_rows import (
    TYPES,
    ParseExampleDenseFeature,
    ParseExampleRaggedFeature,
    ParseExampleSparseFeature,
    ParseSequenceDenseList,
    ParseSequenceRaggedList,
    ParseSequenceSparseList,
)
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.sparse.shaping import reorder


def _key_text(key: str) -> str:
    if not isinstance(key, (str, bytes)):
        raise TypeError(f"The keys of features are strings, got {key!r}")
    return key.decode() if isinstance(key, bytes) else key


def _require_dtype(key: str, feature: Any) -> Any:
    if not getattr(feature, "dtype", None):
        raise ValueError(f"Missing type for feature {key}.")
    kind = dtypes.as_dtype(feature.dtype)
    if kind not in TYPES:
        raise TypeError(
            f"Feature {key} has dtype {kind.name}; features are float32, int64 or string"
        )
    return kind


def _known_shape(key: str, shape: ShapeLike) -> list[int]:
    if shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    dims = TensorShape(shape).as_list()
    if dims and dims[0] is None:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using "
            "FixedLenSequenceFeature."
        )
    if None in dims:
        raise ValueError(
            f"All dimensions of shape for feature {key} need to be known but "
            f"received {TensorShape(shape)!s}."
        )
    return [d for d in dims if d is not None]


def _default(key: str, feature: FixedLenFeature, kind: DType, shape: Sequence[Any]):
    """(the default as a tensor, whether the feature must be there)."""
    if feature.default_value is None:
        return convert_to_tensor(
            np.zeros(0, object if kind == dtypes.string else kind.as_numpy_dtype), kind
        ), True
    default = convert_to_tensor(feature.default_value, kind)
    count = default.shape.num_elements()
    wanted = int(np.prod(shape)) if shape else 1
    if default.shape.rank != 0 and count != wanted:
        default = reshape(default, shape)
    return default, False


def _one(key, feature, serialized, names, sequence=False):
    """The tensor of one feature."""
    text = _key_text(key)
    common = {"sequence": sequence}
    if isinstance(feature, VarLenFeature):
        kind = _require_dtype(key, feature)
        return SparseTensor(
            *ParseExampleSparseFeature(serialized, names, key=text, dtype=kind, **common)
        )
    if isinstance(feature, FixedLenFeature):
        kind = _require_dtype(key, feature)
        shape = _known_shape(key, feature.shape)
        default, required = _default(key, feature, kind, shape)
        return ParseExampleDenseFeature(
            serialized,
            names,
            default,
            key=text,
            feature_shape=tuple(shape),
            required=required,
            **common,
        )
    if isinstance(feature, FixedLenSequenceFeature):
        kind = _require_dtype(key, feature)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        if not feature.allow_missing:
            raise ValueError(
                "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
            )
        shape = TensorShape(feature.shape).as_list()
        filler = feature.default_value
        if filler is None:
            filler = b"" if kind == dtypes.string else 0
        return ParseExampleDenseFeature(
            serialized, names, reshape(convert_to_tensor(filler, kind), []), key=text, feature_shape=tuple(shape),
            variable=True, **common,
        )  # fmt: skip
    if isinstance(feature, SparseFeature):
        return _sparse(key, feature, serialized, names, common)
    if isinstance(feature, RaggedFeature):
        return _ragged(key, feature, serialized, names, common)
    raise ValueError(f"Invalid feature {key}:{feature}.")


def _sparse(key, feature, serialized, names, common):
    many = isinstance(feature.index_key, (list, tuple))
    keys = list(feature.index_key) if many else [feature.index_key]
    sizes = list(feature.size) if isinstance(feature.size, (list, tuple)) else [feature.size]
    if not feature.index_key:
        raise ValueError(f"Missing index_key for SparseFeature {feature}.")
    if not feature.value_key:
        raise ValueError(f"Missing value_key for SparseFeature {feature}.")
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    kind = _require_dtype(key, feature)
    places = [
        ParseExampleSparseFeature(serialized, names, key=_key_text(k), dtype=dtypes.int64, **common)
        for k in keys
    ]
    values = ParseExampleSparseFeature(
        serialized, names, key=_key_text(feature.value_key), dtype=kind, **common
    )
    # The last index, the position in the feature, gives way to what the index features say.
    columns = [expand_dims(p.values, 1) for p in places]
    indices = concat([places[0].indices[:, :-1], *columns], 1)
    shape = concat([places[0].dense_shape[:-1], convert_to_tensor(sizes, dtypes.int64)], 0)
    out = SparseTensor(indices, values.values, shape)
    return out if feature.already_sorted else reorder(out)


def _ragged(key, feature, serialized, names, common):
    single = serialized.shape.rank == 0

    def values_of(name, kind):
        found = ParseExampleRaggedFeature(
            serialized, names, key=_key_text(name), dtype=kind, splits_dtype=feature.row_splits_dtype, **common
        )
        return found.values if single else RaggedTensor.from_row_splits(found.values, found.row_splits, validate=False)

    return ragged_features.in_rows(key, feature, _require_dtype(key, feature), values_of, single)


def _ragged_list(key, feature, serialized, names):
    """A row for each step of a list of features; of a batch, such rows for each example."""
    splits = []

    def values_of(name, kind):
        found = ParseSequenceRaggedList(
            serialized, names, key=_key_text(name), dtype=kind, splits_dtype=feature.row_splits_dtype
        )
        splits.append(found.outer_splits)
        return RaggedTensor.from_row_splits(found.values, found.inner_splits, validate=False)

    steps = ragged_features.in_rows(key, feature, _require_dtype(key, feature), values_of, False)
    return steps if serialized.shape.rank == 0 else RaggedTensor.from_row_splits(steps, splits[0], validate=False)


def _names(example_names: Sequence[str] | None, single: bool = False):
    if example_names is None:
        return convert_to_tensor(np.zeros(0, object), dtypes.string)
    return convert_to_tensor(example_names, dtypes.string)


def _in_order(features: dict[str, Any]):
    """The keys in TensorFlow's order: sparse tensors, dense, ragged and combined ones, each sorted."""
    ranks = VarLenFeature, (FixedLenFeature, FixedLenSequenceFeature), RaggedFeature, SparseFeature

    def rank(key):
        return next((i for i, kinds in enumerate(ranks) if isinstance(features[key], kinds)), len(ranks))

    return sorted(sorted(features), key=rank)


@api(v2="io.parse_example")
@public
def parse_example(
    serialized: TensorLike, features: Any, example_names: Sequence[str] | None = None, name: str | None = None
):
    """Read the features of serialized `Example` messages.

    Args:
      serialized: a string vector, or a scalar for one message.
      features: a dict of `tf.io.FixedLenFeature` (gives a tensor), `tf.io.VarLenFeature` and `tf.io.SparseFeature`
        (sparse tensors), `tf.io.FixedLenSequenceFeature` (a padded tensor) and `tf.io.RaggedFeature` (a ragged
        tensor).
      example_names: names of the examples, for errors (optional).
      name: a name for the operation (optional).

    Returns:
      A dict of tensors, by the keys of `features`.

    Raises:
      ValueError: for features that say too little.
      InvalidArgumentError: for bytes that are no example, and for features that are missing or of another dtype or
        number.
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be empty. Got: {features}")
    serialized = convert_to_tensor(serialized, dtypes.string)
    names = _names(example_names)
    return {key: _one(key, features[key], serialized, names) for key in _in_order(features)}


@api(v1=("io.parse_example", "parse_example"))
@public
def parse_example_v1(
    serialized: TensorLike, features: Any, name: str | None = None, example_names: Sequence[str] | None = None
):
    """`parse_example` with the 1.x order of arguments.

    Args:
      serialized: a string tensor of serialized `Example` messages.
      features: a dict of `FixedLenFeature`, `VarLenFeature` and others by key.
      name: a name for the operation (optional).
      example_names: names that errors show (optional).
    """
    return parse_example(serialized, features, example_names)


@api(v2="io.parse_single_example")
@public
def parse_single_example(
    serialized: TensorLike, features: Any, example_names: Sequence[str] | None = None, name: str | None = None
):
    """Read one serialized `Example` message.

    Args:
      serialized: a scalar string.
      features: a dict of what to read, as of `tf.io.parse_example`.
      example_names: a name of the example, for errors (optional).
      name: a name for the operation (optional).

    Returns:
      A dict of tensors, without the dimension of the batch.

    Raises:
      ValueError: for no features, and where `serialized` is no scalar.
      InvalidArgumentError: for other bytes, and for features that are missing or of another dtype.
    """
    if not features:
        raise ValueError(
            f"Invalid argument: features cannot be None or empty. Received: {features}"
        )
    serialized = convert_to_tensor(serialized, dtypes.string)
    serialized.shape.assert_has_rank(0)
    names = _names(example_names)
    return {key: _one(key, features[key], serialized, names) for key in _in_order(features)}


@api(v1=("io.parse_single_example", "parse_single_example"))
@public
def parse_single_example_v1(
    serialized: TensorLike, features: TensorLike, name: str | None = None, example_names: Sequence[str] | None = None
):
    """`parse_single_example` with the 1.x order of arguments.

    Args:
      serialized: a string tensor of serialized `Example` messages.
      features: a dict of `FixedLenFeature`, `VarLenFeature` and others by key.
      name: a name for the operation (optional).
      example_names: names that errors show (optional).
    """
    return parse_single_example(serialized, features, example_names)


def _sequences(
    serialized: Tensor, context_features: dict[str, Any] | None, sequence_features: dict[str, Any] | None,
    names: Tensor,
):
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` arguments are None, "
            "but at least one should have values."
        )
    context_features, sequence_features = context_features or {}, sequence_features or {}
    context = {
        key: _one(key, context_features[key], serialized, names, True)
        for key in _in_order(context_features)
    }
    lists, lengths = {}, {}
    for key in _in_order(sequence_features):
        feature = sequence_features[key]
        kind = _require_dtype(key, feature)
        if isinstance(feature, VarLenFeature):
            found = ParseSequenceSparseList(serialized, names, key=_key_text(key), dtype=kind)
            lists[key] = SparseTensor(*found)
        elif isinstance(feature, FixedLenSequenceFeature):
            if feature.shape is None:
                raise ValueError(f"Missing shape for feature {key}.")
            shape = tuple(TensorShape(feature.shape).as_list())
            lists[key], lengths[key] = ParseSequenceDenseList(
                serialized, names, key=_key_text(key), dtype=kind, feature_shape=shape,
                allow_missing=bool(feature.allow_missing),
            )  # fmt: skip
        elif isinstance(feature, RaggedFeature):
            lists[key] = _ragged_list(key, feature, serialized, names)
        else:
            raise ValueError(f"Unsupported sequence feature {key}: {feature}")
    return context, lists, lengths


@api("io.parse_sequence_example", v1="parse_sequence_example")
@public
def parse_sequence_example(
    serialized: TensorLike, context_features: dict[str, Any] | None = None,
    sequence_features: dict[str, Any] | None = None, example_names: Sequence[str] | None = None,
    name: str | None = None,
):
    """Read a batch of serialized `SequenceExample` messages.

    Args:
      serialized: a string vector.
      context_features: a dict of the features of an example as a whole: `tf.io.FixedLenFeature`,
        `tf.io.VarLenFeature`, `tf.io.RaggedFeature` or `tf.io.SparseFeature`.
      sequence_features: a dict of the features that are lists: `tf.io.FixedLenSequenceFeature`,
        `tf.io.VarLenFeature` or `tf.io.RaggedFeature`.
      example_names: names of the examples, for errors (optional).
      name: a name for the operation (optional).

    Returns:
      Three dicts: of context features, of feature lists, and of the lengths of those that are dense.

    Raises:
      InvalidArgumentError: for other bytes, and for features that are missing or of another dtype.
    """
    serialized = convert_to_tensor(serialized, dtypes.string)
    return _sequences(serialized, context_features, sequence_features, _names(example_names))


@api("io.parse_single_sequence_example", v1="parse_single_sequence_example")
@public
def parse_single_sequence_example(
    serialized: TensorLike, context_features: dict[str, Any] | None = None,
    sequence_features: dict[str, Any] | None = None, example_name=None, name: str | None = None,
):
    """Read one serialized `SequenceExample` message.

    Args:
      serialized: a scalar string.
      context_features: a dict of the features of the example as a whole, as of `tf.io.parse_sequence_example`.
      sequence_features: a dict of the features that are lists, likewise.
      example_name: a name of the example, for errors (optional).
      name: a name for the operation (optional).

    Returns:
      Two dicts: of context features and of feature lists.

    Raises:
      ValueError: where `serialized` is no scalar.
      InvalidArgumentError: for other bytes, and for features that are missing or of another dtype.
    """
    serialized = convert_to_tensor(serialized, dtypes.string)
    serialized.shape.assert_has_rank(0)
    names = _names(None if example_name is None else [example_name])
    return _sequences(serialized, context_features, sequence_features, names)[:2]
