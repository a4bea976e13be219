"""Losses and states as values: training without effects, for programs that keep the state themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.public import public_methods


@public_methods
class StatelessTraining:
    """The part of Model that trains without effects."""

    def stateless_compute_loss(
        self,
        trainable_variables,
        non_trainable_variables,
        metrics_variables,
        x=None,
        y=None,
        y_pred=None,
        sample_weight=None,
        training=True,
    ):
        """Compute the loss for given values of the variables; changes none.

        Args:
          trainable_variables: values of the variables to train.
          non_trainable_variables: values of the others.
          metrics_variables: values of the metrics' variables.
          x: the inputs of the batch.
          y: the labels.
          y_pred: the outputs.
          sample_weight: weights of the examples, or None.
          training: whether the batch is one of training.

        Returns:
          The loss, and the values after it: (trainable, others, metrics').
        """
        groups = (self.trainable_variables, self.non_trainable_variables, self.metrics_variables)
        values = (trainable_variables, non_trainable_variables, metrics_variables)
        variables = [v for group in groups for v in group]
        before = [v.read_value() for v in variables]
        for variable, value in zip(variables, [v for group in values for v in group]):
            variable.assign(value)
        try:
            loss = self.compute_loss(x, y, y_pred, sample_weight)
            return loss, tuple([v.read_value() for v in group] for group in groups)
        finally:
            for variable, value in zip(variables, before):
                variable.assign(value)

    def get_state_tree(self, value_format: str = "backend_tensor"):
        """The values of all variables, by their paths, in dicts by kind."""
        as_array = value_format == "numpy_array"

        def tree(variables: Sequence[Any]):
            found = {}
            for name, v in variables:
                found[name] = v.numpy() if as_array else v.read_value()
            return found

        return {kind: tree(variables) for kind, variables in self._state_by_kind().items()}

    def _state_by_kind(self):
        """(name, variable) pairs of all variables, by kind."""

        def named(variables):
            return [(v.name.partition(":")[0], v) for v in variables]

        return {
            "trainable_variables": named(self.trainable_variables),
            "non_trainable_variables": named(self.non_trainable_variables),
            "optimizer_variables": named(
                [] if self.optimizer is None else self.optimizer.variables
            ),
            "metrics_variables": [
                (f"{metric.name}/{name}", v)
                for metric in self._each_metric()
                for name, v in named(metric.variables)
            ],
        }

    def set_state_tree(self, state_tree: dict[str, Any]):
        """Sets variables from what `get_state_tree` has returned. Raises ValueError for an unknown kind."""
        kinds = self._state_by_kind()
        for kind, values in state_tree.items():
            if kind not in kinds:
                raise ValueError(f"Unknown variable name: {kind}")
            for name, variable in kinds[kind]:
                if name in values:
                    variable.assign(values[name])
