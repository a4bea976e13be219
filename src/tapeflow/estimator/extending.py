"""Estimators with more: metrics, clipped gradients, and features that are given back with predictions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import train
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.estimator.estimator import Estimator
from tapeflow.estimator.export import PredictOutput
from tapeflow.estimator.spec import ModeKeys
from tapeflow.ops.math.clip import clip_by_norm
from tapeflow.ops.sparse.functions import to_dense

if TYPE_CHECKING:
    from tapeflow.train.gradient_descent import MomentumOptimizer

_METRIC_ARGUMENTS = {"features", "labels", "predictions", "config"}


def _check(estimator):
    if not isinstance(estimator, Estimator):
        raise ValueError(f"Expected Estimator. Given: {type(estimator)}")


def _with_model_fn(estimator, model_fn: Callable[..., Any]):
    return Estimator(model_fn, estimator.model_dir, estimator.config)


def add_metrics(estimator, metric_fn: Callable[..., Any]):
    """The estimator with more metrics.

    Args:
      metric_fn: a function that returns a dict of metrics; of `features`, `labels`, `predictions`, `config` it gets
        what it takes.

    Raises ValueError for another estimator, and for other arguments.
    """
    _check(estimator)
    wanted = set(inspect.signature(metric_fn).parameters)
    if wanted - _METRIC_ARGUMENTS:
        raise ValueError(
            f"metric_fn ({metric_fn}) has following not expected args: {sorted(wanted - _METRIC_ARGUMENTS)}"
        )

    def model_fn(features: dict[str, Any], labels: Tensor | None, mode: str, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        added = metric_fn(**{name: offered[name] for name in wanted})
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **added})

    return _with_model_fn(estimator, model_fn)


def clip_gradients_by_norm(optimizer: MomentumOptimizer, clip_norm: float):
    """An optimizer that scales each gradient down to a norm first."""

    class Clipping(train.Optimizer):
        """The optimizer behind `clip_gradients_by_norm`."""

        def compute_gradients(self, *args, **kwargs):
            """Those of the optimizer."""
            return optimizer.compute_gradients(*args, **kwargs)

        def apply_gradients(
            self, grads_and_vars: Sequence[Any], global_step: TensorLike | None = None, name: str | None = None
        ):
            """Applies clipped gradients."""
            clipped = [
                (None if g is None else clip_by_norm(g, clip_norm), v) for g, v in grads_and_vars
            ]
            return optimizer.apply_gradients(clipped, global_step, name)

        def get_slot(self, *args, **kwargs):
            """A slot of the optimizer."""
            return optimizer.get_slot(*args, **kwargs)

        def get_slot_names(self):
            """The names of the optimizer's slots."""
            return optimizer.get_slot_names()

        def variables(self):
            """The optimizer's variables."""
            return optimizer.variables()

    return Clipping(False, f"Transformed{type(optimizer).__name__}")


def forward_features(estimator, keys: Sequence[str] | str | None = None, sparse_default_values=None):
    """The estimator whose predictions, and what it exports, have features too.

    Args:
      keys: names of features, or one; None: all.
      sparse_default_values: a dict of what stands where sparse features have nothing; by default 0 or "".

    Raises ValueError for another estimator and for keys that are not there or are predicted, TypeError for keys that
    are not strings.
    """
    _check(estimator)
    wanted = [keys] if isinstance(keys, str) else keys
    for key in wanted or ():
        if not isinstance(key, str):
            raise TypeError(f"All items in the given keys list should be a string. There exist {key}.")

    def dense(name: str, feature: Tensor):
        if isinstance(feature, SparseTensor):
            empty = (sparse_default_values or {}).get(name, "" if feature.dtype == dtypes.string else 0)
            return to_dense(feature, default_value=empty)
        return feature

    def model_fn(features: dict[str, Any], labels: Tensor | None, mode: str, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.PREDICT:
            return spec
        predictions = spec.predictions
        if not isinstance(predictions, dict):
            raise ValueError("Predictions should be a dict to be able to forward features.")
        added = {}
        for name in features if wanted is None else wanted:
            if name not in features:
                raise ValueError(
                    f"keys should be exist in features. Key '{name}' is not in features. Features: {list(features)}"
                )
            if name in predictions:
                raise ValueError(
                    f"Cannot forward feature key ({name}). Since it does exist in predictions. Existing prediction "
                    f"keys: {list(predictions)}. Please make sure that the key does not exist in predictions."
                )
            added[name] = dense(name, features[name])
        outputs = {
            key: PredictOutput({**output.outputs, **added}) if isinstance(output, PredictOutput) else output
            for key, output in (spec.export_outputs or {}).items()
        }
        return spec._replace(
            predictions={**predictions, **added}, export_outputs=outputs if spec.export_outputs else None
        )

    return _with_model_fn(estimator, model_fn)


boundaries(globals())
