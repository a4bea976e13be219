"""What layers add to a training: losses, updates and metrics."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.context import current_graph, executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.keras.engine.calling import state
from tapeflow.keras.engine.fitting.stateless import current_scope
from tapeflow.keras.engine.functional.graph_tensors import (
    compute_calls,
    graph_tensors,
    reached_from,
)
from tapeflow.keras.engine.tracking import unique
from tapeflow.keras.metrics import Mean
from tapeflow.keras.old_names import takes_old_names


def _added_to(layer: Any) -> list[Any]:
    """The losses that a layer itself was given since its last call began."""
    return layer._losses


@public_methods
class LayerLosses:
    """What a layer is as a part of a training."""

    # Whether any layer of the process has been given a loss tensor: if not, none need be forgotten.
    _losses_exist = False

    @takes_old_names(losses="loss")
    def add_loss(self, loss, inputs=None, **kwargs):
        """Add losses to what `losses` returns until the next call.

        Args:
          loss: a scalar tensor, a function that gives one, or a list of these. In Keras 3, tensors are left out that
            belong to a symbolic call.
          inputs, **kwargs: accepted as in Keras 2.
        """
        collecting = current_scope()
        for each in nest.flatten(loss):
            if callable(each):
                self._loss_functions.append(each)
            elif state.symbolic and not keras_2():
                continue  # the call only describes a model
            elif each is not None and collecting is not None and collecting.collect_losses:
                collecting.add_loss(convert_to_tensor(each))
            elif each is not None:
                self._losses.append(convert_to_tensor(each))
                LayerLosses._losses_exist = True

    @property
    def losses(self):
        """The losses added since the last call began, and the regularization of weights; in Keras 3 in this order."""
        added, computed = [], []
        for layer in self._all_layers():
            own = [function() for function in layer._loss_functions]
            added += _added_to(layer)
            (added if keras_2() else computed).extend(
                loss if hasattr(loss, "dtype") else convert_to_tensor(loss) for loss in own
            )
        return added + computed

    def _added_losses(self):
        """The losses that were added since the last call began."""
        return [loss for layer in self._all_layers() for loss in _added_to(layer)]

    def _clear_losses(self):
        for layer in self._all_layers():
            _added_to(layer).clear()

    def add_update(self, updates, inputs=None):
        """Run updates that are functions. In a graph of 1.x, what they add waits in `updates`.

        Args:
          updates: a function without arguments, an operation, or a list of these.
          inputs: accepted as in Keras 2.
        """
        graph = current_graph()
        waits = graph is not None and not graph.building_function
        for update in nest.flatten(updates):
            made = update() if callable(update) else update
            if waits and made is not None:
                self._updates.append(getattr(made, "op", made))

    @property
    def updates(self):
        """The operations left to run, of this layer and the layers in it: none but in a graph of 1.x."""
        if executing_eagerly():
            return []
        return [update for layer in self._all_layers() for update in layer._own_updates()]

    def _own_updates(self):
        if not self.trainable and not self.stateful:
            return []
        graph = current_graph()
        if graph is not None and not graph.building_function:
            compute_calls(self._nodes, graph)
        return self._updates

    def get_updates_for(self, inputs: Tensor):
        """The updates that depend on some tensors; those that depend on none the layer was called on, for None."""
        return _those_that_depend(self.updates, inputs, self._graph_inputs())

    def get_losses_for(self, inputs: Tensor):
        """The losses that depend on some tensors; those that depend on none the layer was called on, for None."""
        return _those_that_depend(self.losses, inputs, self._graph_inputs())

    def _graph_inputs(self):
        return [x for layer in self._all_layers() for x in layer.__dict__.get("_called_on", ())]

    def add_metric(self, value, name=None, aggregation=None, **kwargs):
        """Keep the mean of a value under a name.

        Args:
          value: a tensor.
          name: the name; not needed for what a metric object gave.
          aggregation: "mean" or None.
          **kwargs: accepted as in Keras 2.

        Returns:
          The value so far.

        Raises:
          ValueError: for a value without a name that does not come from a metric, and for another aggregation.
        """

        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        source = getattr(value, "_metric_obj", None)
        if source is not None:
            if source not in self._own_metrics:
                self._own_metrics.append(source)
            return value
        if name is None:
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                "name='mean_activation', aggregation='mean')`"
            )
        for metric in self._own_metrics:
            if metric.name == name:
                return metric(value)
        metric = Mean(name=name)
        self._own_metrics.append(metric)
        return metric(value)

    @property
    def metrics(self):
        """The metrics of this layer and the layers in it."""
        found = []
        for layer in self._all_layers():
            found += layer._own_metrics
            found += [value for value in layer._held() if getattr(value, "_is_metric", False)]
        return unique(found)


def _those_that_depend(values, inputs: Tensor, called_on):
    """Of tensors and operations of a graph, those that can be reached from `inputs`, or from nothing called on."""

    starts = called_on if inputs is None else nest.flatten(graph_tensors(inputs))
    return [value for value in values if reached_from(value, starts) is (inputs is not None)]
