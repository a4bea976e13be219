"""What `compile` was given, per output of a model: losses and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tapeflow.core import replicas
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import inside_graph
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.keras import losses
from tapeflow.keras import metrics as metrics_of_keras
from tapeflow.keras.engine import masking
from tapeflow.keras.engine.fitting.nested_losses import (
    Entry,
    absent,
    at,
    entries_of,
    is_nested,
    like_outputs,
)
from tapeflow.keras.metrics.base import rename
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.math.accumulate import add_n


def per_output(value, names: Sequence[str], what: str, several: bool = False):
    """`value` as a list with one entry per output; a dict goes by names.

    With `several`, an entry may itself be a list, and one list serves all outputs unless it holds lists.
    Raises ValueError for names and numbers that do not fit.
    """
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown and not keras_2():
            raise ValueError(
                f"Expected keys {list(names)} in loss dict, but found loss.keys()={list(value)}"
                if what == "loss" else
                f"Invalid `{what}`. `{what}` should contain metrics objects and either be a dict or a list matching "
                f"the output names of the functional model {list(names)} or match the output structure of the model.\n"
                f"Received: {what}={value}"
            )  # fmt: skip
        if unknown:
            raise ValueError(
                f"Found unexpected keys that do not correspond to any Model output: {unknown}. "
                f"Expected: {list(names)}"
            )
        return [value.get(name) for name in names]
    if isinstance(value, (list, tuple)):
        if several and (len(names) == 1 or not any(isinstance(v, (list, tuple)) for v in value)):
            if len(names) == len(value) and len(names) > 1:
                return list(value)
            return [value] * len(names)
        if len(value) != len(names):
            raise ValueError(
                f"`{what}` has {len(value)} entries, and the model has {len(names)} outputs: "
                f"{list(names)}"
            )
        return list(value)
    return [value] * len(names)


class CompiledLoss:
    """The weighted sum of the losses of all outputs, and the means of each."""

    def __init__(self, given, weights=None, output_names: Sequence[str] | None = None):
        self._given, self._weights, self._names = given, weights, output_names
        self._functions = None
        self._last = None
        self.total = metrics_of_keras.Mean(name="loss")
        self._means: list = []  # by output, None for an output without a loss
        self._reported: list = []  # the same in the order of results
        self._entries: list[Entry] | None = None  # where losses were given as a structure

    @property
    def metrics(self):
        """The mean of the sum and, for several outputs, of each loss."""
        return [self.total, *self._reported]

    def __getstate__(self):
        return {**self.__dict__, "_last": None}  # a tensor of a trace

    def build(self, y_pred):
        """Finds which loss belongs to which output."""
        if not keras_2() and is_nested(self._given, y_pred):
            self._build_entries(y_pred)
            return
        outputs = nest.flatten(y_pred)
        names = self._names = output_names(y_pred, self._names)
        given = self._given
        if isinstance(given, (list, tuple)) and len(given) == 1 and len(outputs) == 1:
            given = given[0]
        unknown = [name for name in given if name not in names] if isinstance(given, Mapping) else []
        if unknown and isinstance(y_pred, Mapping) and not keras_2():
            raise absent((unknown[0],))
        self._functions = [
            None if loss is None else as_loss(loss) for loss in per_output(given, names, "loss")
        ]
        weights = [1.0] * len(names)
        if self._weights is not None:
            weights = [
                1.0 if w is None else w for w in per_output(self._weights, names, "loss_weights")
            ]
        self._output_weights = weights
        if len(names) > 1 and (keras_2() or sum(function is not None for function in self._functions) > 1):
            self._means = [
                None if function is None else metrics_of_keras.Mean(name=f"{name}_loss")
                for name, function in zip(names, self._functions)
            ]
            order = names
            if isinstance(y_pred, Mapping) and not keras_2():
                order = list(given if isinstance(given, Mapping) else y_pred)
            made = dict(zip(names, self._means))
            self._reported = [made[name] for name in order if made.get(name) is not None]

    def _build_entries(self, y_pred):
        self._functions, self._entries = [], []
        for path, loss, weight, name in entries_of(self._given, self._weights, self._names, y_pred):
            function = as_loss(loss)
            own = loss if isinstance(loss, str) else function.name
            self._entries.append(Entry(path, function, weight, own if name is None else name))
        if len(self._entries) > 1:
            self._means = [metrics_of_keras.Mean(name=f"{entry.name}_loss") for entry in self._entries]
            self._reported = self._means

    def __call__(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None,
        regularization_losses=None,
    ):
        total = self.sum(y_true, y_pred, sample_weight, regularization_losses)
        self.seen(total, y_pred)
        self._last = total
        return total

    def sum(self, y_true, y_pred, sample_weight=None, regularization_losses=None):
        """The weighted sum, without taking it into its mean."""
        if self._functions is None:
            self.build(y_pred)
        if self._entries is not None:
            parts = self._parts_of_entries(y_true, y_pred, sample_weight)
        else:
            parts = self._parts_by_output(y_true, y_pred, sample_weight)
        parts += map(replicas.part_of, regularization_losses or ())
        if not parts:
            raise ValueError("No loss to minimize: pass `loss` to compile, or call add_loss.")
        return parts[0] if len(parts) == 1 else add_n(parts)

    def _parts_by_output(self, y_true, y_pred, sample_weight):
        parts = []
        wanted = [function is not None for function in self._functions]
        targets = targets_of(y_true, y_pred, self._names, wanted=wanted)
        weights = targets_of(sample_weight, y_pred, self._names, "sample_weight")
        outputs = nest.flatten(y_pred)
        batch = _batch_of(outputs[0])
        for i, (function, target, output) in enumerate(zip(self._functions, targets, outputs)):
            if function is None or target is None:
                continue
            over_all = function.reduction in ("auto", "sum_over_batch_size")
            weight = masking.weighted(output, weights[i], over_all) if keras_2() else weights[i]
            value = function(target, output, weight)
            if self._means:
                whole = replicas.whole_of(value)
                # In compiled steps Keras 3 does not know the size of the batch, and takes the mean over steps.
                self._means[i].update_state(whole, batch if keras_2() or not inside_graph() else None)
            scale = self._output_weights[i]
            parts.append(value if isinstance(scale, float) and scale == 1.0 else value * scale)
        return parts

    def _parts_of_entries(self, y_true, y_pred, sample_weight):
        targets, parts = like_outputs(y_pred, y_true, self._names), []
        for i, (path, function, scale, _) in enumerate(self._entries):
            weight = at(path, sample_weight) if nest.is_nested(sample_weight) else sample_weight
            output = at(path, y_pred)
            value = function(at(path, targets), output, weight)
            if self._means:
                batch = None if inside_graph() else _batch_of(nest.flatten(output)[0])
                self._means[i].update_state(replicas.whole_of(value), batch)
            parts.append(value if scale is None else value * scale)
        return parts

    def seen(self, loss: TensorLike, y_pred: TensorLike):
        """Takes in a loss that was computed without this object."""
        if loss is not None and loss is not self._last:
            outputs = nest.flatten(y_pred)
            self.total.update_state(replicas.whole_of(loss), _batch_of(outputs[0]) if outputs else 1)
        self._last = None


def _batch_of(output: Tensor):
    size = output.shape.as_list()[0] if output.shape.rank else 1
    if size is None:
        return shape(output)[0]
    return size


class CompiledMetrics:
    """The metrics of all outputs; those of `weighted` see sample weights."""

    def __init__(
        self, given: Sequence[str] | None, weighted, output_names: Sequence[str] | None = None,
        losses_given=None,
    ):
        self._given, self._weighted, self._names = given, weighted, output_names
        self._losses_given = losses_given
        self._made = None
        if output_names is not None or _for_one_output(given, weighted):
            self.build(output_names or ["output_1"])

    name = "compile_metrics"

    @property
    def given(self):
        """Whether there were any metrics to compile."""
        return self._given is not None or self._weighted is not None

    @property
    def variables(self):
        """The variables of all metrics."""
        return [variable for metric in self.metrics for variable in metric.variables]

    def result(self):
        """The values of all metrics, by name."""
        found = {}
        for metric in self.metrics:
            value = metric.result()
            found.update(value if isinstance(value, dict) else {metric.name: value})
        return found

    def reset_state(self):
        """Starts all metrics anew."""
        for metric in self.metrics:
            metric.reset_state()

    @property
    def metrics(self):
        """All metrics, output by output; those that are objects already, before the first batch too."""
        if self._made is None:
            given = nest.flatten([self._given or [], self._weighted or []])
            return [m for m in given if isinstance(m, metrics_of_keras.Metric)]
        return [metric for pairs in self._made for metric, _ in pairs]

    @property
    def prefixed(self):
        """The names of metrics that begin with the name of an output."""
        several = self._made is not None and len(self._made) > 1
        return {metric.name for metric in self.metrics} if several else set()

    def build(self, names):
        """Makes the metrics that are named, for outputs of these names."""
        self._known = list(names)
        self._made = [[] for _ in names]
        self._plain = [[] for _ in names]  # the names without those of outputs
        for given, is_weighted in ((self._given, False), (self._weighted, True)):
            if given is None:
                continue
            outputs = per_output(given, names, "metrics", several=True)
            shared = len(outputs) > 1 and all(mine is given for mine in outputs)
            for i, mine in enumerate(outputs):
                for metric in nest.flatten(mine) if isinstance(mine, (list, tuple)) else [mine]:
                    if metric is not None:
                        self._add(i, metric, is_weighted, shared)

    def _add(self, i, metric, is_weighted, shared=False):
        made = as_metric(metric)
        if made is not metric:
            if is_weighted and made.name in self._plain[i]:
                rename(made, f"weighted_{made.name}")
        elif shared:  # what is given for all outputs gathers each of them apart
            made = type(metric).from_config(metric.get_config())
        self._plain[i].append(made.name)
        prefix = f"{self._known[i]}_" if len(self._known) > 1 else ""
        if not (made is metric and made.name.startswith(prefix)):
            rename(made, prefix + made.name)
        self._made[i].append((made, is_weighted))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Takes in one batch."""
        names = self._names = output_names(y_pred, self._names)
        if self._made is None or len(self._known) != len(names):
            self.build(names)
        if not keras_2() and not any(self._made):
            return
        if not keras_2() and is_nested(self._losses_given, y_pred):
            targets = nest.flatten(like_outputs(y_pred, y_true, self._names))
            weights = nest.flatten(sample_weight) if nest.is_nested(sample_weight) else [sample_weight] * len(names)
        else:
            wanted = [loss is not None for loss in per_output(self._losses_given, names, "loss")]
            targets = targets_of(y_true, y_pred, self._names, wanted=wanted)
            weights = targets_of(sample_weight, y_pred, self._names, "sample_weight")
        for i, (pairs, target, output) in enumerate(zip(self._made, targets, nest.flatten(y_pred))):
            if target is None:
                continue
            for metric, is_weighted in pairs:
                weight = masking.weighted(output, weights[i] if is_weighted else None)
                if weight is None:
                    metric.update_state(target, output)
                else:
                    metric.update_state(target, output, weight)


def _for_one_output(*given):
    """Whether metrics are certainly given for one output only."""
    return not any(
        isinstance(metrics, Mapping)
        or (
            isinstance(metrics, (list, tuple))
            and any(isinstance(m, (list, tuple, Mapping)) for m in metrics)
        )
        for metrics in given
    )


def output_names(y_pred: TensorLike, names: Sequence[str] | None):
    """Names of outputs: those of the model, else the keys of a dict, else output_1, output_2..."""
    count = len(nest.flatten(y_pred))
    if isinstance(y_pred, Mapping) and len(y_pred) == count:
        return sorted(y_pred)
    if names is not None and len(names) == count:
        return names
    return [f"output_{i + 1}" for i in range(count)]


def targets_of(values, y_pred: TensorLike, names, what="targets", wanted=()):
    """One value per output, from a structure like the outputs', a dict by names, or one for the only output.

    `wanted` says of each output whether it has a loss: values may be given for these outputs alone.
    Raises ValueError for keys and numbers that do not fit. Keras 2 trains the outputs alone that have targets.
    """
    count = len(names)
    if values is None:
        return [None] * count
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in names]
        if unknown and not (keras_2() and what == "sample_weight"):
            raise ValueError(
                f"The keys {unknown} of the {what} are no outputs of the model, which has {list(names)}."
            )
        missing = [name for name, each in zip(names, wanted, strict=False) if each and name not in values]
        if missing and not keras_2():
            raise ValueError(f"The {what}, of {list(values)}, lack the outputs {missing}, which have a loss.")
        return [values.get(name) for name in names]
    flat = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(flat) == count:
        return flat
    if len(flat) == 1 and what == "sample_weight":
        return flat * count
    if len(wanted) == count and len(flat) == sum(wanted) and not keras_2():
        given = iter(flat)
        return [next(given) if each else None for each in wanted]
    raise ValueError(f"The model has {count} outputs, and {len(flat)} {what} were given.")


def as_loss(loss):
    """A Loss from a name, a function or a Loss."""
    if loss in ("crossentropy", "ce") and not keras_2():
        return losses.LossFunctionWrapper(_crossentropy, name=loss)
    found = losses.get(loss)
    return found if hasattr(found, "reduction") else losses.LossFunctionWrapper(found)


def _crossentropy(y_true: Tensor, y_pred: Tensor):
    """The crossentropy for targets and outputs of this kind: two classes, numbers of classes, or one-hot rows."""
    last = y_pred.shape[-1]
    if last == 1:
        return losses.binary_crossentropy(y_true, y_pred)
    if len(y_true.shape) < len(y_pred.shape) or y_true.shape[-1] == 1:
        return losses.sparse_categorical_crossentropy(y_true, y_pred)
    return losses.categorical_crossentropy(y_true, y_pred)


def as_metric(metric: str):
    """A Metric from a name, a function or a Metric; "accuracy" is the one for targets and outputs of this kind."""
    if metric in ("accuracy", "acc", "crossentropy", "ce"):
        return metrics_of_keras.MetricByShape(metric)
    return metrics_of_keras.get_metric(metric)
