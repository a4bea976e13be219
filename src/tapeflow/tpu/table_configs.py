"""What tables of embeddings are, and which features are looked up in them."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.initializers import TruncatedNormal
from tapeflow.ops.array.construction import ones
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.ranges import range as numbers
from tapeflow.ops.math.arithmetic import multiply
from tapeflow.tpu.slots import WithSlotVariables

_COMBINERS = ("mean", "sum", "sqrtn")


class CustomCombiner(WithSlotVariables):
    """A function that combines the embeddings of an example.

    Args:
      combiner_computation: the function.
      max_valency: the most embeddings of an example.
      num_weights: how many weights it has, which are trained with the table.
      initializer: gives their first values; needed where there are weights.
      combiner_weights_learning_rate: the rate at which they learn.

    Raises:
      ValueError: for weights without an initializer.
    """

    CUSTOM_COMBINER_SLOT_NAME = "custom_combiner_variables"

    def __init__(
        self, combiner_computation: Any, max_valency: int, num_weights: int = 0, initializer: Any = None,
        combiner_weights_learning_rate: float | Callable[[], float] = 0.01,
    ):  # fmt: skip
        super().__init__()
        if num_weights > 0 and initializer is None:
            raise ValueError("When `num_weights` is greater than 0, `initializer` must be set.")
        self.combiner = f"custom_combiner_{hash(combiner_computation)}"
        self.combiner_computation = combiner_computation
        self.max_valency = max_valency
        self.num_weights = num_weights
        self.combiner_weights_learning_rate = combiner_weights_learning_rate
        self._initializer = initializer

    def _slots(self) -> dict[str, Any]:
        return {self.CUSTOM_COMBINER_SLOT_NAME: self._initializer} if self.num_weights > 0 else {}

    def __str__(self) -> str:
        return self.combiner


class QuantizationConfig:
    """Training as if embeddings were rounded to a few values.

    Args:
      num_buckets: how many values.
      lower, upper: the least and the largest.

    Raises:
      ValueError: for less than two.
    """

    def __init__(self, num_buckets: int, lower: float, upper: float):
        if num_buckets < 2:
            raise ValueError(f"num_buckets is {num_buckets}, must be at least 2 for simulated quantization.")
        self.num_buckets = num_buckets
        self.lower = lower
        self.upper = upper

    def __repr__(self) -> str:
        return f"QuantizationConfig(num_buckets={self.num_buckets!r}, lower={self.lower!r}, upper={self.upper!r})"


class RowIdInitializer:
    """Fills each row of a table with its number, counted from `offset`."""

    def __init__(self, offset: int = 0):
        self.offset = offset

    def __call__(self, shape: Any, dtype: Any) -> Any:
        rows = numbers(self.offset, self.offset + shape[0], dtype=dtype)
        return multiply(expand_dims(rows, 1), ones(shape, dtype))


class TableConfig:
    """A table of embeddings.

    Args:
      vocabulary_size: how many rows it has.
      dim: how many numbers a row has.
      initializer: gives its first values, called as `initializer(shape, dtype=...)`; None: truncated normal, of
        deviation `1 / sqrt(dim)`.
      optimizer: trains it; None: that of the embedding that holds it.
      combiner: how the rows of an example are combined: "mean", "sum", "sqrtn", or a `CustomCombiner`.
      name: its name, which no other table may have.
      quantization_config: a `QuantizationConfig`, or None.
      layout: where its parts are, or None.
      dtype: float32 or int32.

    Raises:
      ValueError: for arguments that are not these.
    """

    def __init__(
        self, vocabulary_size: int, dim: int, initializer: Any = None, optimizer: Any = None,
        combiner: str | CustomCombiner = "mean", name: str | None = None, quantization_config: Any = None,
        layout: Any = None, dtype: Any = dtypes.float32,
    ):  # fmt: skip
        if not isinstance(vocabulary_size, int) or vocabulary_size < 1:
            raise ValueError(f"Argument `vocabulary_size` must be an int and must be >= 1. Received: {vocabulary_size}")
        if not isinstance(dim, int) or dim < 1:
            raise ValueError(f"Argument `dim` (embedding dimension) must be an int and must be >= 1. Received: {dim}")
        if initializer is not None and not callable(initializer):
            raise ValueError(f"Argument `initializer` must be a callable (or None). Received: {initializer}")
        if isinstance(combiner, str):
            if combiner not in _COMBINERS:
                raise ValueError(f"String argument `combiner` must be in {_COMBINERS}. Received: {combiner}")
        elif not isinstance(combiner, CustomCombiner):
            raise ValueError(
                f"Argument `combiner` should either be a str or a CustomCombiner. Received: {type(combiner)}"
            )
        if name is None:
            logging.getLogger("tensorflow").warning(
                "Name of the table config must be specified for running on SparseCore. Different table configs must "
                "have unique names."
            )
        if dtype not in (dtypes.float32, dtypes.int32):
            raise ValueError(f"Argument `dtype` must be either float32 or int32. Received: {dtype!r}")
        self._default = initializer is None
        self.vocabulary_size = vocabulary_size
        self.dim = dim
        self.initializer = TruncatedNormal(0.0, 1 / math.sqrt(dim)) if initializer is None else initializer
        self.optimizer = optimizer
        self.combiner = combiner
        self.name = name
        self.quantization_config = quantization_config
        self.layout = layout
        self.dtype = dtype

    def __repr__(self) -> str:
        return (
            f"TableConfig(vocabulary_size={self.vocabulary_size!r}, dim={self.dim!r}, "
            f"initializer={None if self._default else self.initializer!r}, optimizer={self.optimizer!r}, "
            f"combiner={self.combiner!r}, name={self.name!r}, quantization_config={self.quantization_config!r})"
        )


class FeatureConfig:
    """A feature whose values are looked up in a table.

    Args:
      table: the `TableConfig`; several features may share one.
      max_sequence_length: 0: the embeddings of an example are combined; else they stay a sequence of this length.
      validate_weights_and_indices: whether ids and weights that are not valid are left out.
      output_shape: the shape of the result but for the numbers of a row; None: what follows from the input.
      name: the feature's name.

    Raises:
      ValueError: for arguments that are not these.
    """

    def __init__(
        self, table: TableConfig, max_sequence_length: int = 0, validate_weights_and_indices: bool = True,
        output_shape: Any = None, name: str | None = None,
    ):  # fmt: skip
        if not isinstance(table, TableConfig):
            raise ValueError(
                f"Argument `table` has invalid type {type(table)}. Expected "
                "`tf.tpu.experimental.embedding.TableConfig`."
            )
        if not isinstance(max_sequence_length, int) or max_sequence_length < 0:
            raise ValueError(
                f"Argument `max_sequence_length` must be an int and must be >= 0. Received: {max_sequence_length}"
            )
        if not isinstance(validate_weights_and_indices, bool):
            raise ValueError(
                "Argument `validate_weights_and_indices` must be a boolean. Received: "
                f"{validate_weights_and_indices}"
            )
        self.table = table
        self.max_sequence_length = max_sequence_length
        self.name = name
        self.output_shape = TensorShape(output_shape)
        self.validate_weights_and_indices = validate_weights_and_indices

    def __repr__(self) -> str:
        return (
            f"FeatureConfig(table={self.table!r}, max_sequence_length={self.max_sequence_length!r}, "
            f"validate_weights_and_indices={self.validate_weights_and_indices!r}, output_shape={self.output_shape!r}, "
            f"name={self.name!r})"
        )


@dataclasses.dataclass(frozen=True)
class SparseCoreEmbeddingConfig:
    """Settings of embeddings on SparseCores, which `TPUEmbeddingV2` runs on.

    Attributes:
      disable_table_stacking: whether each table stays on its own.
      max_ids_per_chip_per_sample: the most ids of an example.
      max_ids_per_table, max_unique_ids_per_table: the most ids, by table.
      allow_id_dropping: whether further ids are dropped, instead of being an error.
      initialize_tables_on_host: whether the first values are made by the host.
      enable_fast_table_initialization: whether they are made on the TPU.
    """

    disable_table_stacking: bool = False
    max_ids_per_chip_per_sample: int = 64
    max_ids_per_table: dict[str, int] | None = None
    max_unique_ids_per_table: dict[str, int] | None = None
    allow_id_dropping: bool = False
    initialize_tables_on_host: bool = True
    enable_fast_table_initialization: bool = False


boundaries(globals())
