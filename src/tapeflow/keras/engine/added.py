"""Losses and metrics that are added to a functional model as symbolic tensors: layers at the side of its path."""

from __future__ import annotations

from tapeflow.core.annotations import TensorLike
from tapeflow.keras.engine.base_layer import Layer


class AddLoss(Layer):
    """Adds its inputs to the losses."""

    def __init__(self, unconditional: bool = False, **kwargs):
        kwargs["autocast"] = False
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs: TensorLike):
        self.add_loss(inputs)
        return inputs

    def get_config(self):
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """Takes its inputs into a metric."""

    def __init__(self, aggregation: str | None = None, metric_name: str | None = None, **kwargs):
        kwargs["autocast"] = False
        super().__init__(**kwargs)
        self.aggregation, self.metric_name = aggregation, metric_name

    def call(self, inputs: TensorLike):
        self.add_metric(inputs, name=self.metric_name, aggregation=self.aggregation)
        return inputs

    def get_config(self):
        return {
            **super().get_config(),
            "aggregation": self.aggregation,
            "metric_name": self.metric_name,
        }
