"""Estimators that are ready: linear models, deep networks, and both at once, over feature columns."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import train as train_
from tapeflow.core.annotations import Tensor, Variable
from tapeflow.core.public import boundaries
from tapeflow.estimator.estimator import Estimator
from tapeflow.estimator.heads import Classes, Numbers
from tapeflow.estimator.spec import ModeKeys
from tapeflow.graph.build.derivatives import gradients_v1 as gradients
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.ops.nn.activation import relu
from tapeflow.v1 import feature_column, losses
from tapeflow.v1.layers import functions as layers
from tapeflow.v1.variable_scoping import variable_scope

if TYPE_CHECKING:
    from tapeflow.estimator.run_config import RunConfig
    from tapeflow.keras.optimizers.rules import SGD

_OPTIMIZERS = {
    "Adagrad": train_.AdagradOptimizer,
    "Adam": train_.AdamOptimizer,
    "Ftrl": train_.FtrlOptimizer,
    "RMSProp": train_.RMSPropOptimizer,
    "SGD": train_.GradientDescentOptimizer,
}
DEEP_RATE, LINEAR_RATE = 0.05, 0.005
SUM, MEAN = losses.Reduction.SUM, losses.Reduction.SUM_OVER_BATCH_SIZE


def _optimizer(given, rate: float):
    """An optimizer: one, a function that makes one, or its name. Raises ValueError for unknown names."""
    if isinstance(given, str):
        if given not in _OPTIMIZERS:
            raise ValueError(
                f"Unsupported optimizer name: {given}. Supported names are: {sorted(_OPTIMIZERS)}"
            )
        return _OPTIMIZERS[given](learning_rate=rate)
    if isinstance(given, train_.Optimizer) or hasattr(given, "apply_gradients"):
        return given
    return given() if callable(given) else given


def _step(optimizer, loss: Tensor, variables: Sequence[Variable]):
    """What changes the variables; the optimizer may be Keras's too."""
    if isinstance(optimizer, train_.Optimizer):
        return optimizer.minimize(loss, var_list=variables)
    pairs = zip(gradients(loss, variables), variables, strict=True)
    return optimizer.apply_gradients([(g, v) for g, v in pairs if g is not None])


def _trained(parts: Sequence[Any], loss: Tensor):
    """One operation for the steps of all (optimizer, scope), after the updates of normalizations; counts the step."""
    graph = get_default_graph()
    with control_dependencies(graph.get_collection("update_ops")):
        steps = [
            _step(optimizer, loss, graph.get_collection("trainable_variables", scope))
            for optimizer, scope in parts
        ]
    with control_dependencies(steps):
        return group(train_.get_global_step().assign_add(1))


class Deep:
    """A network of dense layers."""

    def __init__(
        self, units: Sequence[int], columns: Sequence[Any], activation: Callable[..., Any], rate,
        normalizes: bool,
    ):
        if not columns:
            raise ValueError(f"feature_columns must be defined and not empty; got {columns}")
        self._units, self._columns, self._activation = list(units), list(columns), activation
        self._rate, self._normalizes = rate, normalizes

    def __call__(self, features: dict[str, Any], mode: str, count: int):
        training = mode == ModeKeys.TRAIN
        with variable_scope("dnn"):
            with variable_scope("input_from_feature_columns"):
                net = feature_column.input_layer(features, self._columns)
            for i, units in enumerate(self._units):
                net = layers.dense(net, units, self._activation, name=f"hiddenlayer_{i}")
                if self._rate is not None and training:
                    net = layers.dropout(net, self._rate, training=True)
                if self._normalizes:
                    with variable_scope(f"hiddenlayer_{i}"):
                        net = layers.batch_normalization(
                            net, momentum=0.999, training=training, name=f"batchnorm_{i}"
                        )
            return layers.dense(net, count, name="logits")


class Linear:
    """A weighted sum of columns."""

    def __init__(self, columns: Sequence[Any], combiner: str):
        if not columns:
            raise ValueError(f"feature_columns must be defined and not empty; got {columns}")
        self.columns, self._combiner = list(columns), combiner

    def __call__(self, features: dict[str, Any], mode: str, count: int):
        with variable_scope("linear"):
            return feature_column.linear_model(features, self.columns, count, self._combiner)

    @property
    def rate(self):
        """The default learning rate: smaller for many columns."""
        return min(0.2, 1.0 / math.sqrt(len(self.columns)))


class Canned(Estimator):
    """An estimator of a head and of parts, (network, optimizer, its default learning rate, its scope)."""

    _reduction = MEAN

    def __init__(
        self, head: Classes | Numbers, parts: Sequence[Any], model_dir, config: RunConfig | None,
        warm_start_from,
    ):
        def model_fn(features: dict[str, Any], labels: Tensor | None, mode: str):
            if not isinstance(features, dict):
                raise ValueError(
                    f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
                )
            logits = [network(features, mode, head.logits_dimension) for network, *_ in parts]

            def train(loss: Tensor):
                return _trained(
                    [(_optimizer(given, rate), scope) for _, given, rate, scope in parts], loss
                )

            return head.spec(
                features, mode, labels, functools.reduce(lambda a, b: a + b, logits), train
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)

    @classmethod
    def _classes(cls, number: int, weight_column, vocabulary: Sequence[str] | None, reduction):
        return Classes(number, weight_column, vocabulary, reduction or cls._reduction)

    @classmethod
    def _numbers(cls, dimension: int, weight_column: str | None, reduction):
        return Numbers(dimension, weight_column, reduction or cls._reduction)


class DNNClassifier(Canned):
    """A deep network that tells classes apart.

    Args:
      hidden_units: the numbers of units of the layers.
      feature_columns: dense feature columns.
      n_classes: of which the labels are numbers, or `label_vocabulary`'s strings.
      weight_column: the name of the feature with the examples' weights.
      optimizer: an optimizer, a function that makes one, or a name.
      dropout: the part of units that is left out in training.
      batch_norm: whether layers are followed by batch normalization.
    """

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Sequence[Any], model_dir=None, n_classes: int = 2,
        weight_column=None, label_vocabulary: Sequence[str] | None = None, optimizer: str | SGD = "Adagrad",
        activation_fn: Callable[..., Any] = relu, dropout=None, config: RunConfig | None = None,
        warm_start_from=None, loss_reduction=None, batch_norm: bool = False,
    ):  # fmt: skip
        network = Deep(hidden_units, feature_columns, activation_fn, dropout, batch_norm)
        head = self._classes(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head, [(network, optimizer, DEEP_RATE, "dnn")], model_dir, config, warm_start_from
        )


class DNNRegressor(Canned):
    """A deep network that estimates numbers; see `DNNClassifier`."""

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, label_dimension: int = 1, weight_column=None,
        optimizer: str = "Adagrad", activation_fn=relu, dropout=None, config=None, warm_start_from=None,
        loss_reduction=None, batch_norm: bool = False,
    ):  # fmt: skip
        network = Deep(hidden_units, feature_columns, activation_fn, dropout, batch_norm)
        head = self._numbers(label_dimension, weight_column, loss_reduction)
        super().__init__(
            head, [(network, optimizer, DEEP_RATE, "dnn")], model_dir, config, warm_start_from
        )


class LinearClassifier(Canned):
    """A linear model that tells classes apart, over dense and categorical columns; see `DNNClassifier`."""

    def __init__(
        self, feature_columns: Sequence[Any], model_dir=None, n_classes: int = 2, weight_column=None,
        label_vocabulary=None, optimizer: str = "Ftrl", config: RunConfig | None = None, warm_start_from=None,
        loss_reduction=None, sparse_combiner: str = "sum",
    ):  # fmt: skip
        network = Linear(feature_columns, sparse_combiner)
        head = self._classes(n_classes, weight_column, label_vocabulary, loss_reduction)
        parts = [(network, optimizer, network.rate, "linear")]
        super().__init__(head, parts, model_dir, config, warm_start_from)


class LinearRegressor(Canned):
    """A linear model that estimates numbers; see `LinearClassifier`."""

    def __init__(
        self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
        warm_start_from=None, loss_reduction=None, sparse_combiner="sum",
    ):  # fmt: skip
        network = Linear(feature_columns, sparse_combiner)
        head = self._numbers(label_dimension, weight_column, loss_reduction)
        parts = [(network, optimizer, network.rate, "linear")]
        super().__init__(head, parts, model_dir, config, warm_start_from)


def combined(
    linear, linear_optimizer, combiner, deep, deep_optimizer, units, activation, rate, normalizes
):
    """The parts of a linear model and of a deep network, or of one of them. Raises ValueError for none."""
    parts = []
    if deep:
        if not units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        network = Deep(units, deep, activation, rate, normalizes)
        parts.append((network, deep_optimizer, DEEP_RATE, "dnn"))
    if linear:
        network = Linear(linear, combiner)
        parts.append((network, linear_optimizer, min(LINEAR_RATE, network.rate), "linear"))
    if not parts:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return parts


class DNNLinearCombinedClassifier(Canned):
    """A linear model and a deep network side by side ("wide and deep") that tell classes apart."""

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, n_classes=2,
        weight_column=None, label_vocabulary=None, config=None, warm_start_from=None, loss_reduction=None,
        batch_norm=False, linear_sparse_combiner="sum",
    ):  # fmt: skip
        parts = combined(
            linear_feature_columns, linear_optimizer, linear_sparse_combiner, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm,
        )  # fmt: skip
        head = self._classes(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, parts, model_dir, config, warm_start_from)


class DNNLinearCombinedRegressor(Canned):
    """A linear model and a deep network side by side that estimate numbers."""

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer: str = "Ftrl",
        dnn_feature_columns=None, dnn_optimizer: str = "Adagrad", dnn_hidden_units=None,
        dnn_activation_fn: Callable[..., Any] = relu, dnn_dropout=None, label_dimension: int = 1,
        weight_column=None, config=None, warm_start_from=None, loss_reduction=None, batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):  # fmt: skip
        parts = combined(
            linear_feature_columns, linear_optimizer, linear_sparse_combiner, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm,
        )  # fmt: skip
        head = self._numbers(label_dimension, weight_column, loss_reduction)
        super().__init__(head, parts, model_dir, config, warm_start_from)


boundaries(globals())
