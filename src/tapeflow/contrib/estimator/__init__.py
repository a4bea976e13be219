"""`tf.contrib.estimator`: heads, hooks and wrappers for estimators."""

from tapeflow.contrib.estimator.canned import (
    DNNEstimator,
    DNNLinearCombinedEstimator,
    LinearEstimator,
)
from tapeflow.contrib.estimator.early_stopping import (
    make_early_stopping_hook,
    read_eval_metrics,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from tapeflow.contrib.estimator.extending import (
    add_metrics,
    clip_gradients_by_norm,
    forward_features,
)
from tapeflow.contrib.estimator.hooks import (
    InMemoryEvaluatorHook,
    make_stop_at_checkpoint_step_hook,
)
from tapeflow.contrib.estimator.multi_head import multi_head
from tapeflow.contrib.estimator.receivers import (
    SupervisedInputReceiver,
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
)
from tapeflow.contrib.estimator.towers import TowerOptimizer, replicate_model_fn
from tapeflow.estimator.public_heads import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
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
