"""The graph of boosted trees. What they know is in variables; inference consists of TensorFlow's own ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor
from tapeflow.estimator.boosted_trees import growing, quantiles
from tapeflow.train.session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from tapeflow.estimator.boosted_trees.columns import Inputs
    from tapeflow.estimator.boosted_trees.growing import Ensemble
    from tapeflow.estimator.boosted_trees.quantiles import Summary
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues

# How many values are kept of each number for every bucket.
_KEPT_PER_BUCKET = 8


def _variables(scope: str, named: Ensemble | Summary):
    """Variables that change their shapes."""
    return [
        v1.get_variable(
            f"{scope}/{name}", initializer=value, validate_shape=False, trainable=False, use_resource=True
        )
        for name, value in named._asdict().items()
    ]


class Trees:
    """The trees and the buckets of a model, in a graph.

    Attributes:
      logits: float32 (examples, outputs).
      leaves: the node where each example ends in each tree: int32 (examples, trees).
      finished: whether there are all trees after the step; None before `train` is called.

    Args:
      inputs: Inputs.
      quantile_buckets: how many buckets numbers get.
      make_settings: makes the Settings of growth of the numbers of features and of buckets.
    """

    def __init__(self, inputs: Inputs, quantile_buckets: int, make_settings: Callable[..., Any]):
        self._inputs, self._quantile_buckets, self.finished = inputs, quantile_buckets, None
        buckets = max(inputs.buckets, quantile_buckets if inputs.number_count else 0)
        self.settings = make_settings(inputs.count, buckets)
        self._variables = _variables("boosted_trees", growing.new_ensemble(self.settings))
        self.state = growing.Ensemble(*(each.read_value() for each in self._variables))
        self.ids = inputs.ids
        if inputs.number_count:
            self._summary = _variables("quantiles", quantiles.new_summary(inputs.number_count))
            none = np.zeros((inputs.number_count, 0), np.float32)
            self._boundaries = v1.get_variable(
                "quantiles/boundaries", initializer=none, validate_shape=False, trainable=False, use_resource=True
            )  # fmt: skip
            self._known = v1.reshape(self._boundaries.read_value(), [inputs.number_count, -1])
            numbers = v1.transpose(inputs.numbers)
            self.ids = v1.concat([self.ids, v1.transpose(v1.searchsorted(self._known, numbers))], 1)
        self.leaves = self._leaves()
        values = v1.gather(v1.reshape(self.state.values, [-1, self.settings.outputs]), self.leaves)
        self.logits = v1.reduce_sum(values, 1) + self.state.bias
        self.logits = v1.reshape(self.logits, [-1, self.settings.outputs])
        self._growing = None if self.settings.by_layer else self.logits - self._values_of_growing(values)

    def _values_of_growing(self, values: Tensor):
        """The part of the logits that the tree makes which is not finished."""
        counted = v1.sequence_mask(self.state.counts[growing.TREES], v1.shape(self.state.roots)[0])
        return v1.reduce_sum(v1.where(counted, v1.zeros_like(values[0]), v1.ones_like(values[0])) * values, 1)

    def _leaves(self):
        """The node where each example ends in each tree: int32 (examples, trees)."""
        nodes = v1.reshape(self.state.nodes, [-1, 4])
        features, thresholds = nodes[:, growing.FEATURE], nodes[:, growing.BUCKET]
        children = nodes[:, growing.LEFT : growing.RIGHT + 1]
        size, trees = v1.shape(self.ids)[0], v1.shape(self.state.roots)[0]
        rows = v1.tile(v1.range(size)[:, None], [1, trees])

        def down(at: Tensor):
            chosen = v1.gather(features, at)
            ids = v1.gather_nd(self.ids, v1.stack([rows, v1.maximum(chosen, 0)], 2))
            side = 1 - v1.cast(ids <= v1.gather(thresholds, at), v1.int32)
            below = v1.gather_nd(children, v1.stack([at, side], 2))
            return v1.where(v1.not_equal(chosen, growing.NO_FEATURE), below, at)

        start = v1.tile(v1.reshape(self.state.roots, [1, -1]), [size, 1])
        return v1.while_loop(
            lambda at: v1.reduce_any(v1.not_equal(v1.gather(features, at), growing.NO_FEATURE)), down, [start]
        )

    def train(self, loss_of_logits, loss):
        """An operation that makes a step; counts it.

        Args:
          loss_of_logits: the function that made `loss` of the logits, for gradients at other logits.
        """
        logits = self.logits
        if self._growing is not None:
            logits = self._growing
            loss = loss_of_logits(logits)
        gradients, hessians = second_order(loss, logits)
        made = v1.py_func(self._step, [*self._given(), gradients, hessians, *self.state], self._types())
        variables = [*self._numbers_variables(), *self._variables]
        steps = [v1.assign(x, y, validate_shape=False) for x, y in zip(variables, made, strict=True)]
        with v1.control_dependencies(steps):
            counts = self._variables[growing.Ensemble._fields.index("counts")].read_value()
            self.finished = counts[growing.TREES] >= self.settings.trees
            return v1.group(v1.assign_add(v1.train.get_global_step(), 1))

    def _numbers_variables(self):
        return [*self._summary, self._boundaries] if self._inputs.number_count else []

    def _given(self):
        known = [x.read_value() for x in self._numbers_variables()]
        return [*known, *([self._inputs.numbers] if known else []), self.ids]

    def _types(self):
        return [x.dtype.base_dtype for x in (*self._numbers_variables(), *self._variables)]

    def _step(self, *given):
        """What numbers have to get buckets first; then trees grow."""
        known = []
        if self._inputs.number_count:
            *known, numbers = given[:4]
            given = given[4:]
        ids, gradients, hessians, *state = given
        ensemble = growing.Ensemble(*state)
        if known and not known[2].shape[1]:
            summary = quantiles.added(quantiles.Summary(*known[:2]), numbers, _KEPT_PER_BUCKET * self._quantile_buckets)
            counts, done = growing.collected(ensemble.counts, len(ids), self.settings)
            found = quantiles.boundaries(summary, self._quantile_buckets) if done else known[2]
            return [*summary, found, *ensemble._replace(counts=counts)]
        return [*known, *growing.stepped(ensemble, ids, gradients, hessians, self.settings)]


def second_order(loss: Tensor, logits: Tensor):
    """The gradients, and the diagonal of the Hessian, of a loss with respect to the logits of each example."""
    (gradients,) = v1.gradients(loss, [logits])
    columns = []
    for k in range(logits.shape[1]):
        (of_one,) = v1.gradients(gradients[:, k], [logits])
        columns.append(v1.zeros_like(logits[:, k]) if of_one is None else of_one[:, k])
    return gradients, v1.stack(columns, 1)


class StopsWhenGrown(SessionRunHook):
    """Ends training when there are all trees."""

    def __init__(self, finished):
        self._finished = finished

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs(self._finished)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        if run_values.results:
            run_context.request_stop()
