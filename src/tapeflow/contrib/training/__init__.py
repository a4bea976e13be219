"""`tf.contrib.training`: hyperparameters, training and evaluation."""

from __future__ import annotations

from tapeflow import protos
from tapeflow.contrib.training.bucketing import bucket, bucket_by_sequence_length
from tapeflow.contrib.training.hparams import HParams, parse_values
from tapeflow.contrib.training.placing import (
    GreedyLoadBalancingStrategy,
    RandomStrategy,
    byte_size_load_fn,
)
from tapeflow.contrib.training.resampling import resample_at_rate, weighted_resample
from tapeflow.contrib.training.sampling import rejection_sample, stratified_sample
from tapeflow.contrib.training.training import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
from tapeflow.v1.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    checkpoints_iterator,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
    wait_for_new_checkpoint,
)


def __getattr__(name: str):
    if name == "HParamDef":
        return protos.HParamDef
    raise AttributeError(f"module 'tapeflow.contrib.training' has no attribute {name!r}")
