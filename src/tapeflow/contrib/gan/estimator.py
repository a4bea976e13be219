"""`tf.contrib.gan.estimator`: GANs as estimators; features are the generator's inputs, labels the real data."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.gan import eval as measures
from tapeflow.contrib.gan.building import gan_model, tensors
from tapeflow.contrib.gan.models import GANLoss, GANModel
from tapeflow.contrib.gan.training import gan_train_ops, get_sequential_train_hooks
from tapeflow.core.annotations import Tensor
from tapeflow.core.structures.structure import fields_of
from tapeflow.estimator import Estimator, EstimatorSpec, ModeKeys

if TYPE_CHECKING:
    from tapeflow.train.adaptive import AdamOptimizer

__all__ = ["GANEstimator", "SummaryType"]


class SummaryType(enum.IntEnum):
    """What summaries a GANEstimator writes."""

    NONE = 0
    VARIABLES = 1
    IMAGES = 2
    IMAGE_COMPARISON = 3


_SUMMARIES = {
    SummaryType.VARIABLES: measures.add_gan_model_summaries,
    SummaryType.IMAGES: measures.add_gan_model_image_summaries,
    SummaryType.IMAGE_COMPARISON: measures.add_image_comparison_summaries,
}


def _with_mode(function, mode: str):
    if "mode" in inspect.signature(function).parameters:
        return functools.partial(function, mode=mode)
    return function


def _for_predictions(generator_fn: Callable[..., Any], inputs: Tensor):
    with v1.variable_scope("Generator") as scope:
        inputs = tensors(inputs)
        data = _with_mode(generator_fn, ModeKeys.PREDICT)(inputs)
    variables = v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, scope.name + "/")
    return GANModel(inputs, data, variables, scope, generator_fn, *[None] * 6)


def _evaluation(model: GANModel, loss, get_eval_metric_ops_fn):
    with v1.name_scope(None, "metrics", list(loss)):
        found = {name: v1.metrics.mean(getattr(loss, name)) for name in fields_of(loss)}
        if get_eval_metric_ops_fn is not None:
            own = get_eval_metric_ops_fn(model)
            if not isinstance(own, dict):
                raise TypeError(f"get_eval_metric_ops_fn must return a dict, received: {own}")
            found.update(own)
    return found


class GANEstimator(Estimator):
    """An Estimator of a GAN.

    Args:
      generator_fn, discriminator_fn: as in `gan_model`; they may also take `mode`.
      generator_loss_fn, discriminator_loss_fn: functions of a model and of `add_summaries`.
      generator_optimizer, discriminator_optimizer: optimizers, or functions that make them.
      get_hooks_fn: a function of GANTrainOps; by default one step of each part in turn.
      get_eval_metric_ops_fn: a function of a model that returns more metrics.
      add_summaries: a SummaryType or a list of them.
      use_loss_summaries: whether the losses are written as summaries.
      is_chief: for optimizers of many workers.

    Raises ValueError or TypeError for what is not a function.
    """

    def __init__(
        self, model_dir=None, generator_fn: Callable[..., Any] | None = None,
        discriminator_fn: Callable[..., Any] | None = None, generator_loss_fn: Callable[..., Any] | None = None,
        discriminator_loss_fn: Callable[..., Any] | None = None, generator_optimizer: AdamOptimizer | None = None,
        discriminator_optimizer: Callable[..., Any] | None = None, get_hooks_fn=None, get_eval_metric_ops_fn=None,
        add_summaries: Any = None, use_loss_summaries: bool = True, config=None, warm_start_from=None,
        is_chief: bool = True,
    ):  # fmt: skip
        if not callable(generator_loss_fn):
            raise ValueError("generator_loss_fn must be callable.")
        if not callable(discriminator_loss_fn):
            raise ValueError("discriminator_loss_fn must be callable.")
        if use_loss_summaries not in (True, False, None):
            raise ValueError("use_loss_summaries must be True, False or None.")
        if get_hooks_fn is not None and not callable(get_hooks_fn):
            raise TypeError("get_hooks_fn must be callable.")
        summaries = add_summaries if isinstance(add_summaries, (tuple, list)) else [add_summaries]

        def model_fn(features, labels, mode):
            if mode == ModeKeys.PREDICT:
                if labels is not None:
                    raise ValueError(
                        f"`labels` must be `None` when mode is `predict`. Instead, found {labels}"
                    )
                return EstimatorSpec(mode, _for_predictions(generator_fn, features).generated_data)
            parts = (_with_mode(part, mode) for part in (generator_fn, discriminator_fn))
            model = gan_model(*parts, labels, features, check_shapes=False)
            with v1.name_scope(None):
                for kind in summaries:
                    if kind:
                        _SUMMARIES[kind](model)
            loss = GANLoss(
                generator_loss_fn(model, add_summaries=use_loss_summaries),
                discriminator_loss_fn(model, add_summaries=use_loss_summaries),
            )
            total = loss.generator_loss + loss.discriminator_loss
            if mode == ModeKeys.EVAL:
                found = _evaluation(model, loss, get_eval_metric_ops_fn)
                return EstimatorSpec(mode, model.generated_data, total, eval_metric_ops=found)
            optimizers = (
                given() if callable(given) else given
                for given in (generator_optimizer, discriminator_optimizer)
            )
            operations = gan_train_ops(model, loss, *optimizers, is_chief=is_chief)
            hooks = (get_hooks_fn or get_sequential_train_hooks())(operations)
            return EstimatorSpec(
                mode, loss=total, train_op=operations.global_step_inc_op, training_hooks=hooks
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)
