"""`tfe.Evaluator`: metrics of a model over a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.compat.v1.data import make_one_shot_iterator
from tapeflow.contrib.eager import metrics as eager_metrics
from tapeflow.contrib.summary import (
    always_record_summaries,
    create_file_writer,
    never_record_summaries,
)
from tapeflow.core import context
from tapeflow.core.errors import OutOfRangeError
from tapeflow.function.defun import defun
from tapeflow.graph.run.session import get_default_session
from tapeflow.ops.control.grouping import group

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset
    from tapeflow.graph.operation import Operation
    from tapeflow.graph.run.session import BaseSession


class Evaluator:
    """Holds metrics, and feeds them with what `model.eval_data(*args)` gives for every batch.

    Subclasses track metrics in their constructor and define `call(eval_data)`, which updates them. In a graph
    calling an evaluator gives one operation, which makes all the updates.
    """

    def __init__(self, model):
        self._model = model
        self._metrics = {}
        self._evaluators = {}
        if not context.executing_eagerly():
            self.call = defun(self.call)

    @property
    def model(self):
        """The model."""
        return self._model

    def init_variables(self):
        """The operation of a graph that lets all metrics begin anew. Raises RuntimeError eagerly."""
        if context.executing_eagerly():
            raise RuntimeError(
                "Evaluator.init_variables() not needed when eager execution is enabled."
            )
        return group(*[metric.init_variables() for _, metric in self.metrics])

    def all_metric_results(self, summary_logdir: str | None = None):
        """The results of all metrics, by name; with a folder, also written there as summaries."""
        if summary_logdir is None:
            with never_record_summaries():
                return self.results()

        def recorded():
            with create_file_writer(summary_logdir).as_default(), always_record_summaries():
                return self.results()

        return recorded() if context.executing_eagerly() else defun(recorded)()

    def results(self):
        results = {name: metric.result() for name, metric in self._metrics.items()}
        for prefix, evaluator in self._evaluators.items():
            for name, value in evaluator.results().items():
                results[f"{prefix}/{name}"] = value
        return results

    def evaluate_on_dataset(self, dataset: Dataset, *args, **kwargs):
        """Calls the evaluator for every batch; returns the results. `summary_logdir`: see all_metric_results.

        In a graph, returns what `run_evaluation` runs: the operation that begins anew, that of a batch, the results.
        """
        summary_logdir = kwargs.pop("summary_logdir", None)
        if context.executing_eagerly():
            for example in dataset:
                self(example, *args, **kwargs)
            return self.all_metric_results(summary_logdir)
        call = self(make_one_shot_iterator(dataset).get_next(), *args, **kwargs)
        return self.init_variables(), call, self.all_metric_results(summary_logdir)

    @staticmethod
    def run_evaluation(init_op: Operation, call_op: Operation, results_op, sess: BaseSession | None = None):
        """Runs what `evaluate_on_dataset` gave, in a session or the default one; returns the results.

        Raises RuntimeError eagerly.
        """
        if context.executing_eagerly():
            raise RuntimeError(
                "Evaluator.run_evaluation() not supported when eager execution is enabled."
            )
        session = sess or get_default_session()
        session.run(init_op)
        try:
            while True:
                session.run(call_op)
        except OutOfRangeError:
            return session.run(results_op)

    def __call__(self, *args, **kwargs):
        return self.call(self._model.eval_data(*args, **kwargs))

    def call(self, eval_data):
        """Updates the metrics."""
        raise NotImplementedError("Evaluators must define a call member function.")

    def track_metric(self, metric):
        """Adds a metric, and returns it.

        Raises TypeError for what is none, ValueError for two of one name or one that another evaluator has.
        """
        if not isinstance(metric, eager_metrics.Metric):
            raise TypeError(
                f"Evaluator.track_metric() passed type {type(metric)}, not a tfe.metrics.Metric"
            )
        known = self._metrics.get(metric.name)
        if known is metric:
            return metric
        owner = type(self).__name__
        if known is not None:
            raise ValueError(
                f"Attempt to add two Metrics with the name '{metric.name}' to the same Evaluator '{owner}'"
            )
        if (earlier := getattr(metric, "_evaluator", None)) is not None:
            raise ValueError(f"Metric {metric.name} already added to Evaluator {earlier}")
        metric._evaluator = owner
        self._metrics[metric.name] = metric
        return metric

    def track_evaluator(self, prefix: str, evaluator):
        """Adds an evaluator, whose results go by `prefix/name`, and returns it.

        Raises TypeError for what is none, RuntimeError for two of one prefix.
        """
        if not isinstance(evaluator, Evaluator):
            raise TypeError(
                f"Evaluator.track_evaluator() passed type {type(evaluator)}, not a tfe.Evaluator."
            )
        if self._evaluators.setdefault(prefix, evaluator) is not evaluator:
            raise RuntimeError(f"Attempt to add two Evaluators with the same prefix '{prefix}'.")
        return evaluator

    @property
    def metric_variables(self):
        """The variables of all metrics."""
        return [variable for _, metric in self.pairs() for variable in metric.variables]

    def pairs(self, prefix: str = ""):
        found = [(prefix, metric) for metric in self._metrics.values()]
        for inner, evaluator in self._evaluators.items():
            found += evaluator.pairs(f"{prefix}{inner}/")
        return found

    @property
    def metrics(self):
        """(prefix, metric) of all metrics, of this evaluator and those in it."""
        return set(self.pairs())


class SparseSoftmaxEvaluator(Evaluator):
    """The loss and the accuracy of a classifier with integer labels."""

    def __init__(
        self, model, loss_key: str = "loss", label_key: str = "label",
        predicted_class_key: str = "predicted_class",
    ):
        super().__init__(model)
        self.avg_loss = self.track_metric(eager_metrics.Mean("Avg Loss"))
        self.accuracy = self.track_metric(eager_metrics.Accuracy("Accuracy"))
        self.loss_key, self.label_key = loss_key, label_key
        self.predicted_class_key = predicted_class_key

    def call(self, eval_data):
        """Updates the metrics from a dict of loss, labels and predicted classes."""
        self.avg_loss(eval_data[self.loss_key])
        self.accuracy(eval_data[self.label_key], eval_data[self.predicted_class_key])
