"""`tf.contrib.estimator`: heads, hooks and wrappers for estimators."""

from tapeflow.contrib.estimator.towers import TowerOptimizer, replicate_model_fn
from tapeflow.estimator.early_stopping import (
    make_early_stopping_hook,
    read_eval_metrics,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from tapeflow.estimator.extending import (
    add_metrics,
    clip_gradients_by_norm,
    forward_features,
)
from tapeflow.estimator.hooks import (
    InMemoryEvaluatorHook,
    make_stop_at_checkpoint_step_hook,
)
from tapeflow.estimator.multi_head import MultiHead as multi_head
from tapeflow.estimator.of_heads import (
    DNNEstimator,
    DNNLinearCombinedEstimator,
    LinearEstimator,
)
from tapeflow.estimator.public_heads import BinaryClassHead as binary_classification_head
from tapeflow.estimator.public_heads import LogisticRegressionHead as logistic_regression_head
from tapeflow.estimator.public_heads import MultiClassHead as multi_class_head
from tapeflow.estimator.public_heads import MultiLabelHead as multi_label_head
from tapeflow.estimator.public_heads import poisson_regression_head, regression_head
from tapeflow.estimator.receivers import (
    SupervisedInputReceiver,
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
)

__all__ = [
    "DNNEstimator", "DNNLinearCombinedEstimator", "InMemoryEvaluatorHook", "LinearEstimator",
    "SupervisedInputReceiver", "TowerOptimizer", "add_metrics", "binary_classification_head",
    "build_raw_supervised_input_receiver_fn", "build_supervised_input_receiver_fn_from_input_fn",
    "clip_gradients_by_norm", "forward_features", "logistic_regression_head", "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook", "multi_class_head", "multi_head", "multi_label_head",
    "poisson_regression_head", "read_eval_metrics", "regression_head", "replicate_model_fn", "stop_if_higher_hook",
    "stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
]  # fmt: skip
