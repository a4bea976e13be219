"""`tfe.Evaluator`: metrics of a model over a dataset."""

from __future__ import annotations

import weakref

from tapeflow.contrib.eager import metrics as eager_metrics
from tapeflow.contrib.summary import always_record_summaries, create_file_writer, scalar
from tapeflow.train.global_step import get_or_create_global_step


class Evaluator:
    """Holds metrics, and feeds them with what `model.eval_data(*args)` gives for every batch.

    Subclasses track metrics in their constructor and define `call(eval_data)`, which updates them.
    """

    def __init__(self, model):
        self._model = model
        self._metrics = {}
        self._evaluators = {}

    @property
    def model(self):
        """The model."""
        return self._model

    def init_variables(self):
        """Lets all metrics begin anew."""
        for metric in self._metrics.values():
            metric.init_variables()
        for evaluator in self._evaluators.values():
            evaluator.init_variables()

    def all_metric_results(self, summary_logdir=None):
        """The results of all metrics, by name; with a folder, also written there as summaries."""
        if summary_logdir is None:
            return self._results()
        step = get_or_create_global_step()
        with create_file_writer(summary_logdir).as_default(), always_record_summaries():
            results = self._results()
            for name, value in results.items():
                scalar(name, value, step=step)
        return results

    def _results(self):
        results = {name: metric.result() for name, metric in self._metrics.items()}
        for prefix, evaluator in self._evaluators.items():
            for name, value in evaluator._results().items():
                results[f"{prefix}/{name}"] = value
        return results

    def evaluate_on_dataset(self, dataset, *args, **kwargs):
        """Calls the evaluator for every batch; returns the results. `summary_logdir`: see all_metric_results."""
        summary_logdir = kwargs.pop("summary_logdir", None)
        for example in dataset:
            self(example, *args, **kwargs)
        return self.all_metric_results(summary_logdir)

    def __call__(self, *args, **kwargs):
        return self.call(self._model.eval_data(*args, **kwargs))

    def call(self, eval_data):
        """Updates the metrics."""
        raise NotImplementedError("Evaluators must define a call member function.")

    def track_metric(self, metric):
        """Adds a metric, and returns it. Raises ValueError for two of one name."""
        owner = metric.__dict__.get("_evaluator")
        if owner is not None and owner() is not None:
            raise ValueError(f"Metric {metric.name} is already added to an Evaluator")
        known = self._metrics.get(metric.name)
        if known is not None and known is not metric:
            raise ValueError(
                f"Attempt to add two Metrics with the name '{metric.name}' to the same Evaluator "
                f"'{type(self).__name__}'"
            )
        self._metrics[metric.name] = metric
        metric.__dict__["_evaluator"] = weakref.ref(self)
        return metric

    def track_evaluator(self, prefix, evaluator):
        """Adds an evaluator, whose results go by `prefix/name`. Raises ValueError for two of one prefix."""
        known = self._evaluators.get(prefix)
        if known is not None and known is not evaluator:
            raise ValueError(
                f"Attempt to add two Evaluators with the same prefix '{prefix}' to the same Evaluator"
            )
        self._evaluators[prefix] = evaluator
        return evaluator

    @property
    def metric_variables(self):
        """The variables of all metrics."""
        return [variable for _, metric in self._pairs() for variable in metric.variables]

    def _pairs(self, prefix=""):
        found = [(prefix, metric) for metric in self._metrics.values()]
        for inner, evaluator in self._evaluators.items():
            found += evaluator._pairs(f"{prefix}{inner}/")
        return found

    @property
    def metrics(self):
        """(prefix, metric) of all metrics, of this evaluator and those in it."""
        return set(self._pairs())


class SparseSoftmaxEvaluator(Evaluator):
    """The loss and the accuracy of a classifier with integer labels."""

    def __init__(
        self,
        model,
        loss_key="loss",
        label_key="label",
        predicted_class_key="predicted_class",
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
