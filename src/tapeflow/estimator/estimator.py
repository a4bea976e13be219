"""`Estimator`: a model function with its folder, trained, evaluated and asked in graphs and sessions of their own."""

from __future__ import annotations

import collections
import inspect
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import protos
from tapeflow.checkpoint.warm_starting import warm_start
from tapeflow.core.annotations import Tensor
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import public_methods
from tapeflow.data import Dataset
from tapeflow.estimator.export import DEFAULT, PredictOutput, signatures
from tapeflow.estimator.run_config import RunConfig
from tapeflow.estimator.spec import EstimatorSpec, ModeKeys
from tapeflow.graph.graph import Graph
from tapeflow.graph.run.session import Session
from tapeflow.ops.control.grouping import group
from tapeflow.ops.random.seed import set_seed as set_random_seed
from tapeflow.saved_model.builder import SavedModelBuilder
from tapeflow.train import Saver, create_global_step, latest_checkpoint, load_checkpoint
from tapeflow.train.hooks import LoggingTensorHook, NanTensorHook, StopAtStepHook
from tapeflow.train.monitored_session import MonitoredSession, MonitoredTrainingSession
from tapeflow.train.saving_hooks import CheckpointSaverHook
from tapeflow.train.scaffold import Scaffold
from tapeflow.train.session_run_hook import SessionRunHook
from tapeflow.train.sessions.creators import ChiefSessionCreator
from tapeflow.v1.evaluation import StopAfterNEvalsHook, evaluate_once
from tapeflow.v1.metrics import mean as mean_metric
from tapeflow.v1.summary import FileWriterCache, scalar

if TYPE_CHECKING:
    from tapeflow.graph.operation import Operation
    from tapeflow.train.coordinator import Coordinator

_logger = logging.getLogger("tensorflow")
_MODEL_ARGUMENTS = {"features", "labels", "mode", "params", "config"}


class WarmStartSettings(
    collections.namedtuple(
        "WarmStartSettings",
        "ckpt_to_initialize_from vars_to_warm_start var_name_to_vocab_info var_name_to_prev_var_name",
        defaults=(".*", None, None),
    )
):
    """What a model begins with: a checkpoint and the variables that are meant; see `tf.train.warm_start`."""


@public_methods
class Estimator:
    """A model function, and the folder where what it has learned is kept.

    Args:
      model_fn: takes `features`, and as it wishes `labels`, `mode`, `params` and `config`; returns an EstimatorSpec.
      model_dir: the folder; by default the config's, else a new temporary one.
      params: a dict for `model_fn`.
      warm_start_from: a checkpoint, or WarmStartSettings.

    Raises ValueError for a `model_fn` with other arguments, and for two different folders.
    """

    def __init__(
        self, model_fn: Callable[..., Any], model_dir: str | None = None, config=None, params=None,
        warm_start_from=None,
    ):
        config = RunConfig() if config is None else config
        if not isinstance(config, RunConfig):
            raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
        if model_dir and config.model_dir and model_dir != config.model_dir:
            raise ValueError(
                "`model_dir` are set both in constructor and `RunConfig`, but with different values. In "
                f"constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' "
            )
        folder = model_dir or config.model_dir
        if folder is None:
            folder = tempfile.mkdtemp()
            _logger.warning("Using temporary folder as model directory: %s", folder)
        self._model_dir = local_path(folder)
        self._config = config.replace(model_dir=self._model_dir)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        _check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = dict(params or {})
        if isinstance(warm_start_from, (str, os.PathLike)):
            warm_start_from = WarmStartSettings(os.fspath(warm_start_from))
        self._warm_start = warm_start_from

    @property
    def model_dir(self):
        """The folder."""
        return self._model_dir

    @property
    def config(self):
        """The RunConfig."""
        return self._config

    @property
    def params(self):
        """A copy of what `model_fn` is given as `params`."""
        return dict(self._params)

    @property
    def model_fn(self):
        """The model function, of features, labels, mode and config."""

        def call(features: dict[str, Any], labels: Tensor | None, mode: str, config: RunConfig):
            return self._spec(features, labels, mode)

        return call

    def latest_checkpoint(self):
        """The path of the last checkpoint, or None."""
        return latest_checkpoint(self._model_dir)

    def get_variable_names(self):
        """The names of the variables in the last checkpoint. Raises ValueError if there is none."""
        return list(self._reader().get_variable_to_shape_map())

    def get_variable_value(self, name: str):
        """The value of a variable in the last checkpoint. Raises ValueError if there is none."""
        return self._reader().get_tensor(name)

    def _reader(self):
        path = self.latest_checkpoint()
        if not path:
            raise ValueError("Estimator has not been trained yet.")
        return load_checkpoint(path)

    def eval_dir(self, name: str | None = None):
        """The folder of the summaries of an evaluation."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    # Building.

    def _begin(self, graph: Graph):
        """The seed and the global step of a graph."""
        set_random_seed(self._config.tf_random_seed)
        return create_global_step(graph)

    def _inputs(self, input_fn: Callable[..., Any], mode: str):
        """(features, labels, hooks) of an input function, called with what it asks for."""
        offered = {"mode": mode, "params": self._params_for(mode), "config": self._config}
        wanted = _arguments(input_fn)
        result = input_fn(**{name: value for name, value in offered.items() if name in wanted})
        hooks = []
        if isinstance(result, Dataset):
            iterator = result.make_initializable_iterator()
            hooks.append(_RunsAtStart(iterator.initializer))
            result = iterator.get_next()
        if isinstance(result, (list, tuple)) and not hasattr(result, "_fields"):
            if len(result) != 2:
                raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
            return (*result, hooks)
        return result, None, hooks

    def _spec(self, features: Any, labels: Tensor | None, mode: str):
        return self._spec_of(self._called(features, labels, mode, self._params_for(mode)))

    def _called(self, features: Any, labels: Tensor | None, mode: str, params: dict[str, Any]):
        """What the model function returns."""
        offered = {"labels": labels, "mode": mode, "params": params, "config": self._config}
        wanted = _arguments(self._model_fn)
        if "labels" not in wanted and labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        return self._model_fn(
            features=features, **{name: offered[name] for name in offered if name in wanted}
        )

    def _params_for(self, mode: str):
        """What functions are given as `params`."""
        return self.params

    def _spec_of(self, returned: EstimatorSpec):
        """What the model function returned, as an EstimatorSpec. Raises ValueError for another object."""
        if not isinstance(returned, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return returned

    # Training.

    def train(
        self, input_fn: Callable[..., Any], hooks: Sequence[Any] | None = None, steps: int | None = None,
        max_steps: int | None = None, saving_listeners: Sequence[Any] | None = None,
    ):
        """Trains from the last checkpoint on, until the data ends or for `steps` more, or up to `max_steps`.

        Returns the estimator. Raises ValueError for both, or for numbers that are not positive.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, number in (("steps", steps), ("max_steps", max_steps)):
            if number is not None and number <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {number}")
        hooks = list(hooks or ())
        if max_steps is not None:
            if self._last_step() >= max_steps:
                _logger.info("Skipping training since max_steps has already saved.")
                return self
            hooks.append(StopAtStepHook(last_step=max_steps))
        elif steps is not None:
            hooks.append(StopAtStepHook(num_steps=steps))
        loss = self._train(input_fn, hooks, list(saving_listeners or ()))
        _logger.info("Loss for final step: %s.", loss)
        return self

    def _last_step(self):
        path = self.latest_checkpoint()
        return int(load_checkpoint(path).get_tensor("global_step")) if path else 0

    def _train(self, input_fn: Callable[..., Any], hooks: Sequence[Any], listeners: Sequence[Any]):
        config = self._config
        with Graph().as_default() as graph:
            step = self._begin(graph)
            features, labels, more = self._inputs(input_fn, ModeKeys.TRAIN)
            spec = self._spec(features, labels, ModeKeys.TRAIN)
            if self._warm_start:
                warm_start(*self._warm_start)
            if not any(x.op.name == "loss" for x in graph.get_collection("summaries")):
                scalar("loss", spec.loss)
            if spec.scaffold.saver is None and not graph.get_collection("savers"):
                graph.add_to_collection("savers", self._saver())
            hooks = [*hooks, *more, NanTensorHook(spec.loss)]
            if config.log_step_count_steps is not None:
                shown = {"loss": spec.loss, "step": step}
                hooks.append(LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
            hooks += spec.training_hooks
            chief_hooks = [*spec.training_chief_hooks, *self._saving(spec, hooks, listeners)]
            with MonitoredTrainingSession(
                checkpoint_dir=self._model_dir, scaffold=spec.scaffold, hooks=hooks,
                chief_only_hooks=chief_hooks, save_checkpoint_secs=None, save_checkpoint_steps=None,
                save_summaries_steps=config.save_summary_steps or None, config=config.session_config,
                log_step_count_steps=config.log_step_count_steps,
            ) as session:  # fmt: skip
                loss = None
                while not session.should_stop():
                    _, loss = session.run([spec.train_op, spec.loss])
        if loss is None:
            _logger.warning(
                "Training with estimator made no steps. Perhaps input is empty or misspecified."
            )
        return loss

    def _saver(self):
        return Saver(
            max_to_keep=self._config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=self._config.keep_checkpoint_every_n_hours,
            defer_build=True, save_relative_paths=True,
        )  # fmt: skip

    def _saving(self, spec: EstimatorSpec, hooks: Sequence[Any], listeners: Sequence[Any]):
        """The hook that writes checkpoints, unless a given one does; it gets the listeners."""
        config = self._config
        given = [
            hook
            for hook in (*hooks, *spec.training_chief_hooks)
            if isinstance(hook, CheckpointSaverHook)
        ]
        if given:
            given[0]._listeners.extend(listeners)
            return []
        if not (config.save_checkpoints_secs or config.save_checkpoints_steps):
            if listeners:
                raise ValueError(
                    "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                    "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
                )
            return []
        return [
            CheckpointSaverHook(
                self._model_dir, config.save_checkpoints_secs, config.save_checkpoints_steps,
                scaffold=spec.scaffold, listeners=listeners, save_graph_def=config.checkpoint_save_graph_def,
            )
        ]  # fmt: skip

    # Evaluating and predicting.

    def evaluate(
        self, input_fn: Callable[..., Any], steps: int | None = None, hooks=None, checkpoint_path=None,
        name: str | None = None,
    ):
        """The metrics of the model over the data, or over `steps` batches: a dict with `loss` and `global_step`.

        Without a checkpoint, of the model as it is initialised. They are also written as summaries, to `eval_dir`.
        """
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            _logger.info(
                "Could not find trained model in model_dir: %s, running initialization to evaluate.",
                self._model_dir,
            )
        with Graph().as_default() as graph:
            step = self._begin(graph)
            features, labels, more = self._inputs(input_fn, ModeKeys.EVAL)
            spec = self._spec(features, labels, ModeKeys.EVAL)
            values, updates = _metrics(spec)
            values["global_step"] = step.read_value()
            stop = StopAfterNEvalsHook(steps) if steps else None
            results = evaluate_once(
                path, scaffold=spec.scaffold, eval_ops=group(*updates), final_ops=values,
                hooks=[*(hooks or ()), *more, *spec.evaluation_hooks, *([stop] if stop else [])],
                config=self._config.session_config,
            )  # fmt: skip
        self._write(self.eval_dir(name), results)
        return results

    def _write(self, folder: str, results: dict[str, Any]):
        summary = protos.Summary()
        for name, value in sorted(results.items()):
            if (
                name != "global_step"
                and np.ndim(value) == 0
                and np.asarray(value).dtype.kind in "fiu"
            ):
                summary.value.add(tag=name, simple_value=float(value))
        writer = FileWriterCache.get(folder)
        writer.add_summary(summary, int(results["global_step"]))
        writer.flush()
        shown = ", ".join(f"{name} = {value}" for name, value in sorted(results.items()))
        _logger.info("Saving dict for global step %d: %s", results["global_step"], shown)

    def predict(
        self, input_fn: Callable[..., Any], predict_keys=None, hooks=None, checkpoint_path=None,
        yield_single_examples: bool = True,
    ):
        """Yields the predictions for each example, or for each batch: dicts of arrays, or arrays.

        Raises ValueError for unknown keys, and where parts of a batch are of different lengths.
        """
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            _logger.info(
                "Could not find trained model in model_dir: %s, running initialization to predict.",
                self._model_dir,
            )
        with Graph().as_default() as graph:
            self._begin(graph)
            features, _, more = self._inputs(input_fn, ModeKeys.PREDICT)
            spec = self._spec(features, None, ModeKeys.PREDICT)
            predictions = _chosen(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                spec.scaffold,
                config=self._config.session_config,
                checkpoint_filename_with_path=path,
            )
            all_hooks = [*(hooks or ()), *more, *spec.prediction_hooks]
            session = MonitoredSession(session_creator=creator, hooks=all_hooks)
        # The graph is nobody's default while the caller has the word.
        with session:
            while not session.should_stop():
                batch = session.run(predictions)
                yield from _examples(batch) if yield_single_examples else [batch]

    # Exporting.

    def export_saved_model(
        self, export_dir_base: Any, serving_input_receiver_fn: Callable[..., Any],
        assets_extra: dict[str, Any] | None = None, as_text: bool = False, checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ):  # fmt: skip
        """Writes the model for predictions to a new folder in `export_dir_base`; returns its path, as bytes.

        `assets_extra` is a dict of files to add, by their names there. Raises ValueError without a checkpoint.
        """
        if experimental_mode != ModeKeys.PREDICT:
            raise ValueError(
                f"Models are exported for predictions; got experimental_mode={experimental_mode!r}."
            )
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        folder = _new_folder(local_path(export_dir_base))
        temporary = os.path.join(os.path.dirname(folder), f"temp-{os.path.basename(folder)}")
        with Graph().as_default() as graph:
            self._begin(graph)
            receiver = serving_input_receiver_fn()
            spec = self._spec(receiver.features, None, ModeKeys.PREDICT)
            outputs = spec.export_outputs or {DEFAULT: PredictOutput(spec.predictions)}
            with Session(config=self._config.session_config) as session:
                saver = spec.scaffold.saver or Saver()
                saver.restore(session, path)
                builder = SavedModelBuilder(temporary)
                builder.add_meta_graph_and_variables(
                    session, ["serve"], signatures(outputs, receiver),
                    assets_collection=graph.get_collection("asset_filepaths"),
                    main_op=spec.scaffold.local_init_op or Scaffold.default_local_init_op(), saver=saver,
                )  # fmt: skip
                builder.save(as_text)
        for name, source in (assets_extra or {}).items():
            target = os.path.join(temporary, "assets.extra", name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
        os.rename(temporary, folder)
        return os.fsencode(folder)

    def export_savedmodel(
        self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text: bool = False,
        checkpoint_path=None, strip_default_attrs: bool = False,
    ):  # fmt: skip
        """The old name of `export_saved_model`."""
        return self.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )


class _RunsAtStart(SessionRunHook):
    def __init__(self, operation: Operation):
        self._operation = operation

    def after_create_session(self, session: Session, coord: Coordinator):
        session.run(self._operation)


def _arguments(function: Callable[..., Any]):
    """The names of the arguments of a function, or of an object that is called."""
    return set(inspect.signature(function).parameters)


def _check_model_fn(model_fn: Callable[..., Any], params):
    arguments = _arguments(model_fn)
    if "features" not in arguments:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in arguments:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to "
            "Estimator."
        )
    kinds = inspect.signature(model_fn).parameters.values()
    free = any(p.kind is p.VAR_KEYWORD for p in kinds)
    others = [] if free else sorted(arguments - _MODEL_ARGUMENTS - {"self"})
    if others:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {others}")


def _metrics(spec: EstimatorSpec):
    """(values by name, update operations) of a model's metrics, and of its loss."""
    pairs = {}
    for name, metric in spec.eval_metric_ops.items():
        if name in spec.reserved_metrics:
            raise ValueError(
                f'Metric with name "{name}" is not allowed, because Estimator already defines a default metric '
                "with the same name."
            )
        if hasattr(metric, "update_state"):
            metric = (metric.result(), group(*metric.updates))
        pairs[name] = metric
    if "loss" not in pairs:
        pairs["loss"] = mean_metric(spec.loss)
    return {name: pair[0] for name, pair in pairs.items()}, [pair[1] for pair in pairs.values()]


def _chosen(predictions: dict[str, Any], keys: Sequence[str] | None):
    if keys is None:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    found = {name: value for name, value in predictions.items() if name in keys}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {list(predictions)}, provided {keys}."
        )
    return found


def _examples(batch: dict[str, Any]):
    """The examples of a batch, one by one."""
    if not isinstance(batch, dict):
        yield from batch
        return
    lengths = {name: len(value) for name, value in batch.items()}
    for name, length in lengths.items():
        if length != next(iter(lengths.values())):
            raise ValueError(
                f"Batch length of predictions should be same. {name} has different batch length than others."
            )
    for i in range(next(iter(lengths.values()))):
        yield {name: value[i] for name, value in batch.items()}


def _new_folder(base: str):
    """A folder named after the time, which is not there yet."""
    os.makedirs(base, exist_ok=True)
    stamp = int(time.time())
    while os.path.exists(os.path.join(base, str(stamp))):
        stamp += 1
    return os.path.join(base, str(stamp))
