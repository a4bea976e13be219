"""Objects that hold tables of embeddings: for serving on the CPU, and for training on TPUs."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow import nest
from tapeflow.core import dtypes
from tapeflow.core.context import init_scope
from tapeflow.core.public import boundaries
from tapeflow.core.tracking.trackable import AutoTrackable
from tapeflow.distribute import get_strategy
from tapeflow.ops.state.variable import Variable
from tapeflow.tpu.lookup import serving_embedding_lookup
from tapeflow.tpu.optimizers import Optimizer


class _Embedding(AutoTrackable):
    """Makes the variables of tables, and of their optimizers, when they are first asked for."""

    def __init__(self, feature_config: Any, optimizer: Any = None):
        self._feature_config = feature_config
        self._table_config: list[Any] = []
        for feature in nest.flatten(feature_config):
            if feature.table not in self._table_config:
                self._table_config.append(feature.table)
        names: set[str] = set()
        for i, table in enumerate(self._table_config):
            if table.optimizer is None:
                table.optimizer = optimizer
            if table.optimizer is not None and not isinstance(table.optimizer, Optimizer):
                raise ValueError(
                    f"{type(table.optimizer)} is an unsupported optimizer class. Please pass an instance of one of the "
                    "optimizer classes under tf.tpu.experimental.embedding."
                )
            if table.name is None:
                table.name = f"table_{i}"
            if table.name in names:
                raise ValueError(f"Tables must have a unique name. Multiple tables with name {table.name} found.")
            names.add(table.name)
        self._built = False

    def build(self) -> None:
        """Make the variables of the tables, unless they are there."""
        if not self._built:
            with init_scope():
                self._variables = {table.name: self._variables_of(table) for table in self._table_config}
            self._built = True

    def _variables_of(self, table: Any) -> dict[str, Any]:
        parameters = self._variable(table, table.name, table.initializer, True)
        slots: dict[str, Any] = {}
        if table.optimizer is not None:
            slots = table.optimizer._create_slots(
                parameters,
                lambda name, initializer: self._variable(table, f"{table.name}/{name}", initializer, False),
            )
        return {**slots, "parameters": parameters}

    def _variable(self, table: Any, name: str, initializer: Any, trainable: bool) -> Any:
        shape = (table.vocabulary_size, table.dim)

        def getter(name: str, shape: Any, dtype: Any, initializer: Any, trainable: bool) -> Any:
            first = functools.partial(initializer, tuple(shape), dtype=dtype)
            return Variable(first, name=name, shape=shape, dtype=dtype, trainable=trainable)

        return self._add_variable_with_custom_getter(
            name=name, shape=shape, dtype=dtypes.float32, initializer=initializer, getter=getter, trainable=trainable
        )

    @property
    def embedding_tables(self) -> dict[Any, Any]:
        """The variables of the tables, by their `TableConfig`."""
        self.build()
        return {table: self._variables[table.name]["parameters"] for table in self._table_config}


class TPUEmbeddingForServing(_Embedding):
    """Tables of embeddings that are looked up on the CPU.

    Args:
      feature_config: a nested structure of `FeatureConfig`.
      optimizer: the optimizer of the tables that have none, whose variables are made too, or None.
      experimental_sparsecore_restore_info: not used: tables of SparseCores are not restored.

    Raises:
      ValueError: for another optimizer, and tables of the same name.
    """

    def __init__(self, feature_config: Any, optimizer: Any, experimental_sparsecore_restore_info: Any = None):
        super().__init__(feature_config, optimizer)

    @property
    def variables(self) -> dict[str, dict[str, Any]]:
        """The variables of each table by its name: "parameters", and those of the optimizer."""
        self.build()
        return self._variables

    def embedding_lookup(self, features: Any, weights: Any = None) -> Any:
        """Look features up.

        Args:
          features: a nested structure of tensors, sparse or ragged tensors of ids.
          weights: what each id counts, of the same structure; None: 1.

        Returns:
          The embeddings, in the same structure.

        Raises:
          ValueError: for features that `feature_config` does not have, and weights that do not fit.
        """
        return serving_embedding_lookup(features, weights, self.embedding_tables, self._feature_config)

    def __call__(self, features: Any, weights: Any = None) -> Any:
        return self.embedding_lookup(features, weights)


class TPUEmbedding(_Embedding):
    """Tables of embeddings that a TPU trains; without one they are made, saved, restored and read.

    Args:
      feature_config: a nested structure of `FeatureConfig`.
      optimizer: the optimizer of the tables that have none, or None.
      pipeline_execution_with_tensor_core: whether the TPU would look up and train at once.

    Raises:
      ValueError: for another optimizer, and tables of the same name.
    """

    def __init__(self, feature_config: Any, optimizer: Any, pipeline_execution_with_tensor_core: bool = False):
        super().__init__(feature_config, optimizer)
        self._pipelined = pipeline_execution_with_tensor_core

    def build(self, per_replica_input_shapes: Any = None, per_replica_batch_size: int | None = None) -> None:
        """Make the variables of the tables, unless they are there.

        Args:
          per_replica_input_shapes: the shapes of the ids, which a TPU would need.
          per_replica_batch_size: how many examples a batch has, likewise.
        """
        super().build()

    def enqueue(
        self, features: Any, weights: Any = None, training: bool = True, name: str | None = None,
        device: str | None = None,
    ) -> None:  # fmt: skip
        """Hand ids to the TPU. Raises RuntimeError: there is none."""
        self._needs_tpu("enqueue")

    def dequeue(self, name: str | None = None) -> Any:
        """Take embeddings from the TPU. Raises RuntimeError: there is none."""
        self._needs_tpu("dequeue")

    def apply_gradients(self, gradients: Any, name: str | None = None) -> None:
        """Have the TPU train the tables. Raises RuntimeError: there is none."""
        self._needs_tpu("apply_gradients")

    def _needs_tpu(self, what: str) -> None:
        raise RuntimeError(f"{what} is not valid when TPUEmbedding object is not created under a TPUStrategy.")


class _OnTPU(_Embedding):
    """What only a TPU can hold."""

    def __init__(self, feature_config: Any, optimizer: Any):
        super().__init__(feature_config, optimizer)
        raise RuntimeError(
            f"{type(self).__name__} should be created under TPUStrategy but found {get_strategy()}."
        )


class TPUEmbeddingV0(_OnTPU):
    """Tables of embeddings on TPUs without cores of their own for these.

    Args:
      feature_config: a nested structure of `FeatureConfig`.
      optimizer: the optimizer of the tables that have none, or None.

    Raises:
      RuntimeError: there is no TPU.
    """


class TPUEmbeddingV2(_OnTPU):
    """Tables of embeddings on the SparseCores of TPUs.

    Args:
      feature_config: a nested structure of `FeatureConfig`.
      optimizer: the optimizer of the tables that have none, or None.
      pipeline_execution_with_tensor_core: whether the TPU looks up and trains at once.
      sparse_core_embedding_config: a `SparseCoreEmbeddingConfig`, or None.

    Raises:
      RuntimeError: there is no TPU.
    """

    DEFAULT_MAX_IDS_PER_TABLE = 256
    DEFAULT_MAX_UNIQUE_IDS_PER_TABLE = 256

    def __init__(
        self, feature_config: Any, optimizer: Any = None, pipeline_execution_with_tensor_core: bool = False,
        sparse_core_embedding_config: Any = None,
    ):  # fmt: skip
        super().__init__(feature_config, optimizer)


boundaries(globals())
