"""The graph of boosted trees. What they know is in variables; inference consists of TensorFlow's own ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import train as train_
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.structures.structure import fields_of
from tapeflow.estimator.boosted_trees import growing, quantiles
from tapeflow.graph.build.derivatives import gradients_v1 as gradients_
from tapeflow.ops.array.construction import ones_like_v1 as ones_like
from tapeflow.ops.array.construction import zeros_like_v1 as zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import sequence_mask
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape_v1 as shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.array.transposing import transpose_v1 as transpose
from tapeflow.ops.control.flow import while_loop_v1 as while_loop
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.ops.control.py_functions import py_func
from tapeflow.ops.indexing.gather import gather_v1 as gather
from tapeflow.ops.indexing.gather_nd import gather_nd_v1 as gather_nd
from tapeflow.ops.indexing.selection import searchsorted
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where_v1 as where
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.math.reductions_v1 import reduce_any_v1 as reduce_any
from tapeflow.ops.math.reductions_v1 import reduce_sum_v1 as reduce_sum
from tapeflow.ops.state.assignment import assign, assign_add
from tapeflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from tapeflow.v1.variable_getting import get_variable

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
        get_variable(
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
            self._boundaries = get_variable(
                "quantiles/boundaries", initializer=none, validate_shape=False, trainable=False, use_resource=True
            )  # fmt: skip
            self._known = reshape(self._boundaries.read_value(), [inputs.number_count, -1])
            numbers = transpose(inputs.numbers)
            self.ids = concat([self.ids, transpose(searchsorted(self._known, numbers))], 1)
        self.leaves = self._leaves()
        values = gather(reshape(self.state.values, [-1, self.settings.outputs]), self.leaves)
        self.logits = reduce_sum(values, 1) + self.state.bias
        self.logits = reshape(self.logits, [-1, self.settings.outputs])
        self._growing = None if self.settings.by_layer else self.logits - self._values_of_growing(values)

    def _values_of_growing(self, values: Tensor):
        """The part of the logits that the tree makes which is not finished."""
        counted = sequence_mask(self.state.counts[growing.TREES], shape(self.state.roots)[0])
        return reduce_sum(where(counted, zeros_like(values[0]), ones_like(values[0])) * values, 1)

    def _leaves(self):
        """The node where each example ends in each tree: int32 (examples, trees)."""
        nodes = reshape(self.state.nodes, [-1, 4])
        features, thresholds = nodes[:, growing.FEATURE], nodes[:, growing.BUCKET]
        children = nodes[:, growing.LEFT : growing.RIGHT + 1]
        size, trees = shape(self.ids)[0], shape(self.state.roots)[0]
        rows = tile(range_(size)[:, None], [1, trees])

        def down(at: Tensor):
            chosen = gather(features, at)
            ids = gather_nd(self.ids, stack([rows, maximum(chosen, 0)], 2))
            side = 1 - cast(ids <= gather(thresholds, at), dtypes.int32)
            below = gather_nd(children, stack([at, side], 2))
            return where(not_equal(chosen, growing.NO_FEATURE), below, at)

        start = tile(reshape(self.state.roots, [1, -1]), [size, 1])
        return while_loop(
            lambda at: reduce_any(not_equal(gather(features, at), growing.NO_FEATURE)), down, [start]
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
        made = py_func(self._step, [*self._given(), gradients, hessians, *self.state], self._types())
        variables = [*self._numbers_variables(), *self._variables]
        steps = [assign(x, y, validate_shape=False) for x, y in zip(variables, made, strict=True)]
        with control_dependencies(steps):
            counts = self._variables[fields_of(growing.Ensemble).index("counts")].read_value()
            self.finished = counts[growing.TREES] >= self.settings.trees
            return group(assign_add(train_.get_global_step(), 1))

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
    (gradients,) = gradients_(loss, [logits])
    columns = []
    for k in range(logits.shape[1]):
        (of_one,) = gradients_(gradients[:, k], [logits])
        columns.append(zeros_like(logits[:, k]) if of_one is None else of_one[:, k])
    return gradients, stack(columns, 1)


class StopsWhenGrown(SessionRunHook):
    """Ends training when there are all trees."""

    def __init__(self, finished):
        self._finished = finished

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs(self._finished)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        if run_values.results:
            run_context.request_stop()
