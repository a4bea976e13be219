"""Estimators of a head of one's own: a deep network, a linear model, and both at once."""

from __future__ import annotations

from tapeflow.core.public import boundaries
from tapeflow.estimator import canned
from tapeflow.ops.nn.activation import relu


class OfHead(canned.Canned):
    """An estimator of a public head."""

    def __init__(self, head, parts, model_dir, config):
        super().__init__(_Inner(head), parts, model_dir, config, None)


class _Inner:
    """A public head as canned estimators call it."""

    def __init__(self, head):
        self._head = head
        self.logits_dimension = head.logits_dimension

    def spec(self, features, mode, labels, logits, make_train_op):
        """The EstimatorSpec."""
        return self._head.create_estimator_spec(
            features, mode, logits, labels, train_op_fn=make_train_op
        )


class DNNEstimator(OfHead):
    """A deep network with a head; see `tf.estimator.DNNClassifier`."""

    def __init__(
        self, head, hidden_units, feature_columns, model_dir=None, optimizer: str = "Adagrad",
        activation_fn=relu, dropout=None, input_layer_partitioner=None, config=None,
        batch_norm: bool = False,
    ):  # fmt: skip
        network = canned.Deep(hidden_units, feature_columns, activation_fn, dropout, batch_norm)
        super().__init__(head, [(network, optimizer, canned.DEEP_RATE, "dnn")], model_dir, config)


class LinearEstimator(OfHead):
    """A weighted sum of columns with a head; see `tf.estimator.LinearClassifier`."""

    def __init__(
        self, head, feature_columns, model_dir=None, optimizer: str = "Ftrl", config=None, partitioner=None,
        sparse_combiner: str = "sum",
    ):  # fmt: skip
        network = canned.Linear(feature_columns, sparse_combiner)
        super().__init__(head, [(network, optimizer, network.rate, "linear")], model_dir, config)


class DNNLinearCombinedEstimator(OfHead):
    """A linear model and a deep network side by side with a head; see `tf.estimator.DNNLinearCombinedClassifier`."""

    def __init__(
        self, head, model_dir=None, linear_feature_columns=None, linear_optimizer: str = "Ftrl",
        dnn_feature_columns=None, dnn_optimizer: str = "Adagrad", dnn_hidden_units=None,
        dnn_activation_fn=relu, dnn_dropout=None, input_layer_partitioner=None, config=None,
        linear_sparse_combiner: str = "sum", batch_norm: bool = False,
    ):  # fmt: skip
        parts = canned.combined(
            linear_feature_columns, linear_optimizer, linear_sparse_combiner, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm,
        )  # fmt: skip
        super().__init__(head, parts, model_dir, config)


boundaries(globals())
