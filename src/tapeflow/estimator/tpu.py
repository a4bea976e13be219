"""`tf.compat.v1.estimator.tpu`: the estimator of programs written for TPUs."""

from __future__ import annotations

import collections
import inspect
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.public import boundaries, public_methods
from tapeflow.core.structures import nest
from tapeflow.distribute.values import PerReplica
from tapeflow.estimator.estimator import Estimator
from tapeflow.estimator.run_config import RunConfig as _RunConfig
from tapeflow.estimator.spec import EstimatorSpec, ModeKeys
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.tpu import replication

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec"]

_logger = logging.getLogger("tensorflow")
_RESERVED = ("batch_size", "context")


class InputPipelineConfig:
    """How input functions are called on many hosts; on one there is one call."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class TPUConfig(
    collections.namedtuple(
        "TPUConfig",
        "iterations_per_loop num_shards num_cores_per_replica per_host_input_for_training tpu_job_name "
        "initial_infeed_sleep_secs input_partition_dims eval_training_input_configuration "
        "experimental_host_call_every_n_steps experimental_allow_per_host_v2_parallel_get_next experimental_feed_hook",
        defaults=(2, None, None, True, None, None, None, InputPipelineConfig.PER_HOST_V1, 1, False, None),
    )
):
    """Settings of TPUs, which only they use.

    Raises ValueError for an `iterations_per_loop` or `num_shards` that is not positive.
    """

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls, *args, **kwargs)
        for name in ("iterations_per_loop", "num_shards"):
            value = getattr(made, name)
            if value is not None and value <= 0:
                raise ValueError(f"TPUConfig {name} should be positive, given: {value}")
        return made


class RunConfig(_RunConfig):
    """Settings of a `TPUEstimator`.

    Args:
      tpu_config: a `TPUConfig`.
      evaluation_master: not used.
      master: not used.
      cluster: not used.
      **kwargs: the settings of `tf.estimator.RunConfig`.
    """

    def __init__(
        self, tpu_config: TPUConfig | None = None, evaluation_master=None, master: str | None = None, cluster=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.tpu_config = tpu_config or TPUConfig()
        self.cluster = cluster


class TPUEstimatorSpec(
    collections.namedtuple(
        "TPUEstimatorSpec",
        "mode predictions loss train_op eval_metrics export_outputs scaffold_fn host_call training_hooks "
        "evaluation_hooks prediction_hooks",
        defaults=(None, None, None, None, None, None, None, None, None, None),
    )
):
    """Operations and objects of a model, some of them to be made by functions.

    Args:
      eval_metrics: (function, tensors): the function makes a dict of metrics of the tensors, a list or dict.
      scaffold_fn: makes the Scaffold.
      host_call: (function, tensors): the function makes operations that run with each training step.

    The others are those of `tf.estimator.EstimatorSpec`.

    Raises:
      ValueError: `eval_metrics` or `host_call` are no pairs of a function and a list or dict of tensors.
    """

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls, *args, **kwargs)
        for name in ("eval_metrics", "host_call"):
            _check_call(name, getattr(made, name))
        return made

    def as_estimator_spec(self):
        """Return the `EstimatorSpec`, with what the functions make."""
        metrics, train_op = None, self.train_op
        if self.mode == ModeKeys.EVAL and self.eval_metrics is not None:
            metrics = _called(self.eval_metrics)
        if self.mode == ModeKeys.TRAIN and self.host_call is not None:
            train_op = group(train_op, _called(self.host_call))
        return EstimatorSpec(
            self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks,
            evaluation_hooks=self.evaluation_hooks,
            prediction_hooks=self.prediction_hooks,
        )


def _check_call(name: str, given: Sequence[Any] | None):
    if given is None:
        return
    if not isinstance(given, (list, tuple)) or len(given) != 2 or not callable(given[0]):
        raise ValueError(f"{name} should be a pair of a function and its tensors, given: {given}")
    if not isinstance(given[1], (list, tuple, dict)):
        raise ValueError(f"The tensors of {name} should be a list or dict, given: {given[1]}")


def _called(given: Sequence[Any]):
    function, tensors = given
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


@public_methods
class TPUEstimator(Estimator):
    """An estimator whose functions receive the size of batches, as `params["batch_size"]`.

    It trains on the cores of a TPU, or on GPUs: a step is one program, each core takes its part of the batch, and the
    loss is the mean of theirs. Where there are fewer cores than the config asks for, it trains on one device, and says
    so; there it evaluates and predicts, too.

    Args:
      model_fn: takes `features`, and as it wishes `labels`, `mode`, `params` and `config`; returns a
        `TPUEstimatorSpec` or an `EstimatorSpec`.
      model_dir: the folder; by default the config's, else a new temporary one.
      config: a `RunConfig` of this module.
      params: a dict for `model_fn` and input functions.
      use_tpu: whether a TPU is asked for.
      train_batch_size: the size of batches in training.
      eval_batch_size: the size of batches in evaluations.
      predict_batch_size: the size of batches in predictions.
      batch_axis: not used.
      eval_on_tpu: not used.
      export_to_tpu: not used.
      export_to_cpu: not used.
      warm_start_from: a checkpoint, or WarmStartSettings.
      embedding_config_spec: not supported.
      export_saved_model_api_version: not used.

    Raises:
      ValueError: a config of another kind, or `params` with "batch_size" or "context".
      NotImplementedError: an `embedding_config_spec`.
    """

    def __init__(
        self, model_fn=None, model_dir: str | None = None, config: RunConfig | RunConfig | None = None,
        params: dict[str, Any] | None = None, use_tpu: bool = True, train_batch_size: int | None = None,
        eval_batch_size: int | None = None, predict_batch_size: int | None = None, batch_axis=None,
        eval_on_tpu: bool = True, export_to_tpu: bool = True, export_to_cpu: bool = True,
        warm_start_from=None, embedding_config_spec=None, export_saved_model_api_version: int = 1,
    ):  # fmt: skip
        config = RunConfig() if config is None else config
        if not isinstance(config, RunConfig):
            raise ValueError(f"`config` must be `tpu.RunConfig`, given: {config}")
        for name in _RESERVED:
            if params is not None and name in params:
                raise ValueError(f"{name} is a reserved key of params: it is set by TPUEstimator.")
        if embedding_config_spec is not None:
            raise NotImplementedError("TPUEstimator has no embeddings of TPUs here: use tf.nn.embedding_lookup")
        self._cores = self._found_cores(config.tpu_config.num_shards) if use_tpu else None
        if use_tpu and self._cores is None:
            _logger.warning("TPUEstimator: there is no TPU; the model runs on the default device.")
        if self._cores is not None and (train_batch_size or 0) % self._cores.num_replicas_in_sync:
            raise ValueError(
                f"train batch size {train_batch_size} must be divisible by number of shards "
                f"{self._cores.num_replicas_in_sync}"
            )
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size, ModeKeys.PREDICT: predict_batch_size,
        }  # fmt: skip
        takes_params = model_fn is not None and "params" in inspect.signature(model_fn).parameters
        super().__init__(model_fn, model_dir, config, params if takes_params else None, warm_start_from)
        self._params = dict(params or {})

    @staticmethod
    def _found_cores(count: int | None):
        """The strategy of as many cores as a config asks for; None where there is one core or too few."""
        cores = replication.Cores(count)
        return cores if cores.num_replicas_in_sync > 1 and cores.on_accelerators else None

    def _params_for(self, mode: str, shards: int = 1):
        size = self._batch_sizes[mode]
        return self.params if size is None else {**self.params, "batch_size": size // shards}

    def _spec(self, features: dict[str, Any], labels: Tensor | None, mode: str):
        if mode != ModeKeys.TRAIN or self._cores is None:
            return super()._spec(features, labels, mode)
        return self._sharded_spec(features, labels)

    def _sharded_spec(self, features, labels):
        """The training of a model on the cores, each of which has a part of the batch; the loss is the mean."""
        count, made = self._cores.num_replicas_in_sync, []

        def step(features: Tensor | Mapping[str, Tensor], labels: Tensor):
            spec = self._called(features, labels, ModeKeys.TRAIN, self._params_for(ModeKeys.TRAIN, count))
            made.append(spec)
            with control_dependencies([spec.train_op]):
                loss = identity(spec.loss)
            call = getattr(spec, "host_call", None)
            return loss, call[1] if call else ()

        summaries = get_default_graph().get_collection_ref("summaries")
        before = list(summaries)
        losses, tensors = replication.together(self._cores, step, self._split((features, labels), count))
        summaries[:] = before  # those of a core are not seen outside
        spec = made[-1]
        loss = self._cores.reduce("MEAN", losses, axis=None)
        train_op = losses.values[0].op
        if getattr(spec, "host_call", None):
            joined = nest.map_structure(lambda x: concat(list(self._cores.experimental_local_results(x)), 0), tensors)
            train_op = group(train_op, _called((spec.host_call[0], joined)))
        makes_scaffold = getattr(spec, "scaffold_fn", None)
        return EstimatorSpec(
            ModeKeys.TRAIN, loss=loss, train_op=train_op, scaffold=makes_scaffold() if makes_scaffold else None,
            training_hooks=spec.training_hooks,
        )  # fmt: skip

    def _split(self, structure, count: int):
        """Tensors of a batch as those of the shards."""
        size = self._batch_sizes[ModeKeys.TRAIN]

        def parts(x: Tensor):
            if x is None:
                return None
            x.set_shape([size, *x.shape.as_list()[1:]])
            return PerReplica(split(x, count))

        return nest.map_structure(parts, structure)

    def _spec_of(self, returned):
        if isinstance(returned, TPUEstimatorSpec):
            returned = returned.as_estimator_spec()
        return super()._spec_of(returned)


boundaries(globals())
