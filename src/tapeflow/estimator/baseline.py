"""Baselines: estimators that learn no more than the mean of the labels, for others to be compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import PathLike, Tensor
from tapeflow.core.public import boundaries
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.estimator.canned import Canned
from tapeflow.estimator.of_heads import OfHead
from tapeflow.estimator.public_heads import PublicHead
from tapeflow.estimator.run_config import RunConfig
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.sizes import shape_v1 as shape
from tapeflow.v1.initializers import zeros_initializer
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope

_RATE = 0.3


class _Bias:
    """A network of biases alone: what it says is the same for every example."""

    def __call__(self, features: dict[str, Any], mode: str, count: int) -> Tensor:
        if not features:
            raise ValueError("features must not be empty: they say how many examples a batch has.")
        value = next(iter(features.values()))
        size = value.dense_shape[0] if isinstance(value, SparseTensor) else shape(value)[0]
        with variable_scope("baseline"):
            bias = get_variable("bias", [count], initializer=zeros_initializer())
            return zeros([size, count]) + bias


def _parts(optimizer: Any) -> list[tuple[Any, ...]]:
    return [(_Bias(), optimizer, _RATE, "baseline")]


class BaselineClassifier(Canned):
    """A classifier that says how frequent each class is, whatever the features.

    Args:
      model_dir: the folder of checkpoints; None for a temporary one.
      n_classes: how many classes there are, at least 2.
      weight_column: the name of the feature that has the examples' weights.
      label_vocabulary: the names of the classes, where labels are strings.
      optimizer: an optimizer, a function that makes one, or its name.
      config: a `RunConfig`.
      loss_reduction: how the losses of a batch become one number; by default their mean, in 1.x their sum.

    Raises:
      ValueError: for fewer than two classes, and another number of names.
    """

    def __init__(
        self, model_dir: PathLike | None = None, n_classes: int = 2, weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None, optimizer: Any = "Ftrl", config: RunConfig | None = None,
        loss_reduction: str | None = None,
    ):  # fmt: skip
        head = self._classes(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, _parts(optimizer), model_dir, config, None)


class BaselineRegressor(Canned):
    """A regressor that says the mean of the labels, whatever the features.

    Args:
      model_dir: the folder of checkpoints; None for a temporary one.
      label_dimension: how many numbers a label has.
      weight_column, optimizer, config, loss_reduction: as for `BaselineClassifier`.
    """

    def __init__(
        self, model_dir: PathLike | None = None, label_dimension: int = 1, weight_column: Any = None,
        optimizer: Any = "Ftrl", config: RunConfig | None = None, loss_reduction: str | None = None,
    ):  # fmt: skip
        head = self._numbers(label_dimension, weight_column, loss_reduction)
        super().__init__(head, _parts(optimizer), model_dir, config, None)


class BaselineEstimator(OfHead):
    """An estimator of a head whose logits are the same for every example.

    Args:
      head: what labels and logits mean, such as `tf.estimator.MultiLabelHead`.
      model_dir, optimizer, config: as for `BaselineClassifier`.
    """

    def __init__(
        self, head: PublicHead, model_dir: PathLike | None = None, optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
    ):  # fmt: skip
        super().__init__(head, _parts(optimizer), model_dir, config)


boundaries(globals())
